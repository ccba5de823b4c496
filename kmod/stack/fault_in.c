// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault_in.c - make the pages and table parts that a walk could not read
 * available to the next walk
 *
 * A walk takes no page faults, but a page of the stack may need one: the page
 * was swapped out, or NUMA balancing has removed access to it. Then all later
 * stacks would end there as "unreadable" until the program itself accesses the
 * page. Likewise, a walk that needs a table part that is not built
 * (part_builder.c) ends as not_ready.
 *
 * Therefore the walk leaves a request, and the task faults in the pages, or
 * waits for the part, before it next returns to user mode. A request passes
 * through three contexts:
 *   walk	Any context, NMI included. Fills this CPU's request slot, and
 *		raises an irq_work.
 *   irq_work	Allocates and adds a task work. It runs in an interrupt of this
 *		CPU as soon as interrupts are on, so the task work is queued
 *		before the task that was walked reaches user mode. On PREEMPT_RT,
 *		it runs in the kernel's thread of this CPU for irq_works. A
 *		workqueue cannot do this: since 6.6, no nice value makes the
 *		scheduler preempt a task whose slice is not over.
 *   task work	In the task's own context, where it may sleep.
 *
 * If these steps are traced themselves, the walks of their events must not
 * cause one request after another. Therefore:
 *  - A CPU's slot holds one request, from the walk until the irq_work has added
 *    the task work. Until then all other requests on this CPU are dropped, also
 *    those of events in the irq_work.
 *  - A task has one request at a time: the hash "queued" has all task works.
 *  - A task in a task work of this module makes no request, and the result of
 *    its task work decides when it may make one again (request_limit.c).
 *  - After a wait for a part has timed out, no task waits for that object for a
 *    second (part.c).
 *  - A walk makes no request for an object whose table is not built yet, nor
 *    for a mapping that has changed.
 *
 * For a breakpoint in code without unwind information, the task reads the byte
 * under the breakpoint from the file's page (breakpoint.c).
 *
 * The task faults in PAGES pages of a mapping of anonymous memory that the user
 * may read, from the beginning of the frame upwards, because the callers'
 * frames are there. This does not help a larger frame. The task only tries to
 * take mmap_lock, and leaves memory alone that a userfaultfd or a file
 * provides. While a page is read from swap, mmap_lock is not held, so that the
 * process's other threads can map memory. Real-time tasks make no requests.
 *
 * Memory: 2 KB, 96 bytes for each queued task work, and a request slot for each
 * CPU. A task that sleeps for hours with its task work queued
 * holds these 96 bytes, and a reference to the module: rmmod then reports that
 * the module is in use.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>

#include "../base/request_limit.h"
#include "../base/task_work.h"
#include "../space/mm_hooks.h"
#include "../space/part.h"
#include "breakpoint.h"
#include "fault_in.h"

#define PAGES		16
#define MAX_CHAIN	32	/* queued task works whose pids have the same hash */

struct request {
	pid_t pid;
	u64 at, second;	/* addresses in the stack, or 0 */
	u64 code;		/* address whose table part is missing, or 0 */
	u64 breakpoint;		/* address in the ranges with @id, or 0 */
	u64 id;
};

/* The request of one CPU that has not become a task work yet. */
struct request_slot {
	struct irq_work work;
	bool busy;		/* from the walk until the irq_work is done */
	struct request request;
};

/* A task work that is queued or runs. */
struct fault_in_work {
	struct callback_head head;
	struct hlist_node node;	/* in the hash "queued", by pid */
	struct request request;
};

struct request_counters {
	u64 pages;		/* faulted in */
	u64 requests;		/* requests that reached the irq_work */
	u64 works;		/* task works that ran */
	/*
	 * No task work was queued: no memory, or the task has one or has ended.
	 */
	u64 dropped;
};

static DEFINE_PER_CPU(struct request_slot, slots);
static DEFINE_PER_CPU(struct request_counters, counters);
static DEFINE_HASHTABLE(queued, 8);
static DEFINE_SPINLOCK(queued_lock);	/* also taken in hard interrupts */

/* -------------------------------------------------------------- task work */

static bool readable(u64 at)
{
	u8 byte;

	return !copy_from_user_nofault(&byte, (const void __user *)at, 1);
}

/*
 * Under mmap_lock. Returns whether the task may fault in the page at @at, in the
 * mapping in which the pages from @first on are.
 */
static bool may_fault_in(struct mm_struct *mm, u64 first, u64 at)
{
	struct vm_area_struct *vma = at < TASK_SIZE_MAX ? find_vma(mm, at) : NULL;

	return vma && first >= vma->vm_start && vma_is_anonymous(vma) && (vma->vm_flags & VM_READ) &&
	       !userfaultfd_armed(vma);
}

/*
 * Returns whether a page was faulted in. mmap_lock is held, also afterwards, but
 * not while the kernel waits for a page to be read from swap. The mappings may
 * have changed then, so they are looked up for each page.
 */
static bool fault_in_pages(struct mm_struct *mm, u64 at, unsigned int pages)
{
	const u64 first = at & PAGE_MASK;
	bool helped = false, unlocked;
	unsigned int i;

	for (i = 0; i < pages; i++) {
		at = first + i * PAGE_SIZE;
		if (!may_fault_in(mm, first, at))
			break;
		if (readable(at))
			continue;
		if (fixup_user_fault(mm, at, 0, &unlocked))
			break;
		this_cpu_inc(counters.pages);
		helped = true;
	}
	return helped;
}

bool kunwind_fault_in_now(struct mm_struct *mm, u64 at, u64 second)
{
	bool helped;

	if (!mmap_read_trylock(mm))
		return false;
	helped = fault_in_pages(mm, at, PAGES);
	helped |= fault_in_pages(mm, second, 1);
	mmap_read_unlock(mm);
	return helped;
}

static enum kunwind_request_limit_result fault_in_now(const struct request *request)
{
	struct mm_struct *mm = current->mm;
	bool helped;

	if (request->code)
		return kunwind_part_wait(mm, request->code, kunwind_mm_hooks_max_wait()) ?
		       KUNWIND_REQUEST_VAIN : KUNWIND_REQUEST_THERE;
	if (!request->breakpoint) {
		helped = kunwind_fault_in_now(mm, request->at, request->second);
	} else {
		if (!mmap_read_trylock(mm))
			return KUNWIND_REQUEST_VAIN;
		helped = kunwind_breakpoint_learn(mm, request->id, request->breakpoint);
		mmap_read_unlock(mm);
	}
	return helped ? KUNWIND_REQUEST_HELPED : KUNWIND_REQUEST_VAIN;
}

/* Runs in the task, on its way to user mode or to its end. */
static void fault_in_run(struct callback_head *head)
{
	struct fault_in_work *work = container_of(head, struct fault_in_work, head);
	const bool own = kunwind_request_limit_own_begin();
	enum kunwind_request_limit_result result = KUNWIND_REQUEST_VAIN;
	unsigned long flags;

	/*
	 * In exit, the mm is NULL. Without a slot in request_limit.c, walks
	 * during this work could make the next request.
	 */
	if (own && current->mm && !(current->flags & PF_EXITING))
		result = fault_in_now(&work->request);
	spin_lock_irqsave(&queued_lock, flags);
	hlist_del(&work->node);
	spin_unlock_irqrestore(&queued_lock, flags);
	this_cpu_inc(counters.works);
	kunwind_task_work_free(work);
	if (own)
		kunwind_request_limit_end(result);
}

/* --------------------------------------------------------------- irq_work */

/*
 * False: the task has a task work, or MAX_CHAIN task works have the same hash.
 */
static bool queue_add(struct fault_in_work *work)
{
	const pid_t pid = work->request.pid;
	unsigned int seen = 0;
	struct fault_in_work *other;
	unsigned long flags;
	bool known = false;

	spin_lock_irqsave(&queued_lock, flags);
	hash_for_each_possible(queued, other, node, pid) {
		known |= other->request.pid == pid;
		if (known || ++seen == MAX_CHAIN)
			break;
	}
	if (!known && seen < MAX_CHAIN)
		hash_add(queued, &work->node, pid);
	else
		known = true;
	spin_unlock_irqrestore(&queued_lock, flags);
	return !known;
}

static bool queue(const struct request *request)
{
	struct fault_in_work *work = kunwind_task_work_alloc(sizeof(*work), GFP_NOWAIT);
	struct task_struct *task;
	unsigned long flags;

	if (!work)
		return false;
	init_task_work(&work->head, fault_in_run);
	work->request = *request;
	if (!queue_add(work))
		goto free;
	rcu_read_lock();
	task = pid_task(find_pid_ns(request->pid, &init_pid_ns), PIDTYPE_PID);
	/* A kernel thread that got this pid would run the work at its end. */
	if (task && !(task->flags & PF_KTHREAD) && !task_work_add(task, &work->head, TWA_RESUME)) {
		rcu_read_unlock();
		return true;
	}
	rcu_read_unlock();
	/* The task ends, or has ended. */
	spin_lock_irqsave(&queued_lock, flags);
	hlist_del(&work->node);
	spin_unlock_irqrestore(&queued_lock, flags);
free:
	kunwind_task_work_free(work);
	return false;
}

/* Hard interrupt; on PREEMPT_RT a thread. */
static void slot_run(struct irq_work *work)
{
	struct request_slot *slot = container_of(work, struct request_slot, work);

	this_cpu_inc(counters.requests);
	if (!queue(&slot->request))
		this_cpu_inc(counters.dropped);
	smp_store_release(&slot->busy, false);
}

/* ------------------------------------------------------------------- walk */

static notrace void ask(const struct request *request)
{
	struct request_slot *slot = this_cpu_ptr(&slots);

	if (READ_ONCE(slot->busy) || current->flags & PF_EXITING || current->prio < MAX_RT_PRIO)
		return;
	/* From now on no other walk uses this slot, not even an NMI's. */
	if (cmpxchg_local(&slot->busy, false, true))
		return;
	if (!kunwind_request_limit_begin()) {
		WRITE_ONCE(slot->busy, false);
		return;
	}
	slot->request = *request;
	slot->request.pid = current->pid;
	irq_work_queue(&slot->work);
}

void notrace kunwind_fault_in(u64 at, u64 second)
{
	ask(&(struct request){ .at = at, .second = second });
}

void notrace kunwind_fault_in_part(const struct kunwind_range *range, u64 addr)
{
	if (kunwind_part_missing(range, addr))
		ask(&(struct request){ .code = addr });
}

void notrace kunwind_fault_in_breakpoint(u64 id, u64 addr)
{
	ask(&(struct request){ .breakpoint = addr, .id = id });
}

void kunwind_fault_in_show(struct seq_file *m)
{
	struct request_counters sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct request_counters *c = per_cpu_ptr(&counters, cpu);

		sum.pages += READ_ONCE(c->pages);
		sum.requests += READ_ONCE(c->requests);
		sum.works += READ_ONCE(c->works);
		sum.dropped += READ_ONCE(c->dropped);
	}
	seq_printf(m, "stat\tfault_in_pages\t%llu\n", sum.pages);
	seq_printf(m, "stat\tfault_in_requests\t%llu\n", sum.requests);
	seq_printf(m, "stat\tfault_in_works\t%llu\n", sum.works);
	seq_printf(m, "stat\tfault_in_dropped\t%llu\n", sum.dropped + kunwind_request_limit_refused());
}

void kunwind_fault_in_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(&slots, cpu)->work = IRQ_WORK_INIT(slot_run);
}

void kunwind_fault_in_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&slots, cpu)->work);
}
