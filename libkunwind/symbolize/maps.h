/* SPDX-License-Identifier: MIT */
/*
 * maps.h - what was mapped where, in which process, at what time
 */
#ifndef KUNWIND_SYMBOLIZE_MAPS_H
#define KUNWIND_SYMBOLIZE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "libkunwind-symbolize.h"

struct kunwind_maps_range {
	uint64_t start, end;	/* [start, end) in the process */
	uint64_t bias;		/* address - bias = ELF virtual address */
	struct kunwind_symbolizer_object *object;
};

struct kunwind_maps;

/* Returns NULL when out of memory. */
struct kunwind_maps *kunwind_maps_new(void);
void kunwind_maps_free(struct kunwind_maps *maps);

/*
 * These add one event, in order of time (nanoseconds; equal times keep their
 * order). False: out of memory.
 */
bool kunwind_maps_map(struct kunwind_maps *maps, int pid, int64_t time,
		      const struct kunwind_maps_range *range);
bool kunwind_maps_unmap(struct kunwind_maps *maps, int pid, int64_t time, uint64_t start,
			uint64_t end);
bool kunwind_maps_exec(struct kunwind_maps *maps, int pid, int64_t time);
bool kunwind_maps_fork(struct kunwind_maps *maps, int parent, int child, int64_t time);
bool kunwind_maps_exit(struct kunwind_maps *maps, int pid, int64_t time);

/*
 * Adds a mapping of a live process that has no events: it holds for all times.
 * All ranges of a process are added at once. False: out of memory.
 */
bool kunwind_maps_live(struct kunwind_maps *maps, int pid, const struct kunwind_maps_range *range);

/* True on the first call for a process that has no events. */
bool kunwind_maps_ask_live(struct kunwind_maps *maps, int pid);

/*
 * Reports when the program that @pid ran at @time began (its last exec or
 * fork), and when it ended (its next exec, fork or exit). INT64_MAX if the
 * trace does not say.
 */
void kunwind_maps_program(const struct kunwind_maps *maps, int pid, int64_t time, int64_t *began,
			  int64_t *ended);

/* Does the history, or a live process, know anything of @pid? */
bool kunwind_maps_knows(const struct kunwind_maps *maps, int pid);

/**
 * kunwind_maps_find() - the mapping that held @addr at @time
 * Times that increase from call to call are fast. A mapping that the trace
 * reports late (in a state dump after the first events, or after the exit of
 * execve) is found among the events up to the process's next exec, fork or exit.
 * Return: NULL if no mapping held @addr, or if the mapping is not known because
 * events were lost; valid until the next call.
 */
const struct kunwind_maps_range *kunwind_maps_find(struct kunwind_maps *maps, int pid,
						   uint64_t addr, int64_t time);

#endif /* KUNWIND_SYMBOLIZE_MAPS_H */
