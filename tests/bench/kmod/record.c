// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - count instructions of walks of real programs' stacks, at each of
 * their system calls
 *
 * While a process has /dev/kunwind-record open, each system call of a task of
 * its session (except of the process itself) takes its stack several times:
 *   found	with the cache of rules and the note of the last walk as the
 *		programs have left them
 *   cold	with an empty cache and no note
 *   warm	with the filled cache and no note; the second call counts
 *   again	with the filled cache and the note of this walk
 * All but the first use a cache and a note of this module. For these calls,
 * record.c replaces two pointers of kunwind.ko, which it finds by name
 * (KALLSYMS_ALL). Interrupts are off during the calls, and there may be only
 * one CPU. A read returns the records so far, at most MOST (struct
 * bench_record, record.h).
 */
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "bench.h"
#include "core/kunwind_core.h"
#include "record.h"

#define MOST		100000
#define DEEPEST		128	/* as LTTng's context; longer walks have no note */

typedef unsigned long symbol_fn(const char *name);

static struct tracepoint *enter;
static struct kunwind_rule_cache __percpu **caches;
static struct kunwind_replay __percpu **replays;
static struct kunwind_rule_cache __percpu *own_cache;
static struct kunwind_replay __percpu *own_replay;
static struct bench_record *records;
static unsigned int nr_records;
static struct pid *session;	/* of the process that opened the device */
static unsigned long in_use;
static unsigned long store[DEEPEST];	/* no lock: interrupts are off, one CPU */

static void count(struct bench_record *r)
{
	struct kunwind_rule_cache __percpu *cache = *caches;
	struct kunwind_replay __percpu *replay = *replays;
	unsigned int frames, i;

	r->found = bench_count(store, DEEPEST, &frames);
	*caches = own_cache;
	*replays = own_replay;
	for (i = 0; i < KUNWIND_RULE_CACHE_ENTRIES; i++)
		this_cpu_ptr(own_cache)->entry[i].id = 0;
	this_cpu_ptr(own_replay)->id = 0;
	r->cold = bench_count(store, DEEPEST, &frames);
	for (i = 0; i < 2; i++) {
		this_cpu_ptr(own_replay)->id = 0;
		r->warm = bench_count(store, DEEPEST, &frames);
	}
	r->again = bench_count(store, DEEPEST, &frames);
	*caches = cache;
	*replays = replay;
	r->frames = frames;
	r->hash = (u64)jhash2((u32 *)store, 2 * frames, 1) << 32 |
		  jhash2((u32 *)store, 2 * frames, 2);
}

static void on_enter(void *data, struct pt_regs *regs, long id)
{
	struct bench_record *r;
	unsigned long flags;

	if (task_session(current) != session || task_tgid(current) == session ||
	    nr_records >= MOST)
		return;
	local_irq_save(flags);
	r = &records[nr_records++];
	count(r);
	memcpy(r->program, current->group_leader->comm, sizeof(r->program));
	local_irq_restore(flags);
}

static int record_open(struct inode *inode, struct file *file)
{
	int err;

	if (test_and_set_bit(0, &in_use))
		return -EBUSY;
	nr_records = 0;
	session = get_pid(task_session(current));
	err = tracepoint_probe_register(enter, on_enter, NULL);
	if (err) {
		put_pid(session);
		clear_bit(0, &in_use);
	}
	return err;
}

static int record_release(struct inode *inode, struct file *file)
{
	tracepoint_probe_unregister(enter, on_enter, NULL);
	tracepoint_synchronize_unregister();
	put_pid(session);
	clear_bit(0, &in_use);
	return 0;
}

static ssize_t record_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	return simple_read_from_buffer(buf, len, pos, records, nr_records * sizeof(*records));
}

static const struct file_operations record_fops = {
	.owner = THIS_MODULE,
	.open = record_open,
	.release = record_release,
	.read = record_read,
};

static struct miscdevice record_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kunwind-record",
	.fops = &record_fops,
};

static void find_enter(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sys_enter"))
		enter = tp;
}

static void bench_free(void)
{
	vfree(records);
	free_percpu(own_cache);
	free_percpu(own_replay);
}

int bench_record_init(void)
{
	symbol_fn *lookup = bench_symbol("kallsyms_lookup_name");
	int err;

	for_each_kernel_tracepoint(find_enter, NULL);
	caches = lookup ? (void *)lookup("kunwind:caches") : NULL;
	replays = lookup ? (void *)lookup("kunwind:replays") : NULL;
	if (!enter || !caches || !replays)
		return -ENOENT;
	records = vzalloc(MOST * sizeof(*records));
	own_cache = alloc_percpu(struct kunwind_rule_cache);
	own_replay = alloc_percpu(struct kunwind_replay);
	err = records && own_cache && own_replay ? misc_register(&record_device) : -ENOMEM;
	if (err)
		bench_free();
	return err;
}

void bench_record_exit(void)
{
	misc_deregister(&record_device);
	bench_free();
}
