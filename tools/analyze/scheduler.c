// SPDX-License-Identifier: MIT
/*
 * scheduler.c - what sched_switch and the events of wakeups say
 */
#include <string.h>

#include "scheduler.h"
#include "trace/event.h"

bool scheduler_preempted(const bt_event *event)
{
	int64_t state;

	return kunwind_field_integer(kunwind_event_field(event, "prev_state"), &state) &&
	       !(state & 0xff);
}

const char *scheduler_cause(const bt_event *event)
{
	int64_t state;

	if (!kunwind_field_integer(kunwind_event_field(event, "prev_state"), &state))
		return "not in a system call";
	return scheduler_preempted(event) ? "preempted" : "no recorded system call";
}

bool scheduler_ended(const bt_event *event)
{
	enum { EXIT_DEAD = 0x10, EXIT_ZOMBIE = 0x20 };	/* linux/sched.h */
	int64_t state;

	return kunwind_field_integer(kunwind_event_field(event, "prev_state"), &state) &&
	       state & (EXIT_DEAD | EXIT_ZOMBIE);
}

bool scheduler_wakes(const char *name)
{
	return !strcmp(name, "sched_waking") || !strcmp(name, "sched_wakeup");
}
