/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * budget.h - limit the time and memory that one build of a table can take
 *
 * Nearly all work of a build is to read a byte of the section for the first
 * time in a pass, and the number of passes is fixed. Crafted bytes can make the
 * builder repeat the rest of its work: run a CIE's program again because other
 * CIEs took its slot in the cache, run an FDE's program again after an FDE
 * inside its range, compare copies of CIEs, search a hash table whose entries
 * collide. The builder pays for this work, in bytes of instructions, from a
 * budget in proportion to the section. Real objects use next to nothing of the
 * budget. A build that exceeds it is refused with KUNWIND_E_LIMIT.
 *
 * A second budget limits memory, so that a build never takes more than its
 * caller has charged. It pays for struct kunwind_build and for everything that
 * kunwind_budget_alloc() returns, the table included.
 *
 * The functions take no locks. Each budget belongs to one build. Allocation may
 * sleep.
 */
#ifndef _KUNWIND_BUDGET_H
#define _KUNWIND_BUDGET_H

#include "../kunwind_core.h"

/* Budget of repeated work: bytes for each byte of the section, plus a base. */
#define KUNWIND_WORK_FACTOR	4
#define KUNWIND_WORK_BASE	4096

/* Bytes that a build may allocate for each byte of the table's limit. */
#define KUNWIND_MEMORY_FACTOR	2

struct kunwind_budget {
	u64 work;		/* bytes left */
	size_t memory;		/* bytes left */
	bool exceeded;
};

/*
 * Pays for @bytes of repeated work. Returns false if the budget does not
 * suffice.
 */
static __always_inline bool kunwind_budget_work(struct kunwind_budget *budget, u64 bytes)
{
	if (unlikely(bytes > budget->work)) {
		budget->exceeded = true;
		return false;
	}
	budget->work -= bytes;
	return true;
}

/*
 * Returns @size bytes of zeroed memory, or NULL. kunwind_budget_error() then
 * returns the reason.
 */
static inline void *kunwind_budget_alloc(struct kunwind_budget *budget, size_t size)
{
	size_t given;
	void *p;

	if (size > budget->memory) {
		budget->exceeded = true;
		return NULL;
	}
	p = kunwind_alloc(size);
	if (!p)
		return NULL;
	given = kunwind_alloc_size(p, size);
	if (given > budget->memory) {
		budget->exceeded = true;
		kunwind_free(p);
		return NULL;
	}
	budget->memory -= given;
	return p;
}

/* Frees @p, for which @size bytes were asked, or which is NULL. */
static inline void kunwind_budget_free(struct kunwind_budget *budget, void *p, size_t size)
{
	if (p)
		budget->memory += kunwind_alloc_size(p, size);
	kunwind_free(p);
}

/* The build error to return after one of the functions above failed. */
static inline enum kunwind_build_error kunwind_budget_error(const struct kunwind_budget *budget)
{
	return budget->exceeded ? KUNWIND_E_LIMIT : KUNWIND_E_NOMEM;
}

#endif /* _KUNWIND_BUDGET_H */
