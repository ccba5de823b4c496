/* SPDX-License-Identifier: MIT */
/*
 * show_maps.h - what was mapped where, in which process, at what time
 */
#ifndef KUNWIND_SHOW_MAPS_H
#define KUNWIND_SHOW_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct kunwind_symbolizer;
struct kunwind_symfile;

struct kunwind_mapping {
	uint64_t start, end;	/* [start, end) in the process */
	uint64_t bias;		/* address - bias = ELF virtual address */
	struct kunwind_symfile *file;
};

struct kunwind_maps;

/* NULL when out of memory. */
struct kunwind_maps *kunwind_maps_new(void);
void kunwind_maps_free(struct kunwind_maps *maps);

/*
 * First the history is told, in order of time (nanoseconds; equal times keep
 * their order). False: out of memory.
 */
bool kunwind_maps_map(struct kunwind_maps *maps, int pid, int64_t time,
		      const struct kunwind_mapping *mapping);
bool kunwind_maps_exec(struct kunwind_maps *maps, int pid, int64_t time);
bool kunwind_maps_fork(struct kunwind_maps *maps, int parent, int child, int64_t time);
bool kunwind_maps_exit(struct kunwind_maps *maps, int pid, int64_t time);

/**
 * kunwind_maps_load_live() - the mappings of a process that still runs
 * Taken for @pid when the history has nothing about it, and only when it was
 * started before @time (nanoseconds since 1970): a number is soon given again.
 * @comm: the name that it must have; "" for any
 * Asked for once for each process. Return: whether there are any.
 */
bool kunwind_maps_load_live(struct kunwind_maps *maps, struct kunwind_symbolizer *symbolizer,
			    int pid, const char *comm, int64_t time);

/* Does the history, or a live process, tell anything about @pid? */
bool kunwind_maps_knows(const struct kunwind_maps *maps, int pid);

/**
 * kunwind_maps_find() - the mapping that held @addr
 * Calls must not go back in time. What the trace told too late (a state dump
 * after the first events, a new program's mappings after execve's own exit) is
 * found by looking ahead to the process's next exec or exit.
 * Return: NULL when none did; valid until the next call.
 */
const struct kunwind_mapping *kunwind_maps_find(struct kunwind_maps *maps, int pid,
						uint64_t addr, int64_t time);

#endif /* KUNWIND_SHOW_MAPS_H */
