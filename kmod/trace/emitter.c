// SPDX-License-Identifier: GPL-2.0-only
/*
 * emitter.c - memory and probe of the event kunwind_callstack, while it is on
 *
 * Memory: 36 KB for each of four contexts of each CPU, 84 KB for its ids of
 * stacks (stack_ids.c), 135 KB for walks and for stacks of system calls
 * (stack_context.c), and 16 KB. The task that turns the event on allocates it, and
 * gets -ENOMEM if that fails. The probe cannot be registered there, because the lock
 * of the tracepoints is held; a work item registers it some milliseconds later. The
 * same work item removes the probe and frees the memory.
 *
 * The kernel can turn the event on before the module's init, and turns it off
 * after the module's exit. Therefore kunwind_emitter_begin() and
 * kunwind_emitter_end() need nothing of stack_event.c, which passes the probe
 * to kunwind_emitter_init(). All functions may sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "../base/hook.h"
#include "emitter.h"
#include "stack.h"
#include "stack_ids.h"

struct kunwind_emitter __rcu *kunwind_emitter;
/*
 * Taken inside the tracepoints' lock. Protects kunwind_emitter, users, closed.
 */
static DEFINE_MUTEX(event_lock);
static unsigned int users;			/* tracepoints that are on */
static bool closed;

static void settle(struct work_struct *work);
static DECLARE_WORK(settle_work, settle);
/* Set by kunwind_emitter_init() under event_lock, and constant from then on. */
static struct tracepoint *sys_enter;
static void (*probe)(void *data, struct pt_regs *regs, long id);
static bool probing;				/* only settle() uses it */

static void emitter_free(struct kunwind_emitter *emitter)
{
	int cpu;

	if (!emitter)
		return;
	for_each_possible_cpu(cpu) {
		kvfree(emitter->cpu[cpu].scratch);
		kunwind_stack_ids_free(emitter->cpu[cpu].ids);
		kvfree(emitter->cpu[cpu].notes);
	}
	kvfree(emitter);
}

static struct kunwind_emitter *emitter_alloc(void)
{
	struct kunwind_emitter *new = kvzalloc(struct_size(new, cpu, nr_cpu_ids),
					       GFP_KERNEL | __GFP_NOWARN);
	struct kunwind_scratch *scratch;
	int cpu, i;

	if (!new)
		return NULL;
	for_each_possible_cpu(cpu) {
		scratch = kvzalloc_node(KUNWIND_CONTEXTS * sizeof(*scratch),
					GFP_KERNEL | __GFP_NOWARN, cpu_to_node(cpu));
		new->cpu[cpu].scratch = scratch;
		new->cpu[cpu].ids = kunwind_stack_ids_alloc(cpu);
		new->cpu[cpu].notes = kvzalloc_node(sizeof(*new->cpu[cpu].notes) << KUNWIND_NOTE_BITS,
						    GFP_KERNEL | __GFP_NOWARN, cpu_to_node(cpu));
		if (!scratch || !new->cpu[cpu].ids || !new->cpu[cpu].notes) {
			emitter_free(new);
			return NULL;
		}
		for (i = 0; i < KUNWIND_CONTEXTS; i++) {
			memset(scratch[i].trust, KUNWIND_TRUST_CFI, KUNWIND_MAX_FRAMES);
			scratch[i].trust[0] = KUNWIND_TRUST_REGISTERS;
		}
	}
	return new;
}

/* Only settle() frees the memory. */
static struct kunwind_emitter *emitter_now(void)
{
	return rcu_dereference_protected(kunwind_emitter, true);
}

static void begin_probing(void)
{
	struct kunwind_emitter *emitter = emitter_now();
	int err;

	/* Numbers from before an earlier removal of the probe are stale. */
	memset(emitter->call, 0, sizeof(emitter->call));
	/*
	 * Runs first, before probes that request the stack of the new
	 * entry.
	 */
	err = tracepoint_probe_register_prio(sys_enter, probe, NULL, INT_MAX);
	if (err)
		pr_notice_once("kunwind_callstack: no probe of system calls: error %d\n", err);
	probing = !err;
	WRITE_ONCE(emitter->probing, probing);
}

static void end_probing(void)
{
	WRITE_ONCE(emitter_now()->probing, false);
	tracepoint_probe_unregister(sys_enter, probe, NULL);
	probing = false;
}

/*
 * While a tracepoint is on, registers the probe. Otherwise removes the probe
 * and frees the memory.
 */
static void settle(struct work_struct *work)
{
	struct kunwind_emitter *old = NULL;
	bool wanted, known;

	mutex_lock(&event_lock);
	wanted = users && !closed;
	known = sys_enter;
	mutex_unlock(&event_lock);
	if (wanted && !probing && known)
		begin_probing();
	else if (!wanted && probing)
		end_probing();
	if (wanted)
		return;
	mutex_lock(&event_lock);
	if (!users || closed) {
		old = rcu_dereference_protected(kunwind_emitter, lockdep_is_held(&event_lock));
		RCU_INIT_POINTER(kunwind_emitter, NULL);
	}
	mutex_unlock(&event_lock);
	/* Wait for functions that emit the event, and for the probe. */
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	emitter_free(old);
}

/*
 * Called by both tracepoints, with their lock held, before the first probe is
 * registered. 0, -ENODEV (the module is being unloaded) or -ENOMEM. May sleep.
 */
int kunwind_emitter_begin(void)
{
	struct kunwind_emitter *new;
	int err = 0;

	mutex_lock(&event_lock);
	if (closed) {
		err = -ENODEV;
	} else if (!rcu_access_pointer(kunwind_emitter)) {
		new = emitter_alloc();
		rcu_assign_pointer(kunwind_emitter, new);
		err = new ? 0 : -ENOMEM;
	}
	if (!err) {
		users++;
		schedule_work(&settle_work);
	}
	mutex_unlock(&event_lock);
	return err;
}

void kunwind_emitter_end(void)
{
	mutex_lock(&event_lock);
	users--;
	/* A module's events are turned off after its exit function. */
	if (!users && !closed)
		schedule_work(&settle_work);
	mutex_unlock(&event_lock);
}

void kunwind_emitter_init(void (*function)(void *data, struct pt_regs *regs, long id))
{
	struct tracepoint *found = kunwind_tracepoint_find("sys_enter");

	mutex_lock(&event_lock);
	probe = function;
	sys_enter = found;
	/* The event is on already: settle() may have run without sys_enter. */
	if (users)
		schedule_work(&settle_work);
	mutex_unlock(&event_lock);
}

void kunwind_emitter_exit(void)
{
	mutex_lock(&event_lock);
	closed = true;
	mutex_unlock(&event_lock);
	schedule_work(&settle_work);
	flush_work(&settle_work);
}
