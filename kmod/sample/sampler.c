// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampler.c - sample all CPUs while the event kunwind_sample is on
 *
 * The task that turns the event on allocates the memory, and gets -ENOMEM if
 * that fails. It holds the lock of the tracepoints, so a work item begins to
 * sample some milliseconds later; the same work item ends the sampling and
 * frees the memory. CPUs that come online are sampled, too (CPU hotplug).
 *
 * The parameter sample_clock chooses what takes the samples: a timer
 * (cpu_clock.c), which is the default, or the counter of cycles (cycles.c).
 * cycles is never chosen without its name: its samples run in NMIs, which no
 * emulated machine has from a counter. Tests send such NMIs from another CPU
 * (tests/vm/modules/nmi_counter.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "../base/param.h"
#include "cpu_clock.h"
#include "cycles.h"
#include "frequency.h"
#include "sampler.h"
#include "take.h"

/* Value of "running" while no clock runs. */
#define NONE		KUNWIND_NR_CLOCKS

#define KUNWIND_CLOCK_NAME(clock, name)	name,
static const char *const choices[] = { KUNWIND_CLOCK_NAMES(KUNWIND_CLOCK_NAME) };
#undef KUNWIND_CLOCK_NAME

static enum kunwind_clock choice = KUNWIND_CLOCK_CPU;

/* Protects "wanted" and "memory". Taken inside the lock of sample.c. */
static DEFINE_MUTEX(sampler_lock);
static bool wanted;
static struct kunwind_sample_memory *memory;

/* Only settle() writes these, except that change() clears "refused". */
static enum kunwind_clock running = NONE;
static int refused;			/* why no clock runs though the event is on, or 0 */
static int hotplug;			/* number of the CPU hotplug state */

/*
 * A CPU that comes online without a counter is not sampled: an error would
 * keep the CPU offline.
 */
static int more_cycles(unsigned int cpu)
{
	int err = kunwind_cycles_online(cpu);

	return running == KUNWIND_CLOCK_CYCLES ? 0 : err;
}

static int begin_with(enum kunwind_clock clock)
{
	const bool cycles = clock == KUNWIND_CLOCK_CYCLES;
	int err = cycles ? 0 : kunwind_cpu_clock_begin();

	if (err)
		return err;
	cpus_read_lock();		/* no CPU comes online before "running" is set */
	err = cpuhp_setup_state_cpuslocked(CPUHP_AP_ONLINE_DYN, "kunwind/sample:online",
					   cycles ? more_cycles : kunwind_cpu_clock_online,
					   cycles ? kunwind_cycles_offline : kunwind_cpu_clock_offline);
	if (err >= 0)
		WRITE_ONCE(running, clock);
	cpus_read_unlock();
	if (err >= 0)
		hotplug = err;
	else if (!cycles)
		kunwind_cpu_clock_end();
	return min(err, 0);
}

static void begin(void)
{
	const enum kunwind_clock chosen = READ_ONCE(choice);
	int err = begin_with(chosen);

	WRITE_ONCE(refused, err);
	if (err)
		pr_notice_once("kunwind_sample: no samples by %s: error %d\n", choices[chosen], err);
}

static void end(void)
{
	const enum kunwind_clock clock = running;

	cpuhp_remove_state(hotplug);
	WRITE_ONCE(running, NONE);
	if (clock == KUNWIND_CLOCK_CPU)
		kunwind_cpu_clock_end();
}

static void settle(struct work_struct *work)
{
	struct kunwind_sample_memory *old = NULL;
	bool on;

	mutex_lock(&sampler_lock);
	on = wanted;
	mutex_unlock(&sampler_lock);
	if (on && running == NONE)
		begin();
	else if (!on && running != NONE)
		end();
	if (on)
		return;
	mutex_lock(&sampler_lock);
	if (!wanted) {
		old = memory;
		memory = NULL;
		kunwind_sample_memory_use(NULL);
	}
	mutex_unlock(&sampler_lock);
	synchronize_rcu();
	kunwind_sample_memory_free(old);
}
static DECLARE_WORK(settle_work, settle);

/* See kunwind_sample_serve(). */
static int change(bool on)
{
	int err = 0;

	mutex_lock(&sampler_lock);
	if (on && !memory) {
		memory = kunwind_sample_memory_alloc();
		kunwind_sample_memory_use(memory);
		err = memory ? 0 : -ENOMEM;
	}
	wanted = on && !err;
	/* The error of an earlier session is not this one's. */
	WRITE_ONCE(refused, 0);
	mutex_unlock(&sampler_lock);
	schedule_work(&settle_work);
	return err;
}

static int choice_set(const char *text)
{
	int at = sysfs_match_string(choices, text);

	if (at < 0)
		return at;
	WRITE_ONCE(choice, at);
	return 0;
}

static int choice_get(char *to)
{
	return sysfs_emit(to, "%s\n", choices[READ_ONCE(choice)]);
}

KUNWIND_PARAM(sample_clock, choice_set, choice_get);
MODULE_PARM_DESC(sample_clock,
		 "what takes samples, from the next session on: cycles, or cpu-clock (default)");

void kunwind_sampler_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tsample_frequency\t%u\n", kunwind_sample_hz());
	kunwind_sample_take_show_params(m);
	seq_printf(m, "param\tsample_clock\t%s\n", choices[READ_ONCE(choice)]);
}

void kunwind_sampler_show(struct seq_file *m)
{
	const enum kunwind_clock clock = READ_ONCE(running);
	const int err = READ_ONCE(refused);

	if (clock != NONE)
		seq_printf(m, "sampler\t%s\t\n", choices[clock]);
	else if (err)
		seq_printf(m, "sampler\toff\terror %d\n", err);
	else
		seq_puts(m, "sampler\toff\t\n");
	kunwind_sample_take_show(m);
	kunwind_cpu_clock_show(m);
}

void kunwind_sampler_init(void)
{
	kunwind_sample_serve(change);
}

void kunwind_sampler_exit(void)
{
	kunwind_sample_serve(NULL);
	change(false);
	flush_work(&settle_work);
}
