// SPDX-License-Identifier: GPL-2.0-only
/*
 * livepatch.c - a livepatch of one function, chosen at load
 *
 * cmdline_proc_show() has nothing to do with kunwind. Its patch tests that
 * tasks in kunwind's code do not block a transition, and that a transition does
 * not disturb kunwind. With stack_trace_save_user(), which kunwind takes over,
 * ftrace refuses the second of the two users.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

static char *function = "cmdline_proc_show";
module_param(function, charp, 0444);

static int show(struct seq_file *m, void *v)
{
	seq_puts(m, "patched\n");
	return 0;
}

static unsigned int save_user(unsigned long *store, unsigned int size)
{
	return 0;
}
static_assert(__same_type(&save_user, &stack_trace_save_user));

static struct klp_func funcs[] = { { }, { } };

static struct klp_object objects[] = {
	{ .funcs = funcs },	/* no name: vmlinux */
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init livepatch_init(void)
{
	bool taken = !strcmp(function, "stack_trace_save_user");

	funcs[0].old_name = function;
	funcs[0].new_func = taken ? (void *)save_user : (void *)show;
	return klp_enable_patch(&patch);
}

static void __exit livepatch_exit(void)
{
}

module_init(livepatch_init);
module_exit(livepatch_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("a livepatch of one function, for tests of kunwind");
