// SPDX-License-Identifier: GPL-2.0-only
/*
 * part_builder.c - build the parts of big tables that are already in use
 *
 * Each object with an incomplete table has a work item. It builds parts
 * (core/table/build_parts.c) for a slice of time, then queues itself again:
 * first the parts that walks missed, then the others, in order and with low
 * priority. A slice that builds others needs a turn, and each user has one. The
 * time is charged to the user of object->time_quota, and the worker has that
 * user's priority (job.c); the scheduler shares the processors out between
 * users.
 *
 * A walk only sets a flag in the directory. The task whose walk missed a part
 * waits for that part (part.c), so that its next stack is whole, and wakes work
 * items that wait for a turn. Only a registration by hand waits for all parts
 * (awaited() in read_mappings.c).
 *
 * Parts that no walk has missed are built, too, because a stack that meets a
 * missing part is lost, and most parts would cost a stack sooner or later (a
 * compilation of fifty lines runs code of 62 of libLLVM-14's 93 parts). The
 * list of FDEs, which is kept for building them, takes 40 % of the memory of
 * the parts (8 bytes an FDE).
 *
 * The sections' bytes were read once, in one state of the file. They stay in
 * memory until the last part is built, some 25 ms for each million rows, and
 * are charged as in any build. A walk cannot reach a file. To read the sections
 * again when a walk misses a part, the file would have to stay open, and keep
 * its mount busy, as long as a process maps it.
 *
 * The first stage refuses FDEs that contradict each other. If the second stage
 * finds an error inside an FDE, it gives up the table with all its parts: they
 * are freed after a grace period, and the caches forget their rules. If no
 * process uses the object any more, neither is necessary.
 *
 * Bounds: both stages together take at most max_build_ms of processor time, not
 * of clock time, because a worker with low priority among many tasks does
 * little work in a second. Memory is charged as for a whole table, so a user's
 * share of memory limits how many of the user's objects wait at a time. If no
 * process uses the object any more, the second stage ends under the same
 * conditions as a build.
 *
 * Context: workers. kunwind_part_builder_wait() sleeps in the walked task,
 * before it returns to user mode.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "code_builder.h"
#include "estimate.h"
#include "part_builder.h"
#include "job.h"
#include "object.h"
#include "object_cache.h"
#include "result.h"

#define PART_FDES	1024	/* 10,000 rows, 0.4 ms; 3 % more memory than a whole table */
#define SLICE		(HZ / 100 ? HZ / 100 : 1)	/* jiffies */

struct kunwind_part_builder {
	struct work_struct work;
	struct kunwind_object *object;
	struct kunwind_build_parts *parts;
	void *data;
	size_t charged;			/* bytes */
	struct kunwind_code_builder *code;	/* the stage after this one; or NULL */
	struct kunwind_job *job;	/* of the current worker */
	u64 left;			/* ns of processor time; valid between slices */
};

static DECLARE_WAIT_QUEUE_HEAD(part_built);
static struct workqueue_struct *part_workers;

static bool parts_aborted(void *data)
{
	const struct kunwind_part_builder *builder = data;

	return !kunwind_job_may_go_on(builder->job);
}

static bool parts_wanted(void *data)
{
	const struct kunwind_part_builder *builder = data;

	return kunwind_build_parts_wanted(builder->parts);
}

/*
 * Frees the parts of the object's table. If the object has no users, all walks
 * that saw the table are over, and the snapshots for which caches have its
 * rules are freed (docs/lifetimes.md). A process that maps the file from now on
 * finds the table retired. Then no grace period is needed, and the walks of
 * other processes keep their cached rules.
 */
static void give_up(struct kunwind_object *object)
{
	bool used;

	kunwind_table_retire(object->table, kunwind_object_reason(object));
	used = kunwind_object_has_users(object);	/* after the table is retired */
	if (used)
		synchronize_rcu();
	kunwind_table_drop(object->table);
	if (used)
		kunwind_result_rules_gone();
}

/*
 * Ends the second stage, and gives up the table if it has failed. Frees
 * @builder.
 */
static void parts_end(struct kunwind_part_builder *builder, enum kunwind_build_error build_error)
{
	struct kunwind_object *object = builder->object;

	kunwind_build_parts_end(builder->parts);
	kvfree(builder->data);
	if (build_error) {
		kunwind_result_set(object, build_error);
		give_up(object);
	}
	kunwind_table_stats(object->table, &object->stats);
	kunwind_object_cache_built(object);
	kunwind_estimate_uncharge(object, builder->charged, object->stats.bytes);
	if (builder->code && !build_error) {
		kunwind_code_builder_start(builder->code, builder->left);
	} else {
		kunwind_code_builder_cancel(builder->code);
		WRITE_ONCE(object->building_parts, false);
		kunwind_object_build_over(object);
		complete_all(&object->parts_done);
	}
	wake_up_all(&part_built);
	kunwind_object_put(object);
	kfree(builder);
}

static void parts_work(struct work_struct *work)
{
	struct kunwind_part_builder *builder = container_of(work, struct kunwind_part_builder, work);
	enum kunwind_build_error build_error = KUNWIND_OK;
	struct kunwind_job job;
	unsigned long end;
	bool wanted;
	u32 part = 0;

	kunwind_job_begin(&job, builder->object, builder->left);
	builder->job = &job;
	end = jiffies + SLICE;
	while (!build_error && (part = kunwind_build_parts_next(builder->parts, &wanted)) != ~0U) {
		if (!time_before(jiffies, end))
			break;
		if (!wanted && !job.has_turn) {
			if (!kunwind_job_take_turn(&job, KUNWIND_TURN_PARTS, parts_wanted, builder))
				build_error = KUNWIND_E_ABORTED;
			end = jiffies + SLICE;
			continue;
		}
		kunwind_job_set_background(&job, !wanted);
		build_error = kunwind_build_parts_one(builder->parts, part);
		if (!build_error && parts_aborted(builder))
			build_error = KUNWIND_E_ABORTED;
		if (wq_has_sleeper(&part_built))
			wake_up_all(&part_built);
	}
	kunwind_job_end(&job);
	builder->left = job.left;
	if (build_error || part == ~0U) {
		parts_end(builder, build_error);
		return;
	}
	kunwind_table_stats(builder->object->table, &builder->object->stats);
	queue_work(part_workers, &builder->work);
}

enum kunwind_build_error
kunwind_part_builder_begin(struct kunwind_job *job, const struct kunwind_section *section,
			   size_t limit, struct kunwind_part_builder **result)
{
	struct kunwind_part_builder *builder = kzalloc(sizeof(*builder), GFP_KERNEL | __GFP_NOWARN);
	enum kunwind_build_error build_error;

	if (!builder)
		return KUNWIND_E_NOMEM;
	INIT_WORK(&builder->work, parts_work);
	builder->object = job->object;
	builder->job = job;
	build_error = kunwind_build_parts_begin(section, 0, PART_FDES, limit, parts_aborted, builder,
						&builder->parts, &builder->object->table);
	builder->left = job->left;
	if (build_error)
		kfree(builder);
	else
		*result = builder;
	return build_error;
}

void kunwind_part_builder_cancel(struct kunwind_part_builder *builder)
{
	kunwind_build_parts_end(builder->parts);
	kfree(builder);
}

void kunwind_part_builder_start(struct kunwind_part_builder *builder, void *data, size_t charged,
				struct kunwind_code_builder *code)
{
	builder->data = data;
	builder->code = code;
	builder->charged = charged;
	kunwind_object_get(builder->object);
	queue_work(part_workers, &builder->work);
}

long kunwind_part_builder_wait(bool (*met)(void *data), void *data, unsigned long timeout)
{
	return wait_event_killable_timeout(part_built, met(data), timeout);
}

int kunwind_part_builder_init(void)
{
	part_workers = alloc_workqueue("kunwind_part_builder", WQ_UNBOUND, 0);
	return part_workers ? 0 : -ENOMEM;
}

void kunwind_part_builder_stop(void)
{
	drain_workqueue(part_workers);
}

void kunwind_part_builder_exit(void)
{
	destroy_workqueue(part_workers);
}
