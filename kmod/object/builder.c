// SPDX-License-Identifier: GPL-2.0-only
/*
 * builder.c - read ELF files and build their tables, in workers
 *
 * A build reads the ELF headers, then .eh_frame (or .debug_frame) whole, then
 * compiles it; if that is larger than max_whole_kb, only so far that the table
 * can be used, and fill.c does the rest. A build is bounded in processor time
 * (max_build_ms; reading a remote file and waiting for memory, in time by the clock)
 * and memory (max_eh_frame_mb; an estimate is charged before it begins); a file
 * whose size or change time moved meanwhile is refused. Workers build, never the
 * task that maps the file: memory and page cache are not charged to that task's
 * control group, and it waits no longer than it wants to.
 *
 * The queue of objects is in lanes.c.
 *
 * Reads go to the file system by read_iter(), beside vfs_read()'s checks: leave
 * to map the file as code was given at open and mmap, and a listener of fanotify
 * that is itself registered would wait for itself.
 *
 * A build holds a reference to the module until its last read is over, so that
 * rmmod says "in use" and does not wait for what may never end: the server of a
 * remote file system, or on a local one a lock of the inode, which a writer holds
 * while it faults in what it writes. A build on a remote file system has the
 * reference from its queueing until its file is closed, others from their first
 * read on. It is given back while the worker still has work to do:
 * kunwind_builder_stop(), which drains the workers, covers that.
 *
 * Memory: while one builds, the section's size, and the same and TABLE_SLACK
 * twice for the table and its draft.
 */
#include <linux/fs.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <asm/vdso.h>

#include "builder.h"
#include "filesystem.h"
#include "fill.h"
#include "job.h"
#include "lanes.h"
#include "../process/memory.h"
#include "object.h"
#include "../space/space.h"

#define CHUNK		(256 * 1024)
#define TABLE_SLACK	(64 * 1024)	/* a table may exceed its section by this */
#define COPY_TRIES	8		/* of what a process hands in */

static unsigned int max_eh_frame_mb = 64;
module_param(max_eh_frame_mb, uint, 0644);
MODULE_PARM_DESC(max_eh_frame_mb, "largest .eh_frame that is read, MiB (default 64)");

/*
 * Compiling a table whole loses no stack if it ends within max_stall_ms (50), for
 * which the task that mapped the file waits. 6 MB of .eh_frame (libLLVM has 5)
 * take 35 ms as a rule, 50 ms at most (like node's). If it takes longer, the
 * file's stacks are lost a moment longer.
 */
static unsigned int max_whole_kb = 6144;
module_param(max_whole_kb, uint, 0644);
MODULE_PARM_DESC(max_whole_kb,
		 "largest .eh_frame that is compiled before its table is used, KiB; "
		 "larger ones are in two stages (default 6144)");

static unsigned int max_build_ms = 10000;
module_param(max_build_ms, uint, 0644);
MODULE_PARM_DESC(max_build_ms,
		 "most processor time that building one table may take, ms (default 10000)");

static atomic64_t nr_builds, nr_refused;
static atomic_t nr_charged;		/* builds that have charged their estimate */
static DECLARE_WAIT_QUEUE_HEAD(uncharged);

/* Only a remote file system counts as hanging: see kunwind_builder_stalled(). */
bool kunwind_builder_stalls(const struct kunwind_object *object)
{
	return kunwind_filesystem_hangs(object->key.dev);
}

void kunwind_builder_stalled(struct kunwind_object *object)
{
	if (READ_ONCE(object->reading))
		kunwind_filesystem_stalled(object->key.dev);
}

/* ---------------------------------------------------------------- a build */

struct build {
	struct kunwind_object *object;
	struct kunwind_job job;		/* a worker's; none when the process builds itself */
	unsigned long deadline;		/* jiffies: for reads of remote files, and waits */
	bool aborted;			/* before all was read */
	size_t charged;			/* bytes */
	void *data;			/* the sections' bytes */
	struct kunwind_fill *fill;	/* the second stage, to be started; or NULL */
};

static bool late(const struct build *build)
{
	return time_after(jiffies, build->deadline);
}

static bool build_aborted(void *data)
{
	struct build *build = data;

	if (!build->job.object)
		return kunwind_jobs_stopping() || late(build) || fatal_signal_pending(current);
	return !kunwind_job_may_go_on(&build->job);
}

static ssize_t read_at(struct file *file, void *buf, size_t len, loff_t pos, int flags)
{
	struct kvec kvec = { .iov_base = buf, .iov_len = len };
	struct kiocb kiocb;
	struct iov_iter iter;

	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = pos;
	/* Not as the process that mapped the file opened it: see read_chunk(). */
	kiocb.ki_flags = (kiocb.ki_flags & ~IOCB_DIRECT) | flags;
	iov_iter_kvec(&iter, READ, &kvec, 1, len);
	return file->f_op->read_iter(&kiocb, &iter);
}

static ssize_t read_chunk(struct file *file, void *buf, size_t len, loff_t pos)
{
	ssize_t got;

	/*
	 * Not by the page cache: a read without an answer would keep pages
	 * locked, and the next open() of the file, which drops them, would
	 * hang, though nobody but us had read it.
	 */
	if (file_inode(file)->i_sb->s_magic == FUSE_SUPER_MAGIC) {
		got = read_at(file, buf, len, pos, IOCB_DIRECT);
		if (got != -EINVAL)
			return got;
	}
	return read_at(file, buf, len, pos, 0);
}

static int read_file(void *data, u64 off, void *buf, size_t len)
{
	struct build *build = data;
	struct kunwind_object *object = build->object;

	if (off > object->key.size || len > object->key.size - off)
		return -EIO;
	if (object->vdso) {
		memcpy(buf, object->vdso->data + off, len);
		return 0;
	}
	while (len) {
		ssize_t got;

		if (build_aborted(build) || (object->remote && late(build))) {
			build->aborted = true;
			return -ETIMEDOUT;
		}
		got = read_chunk(object->file, buf, min_t(size_t, len, CHUNK), off);
		if (got <= 0)
			return -EIO;
		buf += got;
		off += got;
		len -= got;
		cond_resched();
	}
	return 0;
}

/* Only what a kernel buffer can be read from. */
static bool readable(struct file *file)
{
	return S_ISREG(file_inode(file)->i_mode) && (file->f_mode & FMODE_READ) &&
	       (file->f_mode & FMODE_CAN_READ) && file->f_op->read_iter && !file->f_op->read;
}

/*
 * In memory, the first write to a page by way of a shared mapping changes the times of
 * the file, and the others do not.
 */
static bool written_unseen(struct file *file)
{
	switch (file_inode(file)->i_sb->s_magic) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case HUGETLBFS_MAGIC:
		return mapping_writably_mapped(file->f_mapping);
	default:
		return false;
	}
}

static bool unchanged(const struct kunwind_object *object)
{
	struct kunwind_object_key now;

	if (object->vdso)
		return true;
	if (written_unseen(object->file))
		return false;
	kunwind_object_key_init(&now, object->file);
	return !memcmp(&now, &object->key, sizeof(now));
}

static void let_module_go(struct kunwind_object *object)
{
	if (object->module_held) {
		object->module_held = false;
		module_put(THIS_MODULE);
	}
}

/* No read comes any more. */
static void reads_done(struct kunwind_object *object)
{
	WRITE_ONCE(object->reading, false);
	/* To close a remote file may take as long. */
	if (!object->remote)
		let_module_go(object);
}

void kunwind_builder_uncharge(struct kunwind_object *object, size_t charged, size_t kept)
{
	kunwind_memory_uncharge(object->payer, charged - kept);
	atomic_dec(&nr_charged);
	wake_up_all(&uncharged);
}

/*
 * Charges the most that the build will have, to the first user who maps the file and
 * whose share has room; waits while others have theirs of the limit.
 */
static enum kunwind_refusal charge(struct build *build, size_t bytes)
{
	struct kunwind_object *object = build->object;
	int err;

	for (;;) {
		err = kunwind_object_make_room(object->payer, bytes);
		if (!err)
			break;
		if (err == -EDQUOT && kunwind_object_next_payer(object))
			continue;
		object->over_share = err == -EDQUOT;
		if (object->over_share || !atomic_read(&nr_charged) || late(build))
			return KUNWIND_E_LIMIT;
		if (build_aborted(build))
			return KUNWIND_E_ABORTED;
		wait_event_timeout(uncharged, !atomic_read(&nr_charged) || kunwind_jobs_stopping(),
				   HZ / 10);
	}
	build->charged = bytes;
	atomic_inc(&nr_charged);
	return KUNWIND_OK;
}

/* As a whole, or the first stage of it. */
static enum kunwind_refusal compile(struct build *build, size_t limit)
{
	struct kunwind_object *object = build->object;
	const struct kunwind_elf *elf = &object->elf;
	struct kunwind_section section[2];
	enum kunwind_refusal refusal;

	kunwind_elf_sections(elf, build->data, build->data + elf->eh_size, section);
	if (elf->eh_size + elf->debug_size > (u64)READ_ONCE(max_whole_kb) << 10)
		refusal = kunwind_fill_begin(&build->job, section, limit, &build->fill);
	else
		refusal = kunwind_table_build(section, 0, limit, build_aborted, build,
					      &object->table);
	if (refusal)
		return refusal;
	if (!unchanged(object)) {
		if (build->fill)
			kunwind_fill_cancel(build->fill);
		build->fill = NULL;
		kunwind_table_free(object->table);
		object->table = NULL;
		return KUNWIND_E_IO;
	}
	kunwind_table_stats(object->table, &object->stats);
	return KUNWIND_OK;
}

static enum kunwind_refusal build_table(struct build *build)
{
	struct kunwind_object *object = build->object;
	const struct kunwind_elf *elf = &object->elf;
	enum kunwind_refusal refusal;
	size_t size, limit, kept = 0;

	if (!object->module_held && !try_module_get(THIS_MODULE))
		return KUNWIND_E_ABORTED;
	object->module_held = true;
	refusal = kunwind_elf_parse(read_file, build, object->key.size, &object->elf);
	object->has_elf = refusal == KUNWIND_OK || refusal == KUNWIND_E_NO_CFI;
	if (refusal)
		return refusal;
	/* Neither is larger than the file. */
	size = elf->eh_size + elf->debug_size;
	if (size > (u64)READ_ONCE(max_eh_frame_mb) << 20)
		return KUNWIND_E_LIMIT;
	/* Tables take a third of their section, and a draft no more than its table. */
	limit = size + TABLE_SLACK;
	refusal = charge(build, size + 2 * limit);
	if (refusal)
		return refusal;
	build->data = kvmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!build->data)
		refusal = KUNWIND_E_NOMEM;
	else if (read_file(build, elf->eh_offset, build->data, elf->eh_size) ||
		 read_file(build, elf->debug_offset, build->data + elf->eh_size, elf->debug_size))
		refusal = KUNWIND_E_IO;
	kunwind_filesystem_answered(object->key.dev);
	reads_done(object);
	if (!refusal)
		refusal = kunwind_job_take_turn(&build->job, KUNWIND_TURN_COMPILE, NULL, NULL) ?
			  compile(build, limit) : KUNWIND_E_ABORTED;
	/* The second stage goes on with all of it. */
	if (build->fill)
		return KUNWIND_OK;
	kvfree(build->data);
	if (!refusal) {
		kept = object->stats.bytes;
		kunwind_object_built(object);
	}
	kunwind_builder_uncharge(object, build->charged, kept);
	return refusal;
}

static enum kunwind_object_state state_of(enum kunwind_refusal refusal)
{
	switch (refusal) {
	case KUNWIND_OK:
		return KUNWIND_OBJECT_READY;
	case KUNWIND_E_NO_CFI:
		return KUNWIND_OBJECT_NO_CFI;
	case KUNWIND_E_NOMEM:
	case KUNWIND_E_IO:
	case KUNWIND_E_ABORTED:
		return KUNWIND_OBJECT_FAILED;
	default:
		return KUNWIND_OBJECT_REFUSED;
	}
}

void kunwind_builder_conclude(struct kunwind_object *object, enum kunwind_refusal refusal)
{
	WRITE_ONCE(object->refusal, refusal);
	WRITE_ONCE(object->done_at, jiffies);
	if (refusal && refusal != KUNWIND_E_NO_CFI)
		atomic64_inc(&nr_refused);
	if (refusal == KUNWIND_E_LIMIT)
		kunwind_memory_refused();
	/* Pairs with kunwind_object_state(). */
	smp_store_release(&object->state, state_of(refusal));
}

static struct build build_of(struct kunwind_object *object)
{
	return (struct build){
		.object = object,
		.deadline = jiffies + msecs_to_jiffies(READ_ONCE(max_build_ms)),
	};
}

/* Copies without page faults. Returns false if a page is not there. */
static bool copy_present(u8 *to, const u8 __user *from, size_t size)
{
	while (size) {
		size_t part = min_t(size_t, size, CHUNK);

		if (copy_from_user_nofault(to, from, part))
			return false;
		to += part;
		from += part;
		size -= part;
		cond_resched();
	}
	return true;
}

/* Charges the build and copies the section. @absent: a page of it was not there. */
static enum kunwind_refusal copy_in(struct build *build, struct kunwind_section *section,
				    const void __user *from, size_t limit, bool *absent)
{
	enum kunwind_refusal refusal = charge(build, section->size + 2 * limit);
	u8 *data;

	*absent = false;
	if (refusal)
		return refusal;
	data = kvmalloc(section->size, GFP_KERNEL | __GFP_NOWARN);
	if (!data) {
		refusal = KUNWIND_E_NOMEM;
	} else if (!copy_present(data, from, section->size)) {
		refusal = KUNWIND_E_IO;
		*absent = true;
	} else {
		section->data = data;
		return KUNWIND_OK;
	}
	kvfree(data);
	kunwind_builder_uncharge(build->object, build->charged, 0);
	return refusal;
}

enum kunwind_refusal kunwind_builder_build_user(struct kunwind_object *object,
						struct kunwind_section *section,
						const void __user *from)
{
	const size_t size = section->size, limit = size + TABLE_SLACK;
	struct build build = build_of(object);
	enum kunwind_refusal refusal;
	unsigned int tries = COPY_TRIES;
	bool absent = true;
	size_t kept = 0;

	if (size > (u64)READ_ONCE(max_eh_frame_mb) << 20) {
		refusal = KUNWIND_E_LIMIT;
		goto out;
	}
	/*
	 * A fault may wait for a file system or a userfaultfd for ever. So the pages
	 * are brought in before anything is charged, which others may lack.
	 */
	do {
		if (fault_in_readable(from, size)) {
			refusal = KUNWIND_E_IO;
			goto out;
		}
		refusal = copy_in(&build, section, from, limit, &absent);
	} while (absent && --tries && !build_aborted(&build));
	if (refusal) {
		/* The pages do not stay. */
		if (absent)
			refusal = build_aborted(&build) ? KUNWIND_E_ABORTED : KUNWIND_E_NOMEM;
		goto out;
	}
	refusal = kunwind_table_build(section, 0, limit, build_aborted, &build, &object->table);
	kvfree(section->data);
	if (!refusal) {
		kunwind_table_stats(object->table, &object->stats);
		kept = object->stats.bytes;
		kunwind_object_built(object);
	}
	kunwind_builder_uncharge(object, build.charged, kept);
out:
	atomic64_inc(&nr_builds);
	kunwind_builder_conclude(object, refusal);
	return refusal;
}

void kunwind_builder_run(struct kunwind_object *object)
{
	struct build build = build_of(object);
	enum kunwind_refusal refusal;

	kunwind_job_begin(&build.job, object, (u64)READ_ONCE(max_build_ms) * NSEC_PER_MSEC);
	if (object->file && !readable(object->file))
		refusal = KUNWIND_E_IO;
	else if (build_aborted(&build))
		refusal = KUNWIND_E_ABORTED;
	else
		refusal = build_table(&build);
	/* The parser knows only that it could not read. */
	if (refusal && build.aborted)
		refusal = KUNWIND_E_ABORTED;
	kunwind_filesystem_answered(object->key.dev);
	reads_done(object);
	kunwind_job_end(&build.job);
	atomic64_inc(&nr_builds);
	WRITE_ONCE(object->filling, build.fill);
	kunwind_builder_conclude(object, refusal);
	if (build.fill)
		kunwind_fill_start(build.fill, build.data, build.charged);
	else
		kunwind_object_build_over(object);
	/* Those who wait see to their own spaces. */
	complete_all(&object->done);
	kunwind_space_object_done();
}

bool kunwind_builder_attach(struct kunwind_object *object, struct file *file, bool remote)
{
	/* The caller has one: this fails only while the module goes. */
	if (remote && !try_module_get(THIS_MODULE))
		return false;
	object->remote = remote;
	object->reading = remote;
	object->module_held = remote;
	object->file = file ? get_file(file) : NULL;
	return true;
}

void kunwind_builder_detach(struct kunwind_object *object)
{
	if (object->file)
		fput(object->file);
	object->file = NULL;
	let_module_go(object);
}

void kunwind_builder_close(struct kunwind_object *object)
{
	if (object->file)
		__fput_sync(object->file);
	object->file = NULL;
	let_module_go(object);
}

void kunwind_builder_counts(u64 *builds, u64 *refused)
{
	*builds = atomic64_read(&nr_builds);
	*refused = atomic64_read(&nr_refused);
}

void kunwind_builder_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_eh_frame_mb\t%u\n", READ_ONCE(max_eh_frame_mb));
	seq_printf(m, "param\tmax_whole_kb\t%u\n", READ_ONCE(max_whole_kb));
	seq_printf(m, "param\tmax_build_ms\t%u\n", READ_ONCE(max_build_ms));
}

int kunwind_builder_init(void)
{
	int err = kunwind_fill_init();

	if (err)
		return err;
	err = kunwind_lanes_init();
	if (err)
		kunwind_fill_exit();
	return err;
}

void kunwind_builder_stop(void)
{
	kunwind_jobs_stop();
	wake_up_all(&uncharged);
	kunwind_lanes_drain();
	/* They start none any more. */
	kunwind_fill_stop();
}

void kunwind_builder_exit(void)
{
	kunwind_lanes_exit();
	kunwind_fill_exit();
}
