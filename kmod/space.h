/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * space.h - address spaces of registered processes, found by mm, read under RCU
 */
#ifndef _KUNWIND_SPACE_H
#define _KUNWIND_SPACE_H

#include <linux/rculist.h>
#include <linux/mm_types.h>
#include "core/kunwind_core.h"

struct kunwind_process;

/**
 * struct kunwind_space - what is known of one address space
 * @node: in the hash of spaces, by mm
 * @mm: key; never dereferenced through here (no reference is held)
 * @ranges: the mappings; replaced whole, freed after a grace period
 * @fresh: exec made this space and its program did not run yet
 * (further members belong to space.c)
 */
struct kunwind_space {
	struct hlist_node node;
	const struct mm_struct *mm;
	struct kunwind_ranges __rcu *ranges;
	bool fresh;
	/* ... */
};

/*
 * The space of @mm, or NULL when it is not registered. Any context, NMI
 * included; inside rcu_read_lock() or with preemption off. notrace.
 */
struct kunwind_space *kunwind_space_find(const struct mm_struct *mm);

#endif /* _KUNWIND_SPACE_H */
