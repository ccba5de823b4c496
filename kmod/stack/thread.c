// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread.c - read the registers and the stack of another thread, for the device
 *
 * ptrace(2) stops a thread to read it, and ends some system calls by that. Here no thread stops:
 *   asleep	The caller reads it from outside (standstill.h): the registers that it left on its
 *		kernel stack. The caller then copies the stack from /proc/PID/mem, and calls again:
 *		if registers and turns are the same, the thread has not run meanwhile.
 *   running	It is asked by a task work, which it does before it next returns to user mode: it
 *		copies its registers, and the memory from its stack pointer on, as far as that is
 *		resident. This takes no fault and no lock. The caller waits, killably, and looks
 *		again and again whether the thread sleeps: it may be long in the kernel.
 * The thread walks nothing: whoever walks the copy (kunwind stack) needs no table of the module, so
 * the process need not be registered.
 *
 * A thread is read only while it uses the mm of the caller's descriptor of /proc/PID/task/TID/mem
 * (device.c). execve(2) changes the mm, so nothing is told of a program that the thread has become.
 *
 * A task work cannot be taken back. If the caller no longer waits, the work does nothing but free
 * its memory, some day: the two share a count of references. It holds the module until then.
 *
 * Bounds: ASKED_MAX works at a time; a user has at most half of those that are free (quota.c). Each
 * with a buffer of KUNWIND_MOST_STACK bytes at most, of the caller's control group. The thread's
 * time for it: the copy of one buffer. Task context; may sleep.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../arch/x86/fs_base.h"
#include "../arch/x86/regs.h"
#include "../base/quota.h"
#include "../base/task_work.h"
#include "../compat/sched.h"
#include "../uapi/kunwind.h"
#include "standstill.h"
#include "thread.h"

#define ASKED_MAX	256
#define LOOK_AGAIN	msecs_to_jiffies(4)
#define BELOW		256U		/* bytes below the stack pointer: the red zone, and what was popped */

/* A thread that is asked, and what it answers. */
struct asked {
	struct callback_head head;
	refcount_t refs;		/* of the caller and of the task work */
	struct completion done;
	struct mm_struct *mm;		/* with a reference */
	struct kunwind_quota *quota;	/* of the caller's user; NULL: nobody is charged */
	struct kunwind_thread_stack of;
	int err;
	u8 *stack;
};

static atomic_t nr_asked;

static void asked_put(struct asked *asked)
{
	if (!refcount_dec_and_test(&asked->refs))
		return;
	mmdrop(asked->mm);
	kvfree(asked->stack);
	kunwind_quota_remove_share(asked->quota, KUNWIND_SHARE_THREAD);
	atomic_dec(&nr_asked);
	kunwind_task_work_free(asked);
}

/* False: neither 64-bit nor 32-bit code. */
static bool set_registers(struct kunwind_thread_stack *of, const struct pt_regs *regs, u64 fs_base)
{
	struct kunwind_regs words;

	of->state = kunwind_regs_i386(regs) ? KUNWIND_THREAD_I386 : 0;
	if (!of->state && !kunwind_regs_64bit(regs))
		return false;
	kunwind_regs_load(&words, regs, KUNWIND_ALL_REGS);
	BUILD_BUG_ON(sizeof(of->regs) != sizeof(words.r));
	memcpy(of->regs, words.r, sizeof(of->regs));
	of->fs_base = of->state ? 0 : fs_base;
	return true;
}

/* ------------------------------------------------------------ the thread itself */

/* Copies the stack by whole pages, as many as have room in the buffer. */
static void copy_stack(struct asked *asked, u64 sp)
{
	const u64 first = (sp - min_t(u64, sp, BELOW)) & PAGE_MASK, at = sp & PAGE_MASK;
	u32 len = 0;

	asked->of.stack_start = first;
	/* the page below the stack pointer's may be that of no stack */
	if (first != at && asked->of.stack_len >= PAGE_SIZE &&
	    copy_from_user_nofault(asked->stack, (const void __user *)first, PAGE_SIZE))
		asked->of.stack_start = at;
	while (len + PAGE_SIZE <= asked->of.stack_len &&
	       !copy_from_user_nofault(asked->stack + len,
				       (const void __user *)(asked->of.stack_start + len), PAGE_SIZE))
		len += PAGE_SIZE;
	asked->of.stack_len = len;
}

static void answer(struct callback_head *head)
{
	struct asked *asked = container_of(head, struct asked, head);
	const struct pt_regs *regs = task_pt_regs(current);

	/* In exit, the mm is NULL. With one reference, nobody waits. */
	if (current->mm == asked->mm && refcount_read(&asked->refs) > 1) {
		asked->err = set_registers(&asked->of, regs, kunwind_current_fs_base()) ? 0 : -ENODATA;
		if (!asked->err)
			copy_stack(asked, regs->sp);
	}
	complete(&asked->done);
	asked_put(asked);
}

/* ------------------------------------------------------------ the caller */

static struct kunwind_quota *add_share(void)
{
	const int nr = atomic_inc_return(&nr_asked);
	struct kunwind_quota *quota = ERR_PTR(-ENOSPC);

	rcu_read_lock();
	if (nr <= ASKED_MAX)
		quota = kunwind_quota_add_share(current, KUNWIND_SHARE_THREAD, ASKED_MAX - nr + 1);
	rcu_read_unlock();
	if (IS_ERR(quota))
		atomic_dec(&nr_asked);
	return quota;
}

static struct asked *asked_new(struct mm_struct *mm, const struct kunwind_thread_stack *of)
{
	struct kunwind_quota *quota = add_share();
	struct asked *asked;

	if (IS_ERR(quota))
		return ERR_CAST(quota);
	asked = kunwind_task_work_alloc(sizeof(*asked), GFP_KERNEL_ACCOUNT);
	if (!asked) {
		kunwind_quota_remove_share(quota, KUNWIND_SHARE_THREAD);
		atomic_dec(&nr_asked);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&asked->refs, 1);
	init_completion(&asked->done);
	init_task_work(&asked->head, answer);
	mmgrab(mm);
	asked->mm = mm;
	asked->quota = quota;
	asked->of = *of;
	asked->err = -ESRCH;
	asked->stack = of->stack_len ? kvmalloc(of->stack_len, GFP_KERNEL_ACCOUNT | __GFP_NOWARN) : NULL;
	if (of->stack_len && !asked->stack) {
		asked_put(asked);
		return ERR_PTR(-ENOMEM);
	}
	return asked;
}

static struct asked *ask(struct task_struct *task, struct mm_struct *mm,
			 const struct kunwind_thread_stack *of)
{
	struct asked *asked = asked_new(mm, of);

	if (IS_ERR(asked))
		return asked;
	refcount_inc(&asked->refs);
	if (!task_work_add(task, &asked->head, TWA_RESUME))
		return asked;
	refcount_dec(&asked->refs);
	asked_put(asked);
	return ERR_PTR(-ESRCH);		/* it ends */
}

/* Returns whether the thread sleeps, and then sets @of. */
static bool read_asleep(struct task_struct *task, struct mm_struct *mm, struct kunwind_thread_stack *of)
{
	struct kunwind_standstill before;
	struct pt_regs regs;

	if (!kunwind_standstill_begin(task, &before) || READ_ONCE(task->mm) != mm ||
	    !kunwind_standstill_regs(task, &regs) ||
	    !set_registers(of, &regs, kunwind_task_fs_base(task)) ||
	    !kunwind_standstill_holds(task, &before))
		return false;
	of->state |= KUNWIND_THREAD_ASLEEP;
	of->turns = before.switches;
	of->stack_start = of->stack_len = 0;
	return true;
}

/* Waits for the answer. */
static int wait(struct task_struct *task, struct asked *asked, struct kunwind_thread_stack *of)
{
	const unsigned long end = jiffies + msecs_to_jiffies(of->timeout_ms);
	void __user *const stack = u64_to_user_ptr(of->stack);
	long left;

	do {
		left = wait_for_completion_killable_timeout(&asked->done, LOOK_AGAIN);
		if (left < 0)
			return -EINTR;
		if (left) {
			*of = asked->of;
			return asked->err ?: copy_to_user(stack, asked->stack, of->stack_len) ? -EFAULT : 0;
		}
		if (read_asleep(task, asked->mm, of))
			return 0;
	} while (time_before(jiffies, end));
	return -ETIME;
}

int kunwind_thread_read(struct task_struct *task, struct mm_struct *mm, struct kunwind_thread_stack *of)
{
	struct asked *asked;
	int err;

	if (task == current)
		return -EDEADLK;
	/* Workers of io_uring use the mm, and never return to user mode. */
	if (task->flags & (PF_KTHREAD | KUNWIND_PF_WORKERS) || READ_ONCE(task->mm) != mm)
		return -ESRCH;
	if (read_asleep(task, mm, of))
		return 0;
	if (!of->timeout_ms)
		return -EAGAIN;
	asked = ask(task, mm, of);
	if (IS_ERR(asked))
		return PTR_ERR(asked);
	err = wait(task, asked, of);
	asked_put(asked);
	return err;
}
