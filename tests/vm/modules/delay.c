// SPDX-License-Identifier: GPL-2.0-only
/*
 * delay.c - delay one function of the kernel for the tasks of one name
 *
 * A kprobe at the entry of the function that parameter "function" names spins
 * when a task named "comm" calls it, until parameter "go" is set, at most 100
 * s. This widens the window between two steps of the kernel. Parameter nr
 * counts the delays.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

/* By the clock: mdelay()'s length depends on the host's load at boot. */
#define MOST	(100 * (u64)NSEC_PER_SEC)

static char *function = "";
module_param(function, charp, 0444);

static char *comm = "";
module_param(comm, charp, 0444);

static bool go;
module_param(go, bool, 0644);

static unsigned int nr;
module_param(nr, uint, 0444);

static int before(struct kprobe *p, struct pt_regs *regs)
{
	u64 end = ktime_get_mono_fast_ns() + MOST;

	if (strcmp(current->comm, comm))
		return 0;
	WRITE_ONCE(nr, nr + 1);
	while (!READ_ONCE(go) && ktime_get_mono_fast_ns() < end)
		cpu_relax();
	return 0;
}

static struct kprobe probe = { .pre_handler = before };

static int __init delay_init(void)
{
	probe.symbol_name = function;
	return register_kprobe(&probe);
}

static void __exit delay_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(delay_init);
module_exit(delay_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("delays one function of the kernel for the tasks of one name");
