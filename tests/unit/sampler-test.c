/* SPDX-License-Identifier: MIT */
/*
 * sampler-test.c - when samples are taken: the event, the memory, the clock that
 * is chosen or refused, and CPUs that come and go
 */
#include "kernel.h"
#include "tap.h"

#include "../../kmod/uapi/kunwind.h"
#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#define _KUNWIND_PARAM_H
#define KUNWIND_PARAM(name, set, get)	extern int unused_param_##name

/* ------------------------------------------------------ more of the kernel */

#define CPUHP_AP_ONLINE_DYN		9
#define DECLARE_WORK(name, fn)		struct work_struct name = { fn }
#define schedule_work(work)		queue_work(NULL, work)
#define pr_notice_once(...)		(notices++)
static unsigned int notices;

static bool flush_work(struct work_struct *work)
{
	might_sleep();
	while (nr_works)
		run_work();
	return true;
}

static int sysfs_match_string_of(const char *const *names, size_t nr, const char *text)
{
	size_t length = strcspn(text, "\n"), i;

	for (i = 0; i < nr; i++)
		if (strlen(names[i]) == length && !strncmp(names[i], text, length))
			return i;
	return -EINVAL;
}
#define sysfs_match_string(names, text)						\
	sysfs_match_string_of(names, sizeof(names) / sizeof((names)[0]), text)

/* CPUs, and the state of CPU hotplug that is set up, if any. */
#define CPUS				3
#define STATE				42
static bool online[CPUS], cpus_locked;
static int (*up)(unsigned int), (*down)(unsigned int);
static unsigned int setups;
static bool no_state;		/* all dynamic states are in use */

static void cpus_read_lock(void)
{
	might_sleep();
	cpus_locked = true;
}
static void cpus_read_unlock(void) { cpus_locked = false; }

static int cpuhp_setup_state_cpuslocked(int state, const char *name, int (*to)(unsigned int),
					int (*from)(unsigned int))
{
	unsigned int cpu, back;
	int err;

	if (!cpus_locked || up || state != CPUHP_AP_ONLINE_DYN)
		wrong("a state of CPU hotplug");
	if (no_state)
		return -ENOSPC;
	for (cpu = 0; cpu < CPUS; cpu++) {
		err = online[cpu] ? to(cpu) : 0;
		for (back = 0; err && back < cpu; back++)
			if (online[back])
				from(back);
		if (err)
			return err;
	}
	setups++;
	up = to;
	down = from;
	return STATE;
}

static void cpuhp_remove_state(int state)
{
	unsigned int cpu;

	if (!up || state != STATE)
		wrong("state %d is not set up", state);
	for (cpu = 0; cpu < CPUS; cpu++)
		if (online[cpu])
			down(cpu);
	up = down = NULL;
}

/* A CPU comes (true) or goes. Returns whether it is online afterwards. */
static bool plug(unsigned int cpu, bool comes)
{
	if (!comes && up)
		down(cpu);
	online[cpu] = comes && (!up || !up(cpu));
	return online[cpu];
}

#include "../../kmod/sample/sampler.c"

/* ------------------------------------------------------------- other files */

static bool timers[CPUS], cycles[CPUS];
static bool no_counter[CPUS];		/* no counter, or all counters are in use */
static bool probe, no_probe;		/* of the tracepoint */

static bool turned_on_at_end;		/* while the clock ends */

static unsigned int sum(const bool *of) { return of[0] + of[1] + of[2]; }

int kunwind_cpu_clock_begin(void)
{
	if (no_probe)
		return -ENOENT;
	if (probe)
		wrong("the probe is registered");
	probe = true;
	return 0;
}
void kunwind_cpu_clock_end(void)
{
	if (!probe || sum(timers))
		wrong("%u timers run", sum(timers));
	probe = false;
	if (turned_on_at_end && change(true))
		wrong("the event could not be turned on");
	turned_on_at_end = false;
}
int kunwind_cpu_clock_online(unsigned int cpu)
{
	if (!probe || timers[cpu])
		wrong("CPU %u", cpu);
	timers[cpu] = true;
	return 0;
}
int kunwind_cpu_clock_offline(unsigned int cpu)
{
	timers[cpu] = false;
	return 0;
}
int kunwind_cycles_online(unsigned int cpu)
{
	if (no_counter[cpu])
		return -ENOENT;
	if (cycles[cpu])
		wrong("CPU %u", cpu);
	cycles[cpu] = true;
	return 0;
}
int kunwind_cycles_offline(unsigned int cpu)
{
	cycles[cpu] = false;
	return 0;
}
u32 kunwind_sample_hz(void) { return 997; }
void kunwind_cpu_clock_show(struct seq_file *m) { seq_puts(m, "(clock)\n"); }
void kunwind_sample_take_show(struct seq_file *m) { seq_puts(m, "(take)\n"); }
void kunwind_sample_take_show_params(struct seq_file *m) { seq_puts(m, "(params)\n"); }

/* The memory of samples, and the part that samples can use. */
struct kunwind_sample_memory { unsigned int graces; };
static struct kunwind_sample_memory *usable;
static unsigned int allocated_now;

struct kunwind_sample_memory *kunwind_sample_memory_alloc(void)
{
	struct kunwind_sample_memory *new = kzalloc(sizeof(*new), GFP_KERNEL | __GFP_NOWARN);

	allocated_now += !!new;
	return new;
}
void kunwind_sample_memory_use(struct kunwind_sample_memory *new)
{
	lockdep_assert_held(&sampler_lock);
	if (usable)
		usable->graces = grace_periods;
	usable = new;
}
void kunwind_sample_memory_free(struct kunwind_sample_memory *old)
{
	if (!old)
		return;
	if (old == usable || old->graces == grace_periods)
		wrong("samples may use this memory");
	if (sum(timers) + sum(cycles))
		wrong("a clock runs");
	allocated_now--;
	kfree(old);
}

static int (*served)(bool on);
void kunwind_sample_serve(int (*function)(bool on)) { served = function; }

/* --------------------------------------------------------------- the scene */

static const char *status(void)
{
	static struct seq_file m;

	m.used = 0;
	m.text[0] = '\0';
	kunwind_sampler_show(&m);
	return m.text;
}

static bool says(const char *line)
{
	char want[64];

	snprintf(want, sizeof(want), "sampler\t%s\n(take)\n(clock)\n", line);
	return !strcmp(status(), want);
}

static bool nothing_left(void)
{
	return !sum(timers) && !sum(cycles) && !probe && !up && !usable && !allocated_now && !cpus_locked;
}

static void clock_is(const char *name)
{
	if (choice_set(name))
		wrong("%s", name);
}

static void test_default(void)
{
	online[0] = online[1] = true;
	kunwind_sampler_init();
	tap_ok(served == change && says("off\t"), "no event: no clock runs");
	tap_ok(!change(true) && usable && !sum(timers),
	       "the event turns on: the memory is there before a clock runs");
	flush_work(NULL);
	tap_ok(sum(timers) == 2 && !sum(cycles) && says("cpu-clock\t"),
	       "default: each online CPU has a timer, none a counter");
	tap_ok(!change(true) && allocated_now == 1, "the event is on already: no more memory");
	flush_work(NULL);
	tap_ok(setups == 1, "the event is on already: no second clock");
	tap_ok(plug(2, true) && timers[2] && !plug(1, false) && !timers[1],
	       "CPU hotplug: timers come and go with CPUs");
	change(false);
	tap_ok(sum(timers) == 2 && usable,
	       "the event turns off: nothing is freed before the clock has ended");
	flush_work(NULL);
	tap_ok(nothing_left() && says("off\t"), "the event is off: no clock, no memory");
	plug(2, false);
	plug(1, true);
}

static void test_cycles(void)
{
	char text[PAGE_SIZE];

	clock_is("cycles\n");
	tap_ok(choice_get(text) == 7 && !strcmp(text, "cycles\n"), "sample_clock: cycles can be chosen");
	tap_ok(choice_set("auto") == -EINVAL && choice_set("") == -EINVAL && choice == KUNWIND_CLOCK_CYCLES,
	       "sample_clock: a refused name changes nothing");
	change(true);
	flush_work(NULL);
	tap_ok(sum(cycles) == 2 && !sum(timers) && !probe && says("cycles\t"),
	       "cycles: each online CPU has a counter");
	no_counter[2] = true;
	tap_ok(plug(2, true) && !cycles[2],
	       "cycles: a CPU without a counter comes online, and is not sampled");
	no_counter[2] = false;
	plug(2, false);
	tap_ok(plug(2, true) && cycles[2], "cycles: a CPU with a counter is sampled when it comes online");
	plug(2, false);
	clock_is("cpu-clock");
	tap_ok(says("cycles\t") && sum(cycles) == 2, "another choice: the clock that runs stays");
	change(false);
	flush_work(NULL);
	tap_ok(nothing_left(), "cycles: nothing is left when the event is off");
	change(true);
	flush_work(NULL);
	tap_ok(sum(timers) == 2 && !sum(cycles), "another choice: the next session has it");
	change(false);
	flush_work(NULL);
}

static void test_refused(void)
{
	clock_is("cycles");
	no_counter[1] = true;
	notices = 0;
	change(true);
	flush_work(NULL);
	tap_ok(!sum(cycles) && !sum(timers) && says("off\terror -2") && notices,
	       "cycles is refused: no CPU is sampled, by no other clock, and the status has the error");
	tap_ok(!cpus_locked && !up, "cycles is refused: CPUs can come and go");
	change(false);
	flush_work(NULL);
	tap_ok(nothing_left() && says("off\t"), "cycles was refused: without the event there is no error");
	change(true);
	flush_work(NULL);
	clock_is("cpu-clock");
	change(false);
	change(true);
	tap_ok(says("off\t"), "the next session: the error of the last one is not its own");
	flush_work(NULL);
	tap_ok(says("cpu-clock\t") && sum(timers) == 2, "the next session: its clock runs");
	change(false);
	flush_work(NULL);

	no_probe = true;
	change(true);
	flush_work(NULL);
	tap_ok(!sum(timers) && says("off\terror -2"),
	       "no tracepoint sched_switch: no timer runs, and the status has the error");
	no_probe = no_counter[1] = false;
	change(false);
	flush_work(NULL);
	tap_ok(nothing_left(), "no tracepoint: nothing is left");

	no_state = true;
	change(true);
	flush_work(NULL);
	tap_ok(!probe && says("off\terror -28"),
	       "no state of CPU hotplug: the probe is removed, and the status has the error");
	no_state = false;
	change(false);
	flush_work(NULL);
	tap_ok(nothing_left(), "no state of CPU hotplug: nothing is left");
}

static void test_memory(void)
{
	no_memory = 1;
	tap_ok(change(true) == -ENOMEM && !wanted && !usable, "no memory: the event cannot be turned on");
	flush_work(NULL);
	tap_ok(nothing_left() && says("off\t"), "no memory: no clock runs");
	tap_ok(!change(true), "memory again: the event can be turned on");
	flush_work(NULL);
	tap_ok(sum(timers) == 2, "memory again: the clock runs");
}

/* The work item runs late: the event has changed meanwhile. */
static void test_quick_changes(void)
{
	struct kunwind_sample_memory *before = usable;

	setups = 0;
	change(false);
	change(true);
	flush_work(NULL);
	tap_ok(sum(timers) == 2 && !setups && usable == before, "off and on at once: clock and memory stay");
	change(false);
	turned_on_at_end = true;
	flush_work(NULL);
	tap_ok(sum(timers) == 2 && usable == before && allocated_now == 1,
	       "on again while the clock ends: the clock runs, and its memory is not freed");
	setups = 0;
	change(false);
	flush_work(NULL);
	change(true);
	change(false);
	flush_work(NULL);
	tap_ok(nothing_left() && !setups,
	       "on and off at once: no clock was started, and the memory is freed");
}

static void test_exit(void)
{
	change(true);
	flush_work(NULL);
	kunwind_sampler_exit();
	tap_ok(!served && nothing_left() && !nr_works,
	       "unload while the event is on: clock and memory are gone on return");
	kunwind_sampler_exit();
	tap_ok(nothing_left() && !nr_works, "unload without an init: nothing to do");
}

int main(void)
{
	test_default();
	test_cycles();
	test_refused();
	test_memory();
	test_quick_changes();
	test_exit();
	return tap_done();
}
