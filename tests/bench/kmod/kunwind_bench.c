// SPDX-License-Identifier: GPL-2.0-only
/*
 * kunwind_bench.c - count what one stack_trace_save_user() costs (bench only, never installed)
 *
 * A read of /dev/kunwind-bench calls the kernel's function for the reader's
 * own stack, with interrupts off, several times, and returns 64-bit words:
 * number of addresses of the last call, then the TSC difference of each call,
 * less that of an empty measurement, then the addresses. Under QEMU's -icount
 * the TSC counts executed instructions.
 *
 * The function is not exported: a kprobe that is registered and removed at
 * once tells its address. Such a call is fit for a bench on an emulated
 * machine without IBT, and for nothing else.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/msr.h>

#define ROUNDS	8
#define MOST	1024

static unsigned int (*save_user)(unsigned long *store, unsigned int size);

static ssize_t bench_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	u64 *out;
	unsigned long flags;
	u64 t0, t1, empty;
	ssize_t ret = (1 + ROUNDS + MOST) * sizeof(u64);
	int i;

	if (len < ret)
		return -EINVAL;
	out = kzalloc(ret, GFP_KERNEL);
	if (!out)
		return -ENOMEM;

	local_irq_save(flags);
	t0 = rdtsc_ordered();
	t1 = rdtsc_ordered();
	empty = t1 - t0;
	for (i = 0; i < ROUNDS; i++) {
		t0 = rdtsc_ordered();
		out[0] = save_user((unsigned long *)&out[1 + ROUNDS], MOST);
		t1 = rdtsc_ordered();
		out[1 + i] = t1 - t0 - empty;
	}
	local_irq_restore(flags);

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

static int __init bench_init(void)
{
	struct kprobe probe = { .symbol_name = "stack_trace_save_user" };
	int err = register_kprobe(&probe);

	if (err)
		return err;
	save_user = (void *)probe.addr;
	unregister_kprobe(&probe);
	return misc_register(&bench_device);
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	misc_deregister(&bench_device);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("count what one stack_trace_save_user() costs");
MODULE_LICENSE("GPL");
