/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kunwind_deps.h (for the kernel) - all that the core needs from outside
 *
 * The version for user space, libkunwind/deps/kunwind_deps.h, lists the
 * functions that both provide. Allocation and kunwind_resched() are for builds,
 * which may sleep; all other functions run in any context, NMI included.
 */
#ifndef _KUNWIND_DEPS_H
#define _KUNWIND_DEPS_H

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/fsgsbase.h>

#include "gfp.h"
#include "../../compat/mm.h"
#include "../../compat/uprobes.h"
#include "original.h"

/* ftrace must not trace the walk, which runs in its callers' contexts. */
#define kunwind_walk_attr	notrace

/*
 * For a variable whose parts are all set before they are read: the kernel may
 * be compiled to fill variables with zeros.
 */
#if __has_attribute(__uninitialized__)
#define kunwind_unset		__attribute__((__uninitialized__))
#else
#define kunwind_unset
#endif

/*
 * Returns @i, or 0 if @i is not below @nr, without a branch. An index that
 * depends on user memory is clamped so that a mispredicted bounds check cannot
 * load from outside the array (Spectre v1).
 */
#define kunwind_index(i, nr)	array_index_nospec(i, nr)

/*
 * Writes @new to *@word, an entry's sequence number in the cache of rules. Only code
 * on this CPU uses the cache (rule_cache.c). True: the caller may write the entry.
 */
#define kunwind_cache_claim(word, old, new)	({ WRITE_ONCE(*(word), new); true; })

/* Finds a rule in a table for the walk with this reader. */
#define kunwind_mem_find(mem, table, addr, rule)	kunwind_table_find(table, addr, rule)

static inline void *kunwind_alloc(size_t size)
{
	void *p = kvzalloc(size, KUNWIND_GFP_CHARGED);

	return p ? p : kvzalloc(size, GFP_KERNEL | __GFP_NOWARN);
}

static inline void kunwind_free(void *p)
{
	kvfree(p);
}

/*
 * Returns how many bytes kunwind_alloc(@size) took when it returned @p: these are
 * charged, because kmalloc() may give twice as much as was asked for.
 */
static inline size_t kunwind_alloc_size(const void *p, size_t size)
{
	return is_vmalloc_addr(p) ? PAGE_ALIGN(size) : kunwind_kmalloc_size(size);
}

static inline void kunwind_resched(void)
{
	cond_resched();
}

/*
 * The user memory of current->mm, during one walk. It begins with
 * kunwind_mem_init(), which leaves limit, left and id unset. The walked task is the
 * current one, or, if a kernel thread uses its mm, a task that does not run.
 */
struct kunwind_mem {
	const struct task_struct *task;	/* that is walked */
	u64 limit;		/* first address at which eight bytes are not all user space */
	struct kunwind_analysis_cache *answers; /* NULL: no answers are kept */
	u32 left;		/* units left of the walk's budget (mem.h) */
	u64 id;			/* of the ranges */
	u64 breakpoint;		/* the last breakpoint whose byte is not known, or 0 */
	bool asked;		/* analysis_cache.h: the walk has begun to ask */
	bool probed;
};

/*
 * Field by field: for a whole struct, gcc uses "rep stos", which starts slowly.
 */
static __always_inline void kunwind_mem_init(struct kunwind_mem *mem, const struct task_struct *task)
{
	mem->task = task;
	mem->answers = NULL;
	mem->breakpoint = 0;
	mem->asked = false;
	mem->probed = false;
}

/*
 * Returns whether user memory is that of current->mm now. In an NMI, or in a
 * tracepoint in switch_mm_irqs_off(), it may be another's. nmi_uaccess_okay(),
 * which checks that the page tables in use are those of current->mm, is not
 * exported; this function compares them itself. If they do not match (or cannot
 * be compared: a paravirtual kernel has its own page tables),
 * copy_from_user_nofault() decides, which calls nmi_uaccess_okay().
 */
static __always_inline bool kunwind_mem_is_ours(u64 first)
{
	u64 probe;

	if (likely(current->mm && __va(read_cr3_pa()) == (void *)current->mm->pgd))
		return true;
	return !copy_from_user_nofault(&probe, (const void __user *)first, sizeof(probe));
}

/*
 * Returns a number of the address space that is read. No other address space
 * ever has this number, whereas processes share ranges after fork(). 0: no mm.
 */
static __always_inline u64 kunwind_mem_space(const struct kunwind_mem *mem)
{
	return current->mm ? current->mm->context.ctx_id : 0;
}

/*
 * The base of the segment fs of the walked task's user code; 0: not known. While
 * a walk of the current task runs, only a task switch can change it. An NMI during a
 * switch may find the next task's base; thread.fsbase was set just before. Where user
 * code cannot change the base by an instruction, and of a task that does not run,
 * thread.fsbase is up to date, and no model-specific register is read: that would be
 * a traced event.
 */
static __always_inline u64 kunwind_mem_fs(const struct kunwind_mem *mem)
{
	const u64 saved = READ_ONCE(mem->task->thread.fsbase);
	u64 base;

	if (!boot_cpu_has(X86_FEATURE_FSGSBASE) || mem->task != current)
		return saved;
	base = rdfsbase();
	return in_nmi() && base != saved ? 0 : base;
}

/*
 * The nearest handler of a signal at or before @ip in the walked task's program;
 * 0: it has none. The task itself or other threads may change handlers meanwhile.
 * The memory of a freed sighand stays a sighand for an RCU grace period, and walks
 * cannot be preempted.
 */
static inline notrace u64 kunwind_mem_handler(const struct kunwind_mem *mem, u64 ip)
{
	const struct sighand_struct *sighand = rcu_dereference_raw(mem->task->sighand);
	u64 nearest = 0, handler;
	u32 i;

	for (i = 0; sighand && i < _NSIG; i++) {
		handler = (u64)READ_ONCE(sighand->action[i].sa.sa_handler);
		if (handler > (u64)SIG_IGN && handler <= ip)
			nearest = max(nearest, handler);
	}
	return nearest;
}

/*
 * pagefault_disable() counts in the current task. A walk in an interrupt changes
 * the counter of the task that it interrupts, and restores it before the walk
 * ends. KCSAN reports this as a race.
 */
static __always_inline void kunwind_faults_off(void)
{
	(void)data_race(({ pagefault_disable(); 0; }));
}

static __always_inline void kunwind_faults_on(void)
{
	(void)data_race(({ pagefault_enable(); 0; }));
}

/*
 * Opens the window in which the walked task's memory can be read without a
 * page fault. False: it cannot be read. The first window of a walk finds this
 * out, with the first address that will be read, @first; the result holds for
 * the whole walk, because the walk cannot be preempted. Until kunwind_mem_end()
 * no function may be called: SMAP is off, and objtool checks this.
 */
static __always_inline bool kunwind_mem_begin(struct kunwind_mem *mem, u64 first)
{
	if (!mem->probed) {
		if (!kunwind_mem_is_ours(first))
			return false;
		mem->probed = true;
		mem->limit = TASK_SIZE_MAX - sizeof(u64) + 1;
	}
	kunwind_faults_off();
	if (!user_access_begin((const void __user *)first, sizeof(u64))) {
		kunwind_faults_on();
		return false;
	}
	return true;
}

static __always_inline void kunwind_mem_end(struct kunwind_mem *mem)
{
	user_access_end();
	kunwind_faults_on();
}

/*
 * Reads eight bytes at @addr in a window, or jumps to @fault.
 * user_access_begin() has checked one range only, and @addr comes from the
 * user's own stack. If the eight bytes are not all in user space, the address
 * becomes zero, without a branch that could be mispredicted. Nothing is mapped
 * at zero, so the read faults; if root has mapped something there, it is user
 * memory, too.
 */
#define kunwind_mem_read(mem, val, addr, fault)					\
do {										\
	u64 a_ = (addr);							\
	a_ &= array_index_mask_nospec(a_, (mem)->limit);			\
	unsafe_get_user(val, (const u64 __user *)a_, fault);			\
} while (0)

/*
 * For several reads near one address: kunwind_mem_clamp() returns @addr, or zero if a
 * word less than KUNWIND_MEM_REACH bytes above it may not be user space. What it
 * returned, plus less than KUNWIND_MEM_REACH - 8, may be read by kunwind_mem_load().
 */
#define KUNWIND_MEM_REACH	(1UL << 16)
#define kunwind_mem_clamp(mem, addr)						\
({										\
	u64 c_ = (addr);							\
	c_ & array_index_mask_nospec(c_, (mem)->limit - KUNWIND_MEM_REACH);	\
})
#define kunwind_mem_load(mem, val, addr, fault)	unsafe_get_user(val, (const u64 __user *)(addr), fault)

/*
 * Returns the return address that a return probe's trampoline replaced at @slot
 * of the walked task's stack, or 0 if it is not known. *@looked: number of
 * entries of the kernel's list that were read.
 */
static inline notrace u64 kunwind_mem_return(const struct kunwind_mem *mem, u64 slot, u32 *looked)
{
	return kunwind_uprobes_return(mem->task, slot, looked);
}

/*
 * Sets *@byte to the byte of code that a breakpoint at @addr hides. False: the
 * byte is not known, and @addr is kept in mem->breakpoint for a request
 * (fault_in.c).
 */
static inline notrace bool kunwind_mem_original(struct kunwind_mem *mem, u64 addr, u8 *byte)
{
	if (kunwind_original_find(mem->id, addr, byte))
		return true;
	mem->breakpoint = addr;
	return false;
}

#endif /* _KUNWIND_DEPS_H */
