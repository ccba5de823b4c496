/* SPDX-License-Identifier: MIT */
/*
 * cycles-test.c - the counter of cycles of each CPU: how it is made, what its
 * overflow passes on; and the tracepoint kunwind_sample, which turns the sampler
 * on and off (trace/sample.c)
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define CPUS			4
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name[CPUS]
#define per_cpu(variable, cpu)	(variable)[cpu]

enum { PERF_TYPE_HARDWARE = 7 };		/* not 0, which members that are not set have */
enum { PERF_COUNT_HW_CPU_CYCLES = 8 };
enum { PERF_EVENT_STATE_ERROR = -3, PERF_EVENT_STATE_ACTIVE = 1 };
struct perf_event_attr {
	u32 type, size;
	u64 config, sample_freq;
	u64 freq : 1, pinned : 1, exclude_user : 1, exclude_kernel : 1, exclude_idle : 1, exclude_hv : 1,
	    exclude_guest : 1, disabled : 1, inherit : 1;
};
struct perf_sample_data { u64 period; };
struct pt_regs { unsigned long ip; };
struct perf_event {
	int state, cpu;
	bool released;
	struct perf_event_attr attr;
	void (*overflow)(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs);
};
static struct perf_event events[8];
static unsigned int nr_events;
static int refusal;
static bool all_in_use;

static struct perf_event *
perf_event_create_kernel_counter(const struct perf_event_attr *attr, int cpu, struct task_struct *task,
				 void (*overflow)(struct perf_event *event,
						  struct perf_sample_data *data, struct pt_regs *regs),
				 void *context)
{
	struct perf_event *event = &events[nr_events];

	might_sleep();
	if (task || context || cpu < 0)
		wrong("the counter is a CPU's");
	if (refusal)
		return ERR_PTR(refusal);
	nr_events++;
	*event = (struct perf_event){
		.state = all_in_use ? PERF_EVENT_STATE_ERROR : PERF_EVENT_STATE_ACTIVE, .cpu = cpu,
		.attr = *attr, .overflow = overflow,
	};
	return event;
}

static void perf_event_release_kernel(struct perf_event *event)
{
	might_sleep();
	if (event->released)
		wrong("the counter is released twice");
	event->released = true;
}

#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#include "../../kmod/trace/sample.c"
#include "../../kmod/sample/cycles.c"

/* ----------------------------------------- functions that these files call */

static u32 hz;
u32 kunwind_sample_hz(void) { return hz; }

static struct { struct pt_regs *regs; u64 period; enum kunwind_clock clock; unsigned int times; } taken;
void kunwind_sample_take(struct pt_regs *regs, u64 period, enum kunwind_clock clock)
{
	taken.regs = regs;
	taken.period = period;
	taken.clock = clock;
	taken.times++;
}

/* ---------------------------------------------------------------- the tests */

static void begin(void)
{
	memset(events, 0, sizeof(events));
	memset(counters, 0, sizeof(counters));
	nr_events = 0;
	refusal = 0;
	all_in_use = false;
	hz = 1234;
}

static void test_counter(void)
{
	struct perf_sample_data data = { .period = 987654321012 };
	const struct perf_event_attr *attr = &events[0].attr;
	struct pt_regs regs;

	begin();
	tap_ok(!kunwind_cycles_online(2) && nr_events == 1 && events[0].cpu == 2 && counters[2] == &events[0],
	       "CPU comes online: it has a counter");
	tap_ok(attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES &&
	       attr->size == sizeof(*attr), "the counter counts cycles");
	tap_ok(attr->freq && attr->sample_freq == 1234, "its frequency is the parameter's");
	tap_ok(attr->pinned && attr->exclude_idle && attr->exclude_hv && attr->exclude_guest &&
	       !attr->exclude_user && !attr->exclude_kernel && !attr->disabled && !attr->inherit,
	       "it is always on the CPU, and counts user and kernel, neither idle nor guests");
	events[0].overflow(&events[0], &data, &regs);
	tap_ok(taken.times == 1 && taken.regs == &regs && taken.period == 987654321012 &&
	       taken.clock == KUNWIND_CLOCK_CYCLES, "overflow: a sample with its registers and weight");
	tap_ok(!kunwind_cycles_offline(2) && events[0].released && !counters[2],
	       "CPU goes offline: the counter is released");
	tap_ok(!kunwind_cycles_offline(2), "CPU without a counter goes offline: no error");
	tap_ok(!kunwind_cycles_online(2) && counters[2] == &events[1] && !kunwind_cycles_offline(2),
	       "CPU comes online again: it has a new counter");
}

static void test_refused(void)
{
	begin();
	refusal = -ENOENT;
	tap_ok(kunwind_cycles_online(1) == -ENOENT && !counters[1] && !kunwind_cycles_offline(1),
	       "CPU without such a counter: perf's error");
	refusal = 0;
	all_in_use = true;
	tap_ok(kunwind_cycles_online(1) == -EBUSY && events[0].released && !counters[1] &&
	       !kunwind_cycles_offline(1), "all counters are in use: the new one is released");
}

/* The sampler, as kunwind_sample_begin() and kunwind_sample_end() call it. */
static int change_error;
static bool sampling;
static unsigned int changes;

static int changes_to(bool is_on)
{
	changes++;
	if (is_on && change_error)
		return change_error;
	sampling = is_on;
	return 0;
}

static void test_tracepoint(void)
{
	tap_ok(!kunwind_sample_begin(), "on before the module's init: no error");
	kunwind_sample_end();
	kunwind_sample_serve(changes_to);
	tap_ok(!changes, "on and off before the module's init: nothing samples");
	tap_ok(!kunwind_sample_begin() && sampling, "on: the sampler is on");
	kunwind_sample_end();
	tap_ok(!sampling && changes == 2, "off: the sampler is off");
	change_error = -ENOMEM;
	tap_ok(kunwind_sample_begin() == -ENOMEM && changes == 3, "no memory: the event cannot be turned on");
	kunwind_sample_end();
	tap_ok(changes == 3, "off after that: the sampler has nothing to end");
	change_error = 0;
	tap_ok(!kunwind_sample_begin() && sampling, "memory again: the sampler is on");
	kunwind_sample_serve(NULL);
	tap_ok(kunwind_sample_begin() == -ENODEV, "module unload: the event cannot be turned on");
	changes = 0;
	kunwind_sample_end();
	tap_ok(!changes, "off after the module's exit: nothing is called");
}

static void test_on_at_init(void)
{
	closed = on = false;
	change = NULL;
	kunwind_sample_begin();
	sampling = false;
	kunwind_sample_serve(changes_to);
	tap_ok(sampling, "on before the module's init: its init turns the sampler on");
	kunwind_sample_end();
	change = NULL;
	kunwind_sample_begin();
	change_error = -ENOMEM;
	kunwind_sample_serve(changes_to);
	changes = 0;
	kunwind_sample_end();
	tap_ok(!changes, "on before the module's init, no memory there: the sampler has nothing to end");
	change_error = 0;
	tap_ok(!kunwind_sample_begin() && sampling, "turned on again: the sampler is on");
}

int main(void)
{
	test_counter();
	test_refused();
	test_tracepoint();
	test_on_at_init();
	return tap_done();
}
