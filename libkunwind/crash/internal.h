/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of libkunwind-crash share
 *
 *   crash.c     options, set-up
 *   handler.c   signal --> report --> what was there before
 *   guard.c, call_on.S   run a piece of the report on a stack of its own; a crash ends the piece
 *   report.c    the lines of a report
 *   threads.c, clone_on.S   the other threads
 *   receiver.c  the program that receives it
 *   line.c      one line: JSON, and its output
 *   stack.c     alternate signal stacks
 *   arena.c     memory of the unwinder, outside the heap
 *   preload.c   only in the library for LD_PRELOAD
 */
#ifndef _CRASH_INTERNAL_H
#define _CRASH_INTERNAL_H

#include <signal.h>
#include <sys/types.h>
#include <ucontext.h>

#include "kunwind_base.h"
#include "kunwind/crash.h"
#include "kunwind/unwind.h"

/* The version script and -fvisibility=hidden keep all other symbols inside. */
#define CRASH_EXPORT	__attribute__((__visibility__("default")))

#define CRASH_PATH	4096

struct crash_event {
	int signal;
	siginfo_t *info;
	ucontext_t *context;
	pid_t pid, tid;
};

/* Set by kunwind_crash_init(), and not changed later, except for owner. */
struct crash_state {
	bool ready;
	struct kunwind_unwinder *unwinder;
	pid_t pid;			/* of the process that has called kunwind_crash_init() */
	int fd;
	u32 deadline_ms, most_frames;
	char path[CRASH_PATH];		/* "": fd */
	char receiver[CRASH_PATH];	/* "": none */
	char command[16];
	char *stack_top, *nested;	/* of the report's stack; the stack of signals meanwhile */
	size_t nested_size;
	bool alone;			/* no other threads */
	char *helper_top;		/* stack of the process that stops other threads */
	pid_t helper;			/* that process, or 0 */
	u64 *owner;			/* process and thread that report; 0 in a forked child */
	struct crash_report *report;
};
extern struct crash_state crash_state;

/* handler.c */
int crash_handlers_install(void);

/* guard.c. Signal handlers only. False: @piece has crashed. */
bool crash_guard(void (*piece)(void *data), void *data);
/* In the handler of a crash in a piece: makes crash_guard() return. False: there is no piece. */
bool crash_guard_leave(ucontext_t *context);

/* report.c. Signal handlers only. */
void crash_report_write(const struct crash_event *event);
size_t crash_report_size(void);

/* stack.c */
int crash_stacks_init(void);
void *crash_stack_new(void);
void crash_stack_use(void *stack);
void crash_stack_free(void *stack);

#endif /* _CRASH_INTERNAL_H */
