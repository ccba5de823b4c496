// SPDX-License-Identifier: GPL-2.0-only
/*
 * fatal_signal.c - emit the trace event kunwind_fatal_signal
 *
 * A probe of the tracepoint signal_deliver is attached while the event is on.
 * As the kernel does after this tracepoint, it decides whether the signal
 * kills: no handler, and a default action that ends the process. SIGKILL there
 * may mean something else: a thread that ends because of another one's
 * exit_group() or execve() takes SIGKILL, and so does each thread when any
 * signal ends the process without a core dump. The kernel keeps the exit code
 * of the process, which has the number of that signal. The signal itself stays
 * pending, with its origin: at the thread to which it was sent, or at the
 * process. So one thread emits the event:
 *   - sent to a thread (raise(), tgkill(), SIGPIPE): that thread
 *   - sent to the process (kill()): the first thread; the last of the others if
 *     the first one has ended before
 *   - neither: a thread took the signal as any other, and has emitted the event
 *
 * The probe runs with the lock of the signal handlers held and interrupts off,
 * and users choose how often their processes die. So the probe only takes a note.
 * Hooks on the functions that the kernel calls next, in the same task, without
 * the lock and with interrupts on, emit the event:
 *   proc_coredump_connector(task)  before a core dump
 *   do_group_exit(code)
 * The mappings of the process are reported first, because the stack may be read
 * when the process, and older events about its mappings, have gone: MAP_BYTES of
 * events at most.
 *
 * Memory: 10 KB for the notes. If all places where the note of a task may be are
 * taken, or a hook is missing, the probe emits the event, without mappings. The
 * same holds for workers of io_uring, which do not reach the hooks.
 */
#include <linux/hash.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/signal.h>
/* It uses struct task_struct, and does not declare it. */
#include <linux/cn_proc.h>
#include <trace/events/signal.h>

#include "../base/hook.h"
#include "../compat/sched.h"
#include "../space/snapshot.h"
#include "../space/space.h"
#include "../trace/emit.h"
#include "../trace/kunwind_events.h"
#include "../trace/on_demand.h"
#include "fatal_signal.h"

#define MAP_BYTES	65536U
#define NOTE_BITS	8
#define NOTE_WAYS	8
#define THREADS_MAX	256		/* most threads that are looked at */
#define PENDING_MAX	32		/* most pending signals that are looked at */

/* A task has taken a fatal signal, and has not reached a hook. Only the task itself uses it. */
struct fatal_note {
	const struct task_struct *task;		/* NULL: free */
	int signal, code;
	u64 address;
	pid_t sender;
	bool group;
};
static struct fatal_note notes[1 << NOTE_BITS];

/* Returns the note whose task is @task, NULL for a free one, or NULL. */
static struct fatal_note *find_note(const struct task_struct *task)
{
	u32 way, first = hash_ptr(current, NOTE_BITS);

	for (way = 0; way < NOTE_WAYS; way++) {
		struct fatal_note *note = &notes[(first + way) % ARRAY_SIZE(notes)];

		if (READ_ONCE(note->task) == task)
			return note;
	}
	return NULL;
}

/* Returns a note for the current task, or NULL: none is free. */
static struct fatal_note *take_note(void)
{
	struct fatal_note *note;

	/* Left by a hook that did not run, or by an earlier task at this address. */
	note = find_note(current);
	while (!note) {
		note = find_note(NULL);
		if (!note)
			return NULL;
		if (cmpxchg(&note->task, NULL, current))
			note = NULL;		/* another task was faster */
	}
	return note;
}

/* No probe runs any more: forgets the notes whose tasks have not reached a hook. */
static void forget_notes(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(notes); i++)
		WRITE_ONCE(notes[i].task, NULL);
}

/* In a process that ends, each thread has SIGKILL pending until it takes it. */
static bool will_take_kill(struct task_struct *task)
{
	return sigismember(&task->pending.signal, SIGKILL) && !task->exit_state &&
	       !(task->flags & PF_EXITING);
}

/*
 * Returns whether the current thread reports a signal that was sent to the
 * process. More than one may do so in a process with more than THREADS_MAX
 * threads whose first thread has ended.
 */
static bool reports_for_process(void)
{
	struct task_struct *leader = current->group_leader, *thread;
	u32 looked_at = 0;

	if (leader == current)
		return true;
	/*
	 * The first thread will take its SIGKILL, or has taken it: it reports.
	 * If it had ended before, its SIGKILL stays pending.
	 */
	if (will_take_kill(leader) || !sigismember(&leader->pending.signal, SIGKILL))
		return false;
	for_each_thread(current, thread) {
		if (thread != current && will_take_kill(thread))
			return false;
		if (++looked_at == THREADS_MAX)
			break;
	}
	return true;
}

/* Returns what is known about a pending signal; NULL: nothing. */
static const struct kernel_siginfo *find_info(const struct sigpending *pending, int sig)
{
	const struct sigqueue *entry;
	u32 looked_at = 0;

	list_for_each_entry(entry, &pending->list, list) {
		if (entry->info.si_signo == sig)
			return &entry->info;
		if (++looked_at == PENDING_MAX)
			break;
	}
	return NULL;
}

/*
 * Returns the signal that kills the process of the current task; 0: none, or
 * another thread reports it. The lock of the signal handlers is held. @info:
 * in: what is known about @sig; out: what is known about the returned signal.
 * @group: out: it was sent to the process.
 */
static int fatal(int sig, const struct k_sigaction *ka, const struct kernel_siginfo **info, bool *group)
{
	struct signal_struct *signal = current->signal;
	int sent = signal->group_exit_code & 0x7f;	/* 0 after exit_group() */

	*group = false;
	if (sig == SIGKILL && (signal->flags & SIGNAL_GROUP_EXIT)) {
		*info = NULL;
		/* exit_group(), or the thread that dumps core has emitted the event */
		if (!sent || sig_kernel_coredump(sent))
			return 0;
		/* the kernel does not keep to which thread or process SIGKILL was sent */
		if (sent != SIGKILL) {
			if (sigismember(&current->pending.signal, sent)) {
				*info = find_info(&current->pending, sent);
				return sent;
			}
			if (!sigismember(&signal->shared_pending.signal, sent))
				return 0;
		}
		*group = true;
		*info = find_info(&signal->shared_pending, sent);
		return reports_for_process() ? sent : 0;
	}
	/* Another thread is in execve(). */
	if (sig == SIGKILL && signal->group_exec_task)
		return 0;
	if (ka->sa.sa_handler != SIG_DFL || sig_kernel_ignore(sig) || sig_kernel_stop(sig))
		return 0;
	/* init ignores signals without a handler */
	if ((signal->flags & SIGNAL_UNKILLABLE) && !sig_kernel_only(sig))
		return 0;
	return sig;
}

static void report_mappings(void)
{
	struct kunwind_snapshot *snapshot;
	struct kunwind_space *space;

	if (!trace_kunwind_map_enabled() || !current->mm || kunwind_hook_missing())
		return;
	space = kunwind_space_find_get(current->mm);
	if (!space)
		return;
	snapshot = kunwind_space_snapshot(space);
	if (snapshot)
		kunwind_snapshot_dump_within(snapshot, current->tgid, MAP_BYTES);
	kunwind_snapshot_put(snapshot);
	kunwind_space_put(space);
}

/* Runs after the probe, in the same task, without the lock of the signal handlers. */
static void emit(void)
{
	struct fatal_note note, *kept;

	/* Most tasks that exit have no note, and no signal has killed them. */
	if (!(current->flags & PF_SIGNALED))
		return;
	kept = find_note(current);
	if (!kept)
		return;
	note = *kept;
	smp_store_release(&kept->task, NULL);
	report_mappings();
	KUNWIND_EMIT(kunwind_fatal_signal, current->tgid, current->pid, note.signal, note.code,
		     note.address, note.sender, note.group);
}

KUNWIND_HOOK1(proc_coredump_connector, struct task_struct *, task)
{
	emit();
}

KUNWIND_HOOK1(do_group_exit, int, code)
{
	emit();
}

/* Sets what the signal's information says of its origin. */
static void read_origin(int sig, const struct kernel_siginfo *info, int *code, u64 *address,
			pid_t *sender)
{
	/* NULL and 1: not known, or the kernel sent it without information */
	if (info <= SEND_SIG_PRIV)
		return;
	*code = info->si_code;
	/* SI_QUEUE and the like are left out: the sender chooses their fields */
	if (*code == SI_USER || *code == SI_TKILL) {
		rcu_read_lock();
		*sender = pid_nr(find_vpid(info->si_pid));
		rcu_read_unlock();
	} else if (*code > 0 && *code < SI_KERNEL &&
		   (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGTRAP)) {
		*address = (unsigned long)info->si_addr;
	}
}

static void on_signal_deliver(void *data, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	const struct kernel_siginfo *known = info;
	struct fatal_note *note = NULL;
	pid_t sender = 0;
	u64 address = 0;
	int code = 0;
	bool group;

	sig = fatal(sig, ka, &known, &group);
	if (!sig)
		return;
	read_origin(sig, known, &code, &address, &sender);
	if (!kunwind_hook_missing() && !(current->flags & (PF_KTHREAD | KUNWIND_PF_WORKERS)))
		note = take_note();
	if (!note) {
		KUNWIND_EMIT(kunwind_fatal_signal, current->tgid, current->pid, sig, code, address,
			     sender, group);
		return;
	}
	note->signal = sig;
	note->code = code;
	note->address = address;
	note->sender = sender;
	note->group = group;
}

static struct kunwind_hook hooks[] = {
	KUNWIND_HOOK_ENTRY(proc_coredump_connector),
	KUNWIND_HOOK_ENTRY(do_group_exit),
};

void kunwind_fatal_signal_init(void)
{
	static const struct kunwind_on_demand_probe probe = {
		.tracepoint = "signal_deliver", .function = on_signal_deliver,
	};

	check_trace_callback_type_signal_deliver(on_signal_deliver);
	kunwind_hooks_require(hooks, ARRAY_SIZE(hooks));
	kunwind_on_demand_init(&kunwind_fatal_signal_demand, &probe, 1, NULL, forget_notes);
}

bool kunwind_fatal_signal_stop(void)
{
	return kunwind_hooks_disable(hooks, ARRAY_SIZE(hooks));
}

void kunwind_fatal_signal_show_hooks(struct seq_file *m)
{
	kunwind_hooks_show(m, hooks, ARRAY_SIZE(hooks), "");
}

void kunwind_fatal_signal_exit(void)
{
	kunwind_on_demand_exit(&kunwind_fatal_signal_demand);
}
