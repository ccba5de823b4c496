/* SPDX-License-Identifier: MIT */
/*
 * pids.h - find the process that an event's vpid means
 */
#ifndef KUNWIND_SYMBOLIZE_PIDS_H
#define KUNWIND_SYMBOLIZE_PIDS_H

#include <stdbool.h>
#include <stdint.h>

struct kunwind_maps;
struct kunwind_pids;

/* Returns NULL when out of memory. */
struct kunwind_pids *kunwind_pids_new(void);
void kunwind_pids_free(struct kunwind_pids *pids);

/*
 * Adds process @pid, which has the number @vpid in its own pid namespace.
 * False: out of memory.
 */
bool kunwind_pids_add(struct kunwind_pids *pids, int vpid, int pid);

/**
 * kunwind_pids_find() - the process with number @vpid that had code at @addr
 * Return: its number in @maps; @vpid itself if no process with @vpid was added;
 * -1 if several were, and none or different ones have code there.
 */
int kunwind_pids_find(const struct kunwind_pids *pids, struct kunwind_maps *maps, int vpid,
		      uint64_t addr, int64_t time);

#endif /* KUNWIND_SYMBOLIZE_PIDS_H */
