/* SPDX-License-Identifier: MIT */
/*
 * take-test.c - one sample: whether it is taken, what its event has, and what is
 * left for the next one
 */
#include "kernel.h"
#include "pt-regs.h"
#include "tap.h"

#include "../../kmod/uapi/kunwind.h"

/* ------------------------------------------------- the kernel, with two CPUs */

#define CPUS			2
#define nr_cpu_ids		CPUS
static int cpu_number;
#define smp_processor_id()	(preemptible() ? abort(), 0 : cpu_number)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < CPUS; (cpu)++)
/* The names of variables of each CPU stand for those of this CPU. */
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name##_of[CPUS]
#define taken			(taken_of[cpu_number])
#define skipped			(skipped_of[cpu_number])
#define per_cpu_ptr(p, cpu)	((p) - cpu_number + (cpu))
#define this_cpu_inc(x)		((x)++)
#define kvcalloc(n, size, gfp)	kvzalloc((n) * (size), gfp)
static int fails;		/* which of the next allocations for a CPU fails; 0: none */
#undef kvzalloc_node
#define kvzalloc_node(size, gfp, node)	(fails && !--fails ? NULL : kernel_alloc(size, gfp, node, true, true))

static struct pt_regs user_regs, kernel_regs;
static struct task_struct task, idle;
static bool nmi, saved;
#define in_nmi()		nmi
#define user_mode(regs)		((regs)->cs == __USER_CS)
#define task_pt_regs(task)	(&user_regs)
#define syscall_get_nr(task, regs)	((int)(regs)->orig_ax)
#define is_idle_task(task)	((task) == &idle)

/* The kernel's unwinder: return addresses from 0x1001 on, as many as there are. */
struct unwind_state { unsigned long at; };
static unsigned long kernel_frames, bad_frame;
static void unwind_start(struct unwind_state *state, struct task_struct *of, struct pt_regs *regs, void *sp)
{
	if (of != current || regs != &kernel_regs)
		wrong("another stack");
	state->at = 1;
}
static bool unwind_done(const struct unwind_state *state) { return state->at > kernel_frames; }
static void unwind_next_frame(struct unwind_state *state) { state->at++; }
static unsigned long unwind_get_return_address(const struct unwind_state *state)
{
	return state->at == bad_frame ? 0 : 0x1000 + state->at;
}

#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#define _KUNWIND_VALID_REGS_H
#define kunwind_regs_saved(regs)	(saved)
#define _KUNWIND_PARAM_H
#define KUNWIND_PARAM_BOOL(name, variable)	extern int unused_param_##name
#define _KUNWIND_ENABLED_H
static bool allowed;
#define kunwind_allowed()	allowed

struct kunwind_sample;
static void trace_kunwind_sample(const struct kunwind_sample *sample);

#include "../../kmod/sample/take.c"

/* ------------------------------------------------------------- other files */

static struct kunwind_space space;
static struct mm_struct mm;
static bool registered;
static enum kunwind_reason excluded, ends;
static u32 frames;
static bool beyond;			/* the walk also sets the byte after the last frame's */
static unsigned int walks, capacity, numbered;
static struct kunwind_stack_ids { int cpu; } ids[CPUS];
static unsigned int ids_used;

struct kunwind_space *kunwind_space_find(const struct mm_struct *of)
{
	if (of != &mm)
		wrong("another mm");
	return registered ? &space : NULL;
}
enum kunwind_reason kunwind_callstack_excluded(const struct pt_regs *regs)
{
	if (regs != &user_regs)
		wrong("not the user's registers");
	return excluded;
}
static void (*in_walk)(void);
enum kunwind_reason kunwind_callstack_walk(struct kunwind_space *of, const struct pt_regs *regs, u32 valid,
					   struct kunwind_request *request)
{
	u32 i;

	if (of != &space || regs != &user_regs || valid != KUNWIND_ALL_REGS ||
	    request->consumer != KUNWIND_FOR_SAMPLER)
		wrong("another walk");
	for (i = 0; i < request->capacity; i++)
		if (request->trust[i] != (i ? KUNWIND_TRUST_CFI : KUNWIND_TRUST_REGISTERS))
			wrong("trust %u is %u", i, request->trust[i]);
	walks++;
	capacity = request->capacity;
	request->count = min(frames, request->capacity);
	for (i = 0; i < request->count; i++) {
		request->store[i] = 0x5000 + i;
		request->trust[i] = i ? KUNWIND_TRUST_SCAN : KUNWIND_TRUST_REGISTERS;
	}
	if (beyond && i < request->capacity)
		request->trust[i] = KUNWIND_TRUST_SIGNAL;
	if (in_walk)
		in_walk();
	return ends;
}
struct kunwind_stack_ids *kunwind_stack_ids_alloc(int cpu)
{
	ids_used++;
	ids[cpu].cpu = cpu;
	return fails && !--fails ? (ids_used--, NULL) : &ids[cpu];
}
void kunwind_stack_ids_free(struct kunwind_stack_ids *of) { ids_used -= !!of; }
void kunwind_stack_ids_number(struct kunwind_stack_ids *of, struct kunwind_stack *stack)
{
	if (of != &ids[cpu_number])
		wrong("ids of CPU %d", of->cpu);
	stack->id = ++numbered;
}

/* The event. */
static struct kunwind_sample seen;
static unsigned int events;
static unsigned long seen_first, seen_kernel[KUNWIND_MAX_KERNEL_FRAMES];
static bool trust_right;
static void trace_kunwind_sample(const struct kunwind_sample *sample)
{
	u32 i;

	seen = *sample;
	events++;
	seen_first = sample->stack.count ? sample->stack.addresses[0] : 0;
	memcpy(seen_kernel, sample->kernel, sample->kernel_count * sizeof(seen_kernel[0]));
	trust_right = !sample->stack.count || sample->stack.trust[0] == KUNWIND_TRUST_REGISTERS;
	for (i = 1; i < sample->stack.count; i++)
		trust_right &= sample->stack.trust[i] == KUNWIND_TRUST_SCAN;
}

/* --------------------------------------------------------------- the scene */

static void take(struct pt_regs *regs)
{
	preempt_disable();
	kunwind_sample_take(regs, 12345, nmi ? KUNWIND_CLOCK_CYCLES : KUNWIND_CLOCK_CPU);
	preempt_enable();
}

static void reset(void)
{
	task = (struct task_struct){ .pid = 101, .tgid = 100, .mm = &mm };
	current = &task;
	registered = allowed = saved = true;
	nmi = sample_all = beyond = false;
	excluded = ends = KUNWIND_COMPLETE;
	frames = 3;
	kernel_frames = 5;
	bad_frame = 0;
	user_regs = (struct pt_regs){ .ip = 0x5000, .cs = __USER_CS, .orig_ax = 42 };
	kernel_regs = (struct pt_regs){ .ip = 0x1000, .cs = 0x10, .orig_ax = -1 };
	memset(&seen, 0xff, sizeof(seen));
	events = walks = 0;
	in_walk = NULL;
	cpu_number = 0;
}

/* Returns whether exactly one sample was skipped on this CPU, because of @why. */
static bool skips(enum kunwind_skip why)
{
	u64 before[KUNWIND_NR_SKIPS];
	unsigned int i;
	bool right = true;

	memcpy(before, skipped, sizeof(before));
	events = 0;
	take(&user_regs);
	for (i = 0; i < KUNWIND_NR_SKIPS; i++)
		right &= skipped[i] == before[i] + (i == why);
	return right && !events;
}

static void test_event(void)
{
	reset();
	take(&user_regs);
	tap_ok(events == 1 && seen.period == 12345 && seen.clock == KUNWIND_CLOCK_CPU &&
	       seen.stack.tgid == 100 &&
	       seen.stack.tid == 101, "event: weight, clock, process and thread");
	tap_ok(seen.stack.count == 3 && seen_first == 0x5000 && trust_right && seen.stack.id == numbered &&
	       seen.stack.reason == KUNWIND_COMPLETE, "user code: the stack, its trust and its id");
	tap_ok(seen.stack.syscall == -1 && !seen.kernel_count, "user code: no system call, no kernel part");
	reset();
	ends = KUNWIND_NO_RULE;
	take(&kernel_regs);
	tap_ok(seen.stack.syscall == 42 && seen.stack.count == 3 && seen.stack.reason == KUNWIND_NO_RULE,
	       "kernel code: the system call, and the user stack with its reason");
	tap_ok(seen.kernel_count == 6 && seen_kernel[0] == 0x1000 && seen_kernel[1] == 0x1001 &&
	       seen_kernel[5] == 0x1005,
	       "kernel code: the program counter, then the return addresses");
	kernel_frames = 1000;
	take(&kernel_regs);
	tap_ok(seen.kernel_count == KUNWIND_MAX_KERNEL_FRAMES && seen_kernel[KUNWIND_MAX_KERNEL_FRAMES - 1] ==
	       0x1000 + KUNWIND_MAX_KERNEL_FRAMES - 1,
	       "kernel code: at most as many addresses as there is room for");
	bad_frame = 4;
	take(&kernel_regs);
	tap_ok(seen.kernel_count == 4, "kernel code: the part ends where there is no address");
}

static void test_no_stack(void)
{
	reset();
	registered = false;
	sample_all = true;
	take(&user_regs);
	tap_ok(events == 1 && !walks && seen.stack.count == 1 && seen_first == 0x5000 && trust_right &&
	       seen.stack.reason == KUNWIND_NO_OBJECT && seen.stack.id == numbered,
	       "sample_all: a process that is not registered has its program counter");
	task.mm = NULL;
	take(&kernel_regs);
	tap_ok(events == 2 && !seen.stack.count && seen.stack.reason == KUNWIND_KTHREAD && !seen.stack.id &&
	       seen.kernel_count == 6 && seen.stack.syscall == -1,
	       "sample_all: a kernel thread has the kernel part only");
	reset();
	excluded = KUNWIND_KTHREAD;
	take(&kernel_regs);
	tap_ok(!walks && !seen.stack.count && seen.stack.reason == KUNWIND_KTHREAD &&
	       seen.stack.syscall == -1,
	       "a worker of io_uring has no user part");
	reset();
	excluded = KUNWIND_CODE_SEGMENT;
	take(&user_regs);
	tap_ok(!walks && seen.stack.count == 1 && seen_first == 0x5000 &&
	       seen.stack.reason == KUNWIND_CODE_SEGMENT,
	       "a stack that is not walked: the program counter, and the reason");
	reset();
	saved = false;
	nmi = true;
	take(&kernel_regs);
	tap_ok(!walks && !seen.stack.count && seen.stack.reason == KUNWIND_REG_UNKNOWN &&
	       seen.stack.syscall == -1 &&
	       seen.clock == KUNWIND_CLOCK_CYCLES, "an NMI in the entry code: no user part");
}

static void test_skips(void)
{
	reset();
	current = &idle;
	tap_ok(skips(KUNWIND_SKIP_IDLE), "skipped: the idle task");
	reset();
	allowed = false;
	tap_ok(skips(KUNWIND_SKIP_DISABLED), "skipped: kunwind is disabled");
	allowed = true;
	registered = false;
	tap_ok(skips(KUNWIND_SKIP_UNREGISTERED), "skipped: a process that is not registered");
	allowed = false;
	tap_ok(skips(KUNWIND_SKIP_DISABLED),
	       "skipped: kunwind is disabled, and the process is not registered");
	current = &idle;
	tap_ok(skips(KUNWIND_SKIP_IDLE), "skipped: kunwind is disabled, and the CPU is idle");
	current = &task;
	sample_all = true;
	tap_ok(skips(KUNWIND_SKIP_DISABLED), "skipped: with sample_all, too");
	reset();
	take(NULL);
	tap_ok(!events, "no registers: no sample");
}

static bool other_registered = true;	/* the process of the nested sample */
static void nested(void)
{
	in_walk = NULL;
	nmi = true;
	registered = other_registered;
	take(&kernel_regs);
	nmi = false;
	registered = true;
}

static void test_nested(void)
{
	u64 before, others;

	reset();
	before = skipped[KUNWIND_SKIP_NESTED];
	in_walk = nested;
	take(&user_regs);
	tap_ok(events == 1 && walks == 1 && seen.clock == KUNWIND_CLOCK_CPU &&
	       skipped[KUNWIND_SKIP_NESTED] == before + 1,
	       "nested: an NMI during a sample takes none, and the sample is complete");
	take(&user_regs);
	tap_ok(events == 2, "nested: the next sample is taken");
	before = skipped[KUNWIND_SKIP_NESTED];
	others = skipped[KUNWIND_SKIP_UNREGISTERED];
	other_registered = false;
	in_walk = nested;
	take(&user_regs);
	tap_ok(skipped[KUNWIND_SKIP_NESTED] == before && skipped[KUNWIND_SKIP_UNREGISTERED] == others + 1,
	       "nested, and not registered: counts as not registered");
}

/* What a walk leaves in the memory of its CPU must not be in the next sample. */
static void test_left_over(void)
{
	unsigned int i;

	reset();
	beyond = true;
	for (i = 0; i < 4; i++) {
		static const u32 lengths[] = { 7, KUNWIND_MAX_FRAMES, 2, KUNWIND_MAX_FRAMES - 1 };

		frames = lengths[i];
		take(&user_regs);
	}
	frames = 1;
	take(&user_regs);
	frames = 5;
	take(&user_regs);
	tap_ok(events == 6 && trust_right, "left over: each walk finds the trust of a fresh stack");
	tap_ok(capacity == KUNWIND_MAX_FRAMES, "an interrupt: a stack has up to 4,096 frames");
	nmi = true;
	frames = 1000;
	take(&user_regs);
	tap_ok(capacity == 512 && seen.stack.count == 512, "an NMI: a stack has up to 512 frames");
	nmi = false;
	frames = 2;
	take(&user_regs);
	cpu_number = 1;
	take(&user_regs);
	tap_ok(events == 9 && taken_of[1] == 1, "each CPU has memory and a count of its own");
}

static void test_memory(void)
{
	struct kunwind_sample_memory *memory;

	for (fails = 1; fails <= 2 * CPUS;) {
		int which = fails;

		memory = kunwind_sample_memory_alloc();
		if (memory || ids_used)
			break;
		fails = which + 1;
	}
	tap_ok(fails == 2 * CPUS + 1, "no memory: none of any CPU is left");
	fails = 0;
	no_memory = 1;
	tap_ok(!kunwind_sample_memory_alloc(), "no memory for the list of CPUs");
	reset();
	take(&user_regs);
	tap_ok(!events, "without memory, no sample is taken");
	memory = kunwind_sample_memory_alloc();
	kunwind_sample_memory_use(memory);
}

static void test_status(void)
{
	static struct seq_file m;

	memset(taken_of, 0, sizeof(taken_of));
	memset(skipped_of, 0, sizeof(skipped_of));
	taken_of[0] = 2;
	taken_of[1] = 3;
	skipped_of[0][KUNWIND_SKIP_IDLE] = 4;
	skipped_of[1][KUNWIND_SKIP_UNREGISTERED] = 5;
	skipped_of[0][KUNWIND_SKIP_DISABLED] = 6;
	skipped_of[1][KUNWIND_SKIP_NESTED] = 7;
	sample_all = true;
	kunwind_sample_take_show_params(&m);
	kunwind_sample_take_show(&m);
	tap_ok(!strcmp(m.text, "param\tsample_all\tY\nstat\tsamples\t5\nstat\tsamples_skipped_idle\t4\n"
		       "stat\tsamples_skipped_unregistered\t5\nstat\tsamples_skipped_disabled\t6\n"
		       "stat\tsamples_skipped_nested\t7\n"), "status: the sums over all CPUs, by cause");
}

int main(void)
{
	struct kunwind_sample_memory *memory;

	test_memory();
	memory = used;
	test_event();
	test_no_stack();
	test_skips();
	test_nested();
	test_left_over();
	test_status();
	kunwind_sample_memory_use(NULL);
	kunwind_sample_memory_free(memory);
	tap_ok(!ids_used, "the memory of all CPUs is freed");
	kunwind_sample_memory_free(NULL);
	return tap_done();
}
