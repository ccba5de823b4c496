// SPDX-License-Identifier: GPL-2.0-only
/*
 * nmi_counter.c - a counter of cycles for kunwind, on machines without a PMU
 *
 * An emulated machine has no performance counters, so the sampler's clock
 * "cycles" does not run in it. While this module is loaded, kprobes send
 * kunwind's calls of perf_event_create_kernel_counter() and
 * perf_event_release_kernel() to the functions below. Their counter overflows in
 * an NMI, like a real one: a timer of another CPU sends it as an interrupt
 * between processors, so it arrives at any instruction, also where interrupts are
 * off. A cycle is a nanosecond here. All other callers get perf's own functions.
 *
 * Parameters: error: creating a counter fails with this errno; busy: the counter
 * exists, but does not count (PERF_EVENT_STATE_ERROR). Read-only: counters: those
 * that exist; overflows: NMIs that called the sampler; off: those of them that
 * arrived while interrupts were off.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "../../../kmod/compat/hrtimer.h"

static int error;
module_param(error, int, 0644);
static bool busy;
module_param(busy, bool, 0644);
static atomic_t counters = ATOMIC_INIT(0);
static DEFINE_PER_CPU(unsigned int, overflowed);
static DEFINE_PER_CPU(unsigned int, with_interrupts_off);

struct counter {
	struct perf_event event;	/* must be first: kunwind has its address */
	perf_overflow_handler_t handler;
	struct hrtimer timer;
	u64 interval;
	atomic64_t cycles;		/* since the last overflow */
	int cpu;
};

static DEFINE_PER_CPU(struct counter *, here);

static int on_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct counter *counter = this_cpu_read(here);
	struct perf_sample_data data;

	if (!counter)
		return NMI_HANDLED;
	perf_sample_data_init(&data, 0, atomic64_xchg(&counter->cycles, 0));
	this_cpu_inc(overflowed);
	if (!(regs->flags & X86_EFLAGS_IF))
		this_cpu_inc(with_interrupts_off);
	counter->handler(&counter->event, &data, regs);
	return NMI_HANDLED;
}

/* Sends an NMI to the CPU of the counter, if another CPU is online: from there. */
static enum hrtimer_restart kick(struct hrtimer *timer)
{
	struct counter *counter = container_of(timer, struct counter, timer);
	u64 periods = hrtimer_forward_now(timer, ns_to_ktime(counter->interval));
	int target = cpumask_next(smp_processor_id(), cpu_online_mask);

	if (target >= nr_cpu_ids)
		target = cpumask_first(cpu_online_mask);
	counter = READ_ONCE(per_cpu(here, target));
	if (counter) {
		atomic64_add(periods * counter->interval, &counter->cycles);
		apic->send_IPI(target, NMI_VECTOR);
	}
	return HRTIMER_RESTART;
}

static struct perf_event *create(struct perf_event_attr *attr, int cpu, struct task_struct *task,
				 perf_overflow_handler_t handler, void *context)
{
	struct counter *counter;

	if (error)
		return ERR_PTR(error);
	counter = kzalloc(sizeof(*counter), GFP_KERNEL);
	if (!counter)
		return ERR_PTR(-ENOMEM);
	counter->event.state = busy ? PERF_EVENT_STATE_ERROR : PERF_EVENT_STATE_ACTIVE;
	counter->handler = handler;
	counter->cpu = cpu;
	counter->interval = NSEC_PER_SEC / attr->sample_freq;
	atomic_inc(&counters);
	if (busy)
		return &counter->event;
	WRITE_ONCE(per_cpu(here, cpu), counter);
	hrtimer_setup(&counter->timer, kick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&counter->timer, ns_to_ktime(counter->interval), HRTIMER_MODE_REL_PINNED_HARD);
	return &counter->event;
}

static int release(struct perf_event *event)
{
	struct counter *counter = container_of(event, struct counter, event);

	if (READ_ONCE(per_cpu(here, counter->cpu)) == counter) {
		hrtimer_cancel(&counter->timer);
		WRITE_ONCE(per_cpu(here, counter->cpu), NULL);
		/* Then no NMI and no other CPU's timer uses it any more. */
		synchronize_rcu();
	}
	kfree(counter);
	atomic_dec(&counters);
	return 0;
}

/* Returns whether the function that a probe is at was called by kunwind. */
static bool from_kunwind(const struct pt_regs *regs)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%pB", (void *)*(unsigned long *)regs->sp);
	return strstr(name, "[kunwind]");
}

static int at_create(struct kprobe *probe, struct pt_regs *regs)
{
	if (!from_kunwind(regs))
		return 0;
	regs->ip = (unsigned long)create;
	return 1;
}

static int at_release(struct kprobe *probe, struct pt_regs *regs)
{
	if (!from_kunwind(regs))
		return 0;
	regs->ip = (unsigned long)release;
	return 1;
}

static struct kprobe probes[] = {
	{ .symbol_name = "perf_event_create_kernel_counter", .pre_handler = at_create },
	{ .symbol_name = "perf_event_release_kernel", .pre_handler = at_release },
};

static int counters_get(char *to, const struct kernel_param *param)
{
	return sysfs_emit(to, "%d\n", atomic_read(&counters));
}

/*
 * A function for each per-CPU counter: from 7.2 on, the address of a per-CPU variable is not a
 * constant that a parameter's argument may have.
 */
static int sum_get(char *to, unsigned int __percpu *counter)
{
	unsigned int sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(counter, cpu));
	return sysfs_emit(to, "%u\n", sum);
}

static int overflows_get(char *to, const struct kernel_param *param)
{
	return sum_get(to, &overflowed);
}

static int off_get(char *to, const struct kernel_param *param)
{
	return sum_get(to, &with_interrupts_off);
}

static const struct kernel_param_ops counters_ops = { .get = counters_get };
static const struct kernel_param_ops overflows_ops = { .get = overflows_get };
static const struct kernel_param_ops off_ops = { .get = off_get };
module_param_cb(counters, &counters_ops, NULL, 0444);
module_param_cb(overflows, &overflows_ops, NULL, 0444);
module_param_cb(off, &off_ops, NULL, 0444);

static int __init nmi_counter_init(void)
{
	int err;

	err = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "nmi_counter");
	if (err)
		return err;
	for (int i = 0; i < ARRAY_SIZE(probes) && !err; i++) {
		err = register_kprobe(&probes[i]);
		if (err && i)
			unregister_kprobe(&probes[0]);
	}
	if (err)
		unregister_nmi_handler(NMI_LOCAL, "nmi_counter");
	return err;
}

/* Only while no counter exists: the test ends sampling first. */
static void __exit nmi_counter_exit(void)
{
	WARN_ON(atomic_read(&counters));
	for (int i = 0; i < ARRAY_SIZE(probes); i++)
		unregister_kprobe(&probes[i]);
	unregister_nmi_handler(NMI_LOCAL, "nmi_counter");
}

module_init(nmi_counter_init);
module_exit(nmi_counter_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("overflows of a counter of cycles in NMIs, for kunwind's sampler");
