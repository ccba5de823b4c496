// SPDX-License-Identifier: GPL-2.0-only
/*
 * on_demand.c - probe tracepoints of the kernel while an event of ours is on
 *
 * Some events are computed from tracepoints of the kernel. A probe there costs
 * something, so it is attached only while a tracer has the event on. The
 * function that turns the event on cannot attach it, because the lock of the
 * tracepoints is held. A work item does so some milliseconds later.
 *
 * The kernel can turn an event on before the module's init, and turns it off
 * after the module's exit. All functions may sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/tracepoint.h>

#include "../base/hook.h"
#include "on_demand.h"

/*
 * Taken inside the tracepoints' lock, and never around it. Protects ->users,
 * ->open and ->closed, and serialises the callbacks.
 */
static DEFINE_MUTEX(demand_lock);

static void settle(struct work_struct *work);
struct kunwind_on_demand kunwind_slow_syscall_demand = {
	.event = "kunwind_slow_syscall",
	.work = __WORK_INITIALIZER(kunwind_slow_syscall_demand.work, settle),
};
struct kunwind_on_demand kunwind_fatal_signal_demand = {
	.event = "kunwind_fatal_signal",
	.work = __WORK_INITIALIZER(kunwind_fatal_signal_demand.work, settle),
};

static void detach(struct kunwind_on_demand_probe *probe, unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probe[nr].found, probe[nr].function, NULL);
}

static int attach(struct kunwind_on_demand_probe *probe)
{
	unsigned int i;
	int err;

	for (i = 0; i < KUNWIND_ON_DEMAND_PROBES && probe[i].tracepoint; i++) {
		err = probe[i].found ? tracepoint_probe_register(probe[i].found, probe[i].function,
								 NULL) : -ENOENT;
		if (err) {
			detach(probe, i);
			return err;
		}
	}
	return 0;
}

static void settle(struct work_struct *work)
{
	struct kunwind_on_demand *demand = container_of(work, struct kunwind_on_demand, work);
	unsigned int nr = 0;
	bool wanted;
	int err = 0;

	mutex_lock(&demand_lock);
	wanted = demand->users && demand->open;
	if (wanted && demand->prepare)
		err = demand->prepare();
	mutex_unlock(&demand_lock);
	if (wanted && !demand->attached) {
		err = err ?: attach(demand->probe);
		if (err)
			pr_notice_once("%s: the event stays empty: error %d\n", demand->event, err);
		demand->attached = !err;
	} else if (!wanted && demand->attached) {
		while (nr < KUNWIND_ON_DEMAND_PROBES && demand->probe[nr].tracepoint)
			nr++;
		detach(demand->probe, nr);
		demand->attached = false;
	}
	if (wanted)
		return;
	tracepoint_synchronize_unregister();
	mutex_lock(&demand_lock);
	/*
	 * If the event has been turned on again meanwhile, this work item is
	 * queued again and prepares again. What the probes recorded is stale.
	 */
	if (demand->release)
		demand->release();
	mutex_unlock(&demand_lock);
}

static int begin(struct kunwind_on_demand *demand)
{
	int err = 0;

	mutex_lock(&demand_lock);
	if (demand->closed)
		err = -ENODEV;
	else if (!demand->users && demand->prepare)
		err = demand->prepare();
	if (!err) {
		demand->users++;
		schedule_work(&demand->work);
	}
	mutex_unlock(&demand_lock);
	return err;
}

static void end(struct kunwind_on_demand *demand)
{
	mutex_lock(&demand_lock);
	demand->users--;
	/* A module's events are turned off after its exit function. */
	if (!demand->users && !demand->closed)
		schedule_work(&demand->work);
	mutex_unlock(&demand_lock);
}

int kunwind_slow_syscall_begin(void)
{
	return begin(&kunwind_slow_syscall_demand);
}

void kunwind_slow_syscall_end(void)
{
	end(&kunwind_slow_syscall_demand);
}

int kunwind_fatal_signal_begin(void)
{
	return begin(&kunwind_fatal_signal_demand);
}

void kunwind_fatal_signal_end(void)
{
	end(&kunwind_fatal_signal_demand);
}

void kunwind_on_demand_init(struct kunwind_on_demand *demand,
			    const struct kunwind_on_demand_probe *probes, unsigned int nr,
			    int (*prepare)(void), void (*release)(void))
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		demand->probe[i] = probes[i];
		demand->probe[i].found = kunwind_tracepoint_find(probes[i].tracepoint);
	}
	mutex_lock(&demand_lock);
	demand->prepare = prepare;
	demand->release = release;
	demand->open = true;
	if (demand->users)
		schedule_work(&demand->work);
	mutex_unlock(&demand_lock);
}

void kunwind_on_demand_exit(struct kunwind_on_demand *demand)
{
	mutex_lock(&demand_lock);
	demand->open = false;
	demand->closed = true;
	mutex_unlock(&demand_lock);
	schedule_work(&demand->work);
	flush_work(&demand->work);
}
