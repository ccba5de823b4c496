/* SPDX-License-Identifier: MIT */
/*
 * tap.h - print test results as TAP: "ok N - name" or "not ok N - name", and
 * the plan "1..N" at the end. Diagnostics are lines that begin with "#".
 */
#ifndef _TEST_TAP_H
#define _TEST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;
static void (*tap_each)(void);	/* runs at each test and at the end, if it is set */

__attribute__((__format__(__printf__, 2, 3)))
static inline bool tap_ok(bool good, const char *format, ...)
{
	va_list ap;

	if (tap_each)
		tap_each();
	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	tap_failed += !good;
	return good;
}

/* Prints the plan. Returns the exit status for main(). */
static inline int tap_done(void)
{
	if (tap_each)
		tap_each();
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif /* _TEST_TAP_H */
