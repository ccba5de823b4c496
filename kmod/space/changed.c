// SPDX-License-Identifier: GPL-2.0-only
/*
 * changed.c - the addresses whose mappings have to be read again
 *
 * space.c collects them under space->lock; read_mappings.c reads them.
 */
#include <linux/minmax.h>

#include "changed.h"

void kunwind_changed_add(struct kunwind_changed *changed, u64 start, u64 end)
{
	struct kunwind_interval *interval;
	u32 i = 0;

	if (start >= end)
		return;
	if (changed->nr == KUNWIND_CHANGED_MAX) {
		/* All become one, with the new one. */
		for (; i < changed->nr; i++) {
			start = min(start, changed->interval[i].start);
			end = max(end, changed->interval[i].end);
		}
		changed->nr = 0;
	}
	while (i < changed->nr) {
		interval = &changed->interval[i];
		if (start > interval->end || end < interval->start) {
			i++;
			continue;
		}
		start = min(start, interval->start);
		end = max(end, interval->end);
		/* Those before touch neither of the two. */
		*interval = changed->interval[--changed->nr];
	}
	changed->interval[changed->nr++] = (struct kunwind_interval){ start, end };
}

void kunwind_changed_add_all(struct kunwind_changed *to, const struct kunwind_changed *from)
{
	u32 i;

	for (i = 0; i < from->nr; i++)
		kunwind_changed_add(to, from->interval[i].start, from->interval[i].end);
}
