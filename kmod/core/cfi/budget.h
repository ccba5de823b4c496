/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * budget.h - limit what one build of a table can cost
 *
 * Nearly all of the builder's work is for a byte of the section that it reads
 * for the first time in a pass, and the number of passes is fixed. The rest
 * is work that crafted bytes can ask for again and again: to run a CIE's
 * program again because other CIEs took its place in the cache, to run an FDE
 * again behind one that lies within it, to compare copies, to search a hash
 * table whose entries collide. That work is paid for, in bytes of instructions,
 * from a budget in proportion to the section. Real objects use next to nothing
 * of it. A build that exceeds it is refused with KUNWIND_E_LIMIT.
 *
 * Memory has a budget too, so that a build never takes more than its caller
 * has charged for it: the struct that holds this one, and all that is allocated
 * by the functions below, the table included.
 */
#ifndef _KUNWIND_BUDGET_H
#define _KUNWIND_BUDGET_H

#include "../kunwind_core.h"

/* Bytes of repeated work for each byte of the section, and for a small one. */
#define KUNWIND_WORK_FACTOR	4
#define KUNWIND_WORK_BASE	4096

/* Bytes that a build may allocate for each byte that its table may have. */
#define KUNWIND_MEMORY_FACTOR	2

struct kunwind_budget {
	u64 work;		/* bytes left */
	size_t memory;		/* bytes left */
	bool exceeded;
};

/* False: the budget is exceeded. */
static __always_inline bool kunwind_budget_work(struct kunwind_budget *budget, u64 bytes)
{
	if (unlikely(bytes > budget->work)) {
		budget->exceeded = true;
		return false;
	}
	budget->work -= bytes;
	return true;
}

/* Zeroed memory, or NULL: kunwind_budget_refusal() says why. */
static inline void *kunwind_budget_alloc(struct kunwind_budget *budget, size_t size)
{
	void *p;

	if (size > budget->memory) {
		budget->exceeded = true;
		return NULL;
	}
	p = kunwind_alloc(size);
	if (p)
		budget->memory -= size;
	return p;
}

/* @p may be NULL, else it is of @size bytes. */
static inline void kunwind_budget_free(struct kunwind_budget *budget, void *p, size_t size)
{
	if (p)
		budget->memory += size;
	kunwind_free(p);
}

/* Why one of the above failed. */
static inline enum kunwind_refusal kunwind_budget_refusal(const struct kunwind_budget *budget)
{
	return budget->exceeded ? KUNWIND_E_LIMIT : KUNWIND_E_NOMEM;
}

#endif /* _KUNWIND_BUDGET_H */
