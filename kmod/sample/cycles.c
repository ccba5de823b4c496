// SPDX-License-Identifier: GPL-2.0-only
/*
 * cycles.c - sample each CPU by its counter of cycles
 *
 * perf owns the counter, and changes its period to meet the frequency. The
 * counter's interrupt is an NMI, so code that runs with interrupts off is
 * sampled, too. A halted CPU counts no cycles and is not woken. perf's limits
 * hold: perf_event_max_sample_rate, and perf_cpu_time_max_percent, which lowers
 * it.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "cycles.h"
#include "frequency.h"
#include "take.h"

static DEFINE_PER_CPU(struct perf_event *, counters);

static notrace void overflow(struct perf_event *event, struct perf_sample_data *data,
			     struct pt_regs *regs)
{
	kunwind_sample_take(regs, data->period, KUNWIND_CLOCK_CYCLES);
}

int kunwind_cycles_online(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = kunwind_sample_hz(),
		.pinned = 1,
		.exclude_idle = 1,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, overflow, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	/* All counters are in use. A pinned event then never counts. */
	if (READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR) {
		perf_event_release_kernel(event);
		return -EBUSY;
	}
	per_cpu(counters, cpu) = event;
	return 0;
}

int kunwind_cycles_offline(unsigned int cpu)
{
	struct perf_event *event = per_cpu(counters, cpu);

	per_cpu(counters, cpu) = NULL;
	if (event)
		perf_event_release_kernel(event);
	return 0;
}
