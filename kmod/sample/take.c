// SPDX-License-Identifier: GPL-2.0-only
/*
 * take.c - take a sample of what this CPU executes
 *
 * The kernel part of the stack is walked by the kernel's own unwinder, from the
 * registers of the interrupt. The user part is walked whole, from the user
 * registers at the kernel entry, and numbered like the stacks of
 * kunwind_callstack (trace/stack_ids.c), with a table of its own.
 *
 * Runs in hard interrupts and NMIs. Memory: for each CPU 37 KB for the addresses
 * of a sample, and 84 KB for the ids, while the event is on. Cost of a sample:
 * docs/performance.md.
 */
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/syscall.h>
#include <asm/unwind.h>

#include "../base/enabled.h"
#include "../base/param.h"
#include "../stack/callstack.h"
#include "../stack/valid_regs.h"
#include "../trace/stack_ids.h"
#include "take.h"

/* perf lowers its sample rate for all users if NMIs take long. */
#define NMI_MAX_FRAMES	512

static bool sample_all;
KUNWIND_PARAM_BOOL(sample_all, sample_all);
MODULE_PARM_DESC(sample_all,
		 "sample all tasks, kernel threads too, not only registered processes (default N)");

/* Memory of the one sample that a CPU takes at a time. */
struct scratch {
	bool busy;
	u8 trust[KUNWIND_MAX_FRAMES];	/* before each use: REGISTERS, then only CFI */
	unsigned long addresses[KUNWIND_MAX_FRAMES];
	unsigned long kernel[KUNWIND_MAX_KERNEL_FRAMES];
};

/* Memory of one CPU: an element of an array of all possible CPUs. */
struct kunwind_sample_memory {
	struct scratch *scratch;
	struct kunwind_stack_ids *ids;
};

static struct kunwind_sample_memory __rcu *used;

static DEFINE_PER_CPU(u64, taken);
static DEFINE_PER_CPU(u64 [KUNWIND_NR_SKIPS], skipped);

void kunwind_sample_memory_free(struct kunwind_sample_memory *memory)
{
	int cpu;

	if (!memory)
		return;
	for_each_possible_cpu(cpu) {
		kvfree(memory[cpu].scratch);
		kunwind_stack_ids_free(memory[cpu].ids);
	}
	kvfree(memory);
}

struct kunwind_sample_memory *kunwind_sample_memory_alloc(void)
{
	struct kunwind_sample_memory *new = kvcalloc(nr_cpu_ids, sizeof(*new),
						     GFP_KERNEL | __GFP_NOWARN);
	struct scratch *scratch;
	int cpu;

	if (!new)
		return NULL;
	for_each_possible_cpu(cpu) {
		scratch = kvzalloc_node(sizeof(*scratch), GFP_KERNEL | __GFP_NOWARN,
					cpu_to_node(cpu));
		new[cpu].scratch = scratch;
		new[cpu].ids = kunwind_stack_ids_alloc(cpu);
		if (!scratch || !new[cpu].ids) {
			kunwind_sample_memory_free(new);
			return NULL;
		}
		memset(scratch->trust, KUNWIND_TRUST_CFI, KUNWIND_MAX_FRAMES);
		scratch->trust[0] = KUNWIND_TRUST_REGISTERS;
	}
	return new;
}

void kunwind_sample_memory_use(struct kunwind_sample_memory *memory)
{
	rcu_assign_pointer(used, memory);
}

void notrace kunwind_sample_skip(enum kunwind_skip why)
{
	this_cpu_inc(skipped[why]);
}

/* Returns the number of addresses in @store, which has room for 128. */
static notrace u32 walk_kernel(struct pt_regs *regs, unsigned long *store)
{
	struct unwind_state state;
	unsigned long address;
	u32 count = 0;

	store[count++] = regs->ip;
	for (unwind_start(&state, current, regs, NULL);
	     count < KUNWIND_MAX_KERNEL_FRAMES && !unwind_done(&state);
	     unwind_next_frame(&state)) {
		address = unwind_get_return_address(&state);
		if (!address)
			break;
		store[count++] = address;
	}
	return count;
}

/*
 * Walks the user part, from task_pt_regs(). @space: NULL if the process is not
 * registered; the program counter is then the only address.
 */
static notrace void walk_user(struct kunwind_stack *stack, struct scratch *scratch,
			      struct kunwind_space *space, struct pt_regs *regs)
{
	const struct pt_regs *user = task_pt_regs(current);
	struct kunwind_request request = {
		.consumer = KUNWIND_FOR_SAMPLER, .store = scratch->addresses,
		.trust = scratch->trust,
		.capacity = in_nmi() ? NMI_MAX_FRAMES : KUNWIND_MAX_FRAMES,
	};
	enum kunwind_reason excluded = KUNWIND_KTHREAD;

	/* A kernel thread, or the end of a task: no address space any more. */
	if (!current->mm)
		stack->reason = KUNWIND_KTHREAD;
	else if (!kunwind_regs_saved(regs))
		stack->reason = KUNWIND_REG_UNKNOWN;
	else
		stack->reason = excluded = kunwind_callstack_excluded(user);
	if (excluded == KUNWIND_KTHREAD)
		return;
	stack->syscall = user_mode(regs) ? -1 : syscall_get_nr(current, (struct pt_regs *)user);
	if (excluded == KUNWIND_COMPLETE && space) {
		stack->reason = kunwind_callstack_walk(space, user, KUNWIND_ALL_REGS, &request);
		stack->count = request.count;
		return;
	}
	if (excluded == KUNWIND_COMPLETE)
		stack->reason = KUNWIND_NO_OBJECT;
	scratch->addresses[0] = user->ip;
	stack->count = 1;
}

static notrace void emit(struct scratch *scratch, struct kunwind_stack_ids *ids,
			 struct kunwind_space *space, struct pt_regs *regs,
			 struct kunwind_sample *sample)
{
	struct kunwind_stack *stack = &sample->stack;

	*stack = (struct kunwind_stack){
		.addresses = scratch->addresses, .trust = scratch->trust,
		.tgid = current->tgid, .tid = current->pid, .syscall = -1,
	};
	walk_user(stack, scratch, space, regs);
	if (stack->count)
		kunwind_stack_ids_number(ids, stack);
	sample->kernel = scratch->kernel;
	sample->kernel_count = user_mode(regs) ? 0 : walk_kernel(regs, scratch->kernel);
	this_cpu_inc(taken);
	trace_kunwind_sample(sample);
	/* The walk may also have set the byte after the last frame's. */
	memset(scratch->trust + 1, KUNWIND_TRUST_CFI,
	       min_t(u32, stack->count, KUNWIND_MAX_FRAMES - 1));
}

/* Returns why no sample is taken, or KUNWIND_NR_SKIPS. */
static __always_inline enum kunwind_skip why_not(const struct kunwind_space *space,
						 const struct scratch *scratch)
{
	if (is_idle_task(current))
		return KUNWIND_SKIP_IDLE;
	if (!kunwind_allowed())
		return KUNWIND_SKIP_DISABLED;
	if (!space && !READ_ONCE(sample_all))
		return KUNWIND_SKIP_UNREGISTERED;
	return READ_ONCE(scratch->busy) ? KUNWIND_SKIP_NESTED : KUNWIND_NR_SKIPS;
}

void notrace kunwind_sample_take(struct pt_regs *regs, u64 period, enum kunwind_clock clock)
{
	struct kunwind_sample_memory *memory = rcu_dereference_sched(used);
	struct kunwind_sample sample = { .period = period, .clock = clock };
	struct kunwind_space *space;
	struct scratch *scratch;
	enum kunwind_skip skip;

	if (unlikely(!memory || !regs))
		return;
	scratch = memory[smp_processor_id()].scratch;
	space = current->mm ? kunwind_space_find(current->mm) : NULL;
	skip = why_not(space, scratch);
	if (skip != KUNWIND_NR_SKIPS) {
		kunwind_sample_skip(skip);
		return;
	}
	WRITE_ONCE(scratch->busy, true);
	barrier();
	emit(scratch, memory[smp_processor_id()].ids, space, regs, &sample);
	barrier();
	WRITE_ONCE(scratch->busy, false);
}

void kunwind_sample_take_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tsample_all\t%c\n", READ_ONCE(sample_all) ? 'Y' : 'N');
}

void kunwind_sample_take_show(struct seq_file *m)
{
#define KUNWIND_SKIP_NAME(skip, name)	name,
	static const char *const names[] = { KUNWIND_SKIP_NAMES(KUNWIND_SKIP_NAME) };
#undef KUNWIND_SKIP_NAME
	u64 sum = 0, by_skip[KUNWIND_NR_SKIPS] = { };
	int cpu;
	u32 i;

	for_each_possible_cpu(cpu) {
		sum += READ_ONCE(*per_cpu_ptr(&taken, cpu));
		for (i = 0; i < KUNWIND_NR_SKIPS; i++)
			by_skip[i] += READ_ONCE((*per_cpu_ptr(&skipped, cpu))[i]);
	}
	seq_printf(m, "stat\tsamples\t%llu\n", sum);
	for (i = 0; i < KUNWIND_NR_SKIPS; i++)
		seq_printf(m, "stat\tsamples_skipped_%s\t%llu\n", names[i], by_skip[i]);
}
