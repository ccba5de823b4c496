// SPDX-License-Identifier: GPL-2.0-only
/*
 * touch.c - what a walk missed is there for the next one: pages, parts of tables
 *
 * A walk takes no faults. A page of the stack may be there and still not be read
 * without one: NUMA balancing takes away access to all pages, once a second or so, to
 * see who uses them; or it was swapped out. The stack ends as "unreadable" then,
 * and so would all that follow until the program itself comes by that page: where a
 * server waits in a loop, that of its main() is not touched for days.
 *
 * So the task brings in what its walk missed on its way back to user mode, by a task
 * work; the stack of its next event is whole. Walks run in NMI, where no work can be
 * queued, or under a lock of the run queue, where nothing can be allocated: they leave a note
 * for this CPU and raise an interrupt (irq_work), which queues the work.
 *
 * What is brought in: of a mapping of anonymous memory, that the user may read,
 * PAGES from where the frame begins, the callers' frames being above; those that are
 * there cost a look. A frame of more than that is not helped. Nobody is waited for but
 * memory (by real-time tasks not that): mmap_lock is tried only, and what a userfaultfd or a
 * file answers for is left alone.
 *
 * A part of a big object's table that is not built (fill.c) is waited for in the same way,
 * killably and for max_stall_ms at most: most take less than one. Who waited in vain, as
 * others have the processors, does so again only a second later. A task that waits may
 * itself be traced, and asks again for what it waits for: that is there then, or it was in vain.
 *
 * A stack that never can be read asks again and again: for pages a task is heard once a
 * jiffy. That also ends what a traced event of the work itself would begin. Tasks may share
 * a place of the table of times; who comes second then asks at its next event.
 *
 * Memory: 2 KB, and 40 bytes for each work that is queued.
 */
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/userfaultfd_k.h>

#include "fill.h"
#include "follow.h"
#include "touch.h"

#define PAGES		16
#define TIME_BITS	9

struct note {
	struct irq_work work;
	pid_t pid;
	u64 at, besides;	/* of the stack, or zero */
	u64 code;		/* of which a table's part is missing, or zero */
};

struct touch {
	struct callback_head head;
	u64 at, besides, code;
};

static DEFINE_PER_CPU(struct note, notes);
static DEFINE_PER_CPU(u64, touched);
static u32 times[1 << TIME_BITS];	/* by task: the jiffy up to which it is not heard again */

static __always_inline u32 *time_of(const struct task_struct *task)
{
	return &times[hash_ptr(task, TIME_BITS)];
}

/* It waited in vain, less than a second ago. */
static __always_inline bool waited_in_vain(u32 time, u32 now)
{
	return time != now && time - now <= HZ;
}

/* Under mmap_lock. */
static void touch_pages(struct mm_struct *mm, u64 at, unsigned int pages)
{
	struct vm_area_struct *vma;
	u64 end;

	at &= PAGE_MASK;
	vma = at < TASK_SIZE_MAX ? find_vma(mm, at) : NULL;
	if (!vma || at < vma->vm_start || !vma_is_anonymous(vma) || !(vma->vm_flags & VM_READ) ||
	    userfaultfd_armed(vma))
		return;
	end = min_t(u64, vma->vm_end, at + pages * PAGE_SIZE);
	for (; at < end; at += PAGE_SIZE) {
		if (fixup_user_fault(mm, at, 0, NULL))
			return;
		this_cpu_inc(touched);
	}
}

/* In the task's own context, on its way to user mode, or to its end. */
static void touch_run(struct callback_head *head)
{
	struct touch *touch = container_of(head, struct touch, head);
	struct mm_struct *mm = current->mm;	/* NULL in exit */

	if (!mm || current->flags & PF_EXITING)
		goto out;
	if (touch->code) {
		u32 *time = time_of(current);

		if (!waited_in_vain(READ_ONCE(*time), jiffies) &&
		    !kunwind_fill_wait(mm, touch->code, kunwind_follow_patience()))
			WRITE_ONCE(*time, (u32)jiffies + HZ);
	} else if (mmap_read_trylock(mm)) {
		touch_pages(mm, touch->at, PAGES);
		touch_pages(mm, touch->besides, 1);
		mmap_read_unlock(mm);
	}
out:
	kfree(touch);
	module_put(THIS_MODULE);
}

static void touch_queue(struct irq_work *work)
{
	const struct note *note = container_of(work, struct note, work);
	struct task_struct *task;
	struct touch *touch;

	/* As in follow.c: the work holds the module. */
	if (!try_module_get(THIS_MODULE))
		return;
	touch = kmalloc(sizeof(*touch), GFP_ATOMIC | __GFP_NOWARN);
	if (!touch)
		goto put;
	init_task_work(&touch->head, touch_run);
	touch->at = READ_ONCE(note->at);
	touch->besides = READ_ONCE(note->besides);
	touch->code = READ_ONCE(note->code);
	rcu_read_lock();
	task = pid_task(find_pid_ns(READ_ONCE(note->pid), &init_pid_ns), PIDTYPE_PID);
	/* A number that went to a kernel thread since: that would run it at its end. */
	if (task && !(task->flags & PF_KTHREAD) && !task_work_add(task, &touch->head, TWA_RESUME))
		touch = NULL;
	rcu_read_unlock();
	if (!touch)
		return;
	kfree(touch);	/* the task ends */
put:
	module_put(THIS_MODULE);
}

static notrace void take_note(u64 at, u64 besides, u64 code)
{
	struct note *note = this_cpu_ptr(&notes);
	u32 now = (u32)jiffies, *time = time_of(current), before = READ_ONCE(*time);

	if (waited_in_vain(before, now) || (before == now && !code) ||
	    current->flags & PF_EXITING || current->prio < MAX_RT_PRIO)
		return;
	WRITE_ONCE(*time, now);
	/*
	 * An NMI in between may leave a note of its own, or half of one: of the same
	 * task, or of one whose memory is not harmed by being read there.
	 */
	WRITE_ONCE(note->pid, current->pid);
	WRITE_ONCE(note->at, at);
	WRITE_ONCE(note->besides, besides);
	WRITE_ONCE(note->code, code);
	irq_work_queue(&note->work);
}

void notrace kunwind_touch(u64 at, u64 besides)
{
	take_note(at, besides, 0);
}

void notrace kunwind_touch_part(u64 addr)
{
	take_note(0, 0, addr);
}

void kunwind_touch_show(struct seq_file *m)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&touched, cpu));
	seq_printf(m, "stat\ttouched\t%llu\n", sum);
}

void kunwind_touch_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		init_irq_work(&per_cpu_ptr(&notes, cpu)->work, touch_queue);
}

void kunwind_touch_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&notes, cpu)->work);
}
