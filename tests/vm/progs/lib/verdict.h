/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - a line of TAP, whole whatever other threads print
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdarg.h>
#include <stdio.h>

static void verdict(int good, const char *format, ...)
{
	va_list args;

	flockfile(stdout);
	printf(good ? "ok - " : "not ok - ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	funlockfile(stdout);
}

#endif /* VERDICT_H */
