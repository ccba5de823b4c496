// SPDX-License-Identifier: GPL-2.0-only
/*
 * statedump.c - tell each new LTTng session the mappings known so far
 *
 * LTTng dumps the state of the system when a session starts: the function
 * lttng_statedump_start() of module lttng-statedump fires a tracepoint of the
 * same name first. lttng-modules exports nothing to hang on to, so the module
 * notifier of the tracepoint core finds that tracepoint, whichever of the two
 * modules is loaded first, and lets go of it before that module goes.
 *
 * A probe runs with preemption off (before 6.13): the dump is left to a work item.
 * Its length grows with the number of processes, which users choose, so it is on
 * no CPU's own queue, where it would hold up others' work. `lttng start` does not
 * wait for it: a session that is stopped at once may lack some of it.
 *
 * The dump is seen by all running sessions, not the new one alone; replaying a
 * mapping twice changes nothing.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "trace/dump.h"
#include "statedump.h"

struct lttng_kernel_session;

static DEFINE_MUTEX(attach_lock);	/* nests in the tracepoint core's module list lock */
static struct tracepoint *attached;	/* under attach_lock */

static void dump_work(struct work_struct *work)
{
	kunwind_space_dump_all();
}
static DECLARE_WORK(dump, dump_work);

static void statedump_probe(void *data, struct lttng_kernel_session *session)
{
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

/* The core calls the notifier at once for every module that is there already. */
int kunwind_statedump_init(void)
{
	return register_tracepoint_module_notifier(&notifier);
}

/*
 * Without the notifier nothing attaches any more; without the probe, and after
 * all CPUs have left it, nothing queues the work; then the work can be waited for.
 * The tracepoint core calls the notifier for GOING once more for every module
 * when it is unregistered, which already detaches.
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
