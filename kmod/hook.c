// SPDX-License-Identifier: GPL-2.0-only
/*
 * hook.c - ftrace hooks on kernel functions, by name
 *
 * FTRACE_OPS_FL_PERMANENT: kernel.ftrace_enabled cannot be cleared while a hook
 * is on (the write fails with EBUSY), and a hook cannot be enabled while it is
 * clear. So no hook is ever silently dead.
 *
 * Not FTRACE_OPS_FL_RECURSION, whose guard is a good part of what a hook costs:
 * no hook calls a function that has the same one. So the callbacks do with
 * preemption on, too; unregistering waits for tasks that are preempted in one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "hook.h"

/*
 * Where there is no memory for the function's entry, ftrace_set_filter() says that all
 * is well and leaves the filter empty, which means every function of the kernel. All
 * filters that hold nothing are one and the same; which, tells one that was emptied.
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
	if (err)
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
		return 0;
	/*
	 * Returns when no CPU and no preempted task is in the trampoline any
	 * more. -ENODEV: ftrace shut itself down after a bug and left
	 * everything as it was; the call may still come.
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

void kunwind_hooks_enable(struct kunwind_hook *hooks, unsigned int nr, const char *done)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (enable(&hooks[i]))
			pr_notice("%s is not %s: error %d (see \"kunwind status\")\n",
				  hooks[i].function, done, hooks[i].error);
}

bool kunwind_hooks_disable(struct kunwind_hook *hooks, unsigned int nr)
{
	bool free = true;

	while (nr--)
		if (disable(&hooks[nr]))
			free = false;
	return free;
}

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare_name(struct tracepoint *tp, void *data)
{
	struct search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

struct tracepoint *kunwind_tracepoint_find(const char *name)
{
	struct search search = { .name = name };

	for_each_kernel_tracepoint(compare_name, &search);
	return search.found;
}

static const char *refusal(int err)
{
	switch (err) {
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

static void show(struct seq_file *m, const struct kunwind_hook *hook)
{
	seq_printf(m, "hook\t%s\t%s\t%s\n", hook->function,
		   hook->on ? "on" : hook->error ? "refused" : "off",
		   hook->stuck ? "ftrace would not let go" : refusal(hook->error));
}

void kunwind_hooks_show(struct seq_file *m, const struct kunwind_hook *hooks, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		show(m, &hooks[i]);
}
