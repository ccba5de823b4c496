// SPDX-License-Identifier: GPL-2.0-only
/*
 * code_builder.c - make rows from code for a table that is already in use
 *
 * To find rows for code without CFI (core/rows/code.h) takes longer than to compile the CFI of
 * the same file: 100 ms for the 1.8 MB of V8's builtins. So walks use the table of the CFI
 * meanwhile, and steps through the other code are made without rows (core/nocfi). The rows are a
 * table of their own, which is added to the first one when it is complete.
 * If it cannot be made, because its time, its memory or the limits do not suffice, the
 * first table stays as it is. Nothing that walks have seen changes, so no cache has
 * to forget anything.
 *
 * builder.c has read the code. The time that the earlier stages have left bounds this one.
 * It needs a turn, like the parts that no walk waits for (part_builder.c), and has the
 * priority of a build: some stacks end early until the rows are there.
 * All memory is charged before it is used.
 *
 * Context: workers.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../base/memory_limit.h"
#include "../core/rows/unwind_info.h"
#include "code_builder.h"
#include "estimate.h"
#include "job.h"
#include "object.h"
#include "object_cache.h"

struct kunwind_code_builder {
	struct work_struct work;
	struct kunwind_object *object;
	struct kunwind_code_gaps *gaps;
	size_t charged;			/* bytes */
	struct kunwind_job *job;
	u64 left;			/* ns of processor time */
};

static struct workqueue_struct *code_workers;

static bool code_aborted(void *data)
{
	const struct kunwind_code_builder *builder = data;

	return !kunwind_job_may_go_on(builder->job);
}

static bool charge_code(void *data, size_t bytes)
{
	struct kunwind_code_builder *builder = data;

	return kunwind_estimate_charge_more(builder->object, bytes, &builder->charged);
}

/* Ends the stage; @bytes: of the table that it has added. Frees @builder. */
static void code_end(struct kunwind_code_builder *builder, size_t bytes)
{
	struct kunwind_object *object = builder->object;

	WARN_ON_ONCE(bytes > builder->charged);
	kunwind_memory_uncharge(object->quota, builder->charged - bytes);
	WRITE_ONCE(object->building_parts, false);
	kunwind_object_build_over(object);
	complete_all(&object->parts_done);
	kunwind_object_put(object);
	kfree(builder);
}

static void code_work(struct work_struct *work)
{
	struct kunwind_code_builder *builder = container_of(work, struct kunwind_code_builder, work);
	struct kunwind_object *object = builder->object;
	struct kunwind_table_stats stats = { };
	struct kunwind_table *code = NULL;
	struct kunwind_job job;

	kunwind_job_begin(&job, object, builder->left);
	builder->job = &job;
	if (!kunwind_job_take_turn(&job, KUNWIND_TURN_PARTS, NULL, NULL))
		kunwind_unwind_info_free_code(builder->gaps);
	else if (kunwind_unwind_info_code_table(&object->elf, builder->gaps, charge_code, code_aborted,
						builder, &code))
		code = NULL;
	kunwind_job_end(&job);
	if (code) {
		kunwind_table_stats(code, &stats);
		kunwind_table_add_code(object->table, code);
		kunwind_table_stats(object->table, &object->stats);
		kunwind_object_cache_added(&stats);
	}
	code_end(builder, stats.bytes);
}

struct kunwind_code_builder *kunwind_code_builder_new(struct kunwind_object *object,
						      struct kunwind_code_gaps *gaps, size_t charged)
{
	struct kunwind_code_builder *builder = kzalloc(sizeof(*builder), GFP_KERNEL | __GFP_NOWARN);

	if (!builder) {
		kunwind_unwind_info_free_code(gaps);
		kunwind_memory_uncharge(object->quota, charged);
		return NULL;
	}
	INIT_WORK(&builder->work, code_work);
	builder->object = object;
	builder->gaps = gaps;
	builder->charged = charged;
	return builder;
}

void kunwind_code_builder_cancel(struct kunwind_code_builder *builder)
{
	if (!builder)
		return;
	kunwind_unwind_info_free_code(builder->gaps);
	kunwind_memory_uncharge(builder->object->quota, builder->charged);
	kfree(builder);
}

void kunwind_code_builder_start(struct kunwind_code_builder *builder, u64 left)
{
	builder->left = left;
	kunwind_object_get(builder->object);
	queue_work(code_workers, &builder->work);
}

int kunwind_code_builder_init(void)
{
	code_workers = alloc_workqueue("kunwind_code_builder", WQ_UNBOUND, 0);
	return code_workers ? 0 : -ENOMEM;
}

void kunwind_code_builder_stop(void)
{
	drain_workqueue(code_workers);
}

void kunwind_code_builder_exit(void)
{
	destroy_workqueue(code_workers);
}
