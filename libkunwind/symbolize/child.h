/* SPDX-License-Identifier: MIT */
/*
 * child.h - a process of the helper program: start it, wait for its answer, end it
 */
#ifndef KUNWIND_CHILD_H
#define KUNWIND_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct kunwind_child {
	pid_t pid;	/* 0: none */
	int socket;
};

struct kunwind_program {
	const char *given;	/* path of the helper program; NULL: child.c searches for it */
	bool installed;		/* prefer the installed one to the given one */
};

enum kunwind_waited {
	KUNWIND_WAITED,		/* there is an answer, or the process has died */
	KUNWIND_WAITED_SLOW,	/* it used more processor time than the limit */
	KUNWIND_WAITED_HANGS,	/* it is blocked, and used no processor time for as long */
};

/*
 * Starts the helper program with @args and without environment. It has the other
 * end of the socket as descriptor WIRE_SOCKET, and no other descriptor of the
 * caller's except standard error.
 */
bool kunwind_child_start(struct kunwind_child *child, const struct kunwind_program *program,
			 char *const *args);

/*
 * Kills the process. Does not wait for one that is blocked in the kernel: a
 * process that reads from a file system that hangs cannot be killed.
 */
void kunwind_child_stop(struct kunwind_child *child);

/* Waits for an answer. @limit_ms: of processor time; of elapsed time, ten times that. */
enum kunwind_waited kunwind_child_wait(const struct kunwind_child *child, unsigned int limit_ms);

/*
 * Runs the helper program with @args, and with the variables of the environment
 * that libdebuginfod needs. Reads a line of its standard output. False: it took
 * longer than @limit_ms, or there was none.
 */
bool kunwind_child_run(const struct kunwind_program *program, char *const *args, int limit_ms, char *line,
		       size_t size);

#endif /* KUNWIND_CHILD_H */
