/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kunwind_deps.h (kernel twin) - all that the unwinder's core needs from outside
 *
 * The user twin is libkunwind/deps/kunwind_deps.h, which lists what both offer.
 */
#ifndef _KUNWIND_DEPS_H
#define _KUNWIND_DEPS_H

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include "../../compat/uprobes.h"
#include "../../stack/original.h"

/* The walk runs wherever its callers do: no tracing of it by ftrace. */
#define kunwind_walk_attr	notrace

/* A variable of which each part is set before it is read: kernels fill others with zeros. */
#if __has_attribute(__uninitialized__)
#define kunwind_unset		__attribute__((__uninitialized__))
#else
#define kunwind_unset
#endif

/*
 * @i, or 0 if it is not below @nr, without a branch: an index that depends on user memory is
 * clamped so that a mispredicted bounds check cannot load from outside the array (Spectre v1).
 */
#define kunwind_index(i, nr)	array_index_nospec(i, nr)

static inline void *kunwind_alloc(size_t size)
{
	return kvzalloc(size, GFP_KERNEL | __GFP_NOWARN);
}

static inline void kunwind_free(void *p)
{
	kvfree(p);
}

static inline void kunwind_resched(void)
{
	cond_resched();
}

/* The current task's user memory, for the time of one walk: begins with kunwind_mem_init(). */
struct kunwind_mem {
	u64 limit;		/* first address at which eight bytes are not all user space */
	struct kunwind_answers *answers; /* NULL: none are kept */
	u32 left;		/* of the walk's budget: mem.h */
	u64 id;			/* of the ranges */
	u64 breakpoint;		/* where one is under which nothing is known; the last, or 0 */
	bool asked;		/* answers.h: the walk has begun to ask */
	bool probed;
};

/* Field by field: together, gcc fills them with "rep stos", which is slow to begin. */
static __always_inline void kunwind_mem_init(struct kunwind_mem *mem)
{
	mem->answers = NULL;
	mem->breakpoint = 0;
	mem->asked = false;
	mem->probed = false;
}

/*
 * Whether user memory is the current task's just now: an NMI, or a tracepoint in
 * switch_mm_irqs_off(), may come while it is another's. nmi_uaccess_okay() is not exported.
 * What it looks after is that the page tables in use are those of current->mm, and that
 * can be seen. Where it is not so seen (a paravirtual kernel's own page tables)
 * copy_from_user_nofault() decides, which calls that function.
 */
static __always_inline bool kunwind_mem_is_ours(u64 first)
{
	u64 probe;

	if (likely(current->mm && __va(read_cr3_pa()) == (void *)current->mm->pgd))
		return true;
	return !copy_from_user_nofault(&probe, (const void __user *)first, sizeof(probe));
}

/*
 * The address space that is read. No other one ever has this number, whereas ranges
 * are the same for processes after fork().
 */
static __always_inline u64 kunwind_mem_space(const struct kunwind_mem *mem)
{
	return current->mm ? current->mm->context.ctx_id : 0;
}

/*
 * Opens the window in which the current task's memory can be read without a
 * fault, if it can be read at all; that is found out at a walk's first window, where @first is the
 * first address that will be read: the answer holds for the walk, which
 * cannot be preempted. No function may be called until kunwind_mem_end(): SMAP
 * is off and objtool checks it.
 */
static __always_inline bool kunwind_mem_begin(struct kunwind_mem *mem, u64 first)
{
	if (!mem->probed) {
		if (!kunwind_mem_is_ours(first))
			return false;
		mem->probed = true;
		mem->limit = TASK_SIZE_MAX - sizeof(u64) + 1;
	}
	pagefault_disable();
	if (!user_access_begin((const void __user *)first, sizeof(u64))) {
		pagefault_enable();
		return false;
	}
	return true;
}

static __always_inline void kunwind_mem_end(struct kunwind_mem *mem)
{
	user_access_end();
	pagefault_enable();
}

/*
 * user_access_begin() checked one range only, and addresses here come from the
 * user's own stack: each that is not wholly in user space becomes zero, without
 * a branch that could be speculated past. Nothing is mapped at zero, so that
 * such a read faults; where root mapped something there, it is user memory still.
 */
#define kunwind_mem_read(mem, val, addr, fault)					\
do {										\
	u64 a_ = (addr);							\
	a_ &= array_index_mask_nospec(a_, (mem)->limit);			\
	unsafe_get_user(val, (const u64 __user *)a_, fault);			\
} while (0)

/*
 * What the kernel put a return probe's trampoline over at @slot of the current task's stack.
 * *@looked: entries of the kernel's list that were compared.
 */
static inline notrace u64 kunwind_mem_return(const struct kunwind_mem *mem, u64 slot, u32 *looked)
{
	return kunwind_uprobes_return(slot, looked);
}

/* The byte of code that a breakpoint at @addr hides. False: not known. */
static inline notrace bool kunwind_mem_original(struct kunwind_mem *mem, u64 addr, u8 *byte)
{
	if (kunwind_original_find(mem->id, addr, byte))
		return true;
	mem->breakpoint = addr;
	return false;
}

#endif /* _KUNWIND_DEPS_H */
