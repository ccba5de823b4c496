// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe.c - lttng-probe-kunwind.ko: kunwind's trace events for LTTng
 *
 * A probe provider like lttng-modules' own, built outside its tree against its
 * headers. When the module is loaded (by modprobe, or by lttng-sessiond
 * --extra-kmod-probes=kunwind), `lttng enable-event --kernel 'kunwind_*'` finds
 * the events.
 */
#include <linux/module.h>
#include <lttng/tracer.h>

/* The kernel's events, against which the compiler checks our prototypes. */
#include "trace/kunwind_events.h"
#include "trace/blocked.h"
#include "trace/kernel_stack.h"
#include "trace/sample.h"

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

/* Ends dumps before events, because a running dump uses both. */
static void __exit probe_exit(void)
{
	kunwind_statedump_exit();
	__lttng_events_exit__kunwind();
}

module_init(probe_init);
module_exit(probe_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("the kunwind project");
MODULE_DESCRIPTION("the trace events of kunwind as events of LTTng");
MODULE_SOFTDEP("pre: kunwind");
