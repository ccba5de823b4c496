/* SPDX-License-Identifier: MIT */
/*
 * statedump-test.c - the dump that each new LTTng session gets: whichever module is
 * loaded first, and what a reader may conclude from the two counters
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

struct tracepoint {
	const char *name;
	void (*probe)(void *data, void *session);
	unsigned int times;
};
struct module { unsigned int num_tracepoints; struct tracepoint **tracepoints_ptrs; };
struct tp_module { struct module *mod; };
struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long event, void *data);
};
#define tracepoint_ptr_deref(p)		(*(p))
#define NOTIFY_OK			1
enum { MODULE_STATE_LIVE, MODULE_STATE_COMING, MODULE_STATE_GOING, MODULE_STATE_UNFORMED };

static struct tracepoint statedump = { .name = "lttng_statedump_start" },
			 longer = { .name = "lttng_statedump_start_all" },
			 other = { .name = "lttng_statedump_end" },
			 again = { .name = "lttng_statedump_start" };
static struct module lttng = { 3, (struct tracepoint *[]){ &other, &longer, &statedump } },
		     foreign = { 2, (struct tracepoint *[]){ &longer, &other } },
		     twin = { 1, (struct tracepoint *[]){ &again } };
static struct tp_module *loaded[4];
static struct notifier_block *notified;
static int refused;
static unsigned int warnings, synchronized;
#define pr_warn(...)			(warnings++)

static int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	if (refused)
		return refused;
	if (!probe || data || tp->probe || tp->times++)
		wrong("a probe is attached twice");
	tp->probe = (void (*)(void *, void *))probe;
	return 0;
}

static void tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	if (!tp || !probe || (void *)tp->probe != probe)
		wrong("a probe is detached that is not attached");
	tp->probe = NULL;
	tp->times = 0;
}

/* The core holds its own lock meanwhile, and calls the notifier for each module. */
static void notify_all(unsigned long event)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(loaded); i++)
		if (loaded[i] && notified->notifier_call(notified, event, loaded[i]) != NOTIFY_OK)
			wrong("the notifier stops others");
}

static int cannot_notify;
static int register_tracepoint_module_notifier(struct notifier_block *nb)
{
	if (cannot_notify)
		return cannot_notify;
	notified = nb;
	notify_all(MODULE_STATE_COMING);
	return 0;
}

static bool leaves_attached;	/* a kernel that does not call the notifier once more */
static void unregister_tracepoint_module_notifier(struct notifier_block *nb)
{
	if (nb != notified)
		wrong("another notifier");
	if (!leaves_attached)
		notify_all(MODULE_STATE_GOING);
	notified = NULL;
}

#undef synchronize_rcu
static void tracepoint_synchronize_unregister(void)
{
	might_sleep();
	if (notified || statedump.probe)
		wrong("a probe may still be called");
	synchronized++;
}

#define DECLARE_WORK(name, fn)		struct work_struct name = { fn }
static struct workqueue_struct *const system_unbound_wq = &workqueues[0];
static void cancel_work_sync(struct work_struct *work)
{
	might_sleep();
	if (!synchronized)
		wrong("a probe may still queue the work");
	nr_works = 0;
}

/* What the dump of the module does, and what happens meanwhile. */
static unsigned int dumps, restarts, works_at_restart, done_before;
static unsigned int *done;
static void (*meanwhile)(void);
static void kunwind_dump_all(void)
{
	void (*now)(void) = meanwhile;

	might_sleep();
	dumps++;
	done_before = *done;
	meanwhile = NULL;
	if (now)
		now();
}
static void kunwind_stack_restart(void)
{
	works_at_restart = nr_works;
	restarts++;
}

#define _KUNWIND_DUMP_H
#define _KUNWIND_STACK_H
#define _KUNWIND_PARAM_H
#define KUNWIND_PARAM_READ_ONLY(name, getter)	static int (*const param_##name)(char *) = getter
#include "../../lttng-probes/statedump.c"
static unsigned int *done = &dumps_done;

/* --------------------------------------------------------------- tests */

static struct tp_module lttng_entry = { &lttng }, foreign_entry = { &foreign }, twin_entry = { &twin };

static void event(unsigned long what, struct tp_module *module)
{
	if (notified->notifier_call(notified, what, module) != NOTIFY_OK)
		wrong("the notifier stops others");
}

static void session(void)
{
	preempt_disable();		/* most kernels call a probe so */
	statedump.probe(NULL, NULL);
	preempt_enable();
}

static unsigned int read_param(int (*get)(char *))
{
	static char text[4096];

	if (get(text) < 2 || !strchr(text, '\n'))
		wrong("the text of the parameter");
	return strtoul(text, NULL, 10);
}

static void begin(struct tp_module *first, struct tp_module *second)
{
	loaded[0] = first;
	loaded[1] = second;
	synchronized = warnings = dumps = restarts = 0;
	if (kunwind_statedump_init())
		wrong("init");
}

static void test_attach(void)
{
	begin(&foreign_entry, &lttng_entry);
	tap_ok(statedump.times == 1 && !other.times && !longer.times,
	       "a tracer that was there before: the probe is at its tracepoint, at no other one");
	event(MODULE_STATE_LIVE, &lttng_entry);
	event(MODULE_STATE_GOING, &foreign_entry);
	tap_ok(statedump.times == 1, "another module goes: the probe stays");
	event(MODULE_STATE_COMING, &twin_entry);
	tap_ok(!again.times && statedump.times == 1, "a second tracepoint of this name gets no probe");
	event(MODULE_STATE_GOING, &twin_entry);
	tap_ok(statedump.times == 1, "the second one goes: the probe stays at the first");
	event(MODULE_STATE_GOING, &lttng_entry);
	tap_ok(!statedump.times, "the tracer goes: the probe has gone before");
	event(MODULE_STATE_COMING, &lttng_entry);
	tap_ok(statedump.times == 1, "the tracer comes again: the probe, too");
	kunwind_statedump_exit();
	tap_ok(!statedump.times && synchronized == 1,
	       "unload: the probe has gone, all processors have left it");

	begin(NULL, NULL);
	event(MODULE_STATE_COMING, &lttng_entry);
	tap_ok(statedump.times == 1, "a tracer that is loaded later has the probe");
	leaves_attached = true;
	loaded[0] = NULL;
	kunwind_statedump_exit();
	leaves_attached = false;
	tap_ok(!statedump.times, "unload: the probe goes even if the core does not call the notifier");

	refused = -ENOMEM;
	begin(&lttng_entry, NULL);
	refused = 0;
	tap_ok(warnings == 1 && !statedump.times, "a probe that cannot be attached is in the log");
	event(MODULE_STATE_GOING, &lttng_entry);
	event(MODULE_STATE_COMING, &lttng_entry);
	tap_ok(statedump.times == 1, "it is attached when the tracer comes again");
	kunwind_statedump_exit();
	cannot_notify = -ENOMEM;
	tap_ok(kunwind_statedump_init() == -ENOMEM, "without the notifier, the module is not loaded");
	cannot_notify = 0;
}

static void test_dump(void)
{
	unsigned int before;

	begin(&lttng_entry, NULL);
	before = read_param(param_dumps_wanted);
	tap_ok(read_param(param_dumps_done) == before, "no session: all dumps are done");
	session();
	tap_ok(read_param(param_dumps_wanted) == before + 1 && read_param(param_dumps_done) == before &&
	       !dumps && nr_works == 1 && works[0].queue == system_unbound_wq,
	       "a session: the dump is wanted, and a work item of no processor makes it");
	tap_ok(restarts == 1 && !works_at_restart,
	       "a session: ids of stacks are defined again, before the dump");
	run_work();
	tap_ok(dumps == 1 && done_before == before && read_param(param_dumps_done) == before + 1,
	       "the dump counts as done after it has ended, not before");
	session();
	session();
	run_work();
	tap_ok(dumps == 2 && restarts == 3 && read_param(param_dumps_done) == before + 3 && !nr_works,
	       "one dump serves all sessions that began before it");
	session();
	meanwhile = session;
	run_work();
	tap_ok(read_param(param_dumps_wanted) == before + 5 && read_param(param_dumps_done) == before + 4,
	       "a session that begins during a dump is not served by it");
	run_work();
	tap_ok(dumps == 4 && read_param(param_dumps_done) == before + 5, "but by the next one");
	session();
	kunwind_statedump_exit();
	tap_ok(!nr_works && dumps == 4, "unload: a dump that is wanted is not made any more");
}

int main(void)
{
	test_attach();
	test_dump();
	return tap_done();
}
