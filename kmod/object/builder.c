// SPDX-License-Identifier: GPL-2.0-only
/*
 * builder.c - read ELF files and build their tables, in workers
 *
 * A build reads the ELF headers, then all of .eh_frame and .debug_frame, and
 * compiles them. If they are larger than max_whole_kb, it compiles only enough
 * for the table to be used, and part_builder.c does the rest. The file of an
 * object must not change during the build: otherwise the build fails.
 * build_queue.c has the queues of objects.
 *
 * Workers build, never the task that maps the file, because a read may never
 * return, and because others need the table, too. That task waits at most
 * max_stall_ms (mm_hooks.c). The memory and the page cache of a build are
 * charged to the control group of that task's process (job.c), and so is the
 * table. If the group has no room, nothing is charged to it. Exception:
 * kunwind_builder_build_user() (jit.c).
 *
 * Bounds: max_build_ms of processor time; the same time by the clock for reads
 * of a remote file and waits for memory; max_eh_frame_mb of sections.
 *
 * Memory: during a build, the size of the sections, and 2 x (size +
 * TABLE_SLACK) for the table and its draft. All is charged before the sections
 * are read. What rows from code need (rows/code.h) is charged when it is known. If
 * there is no room for it, there are no such rows.
 *
 * Rows from code come last: the code is read when the table of the CFI is in
 * use, and code_builder.c does the rest.
 */
#include <linux/jiffies.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/vdso.h>

#include "../base/param.h"
#include "../compat/mm.h"
#include "../base/memory_limit.h"
#include "../core/rows/code.h"
#include "../core/rows/unwind_info.h"
#include "builder.h"
#include "code_builder.h"
#include "estimate.h"
#include "filesystem.h"
#include "../deps/kernel/gfp.h"
#include "part_builder.h"
#include "job.h"
#include "build_queue.h"
#include "object.h"
#include "object_cache.h"
#include "result.h"
#include "source.h"

#define CHUNK		(256 * 1024)
#define TABLE_SLACK	(64 * 1024)	/* a table may exceed its section by this */
#define COPY_TRIES	8		/* to copy what a process hands in */

static unsigned int max_eh_frame_mb = 64;
KUNWIND_PARAM_UINT(max_eh_frame_mb, max_eh_frame_mb);
MODULE_PARM_DESC(max_eh_frame_mb, "largest .eh_frame that is read, MiB (default 64)");

/*
 * A build in one stage loses no stack if it ends within max_stall_ms (50),
 * because the task that mapped the file waits so long. 6 MB of .eh_frame
 * (libLLVM has 5) mostly take 35 ms, at most 50 ms (if they are like node's).
 * If the build takes longer, stacks through the file are lost until it ends.
 */
static unsigned int max_whole_kb = 6144;
KUNWIND_PARAM_UINT(max_whole_kb, max_whole_kb);
MODULE_PARM_DESC(max_whole_kb,
		 "largest .eh_frame that is compiled before its table is used, KiB; "
		 "larger ones are in two stages (default 6144)");

static unsigned int max_build_ms = 10000;
KUNWIND_PARAM_UINT(max_build_ms, max_build_ms);
MODULE_PARM_DESC(max_build_ms,
		 "most processor time that building one table may take, ms (default 10000)");

static atomic64_t nr_builds;

/* ---------------------------------------------------------------- a build */

struct build {
	struct kunwind_object *object;
	struct kunwind_job job;		/* job.object is NULL outside a worker */
	unsigned long deadline;		/* jiffies; for reads of remote files, and waits */
	bool aborted;			/* a read was not done, because the build must end */
	bool changed;			/* the file changed, or was open for writing, before the reads */
	bool gaps_read;			/* the file has no CFI */
	size_t charged, code_charged;	/* bytes */
	u8 *data;			/* the sections' bytes */
	struct kunwind_code_gaps *gaps;	/* code of a file that has no CFI; or NULL */
	struct kunwind_part_builder *part_builder;	/* the second stage, to be started; or NULL */
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
		got = kunwind_source_read(object, buf, min_t(size_t, len, CHUNK), off);
		if (got <= 0)
			return -EIO;
		buf += got;
		off += got;
		len -= got;
		cond_resched();
	}
	return 0;
}

/* Returns memory for the bytes of sections, or NULL. */
static void *data_alloc(size_t size)
{
	void *data = kvmalloc(size, KUNWIND_GFP_CHARGED);

	if (data)
		return data;
	kunwind_job_stop_charging_memory();
	return kvmalloc(size, GFP_KERNEL | __GFP_NOWARN);
}

/* Charges the most memory that the build can need. */
static enum kunwind_build_error charge(struct build *build, size_t bytes)
{
	enum kunwind_build_error build_error;

	build_error = kunwind_estimate_charge(build->object, bytes, build->deadline,
					      build_aborted, build);
	if (!build_error)
		build->charged = bytes;
	return build_error;
}

/* Charges what a build needs in addition. */
static bool charge_more(void *data, size_t bytes)
{
	struct build *build = data;

	return kunwind_estimate_charge_more(build->object, bytes, &build->charged);
}

/* Makes rows from code, which take the place of the sections, of which there are none. */
static enum kunwind_build_error add_rows(struct build *build, size_t *limit)
{
	struct kunwind_elf *elf = &build->object->elf;
	const u64 size = elf->debug_size;
	const size_t work = build->gaps ? kunwind_code_rows_memory(build->gaps, size) : 0;
	enum kunwind_build_error build_error;

	build_error = kunwind_unwind_info_add_rows(elf, build->gaps, charge_more, build_aborted,
						   build, &build->data);
	build->gaps = NULL;
	kunwind_memory_uncharge(build->object->quota, work);
	build->charged -= work;
	*limit += elf->debug_size - size;
	return build_error;
}

/* Builds the whole table, or the first stage of a large one. */
static enum kunwind_build_error compile(struct build *build, size_t limit)
{
	struct kunwind_object *object = build->object;
	const struct kunwind_elf *elf = &object->elf;
	/* Go calls the vDSO on another stack, with its own rsp in r12. */
	const u32 keep = object->vdso ? KUNWIND_SAVED_REGS : 0;
	struct kunwind_section section[2];
	enum kunwind_build_error build_error = KUNWIND_OK;

	/* If there is CFI, code_builder.c adds the rows to the table later. */
	if (build->gaps_read)
		build_error = add_rows(build, &limit);
	if (build_error)
		return build_error;
	kunwind_elf_sections(elf, build->data, build->data + elf->eh_size, section);
	if (elf->eh_size + elf->debug_size > (u64)READ_ONCE(max_whole_kb) << 10)
		build_error = kunwind_part_builder_begin(&build->job, section, limit,
							 &build->part_builder);
	else
		build_error = kunwind_table_build(section, keep, limit, build_aborted, build,
						  &object->table);
	if (build_error)
		return build_error;
	if (build->changed || !kunwind_source_unchanged(object)) {
		if (build->part_builder)
			kunwind_part_builder_cancel(build->part_builder);
		build->part_builder = NULL;
		kunwind_table_free(object->table);
		object->table = NULL;
		return KUNWIND_E_IO;
	}
	kunwind_table_stats(object->table, &object->stats);
	return KUNWIND_OK;
}

/* Reads the code of a file without CFI; its file is held. */
static enum kunwind_build_error read_gaps(struct build *build)
{
	build->gaps_read = true;
	return kunwind_unwind_info_read_code(read_file, build, &build->object->elf, build->data,
					     charge_more, build_aborted, build, &build->gaps);
}

/*
 * Builds the table from code alone, after the sections had no valid FDE: linkers write an
 * .eh_frame that has only its end (static programs of musl).
 */
static enum kunwind_build_error build_from_code(struct build *build, size_t limit)
{
	struct kunwind_object *object = build->object;
	enum kunwind_build_error build_error;

	if (!kunwind_source_hold(object))
		return KUNWIND_E_ABORTED;
	object->elf.eh_size = object->elf.debug_size = 0;
	build_error = read_gaps(build);
	kunwind_source_done(object);
	return build_error ? build_error : compile(build, limit);
}

static enum kunwind_build_error build_table(struct build *build)
{
	struct kunwind_object *object = build->object;
	const struct kunwind_elf *elf = &object->elf;
	enum kunwind_build_error build_error;
	size_t size, limit;
	u64 most;

	if (!kunwind_source_hold(object))
		return KUNWIND_E_ABORTED;
	build_error = kunwind_unwind_info_find(read_file, build, object->key.size, &object->elf);
	object->has_elf = build_error == KUNWIND_OK || build_error == KUNWIND_E_NO_CFI;
	if (build_error)
		return build_error;
	/* The sum does not overflow: no section is larger than the file. */
	most = (u64)READ_ONCE(max_eh_frame_mb) << 20;
	if (elf->go && elf->eh_size && elf->eh_size + elf->debug_size > most) {
		object->elf.go = false;		/* the rest is better than nothing */
		object->elf.debug_size = 0;
	}
	size = elf->eh_size + elf->debug_size;
	if (size > most)
		return KUNWIND_E_LIMIT;
	/* A table takes a third of its section, its draft no more than that. */
	limit = size + TABLE_SLACK;
	build_error = charge(build, kunwind_kmalloc_size(size) + 2 * limit);
	if (build_error)
		return build_error;
	build->data = data_alloc(size);
	build_error = build->data ?
		      kunwind_unwind_info_read(read_file, build, elf, build->data) : KUNWIND_E_NOMEM;
	if (!build_error && !size)
		build_error = read_gaps(build);
	kunwind_filesystem_answered(object->key.dev);
	kunwind_source_done(object);
	if (!build_error)
		build_error = kunwind_job_take_turn(&build->job, KUNWIND_TURN_COMPILE, NULL, NULL) ?
			  compile(build, limit) : KUNWIND_E_ABORTED;
	if (build_error == KUNWIND_E_NO_CFI && !build->gaps_read)
		build_error = build_from_code(build, limit);
	kunwind_unwind_info_free_code(build->gaps);
	/* The second stage counts the table. */
	if (!build_error && !build->part_builder)
		kunwind_object_cache_built(object);
	return build_error;
}

/* Frees the sections' bytes, and uncharges all but the table. */
static void release(struct build *build, enum kunwind_build_error build_error)
{
	kvfree(build->data);
	if (build->charged)
		kunwind_estimate_uncharge(build->object, build->charged,
					  build_error ? 0 : build->object->stats.bytes);
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

/*
 * Charges the build and copies the section to new memory. On failure, nothing
 * stays charged; *@absent: a page of the section was not present.
 */
static enum kunwind_build_error copy_in(struct build *build, struct kunwind_section *section,
					const void __user *from, size_t limit, bool *absent)
{
	enum kunwind_build_error build_error =
		charge(build, kunwind_kmalloc_size(section->size) + 2 * limit);
	u8 *data;

	*absent = false;
	if (build_error)
		return build_error;
	data = data_alloc(section->size);
	if (!data) {
		build_error = KUNWIND_E_NOMEM;
	} else if (!copy_present(data, from, section->size)) {
		build_error = KUNWIND_E_IO;
		*absent = true;
	} else {
		section->data = data;
		return KUNWIND_OK;
	}
	kvfree(data);
	kunwind_estimate_uncharge(build->object, build->charged, 0);
	return build_error;
}

enum kunwind_build_error kunwind_builder_build_user(struct kunwind_object *object,
						    struct kunwind_section *section,
						    const void __user *from)
{
	const size_t size = section->size, limit = size + TABLE_SLACK;
	struct build build = build_of(object);
	enum kunwind_build_error build_error;
	unsigned int tries = COPY_TRIES;
	bool absent = true;
	size_t kept = 0;

	if (size > (u64)READ_ONCE(max_eh_frame_mb) << 20) {
		build_error = KUNWIND_E_LIMIT;
		goto out;
	}
	/*
	 * A page fault may wait for a file system or a userfaultfd for ever. So
	 * the pages are faulted in before memory is charged that others need.
	 */
	do {
		if (fault_in_readable(from, size)) {
			build_error = KUNWIND_E_IO;
			goto out;
		}
		build_error = copy_in(&build, section, from, limit, &absent);
	} while (absent && --tries && !build_aborted(&build));
	if (build_error) {
		/* Some page was never present for long enough to be copied. */
		if (absent)
			build_error = build_aborted(&build) ? KUNWIND_E_ABORTED : KUNWIND_E_NOMEM;
		goto out;
	}
	build_error = kunwind_table_build(section, 0, limit, build_aborted, &build, &object->table);
	kvfree(section->data);
	if (!build_error) {
		kunwind_table_stats(object->table, &object->stats);
		kept = object->stats.bytes;
		kunwind_object_cache_built(object);
	}
	kunwind_estimate_uncharge(object, build.charged, kept);
out:
	atomic64_inc(&nr_builds);
	kunwind_result_set(object, build_error);
	return build_error;
}

/* Charges memory for the last stage, apart from the build. */
static bool charge_code(void *data, size_t bytes)
{
	struct build *build = data;

	return kunwind_estimate_charge_more(build->object, bytes, &build->code_charged);
}

/*
 * Reads the code for which code_builder.c makes rows. The table is in use already. Returns
 * NULL if there is no such code, or if something fails: then there are no such rows.
 */
static struct kunwind_code_builder *read_code(struct build *build)
{
	struct kunwind_object *object = build->object;
	struct kunwind_code_gaps *gaps = NULL;
	enum kunwind_build_error build_error;

	if (build->gaps_read || !kunwind_source_hold(object))
		return NULL;
	build_error = kunwind_unwind_info_read_code(read_file, build, &object->elf, build->data,
						    charge_code, build_aborted, build, &gaps);
	if (!build_error && gaps && !kunwind_source_unchanged(object))
		build_error = KUNWIND_E_IO;
	kunwind_source_done(object);
	if (!build_error && gaps)
		return kunwind_code_builder_new(object, gaps, build->code_charged);
	kunwind_unwind_info_free_code(gaps);
	kunwind_memory_uncharge(object->quota, build->code_charged);
	return NULL;
}

/* Builds an attached (source.h), pending object. Completes object->done. */
static void build_object(struct kunwind_object *object)
{
	struct kunwind_code_builder *code = NULL;
	struct build build = build_of(object);
	enum kunwind_build_error build_error;

	kunwind_job_begin(&build.job, object, (u64)READ_ONCE(max_build_ms) * NSEC_PER_MSEC);
	/*
	 * The check after the reads does not see a writer that has closed the
	 * file before. So check before the first read, too.
	 */
	build.changed = object->file && !kunwind_source_unchanged(object);
	if (object->file && !kunwind_source_readable(object))
		build_error = KUNWIND_E_IO;
	else if (build_aborted(&build))
		build_error = KUNWIND_E_ABORTED;
	else
		build_error = build_table(&build);
	/* The parser reports a read that was not done as a read error. */
	if (build_error && build.aborted)
		build_error = KUNWIND_E_ABORTED;
	kunwind_filesystem_answered(object->key.dev);
	kunwind_source_done(object);
	atomic64_inc(&nr_builds);
	/* There may be more stages. */
	WRITE_ONCE(object->building_parts, !build_error);
	kunwind_result_set(object, build_error);
	/* Waiting tasks settle their spaces; the sweeper settles the others. */
	kunwind_result_done(object);
	if (!build_error)
		code = read_code(&build);
	kunwind_job_end(&build.job);
	if (build.part_builder) {
		kunwind_part_builder_start(build.part_builder, build.data, build.charged, code);
		return;
	}
	release(&build, build_error);
	if (code) {
		kunwind_code_builder_start(code, build.job.left);
		return;
	}
	WRITE_ONCE(object->building_parts, false);
	kunwind_object_build_over(object);
	complete_all(&object->parts_done);
}

/*
 * Builds the next object of @queue, in one of its workers, which also closes
 * the file. Closing may wait for the file system, as a read may, because FUSE
 * then writes back dirty pages. fput() in a kernel thread would leave that to
 * one work item of the kernel, which closes all files.
 */
static void build_next(struct kunwind_build_queue *queue, struct kunwind_quota *quota)
{
	struct kunwind_object *object;
	bool wanted;

	object = kunwind_object_next(queue, quota, &wanted);
	if (!object)
		return;
	if (wanted)
		build_object(object);
	kunwind_source_close(object);
	kunwind_object_put(object);
}

void kunwind_builder_stats(struct kunwind_stats *stats)
{
	stats->table_builds += atomic64_read(&nr_builds);
}

void kunwind_builder_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_eh_frame_mb\t%u\n", READ_ONCE(max_eh_frame_mb));
	seq_printf(m, "param\tmax_whole_kb\t%u\n", READ_ONCE(max_whole_kb));
	seq_printf(m, "param\tmax_build_ms\t%u\n", READ_ONCE(max_build_ms));
}

int kunwind_builder_init(void)
{
	int err = kunwind_part_builder_init();

	if (err)
		return err;
	err = kunwind_code_builder_init();
	if (err)
		goto no_code_builder;
	err = kunwind_build_queues_init(build_next);
	if (err)
		goto no_queues;
	return 0;
no_queues:
	kunwind_code_builder_exit();
no_code_builder:
	kunwind_part_builder_exit();
	return err;
}

void kunwind_builder_stop(void)
{
	kunwind_jobs_stop();
	kunwind_estimates_wake();
	kunwind_build_queues_drain();
	/* No build is left that could start a second stage. */
	kunwind_part_builder_stop();
	kunwind_code_builder_stop();
}

void kunwind_builder_exit(void)
{
	kunwind_build_queues_exit();
	kunwind_code_builder_exit();
	kunwind_part_builder_exit();
}
