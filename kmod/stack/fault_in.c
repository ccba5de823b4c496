// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault_in.c - make what a walk could not read available to the next walk
 *
 * A walk takes no page faults. A stack page can be present and still need a
 * fault: NUMA balancing takes away access to all pages from time to time, and
 * pages are swapped out. Without help, all later stacks would end there as
 * "unreadable" until the program itself accesses the page. Likewise, a walk
 * that meets a part of a big table that is not built (part_builder.c) ends as
 * "not ready".
 *
 * Therefore the walk leaves a request, and the task faults in the pages, or
 * waits for the part, before it next returns to user mode. A request passes
 * through three contexts:
 *   walk	Any context, NMI included. Fills this CPU's hand and raises an
 *		irq_work.
 *   thread	One for each CPU, SCHED_FIFO; the irq_work only wakes it. It
 *		allocates and adds a task work. The thread preempts the task
 *		that was walked, so the work is queued before that task reaches
 *		user mode. A workqueue cannot do this: since 6.6, no nice value
 *		makes the scheduler preempt a task whose slice is not over.
 *   task work	In the task's own context, where it may sleep.
 *
 * Nothing here may cause itself, whatever is traced:
 *  - A CPU's hand holds one request, from the walk until the thread has added
 *    the task work. Until then all other requests on this CPU are dropped, also
 *    those of events in the irq_work, in the wake-up and in the switch to the
 *    thread. The thread itself is a kernel thread, whose stacks are not walked.
 *  - A task has one request at a time: "queued" has all task works.
 *  - A task in a task work of this module makes no request, and the result of
 *    its task work decides when it may make one again (request_limit.c).
 *  - After a wait for a part has timed out, no task waits for that object for a
 *    second (part.c).
 *  - A walk asks only for what can be made available: not for an object whose
 *    table is still to come, nor for a mapping that has changed.
 *
 * For a breakpoint in code without unwind information, the task reads the byte
 * under the breakpoint from the file's page (breakpoint.c).
 *
 * The task faults in PAGES pages of a mapping of anonymous memory that the user
 * may read, from the beginning of the frame upwards, because the callers'
 * frames are there. This does not help a larger frame. The task only tries to
 * take mmap_lock, and leaves memory alone that a userfaultfd or a file
 * provides. Real-time tasks make no requests.
 *
 * Memory: 2 KB, 96 bytes for each queued task work, and a hand and a thread for
 * each CPU. A task that sleeps for hours with its task work queued holds these
 * 96 bytes, and the module: rmmod then reports that it is in use.
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
#include <linux/smpboot.h>
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
	u64 at, besides;	/* addresses in the stack, or 0 */
	u64 code;		/* address whose part of a table is missing, or 0 */
	u64 breakpoint;		/* address in the ranges with @id, or 0 */
	u64 id;
};

struct hand {
	struct irq_work work;
	bool busy;		/* from the walk until the thread is done */
	bool filled;		/* the rest is valid */
	struct request request;
};

/* A task work that is queued or runs. */
struct touch {
	struct callback_head head;
	struct hlist_node node;	/* queued, by pid */
	struct request request;
};

struct counters {
	u64 pages;		/* faulted in */
	u64 requests;		/* requests that reached the thread */
	u64 works;		/* task works that ran */
	u64 dropped;		/* no task work was queued: no memory, or the task has one or has gone */
};

static DEFINE_PER_CPU(struct hand, hands);
static DEFINE_PER_CPU(struct task_struct *, threads);
static DEFINE_PER_CPU(struct counters, counters);
static DEFINE_HASHTABLE(queued, 8);
static DEFINE_SPINLOCK(queued_lock);	/* taken in process context only */

/* -------------------------------------------------------------- task work */

static bool readable(u64 at)
{
	u8 byte;

	return !copy_from_user_nofault(&byte, (const void __user *)at, 1);
}

/* Under mmap_lock. Returns whether a page was faulted in. */
static bool fault_in_pages(struct mm_struct *mm, u64 at, unsigned int pages)
{
	struct vm_area_struct *vma;
	bool helped = false;
	u64 end;

	at &= PAGE_MASK;
	vma = at < TASK_SIZE_MAX ? find_vma(mm, at) : NULL;
	if (!vma || at < vma->vm_start || !vma_is_anonymous(vma) || !(vma->vm_flags & VM_READ) ||
	    userfaultfd_armed(vma))
		return false;
	end = min_t(u64, vma->vm_end, at + pages * PAGE_SIZE);
	for (; at < end; at += PAGE_SIZE) {
		if (readable(at))
			continue;
		if (fixup_user_fault(mm, at, 0, NULL))
			break;
		this_cpu_inc(counters.pages);
		helped = true;
	}
	return helped;
}

static enum kunwind_request_limit_result fault_in_now(const struct request *request)
{
	struct mm_struct *mm = current->mm;
	bool helped;

	if (request->code)
		return kunwind_part_wait(mm, request->code, kunwind_mm_hooks_patience()) ?
		       KUNWIND_REQUEST_VAIN : KUNWIND_REQUEST_THERE;
	if (!mmap_read_trylock(mm))
		return KUNWIND_REQUEST_VAIN;
	if (request->breakpoint) {
		helped = kunwind_breakpoint_learn(mm, request->id, request->breakpoint);
	} else {
		helped = fault_in_pages(mm, request->at, PAGES);
		helped |= fault_in_pages(mm, request->besides, 1);
	}
	mmap_read_unlock(mm);
	return helped ? KUNWIND_REQUEST_HELPED : KUNWIND_REQUEST_VAIN;
}

/* Runs in the task, on its way to user mode or to its end. */
static void fault_in_run(struct callback_head *head)
{
	struct touch *touch = container_of(head, struct touch, head);
	const bool own = kunwind_request_limit_own_begin();
	enum kunwind_request_limit_result result = KUNWIND_REQUEST_VAIN;

	/* In exit the mm is NULL. Without a claim the work may cause itself. */
	if (own && current->mm && !(current->flags & PF_EXITING))
		result = fault_in_now(&touch->request);
	spin_lock(&queued_lock);
	hlist_del(&touch->node);
	spin_unlock(&queued_lock);
	this_cpu_inc(counters.works);
	kunwind_task_work_free(touch);
	if (own)
		kunwind_request_limit_end(result);
}

/* ----------------------------------------------------------------- thread */

/* False: the task has a work queued, or MAX_CHAIN works have the same hash. */
static bool queue_add(struct touch *touch)
{
	const pid_t pid = touch->request.pid;
	unsigned int seen = 0;
	struct touch *other;
	bool known = false;

	spin_lock(&queued_lock);
	hash_for_each_possible(queued, other, node, pid) {
		known |= other->request.pid == pid;
		if (known || ++seen == MAX_CHAIN)
			break;
	}
	if (!known && seen < MAX_CHAIN)
		hash_add(queued, &touch->node, pid);
	else
		known = true;
	spin_unlock(&queued_lock);
	return !known;
}

static bool queue(const struct request *request)
{
	struct touch *touch = kunwind_task_work_alloc(sizeof(*touch), GFP_NOWAIT);
	struct task_struct *task;

	if (!touch)
		return false;
	init_task_work(&touch->head, fault_in_run);
	touch->request = *request;
	if (!queue_add(touch))
		goto free;
	rcu_read_lock();
	task = pid_task(find_pid_ns(request->pid, &init_pid_ns), PIDTYPE_PID);
	/* A kernel thread that got this pid would run the work at its end. */
	if (task && !(task->flags & PF_KTHREAD) && !task_work_add(task, &touch->head, TWA_RESUME)) {
		rcu_read_unlock();
		return true;
	}
	rcu_read_unlock();
	/* The task ends, or has ended. */
	spin_lock(&queued_lock);
	hlist_del(&touch->node);
	spin_unlock(&queued_lock);
free:
	kunwind_task_work_free(touch);
	return false;
}

static void thread_run(unsigned int cpu)
{
	struct hand *hand = per_cpu_ptr(&hands, cpu);

	this_cpu_inc(counters.requests);
	if (!queue(&hand->request))
		this_cpu_inc(counters.dropped);
	WRITE_ONCE(hand->filled, false);
	smp_store_release(&hand->busy, false);
}

static int thread_due(unsigned int cpu)
{
	return smp_load_acquire(&per_cpu_ptr(&hands, cpu)->filled);
}

static void thread_begin(unsigned int cpu)
{
	sched_set_fifo_low(current);
}

static struct smp_hotplug_thread thread = {
	.store = &threads,
	.thread_should_run = thread_due,
	.thread_fn = thread_run,
	.setup = thread_begin,
	.thread_comm = "kunwind/%u",
};

/* ------------------------------------------------------------------- walk */

/* Runs in hard interrupt context, also on PREEMPT_RT. Only wakes the thread. */
static void wake(struct irq_work *work)
{
	wake_up_process(__this_cpu_read(threads));
}

static notrace void ask(const struct request *request)
{
	struct hand *hand = this_cpu_ptr(&hands);

	if (READ_ONCE(hand->busy) || current->flags & PF_EXITING || current->prio < MAX_RT_PRIO)
		return;
	/* From now on no other walk uses this hand, not even an NMI's. */
	if (cmpxchg_local(&hand->busy, false, true))
		return;
	if (!kunwind_request_limit_begin()) {
		WRITE_ONCE(hand->busy, false);
		return;
	}
	hand->request = *request;
	hand->request.pid = current->pid;
	smp_store_release(&hand->filled, true);
	irq_work_queue(&hand->work);
}

void notrace kunwind_fault_in(u64 at, u64 besides)
{
	ask(&(struct request){ .at = at, .besides = besides });
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
	struct counters sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct counters *c = per_cpu_ptr(&counters, cpu);

		sum.pages += READ_ONCE(c->pages);
		sum.requests += READ_ONCE(c->requests);
		sum.works += READ_ONCE(c->works);
		sum.dropped += READ_ONCE(c->dropped);
	}
	seq_printf(m, "stat\tfault_in_pages\t%llu\n", sum.pages);
	seq_printf(m, "stat\tfault_in_requests\t%llu\n", sum.requests);
	seq_printf(m, "stat\tfault_in_works\t%llu\n", sum.works);
	seq_printf(m, "stat\tfault_in_dropped\t%llu\n", sum.dropped + kunwind_claims_refused());
}

int kunwind_fault_in_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(&hands, cpu)->work = IRQ_WORK_INIT_HARD(wake);
	return smpboot_register_percpu_thread(&thread);
}

void kunwind_fault_in_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&hands, cpu)->work);
	smpboot_unregister_percpu_thread(&thread);
}
