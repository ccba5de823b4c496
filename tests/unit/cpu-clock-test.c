/* SPDX-License-Identifier: MIT */
/*
 * cpu-clock-test.c - when a CPU is sampled: on a grid of times, with weights that
 * add up to the time that the CPU was busy, and not while it is idle
 */
#include "kernel.h"
#include "tap.h"

#include "../../kmod/uapi/kunwind.h"
#define _KUNWIND_COMPAT_TRACE_H
#define _KUNWIND_COMPAT_HRTIMER_H
#define _KUNWIND_HOOK_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused

/* ------------------------------------------------ the kernel, with two CPUs */

/* The name stands for the variable of this CPU. */
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name##_of[2]
#define clocks				(clocks_of[cpu_number])
#define this_cpu_ptr(p)			on_this_cpu(p)
#define per_cpu_ptr(p, cpu)		((p) - cpu_number + (cpu))
#define nr_cpu_ids			4
static unsigned int cpu_number;
#define smp_processor_id()		cpu_number
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 2; (cpu)++)

static struct task_struct task, idle_task;
static bool is_idle_task(const struct task_struct *t) { return t == &idle_task; }

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum { HRTIMER_MODE_ABS_PINNED_HARD };
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC			1
#endif
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u64 expires;
	bool queued;
};
static u64 now;
static unsigned int starts;

static u64 ktime_get(void) { return now; }
static void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
			  int clock, int mode)
{
	timer->function = function;
}
static void hrtimer_start(struct hrtimer *timer, u64 expires, int mode)
{
	timer->expires = expires;
	timer->queued = true;
	starts++;
}
static void hrtimer_set_expires(struct hrtimer *timer, u64 expires) { timer->expires = expires; }
static void hrtimer_cancel(struct hrtimer *timer) { timer->queued = false; }

/* The probe may run until tracepoint_synchronize_unregister() has returned. */
static struct tracepoint { void *probe; bool may_run; } the_tracepoint;
static bool no_tracepoint, no_probe;
static struct tracepoint *kunwind_tracepoint_find(const char *name)
{
	return no_tracepoint || strcmp(name, "sched_switch") ? NULL : &the_tracepoint;
}
static int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	if (no_probe)
		return -ENOMEM;
	tp->probe = probe;
	return tp->may_run = true, 0;
}
static void tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	if (tp->probe != probe)
		wrong("another probe");
	tp->probe = NULL;
}
static void tracepoint_synchronize_unregister(void) { the_tracepoint.may_run = the_tracepoint.probe; }
#define check_trace_callback_type_sched_switch(f)	((void)(f))
static struct pt_regs { int unused; } irq_regs;
static struct pt_regs *get_irq_regs(void) { return &irq_regs; }

/* ---------------------------------------------------------- what is tested */

#include "../../kmod/sample/cpu_clock.c"

static u32 hz = 1000;
static u64 weight, cost;		/* of all samples; ns that each takes */
static unsigned int taken, idle_fires;

u32 kunwind_sample_hz(void) { return hz; }
void kunwind_sample_skip(enum kunwind_skip why) { idle_fires += why == KUNWIND_SKIP_IDLE; }
void kunwind_sample_take(struct pt_regs *regs, u64 period, enum kunwind_clock clock)
{
	if (regs != &irq_regs || clock != KUNWIND_CLOCK_CPU || !period)
		wrong("a sample of clock %u with the weight %llu", clock, (unsigned long long)period);
	weight += period;
	taken++;
	now += cost;
}

/* The timer's interrupt. */
static enum hrtimer_restart expire(struct hrtimer *timer)
{
	enum hrtimer_restart next;

	local_irq_disable();
	next = timer->function(timer);
	local_irq_enable();
	return next;
}

/* Time passes until @to; the timer fires @late after it expires. */
static void run(u64 to, u64 late)
{
	struct hrtimer *timer = &clocks.timer;

	while (timer->queued && timer->expires + late <= to) {
		now = max(now, timer->expires + late);
		timer->queued = expire(timer) == HRTIMER_RESTART;
	}
	now = max(now, to);
}

static void switch_to(struct task_struct *next)
{
	local_irq_disable();		/* the lock of the run queue */
	local_irq_disable();		/* the lock of the run queue is held */
	on_sched_switch(NULL, false, current, next, 0);
	local_irq_enable();
	local_irq_enable();
	current = next;
}

static void reset(u64 at)
{
	kunwind_cpu_clock_offline(0);
	clocks.overruns = 0;
	now = at;
	current = &task;
	weight = taken = idle_fires = starts = 0;
	cost = 0;
	kunwind_cpu_clock_online(0);
}

#define MS	1000000ULL

static void test_grid(void)
{
	struct kunwind_grid grid = { .period = 1003, .phase = 250 };
	unsigned int bad = 0, length, hits, phases = 0, uneven = 0;
	u64 at, time;

	for (at = 0; at < 5000; at++) {
		u64 next = kunwind_grid_next(grid, at), last = kunwind_grid_last(grid, at);

		bad += next <= at || next > at + 1003 || (next - 250) % 1003;
		bad += last > at || (at >= 250 && next - last != 1003);
	}
	tap_ok(!bad, "grid: the next time is the first after now, the last is the one before");
	/* of all bursts of a length, as many meet a time of the grid as are long */
	for (length = 1, bad = 0; length < 1003; length += 77) {
		for (at = 10000, hits = 0; at < 10000 + 1003; at++)
			hits += kunwind_grid_next(grid, at) <= at + length;
		bad += hits != length;
	}
	tap_ok(!bad, "grid: a burst is sampled with the probability that its length has");
	for (at = 0; at < 4; at++) {
		grid = kunwind_grid_of(997, at, 4);
		for (time = 0; time < at; time++)
			phases += kunwind_grid_of(997, time, 4).phase == grid.phase;
		uneven += grid.phase != 1000000000 / 997 * at / 4;
	}
	tap_ok(!phases && grid.phase < grid.period, "grid: each CPU has a phase of its own");
	tap_ok(!uneven, "grid: the phases divide the period evenly");
}

static void test_busy(void)
{
	reset(100 * MS + 1);
	run(1100 * MS, 0);
	tap_ok(taken == 1000 && weight == 1000 * MS && !clocks.overruns,
	       "busy: one sample each period, each with the weight of a period");
	reset(100 * MS + 1);
	run(1100 * MS, MS / 3);
	tap_ok(taken == 999 && weight == 999 * MS && !clocks.overruns,
	       "busy: a timer that is late by less than a period changes no weight");
	reset(100 * MS + 1);
	run(200 * MS, 0);
	run(300 * MS, 7 * MS + 500);	/* as if interrupts were off for 7 ms, again and again */
	tap_ok(taken < 120 && weight + 8 * MS > 200 * MS && weight <= 200 * MS &&
	       clocks.overruns == weight / MS - taken,
	       "late timer: the weights add up to the time, and the periods in between are counted");
}

static void test_slow_samples(void)
{
	u64 in_samples;

	reset(0);
	cost = 5 * MS;
	run(1000 * MS, 0);
	in_samples = taken * cost;
	tap_ok(in_samples <= 510 * MS && taken > 50,
	       "slow samples: they use at most half of the CPU, and do not stop");
	tap_ok(weight + 12 * MS > 1000 * MS, "slow samples: their weights add up to the time");
	reset(0);
	cost = 2000 * MS;	/* a hypervisor stops the CPU within a sample */
	run(2 * MS, 0);
	cost = 0;
	run(2100 * MS, 0);
	tap_ok(taken > 80 && weight + 2 * MS > 2100 * MS,
	       "stopped within a sample: the next one comes soon, and no time is lost");
}

/* The pause is as long as the sample took, even if the timer was late. */
static void test_late_sample(void)
{
	u64 expired;

	reset(0);
	run(10 * MS, 0);
	cost = 5 * MS / 10;
	expired = clocks.timer.expires;
	now = expired + 59 * MS / 10;
	expire(&clocks.timer);
	tap_ok(clocks.timer.expires == expired + 7 * MS,
	       "late timer: the pause is as long as the sample, and does not include the delay");
}

static void test_idle(void)
{
	enum hrtimer_restart next;
	unsigned int i;

	reset(10 * MS + 1);
	switch_to(&idle_task);
	run(1000 * MS, 0);
	tap_ok(idle_fires == 1 && !taken && !clocks.timer.queued,
	       "idle: the timer fires once, and takes no sample");
	local_irq_disable();
	clocks.state = RUNS;
	next = clocks.timer.function(&clocks.timer);
	local_irq_enable();
	tap_ok(next == HRTIMER_NORESTART && clocks.state == IDLE && idle_fires == 2,
	       "idle: the timer is not started again");
	starts = 0;
	switch_to(&idle_task);
	tap_ok(!starts, "idle: a switch from idle to idle starts no timer");
	now = 1000 * MS + MS / 2;
	switch_to(&task);
	tap_ok(starts == 1 && clocks.timer.expires == 1001 * MS,
	       "idle: the switch to a task starts the timer at the next time of the grid");
	run(1005 * MS, 0);
	tap_ok(taken == 5 && weight == 5 * MS, "idle: the idle time is in no weight");
	/* 0.25 ms every 3.1 ms or so: the share of samples is that of the time */
	reset(MS);
	for (i = 0; i < 10000; i++) {
		switch_to(&task);
		run(now + MS / 4, 0);
		switch_to(&idle_task);
		run(now + 2853337, 0);	/* no multiple of the period */
	}
	tap_ok(weight >= 2450 * MS && weight <= 2550 * MS,
	       "bursts: the weights are the bursts' time within 2 percent");
	reset(MS);
	for (i = 0; i < 100; i++)
		switch_to(i % 2 ? &task : &idle_task);
	tap_ok(starts == 1, "idle: no timer is started while the last one has not fired");
}

static void test_changes(void)
{
	reset(MS);
	run(101 * MS, 0);
	hz = 100;
	run(201 * MS, 0);
	hz = 10000;
	run(301 * MS, 0);
	hz = 1000;
	tap_ok(weight <= 300 * MS && weight + 10 * MS >= 300 * MS,
	       "frequency: the weights add up to the time when it changes");
	/* the last time of the old grid is also one of the new grid */
	hz = 10000;
	reset(MS);
	run(10 * MS, 0);
	hz = 1000;
	run(11 * MS, 0);
	tap_ok(weight == 10 * MS, "frequency: no sample is without weight");
	/* the grid changes: the times from the old one to the new one are no multiple of the period */
	hz = 1000;
	reset(10 * MS + 1);
	hz = 300;
	clocks.timer.expires = 20 * MS;
	run(20 * MS, 0);
	tap_ok(taken == 1 && clocks.overruns == 2 && weight == 9999998,
	       "frequency: two periods of the new grid are between 10 ms and its last time before 20 ms");
	hz = 1000;
	reset(MS);
	run(2 * MS, 0);
	kunwind_cpu_clock_offline(0);
	starts = 0;
	switch_to(&idle_task);
	switch_to(&task);
	tap_ok(!clocks.timer.queued && !starts, "offline: the probe does not start the timer");
	tap_ok(expire(&clocks.timer) == HRTIMER_NORESTART,
	       "offline: a handler that still runs does not start the timer again");
}

static void test_probe(void)
{
	tap_ok(!kunwind_cpu_clock_begin() && the_tracepoint.probe == (void *)on_sched_switch,
	       "begin: the probe of sched_switch is registered");
	kunwind_cpu_clock_end();
	tap_ok(!the_tracepoint.probe && !the_tracepoint.may_run, "end: the probe does not run any more");
	no_tracepoint = true;
	tap_ok(kunwind_cpu_clock_begin() == -ENOENT, "begin: without the tracepoint, the clock is refused");
	no_tracepoint = false;
	no_probe = true;
	tap_ok(kunwind_cpu_clock_begin() == -ENOMEM, "begin: the error of the probe is returned");
}

static void test_status(void)
{
	static struct seq_file m;

	clocks_of[0].overruns = 3;
	clocks_of[1].overruns = 4;
	kunwind_cpu_clock_show(&m);
	tap_ok(!strcmp(m.text, "stat\tsample_overruns\t7\n"), "status: the sum over all CPUs");
}

int main(void)
{
	test_probe();
	test_status();
	test_grid();
	test_busy();
	test_slow_samples();
	test_late_sample();
	test_idle();
	test_changes();
	return tap_done();
}
