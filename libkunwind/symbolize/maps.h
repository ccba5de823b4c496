/* SPDX-License-Identifier: MIT */
/*
 * maps.h - what was mapped where, in which process, at what time
 */
#ifndef KUNWIND_SYMBOLIZE_MAPS_H
#define KUNWIND_SYMBOLIZE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "libkunwind-symbolize.h"

struct kunwind_range {
	uint64_t start, end;	/* [start, end) in the process */
	uint64_t bias;		/* address - bias = ELF virtual address */
	struct kunwind_object *object;
};

struct kunwind_maps;

/* NULL when out of memory. */
struct kunwind_maps *kunwind_maps_new(void);
void kunwind_maps_free(struct kunwind_maps *maps);

/*
 * The history is told, in order of time (nanoseconds; equal times keep
 * their order). False: out of memory.
 */
bool kunwind_maps_map(struct kunwind_maps *maps, int pid, int64_t time,
		      const struct kunwind_range *range);
bool kunwind_maps_unmap(struct kunwind_maps *maps, int pid, int64_t time, uint64_t start,
			uint64_t end);
bool kunwind_maps_exec(struct kunwind_maps *maps, int pid, int64_t time);
bool kunwind_maps_fork(struct kunwind_maps *maps, int parent, int child, int64_t time);
bool kunwind_maps_exit(struct kunwind_maps *maps, int pid, int64_t time);

/*
 * For a process that the history knows nothing of: it has this since ever. The
 * ranges of one process come at once. False: out of memory.
 */
bool kunwind_maps_live(struct kunwind_maps *maps, int pid, const struct kunwind_range *range);

/* True the first time for a process that the history knows nothing of. */
bool kunwind_maps_ask_live(struct kunwind_maps *maps, int pid);

/* When the program that @pid ran at @time had begun, as far as it was told; INT64_MAX: it was not. */
int64_t kunwind_maps_began(const struct kunwind_maps *maps, int pid, int64_t time);

/* Does the history, or a live process, tell anything about @pid? */
bool kunwind_maps_knows(const struct kunwind_maps *maps, int pid);

/**
 * kunwind_maps_find() - the mapping that held @addr
 * Calls must not go back in time. What the trace told too late (a state dump
 * after the first events, a new program's mappings after execve's own exit) is
 * found by looking ahead to the process's next exec or exit.
 * Return: NULL when none did; valid until the next call.
 */
const struct kunwind_range *kunwind_maps_find(struct kunwind_maps *maps, int pid,
						uint64_t addr, int64_t time);

#endif /* KUNWIND_SYMBOLIZE_MAPS_H */
