/* SPDX-License-Identifier: MIT */
/*
 * live.h - registers and stacks of a process that runs, as kunwind stack reads them
 *
 *   live.c         the process: mappings, threads, memory
 *   live_module.c  a thread, by the kernel module: not stopped
 *   live_asleep.c  without the module, a thread that sleeps: not stopped
 *   live_stop.c    without the module, a thread that runs: stopped for a moment by ptrace(2)
 *   live_interp.c  what an interpreter keeps about a thread's stack, in the same moment
 *   live_write.c   writes all for the walker
 *   stack.c        kunwind stack: options, several processes, again and again
 */
#ifndef STACKWALK_LIVE_H
#define STACKWALK_LIVE_H

#include <sys/types.h>

#include "running.h"
#include "session.h"

#define LIVE_COPIES	5		/* of a thread: its stack, and what walks have missed */

#define LIVE_REGISTERS	0x1ffffu	/* all, as in struct kunwind_registers */
#define LIVE_ALL_STACKS	(512u << 20)	/* bytes */

/* LIVE_RUNNING: it has copied its stack itself. */
enum live_taken { LIVE_NOT, LIVE_ASLEEP, LIVE_RUNNING, LIVE_STOPPED };

/* The kernel module. */
enum live_kmod { LIVE_UNKNOWN, LIVE_THERE, LIVE_ABSENT };

struct live_copy {
	uint64_t start;
	size_t len;
	uint8_t *bytes;
};

/* Registers, and memory that belongs to them. */
struct live_stack {
	struct kunwind_registers regs;
	uint32_t nr_copies;
	struct live_copy copy[LIVE_COPIES];
	struct live_pages *pages;	/* of an interpreter's lists; NULL: not wanted */
};

struct live_thread {
	pid_t tid;
	char name[DUMP_NAME];
	enum live_taken taken;
	struct live_stack stack;	/* if taken */
	const char *why;		/* it was not read, or its registers are not all known; or NULL */
	bool wants_stop;		/* a walk without all of its registers was not complete */
	uint64_t missed[LIVE_COPIES - 1];	/* addresses of memory that walks needed */
	uint32_t nr_missed;
	bool follows;			/* its stack has frames of live_process.interp */
	char *kernel;			/* /proc/PID/task/TID/stack; NULL: not allowed */
};

struct live_mapping {
	uint64_t start, end, offset;
	bool is_code, is_written;
	char *path;			/* NULL: none that begins with / */
};

struct live_process {
	pid_t pid;
	int mem, task;			/* descriptors of /proc/PID/mem and /proc/PID/task */
	bool i386;
	char command[DUMP_NAME];
	uint8_t auxv[RUNNING_AUXV];
	size_t auxv_len;
	struct live_mapping *mapping;	/* by address */
	size_t nr_mappings;
	struct live_thread *thread;	/* by number */
	size_t nr_threads;
	struct live_copy *module;	/* first pages of files, the vDSO, code of no file */
	size_t nr_modules;
	size_t copied;			/* bytes of stacks */
	bool no_kernel;			/* kernel stacks are not allowed */
	enum live_kmod kmod;
	const struct session_interp *interp;	/* NULL: none is known */
};

/* Reads the mappings, and the registers and stacks of all threads. False: after a message. */
bool live_take(struct live_process *live, pid_t pid);
void live_free(struct live_process *live);

/* Reads the threads anew that want it: wants_stop, nr_missed. */
void live_take_again(struct live_process *live);

/* Copies memory of the process. Returns the number of bytes: fewer than @len if the rest is absent. */
size_t live_read(const struct live_process *live, uint64_t addr, void *buf, size_t len);

/* Returns the mapping that holds @addr, or NULL. */
const struct live_mapping *live_find_mapping(const struct live_process *live, uint64_t addr);

/*
 * Copies the stack of a thread by stack->regs, and the memory that walks have missed. Then either
 * of the next two follows. False: out of memory, or at the limit.
 */
bool live_copy_stack(const struct live_process *live, const struct live_thread *thread,
		     struct live_stack *stack);
void live_keep_stack(struct live_process *live, struct live_thread *thread, const struct live_stack *stack,
		     enum live_taken taken);
void live_drop_stack(struct live_stack *stack);

/*
 * Opens a file of a thread below /proc/PID/task/TID, reads an open one from its start, or both and
 * closes it. One read(2) gives all of such a file. The text ends with a zero. -1: errno.
 */
int live_open_file(const struct live_process *live, pid_t tid, const char *name);
ssize_t live_read_open(int fd, char *text, size_t size);
ssize_t live_read_file(const struct live_process *live, pid_t tid, const char *name, char *text, size_t size);

/*
 * live_module.c, live_asleep.c: false: the thread runs, has ended, or may not be read. It is then as
 * it was.
 */
bool live_take_by_module(struct live_process *live, struct live_thread *thread);
bool live_take_asleep(struct live_process *live, struct live_thread *thread);

/* live_module.c: lets those threads copy their stacks for which @wanted says so. */
void live_ask(struct live_process *live, bool (*wanted)(const struct live_thread *thread));

/*
 * live_interp.c: copies what the interpreter keeps about the stack of a thread that does not run. The
 * pages are sorted by address. NULL: out of memory.
 */
struct live_pages *live_follow(const struct live_process *live, uint64_t fs_base);
uint32_t live_nr_pages(const struct live_pages *pages);	/* @pages may be NULL */
const void *live_page(const struct live_pages *pages, uint32_t number, struct running_region *region);
void live_free_pages(struct live_pages *pages);

/* Returns why the thread must not be stopped; NULL: it may. */
const char *live_why_not_stop(const struct live_process *live, pid_t tid);

/* live_stop.c: stops those of the threads for a moment for which @wanted says so. */
void live_stop(struct live_process *live, bool (*wanted)(const struct live_thread *thread));

/* live_write.c: returns a descriptor; -1: after a message. */
int live_write(const struct live_process *live);

/* Says on stderr why nothing of the process can be read, by errno. */
void live_refused(pid_t pid);

#endif /* STACKWALK_LIVE_H */
