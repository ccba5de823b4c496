/* SPDX-License-Identifier: MIT */
/*
 * kunwind/crash.h - libkunwind-crash: a report when the program crashes
 *
 * One call installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP and SIGSYS. When
 * one of them arrives, the library writes a report, and then does what would have been done without
 * it: calls the handler that was there before, or lets the kernel end the process, with its core.
 * Link with -lkunwind-crash. libkunwind-crash-preload.so does the same for programs that are not
 * rebuilt (kunwind_crash_init(3)).
 *
 *	struct kunwind_crash_options options = { .size = sizeof(options), .fd = 2 };
 *
 *	kunwind_crash_init(&options);
 *
 * A report is JSON, one object on each line, with the names of kunwind-json(5). Each line is
 * written at once, so a report that is cut off has all lines up to there. Its last line is that
 * with "status".
 *
 * The handler is async-signal-safe: it allocates nothing, takes no lock of libc, uses no stdio, and
 * needs no more of the thread's alternate stack than the kernel's signal frame and 1 KB. It makes
 * only the system calls that kunwind_crash_init(3) lists. All that it needs is in memory of its own,
 * outside the heap. Until a signal arrives, the library does nothing.
 *
 * The other threads follow the one that has crashed. A process that is made for this stops them by
 * ptrace(2): a signal would not reach threads that block it, and would interrupt their system calls.
 *
 * Errors are negative errno values.
 */
#ifndef KUNWIND_CRASH_H
#define KUNWIND_CRASH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kunwind_crash_options {
	uint32_t size;		/* of this structure */
	uint32_t flags;		/* KUNWIND_CRASH_... */
	int fd;			/* descriptor that reports are written to, if @path is NULL */
	uint32_t deadline_ms;	/* most time that a report may take; 0: 2000 */
	uint32_t most_frames;	/* of a thread; 0: 1000 */
	uint32_t unused;
	const char *path;	/* file that reports are appended to; "%p": the process id. It is opened
				 * when the program crashes, and may be no symbolic link. NULL: @fd */
	const char *receiver;	/* program that is started when the program crashes: the report is its
				 * standard input, the process id its argument. It has no environment
				 * but PATH. When the report is written, the process waits until the
				 * receiver has ended, or for the deadline. If it cannot be started, the
				 * report goes to @path or @fd. NULL: none */
};

#define KUNWIND_CRASH_GUESS	(1U << 0)	/* go on by guesses, which "trust" marks */
#define KUNWIND_CRASH_ALONE	(1U << 1)	/* report no other threads */

/**
 * kunwind_crash_init() - report crashes from now on
 *
 * Allocates memory and opens files. Gives the calling thread an alternate signal stack if it has
 * none. Takes about 2 ms. A second call changes nothing.
 *
 * Return: 0; -EALREADY: was called before; -EINVAL: an unknown flag or size, or the path is too
 * long; -ENOMEM.
 */
int kunwind_crash_init(const struct kunwind_crash_options *options);

/**
 * kunwind_crash_thread() - give the calling thread an alternate signal stack, if it has none
 *
 * Each thread must call this once, or its overflow of the stack ends the process without a report.
 * The stack is freed when the thread ends. libkunwind-crash-preload.so does so for all threads that
 * pthread_create() starts.
 *
 * Return: 0; -ENOMEM; -EINVAL: before kunwind_crash_init().
 */
int kunwind_crash_thread(void);

/**
 * kunwind_crash_refresh() - read the mappings of code again
 *
 * See kunwind_unwinder_refresh(): after dlopen() and dlclose() where libc has no _dl_find_object()
 * (glibc before 2.35), after 64 calls of dlopen() elsewhere, and after a JIT compiler has mapped code.
 * No two calls may run at once.
 *
 * Return: 0; -ENOMEM; -EINVAL: before kunwind_crash_init().
 */
int kunwind_crash_refresh(void);

#ifdef __cplusplus
}
#endif

#endif /* KUNWIND_CRASH_H */
