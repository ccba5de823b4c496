/* SPDX-License-Identifier: MIT */
/*
 * fault-in-scene.h - a task whose walks make requests, its stack, and what it
 * does before it returns to user mode
 */
#ifndef _TEST_FAULT_IN_SCENE_H
#define _TEST_FAULT_IN_SCENE_H

#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define ____cacheline_aligned
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#define cmpxchg_local(p, old, new)	cmpxchg(p, old, new)
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define per_cpu_ptr(p, cpu)	((void)(cpu), p)
#define this_cpu_ptr(p)		on_this_cpu(p)
#define this_cpu_inc(x)		((x)++)
#define __this_cpu_read(x)	(x)
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < 1; cpu++)
#define MAX_RT_PRIO		100
#define PF_EXITING		4
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define TASK_SIZE_MAX		0x7ffffffff000ULL
#define VM_READ			1
#define TWA_RESUME		1
#define PIDTYPE_PID		0
#define THIS_MODULE		NULL

struct irq_work { void (*func)(struct irq_work *work); };
/* Not a hard one: on PREEMPT_RT, allocating memory in hard interrupts is not allowed. */
#define IRQ_WORK_INIT(fn)	((struct irq_work){ fn })
struct callback_head { void (*func)(struct callback_head *head); };
#define init_task_work(head, fn)	((head)->func = (fn))
struct vm_area_struct { u64 vm_start, vm_end; u64 vm_flags; bool anonymous, armed; };

#define DEFINE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define hash_add(table, node, key)	hlist_add_head(node, &table[(key) & 255])
#define hash_for_each_possible(table, pos, member, key)	hlist_for_each_entry(pos, &table[(key) & 255], member)

/* The task that is walked, and what is queued for it. */
static struct task_struct me;
static struct callback_head *queued_work;
static int module_refs;
static bool module_goes, task_gone, mmap_locked;
static struct vm_area_struct area;
static bool present[64];	/* pages of the area */
static struct irq_work *raised;
static unsigned int faults;

static bool try_module_get(void *module) { (void)module; module_refs += !module_goes; return !module_goes; }
static void module_put(void *module) { (void)module; module_refs--; }
static void irq_work_queue(struct irq_work *w) { raised = w; }
static void irq_work_sync(struct irq_work *work) { (void)work; }
/* The only lock of this file is taken in interrupts, too. */
static unsigned int lock_irqsave(spinlock_t *lock)
{
	spin_lock(lock);
	return irqs_depth++;
}
static void unlock_irqrestore(spinlock_t *lock, unsigned int flags)
{
	if (--irqs_depth != flags)
		wrong("interrupts: %u, not %u", irqs_depth, flags);
	spin_unlock(lock);
}
#define spin_lock_irqsave(lock, flags)		((flags) = lock_irqsave(lock))
#define spin_unlock_irqrestore(lock, flags)	unlock_irqrestore(lock, flags)
#define spin_lock(lock)		wrong("an interrupt may take the same lock")
#define find_pid_ns(pid, ns)	(pid)
static struct task_struct *pid_task(int pid, int type)
{
	(void)type;
	return pid == me.pid && !task_gone ? &me : NULL;
}
static void (*while_queueing)(void);	/* an event in the irq_work */
static int task_work_add(void *task, struct callback_head *head, int how)
{
	(void)task, (void)how;
	if (while_queueing)
		while_queueing();
	queued_work = head;
	return 0;
}
#define STACK	0x7f0000000000ULL	/* address of present[0] */

/* What happens while a page is read from swap, for which mmap_lock is released. */
static void (*while_swapping)(void);
static unsigned int mmap_held, waits_with_lock;
static bool mmap_read_trylock(struct mm_struct *mm)
{
	(void)mm;
	mmap_held += !mmap_locked;
	return !mmap_locked;
}
static void mmap_read_unlock(struct mm_struct *mm) { (void)mm; mmap_held--; }
static struct vm_area_struct *find_vma(struct mm_struct *mm, u64 at)
{
	(void)mm;
	if (!mmap_held)
		abort();
	return at < area.vm_end ? &area : NULL;
}
#define vma_is_anonymous(vma)	((vma)->anonymous)
#define userfaultfd_armed(vma)	((vma)->armed)
static int copy_from_user_nofault(void *to, const void *from, size_t size)
{
	u64 page = ((u64)from - STACK) >> PAGE_SHIFT;

	(void)to, (void)size;
	return page < 64 && present[page] ? 0 : -EFAULT;
}
static int fixup_user_fault(struct mm_struct *mm, u64 at, int flags, bool *unlocked)
{
	(void)mm, (void)flags;
	if (!mmap_held)
		abort();
	/* As in the kernel: without @unlocked, it waits with the lock held. */
	if (!unlocked) {
		waits_with_lock++;
	} else if (while_swapping) {
		*unlocked = true;
		while_swapping();
	}
	present[(at - STACK) >> PAGE_SHIFT] = true;
	faults++;
	return 0;
}

#include "../../kmod/base/request_limit.c"
#include "../../kmod/stack/fault_in.c"

/* Walks ask with preemption off. */
#define kunwind_fault_in(...)	\
	({ preempt_disable(); (kunwind_fault_in)(__VA_ARGS__); preempt_enable(); })
#define kunwind_fault_in_part(...)	\
	({ preempt_disable(); (kunwind_fault_in_part)(__VA_ARGS__); preempt_enable(); })
#define kunwind_fault_in_breakpoint(...)	\
	({ preempt_disable(); (kunwind_fault_in_breakpoint)(__VA_ARGS__); preempt_enable(); })

static int part_answer;
static bool part_missing;
bool kunwind_part_missing(const struct kunwind_range *range, u64 addr)
{
	(void)range, (void)addr;
	return part_missing;
}
int kunwind_part_wait(const struct mm_struct *mm, u64 addr, unsigned long timeout)
{
	(void)mm, (void)addr, (void)timeout;
	/* a traced event during the wait, with an unreadable stack */
	kunwind_fault_in(area.vm_start, 0);
	return part_answer;
}
unsigned long kunwind_mm_hooks_max_wait(void) { return 10; }

static u64 learned_id, learned_at;
static bool learns;
bool kunwind_breakpoint_learn(struct mm_struct *mm, u64 id, u64 addr)
{
	(void)mm;
	learned_id = id;
	learned_at = addr;
	return learns;
}

/* --------------------------------------------------------------- the scene */

static struct mm_struct mm;

static void begin(void)
{
	memset(&slots, 0, sizeof(slots));
	memset(limits, 0, sizeof(limits));
	memset(&counters, 0, sizeof(counters));
	memset(present, 0, sizeof(present));
	me.pid = 100;
	me.flags = 0;
	me.prio = 120;
	me.mm = &mm;
	area = (struct vm_area_struct){ STACK, STACK + 64 * PAGE_SIZE, VM_READ, true, false };
	queued_work = NULL;
	raised = NULL;
	task_gone = module_goes = mmap_locked = false;
	while_swapping = NULL;
	waits_with_lock = 0;
	part_missing = true;
	part_answer = 0;
	faults = 0;
	jiffies += 100000;
	kunwind_fault_in_init();
}

/* Runs the irq_work. Returns whether a task work was queued. */
static bool heard(void)
{
	struct irq_work *work = raised;

	raised = NULL;
	if (!work)
		return false;
	irqs_depth++;
	work->func(work);
	irqs_depth--;
	return queued_work;
}

static void other_asks(void)
{
	me.pid++;
	kunwind_fault_in(STACK, 0);
	me.pid--;
}

/* The task returns to user mode. */
static void returns(void)
{
	struct callback_head *work = queued_work;

	queued_work = NULL;
	if (work)
		work->func(work);
	if (mmap_held)
		wrong("mmap_lock is taken on the way to user mode");
}

/* After a request: returns whether a task work was queued; runs it. */
static bool accepted(void)
{
	const bool was = heard();

	returns();
	return was;
}

/* A walk cannot read the stack. */
static bool asks(u64 at)
{
	kunwind_fault_in(at, 0);
	return accepted();
}

static bool asks_part(void)
{
	kunwind_fault_in_part(NULL, 0x1000);
	return accepted();
}

static bool asks_breakpoint(void)
{
	kunwind_fault_in_breakpoint(7, 0x401000);
	return accepted();
}

/*
 * After how many jiffies a request of an unhelped task is accepted; 0: > @most.
 */
static unsigned int silence(unsigned int most)
{
	unsigned int i;

	for (i = 1; i <= most; i++) {
		jiffies++;
		if (asks(STACK - PAGE_SIZE))
			return i;
	}
	return 0;
}

/* Returns the @nr'th number after 1,000 with the same hash of @bits bits. */
static int alike(unsigned int nr, unsigned int bits)
{
	int pid;

	for (pid = 1000; nr; nr--)
		do
			pid++;
		while (hash_32(pid, bits) != hash_32(1000, bits));
	return pid;
}

#endif /* _TEST_FAULT_IN_SCENE_H */
