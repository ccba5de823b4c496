// SPDX-License-Identifier: MIT
/*
 * pids.c - find the process that an event's vpid means
 *
 * LTTng's context vpid is the number of a process in its own pid namespace, so
 * processes of several containers share numbers. Kunwind's events have both
 * numbers. If several processes have one vpid, the one that had code at the
 * event's address is meant, because address spaces are laid out at random. If
 * several had code there (one program at fixed addresses in two containers),
 * any of them is right if the object is the same; otherwise none is chosen.
 *
 * Memory: 16 bytes for each pair of numbers.
 */
#include <stdlib.h>

#include "maps.h"
#include "pids.h"

#define NR_BUCKETS	4096

struct alias {
	int vpid, pid;
	size_t next;		/* in its bucket, index + 1; 0 ends */
};

struct kunwind_pids {
	size_t bucket[NR_BUCKETS];	/* index + 1; 0 empty */
	struct alias *alias;
	size_t nr, cap;
};

struct kunwind_pids *kunwind_pids_new(void)
{
	return calloc(1, sizeof(struct kunwind_pids));
}

void kunwind_pids_free(struct kunwind_pids *pids)
{
	if (pids)
		free(pids->alias);
	free(pids);
}

static const struct alias *first(const struct kunwind_pids *pids, int vpid)
{
	size_t i = pids->bucket[(unsigned int)vpid % NR_BUCKETS];

	while (i && pids->alias[i - 1].vpid != vpid)
		i = pids->alias[i - 1].next;
	return i ? &pids->alias[i - 1] : NULL;
}

static const struct alias *next(const struct kunwind_pids *pids, const struct alias *alias)
{
	size_t i = alias->next;

	while (i && pids->alias[i - 1].vpid != alias->vpid)
		i = pids->alias[i - 1].next;
	return i ? &pids->alias[i - 1] : NULL;
}

bool kunwind_pids_add(struct kunwind_pids *pids, int vpid, int pid)
{
	size_t *bucket = &pids->bucket[(unsigned int)vpid % NR_BUCKETS];
	const struct alias *alias;

	for (alias = first(pids, vpid); alias; alias = next(pids, alias)) {
		if (alias->pid == pid)
			return true;
	}
	if (pids->nr == pids->cap) {
		size_t cap = pids->cap ? pids->cap * 2 : 64;
		struct alias *bigger = realloc(pids->alias, cap * sizeof(*bigger));

		if (!bigger)
			return false;
		pids->alias = bigger;
		pids->cap = cap;
	}
	pids->alias[pids->nr++] = (struct alias){ .vpid = vpid, .pid = pid, .next = *bucket };
	*bucket = pids->nr;
	return true;
}

int kunwind_pids_find(const struct kunwind_pids *pids, struct kunwind_maps *maps, int vpid,
		      uint64_t addr, int64_t time)
{
	const struct alias *alias = first(pids, vpid);
	struct kunwind_maps_range chosen = { 0 };
	int pid = -1;

	if (!alias)
		return vpid;
	if (!next(pids, alias))
		return alias->pid;
	for (; alias; alias = next(pids, alias)) {
		const struct kunwind_maps_range *map = kunwind_maps_find(maps, alias->pid, addr, time);

		if (!map)
			continue;
		if (chosen.object && (map->object != chosen.object || map->bias != chosen.bias))
			return -1;
		chosen = *map;
		pid = alias->pid;
	}
	return pid;
}
