// SPDX-License-Identifier: GPL-2.0-only
/*
 * follow.c - what a registered process maps later
 *
 * An address becomes other code only by a new mapping, so these calls inside
 * the kernel are all that has to be seen:
 *   perf_event_mmap(vma)      a mapping was made or changed (mmap_lock is held)
 *   copy_vma(&vma, addr, len) a mapping moves (mremap), which the former does not tell
 *   __x64_sys_mremap(regs)    one may grow in place
 *   uprobe_dup_mmap(old, new) fork copies an mm, under the old one's mmap_lock
 *   uprobe_clear_state(mm)    an mm ends
 *   generic_shutdown_super(sb)	a file system ends: its device number may be
 *	another's soon, and what is known of its files is not true of those
 * The hooks do not sleep and do the least: ranges die in place, and
 * the task gets a work that reads the mappings before it returns to user mode.
 * A task that maps code so finds its tables there when it first runs it, or
 * max_stall_ms over.
 *
 * What is seen when another task changes the mm (ptrace, io_uring) is read
 * with the next work of a task of that mm.
 *
 * Each queued work holds a reference of the module: task_work_cancel() is not
 * exported. The work gives it back shortly before its last instruction, which
 * is why unloading waits for synchronize_rcu_tasks().
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/unistd.h>

#include "compat/sched.h"
#include "filesystem.h"
#include "follow.h"
#include "hook.h"
#include "space.h"
#include "trace/kunwind_events.h"

static unsigned int max_stall_ms = 50;
module_param(max_stall_ms, uint, 0644);
MODULE_PARM_DESC(max_stall_ms,
		 "longest time that a task waits for the tables of what it mapped, ms (default 50)");

struct follow_work {
	struct callback_head head;
	enum kunwind_follow why;
};

unsigned long kunwind_follow_patience(void)
{
	return current->prio < MAX_RT_PRIO ? 0 : msecs_to_jiffies(READ_ONCE(max_stall_ms));
}

/* In the task's own context, on its way to user mode, or to its end. */
static void follow_run(struct callback_head *head)
{
	struct follow_work *work = container_of(head, struct follow_work, head);
	struct mm_struct *mm = current->mm;	/* NULL in exit */
	struct kunwind_space *space = NULL;

	if (mm && !(current->flags & PF_EXITING)) {
		rcu_read_lock();
		space = kunwind_space_find(mm);
		if (space && !refcount_inc_not_zero(&space->refs))
			space = NULL;
		rcu_read_unlock();
	}
	if (space) {
		kunwind_space_scan(space, mm, work->why == FOLLOW_FORCE, kunwind_follow_patience(),
				   false);
		if (work->why == FOLLOW_EXEC)
			WRITE_ONCE(space->fresh, false);
		kunwind_space_put(space);
	}
	kfree(work);
	module_put(THIS_MODULE);
}

bool kunwind_follow_queue(struct task_struct *task, enum kunwind_follow why)
{
	struct follow_work *work;

	if (!try_module_get(THIS_MODULE))
		return false;
	work = kmalloc(sizeof(*work), GFP_ATOMIC | __GFP_NOWARN);
	if (!work)
		goto put;
	init_task_work(&work->head, follow_run);
	work->why = why;
	if (!task_work_add(task, &work->head, TWA_RESUME))
		return true;
	kfree(work);	/* the task ends */
put:
	module_put(THIS_MODULE);
	return false;
}

/* Whether the current task runs user code in @mm. */
static bool notrace runs_in(const struct mm_struct *mm)
{
	return current->mm == mm && !(current->flags & (PF_KTHREAD | KUNWIND_PF_WORKERS | PF_EXITING));
}

/* @added: bytes of it that were nothing before; 0: not known. */
static void notrace mapped(const struct mm_struct *mm, u64 start, u64 end, u64 added, bool read)
{
	struct kunwind_space *space;

	rcu_read_lock();
	space = kunwind_space_find(mm);
	if (space && trace_kunwind_unmap_enabled() && runs_in(mm) &&
	    kunwind_space_knows(space, start, end - start))
		trace_kunwind_unmap(current->tgid, start, end);
	if (space && kunwind_space_mapped(space, start, end, added, read) && runs_in(mm))
		kunwind_follow_queue(current, FOLLOW_MAP);
	rcu_read_unlock();
}

/*
 * What of [*start, *end) the current system call changed, as far as its arguments
 * tell. A JIT that makes one page of its code writable does not lose all of it.
 */
static void notrace changed(const struct pt_regs *regs, u64 *start, u64 *end, u64 *added)
{
	u64 from = regs->di, to;

	if (in_ia32_syscall() || check_add_overflow(from, (u64)regs->si, &to) ||
	    to > TASK_SIZE_MAX)
		return;
	to = PAGE_ALIGN(to);
	switch (regs->orig_ax) {
	case __NR_mprotect:
	case __NR_pkey_mprotect:
		if (from < *end && to > *start) {
			*start = max(*start, from);
			*end = min(*end, to);
		}
		break;
	case __NR_mmap:
		*added = PAGE_ALIGN(regs->si);
		break;
	}
}

static void notrace on_mmap(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct vm_area_struct *vma = (void *)ftrace_regs_get_argument(fregs, 0);

	u64 start = vma->vm_start, end = vma->vm_end, added = 0;

	/* What the mapping was merged with is in it, too. */
	if (runs_in(vma->vm_mm))
		changed(task_pt_regs(current), &start, &end, &added);
	mapped(vma->vm_mm, start, end, added, vma->vm_flags & VM_EXEC);
}

/*
 * mremap makes its new mapping by copy_vma(&vma, addr, len, ...), under
 * mmap_lock, and tells perf nothing.
 */
static void notrace on_copy_vma(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct vm_area_struct *const *vmap = (void *)ftrace_regs_get_argument(fregs, 0);
	unsigned long addr = ftrace_regs_get_argument(fregs, 1);
	unsigned long len = ftrace_regs_get_argument(fregs, 2);

	mapped((*vmap)->vm_mm, addr, addr + len, 0, (*vmap)->vm_flags & VM_EXEC);
}

/*
 * What grows or shrinks in place makes no new mapping. Nothing is locked yet
 * here: the work reads when the call is over, whatever another thread's read
 * in between.
 */
static void notrace mremap(unsigned long addr, unsigned long len)
{
	struct kunwind_space *space;

	rcu_read_lock();
	space = current->mm ? kunwind_space_find(current->mm) : NULL;
	if (space && kunwind_space_knows(space, addr, len) && runs_in(current->mm))
		kunwind_follow_queue(current, FOLLOW_FORCE);
	rcu_read_unlock();
}

static void notrace on_mremap(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct pt_regs *regs = (void *)ftrace_regs_get_argument(fregs, 0);

	mremap(regs->di, regs->si);
}

static void notrace on_mremap32(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct pt_regs *regs = (void *)ftrace_regs_get_argument(fregs, 0);

	mremap((u32)regs->bx, (u32)regs->cx);
}

static void notrace on_dup(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	kunwind_space_dup((void *)ftrace_regs_get_argument(fregs, 0),
			  (void *)ftrace_regs_get_argument(fregs, 1));
}

static void notrace on_clear(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct mm_struct *mm = (void *)ftrace_regs_get_argument(fregs, 0);

	kunwind_space_forget(mm);
}

static void notrace on_shutdown(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct super_block *sb = (void *)ftrace_regs_get_argument(fregs, 0);

	kunwind_filesystem_ends(new_encode_dev(sb->s_dev));
}

static struct kunwind_hook hooks[] = {
	{ .function = "perf_event_mmap", .call = on_mmap },
	{ .function = "uprobe_dup_mmap", .call = on_dup },
	{ .function = "uprobe_clear_state", .call = on_clear },
	{ .function = "copy_vma", .call = on_copy_vma },
	{ .function = "generic_shutdown_super", .call = on_shutdown },
	{ .function = "__x64_sys_mremap", .call = on_mremap },
	{ .function = "__ia32_sys_mremap", .call = on_mremap32 },
};

void kunwind_follow_init(void)
{
	kunwind_hooks_enable(hooks, ARRAY_SIZE(hooks), "followed");
}

bool kunwind_follow_exit(void)
{
	return kunwind_hooks_disable(hooks, ARRAY_SIZE(hooks));
}

void kunwind_follow_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_stall_ms\t%u\n", READ_ONCE(max_stall_ms));
}

void kunwind_follow_show(struct seq_file *m)
{
	kunwind_hooks_show(m, hooks, ARRAY_SIZE(hooks));
}

u64 kunwind_follow_features(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!hooks[i].on)
			return 0;
	return KUNWIND_F_FOLLOW;
}
