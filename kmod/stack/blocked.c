// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocked.c - report the threads of a process that do not run, with their stacks
 *
 * A thread that is blocked has no event, and therefore no stack. So the dump at
 * the start of a recording (dump.c) walks these threads' stacks from outside. A
 * kernel thread uses the process's mm (kthread_use_mm()) and walks from the
 * registers that the thread left on its kernel stack at its last kernel entry. The
 * walk is that of a running task, and reads only memory that is resident.
 *
 * The thread may run at any time: standstill.h finds that out. Then the event is dropped and
 * counted (blocked_ran).
 * A thread may wake between the check and the event. Readers of the trace find events
 * of the thread that are older, or a wakeup.
 *
 * Frames that a swapped-out page or a missing table part hides are tried again: the
 * page is faulted in (fault_in.c), the part is waited for, PATIENCE for all threads of a
 * dump. Memory that a file or a userfaultfd provides is left alone.
 *
 * Left out: threads that run or could run, kernel threads, workers of io_uring and
 * vhost, threads without an mm, and those whose mm is not that of the process's other
 * threads, which do not exist outside of exit and exec.
 *
 * Bounds: THREADS_MAX threads of a process, and the limits of dump.c for a user.
 * Others are counted (blocked_left_out). Memory: 68 KB during the dump. Task context;
 * may sleep.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
/* It uses struct mutex, and does not declare it. */
#include <linux/futex.h>
#include <asm/syscall.h>

#include "../arch/x86/regs.h"
#include "../base/enabled.h"
#include "../base/quota.h"
#include "../compat/sched.h"
#include "../compat/task_state.h"
#include "../process/process_memory.h"
#include "../space/part.h"
#include "../space/space.h"
#include "../trace/blocked.h"
#include "../trace/emit.h"
#include "blocked.h"
#include "callstack.h"
#include "fault_in.h"
#include "standstill.h"

#define THREADS_MAX	4096U
#define TRIES		3		/* walks of one thread */
#define PATIENCE	HZ		/* jiffies: waits for table parts, in one dump */
#define FIRST_ID	(1ULL << 63)	/* ids of stack_ids.c are smaller */

struct kunwind_blocked_report {
	unsigned long addresses[KUNWIND_MAX_FRAMES];
	u8 trust[KUNWIND_MAX_FRAMES + 1];
	struct task_struct *thread[THREADS_MAX];	/* with references */
	u32 nr;
	unsigned long patience;		/* what is left of it */
};

/* Only the dump changes these, and only one runs at a time. */
static u64 emitted, left_out, ran;

bool kunwind_blocked_wanted(void)
{
	return trace_kunwind_blocked_enabled() && kunwind_allowed();
}

struct kunwind_blocked_report *kunwind_blocked_begin(void)
{
	struct kunwind_blocked_report *report = kvzalloc(sizeof(*report), GFP_KERNEL | __GFP_NOWARN);

	if (report)
		report->patience = PATIENCE;
	return report;
}

void kunwind_blocked_end(struct kunwind_blocked_report *report)
{
	kvfree(report);
}

/* ---------------------------------------------------------- one thread */

static enum kunwind_thread_state state_of(const struct task_struct *task, unsigned int state)
{
	if (state & __TASK_TRACED)
		return KUNWIND_STATE_TRACED;
	if (state & __TASK_STOPPED)
		return KUNWIND_STATE_STOPPED;
	/* A control group counts those two as frozen. */
	if (kunwind_task_frozen(task, state))
		return KUNWIND_STATE_FROZEN;
	return state & TASK_INTERRUPTIBLE ? KUNWIND_STATE_SLEEPING : KUNWIND_STATE_UNINTERRUPTIBLE;
}

static bool is_futex(const struct kunwind_blocked *blocked)
{
	/* 32-bit: futex, futex_time64 */
	return blocked->compat ? blocked->stack.syscall == 240 || blocked->stack.syscall == 422 :
				 blocked->stack.syscall == __NR_futex;
}

/*
 * Returns the number that a lock's memory has for the thread that holds it, in that
 * thread's pid namespace; 0: not known. By the futex(2) protocol, the word of a robust
 * or priority-inheriting lock has it. glibc's other mutexes have 2 in the word while
 * threads wait, and the number in the third word.
 */
static u32 holder_number(const struct kunwind_blocked *blocked)
{
	const u32 __user *at = (const u32 __user *)blocked->args[0];
	const u32 command = blocked->args[1] & FUTEX_CMD_MASK;
	u32 word, number = 0;

	if (!is_futex(blocked) || copy_from_user_nofault(&word, at, sizeof(word)))
		return 0;
	if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
		return word & FUTEX_TID_MASK;
	if ((command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) || word != (u32)blocked->args[2])
		return 0;
	if (word & FUTEX_WAITERS)
		return word & FUTEX_TID_MASK;
	if (word != 2 || copy_from_user_nofault(&number, at + 2, sizeof(number)))
		return 0;
	return number;
}

/* Sets the numbers of the thread in its own namespace, and of the lock's holder. */
static void set_numbers(struct task_struct *task, struct kunwind_blocked *blocked)
{
	const u32 number = holder_number(blocked);
	struct task_struct *holder = NULL;
	struct pid_namespace *ns;

	rcu_read_lock();
	ns = task_active_pid_ns(task);		/* NULL: the task has been reaped */
	if (ns) {
		blocked->vtid = task_pid_nr_ns(task, ns);
		holder = number ? pid_task(find_pid_ns(number, ns), PIDTYPE_PID) : NULL;
	}
	blocked->holder = holder && same_thread_group(holder, task) ? holder->pid : 0;
	rcu_read_unlock();
}

/* Walks the stack once, and adds the time to *@ns. Returns the reason why it ended. */
static enum kunwind_reason walk(const struct pt_regs *regs, struct kunwind_request *request, u64 *ns)
{
	enum kunwind_reason reason = KUNWIND_NOT_READY;
	struct kunwind_space *space;
	u64 start;

	request->count = 0;
	if (!kunwind_regs_64bit(regs) && !kunwind_regs_i386(regs))
		return KUNWIND_CODE_SEGMENT;
	memset(request->trust + 1, KUNWIND_TRUST_CFI, KUNWIND_MAX_FRAMES - 1);
	request->trust[0] = KUNWIND_TRUST_REGISTERS;
	request->other->unread[0] = request->other->unread[1] = 0;
	rcu_read_lock();
	space = kunwind_space_find(current->mm);
	start = local_clock();
	if (space)
		reason = kunwind_callstack_walk(space, regs, KUNWIND_ALL_REGS, request);
	*ns += max_t(s64, local_clock() - start, 0);
	rcu_read_unlock();
	return reason;
}

/* Makes what the walk missed available to another one. Returns whether that may help. */
static bool provide(struct kunwind_blocked_report *report, enum kunwind_reason reason,
		    const struct kunwind_request *request)
{
	unsigned long start = jiffies;
	bool helped;

	if (reason == KUNWIND_UNREADABLE)
		return kunwind_fault_in_now(current->mm, request->other->unread[0],
					    request->other->unread[1]);
	if (reason != KUNWIND_NOT_READY || !request->count || !report->patience)
		return false;
	helped = !kunwind_part_wait(current->mm, request->store[request->count - 1] - (request->count > 1),
				    report->patience);
	report->patience -= min(report->patience, jiffies - start);
	return helped;
}

/* Emits the event of a thread, if it is blocked. Returns for how many mappings it counts. */
static u32 emit(struct kunwind_blocked_report *report, struct task_struct *task)
{
	struct kunwind_other_task other = { .task = task };
	struct kunwind_request request = {
		.consumer = KUNWIND_FOR_BLOCKED, .store = report->addresses, .trust = report->trust,
		.capacity = KUNWIND_MAX_FRAMES, .other = &other,
	};
	struct kunwind_blocked blocked = { };
	const u64 last_ran = kunwind_task_last_ran(task);
	struct kunwind_standstill before;
	struct pt_regs regs;
	u64 ns = 0;
	u32 i;

	if (!kunwind_standstill_begin(task, &before) || READ_ONCE(task->mm) != current->mm)
		return 0;
	if (!kunwind_standstill_regs(task, &regs))
		goto gone;
	for (i = 0; i < TRIES; i++) {
		blocked.stack.reason = walk(&regs, &request, &ns);
		if (!provide(report, blocked.stack.reason, &request))
			break;
	}
	blocked.stack.syscall = syscall_get_nr(task, &regs);
	blocked.compat = syscall_get_arch(task) == AUDIT_ARCH_I386;
	syscall_get_arguments(task, &regs, blocked.args);
	set_numbers(task, &blocked);
	blocked.state = state_of(task, before.state);
	memcpy(blocked.comm, task->comm, sizeof(blocked.comm) - 1);
	if (!kunwind_standstill_holds(task, &before))
		goto gone;
	if (last_ran && local_clock() > last_ran)
		blocked.duration = local_clock() - last_ran;
	blocked.stack.tgid = task->tgid;
	blocked.stack.tid = task->pid;
	blocked.stack.addresses = report->addresses;
	blocked.stack.trust = report->trust;
	blocked.stack.count = blocked.stack.inner = blocked.stack.trusts = request.count;
	blocked.stack.id = FIRST_ID | ++emitted;
	KUNWIND_EMIT(kunwind_blocked, &blocked);
	return 1 + request.count / KUNWIND_BLOCKED_FRAMES + ns / KUNWIND_BLOCKED_NS;
gone:
	ran++;
	return ns / KUNWIND_BLOCKED_NS;
}

/* ---------------------------------------------------------- a process */

/* Lists the threads that may be blocked. */
static void list_threads(struct kunwind_blocked_report *report, struct pid *pid)
{
	struct task_struct *leader, *t;

	rcu_read_lock();
	leader = pid_task(pid, PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, t) {
			if ((t->flags & (PF_KTHREAD | KUNWIND_PF_WORKERS)) || !READ_ONCE(t->mm) ||
			    !READ_ONCE(t->__state))
				continue;
			if (report->nr == THREADS_MAX)
				left_out++;
			else
				report->thread[report->nr++] = get_task_struct(t);
		}
	rcu_read_unlock();
}

static void emit_threads(struct kunwind_blocked_report *report, struct kunwind_quota *quota, u32 dump,
			 u32 limit)
{
	u32 i, room = kunwind_quota_dump(quota, dump, 0, limit);

	for (i = 0; i < report->nr && kunwind_blocked_wanted(); i++) {
		if (!room) {
			left_out += report->nr - i;
			break;
		}
		room = kunwind_quota_dump(quota, dump, emit(report, report->thread[i]), limit);
		cond_resched();
	}
}

void kunwind_blocked_process(struct kunwind_blocked_report *report, struct pid *pid,
			     struct kunwind_quota *quota, u32 dump, u32 limit)
{
	struct kunwind_process_memory *memory;

	report->nr = 0;
	list_threads(report, pid);
	if (!report->nr)
		return;
	memory = kunwind_process_memory_get(pid);
	if (!IS_ERR(memory)) {
		if (memory->kept) {
			kthread_use_mm(memory->mm);
			emit_threads(report, quota, dump, limit);
			kthread_unuse_mm(memory->mm);
		} else {
			left_out += report->nr;
		}
		kunwind_process_memory_put(memory);
	}
	while (report->nr)
		put_task_struct(report->thread[--report->nr]);
}

void kunwind_blocked_show(struct seq_file *m)
{
	seq_printf(m, "stat\tblocked_emitted\t%llu\n", READ_ONCE(emitted));
	seq_printf(m, "stat\tblocked_ran\t%llu\n", READ_ONCE(ran));
	seq_printf(m, "stat\tblocked_left_out\t%llu\n", READ_ONCE(left_out));
}
