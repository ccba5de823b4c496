/* SPDX-License-Identifier: MIT */
/*
 * blocked-test.c - the report of blocked threads: which threads it lists, what it
 * drops because a thread has run meanwhile, and what limits it
 *
 * Walks, page faults and waits for table parts are replaced. During each, the
 * thread may do something.
 */
#include "kernel.h"
#include "pt-regs.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define TASK_INTERRUPTIBLE	1
#define TASK_UNINTERRUPTIBLE	2
#define __TASK_STOPPED		4
#define __TASK_TRACED		8
#define PIDTYPE_PID		0
#define PIDTYPE_TGID		1
#define FUTEX_WAIT		0
#define FUTEX_WAKE		1
#define FUTEX_LOCK_PI		6
#define FUTEX_WAIT_BITSET	9
#define FUTEX_LOCK_PI2		13
#define FUTEX_CMD_MASK		(~(128 | 256))
#define FUTEX_TID_MASK		0x3fffffff
#define FUTEX_WAITERS		0x80000000
#define AUDIT_ARCH_I386		3
#define AUDIT_ARCH_X86_64	62
#undef __NR_futex
#define __NR_futex		202
#define syscall_get_nr(task, regs)	((int)(regs)->orig_ax)
#define syscall_get_arch(task)	(THREAD(task)->compat ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64)
#define syscall_get_arguments(task, regs, to)	memcpy(to, THREAD(task)->args, 6 * sizeof(*(to)))
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#define _KUNWIND_COMPAT_TRACE_H
#define _KUNWIND_ENABLED_H
#define _KUNWIND_EMIT_H
static bool allowed, listening;
#define kunwind_allowed()		allowed
#define trace_kunwind_blocked_enabled()	listening
#define KUNWIND_EMIT(event, of)		(emits(), told_##event(of))
#include "../../kmod/trace/blocked.h"
static void told_kunwind_blocked(const struct kunwind_blocked *blocked);

/* A thread, and its process. */
struct pid { struct process *process; };
struct thread {
	struct task_struct task;
	struct pt_regs regs;
	unsigned long args[6];
	bool compat, on_cpu, frozen, no_stack;
	u64 ran;
	int refs;
};
#define THREAD(of)		container_of(of, struct thread, task)
#define MOST			5000
static struct process {
	struct pid pid;
	struct mm_struct mm;
	struct thread thread[MOST];
	unsigned int nr;
	bool ended, unkept;
	int memory;
} process;

#define _KUNWIND_COMPAT_TASK_STATE_H
static struct mm_struct another_mm;
static bool execs_first;	/* a thread execs just before its state is looked at */
static bool looks_at(struct thread *thread)
{
	if (execs_first)
		thread->task.mm = &another_mm;
	return thread->on_cpu;
}
#define kunwind_task_on_cpu(task)	looks_at(THREAD(task))
#define kunwind_task_last_ran(task)	(THREAD(task)->ran)
#define kunwind_task_frozen(task, state)	(THREAD(task)->frozen)
#define local_clock()			now_ns
#define task_pt_regs(task)		(&THREAD(task)->regs)
#define copy_from_kernel_nofault(to, from, size)				\
	(container_of(from, struct thread, regs)->no_stack ? -EFAULT : (memcpy(to, from, size), 0))
#define pid_task(pid, type)		((type) == PIDTYPE_TGID ? leader_of(pid) : thread_of(pid))
#define for_each_thread(leader, t)						\
	for ((t) = (leader); (t); (t) = next_thread_of(t))
static struct task_struct *leader_of(struct pid *pid)
{
	need_rcu(rcu_depth);
	return pid->process->ended ? NULL : &pid->process->thread[0].task;
}
static struct task_struct *next_thread_of(struct task_struct *task)
{
	struct thread *next = THREAD(task) + 1;

	return next == &process.thread[process.nr] ? NULL : &next->task;
}
/* The number in the namespace is 1000 less. A struct pid stands for its thread. */
#define find_pid_ns(number, ns)		((struct pid *)(uintptr_t)((number) + 1000))
static struct task_struct *thread_of(struct pid *pid)
{
	unsigned int i;

	need_rcu(rcu_depth);
	for (i = 0; i < process.nr; i++)
		if ((uintptr_t)pid == (uintptr_t)process.thread[i].task.pid)
			return &process.thread[i].task;
	return NULL;
}
#define task_pid_nr_ns(task, ns)	((task)->pid - 1000)
#define same_thread_group(a, b)		((a)->tgid == (b)->tgid)
static struct task_struct *get_task_struct(struct task_struct *task) { THREAD(task)->refs++; return task; }
static void put_task_struct(struct task_struct *task) { THREAD(task)->refs--; }

static struct task_struct worker;
static void kthread_use_mm(struct mm_struct *mm)
{
	might_sleep();
	if (current->mm || !process.memory)
		wrong("the worker's mm");
	current->mm = mm;
}
static void kthread_unuse_mm(struct mm_struct *mm)
{
	if (current->mm != mm)
		wrong("the worker's mm");
	current->mm = NULL;
}

/* User memory: the words of a lock. */
#define LOCK			0x7000UL
static u32 lock_word[3];
static bool lock_unreadable;
static int copy_from_user_nofault(void *to, const void *from, size_t size)
{
	const u32 *at = (const u32 *)((char *)lock_word + ((uintptr_t)from - LOCK));

	if (!current->mm)
		wrong("whose memory?");
	if (lock_unreadable || at < lock_word || (char *)at + size > (char *)(lock_word + 3))
		return -EFAULT;
	memcpy(to, at, size);
	return 0;
}

#include "../../kmod/base/quota.c"
#include "../../kmod/stack/blocked.c"

/* ------------------------ functions of other files that this file calls */

struct kunwind_process_memory *kunwind_process_memory_get(struct pid *pid)
{
	static struct kunwind_process_memory memory;

	if (pid->process->ended)
		return ERR_PTR(-ESRCH);
	process.memory++;
	memory = (struct kunwind_process_memory){ .mm = &process.mm, .kept = !process.unkept };
	return &memory;
}
void kunwind_process_memory_put(struct kunwind_process_memory *memory) { process.memory--; }

static struct kunwind_space space, *space_there;
struct kunwind_space *kunwind_space_find(const struct mm_struct *mm)
{
	need_rcu(rcu_depth);
	return mm == &process.mm ? space_there : NULL;
}

/* What the next walks do, and what happens meanwhile. */
static struct {
	enum kunwind_reason reason[4];
	u32 count;
	void (*meanwhile)(struct thread *thread);
} next;
static unsigned int walks, faults, waits;
static u64 faulted[2], waited_at;
static unsigned long part_time;

enum kunwind_reason kunwind_callstack_walk(struct kunwind_space *of, const struct pt_regs *regs, u32 valid,
					   struct kunwind_request *request)
{
	struct thread *thread = THREAD((struct task_struct *)request->other->task);
	u32 i;

	need_rcu(rcu_depth);
	if (of != &space || request->consumer != KUNWIND_FOR_BLOCKED || valid != KUNWIND_ALL_REGS ||
	    request->capacity != KUNWIND_MAX_FRAMES || regs == &thread->regs ||
	    memcmp(regs, &thread->regs, sizeof(*regs)) || request->other->unread[0] || request->count)
		wrong("what a walk is given");
	for (i = 0; i < KUNWIND_MAX_FRAMES; i++)
		if (request->trust[i] != (i ? KUNWIND_TRUST_CFI : KUNWIND_TRUST_REGISTERS))
			wrong("the trust of frame %u", i);
	for (i = 0; i < next.count; i++)
		request->store[i] = regs->ip + i;
	request->count = next.count;
	request->trust[min(next.count, KUNWIND_MAX_FRAMES - 1U)] = KUNWIND_TRUST_SCAN;
	request->other->unread[0] = 0x111;
	request->other->unread[1] = 0x222;
	if (next.meanwhile)
		next.meanwhile(thread);
	return next.reason[min(walks++, 3U)];
}

bool kunwind_fault_in_now(struct mm_struct *mm, u64 at, u64 second)
{
	might_sleep();
	faulted[0] = at;
	faulted[1] = second;
	return faults++ < 5;
}

int kunwind_part_wait(const struct mm_struct *mm, u64 addr, unsigned long timeout)
{
	might_sleep();
	if (!timeout)
		wrong("a wait without time");
	waited_at = addr;
	waits++;
	jiffies += min(part_time, timeout);
	return part_time > timeout ? -ETIME : 0;
}

/* The last event. */
static struct kunwind_blocked last;
static unsigned int told;
static u64 ids;
static void told_kunwind_blocked(const struct kunwind_blocked *blocked)
{
	last = *blocked;
	told++;
	if (blocked->stack.id <= ids || blocked->stack.addresses[0] != 0x400000 + blocked->stack.tid)
		wrong("the stack's id, or another thread's stack");
	ids = blocked->stack.id;
}

/* --------------------------------------------------------------- the scene */

static struct thread *adds(unsigned int state)
{
	struct thread *thread = &process.thread[process.nr++];

	*thread = (struct thread){
		.task = {
			.mm = &process.mm, .pid = 2000 + process.nr, .tgid = 2001, .pid_ns = &init_pid_ns,
			.comm = "name", .__state = state, .nvcsw = 5, .nivcsw = 6,
		},
		.regs = { .ip = 0x400000 + 2000 + process.nr, .cs = __USER_CS, .orig_ax = 7 },
		.args = { LOCK, 0, 2, 0, 0, 0 },
	};
	return thread;
}

static struct kunwind_blocked_report *report;

static void begin(void)
{
	unsigned int i;

	for (i = 0; i < process.nr; i++)
		if (process.thread[i].refs)
			wrong("a reference to a thread");
	process.nr = 0;
	process.pid.process = &process;
	process.ended = process.unkept = false;
	current = &worker;
	space_there = &space;
	allowed = listening = true;
	memset(&next, 0, sizeof(next));
	next.count = 3;
	walks = faults = waits = told = 0;
	part_time = 1;
	left_out = ran = emitted = 0;
	ids = 0;
	kunwind_blocked_end(report);
	report = kunwind_blocked_begin();
}

static void reports(void)
{
	kunwind_blocked_process(report, &process.pid, NULL, 1, 1000);
	if (process.memory || current->mm)
		wrong("the process's memory is still used");
}

/* ------------------------------------------------------------------- tests */

static void test_which(void)
{
	static const struct {
		const char *what;
		unsigned int state;
		enum kunwind_thread_state is;
	} states[] = {
		{ "sleeps", TASK_INTERRUPTIBLE, KUNWIND_STATE_SLEEPING },
		{ "waits for a disk", TASK_UNINTERRUPTIBLE, KUNWIND_STATE_UNINTERRUPTIBLE },
		{ "can be killed only", TASK_UNINTERRUPTIBLE | 0x100,
		  KUNWIND_STATE_UNINTERRUPTIBLE },
		{ "is stopped", __TASK_STOPPED | 0x100, KUNWIND_STATE_STOPPED },
		{ "is traced", __TASK_TRACED, KUNWIND_STATE_TRACED },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		begin();
		adds(states[i].state);
		reports();
		tap_ok(told == 1 && last.state == states[i].is, "a thread that %s", states[i].what);
	}
	begin();
	adds(TASK_INTERRUPTIBLE)->frozen = true;
	reports();
	tap_ok(told == 1 && last.state == KUNWIND_STATE_FROZEN, "a frozen thread");
	process.thread[0].task.__state = __TASK_STOPPED;
	reports();
	tap_ok(last.state == KUNWIND_STATE_STOPPED,
	       "a stopped thread, which its control group counts as frozen");

	begin();
	adds(0);
	adds(TASK_DEAD);
	adds(TASK_NEW);
	adds(TASK_WAKING);
	adds(TASK_INTERRUPTIBLE)->on_cpu = true;
	adds(TASK_INTERRUPTIBLE)->task.mm = NULL;
	adds(TASK_INTERRUPTIBLE)->task.flags = PF_KTHREAD;
	adds(TASK_INTERRUPTIBLE)->task.flags = PF_IO_WORKER;
	reports();
	tap_ok(!told && !ran && !walks,
	       "no event: it runs, has ended, begins, is woken, has no mm, or is the kernel's");
	adds(TASK_INTERRUPTIBLE);
	reports();
	tap_ok(told == 1, "the thread after these is reported");

	begin();
	adds(TASK_INTERRUPTIBLE)->task.mm = &(struct mm_struct){ .users = 1 };
	reports();
	tap_ok(!told && !walks, "no event: the thread has another mm, as during exec");
	begin();
	adds(TASK_INTERRUPTIBLE);
	execs_first = true;
	reports();
	execs_first = false;
	tap_ok(!told && !walks, "no event: the thread execs just before it is found blocked");
	process.ended = true;
	reports();
	process.ended = false;
	process.unkept = true;
	adds(TASK_INTERRUPTIBLE);
	reports();
	tap_ok(!told && left_out == 2,
	       "no event: the process's memory cannot be kept; its threads are counted");
	process.unkept = allowed = false;
	reports();
	tap_ok(!told, "no event: the kill switch");
}

static void test_fields(void)
{
	struct thread *thread;

	begin();
	thread = adds(TASK_INTERRUPTIBLE);
	thread->compat = true;
	thread->args[5] = 77;
	thread->ran = now_ns - 123;
	strcpy(thread->task.comm, "fifteen letters");
	next.reason[0] = KUNWIND_NO_RULE;
	reports();
	tap_ok(last.stack.tid == 2001 && last.stack.tgid == 2001 && last.vtid == 1001 && last.compat &&
	       last.stack.syscall == 7 && last.args[0] == LOCK && last.args[5] == 77 &&
	       last.duration == 123 && !strcmp(last.comm, "fifteen letters") &&
	       last.stack.reason == KUNWIND_NO_RULE, "the event: the thread, its call, its stack's end");
	tap_ok(last.stack.count == 3 && last.stack.inner == 3 && last.stack.trusts == 3 &&
		       !last.stack.shared && !last.stack.base && last.stack.id >> 63,
	       "the event has all frames, and an id of its own");
	thread->ran = 0;
	thread->regs.orig_ax = -1;
	reports();
	tap_ok(!last.duration && last.stack.syscall == -1, "the event: no system call, no time");
	thread->ran = now_ns + 5;
	reports();
	tap_ok(!last.duration, "the event: another processor's clock is ahead");
	thread->regs.cs = 0x10;
	walks = 0;
	reports();
	tap_ok(!walks && !last.stack.count && last.stack.reason == KUNWIND_CODE_SEGMENT,
	       "the event: unknown code segment: no stack");
	thread->regs.cs = __USER32_CS;
	reports();
	tap_ok(walks == 1, "the event: 32-bit code is walked");
	space_there = NULL;
	reports();
	tap_ok(!last.stack.count && last.stack.reason == KUNWIND_NOT_READY,
	       "the event: mappings are not known yet");
}

static void runs_away(struct thread *thread) { thread->on_cpu = true; }
static void ran_and_blocked(struct thread *thread) { thread->task.nvcsw++; }
static void was_preempted(struct thread *thread) { thread->task.nivcsw++; }
static void is_woken(struct thread *thread) { thread->task.__state = 0; }
static void is_stopped(struct thread *thread) { thread->task.__state = __TASK_STOPPED; }
static void ends(struct thread *thread) { thread->task.__state = TASK_DEAD; }

static void test_ran(void)
{
	static const struct { const char *what; void (*does)(struct thread *thread); } all[] = {
		{ "runs", runs_away }, { "ran, and blocked again", ran_and_blocked },
		{ "was preempted in between", was_preempted }, { "was woken", is_woken },
		{ "was stopped", is_stopped }, { "ended", ends },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		begin();
		adds(TASK_INTERRUPTIBLE);
		next.meanwhile = all[i].does;
		reports();
		tap_ok(!told && walks == 1 && ran == 1,
		       "dropped and counted: during the walk, the thread %s", all[i].what);
		next.meanwhile = NULL;
		adds(TASK_INTERRUPTIBLE);
		reports();
		tap_ok(told >= 1 && ran == 1, "after that, other threads are reported (it %s)", all[i].what);
	}
	begin();
	adds(TASK_INTERRUPTIBLE)->no_stack = true;
	reports();
	tap_ok(!told && !walks && ran == 1, "dropped and counted: the kernel stack has gone");
}

static void ran_once(struct thread *thread)
{
	thread->task.nvcsw++;
	next.meanwhile = NULL;
}

static void test_again(void)
{
	begin();
	adds(TASK_INTERRUPTIBLE);
	next.reason[0] = KUNWIND_UNREADABLE;
	reports();
	tap_ok(told == 1 && walks == 2 && last.stack.reason == KUNWIND_COMPLETE && faulted[0] == 0x111 &&
	       faulted[1] == 0x222, "unreadable: the pages are faulted in, and the stack is walked again");
	begin();
	adds(TASK_INTERRUPTIBLE);
	faults = 10;
	next.reason[0] = KUNWIND_UNREADABLE;
	reports();
	tap_ok(told == 1 && walks == 1 && last.stack.reason == KUNWIND_UNREADABLE,
	       "unreadable: no page was faulted in: the event has what was found");
	begin();
	adds(TASK_INTERRUPTIBLE);
	next.reason[0] = next.reason[1] = next.reason[2] = next.reason[3] = KUNWIND_UNREADABLE;
	reports();
	tap_ok(told == 1 && walks == TRIES, "unreadable: at most %u walks", TRIES);

	begin();
	adds(TASK_INTERRUPTIBLE);
	next.reason[0] = KUNWIND_NOT_READY;
	reports();
	tap_ok(told == 1 && walks == 2 && waited_at == 0x400000 + 2001 + 2 - 1,
	       "not ready: waits for the part of the last frame's code");
	next.count = 1;
	walks = 0;
	reports();
	tap_ok(walks == 2 && waited_at == 0x400000 + 2001,
	       "not ready: the part of the innermost frame's code");
	begin();
	for (walks = 0; walks < 3; walks++)
		adds(TASK_INTERRUPTIBLE);
	next.reason[0] = next.reason[1] = next.reason[2] = next.reason[3] = KUNWIND_NOT_READY;
	part_time = 10 * HZ;
	reports();
	tap_ok(told == 3 && waits == 1, "not ready: all threads together wait no longer than PATIENCE");
	begin();
	adds(TASK_INTERRUPTIBLE);
	next.reason[0] = KUNWIND_UNREADABLE;
	next.meanwhile = ran_once;
	reports();
	tap_ok(!told && ran == 1, "dropped: the thread ran before the second walk");
}

static pid_t holder(bool compat, int call, unsigned long op, u32 waits_for, u32 word, u32 third)
{
	struct thread *thread = &process.thread[0];

	thread->compat = compat;
	thread->regs.orig_ax = call;
	thread->args[1] = op;
	thread->args[2] = waits_for;
	lock_word[0] = word;
	lock_word[1] = 0x55;
	lock_word[2] = third;
	last.holder = -1;
	reports();
	return last.holder;
}

static void test_holder(void)
{
	begin();
	adds(TASK_INTERRUPTIBLE);
	adds(0);		/* 2002, which runs */
	tap_ok(holder(false, 202, FUTEX_WAIT | 128, 2, 2, 1002) == 2002, "holder: of glibc's mutex");
	tap_ok(holder(false, 202, FUTEX_WAIT_BITSET | 128 | 256, 2, 2, 1002) == 2002,
	       "holder: with a timeout");
	tap_ok(holder(true, 240, FUTEX_WAIT, 2, 2, 1002) == 2002 &&
		       holder(true, 422, FUTEX_WAIT, 2, 2, 1002) == 2002,
	       "holder: 32-bit program");
	tap_ok(!holder(true, 202, FUTEX_WAIT, 2, 2, 1002) && !holder(false, 240, FUTEX_WAIT, 2, 2, 1002),
	       "holder: the number of another system call");
	tap_ok(!holder(false, 202, FUTEX_WAIT, 2, 1, 1002) && !holder(false, 202, FUTEX_WAIT, 1, 2, 1002),
	       "holder: the word has changed: the thread waits for no holder any more");
	tap_ok(!holder(false, 202, FUTEX_WAIT, 1, 1, 1002) && !holder(false, 202, FUTEX_WAIT, 0, 0, 1002),
	       "holder: another value than a mutex's");
	tap_ok(!holder(false, 202, FUTEX_WAIT, 2, 2, 999), "holder: no thread of this process");
	tap_ok(holder(false, 202, FUTEX_WAIT, 0x80000000 | 1002, 0x80000000 | 1002, 77) == 2002,
	       "holder: of a robust mutex, from the word");
	tap_ok(holder(false, 202, FUTEX_LOCK_PI | 128, 0, 0x80000000 | 1002, 77) == 2002 &&
		       holder(false, 202, FUTEX_LOCK_PI2, 0, 1002, 77) == 2002,
	       "holder: of a priority-inheriting mutex");
	tap_ok(!holder(false, 202, FUTEX_WAKE, 2, 2, 1002), "holder: the call does not wait");
	lock_unreadable = true;
	tap_ok(!holder(false, 202, FUTEX_WAIT, 2, 2, 1002), "holder: the lock's page cannot be read");
	lock_unreadable = false;
	process.thread[1].task.tgid = 1;
	tap_ok(!holder(false, 202, FUTEX_WAIT, 2, 2, 1002), "holder: a thread of another process");
	process.thread[0].task.pid_ns = NULL;
	last.vtid = 5;
	tap_ok(!holder(false, 202, FUTEX_WAIT, 2, 2, 1002) && !last.vtid,
	       "holder: the thread has been reaped");
}

static void takes_long(struct thread *thread) { now_ns += 5 * KUNWIND_BLOCKED_NS; }
static void takes_long_and_ran(struct thread *thread)
{
	takes_long(thread);
	thread->task.nvcsw++;
}

static void test_limits(void)
{
	static struct cred cred = { .user_ns = &init_user_ns, .uid = { 1001 } };
	struct kunwind_quota *quota;
	struct task_struct owner = { .cred = &cred, .pid_ns = &init_pid_ns };
	unsigned int i;

	begin();
	for (i = 0; i < THREADS_MAX + 10; i++)
		adds(TASK_INTERRUPTIBLE);
	reports();
	tap_ok(told == THREADS_MAX && left_out == 10,
	       "at most %u threads of a process, the others are counted", THREADS_MAX);

	begin();
	for (i = 0; i < 100; i++)
		adds(TASK_INTERRUPTIBLE);
	process.mm.owner = &owner;
	quota = in_rcu(kunwind_quota_add_share(&owner, KUNWIND_SHARE_RECORD, 10));
	next.count = 2 * KUNWIND_BLOCKED_FRAMES;
	kunwind_blocked_process(report, &process.pid, quota, 1, 30);
	tap_ok(told == 10 && left_out == 90,
	       "a user's limit: a thread counts with its frames; others are counted");
	kunwind_blocked_process(report, &process.pid, quota, 1, 30);
	tap_ok(told == 10 && left_out == 190, "a user's limit holds for all processes of a dump");
	kunwind_blocked_process(report, &process.pid, quota, 2, 30);
	tap_ok(told == 20, "a user's limit: the next dump begins anew");
	next.count = 1;
	next.meanwhile = takes_long;
	kunwind_blocked_process(report, &process.pid, quota, 3, 30);
	tap_ok(told == 25, "a user's limit: the time of the walks counts");
	next.meanwhile = takes_long_and_ran;
	kunwind_blocked_process(report, &process.pid, quota, 4, 30);
	tap_ok(told == 25 && ran == 6, "a user's limit: also of walks without an event");
	kunwind_quota_remove_share(quota, KUNWIND_SHARE_RECORD);

	begin();
	adds(TASK_INTERRUPTIBLE);
	next.count = KUNWIND_MAX_FRAMES;
	reports();
	tap_ok(told == 1 && last.stack.inner == KUNWIND_MAX_FRAMES, "the longest stack");
}

static void test_status(void)
{
	static struct seq_file m;

	emitted = 11;
	ran = 12;
	left_out = 13;
	kunwind_blocked_show(&m);
	tap_ok(!strcmp(m.text,
		       "stat\tblocked_emitted\t11\nstat\tblocked_ran\t12\nstat\tblocked_left_out\t13\n"),
	       "status: what was emitted, dropped and left out");
	kunwind_blocked_end(report);
	no_memory = 1;
	tap_ok(!kunwind_blocked_begin(), "no memory: no report");
	kunwind_blocked_end(NULL);
	listening = false;
	tap_ok(!kunwind_blocked_wanted(), "the event is off: no report is wanted");
}

int main(void)
{
	kunwind_quota_init();
	test_which();
	test_fields();
	test_ran();
	test_again();
	test_holder();
	test_limits();
	test_status();
	return tap_done();
}
