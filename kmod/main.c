// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the module's coming and going
 *
 * What can call into the module, and how each ends. By the time that exit runs
 * nobody has the device open and no task work is queued: both hold references
 * to the module, and from now on try_module_get() fails.
 *
 *  1. Registering the whole system ends: its work item is over. (The parameter
 *     "auto" can still be written, and is refused.) The device goes: no further
 *     registration.
 *  2. No walk begins any more, and those under way end (a grace period): without
 *     the hooks of 4 their stacks could be wrong. From here on every request for a
 *     stack gets the kernel's own answer.
 *  3. The takeover hooks go: unregister_ftrace_function() waits for tasks in the
 *     trampolines. A task that was sent to a replacement may be preempted in it:
 *     waited for in 8.
 *  4. The hooks on processes' lives go, and the follow hooks. Marks on ranges,
 *     copies at fork and ends of mms come no more.
 *     If ftrace does not let go of a hook (it shut itself down after a bug of
 *     its own), the calls may still come: then this never returns, and the
 *     module stays for good.
 *     Then the probe and the memory of the event kunwind_callstack go: nobody
 *     asks for a stack on whose behalf it could be emitted.
 *  5. tracepoint_synchronize_unregister(): the probe of system calls (emit.c) does
 *     not run any more. The hooks have gone, so only the steps below make or find
 *     a process, a space or a snapshot.
 *  6. Builders end: they see that they are to stop; none is inside a read that
 *     may never return, since that too holds a reference. What they filled in
 *     last is still there, since
 *  7. only now are processes dropped, with them spaces, with them snapshots,
 *     with them the users of objects. Each is freed behind a grace period, by
 *     a worker that is waited for, see space.c.
 *  8. synchronize_rcu_tasks(): a task may be preempted in a replacement, or in
 *     the last instructions of a task work, behind its module_put(). The last
 *     walk may have made a request (touch.c), whose thread gets no reference to
 *     the module any more: interrupts and threads are waited for.
 *  9. What walks use goes: caches. Then the shrinker and the idle objects.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include "auto.h"
#include "builder.h"
#include "callstack.h"
#include "device.h"
#include "emit.h"
#include "follow.h"
#include "hook.h"
#include "object.h"
#include "process.h"
#include "space.h"
#include "takeover.h"
#include "touch.h"

/* From 2 on; also the end of an init that failed behind the first hook. */
static void let_go(void)
{
	bool free;

	kunwind_hooks_retire();
	synchronize_rcu();
	free = kunwind_takeover_exit();
	free &= kunwind_process_stop();
	free &= kunwind_follow_exit();
	if (!free) {
		pr_err("ftrace would not let go of a hook: the module stays until the next boot\n");
		for (;;) {
			set_current_state(TASK_IDLE);
			schedule();
		}
	}
	kunwind_emit_exit();
	tracepoint_synchronize_unregister();
	kunwind_builder_stop();
	kunwind_process_exit();
	kunwind_space_exit();
	synchronize_rcu_tasks();
	kunwind_touch_exit();
}

static int __init kunwind_init(void)
{
	int err;

	err = kunwind_object_init();
	if (err)
		return err;
	err = kunwind_builder_init();
	if (err)
		goto out_object;
	err = kunwind_space_init();
	if (err)
		goto out_builder;
	err = kunwind_callstack_init();
	if (err)
		goto out_space;
	err = kunwind_touch_init();
	if (err)
		goto out_callstack;
	err = kunwind_auto_init();
	if (err)
		goto out_touch;
	kunwind_emit_init();
	kunwind_follow_init();
	kunwind_process_init();
	kunwind_takeover_init();	/* after the required hooks */
	/* From here on there are callers. */
	err = kunwind_device_init();
	if (err)
		goto out_hooks;
	kunwind_auto_start();
	return 0;

out_hooks:
	kunwind_auto_exit();
	let_go();	/* space included */
	kunwind_callstack_exit();
	goto out_builder;
out_touch:
	kunwind_touch_exit();
out_callstack:
	kunwind_callstack_exit();
out_space:
	kunwind_space_exit();
out_builder:
	kunwind_builder_exit();
out_object:
	kunwind_object_exit();
	return err;
}

static void __exit kunwind_exit(void)
{
	kunwind_auto_exit();
	kunwind_device_exit();
	let_go();
	kunwind_callstack_exit();
	kunwind_builder_exit();
	kunwind_object_exit();
}

module_init(kunwind_init);
module_exit(kunwind_exit);

MODULE_DESCRIPTION("call stacks of user programs from .eh_frame, in the kernel");
MODULE_AUTHOR("the kunwind project");
MODULE_VERSION(KUNWIND_MODULE_VERSION);
MODULE_LICENSE("GPL");
