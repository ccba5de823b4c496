/* SPDX-License-Identifier: MIT */
/*
 * line.h - write a JSON object as one line, in a signal handler
 *
 * A line has at most 4,096 bytes, so that a pipe takes it whole or not at all. Strings that are too
 * long are cut. Signal handlers: no allocation, no lock, errno is kept.
 */
#ifndef _CRASH_LINE_H
#define _CRASH_LINE_H

#include "kunwind_base.h"

#define CRASH_LINE	4096

struct crash_line {
	u32 len;
	char text[CRASH_LINE];
};

struct crash_output {
	int fd;
	bool broken;			/* nobody reads it, or it did not take a line in time */
	u64 end;			/* deadline, nanoseconds of CLOCK_MONOTONIC */
};

void crash_line_begin(struct crash_line *line);		/* { */
/* "key": {. An object in an object; end by _close(). */
void crash_line_open(struct crash_line *line, const char *key);
void crash_line_close(struct crash_line *line);
void crash_line_string(struct crash_line *line, const char *key, const char *value);	/* NULL: null */
void crash_line_number(struct crash_line *line, const char *key, s64 value);
void crash_line_address(struct crash_line *line, const char *key, u64 value);
void crash_line_null(struct crash_line *line, const char *key);
/* @nr: 0: null */
void crash_line_bytes(struct crash_line *line, const char *key, const u8 *bytes, u32 nr);

/* Ends the object, and writes the line, also for a short time after the deadline. */
void crash_line_write(struct crash_line *line, struct crash_output *output);

/* Returns nanoseconds, or 0 if the clock cannot be read. */
u64 crash_clock(void);
/* @ns: less than a second */
void crash_sleep(long ns);

#define CRASH_DIGITS	24		/* bytes, with the 0 */
/* Writes the number and a 0, so that they end at @end. Returns the first digit. */
char *crash_digits(char *end, u64 value);

/* The deadline is over, or nothing can be written. */
bool crash_output_ended(const struct crash_output *output);

#endif /* _CRASH_LINE_H */
