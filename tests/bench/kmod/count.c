// SPDX-License-Identifier: GPL-2.0-only
/*
 * count.c - count instructions of stack_trace_save_user() (bench only, never
 * installed)
 *
 * A read of /dev/kunwind-bench calls the kernel's function for the reader's own
 * stack ROUNDS times and returns 64-bit words: number of addresses of the last
 * call, the TSC difference of each call minus that of an empty measurement, the
 * addresses. Preemption is off. Interrupts are off, or on if the file offset is
 * 1. If it is 2, the calls are made in a hard interrupt, with room for as many
 * addresses as perf records by default. Under QEMU's -icount the TSC counts
 * executed instructions.
 *
 * Functions that are not exported are found by a kprobe that is registered and
 * removed at once. Calling them in this way is only acceptable for a bench on
 * an emulated machine without IBT.
 */
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/msr.h>

#include "bench.h"

#define ROUNDS	8
#define MOST	1024
#define MOST_OF_PERF	127

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

static void count_all(u64 *out, unsigned int most)
{
	unsigned int frames;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		out[1 + i] = bench_count((unsigned long *)&out[1 + ROUNDS], most, &frames);
		out[0] = frames;
	}
}

/* Calls in a hard interrupt of this CPU while the reader is in read(). */
struct interrupt {
	struct irq_work work;
	u64 *out;
};

static void count_in_interrupt(struct irq_work *work)
{
	count_all(container_of(work, struct interrupt, work)->out, MOST_OF_PERF);
}

static ssize_t bench_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	const bool off = *pos == 0, interrupt = *pos == 2;
	struct interrupt in = { .work = IRQ_WORK_INIT_HARD(count_in_interrupt) };
	unsigned long flags = 0;
	u64 *out;
	ssize_t ret = (1 + ROUNDS + MOST) * sizeof(u64);

	if (len < ret)
		return -EINVAL;
	out = kzalloc(ret, GFP_KERNEL);
	if (!out)
		return -ENOMEM;

	preempt_disable();
	if (off)
		local_irq_save(flags);
	if (interrupt) {
		in.out = out;
		irq_work_queue(&in.work);
	} else {
		count_all(out, MOST);
	}
	if (off)
		local_irq_restore(flags);
	preempt_enable();
	if (interrupt)
		irq_work_sync(&in.work);

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

MODULE_DESCRIPTION("count instructions of stack_trace_save_user()");
MODULE_LICENSE("GPL");
