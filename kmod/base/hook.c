// SPDX-License-Identifier: GPL-2.0-only
/*
 * hook.c - ftrace hooks on kernel functions, by name
 *
 * An enabled hook stays on until the module removes it:
 *   - FTRACE_OPS_FL_PERMANENT: while a hook is on, kernel.ftrace_enabled cannot
 *     be cleared (the write fails with EBUSY). While it is clear, no hook can
 *     be enabled.
 *   - After a bug, ftrace refuses all further changes (ftrace_kill()), but does
 *     not undo earlier ones: the calls to our trampolines stay in the kernel's
 *     text. Then only unregistering fails, with ENODEV.
 *
 * FTRACE_OPS_FL_RECURSION is not set: its guard is a large part of the cost of
 * a hook, and no handler calls a function that has the same hook. Without the
 * flag, ftrace calls a handler directly, in the context of the hooked function.
 * However, if another user of ftrace is on the same function, ftrace calls all
 * handlers with preemption off. The plain hooks take spinlock_t and allocate
 * with GFP_ATOMIC, and PREEMPT_RT allows neither with preemption off. There the
 * call is lost, and the module may hold wrong mappings: until the module is
 * loaded again, stacks are the kernel's own, and calls to register fail.
 *
 * All functions may sleep, except kunwind_hook_lose().
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "hook.h"

const struct kunwind_hook *kunwind_hooks_first_missing;

/*
 * If there is no memory for the function's entry, ftrace_set_filter() returns 0
 * and leaves the filter empty, which means all functions of the kernel. All
 * empty filters share one hash, so comparing with the hash of an empty filter
 * detects this.
 */
static int set_filter(struct kunwind_hook *hook)
{
	struct ftrace_ops *ops = &hook->ops;
	const void *empty;
	int err;

	err = ftrace_set_filter(ops, NULL, 0, 1);
	if (err)
		return err;
	empty = rcu_access_pointer(ops->func_hash->filter_hash);
	err = ftrace_set_filter(ops, (unsigned char *)hook->function, strlen(hook->function), 1);
	if (!err && rcu_access_pointer(ops->func_hash->filter_hash) == empty)
		err = -ENOMEM;
	return err;
}

static int enable(struct kunwind_hook *hook)
{
	int err;

	hook->ops.func = hook->call;
	hook->ops.flags = FTRACE_OPS_FL_PERMANENT;
	if (hook->redirects)
		hook->ops.flags |= FTRACE_OPS_FL_IPMODIFY;

	err = set_filter(hook);
	if (err)
		goto out;
	err = register_ftrace_function(&hook->ops);
	/*
	 * The filter could be set, so ftrace was alive. It shut itself down
	 * while it changed the kernel's text, and calls may come.
	 */
	if (err == -ENODEV)
		hook->stuck = true;
	else if (err)
		ftrace_free_filter(&hook->ops);
out:
	hook->error = err;
	hook->on = !err;
	return err;
}

static int disable(struct kunwind_hook *hook)
{
	int err;

	if (!hook->on)
		return hook->stuck ? -ENODEV : 0;
	/* Without a plain hook, a walk could be wrong: none may begin any more. */
	WARN_ON_ONCE(!hook->redirects && !kunwind_hook_missing());
	/*
	 * Returns when no CPU and no preempted task is in the trampoline any
	 * more. -ENODEV: ftrace shut itself down after a bug and left
	 * everything unchanged; calls may still come.
	 */
	err = unregister_ftrace_function(&hook->ops);
	if (err) {
		hook->stuck = true;
		return err;
	}
	hook->on = false;
	ftrace_free_filter(&hook->ops);
	return 0;
}

const struct kunwind_hook *kunwind_hooks_enable(struct kunwind_hook *hooks, unsigned int nr)
{
	const struct kunwind_hook *refused = NULL;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (enable(&hooks[i]) && !refused)
			refused = &hooks[i];
	return refused;
}

void kunwind_hooks_require(struct kunwind_hook *hooks, unsigned int nr)
{
	const struct kunwind_hook *refused = kunwind_hooks_enable(hooks, nr);

	if (!refused || kunwind_hook_missing())
		return;
	WRITE_ONCE(kunwind_hooks_first_missing, refused);
	pr_warn("no process can be registered, for lack of the hook on %s: %s (see kunwind doctor)\n",
		refused->function, kunwind_hook_refusal(refused));
}

void kunwind_hooks_retire(void)
{
	static const struct kunwind_hook unloading = { .function = "(unloading)" };

	WRITE_ONCE(kunwind_hooks_first_missing, &unloading);
}

void notrace kunwind_hook_lose(struct ftrace_ops *ops)
{
	struct kunwind_hook *hook = container_of(ops, struct kunwind_hook, ops);

	WRITE_ONCE(hook->lost, true);
	WRITE_ONCE(kunwind_hooks_first_missing, hook);
	/* Orders this before the change that the hook did not see. */
	smp_wmb();
	pr_warn_once("no more stacks until kunwind is reloaded: another tracer is on %s\n",
		     hook->function);
}

bool kunwind_hooks_disable(struct kunwind_hook *hooks, unsigned int nr)
{
	bool free = true;

	while (nr--)
		if (disable(&hooks[nr]))
			free = false;
	return free;
}

struct symbol_search {
	const char *name;
	struct tracepoint *found;
};

static void compare_name(struct tracepoint *tp, void *data)
{
	struct symbol_search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

struct tracepoint *kunwind_tracepoint_find(const char *name)
{
	struct symbol_search search = { .name = name };

	for_each_kernel_tracepoint(compare_name, &search);
	return search.found;
}

const char *kunwind_hook_refusal(const struct kunwind_hook *hook)
{
	switch (hook->error) {
	case 0:
		return "";
	case -EBUSY:
		return "taken by a livepatch or a kprobe, or kernel.ftrace_enabled is 0";
	case -EINVAL:
	case -ENOENT:
		return "no such traceable function in this kernel";
	case -ENODEV:
		return "ftrace is disabled";
	case -ENOMEM:
		return "out of memory";
	default:
		return "refused by ftrace";
	}
}

void kunwind_hooks_show(struct seq_file *m, const struct kunwind_hook *hooks, unsigned int nr,
			const char *why)
{
	const struct kunwind_hook *hook;

	for (hook = hooks; hook < hooks + nr; hook++) {
		bool lost = READ_ONCE(hook->lost);

		seq_printf(m, "hook\t%s\t%s\t%s\n", hook->function,
			   lost ? "lost" : hook->on ? "on" : hook->error ? "refused" : "off",
			   hook->stuck ? "ftrace would not let go" :
			   lost ? "another tracer is on this function: reload kunwind without it" :
			   hook->on || hook->error ? kunwind_hook_refusal(hook) : why);
	}
}
