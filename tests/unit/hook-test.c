/* SPDX-License-Identifier: MIT */
/*
 * hook-test.c - ftrace hooks: what ftrace is asked for, which refusal is kept,
 * and what is left after each failure
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------- the kernel, with ftrace */

#define _KUNWIND_COMPAT_FTRACE_H
#define CONFIG_PREEMPT_RT		1
#define IS_ENABLED(option)		option
#define FTRACE_OPS_FL_PERMANENT		1
#define FTRACE_OPS_FL_IPMODIFY		2

struct ftrace_hash { int unused; };
struct ftrace_regs;
struct ftrace_ops {
	void (*func)(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs);
	unsigned long flags;
	struct { struct ftrace_hash *filter_hash; } *func_hash, local_hash;
};
static struct ftrace_hash nothing, filtered;	/* an empty filter means all functions */

#define NR		3
static int refuses_filter[NR], refuses[NR], keeps[NR];	/* errors for each hook */
static int refuses_reset;		/* error of setting an empty filter, of any hook */
static bool forgets[NR];		/* no memory for the function's entry */
static bool registered[NR], has_filter[NR];
static unsigned int warnings;
static char order[64];

static unsigned int number_of(const struct ftrace_ops *ops);

static int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *name, int length, int reset)
{
	const unsigned int i = number_of(ops);

	might_sleep();
	ops->func_hash = (void *)&ops->local_hash;
	if (!reset)
		wrong("an old filter stays");
	if (!name && refuses_reset)
		return refuses_reset;
	if (!name || forgets[i]) {
		ops->func_hash->filter_hash = &nothing;
		return 0;
	}
	if (refuses_filter[i])
		return refuses_filter[i];
	if (length != 2 || name[0] != 'f' || name[1] != (unsigned char)('0' + i))
		wrong("the filter %s", name);
	ops->func_hash->filter_hash = &filtered;
	has_filter[i] = true;
	return 0;
}

static int register_ftrace_function(struct ftrace_ops *ops)
{
	const unsigned int i = number_of(ops);

	might_sleep();
	if (!has_filter[i])
		wrong("a hook on all functions");
	if (registered[i])
		wrong("registered twice");
	registered[i] = !refuses[i];
	return refuses[i];
}

static int unregister_ftrace_function(struct ftrace_ops *ops)
{
	const unsigned int i = number_of(ops);

	might_sleep();
	if (!registered[i])
		wrong("not registered");
	registered[i] = keeps[i];
	snprintf(order + strlen(order), sizeof(order) - strlen(order), "%u", i);
	return keeps[i];
}

static void ftrace_free_filter(struct ftrace_ops *ops)
{
	if (registered[number_of(ops)])
		wrong("the filter of a hook that is on");
	has_filter[number_of(ops)] = false;
}

struct tracepoint { const char *name; };
static struct tracepoint points[] = { { "sched_switch_x" }, { "sched_switch" }, { "sched" },
	   { "sys_enter" } };
static void for_each_kernel_tracepoint(void (*call)(struct tracepoint *tp, void *data), void *data)
{
	for (unsigned int i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		call(&points[i], data);
}
#define pr_warn(...)			(warnings++)
#define pr_warn_once(...)		(warnings++)
typedef long (*sys_call_ptr_t)(const void *regs);

#include "../../kmod/base/hook.c"

/* --------------------------------------------------------------- the scene */

static void call_0(unsigned long ip, unsigned long parent_ip,
		   struct ftrace_ops *ops, struct ftrace_regs *fregs) { }
static void call_1(unsigned long ip, unsigned long parent_ip,
		   struct ftrace_ops *ops, struct ftrace_regs *fregs) { }

static struct kunwind_hook hooks[NR];

static unsigned int number_of(const struct ftrace_ops *ops)
{
	return container_of(ops, struct kunwind_hook, ops) - hooks;
}

static void reset(void)
{
	memset(refuses_filter, 0, sizeof(refuses_filter));
	memset(refuses, 0, sizeof(refuses));
	refuses_reset = 0;
	memset(keeps, 0, sizeof(keeps));
	memset(forgets, 0, sizeof(forgets));
	memset(registered, 0, sizeof(registered));
	memset(has_filter, 0, sizeof(has_filter));
	hooks[0] = (struct kunwind_hook){ .function = "f0", .call = call_0 };
	hooks[1] = (struct kunwind_hook){ .function = "f1", .call = call_1, .redirects = true };
	hooks[2] = (struct kunwind_hook){ .function = "f2", .call = call_0 };
	kunwind_hooks_first_missing = NULL;
	warnings = 0;
	order[0] = '\0';
}

/* As when the module is unloaded: no walk may begin while hooks are removed. */
static bool removes(void)
{
	const struct kunwind_hook *was = kunwind_hooks_first_missing;
	bool free;

	kunwind_hooks_retire();
	free = kunwind_hooks_disable(hooks, NR);
	kunwind_hooks_first_missing = was;
	return free;
}

static void removed(void)
{
	if (!removes())
		wrong("ftrace keeps a hook");
}

/* Returns whether exactly the hooks of @which ("012") are on and registered. */
static bool are_on(const char *which)
{
	for (unsigned int i = 0; i < NR; i++) {
		bool on = strchr(which, '0' + i);

		if (hooks[i].on != on || registered[i] != on || has_filter[i] < on)
			return false;
	}
	return true;
}

static const char *shown(const char *why)
{
	static struct seq_file m;

	m.used = 0;
	m.text[0] = '\0';
	kunwind_hooks_show(&m, hooks, NR, why);
	return m.text;
}

static void test_enable(void)
{
	reset();
	tap_ok(!strcmp(shown("why"), "hook\tf0\toff\twhy\nhook\tf1\toff\twhy\nhook\tf2\toff\twhy\n"),
	       "status: hooks that were never enabled are off, with the reason");
	tap_ok(!kunwind_hooks_enable(hooks, NR) && are_on("012"), "enable: all hooks are on");
	tap_ok(hooks[0].ops.flags == FTRACE_OPS_FL_PERMANENT && hooks[0].ops.func == call_0,
	       "plain hook: ftrace calls its handler, and cannot be switched off");
	tap_ok(hooks[1].ops.flags == (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY) &&
	       hooks[1].ops.func == call_1,
	       "redirecting hook: the flag IPMODIFY, too");
	tap_ok(!strcmp(shown("why"), "hook\tf0\ton\t\nhook\tf1\ton\t\nhook\tf2\ton\t\n"),
	       "status: hooks that are on");
	tap_ok(removes() && are_on("") && !strcmp(order, "210") && !has_filter[0],
	       "disable: the last hook is removed first, and no filter is left");
	tap_ok(removes() && !strcmp(order, "210"),
	       "disable: a hook that is off is left alone");
	tap_ok(!kunwind_hooks_enable(hooks, NR) && are_on("012"), "enable: hooks can be enabled again");
	removed();
}

static void test_refused(void)
{
	reset();
	refuses[1] = -EBUSY;
	tap_ok(kunwind_hooks_enable(hooks, NR) == &hooks[1] && are_on("02") && hooks[1].error == -EBUSY &&
	       !has_filter[1],
	       "refused: the hook is returned, its filter is freed, and the others are on");
	tap_ok(strstr(shown(""),
	       "hook\tf1\trefused\ttaken by a livepatch or a kprobe, or kernel.ftrace_enabled is 0\n"),
	       "refused: the status has the cause");
	tap_ok(removes() && are_on("") && !strcmp(order, "20"),
	       "refused: the hook is not removed");

	refuses[1] = 0;
	tap_ok(!kunwind_hooks_enable(hooks, NR) && !hooks[1].error && are_on("012"),
	       "refused: the error is gone once the hook is on");
	removed();

	reset();
	refuses_filter[0] = -EINVAL;
	forgets[2] = true;
	tap_ok(kunwind_hooks_enable(hooks, NR) == &hooks[0] && are_on("1") && hooks[0].error == -EINVAL &&
	       hooks[2].error == -ENOMEM,
	       "no such function, or no memory for its entry: the hook is not registered");
	tap_ok(strstr(shown(""), "f0\trefused\tno such traceable function") && strstr(shown(""),
	       "f2\trefused\tout of memory"),
	       "no such function, or no memory: the status has the cause");
	removed();
}

static void test_stuck(void)
{
	reset();
	refuses[0] = -ENODEV;
	tap_ok(kunwind_hooks_enable(hooks, NR) == &hooks[0] && hooks[0].stuck && has_filter[0],
	       "ftrace shuts down while a hook is enabled: its filter is kept, because calls may come");
	tap_ok(!removes() && !strcmp(order, "21") && are_on(""),
	       "ftrace shuts down while a hook is enabled: the module must stay, and the others are removed");

	reset();
	kunwind_hooks_enable(hooks, NR);
	keeps[2] = -ENODEV;
	tap_ok(!removes() && hooks[2].stuck && hooks[2].on && has_filter[2] &&
	       !strcmp(order,
	       "210"),
	       "ftrace keeps a hook: the module must stay, its filter too, and the others are removed");
	tap_ok(strstr(shown(""), "hook\tf2\ton\tftrace would not let go\n"),
	       "ftrace keeps a hook: the status says so");
	registered[2] = false;
}

/* What the status says for each error of ftrace. */
static void test_errors(void)
{
	static const struct { int error; const char *text; } of[] = {
		{ -EBUSY, "taken by a livepatch or a kprobe, or kernel.ftrace_enabled is 0" },
		{ -EINVAL, "no such traceable function in this kernel" },
		{ -ENOENT, "no such traceable function in this kernel" },
		{ -ENOMEM, "out of memory" }, { -EPERM, "refused by ftrace" },
	};
	char line[128];
	unsigned int i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		reset();
		refuses[0] = of[i].error;
		kunwind_hooks_enable(hooks, NR);
		snprintf(line, sizeof(line), "hook\tf0\trefused\t%s\n", of[i].text);
		tap_ok(strstr(shown(""), line) && are_on("12"),
		       "status of error %d: %s", of[i].error, of[i].text);
		removed();
	}
	reset();
	refuses_reset = -ENODEV;
	tap_ok(kunwind_hooks_enable(hooks, NR) == &hooks[0] && are_on("") && hooks[0].error == -ENODEV &&
	       !has_filter[0] && strstr(shown(""), "hook\tf0\trefused\tftrace is disabled\n"),
	       "ftrace cannot clear a filter: no hook is enabled");
	reset();
}

static void test_missing(void)
{
	bool usable;

	reset();
	kunwind_hooks_require(hooks, NR);
	tap_ok(!kunwind_hook_missing() && !warnings, "required hooks are on: none is missing");
	removed();
	reset();
	refuses[1] = refuses[2] = -EBUSY;
	kunwind_hooks_require(hooks, NR);
	tap_ok(kunwind_hooks_first_missing == &hooks[1] && warnings == 1,
	       "required hooks: the first refused one is missing, with one warning");
	removed();
	hooks[0].on = false;
	refuses[0] = -EBUSY;
	kunwind_hooks_require(hooks, 1);
	tap_ok(kunwind_hooks_first_missing == &hooks[1] && warnings == 1,
	       "required hooks: a later refusal does not replace it");

	reset();
	kunwind_hooks_enable(hooks, 1);
	tap_ok(!kunwind_hooks_enable(&hooks[1], 2) && !kunwind_hook_missing(),
	       "hooks that are not required: none is missing");
	tap_ok(__kunwind_hook_usable(&hooks[2].ops) && !kunwind_hook_missing(),
	       "PREEMPT_RT: a hook runs where preemption is on");
	preempt_disable();
	usable = __kunwind_hook_usable(&hooks[2].ops);
	preempt_enable();
	tap_ok(!usable && kunwind_hooks_first_missing == &hooks[2] && hooks[2].lost && !hooks[1].lost,
	       "PREEMPT_RT: with preemption off, the hook is lost and missing");
	tap_ok(strstr(shown(""),
	       "hook\tf2\tlost\tanother tracer is on this function: reload kunwind without it\n") &&
	       strstr(shown(""), "hook\tf1\ton\t\n"), "a lost hook: the status says so, of this one only");
	hooks[0].ops.func = call_0;
	preempt_disable();
	usable = __kunwind_hook_usable(&hooks[0].ops);
	preempt_enable();
	tap_ok(!usable && kunwind_hooks_first_missing == &hooks[0] && hooks[2].lost,
	       "a second hook is lost: the last one is the missing one, both are lost");
	kunwind_hooks_retire();
	tap_ok(kunwind_hook_missing() && kunwind_hooks_first_missing != &hooks[2] &&
	       !strcmp(kunwind_hooks_first_missing->function, "(unloading)"),
	       "unload: hooks count as missing before they are removed");
	removed();
}

static void test_tracepoint(void)
{
	tap_ok(kunwind_tracepoint_find("sched_switch") == &points[1] &&
	       kunwind_tracepoint_find("sys_enter") == &points[3],
	       "tracepoint: found by its whole name");
	tap_ok(!kunwind_tracepoint_find("sched_swi") && !kunwind_tracepoint_find(""),
	       "tracepoint: a part of a name is none");
}

int main(void)
{
	test_enable();
	test_refused();
	test_stuck();
	test_errors();
	test_missing();
	test_tracepoint();
	return tap_done();
}
