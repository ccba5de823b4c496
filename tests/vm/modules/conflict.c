// SPDX-License-Identifier: GPL-2.0-only
/*
 * conflict.c - a kprobe with a post-handler, at the first byte of a function
 *
 * Such a probe, a livepatch and kunwind's takeover set FTRACE_OPS_FL_IPMODIFY.
 * ftrace allows one such user for each function and refuses the second one.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

static char *function = "stack_trace_save_user";
module_param(function, charp, 0444);

static void post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = { .post_handler = post };

static int __init conflict_init(void)
{
	probe.symbol_name = function;
	return register_kprobe(&probe);
}

static void __exit conflict_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(conflict_init);
module_exit(conflict_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("occupies a function that kunwind wants to take over");
