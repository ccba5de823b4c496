// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu_clock.c - sample each CPU by a timer of its own
 *
 * The timer fires at the times of a grid (grid.h). The weight of a sample is the
 * time since the last time of the grid that was accounted for: one period, or
 * more if the timer was late, because interrupts were off or a hypervisor ran
 * something else. So no time is lost; the status counts the late periods.
 *
 * An idle CPU is not woken: a timer that fires in the idle task is not started
 * again. A probe of sched_switch starts it when the CPU leaves the idle task.
 * It runs with the lock of the run queue held, like perf's own start of such a
 * timer. The timer expires in hard interrupt context on this CPU, so its start
 * wakes neither a softirq nor another CPU.
 *
 * After a sample, the timer waits at least as long as the sample took, but at most
 * MOST_PAUSE. So samples use at most half of a CPU, at any frequency and stack
 * depth. If a sample takes longer than MOST_PAUSE, a hypervisor or NMIs have
 * interrupted it: that time is not the sampler's.
 *
 * Cost while on: one call and one branch for each context switch, and the
 * samples. A sample runs in an interrupt of the sampled CPU. Its time counts as
 * time of the interrupted task (with CONFIG_IRQ_TIME_ACCOUNTING: of interrupts),
 * and is charged to no user's budget. Code that runs with interrupts off is
 * sampled when it turns them on.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/time64.h>
#include <linux/tracepoint.h>
#include <asm/irq_regs.h>
#include <trace/events/sched.h>

#include "../base/hook.h"
#include "../compat/hrtimer.h"
#include "cpu_clock.h"
#include "frequency.h"
#include "grid.h"
#include "take.h"

#define MOST_PAUSE	(10 * NSEC_PER_MSEC)

enum clock_state {
	OFF,
	RUNS,			/* the timer is started, or in its handler */
	IDLE,			/* the timer is not started: the CPU was idle */
};

struct cpu_clock {
	enum clock_state state;	/* changed on this CPU, with interrupts off */
	u64 accounted;		/* time of the grid up to which samples account */
	u64 overruns;		/* periods without a sample: a later one has their weight */
	struct hrtimer timer;
};

static DEFINE_PER_CPU(struct cpu_clock, clocks);
static struct tracepoint *sched_switch;

static __always_inline struct kunwind_grid grid_of_cpu(void)
{
	return kunwind_grid_of(kunwind_sample_hz(), smp_processor_id(), nr_cpu_ids);
}

/* Call it with interrupts off, on the CPU of @clock. */
static __always_inline void start(struct cpu_clock *clock)
{
	const struct kunwind_grid grid = grid_of_cpu();
	const u64 now = ktime_get();

	lockdep_assert_irqs_disabled();
	clock->state = RUNS;
	clock->accounted = kunwind_grid_last(grid, now);
	hrtimer_start(&clock->timer, kunwind_grid_next(grid, now), HRTIMER_MODE_ABS_PINNED_HARD);
}

static notrace enum hrtimer_restart fire(struct hrtimer *timer)
{
	struct cpu_clock *clock = this_cpu_ptr(&clocks);
	const struct kunwind_grid grid = grid_of_cpu();
	const u64 now = ktime_get(), last = kunwind_grid_last(grid, now);
	u64 end;

	if (clock->state != RUNS)
		return HRTIMER_NORESTART;
	if (is_idle_task(current)) {
		kunwind_sample_skip(KUNWIND_SKIP_IDLE);
		clock->state = IDLE;
		return HRTIMER_NORESTART;
	}
	/* After a change of the frequency, the new grid may have no later time yet. */
	if (last > clock->accounted) {
		clock->overruns += (last - clock->accounted - 1) / grid.period;
		kunwind_sample_take(get_irq_regs(), last - clock->accounted, KUNWIND_CLOCK_CPU);
		clock->accounted = last;
	}
	end = ktime_get();
	hrtimer_set_expires(timer, kunwind_grid_next(grid, end + min_t(u64, end - now, MOST_PAUSE)));
	return HRTIMER_RESTART;
}

/* Called with the lock of the run queue held. */
static notrace void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
				    struct task_struct *next, unsigned int prev_state)
{
	struct cpu_clock *clock = this_cpu_ptr(&clocks);

	if (unlikely(clock->state == IDLE) && !is_idle_task(next))
		start(clock);
}

int kunwind_cpu_clock_online(unsigned int cpu)
{
	struct cpu_clock *clock = per_cpu_ptr(&clocks, cpu);

	hrtimer_setup(&clock->timer, fire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	local_irq_disable();
	start(clock);
	local_irq_enable();
	return 0;
}

int kunwind_cpu_clock_offline(unsigned int cpu)
{
	struct cpu_clock *clock = per_cpu_ptr(&clocks, cpu);

	local_irq_disable();
	clock->state = OFF;		/* neither probe nor handler starts it again */
	local_irq_enable();
	hrtimer_cancel(&clock->timer);
	return 0;
}

int kunwind_cpu_clock_begin(void)
{
	check_trace_callback_type_sched_switch(on_sched_switch);
	sched_switch = kunwind_tracepoint_find("sched_switch");
	return sched_switch ? tracepoint_probe_register(sched_switch, on_sched_switch, NULL) :
			      -ENOENT;
}

void kunwind_cpu_clock_end(void)
{
	tracepoint_probe_unregister(sched_switch, on_sched_switch, NULL);
	tracepoint_synchronize_unregister();
}

void kunwind_cpu_clock_show(struct seq_file *m)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(&clocks, cpu)->overruns);
	seq_printf(m, "stat\tsample_overruns\t%llu\n", sum);
}
