/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - the parts of kunwind doctor
 */
#ifndef KUNWIND_DOCTOR_H
#define KUNWIND_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_state { DOCTOR_OK, DOCTOR_FAIL, DOCTOR_NOTE };

enum doctor_format { DOCTOR_TEXT, DOCTOR_TSV, DOCTOR_JSON };

/* Sets the format of the lines. Call this before the first line. */
void doctor_begin(enum doctor_format format);
/* Ends the output. Returns how many requirements are not met. */
int doctor_end(void);

/*
 * Prints one line. @found says what is the case; @fix, a format, what to do
 * about it (NULL or "": nothing).
 */
void doctor_line(enum doctor_state state, const char *what, const char *found,
		 const char *fix, ...) __attribute__((__format__(__printf__, 4, 5)));

/* LTTng's requirements, one line each; in doctor_lttng.c. */
void doctor_lttng(const char *kernel);

/* The first line of a small file, without its newline; "" when it cannot be read. */
const char *doctor_file(const char *path, char *text, size_t size);

/*
 * The first line that a command prints, looked for in PATH, /usr/sbin and
 * /sbin. False when it cannot be run or fails.
 */
bool doctor_command(char *text, size_t size, const char *command, ...)
	__attribute__((__sentinel__));

/* Where PATH leads to for @command; NULL: nowhere. */
const char *doctor_which(const char *command, char *path, size_t size);

#endif /* KUNWIND_DOCTOR_H */
