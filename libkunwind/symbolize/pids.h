/* SPDX-License-Identifier: MIT */
/*
 * pids.h - which process an event's vpid means
 */
#ifndef KUNWIND_SYMBOLIZE_PIDS_H
#define KUNWIND_SYMBOLIZE_PIDS_H

#include <stdbool.h>
#include <stdint.h>

struct kunwind_maps;
struct kunwind_pids;

/* NULL when out of memory. */
struct kunwind_pids *kunwind_pids_new(void);
void kunwind_pids_free(struct kunwind_pids *pids);

/* Process @pid calls itself @vpid. False: out of memory. */
bool kunwind_pids_add(struct kunwind_pids *pids, int vpid, int pid);

/**
 * kunwind_pids_find() - the process called @vpid that had code at @addr
 * Return: its number as in @maps; @vpid itself when nothing is known about it;
 * -1 when several processes would do and differ.
 */
int kunwind_pids_find(const struct kunwind_pids *pids, struct kunwind_maps *maps, int vpid,
		      uint64_t addr, int64_t time);

#endif /* KUNWIND_SYMBOLIZE_PIDS_H */
