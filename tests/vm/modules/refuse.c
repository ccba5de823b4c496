// SPDX-License-Identifier: GPL-2.0-only
/*
 * refuse.c - make ftrace refuse hooks on one function
 *
 * A kprobe makes ftrace_set_filter() return -EBUSY for the function that
 * parameter "function" names, so no hook on that function succeeds. All other
 * calls run as usual. Parameter nr counts the refusals.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/string.h>

static char *function = "";
module_param(function, charp, 0444);

static unsigned int nr;
module_param(nr, uint, 0444);

/* Runs in place of ftrace_set_filter(), and returns to its caller. */
static noinline int refused(void)
{
	return -EBUSY;
}

/* ftrace_set_filter(ops, buf, len, reset) */
static int before(struct kprobe *p, struct pt_regs *regs)
{
	const char *buf = (const char *)regs->si;

	if (!buf || strcmp(buf, function))
		return 0;
	nr++;
	regs->ip = (unsigned long)refused;
	return 1;
}

/* Prevents the optimisation of the probe to a jump, which ignores regs->ip. */
static void after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.symbol_name = "ftrace_set_filter", .pre_handler = before, .post_handler = after,
};

static int __init refuse_init(void)
{
	return register_kprobe(&probe);
}

static void __exit refuse_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(refuse_init);
module_exit(refuse_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("makes ftrace refuse hooks on one function");
