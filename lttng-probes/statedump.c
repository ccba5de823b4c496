// SPDX-License-Identifier: GPL-2.0-only
/*
 * statedump.c - report the known mappings to each new LTTng session, and define
 * the ids of stacks again
 *
 * LTTng dumps the state of the system when a session starts: the function
 * lttng_statedump_start() of the module lttng-statedump first calls a
 * tracepoint of the same name. lttng-modules exports nothing for this purpose,
 * so the module notifier of the tracepoint core finds that tracepoint,
 * whichever of the two modules is loaded first, and detaches from it before
 * that module is unloaded.
 *
 * Most kernels call a probe with preemption off, so a work item makes the dump.
 * Its length grows with the number of processes, which users choose. Therefore
 * the work is queued on an unbound workqueue: on a CPU's own queue it would
 * delay others' work. `lttng start` does not wait for the dump: a session that
 * is stopped at once may lack some of it. A program that needs the dump reads
 * the parameter dumps_wanted, and waits until dumps_done is as large.
 *
 * All running sessions get the dump, not only the new one. A mapping that is
 * replayed twice changes nothing.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "base/param.h"
#include "trace/dump.h"
#include "trace/stack.h"
#include "statedump.h"

struct lttng_kernel_session;

static DEFINE_MUTEX(attach_lock);	/* taken inside the tracepoint core's module list lock */
static struct tracepoint *attached;	/* under attach_lock */

/* Both counters wrap. A dump serves all sessions that were counted before it began. */
static atomic_t wanted;
static unsigned int dumps_done;

static int show_wanted(char *to)
{
	return sysfs_emit(to, "%u\n", (unsigned int)atomic_read(&wanted));
}
KUNWIND_PARAM_READ_ONLY(dumps_wanted, show_wanted);
MODULE_PARM_DESC(dumps_wanted, "number of sessions that wanted the mappings so far (read-only)");

static int show_done(char *to)
{
	return sysfs_emit(to, "%u\n", READ_ONCE(dumps_done));
}
KUNWIND_PARAM_READ_ONLY(dumps_done, show_done);
MODULE_PARM_DESC(dumps_done, "number of these for which they are written (read-only)");

static void dump_work(struct work_struct *work)
{
	unsigned int number = (unsigned int)atomic_read(&wanted);

	kunwind_dump_all();
	WRITE_ONCE(dumps_done, number);
}
static DECLARE_WORK(dump, dump_work);

static void statedump_probe(void *data, struct lttng_kernel_session *session)
{
	kunwind_stack_restart();
	atomic_inc(&wanted);
	queue_work(system_unbound_wq, &dump);
}

static struct tracepoint *find_statedump(struct tp_module *tp_mod)
{
	struct module *mod = tp_mod->mod;
	unsigned int i;

	for (i = 0; i < mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (!strcmp(tp->name, "lttng_statedump_start"))
			return tp;
	}
	return NULL;
}

static void attach(struct tracepoint *tp)
{
	int err = tracepoint_probe_register(tp, statedump_probe, NULL);

	if (err)
		pr_warn("kunwind: no state dump for LTTng sessions: error %d\n", err);
	else
		attached = tp;
}

static void detach(void)
{
	tracepoint_probe_unregister(attached, statedump_probe, NULL);
	attached = NULL;
}

static int tracepoint_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct tracepoint *tp = find_statedump(data);

	if (!tp)
		return NOTIFY_OK;
	mutex_lock(&attach_lock);
	if (event == MODULE_STATE_COMING && !attached)
		attach(tp);
	else if (event == MODULE_STATE_GOING && attached == tp)
		detach();
	mutex_unlock(&attach_lock);
	return NOTIFY_OK;
}

static struct notifier_block notifier = {
	.notifier_call = tracepoint_module_event,
};

/* The core calls the notifier at once for each module that is loaded. */
int kunwind_statedump_init(void)
{
	return register_tracepoint_module_notifier(&notifier);
}

/*
 * Without the notifier nothing attaches. Without the probe, and after all CPUs
 * have left it, nothing queues the work, which can then be cancelled. While the
 * notifier is unregistered, the tracepoint core calls it once more for each
 * module, with MODULE_STATE_GOING; this call already detaches.
 */
void kunwind_statedump_exit(void)
{
	unregister_tracepoint_module_notifier(&notifier);
	mutex_lock(&attach_lock);
	if (attached)
		detach();
	mutex_unlock(&attach_lock);
	tracepoint_synchronize_unregister();
	cancel_work_sync(&dump);
}
