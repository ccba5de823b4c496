/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * changed.h - the addresses whose mappings have to be read again
 *
 * A few intervals. If there are more, one interval covers all of them: then more
 * is read than has changed.
 */
#ifndef _KUNWIND_CHANGED_H
#define _KUNWIND_CHANGED_H

#include "../core/kunwind_core.h"

#define KUNWIND_CHANGED_MAX	4

struct kunwind_changed {
	u32 nr;
	struct kunwind_interval {
		u64 start, end;
	} interval[KUNWIND_CHANGED_MAX];	/* none touches another */
};

/* No effect if the interval is empty. */
void kunwind_changed_add(struct kunwind_changed *changed, u64 start, u64 end);
void kunwind_changed_add_all(struct kunwind_changed *to, const struct kunwind_changed *from);

#endif /* _KUNWIND_CHANGED_H */
