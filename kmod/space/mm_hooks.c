// SPDX-License-Identifier: GPL-2.0-only
/*
 * mm_hooks.c - hooks that report changes of a registered process's mappings
 *
 * An address gets other code only by a new mapping. The hooks are on these
 * kernel functions. Together they see each new mapping, each copy of an mm, and
 * the end of each mm and file system:
 *   perf_event_mmap(vma)      a mapping was made or changed (mmap_lock is held)
 *   __x64_sys_mremap(regs)    a mapping moves or grows; perf_event_mmap() does
 *	not report this
 *   uprobe_dup_mmap(old, new) fork copies an mm, under the old one's mmap_lock
 *   uprobe_clear_state(mm)    an mm ends
 *   generic_shutdown_super(sb) a file system ends; another one may soon get its
 *	device number, and known objects must not be used for its files
 * The hooks do not sleep. The hooks on mappings mark known ranges as dead in
 * place, and queue a task work, in which the task reads its mappings before it
 * returns to user mode (read_mappings.c). The task waits there for the tables
 * of code that it mapped, at most max_stall_ms. All hooks of this file are
 * required (hook.h).
 *
 * If another task changes the mm (ptrace, io_uring), the next task work of a
 * task of that mm reads the change.
 *
 * mremap
 * ------
 * Only the entry of the system call is hooked, because no header declares any
 * of the inner functions that see the new mapping. mmap_lock is not held there.
 * The call counts as a move of its space from the entry up to the read that
 * follows, which comes before the task returns to user mode.
 *   - MREMAP_FIXED: [new_addr, new_addr + new_len) is marked as dead at the
 *     entry. Until mremap takes mmap_lock, a read by another thread can still
 *     find the old mapping there. Therefore all that is read there during the
 *     move is doubted: no walk of any thread uses an old table there.
 *   - Several calls at a time: one interval contains all these destinations, as
 *     long as any call is under way. So a read costs the same for any number of
 *     calls. Ranges between two destinations are doubted, too: walks find no
 *     tables there until the calls have ended and the mappings are read again.
 *     That read takes over objects, names and tables that a JIT handed in.
 *   - A call that the kernel refuses by its arguments alone changes nothing.
 *   - Without MREMAP_FIXED, the kernel chooses the address, which is not known
 *     until the call has ended. Nothing was mapped there before, so no thread
 *     can be in a function there, or jump there, before mremap has returned the
 *     address. munmap is not hooked, so ranges may still be known there, with
 *     tables that a JIT handed in. The task work marks them as dead by the
 *     return value, before the read, which would take those tables over.
 *     If the mapping grew in place, it marks the part beyond the old length.
 *   - A read by another thread may be under way when a range is marked as dead.
 *     Before it publishes its list, it marks the range there, too
 *     (kunwind_space_mark()).
 *   - The sys_exit event of the task itself comes before the read of the mappings. Its
 *     frames are in code that was mapped before the call: the ranges of the
 *     source still describe them, and a fixed destination is dead.
 *   - MREMAP_DONTUNMAP keeps the source mapped, with the same file. If the
 *     source is anonymous, its pages are gone, and no code in it can run.
 *   - If mremap fails, the destination may be unchanged or unmapped. The read
 *     of source and destination finds out. Only a table that a JIT handed in for the destination is
 *     lost then: the JIT has to hand it in again.
 *   - fork during a move: the child shares no snapshot, and reads its mappings.
 *   - No memory for the task work: the space is given up. The kernel's own code
 *     walks that process until its next exec or registration.
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/unistd.h>
#include <linux/uprobes.h>

#include "../base/param.h"
#include "../base/request_limit.h"
#include "../base/hook.h"
#include "../base/task_work.h"
#include "../compat/sched.h"
#include "../object/filesystem.h"
#include "mm_hooks.h"
#include "space.h"
#include "../trace/emit.h"
#include "../trace/kunwind_events.h"

static unsigned int max_stall_ms = 50;
KUNWIND_PARAM_UINT(max_stall_ms, max_stall_ms);
MODULE_PARM_DESC(max_stall_ms,
		 "longest time that a task waits for the tables of what it mapped, ms (default 50)");

struct mappings_work {
	struct callback_head head;
	enum kunwind_read_cause why;
	/* NULL, or a space with a reference: the task may be space->reader. */
	struct kunwind_space *space;
	/* NULL, or for mremap: the space with a reference, and its arguments. */
	struct kunwind_space *moving;
	u64 addr, old_len, new_len;
	bool i386;
};

unsigned long kunwind_mm_hooks_max_wait(void)
{
	return current->prio < MAX_RT_PRIO ? 0 : msecs_to_jiffies(READ_ONCE(max_stall_ms));
}

static void moved(struct mappings_work *work);

/* Runs before the task returns to user mode, or when it exits. May sleep. */
static void mappings_run(struct callback_head *head)
{
	struct mappings_work *work = container_of(head, struct mappings_work, head);
	struct mm_struct *mm = current->mm;	/* NULL in exit */
	/* Walks for events of this work must not queue more work (request_limit.c). */
	const bool own = kunwind_request_limit_own_begin();
	struct kunwind_space *space = NULL;

	if (work->moving)
		moved(work);
	if (work->space) {
		/* A mapping that is made from now on needs another task work. */
		if (READ_ONCE(work->space->reader) == current)
			WRITE_ONCE(work->space->reader, NULL);
		kunwind_space_put(work->space);
	}
	if (mm && !(current->flags & PF_EXITING))
		space = kunwind_space_find_get(mm);
	if (space) {
		kunwind_space_read_mappings(space, mm, false, kunwind_mm_hooks_max_wait(), false);
		if (work->why == READ_EXEC)
			WRITE_ONCE(space->fresh, false);
		kunwind_space_put(space);
	}
	kunwind_task_work_free(work);
	if (own)
		kunwind_request_limit_own_end();
}

static struct mappings_work *work_new(enum kunwind_read_cause why)
{
	struct mappings_work *work = kunwind_task_work_alloc(sizeof(*work), GFP_ATOMIC);

	if (work) {
		init_task_work(&work->head, mappings_run);
		work->why = why;
	}
	return work;
}

/* Queues the work. If the task is exiting, frees the work and returns false. */
static bool work_add(struct task_struct *task, struct mappings_work *work)
{
	if (!task_work_add(task, &work->head, TWA_RESUME))
		return true;
	kunwind_task_work_free(work);
	return false;
}

bool kunwind_mm_hooks_queue(struct task_struct *task, enum kunwind_read_cause why)
{
	struct mappings_work *work = work_new(why);

	return work && work_add(task, work);
}

/*
 * Makes the current task read the mappings of @space before it returns to user
 * mode. One system call may change thousands of mappings; one task work reads
 * them all. Each thread that maps something queues a task work of its own,
 * because no thread may run new code before its mapping is read. @space->reader
 * is a task whose queued task work has not begun. If another thread overwrites
 * @space->reader, the first thread only queues a second task work.
 */
static void notrace queue_read(struct kunwind_space *space)
{
	struct mappings_work *work;

	if (READ_ONCE(space->reader) == current)
		return;
	work = work_new(READ_IF_CHANGED);
	if (!work)
		return;
	/* Found under RCU. Without references, it has no process any more. */
	if (!refcount_inc_not_zero(&space->refs)) {
		kunwind_task_work_free(work);
		return;
	}
	work->space = space;
	if (work_add(current, work))
		WRITE_ONCE(space->reader, current);
	else
		kunwind_space_put(space);
}

/* Returns whether the current task runs user code in @mm. */
static bool notrace runs_in(const struct mm_struct *mm)
{
	return current->mm == mm && !(current->flags & (PF_KTHREAD | KUNWIND_PF_WORKERS | PF_EXITING));
}

/*
 * [start, end) was mapped over. Emits kunwind_unmap, if it was known: for the
 * current process, and for the process that kunwind_map names, if another one
 * shares its memory.
 */
static void notrace announce_unmap(struct kunwind_space *space, u64 start, u64 end)
{
	const pid_t named = READ_ONCE(space->tgid);

	if (!trace_kunwind_unmap_enabled() || !kunwind_space_knows(space, start, end - start))
		return;
	KUNWIND_EMIT(kunwind_unmap, current->tgid, start, end);
	if (named > 0 && named != current->tgid)
		KUNWIND_EMIT(kunwind_unmap, named, start, end);
}

/* @added: bytes of [start, end) that were not mapped before; 0: not known. */
static void notrace mapped(const struct mm_struct *mm, u64 start, u64 end, u64 added, bool read)
{
	struct kunwind_space *space;

	rcu_read_lock();
	space = kunwind_space_find(mm);
	if (space && runs_in(mm))
		announce_unmap(space, start, end);
	if (space && kunwind_space_mapped(space, start, end, added, read) && runs_in(mm))
		queue_read(space);
	rcu_read_unlock();
}

/*
 * Uses the arguments of the current system call, because the kernel may have
 * merged the changed pages with their neighbours. For mprotect, and for mmap at
 * a fixed address, limits [*start, *end) to the pages of the call: a JIT that
 * makes one page of its code writable does not lose the tables of all other
 * pages. For mmap at an address that the kernel chose, sets *added to the
 * length.
 */
static void notrace limit_to_syscall(const struct pt_regs *regs, u64 *start, u64 *end, u64 *added)
{
	u64 from = regs->di, to;

	if (in_ia32_syscall() || check_add_overflow(from, (u64)regs->si, &to) ||
	    to > TASK_SIZE_MAX)
		return;
	to = PAGE_ALIGN(to);
	switch (regs->orig_ax) {
	case __NR_mmap:
		if (!(regs->r10 & (MAP_FIXED | MAP_FIXED_NOREPLACE))) {
			*added = PAGE_ALIGN(regs->si);
			break;
		}
		fallthrough;
	case __NR_mprotect:
	case __NR_pkey_mprotect:
		if (from < *end && to > *start) {
			*start = max(*start, from);
			*end = min(*end, to);
		}
		break;
	}
}

KUNWIND_HOOK1(perf_event_mmap, struct vm_area_struct *, vma)
{
	u64 start = vma->vm_start, end = vma->vm_end, added = 0;

	/*
	 * A merge makes the mapping larger than the call's own. Huge pages do
	 * not merge, and the kernel rounds their length up.
	 */
	if (runs_in(vma->vm_mm) && !(vma->vm_flags & VM_HUGETLB))
		limit_to_syscall(task_pt_regs(current), &start, &end, &added);
	mapped(vma->vm_mm, start, end, added, vma->vm_flags & VM_EXEC);
}

/* The arguments of mremap. */
struct mremap {
	u64 addr, old_len, new_len, new_addr;
	u32 flags;
	bool i386;
};

/* Marks the known ranges in [start, end) as dead, and emits kunwind_unmap. */
static void mark_dead(struct kunwind_space *space, u64 start, u64 end)
{
	announce_unmap(space, start, end);
	kunwind_space_mapped(space, start, end, 0, true);
}

/* mremap has ended. The caller reads the mappings next. */
static void moved(struct mappings_work *work)
{
	struct kunwind_space *space = work->moving;
	u64 start = task_pt_regs(current)->ax, end;

	/* What it moved, or may have moved if it failed. The kernel refuses an overflow. */
	if (check_add_overflow(work->addr, max(work->old_len, (u64)1), &end))
		end = U64_MAX;
	kunwind_space_changed(space, work->addr, end);
	if (!current->mm)
		goto out;
	if (work->i386)
		start = (long)(int)start;
	if (!IS_ERR_VALUE(start)) {
		if (work->i386)
			start = (u32)start;
		/* Also if a tracer has changed the return value. */
		if (check_add_overflow(start, work->new_len, &end))
			end = U64_MAX;
		if (start == work->addr &&	/* it grew or shrank in place */
		    check_add_overflow(start, work->old_len, &start))
			start = end;
		if (start < end)
			mark_dead(space, start, end);
	}
out:
	kunwind_space_end_move(space);
	kunwind_space_put(space);
}

/* Returns whether every kernel refuses the call by its arguments alone. */
static bool notrace refused(const struct mremap *call)
{
	u64 end, old_end;

	if (!call->new_len || offset_in_page(call->addr))
		return true;
	if (!(call->flags & MREMAP_FIXED))
		return false;
	if (!(call->flags & MREMAP_MAYMOVE) || offset_in_page(call->new_addr))
		return true;
	if (check_add_overflow(call->new_addr, call->new_len, &end) || end > TASK_SIZE_MAX)
		return true;
	return !check_add_overflow(call->addr, call->old_len, &old_end) &&
	       old_end > call->new_addr && end > call->addr;
}

static void notrace move(struct kunwind_space *space, const struct mremap *call)
{
	bool fixed = call->flags & MREMAP_FIXED;
	struct mappings_work *work;
	u64 end = 0;

	if (refused(call))
		return;
	if (fixed)
		end = call->new_addr + call->new_len;
	/*
	 * If nothing is known of the source, it is no code; unless another
	 * thread has mapped code that has not been read yet.
	 */
	if (!kunwind_space_knows(space, call->addr, max(call->old_len, (u64)1)) &&
	    !kunwind_space_dirty(space) &&
	    !(fixed && kunwind_space_knows(space, call->new_addr, call->new_len)))
		return;
	work = work_new(READ_IF_CHANGED);
	if (!work)
		goto give_up;
	work->moving = kunwind_space_get(space);
	work->addr = call->addr;
	work->old_len = call->old_len;
	work->new_len = call->new_len;
	work->i386 = call->i386;
	kunwind_space_begin_move(space);
	if (fixed) {
		kunwind_space_move_to(space, call->new_addr, end);
		mark_dead(space, call->new_addr, end);
	}
	if (work_add(current, work))
		return;
	/* Not reached: a task that can make system calls is not exiting. */
	kunwind_space_end_move(space);
	kunwind_space_put(space);
give_up:
	kunwind_space_forget(current->mm);
}

static void notrace mremap(struct mremap call)
{
	struct kunwind_space *space;

	if (!current->mm || !runs_in(current->mm))
		return;
	/*
	 * With linear address masking (6.4), the kernel ignores these bits of
	 * the old address. Without it, the call fails, and the read of the mappings
	 * finds no change.
	 */
	call.addr &= ~GENMASK_ULL(62, 57);
	call.old_len = PAGE_ALIGN(call.old_len);
	call.new_len = PAGE_ALIGN(call.new_len);
	space = kunwind_space_find_get(current->mm);
	if (!space)
		return;
	move(space, &call);
	kunwind_space_put(space);
}

KUNWIND_HOOK_SYSCALL(__x64_sys_mremap, regs)
{
	mremap((struct mremap){
		.addr = regs->di, .old_len = regs->si, .new_len = regs->dx,
		.flags = regs->r10, .new_addr = regs->r8,
	});
}

#ifdef CONFIG_IA32_EMULATION
KUNWIND_HOOK_SYSCALL(__ia32_sys_mremap, regs)
{
	mremap((struct mremap){
		.addr = (u32)regs->bx, .old_len = (u32)regs->cx, .new_len = (u32)regs->dx,
		.flags = (u32)regs->si, .new_addr = (u32)regs->di, .i386 = true,
	});
}
#endif

KUNWIND_HOOK2(uprobe_dup_mmap, struct mm_struct *, old, struct mm_struct *, new)
{
	kunwind_space_dup(old, new);
}

KUNWIND_HOOK1(uprobe_clear_state, struct mm_struct *, mm)
{
	kunwind_space_forget(mm);
}

KUNWIND_HOOK1(generic_shutdown_super, struct super_block *, sb)
{
	kunwind_filesystem_ends(new_encode_dev(sb->s_dev));
}

static struct kunwind_hook hooks[] = {
	KUNWIND_HOOK_ENTRY(perf_event_mmap),
	KUNWIND_HOOK_ENTRY(uprobe_dup_mmap),
	KUNWIND_HOOK_ENTRY(uprobe_clear_state),
	KUNWIND_HOOK_ENTRY(generic_shutdown_super),
	KUNWIND_HOOK_ENTRY(__x64_sys_mremap),
#ifdef CONFIG_IA32_EMULATION
	KUNWIND_HOOK_ENTRY(__ia32_sys_mremap),
#endif
};

void kunwind_mm_hooks_init(void)
{
	kunwind_hooks_require(hooks, ARRAY_SIZE(hooks));
}

bool kunwind_mm_hooks_exit(void)
{
	return kunwind_hooks_disable(hooks, ARRAY_SIZE(hooks));
}

void kunwind_mm_hooks_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_stall_ms\t%u\n", READ_ONCE(max_stall_ms));
}

void kunwind_mm_hooks_show(struct seq_file *m)
{
	kunwind_hooks_show(m, hooks, ARRAY_SIZE(hooks), "");
}

u64 kunwind_mm_hooks_features(void)
{
	return kunwind_hook_missing() ? 0 : KUNWIND_F_FOLLOW;
}
