/* SPDX-License-Identifier: MIT */
/*
 * memory.h - memory that is charged, for tests that have charges of their own
 *
 * quota-test.c tests the functions of memory_limit.c. This allocator gives twice
 * as many bytes as are asked for, so that a test finds an uncharge of another
 * number. Include it after the test's kunwind_memory_charge(), _make_room(),
 * _uncharge() and _refused().
 */
#ifndef _TEST_MEMORY_H
#define _TEST_MEMORY_H

void *kunwind_memory_alloc(struct kunwind_quota *quota, size_t size, gfp_t gfp, size_t *charged)
{
	void *p;

	if (gfpflags_allow_blocking(gfp) ? kunwind_memory_make_room(quota, 2 * size) :
					   kunwind_memory_charge(quota, 2 * size)) {
		kunwind_memory_refused();
		return NULL;
	}
	if (gfpflags_allow_blocking(gfp))
		p = kvzalloc(size, gfp | __GFP_NOWARN);
	else
		p = kzalloc(size, gfp | __GFP_NOWARN);
	*charged = p ? 2 * size : 0;
	if (!p)
		kunwind_memory_uncharge(quota, 2 * size);
	return p;
}

void kunwind_memory_free(struct kunwind_quota *quota, void *p, size_t charged)
{
	kvfree(p);
	kunwind_memory_uncharge(quota, charged);
}

#endif /* _TEST_MEMORY_H */
