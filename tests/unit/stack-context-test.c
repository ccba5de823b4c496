/* SPDX-License-Identifier: MIT */
/*
 * stack-context-test.c - the id of an event's stack: it is that of the thread's stack at
 * its first event in this kernel entry, and is defined before the next event needs it
 */
#include "kernel.h"
#include "pt-regs.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define this_cpu_inc_return(x)	(++(x))
#define smp_processor_id()	0
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define hash_ptr(p, bits)	((void)(p), shared_place)
static u32 shared_place = 5;		/* all tasks share it */
#define BIT_ULL(n)		(1ULL << (n))
#define PID_MAX_LIMIT		(1 << 22)
#define syscall_get_nr(task, regs)	((int)(regs)->orig_ax)
static u8 level;
#define interrupt_context_level()	level
static struct pt_regs user;
#define task_pt_regs(task)	(&user)
static struct thread_info { unsigned long syscall_work; } thread_info;
#define current_thread_info()	(&thread_info)
#define SYSCALL_WORK_SECCOMP			1UL
#define SYSCALL_WORK_SYSCALL_TRACEPOINT		2UL
#define SYSCALL_WORK_SYSCALL_AUDIT		16UL
#define SYSCALL_WORK_SYSCALL_USER_DISPATCH	32UL

struct pmu;
struct perf_event {
	struct { u32 type; u64 config; } attr;
	struct pmu *pmu;
	int cpu;
	u64 count;
	bool sampling;
	void (*destroy)(struct perf_event *event);
};
struct pmu {
	void *module;
	u32 type;
	int task_ctx_nr, capabilities;
	int (*event_init)(struct perf_event *event);
	int (*add)(struct perf_event *event, int flags);
	void (*del)(struct perf_event *event, int flags);
	void (*start)(struct perf_event *event, int flags);
	void (*stop)(struct perf_event *event, int flags);
	void (*read)(struct perf_event *event);
};
#define THIS_MODULE			NULL
#define perf_invalid_context		-1
#define PERF_PMU_CAP_NO_EXCLUDE		0
#define PERF_PMU_CAP_NO_INTERRUPT	0
#define local64_set(to, value)		(*(to) = (value))
#define pr_notice(...)			do { } while (0)
#define is_sampling_event(event)	((event)->sampling)
static bool capable_of_perf = true;
#define perfmon_capable()		capable_of_perf
static int register_error;
static unsigned int pmus;
static int perf_pmu_register(struct pmu *pmu, const char *name, int type)
{
	(void)name, (void)type;
	pmu->type = 40;
	pmus += !register_error;
	return register_error;
}
static void perf_pmu_unregister(struct pmu *pmu) { (void)pmu; pmus--; }

#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#define _KUNWIND_EVENTS_H
#define _KUNWIND_VALID_REGS_H
#define kunwind_valid_regs(regs)	KUNWIND_ALL_REGS
#include "../../kmod/trace/stack.h"
static void heard(const struct kunwind_stack *stack);
static bool on = true;
#define trace_kunwind_callstack_whole_enabled()	on
#define trace_kunwind_callstack_enabled()	false
#define trace_kunwind_callstack_whole(stack)	heard(stack)
#include "../../kmod/trace/stack_ids.c"
#include "../../kmod/stack/stack_context.c"

/* kernel_context.c: kernel-context-test has its tests */
#define KERNEL_ID	0x123456789abcULL
static int kernel_error, kernel_users;
int kunwind_kernel_context_get(void) { kernel_users += !kernel_error; return kernel_error; }
void kunwind_kernel_context_put(void) { kernel_users--; }
u64 kunwind_kernel_context_id(void) { return KERNEL_ID; }
#include "stack-reader.h"

/* --------------------------------------------- what stack_context.c calls */

static struct task_struct tasks[2] = {
	{ .pid = 101, .tgid = 100, .start_time = 7, .comm = "one" },
	{ .pid = 102, .tgid = 100, .start_time = 8, .comm = "two" },
};
static struct kunwind_space space;
static bool excluded, registered_process = true;
struct kunwind_emitter *kunwind_emitter;

/* The user's stack now: @frames addresses that depend on @seed. */
static u32 frames, seed;
static enum kunwind_reason reason;
static bool fresh;			/* a walk gets the first address only, and leaves the note */
static unsigned int walks, replays;
static void (*in_walk)(void);

static unsigned long frame(u32 i) { return i ? 0x1000 * seed + i : user.ip; }

struct kunwind_space *kunwind_space_find(const struct mm_struct *mm)
{
	(void)mm;
	return registered_process ? &space : NULL;
}

enum kunwind_reason kunwind_callstack_excluded(const struct pt_regs *of)
{
	(void)of;
	return excluded ? KUNWIND_KTHREAD : KUNWIND_COMPLETE;
}

void kunwind_stack_event_walk(struct kunwind_scratch *scratch, struct kunwind_space *of,
			      const struct pt_regs *at, u32 valid, struct kunwind_replay *replay,
			      struct kunwind_stack *stack)
{
	u32 i;

	(void)of, (void)at, (void)valid;
	walks++;
	if (in_walk)
		in_walk();
	for (i = 0; i < frames; i++)
		scratch->addresses[i] = frame(i);
	*stack = (struct kunwind_stack){
		.addresses = scratch->addresses, .trust = scratch->trust, .tgid = current->tgid,
		.tid = current->pid, .syscall = (int)user.orig_ax, .count = fresh ? 1 : frames,
		.reason = reason,
	};
	memcpy(stack->comm, current->comm, sizeof(stack->comm));
	if (!replay || fresh)
		return;
	replay->id = reason == KUNWIND_COMPLETE && frames <= KUNWIND_REPLAY_FRAMES;
	replay->ip = user.ip;
	replay->count = frames;
	for (i = 0; i < frames && i <= KUNWIND_REPLAY_FRAMES; i++)
		replay->address[i] = frame(i);
}

void kunwind_stack_event_done(struct kunwind_scratch *scratch, const struct kunwind_stack *stack)
{
	(void)scratch, (void)stack;
}

bool kunwind_callstack_replay(struct kunwind_space *of, const struct pt_regs *at, u32 valid,
			      struct kunwind_replay *replay, enum kunwind_consumer consumer,
			      unsigned long *store, u32 *count)
{
	u32 i;

	(void)of, (void)at, (void)valid, (void)consumer;
	if (fresh || !replay->id || replay->ip != user.ip || replay->count != frames)
		return false;
	for (i = 1; i < frames; i++)
		if (replay->address[i] != frame(i))
			return false;
	replays++;
	*count = frames;
	memcpy(store, replay->address, frames * sizeof(*store));
	return true;
}

/* --------------------------------------------------------------- the scene */

static struct reader reader;
static unsigned int definitions;
static u64 last_call;
static struct perf_event event = { .pmu = &pmu };

static void heard(const struct kunwind_stack *stack)
{
	definitions++;
	read_event(&reader, stack);
}

/* A system call begins. */
static void enters(int number)
{
	user.orig_ax = (unsigned long)number;
	user.ax = (unsigned long)-38;
	kunwind_emitter->call[shared_place] = ++last_call;
}

static u64 value(void)
{
	pmu.read(&event);
	return event.count;
}

static u64 id(void) { return value() >> TID_BITS; }

/* An event: is its stack, by what the reader knows, the user's stack of @of, with @as_of frames? */
static bool right(u32 of, u32 as_of)
{
	const u64 got = value();
	const struct kunwind_stack *stack;
	u32 i, before = seed;
	bool ok;

	if (got & BIT_ULL(63) || (got & (BIT_ULL(TID_BITS) - 1)) != (u64)current->pid)
		return false;
	stack = *place(&reader, got >> TID_BITS);
	ok = stack && stack->tid == current->pid && stack->tgid == current->tgid &&
	     stack->count == as_of &&
	     stack->syscall == (int)user.orig_ax && !memcmp(stack->comm, current->comm, sizeof(stack->comm));
	seed = of;
	for (i = 0; ok && i < as_of; i++)
		ok = stack->addresses[i] == frame(i);
	seed = before;
	return ok;
}

static void begin(void)
{
	static struct kunwind_scratch scratch[KUNWIND_CONTEXTS];
	u32 i;

	if (!kunwind_emitter) {
		kunwind_emitter = calloc(1, sizeof(*kunwind_emitter) + sizeof(kunwind_emitter->cpu[0]));
		kunwind_emitter->cpu[0].notes = calloc(1 << KUNWIND_NOTE_BITS,
						       sizeof(struct kunwind_note_set));
		kunwind_emitter->cpu[0].ids = kunwind_stack_ids_alloc(0);
		kunwind_emitter->cpu[0].scratch = scratch;
		for (i = 0; i < KUNWIND_CONTEXTS; i++) {
			memset(scratch[i].trust, KUNWIND_TRUST_CFI, KUNWIND_MAX_FRAMES);
			scratch[i].trust[0] = KUNWIND_TRUST_REGISTERS;
		}
	}
	kunwind_emitter->probing = true;
	current = &tasks[0];
	strcpy(tasks[0].comm, "one");
	user = (struct pt_regs){ .ip = 0x400000, .sp = 0x7000, .orig_ax = 0 };
	frames = 10;
	seed++;
	reason = KUNWIND_COMPLETE;
	thread_info.syscall_work = SYSCALL_WORK_SYSCALL_TRACEPOINT;
	excluded = fresh = false;
	registered_process = on = true;
	level = 0;
	in_walk = NULL;
	walks = replays = definitions = 0;
}

/* ---------------------------------------------------------------- the tests */

static void test_call(void)
{
	u64 first;

	begin();
	enters(1);
	tap_ok(right(seed, 10) && walks == 1 && definitions == 1, "system call: its stack is defined");
	first = id();
	user.ax = 7;
	tap_ok(id() == first && walks == 1 && !replays && definitions == 1,
	       "end of a system call: the same id, without a walk");
	enters(1);
	tap_ok(id() == first && walks == 1 && replays == 1 && definitions == 1,
	       "next call with the same stack: the same id, by the note of the walk");
	seed++;
	enters(1);
	tap_ok(right(seed, 10) && walks == 2,
	       "next call with the same registers and another stack: its own id");
	enters(2);
	tap_ok(right(seed, 10) && id() != first, "another call with the same stack: its own id");
	kunwind_stack_restart();
	tap_ok(right(seed, 10) && definitions == 4,
	       "a session begins: the id is defined again within the call");
	tap_ok(right(seed, 10) && definitions == 4, "a session begins: the id is defined once");
	strcpy(current->comm, "new");
	tap_ok(right(seed, 10) && definitions == 5,
	       "the thread gets another name within the call: another id");
}

static void test_same_entry(void)
{
	unsigned long *words = (unsigned long *)&user;
	bool ok = true;
	u32 i;

	for (i = 0; i < sizeof(user) / sizeof(*words); i++) {
		begin();
		enters(3);
		value();
		seed++;
		if (&words[i] == &user.ax)
			continue;
		words[i] ^= 16;
		ok = ok && right(seed, 10);
	}
	tap_ok(ok, "a register changes within a call: the stack is walked again");
	begin();
	enters(3);
	value();
	user.orig_ax = -1UL;
	seed++;
	tap_ok(right(seed, 10), "interrupt after a call, with the same registers: the stack is walked");
	seed++;
	tap_ok(right(seed, 10), "second interrupt with the same registers: the stack is walked");
	begin();
	enters(-1);
	value();
	seed++;
	tap_ok(right(seed, 10), "a call with the number -1: the stack is walked at each event");
	begin();
	thread_info.syscall_work |= SYSCALL_WORK_SECCOMP;
	enters(3);
	value();
	seed++;
	tap_ok(right(seed, 10), "a call that seccomp may have ended before the probe: the stack is walked");
	begin();
	thread_info.syscall_work |= SYSCALL_WORK_SYSCALL_USER_DISPATCH;
	enters(3);
	value();
	seed++;
	tap_ok(right(seed, 10), "a task with user dispatch: the stack is walked");
	begin();
	enters(3);
	value();
	kunwind_emitter->probing = false;
	seed++;
	tap_ok(right(seed, 10), "the probe of sys_enter is not attached: the stack is walked");
	begin();
	reason = KUNWIND_NOT_READY;
	enters(3);
	value();
	reason = KUNWIND_COMPLETE;
	seed++;
	tap_ok(right(seed, 10), "the first walk of the call ended early: the stack is walked again");
}

static void test_tasks(void)
{
	u32 of_one;

	begin();
	enters(4);
	value();
	of_one = seed++;
	current = &tasks[1];
	tap_ok(right(seed, 10), "another thread with the same registers and the same place: its own stack");
	current = &tasks[0];
	seed = of_one;
	tap_ok(right(of_one, 10), "the first thread again, in its call: its own stack");
	begin();
	enters(4);
	value();
	current->start_time++;
	seed++;
	tap_ok(right(seed, 10), "a new thread has the number of one that ended: its own stack");
	current->start_time--;
	begin();
	enters(4);
	value();
	current = &tasks[1];
	enters(4);
	tap_ok(right(seed, 10), "threads with equal stacks: an id for each");
}

static void test_notes(void)
{
	u32 old;

	begin();
	enters(5);
	value();
	fresh = true;
	enters(5);
	tap_ok(right(seed, 1), "a walk that leaves the note as it was: its own stack");
	fresh = false;
	enters(5);
	tap_ok(right(seed, 10), "the noted walk again: its own stack, not the one between");
	begin();
	frames = KUNWIND_REPLAY_FRAMES + 1;
	enters(5);
	tap_ok(right(seed, frames), "a stack too deep for a note");
	seed++;
	enters(5);
	tap_ok(right(seed, frames), "another one at the same place");
	frames = 10;
	enters(5);
	tap_ok(right(seed, 10), "a short stack at the same place");
	begin();
	old = walks;
	enters(5);
	value();
	level = 3;
	user.orig_ax = -1UL;
	tap_ok(right(seed, 10) && walks == old + 2 && !replays, "an NMI does not use the notes of tasks");
}

/* The next place in the code whose note is in the same set. */
static void next_place(void)
{
	const u32 set = (user.ip ^ user.sp << 20) * GOLDEN_RATIO_64 >> (64 - KUNWIND_NOTE_BITS);

	do
		user.ip++;
	while ((user.ip ^ user.sp << 20) * GOLDEN_RATIO_64 >> (64 - KUNWIND_NOTE_BITS) != set);
}

/* A note that is used for another place has nothing of the old one. */
static void test_used_again(void)
{
	u32 i;

	begin();
	frames = KUNWIND_REPLAY_FRAMES + 1;
	for (i = 0; i < KUNWIND_NOTE_WAYS; i++, next_place()) {
		enters(5);
		value();
	}
	frames = 10;
	enters(5);
	tap_ok(right(seed, 10) && !replays, "a note that is used again: the stack is walked");
	enters(5);
	tap_ok(right(seed, 10) && replays == 1,
	       "a note that is used again: notes a short stack, though the old one was too deep");
}

static u64 nested;
static void read_again(void)
{
	in_walk = NULL;
	nested = value();
}

static void test_none(void)
{
	const u64 none = BIT_ULL(63) | 100ULL << TID_BITS | 101;

	begin();
	enters(6);
	registered_process = false;
	tap_ok(value() == none, "process that is not registered: no stack; thread and process are known");
	registered_process = true;
	excluded = true;
	tap_ok(value() == none, "kernel thread: no stack");
	excluded = false;
	on = false;
	tap_ok(value() == none && !walks, "kunwind_callstack is off: no stack, no walk");
	on = true;
	in_walk = read_again;
	tap_ok(right(seed, 10) && nested == none, "an event in a walk: no stack, and the walk's is right");
}

static void test_pmu(void)
{
	kunwind_stack_context_init();
	event.attr.type = pmu.type;
	tap_ok(pmus == 1 && !pmu.event_init(&event), "the counter can be opened");
	event.attr.type++;
	tap_ok(pmu.event_init(&event) == -ENOENT, "an event of another PMU is refused");
	event.attr.type--;
	event.attr.config = 2;
	tap_ok(pmu.event_init(&event) == -EINVAL, "an unknown counter is refused");
	event.attr.config = 1;
	kernel_error = -ENOMEM;
	tap_ok(pmu.event_init(&event) == -ENOMEM && !event.destroy,
	       "a counter of kernel stacks without memory is refused");
	kernel_error = 0;
	tap_ok(!pmu.event_init(&event) && kernel_users == 1 && value() == KERNEL_ID,
	       "a counter of kernel stacks has their id");
	event.destroy(&event);
	tap_ok(!kernel_users, "its end frees its memory");
	event.attr.config = 0;
	event.cpu = -1;
	tap_ok(pmu.event_init(&event) == -EINVAL, "a counter of a task is refused");
	event.cpu = 0;
	event.sampling = true;
	tap_ok(pmu.event_init(&event) == -EINVAL, "sampling is refused");
	event.sampling = false;
	capable_of_perf = false;
	tap_ok(pmu.event_init(&event) == -EACCES, "a user without rights is refused");
	kunwind_stack_context_exit();
	tap_ok(!pmus, "unloading removes the PMU");
	register_error = -ENOMEM;
	kunwind_stack_context_init();
	kunwind_stack_context_exit();
	tap_ok(!pmus, "a PMU that could not be made is not removed");
}

int main(void)
{
	test_call();
	test_same_entry();
	test_tasks();
	test_notes();
	test_used_again();
	test_none();
	test_pmu();
	return tap_done();
}
