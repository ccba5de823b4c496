/* SPDX-License-Identifier: MIT */
/*
 * kernel-memory.h - allocations
 *
 * Part of kernel.h. Memory that the kernel does not zero has the pattern 0xa5
 * here (the memory sanitizer also reports its use), freed memory 0x6b. "allocated" has
 * the arguments of the last allocation. Each of these ends the test: flags that
 * may sleep where the code must not, kvmalloc() with others, flags without
 * __GFP_NOWARN, kfree() of kvmalloc()'s memory, a CPU's number in place of a
 * node's.
 */
#ifndef _TEST_KERNEL_MEMORY_H
#define _TEST_KERNEL_MEMORY_H

#include <malloc.h>

#include "kernel-context.h"
#include "poison.h"

typedef unsigned int gfp_t;
#define __GFP_DIRECT_RECLAIM		0x400U
#define __GFP_NOWARN			0x2000U
#define __GFP_NORETRY			0x10000U
#define __GFP_ACCOUNT			0x400000U
#define GFP_KERNEL			(0x1U | __GFP_DIRECT_RECLAIM)
#define GFP_KERNEL_ACCOUNT		(GFP_KERNEL | __GFP_ACCOUNT)
#define GFP_ATOMIC			0x2U
#define GFP_NOWAIT			0x4U
#define gfpflags_allow_blocking(gfp)	(!!((gfp) & __GFP_DIRECT_RECLAIM))

#define NUMA_NO_NODE			(-1)
#define FIRST_NODE			100	/* of CPU 0 */
#ifndef cpu_to_node
#define cpu_to_node(cpu)		((int)(cpu) + FIRST_NODE)
#endif

static void (*while_allocating)(void);	/* what another task does in the next allocation that may sleep */
static int no_memory;			/* how many of the next allocations fail */
static int no_memory_at;		/* this one fails, counted from 1 */
static struct { size_t size; gfp_t gfp; int node; unsigned int nr; } allocated;

/* A memory control group: bytes that were charged to it, and references. */
struct mem_cgroup { size_t charged; int refs, oom_kills; bool full; };
static struct mem_cgroup *active_memcg;
static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg)
{
	struct mem_cgroup *old = active_memcg;

	active_memcg = memcg;
	return old;
}
static inline void mem_cgroup_put(struct mem_cgroup *memcg)
{
	if (memcg)
		memcg->refs--;
}
static inline bool charge_memcg(size_t size, gfp_t gfp)
{
	if (!active_memcg || !(gfp & __GFP_ACCOUNT))
		return true;
	if (active_memcg->full) {
		active_memcg->oom_kills += !(gfp & __GFP_NORETRY);
		return false;
	}
	active_memcg->charged += size;
	return true;
}

#define MOST_KV				8192
/* Not as pointers, which would hide leaks from the address sanitizer. */
static uintptr_t of_kvmalloc[MOST_KV];
static unsigned int nr_of_kvmalloc;

static inline bool forget_kvmalloc(const void *p)
{
	unsigned int i;

	for (i = nr_of_kvmalloc; i--;)
		if (of_kvmalloc[i] == ~(uintptr_t)p) {
			of_kvmalloc[i] = of_kvmalloc[--nr_of_kvmalloc];
			return true;
		}
	return false;
}

static inline void *kernel_alloc(size_t size, gfp_t gfp, int node, bool kv, bool zero)
{
	void *p;

	if (!(gfp & __GFP_NOWARN))
		wrong("an allocation without __GFP_NOWARN");
	if (gfpflags_allow_blocking(gfp))
		might_sleep();
	else if (kv)
		wrong("kvmalloc() may sleep");
	if (node != NUMA_NO_NODE && node < FIRST_NODE)
		wrong("%d is no node", node);
	if (while_allocating && gfpflags_allow_blocking(gfp)) {
		void (*what)(void) = while_allocating;

		while_allocating = NULL;
		what();
	}
	allocated.size = size;
	allocated.gfp = gfp;
	allocated.node = node;
	allocated.nr++;
	if (!charge_memcg(size, gfp) || (no_memory && no_memory--) || (no_memory_at && !--no_memory_at))
		return NULL;
	p = malloc(size ? size : 1);
	if (!p)
		abort();
	if (zero)
		memset(p, 0, size);
	else
		poison(p, size);
	if (kv && nr_of_kvmalloc == MOST_KV)
		wrong("MOST_KV");
	if (kv)
		of_kvmalloc[nr_of_kvmalloc++] = ~(uintptr_t)p;
	return p;
}

static inline void poison_and_free(const void *p)
{
	memset((void *)p, 0x6b, malloc_usable_size((void *)p));
	__asm__ __volatile__("" : : "r"(p) : "memory");
	free((void *)p);
}

static inline void kernel_free(const void *p, bool kv)
{
	if (!p)
		return;
	if (forget_kvmalloc(p)) {
		if (!kv)
			wrong("kfree() of memory of kvmalloc()");
		might_sleep();
	}
	poison_and_free(p);
}

static bool no_pages;			/* kvzalloc() takes memory of vmalloc() */
#define is_vmalloc_addr(p)		((void)(p), no_pages)
/* As SLUB gives: powers of two, and 96 and 192. */
static inline size_t kunwind_kmalloc_size(size_t size)
{
	size_t given = 8;

	if ((size > 64 && size <= 96) || (size > 128 && size <= 192))
		return size <= 96 ? 96 : 192;
	while (given < size)
		given *= 2;
	return given;
}
#define _KUNWIND_COMPAT_MM_H

#define kmalloc(size, gfp)		kernel_alloc(size, gfp, NUMA_NO_NODE, false, false)
#define kzalloc(size, gfp)		kernel_alloc(size, gfp, NUMA_NO_NODE, false, true)
#define kvmalloc(size, gfp)		kernel_alloc(size, gfp, NUMA_NO_NODE, true, false)
#define kvzalloc(size, gfp)		kernel_alloc(size, gfp, NUMA_NO_NODE, true, true)
#define kvzalloc_node(size, gfp, node)	kernel_alloc(size, gfp, node, true, true)
#define kvmalloc_array(n, size, gfp)	kvmalloc((size_t)(n) * (size), gfp)
#define kfree(p)			kernel_free(p, false)
#define kvfree(p)			kernel_free(p, true)
/* kfree_rcu() is for memory of kvmalloc(), too. */
static inline void free_rcu_now(const void *p)
{
	forget_kvmalloc(p);
	poison_and_free(p);
}

#endif /* _TEST_KERNEL_MEMORY_H */
