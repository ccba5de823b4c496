// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe.c - lttng-probe-kunwind.ko: kunwind's trace events for LTTng
 *
 * A probe provider as lttng-modules' own are, built outside of its tree against
 * its headers. `lttng enable-event --kernel 'kunwind_*'` finds the events once
 * the module is loaded (modprobe, or lttng-sessiond --extra-kmod-probes=kunwind).
 */
#include <linux/module.h>
#include <lttng/tracer.h>

/* The events' own definition: the compiler checks our prototypes against it. */
#include "trace/kunwind_events.h"

#include "statedump.h"

#define LTTNG_PACKAGE_BUILD
#define CREATE_TRACE_POINTS
#define TP_MODULE_NOAUTOLOAD
#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH instrumentation/events
#define TRACE_INCLUDE_FILE kunwind
#include "instrumentation/events/kunwind.h"

static int __init probe_init(void)
{
	int err = __lttng_events_init__kunwind();

	if (err)
		return err;
	err = kunwind_statedump_init();
	if (err)
		__lttng_events_exit__kunwind();
	return err;
}

/* First no more dumps, then no more events: a dump under way uses both. */
static void __exit probe_exit(void)
{
	kunwind_statedump_exit();
	__lttng_events_exit__kunwind();
}

module_init(probe_init);
module_exit(probe_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("the kunwind authors");
MODULE_DESCRIPTION("LTTng events of kunwind: mappings of registered processes");
MODULE_SOFTDEP("pre: kunwind");
