/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - print a line of TAP, without output of other threads in between
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
