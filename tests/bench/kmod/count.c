// SPDX-License-Identifier: GPL-2.0-only
/*
 * count.c - count what one stack_trace_save_user() costs (bench only, never installed)
 *
 * A read of /dev/kunwind-bench calls the kernel's function for the reader's own stack
 * several times and returns 64-bit words: number of addresses of the last call, the TSC
 * difference of each call less that of an empty measurement, the addresses. Interrupts are
 * off, or on if the file offset is 1; preemption is off. Under QEMU's -icount the TSC
 * counts executed instructions.
 *
 * Functions that are not exported are found by a kprobe that is registered and
 * removed at once. Such a call is fit for a bench on an emulated machine
 * without IBT, and for nothing else.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/msr.h>

#include "bench.h"

#define ROUNDS	8
#define MOST	1024

bench_save_fn *bench_save_user;

u64 bench_count(unsigned long *store, unsigned int size, unsigned int *frames)
{
	u64 t0, t1, empty;

	lockdep_assert_preemption_disabled();
	t0 = rdtsc_ordered();
	t1 = rdtsc_ordered();
	empty = t1 - t0;
	t0 = rdtsc_ordered();
	*frames = bench_save_user(store, size);
	t1 = rdtsc_ordered();
	return t1 - t0 - empty;
}

static ssize_t bench_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	const bool interrupts = *pos == 1;
	unsigned long flags = 0;
	u64 *out;
	unsigned int frames;
	ssize_t ret = (1 + ROUNDS + MOST) * sizeof(u64);
	int i;

	if (len < ret)
		return -EINVAL;
	out = kzalloc(ret, GFP_KERNEL);
	if (!out)
		return -ENOMEM;

	preempt_disable();
	if (!interrupts)
		local_irq_save(flags);
	for (i = 0; i < ROUNDS; i++) {
		out[1 + i] = bench_count((unsigned long *)&out[1 + ROUNDS], MOST, &frames);
		out[0] = frames;
	}
	if (!interrupts)
		local_irq_restore(flags);
	preempt_enable();

	if (copy_to_user(buf, out, ret))
		ret = -EFAULT;
	kfree(out);
	return ret;
}

static const struct file_operations bench_fops = {
	.owner = THIS_MODULE,
	.read = bench_read,
};

static struct miscdevice bench_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kunwind-bench",
	.fops = &bench_fops,
};

void *bench_symbol(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	void *addr;

	if (register_kprobe(&probe))
		return NULL;
	addr = probe.addr;
	unregister_kprobe(&probe);
	return addr;
}

static int __init bench_init(void)
{
	int err;

	bench_save_user = bench_symbol("stack_trace_save_user");
	if (!bench_save_user)
		return -ENOENT;
	err = bench_record_init();
	if (err)
		return err;
	err = misc_register(&bench_device);
	if (err)
		bench_record_exit();
	return err;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	misc_deregister(&bench_device);
	bench_record_exit();
}
module_exit(bench_exit);

MODULE_DESCRIPTION("count what one stack_trace_save_user() costs");
MODULE_LICENSE("GPL");
