/* SPDX-License-Identifier: MIT */
/*
 * fatal-signal-test.c - which thread of a process reports the signal that kills
 * it, and when: not under the lock of the signal handlers, and once
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define SIGILL		4
#define SIGTRAP		5
#define SIGABRT		6
#define SIGBUS		7
#define SIGFPE		8
#define SIGKILL		9
#define SIGSEGV		11
#define SIGTERM		15
#define SIGCHLD		17
#define SIGSTOP		19
#define SI_USER		0
#define SI_KERNEL	0x80
#define SI_TKILL	(-6)
#define SIG_DFL		NULL
#define SIGNAL_GROUP_EXIT	1
#define SIGNAL_UNKILLABLE	2
#define PF_EXITING	4
#define PF_SIGNALED	0x400
#define SEND_SIG_NOINFO	((struct kernel_siginfo *)0)
#define SEND_SIG_PRIV	((struct kernel_siginfo *)1)

struct kernel_siginfo { int si_signo, si_code, si_pid; void *si_addr; };
struct k_sigaction { struct { void *sa_handler; } sa; };
struct sigqueue { struct list_head list; struct kernel_siginfo info; };
struct signal_struct {
	unsigned int flags;
	int group_exit_code;
	struct task_struct *group_exec_task;
	struct sigpending shared_pending;
};
#define sigismember(set, sig)		(*(set) >> (sig) & 1)
#define sig_kernel_coredump(sig)	((sig) == SIGABRT || (sig) == SIGSEGV || (sig) == SIGFPE)
#define sig_kernel_ignore(sig)		((sig) == SIGCHLD)
#define sig_kernel_stop(sig)		((sig) == SIGSTOP)
#define sig_kernel_only(sig)		((sig) == SIGKILL || (sig) == SIGSTOP)
#define find_vpid(nr)			(nr)
#define pid_nr(pid)			((pid) + 1000)	/* in the initial namespace */
#define hash_ptr(p, bits)		(collide ? 7 : hash_long((u64)(uintptr_t)(p), bits))
static bool collide;
#define NR_THREADS	300
static struct task_struct threads[NR_THREADS];
static unsigned int nr_threads, looked_at;
#define for_each_thread(of, t)							\
	for ((t) = threads; (t) < threads + nr_threads && ++looked_at; (t)++)
#define cmpxchg(p, old, new)							\
	({ __typeof__(*(p)) old_ = (old);					\
	   __atomic_compare_exchange_n(p, &old_, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); old_; })

#define _KUNWIND_HOOK_H
struct kunwind_hook { const char *function; };
static bool hook_missing, hooks_on;
#define kunwind_hook_missing()			hook_missing
#define KUNWIND_HOOK1(name, type, arg)		static void hook_##name(type arg)
#define KUNWIND_HOOK_ENTRY(name)		{ #name }
#define kunwind_hooks_require(hooks, nr)	((void)(hooks), hooks_on = true)
#define kunwind_hooks_disable(hooks, nr)	((void)(hooks), hooks_on = false, true)
#define kunwind_hooks_show(m, hooks, nr, why)	((void)(hooks))

#define _KUNWIND_ON_DEMAND_H
struct kunwind_on_demand_probe { const char *tracepoint; void *function; };
struct kunwind_on_demand { int unused; };
static struct kunwind_on_demand kunwind_fatal_signal_demand;
static void (*release_notes)(void);
static void kunwind_on_demand_init(struct kunwind_on_demand *demand,
				   const struct kunwind_on_demand_probe *probes, unsigned int nr,
				   int (*prepare)(void), void (*release)(void))
{
	(void)demand, (void)probes, (void)nr, (void)prepare;
	release_notes = release;
}
#define kunwind_on_demand_exit(demand)		((void)(demand))
#define check_trace_callback_type_signal_deliver(function)	((void)(function))

#define _KUNWIND_EVENTS_H
#define _KUNWIND_EMIT_H
static bool siglock;		/* the lock of the signal handlers is held */
static unsigned int events, maps_before, events_locked;
static struct { int tid, signal, code, sender, group; u64 address; } last;
#define trace_kunwind_map_enabled()	true
static unsigned int maps;
static void trace_kunwind_fatal_signal(int tgid, int tid, int signal, int code, u64 address,
				       int sender, bool group)
{
	(void)tgid;
	last.tid = tid;
	last.signal = signal;
	last.code = code;
	last.sender = sender;
	last.group = group;
	last.address = address;
	events++;
	events_locked += siglock;
	maps_before = maps;
}
#define KUNWIND_EMIT(event, ...)	(emits(), trace_##event(__VA_ARGS__))

#include "../../kmod/process/fatal_signal.c"

/* ------------------------ functions of other files that this file calls */

static struct kunwind_space the_space;
static struct kunwind_snapshot the_snapshot;
static int space_refs, snapshot_refs;
static u32 map_bytes;
struct kunwind_space *kunwind_space_find_get(const struct mm_struct *mm)
{
	(void)mm;
	space_refs++;
	return &the_space;
}
void kunwind_space_put(struct kunwind_space *space) { (void)space; space_refs--; }
struct kunwind_snapshot *kunwind_space_snapshot(struct kunwind_space *space)
{
	(void)space;
	snapshot_refs++;
	return &the_snapshot;
}
void kunwind_snapshot_put(struct kunwind_snapshot *snapshot) { (void)snapshot; snapshot_refs--; }
void kunwind_snapshot_dump_within(const struct kunwind_snapshot *snapshot, pid_t tgid, u32 bytes)
{
	(void)snapshot, (void)tgid;
	if (siglock || rcu_depth || nr_held)
		wrong("mappings are reported under a lock");
	map_bytes = bytes;
	maps++;
}

/* --------------------------------------------------------------- the scene */

static struct signal_struct group;
static struct mm_struct mm;
static struct sigqueue queued, others;
static const struct k_sigaction dfl;

static void begin(unsigned int nr)
{
	unsigned int i;

	group = (struct signal_struct){ };
	INIT_LIST_HEAD(&group.shared_pending.list);
	nr_threads = nr;
	for (i = 0; i < nr; i++) {
		threads[i] = (struct task_struct){
			.mm = &mm, .tgid = 100, .pid = 100 + i, .signal = &group,
			.group_leader = &threads[0],
		};
		INIT_LIST_HEAD(&threads[i].pending.list);
	}
	events = events_locked = maps = maps_before = looked_at = 0;
	hook_missing = collide = false;
	memset(&last, 0, sizeof(last));
}

static void takes(unsigned int thread, int sig, struct kernel_siginfo *info, void *handler)
{
	struct k_sigaction action = { { handler } };

	current = &threads[thread];
	siglock = true;
	on_signal_deliver(NULL, sig, info, &action);
	siglock = false;
}

/* What the kernel does then, if the signal kills. */
static void dies(unsigned int thread, bool dumps)
{
	current = &threads[thread];
	current->flags |= PF_SIGNALED;
	if (dumps)
		hook_proc_coredump_connector(current);
	hook_do_group_exit(0);
}

/* ------------------------------------------------------------------- tests */

static void test_when(void)
{
	struct kernel_siginfo info = { .si_signo = SIGSEGV, .si_code = 1, .si_addr = (void *)0x1234 };

	begin(1);
	takes(0, SIGSEGV, &info, NULL);
	tap_ok(!events && !maps, "probe: it emits nothing under the lock of the signal handlers");
	dies(0, true);
	tap_ok(events == 1 && maps_before == 1 && last.tid == 100 && last.signal == SIGSEGV &&
	       last.code == 1 && last.address == 0x1234 && !last.group && !last.sender,
	       "core dump: the event comes before it, once, after the mappings");
	tap_ok(map_bytes == 65536 && !space_refs && !snapshot_refs, "core dump: at most 64 KB of mappings");
	threads[0].flags = 0;
	takes(0, SIGTERM, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(events == 2 && last.signal == SIGTERM && !last.code && !last.address,
	       "no core dump: the event comes at the end, without what an earlier signal had");
	hook_do_group_exit(0);
	tap_ok(events == 2, "the end of a task without a note: no event");
	info = (struct kernel_siginfo){ .si_signo = SIGTERM, .si_code = SI_USER, .si_pid = 5,
					.si_addr = (void *)1 };
	takes(0, SIGTERM, &info, NULL);
	dies(0, false);
	tap_ok(last.sender == 1005 && !last.address && last.code == SI_USER,
	       "a sender: its number in the initial namespace, and no address");
	info.si_code = SI_TKILL;
	takes(0, SIGTERM, &info, NULL);
	dies(0, false);
	tap_ok(last.sender == 1005 && !last.address && last.code == SI_TKILL,
	       "a sender by tgkill(): its number in the initial namespace");
	info.si_code = -1;
	takes(0, SIGTERM, &info, NULL);
	dies(0, false);
	tap_ok(!last.sender && !last.address && last.code == -1,
	       "a signal of sigqueue(): what its sender has chosen is left out");
	info.si_code = 2;
	takes(0, SIGTERM, &info, NULL);
	dies(0, false);
	tap_ok(!last.address && !last.sender && last.code == 2,
	       "a signal that has no address: the word in its place is left out");
	info.si_code = SI_KERNEL;
	takes(0, SIGSEGV, &info, NULL);
	dies(0, true);
	tap_ok(!last.address && !last.sender && last.code == SI_KERNEL,
	       "a signal of the kernel has neither a sender nor an address");
	tap_ok(!events_locked, "no event was emitted under the lock");

	events = 0;
	takes(0, SIGTERM, SEND_SIG_NOINFO, &info);
	takes(0, SIGCHLD, SEND_SIG_NOINFO, NULL);
	takes(0, SIGSTOP, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(!events, "signals with a handler, ignored ones and stops: no event");
	group.flags = SIGNAL_UNKILLABLE;
	takes(0, SIGTERM, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(!events, "init: no event for a signal that it ignores");
	takes(0, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(events == 1, "init: an event for SIGKILL");
	threads[0].mm = NULL;
	group.flags = maps = 0;
	takes(0, SIGTERM, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(events == 2 && !maps, "a task without memory: no mappings");
	threads[0].mm = &mm;
	takes(0, SIGTERM, SEND_SIG_NOINFO, NULL);
	hook_missing = true;
	dies(0, false);
	hook_missing = false;
	tap_ok(events == 3 && !maps && !space_refs,
	       "a required hook is lost before the task dies: no mappings, which may be old");
}

static void test_notes(void)
{
	unsigned int i;

	begin(10);
	takes(0, SIGTERM, SEND_SIG_NOINFO, NULL);
	threads[0].flags = 0;
	hook_do_group_exit(0);
	tap_ok(!events, "a note that another task at this address has left: exit() has no event");
	takes(0, SIGABRT, SEND_SIG_NOINFO, NULL);
	dies(0, true);
	tap_ok(events == 1 && last.signal == SIGABRT, "... and the next signal has its own");
	takes(0, SIGTERM, SEND_SIG_NOINFO, NULL);
	release_notes();
	dies(0, false);
	tap_ok(events == 1, "the event is turned off: notes are forgotten");

	begin(10);
	collide = true;
	for (i = 0; i < NOTE_WAYS; i++)
		takes(i, SIGTERM, SEND_SIG_NOINFO, NULL);
	tap_ok(!events, "%u tasks with notes in the same places: all have one", NOTE_WAYS);
	takes(NOTE_WAYS, SIGTERM, SEND_SIG_NOINFO, NULL);
	tap_ok(events == 1 && !maps && last.tid == 100 + NOTE_WAYS,
	       "no place for a note: the event at once, without mappings");
	dies(NOTE_WAYS, false);
	tap_ok(events == 1, "... and not again");
	for (i = 0; i < NOTE_WAYS; i++)
		dies(i, false);
	tap_ok(events == 1 + NOTE_WAYS && maps == NOTE_WAYS, "the others have theirs");

	begin(2);
	hook_missing = true;
	takes(0, SIGTERM, SEND_SIG_NOINFO, NULL);
	tap_ok(events == 1 && !maps, "a missing hook: the event at once, without mappings");
	dies(0, false);
	tap_ok(events == 1, "a missing hook: no second event");
	hook_missing = false;
	threads[1].flags = PF_IO_WORKER;
	takes(1, SIGTERM, SEND_SIG_NOINFO, NULL);
	tap_ok(events == 2 && !maps, "a worker of io_uring, which reaches no hook: the event at once");
}

/* The process has got @sig; the kernel gives SIGKILL to all threads. */
static void ends_by(int sig)
{
	unsigned int i;

	group.flags = SIGNAL_GROUP_EXIT;
	group.group_exit_code = sig;
	for (i = 0; i < nr_threads; i++)
		threads[i].pending.signal = 1ULL << SIGKILL;
}

static void test_threads(void)
{
	begin(3);
	ends_by(SIGTERM);
	group.shared_pending.signal = 1ULL << SIGTERM;
	queued.info = (struct kernel_siginfo){ .si_signo = SIGTERM, .si_code = SI_USER, .si_pid = 7 };
	list_add(&queued.list, &group.shared_pending.list);
	takes(1, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(1, false);
	tap_ok(!events, "sent to the process: threads other than the first have no event");
	takes(0, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(events == 1 && last.tid == 100 && last.signal == SIGTERM && last.group &&
	       last.sender == 1007, "sent to the process: the first thread has it, with the sender");

	begin(3);
	ends_by(SIGKILL);
	threads[0].exit_state = 1;
	threads[1].flags = PF_EXITING;
	takes(2, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(2, false);
	tap_ok(events == 1 && last.tid == 102 && last.group,
	       "the first thread has ended before: the last of the others has it");
	threads[1].flags = 0;
	events = 0;
	takes(2, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(2, false);
	tap_ok(!events, "... not one while another one has not taken SIGKILL");

	begin(3);
	ends_by(SIGTERM);
	threads[1].pending.signal |= 1ULL << SIGTERM;
	takes(0, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	takes(1, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(1, false);
	tap_ok(events == 1 && last.tid == 101 && !last.group, "sent to one thread: that thread has it");

	/* its information is at the thread, and that of another one at the process */
	begin(3);
	ends_by(SIGTERM);
	threads[1].pending.signal |= 1ULL << SIGTERM;
	queued.info = (struct kernel_siginfo){ .si_signo = SIGTERM, .si_code = SI_USER, .si_pid = 7 };
	list_add(&queued.list, &threads[1].pending.list);
	others.info = (struct kernel_siginfo){ .si_signo = SIGTERM, .si_code = SI_USER, .si_pid = 8 };
	list_add(&others.list, &group.shared_pending.list);
	takes(1, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(1, false);
	tap_ok(events == 1 && last.sender == 1007,
	       "sent to one thread: its sender, not that of another signal");

	/* a signal that dumps core, also pending at another thread */
	begin(2);
	ends_by(SIGABRT);
	group.shared_pending.signal = 1ULL << SIGABRT;
	threads[1].pending.signal |= 1ULL << SIGABRT;
	takes(1, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(1, false);
	takes(0, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(!events, "another thread dumps core by a signal that is pending here, too: no event");

	begin(2);
	ends_by(SIGSEGV);
	takes(1, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(1, false);
	group.group_exit_code = 0;
	takes(0, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(!events, "threads that end because of a fault, or of exit_group(): no event");
	group.flags = 0;
	group.group_exec_task = &threads[1];
	takes(0, SIGKILL, SEND_SIG_NOINFO, NULL);
	dies(0, false);
	tap_ok(!events, "threads that end because of execve(): no event");

	begin(NR_THREADS);
	ends_by(SIGKILL);
	threads[0].exit_state = 1;
	for (unsigned int i = 1; i < NR_THREADS; i++)
		threads[i].exit_state = 1;
	threads[5].exit_state = 0;
	looked_at = 0;
	takes(5, SIGKILL, SEND_SIG_NOINFO, NULL);
	tap_ok(looked_at <= THREADS_MAX, "many threads: at most %u are looked at", THREADS_MAX);
	dies(5, false);
}

int main(void)
{
	kunwind_fatal_signal_init();
	tap_ok(hooks_on && release_notes, "init: the hooks are on");
	test_when();
	test_notes();
	test_threads();
	tap_ok(kunwind_fatal_signal_stop() && !hooks_on, "exit: the hooks are off");
	return tap_done();
}
