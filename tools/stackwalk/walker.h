/* SPDX-License-Identifier: MIT */
/*
 * walker.h - what the parts of the walker share: walker.c, walker_interp.c
 */
#ifndef STACKWALK_WALKER_H
#define STACKWALK_WALKER_H

#include "protocol.h"

struct walked_interp;

struct walked_module {
	bool tried, matched, parsed;
	int fd;				/* -1: none */
	struct dump_image image;	/* of the file, or of the memory */
	struct walker *walker;
	uint32_t id;
	bool examined;			/* whether it is an interpreter */
	struct walked_interp *interp;	/* NULL: it is none */
};

struct walker {
	struct dump_process *dump;
	struct kunwind_unwinder *unwinder;
	struct walked_module **module;	/* by id; NULL: not met */
	const struct dump_thread *thread;	/* that is walked */
	uint32_t nr_files, most;
	uint64_t frames;
};

/* The native frames of a thread, the innermost first, and the interpreter's. */
struct thread_stack {
	struct stackwalk_frame *native;
	size_t nr, room;
	bool complete;
	struct kunwind_interp_frame *inner;	/* frames by number of the native frame that runs them */
	uint32_t nr_inner;
	uint32_t *function;		/* [nr_inner]: numbers of their functions */
};

void walker_say(const void *message, size_t size);
size_t walker_read_file(void *data, uint64_t offset, void *buf, size_t len);	/* @data: the module */
size_t walker_read_memory(void *data, uint64_t addr, void *buf, size_t len);	/* @data: the walker */

/*
 * Finds the interpreter's frames. Returns 0, or enum stackwalk_lack: some or all of them are
 * missing. The arrays are valid until the next call.
 */
uint32_t walker_find_interpreted(struct walker *walker, struct thread_stack *stack);

#endif /* STACKWALK_WALKER_H */
