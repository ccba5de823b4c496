/* SPDX-License-Identifier: MIT */
/*
 * real.h - the lttng that this one stands in front of
 */
#ifndef KUNWIND_LTTNG_REAL_H
#define KUNWIND_LTTNG_REAL_H

#include <stddef.h>

/* Finds it once; ends the program with 127 when there is none. */
void real_find(void);

/* Becomes it. */
void real_exec(char **argv) __attribute__((__noreturn__));

enum real_output { REAL_SHOWN, REAL_HIDDEN };

/**
 * real_run() - runs it to its end
 * @argv: argv[0] is what it shall believe its name to be
 * @errors: NULL: stderr is shown or hidden as stdout is; else it is caught
 *	here, as a string cut at @size
 * Return: its exit status. When a signal killed it, the same kills us.
 */
int real_run(char **argv, enum real_output output, char *errors, size_t size);

/* The same for any program, by its name in PATH; all output hidden. */
int real_run_other(char **argv);

#endif /* KUNWIND_LTTNG_REAL_H */
