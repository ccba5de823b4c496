// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - load and unload the module
 *
 * docs/lifetimes.md lists the steps of unloading, and what each of them waits
 * for. When exit runs, no process has the device open and no task work is
 * queued, because both hold references to the module; from now on
 * try_module_get() fails. The order matters:
 *   - The callers that can register processes end first: system_wide, then the
 *     device.
 *   - Samples are walks, too: the sampler ends before the hooks.
 *   - No walk may begin after the first required hook is removed, because its
 *     stack could be wrong. So kunwind_hooks_retire() and a grace period come
 *     before that.
 *   - If ftrace does not remove a hook (it shut itself down after a bug of its
 *     own), calls may still come. Then let_go() never returns, and the module
 *     stays.
 *   - The builders end before the records are dropped, so that the objects that
 *     they work on still have their users. Records hold spaces, spaces hold
 *     snapshots, and snapshots hold objects; reap.c frees each after a grace
 *     period.
 *   - synchronize_rcu_tasks() comes after all hooks and task works have gone: a
 *     task may be preempted in a replacement (takeover.c), or in the last
 *     instructions of a task work, after its module_put().
 *   - The last walk may have left a request (fault_in.c). Its irq_work gets no
 *     reference to the module any more, so kunwind_fault_in_exit() waits for it.
 *   - The walks' caches, the shrinker and the idle objects are freed last.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include "process/system_wide.h"
#include "object/builder.h"
#include "stack/callstack.h"
#include "device.h"
#include "stack/stack_context.h"
#include "stack/stack_event.h"
#include "space/mm_hooks.h"
#include "base/hook.h"
#include "object/object_cache.h"
#include "process/fatal_signal.h"
#include "process/process.h"
#include "process/process_memory.h"
#include "sample/sampler.h"
#include "space/space.h"
#include "status.h"
#include "stack/takeover.h"
#include "stack/fault_in.h"
#include "trace/events.h"
#include "trace/slow_syscall.h"
#include "uapi/kunwind.h"

/*
 * Removes the hooks, ends walks, builds and requests, and frees what they used, after
 * the callers that can register processes have ended. kunwind_init() also calls this if it
 * fails after the first hook was enabled.
 */
static void let_go(void)
{
	bool free;

	kunwind_sampler_exit();
	kunwind_stack_context_exit();
	kunwind_hooks_retire();
	synchronize_rcu();
	free = kunwind_takeover_exit();
	free &= kunwind_fatal_signal_stop();
	free &= kunwind_process_stop();
	free &= kunwind_mm_hooks_exit();
	if (!free) {
		pr_err("ftrace would not let go of a hook: the module stays until the next boot\n");
		for (;;) {
			set_current_state(TASK_IDLE);
			schedule();
		}
	}
	kunwind_stack_event_exit();
	kunwind_slow_syscall_exit();
	kunwind_fatal_signal_exit();
	tracepoint_synchronize_unregister();
	kunwind_builder_stop();
	kunwind_process_exit();
	kunwind_space_exit();
	synchronize_rcu_tasks();
	kunwind_fault_in_exit();
	kunwind_callstack_exit();
	kunwind_builder_exit();
	kunwind_object_cache_exit();
}

static int __init kunwind_init(void)
{
	int err;

	kunwind_events_init();	/* perf can already open the module's events */
	err = kunwind_object_cache_init();
	if (err)
		goto out_stack_event;
	err = kunwind_builder_init();
	if (err)
		goto out_object;
	err = kunwind_space_init();
	if (err)
		goto out_builder;
	err = kunwind_callstack_init();
	if (err)
		goto out_space;
	kunwind_fault_in_init();
	err = kunwind_process_memory_init();
	if (err)
		goto out_fault_in;
	err = kunwind_system_wide_init();
	if (err)
		goto out_memory;
	kunwind_stack_event_init();
	kunwind_slow_syscall_init();
	kunwind_fatal_signal_init();
	kunwind_mm_hooks_init();
	kunwind_process_init();
	kunwind_takeover_init();	/* after the required hooks */
	/* From here on there are callers. */
	err = kunwind_device_init();
	if (err)
		goto out_hooks;
	kunwind_system_wide_start();
	kunwind_sampler_init();
	kunwind_stack_context_init();
	return 0;

out_hooks:
	kunwind_system_wide_exit();
	kunwind_process_memory_exit();
	let_go();	/* ends all that the labels below end */
	return err;
out_memory:
	kunwind_process_memory_exit();
out_fault_in:
	kunwind_fault_in_exit();
	kunwind_callstack_exit();
out_space:
	kunwind_space_exit();
out_builder:
	kunwind_builder_exit();
out_object:
	kunwind_object_cache_exit();
out_stack_event:
	/* the events may be on already, also if init fails */
	kunwind_sampler_exit();
	kunwind_stack_event_exit();
	kunwind_slow_syscall_exit();
	kunwind_fatal_signal_exit();
	return err;
}

static void __exit kunwind_exit(void)
{
	kunwind_system_wide_exit();
	kunwind_process_memory_exit();
	kunwind_device_exit();
	let_go();
}

module_init(kunwind_init);
module_exit(kunwind_exit);

MODULE_DESCRIPTION("call stacks of user programs from .eh_frame, in the kernel");
MODULE_AUTHOR("the kunwind project");
MODULE_VERSION(KUNWIND_VERSION);
MODULE_LICENSE("GPL");
