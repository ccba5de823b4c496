/* SPDX-License-Identifier: MIT */
/*
 * real.h - the real lttng, which the front end runs
 */
#ifndef KUNWIND_LTTNG_REAL_H
#define KUNWIND_LTTNG_REAL_H

#include <stddef.h>

/* Finds the real lttng; call this first. Exits with 127 if there is none. */
void real_find(void);

/* Replaces this program by the real lttng; on failure exits with 127 or 126. */
void real_exec(char **argv) __attribute__((__noreturn__));

enum real_output { REAL_SHOWN, REAL_HIDDEN };

/**
 * real_run() - run the real lttng and wait for its end
 * @argv: NULL-terminated; argv[0] is passed on as the program's name
 * @output: whether stdout is shown or goes to /dev/null
 * @errors: NULL: stderr is shown or hidden as stdout is; else stderr is stored
 *	here, as a string of at most @size bytes with its NUL
 * Return: its exit status; 127 or 126 if it cannot be executed. If a signal
 * killed it, the same signal kills this process.
 */
int real_run(char **argv, enum real_output output, char *errors, size_t size);

/* Does the same for any program, argv[0], found in PATH; hides its output. */
int real_run_other(char **argv);

#endif /* KUNWIND_LTTNG_REAL_H */
