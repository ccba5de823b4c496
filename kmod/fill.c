// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill.c - the second stage of big objects: the rows of a table that is in use
 *
 * A worker of its own, beside the builders' so that no small object waits behind
 * a big one, goes round all objects that are not filled, a slice of time for each,
 * and builds their parts (core/stages.c): those that walks missed first, then the
 * others, with low priority, in order. A walk only sets a flag in the directory:
 * the worker is never idle while there is a part to be built, so there is nothing
 * to be woken. Nobody waits for all of it; the task whose walk missed a part waits
 * for that one (touch.c), so that its next stack is whole.
 *
 * Why the others at all: a stack that meets a part which is not built is lost,
 * and most parts would take one sooner or later (a compilation of fifty lines runs
 * code of 62 of libLLVM-14's 93 parts). What is kept for building them takes 40 %
 * of what they take themselves (8 bytes an FDE); and they are made of bytes that
 * were read once, in one state of the file. These stay here until the last part
 * is built, charged as the build itself was: some 25 ms for each million rows. To
 * read them anew when a walk asks would mean to hold the file, and with it the
 * mount, as long as any process has it mapped: a walk leads to no file.
 *
 * FDEs that contradict each other never come here. What is wrong inside one
 * gives up the table, with all parts that there are: behind a grace period they
 * are freed, and the caches forget their rules.
 *
 * Limits: both stages together have max_build_ms of the processor's time, not of the
 * clock's: a worker with low priority among many tasks does little of its work in a
 * second, and that is no fault of the object. Memory was charged as for a whole
 * table. How many objects of one user wait at a time is bounded by his share of it.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "builder.h"
#include "fill.h"
#include "object.h"
#include "space.h"

#define PART_FDES	1024	/* a part: 10,000 rows, 0.4 ms; 3 % more memory than as a whole */
#define SLICE		(HZ / 100 ? HZ / 100 : 1)
#define NICE		10	/* for what nobody asked for */

struct kunwind_fill {
	struct work_struct work;
	struct kunwind_object *object;
	struct kunwind_stages *stages;
	void *data;
	size_t charged;			/* bytes */
	u64 left;			/* ns of the processor's time */
	u64 since;			/* worked() at the start of this slice */
};

static DECLARE_WAIT_QUEUE_HEAD(part_built);
static struct workqueue_struct *fillers;
static bool stopping;

/* What the processor has done for this task, ns; as new as the last tick. */
static u64 worked(void)
{
	return current->se.sum_exec_runtime;
}

static bool fill_aborted(void *data)
{
	const struct kunwind_fill *fill = data;

	return READ_ONCE(stopping) || worked() - fill->since > fill->left;
}

/* Another worker may take the next slice. */
static void slice_begin(struct kunwind_fill *fill)
{
	fill->since = worked();
}

static void slice_end(struct kunwind_fill *fill)
{
	fill->left -= min(fill->left, worked() - fill->since);
}

static void fill_end(struct kunwind_fill *fill, enum kunwind_refusal refusal)
{
	struct kunwind_object *object = fill->object;

	kunwind_stages_end(fill->stages);
	kvfree(fill->data);
	if (refusal) {
		kunwind_builder_conclude(object, refusal);
		kunwind_table_retire(object->table, kunwind_object_reason(object));
		synchronize_rcu();
		kunwind_table_drop(object->table);
		kunwind_space_rules_gone();
	}
	kunwind_table_stats(object->table, &object->stats);
	kunwind_object_built(object);
	kunwind_builder_uncharge(object, fill->charged, object->stats.bytes);
	WRITE_ONCE(object->filling, false);
	complete_all(&object->filled);
	wake_up_all(&part_built);
	kunwind_object_put(object);
	kfree(fill);
}

static void fill_work(struct work_struct *work)
{
	struct kunwind_fill *fill = container_of(work, struct kunwind_fill, work);
	unsigned long end = jiffies + SLICE;
	enum kunwind_refusal refusal = KUNWIND_OK;
	int nice = task_nice(current);
	bool wanted, low = false;
	u32 part;

	slice_begin(fill);
	while (!refusal && (part = kunwind_stages_next(fill->stages, &wanted)) != ~0U) {
		if (!time_before(jiffies, end))
			break;
		if (low == wanted) {
			low = !wanted;
			set_user_nice(current, low ? NICE : nice);
		}
		refusal = kunwind_stages_build(fill->stages, part);
		if (wq_has_sleeper(&part_built))
			wake_up_all(&part_built);
	}
	if (low)
		set_user_nice(current, nice);
	if (refusal || part == ~0U) {
		fill_end(fill, refusal);
		return;
	}
	kunwind_table_stats(fill->object->table, &fill->object->stats);
	slice_end(fill);
	queue_work(fillers, &fill->work);
}

enum kunwind_refusal
kunwind_fill_begin(struct kunwind_object *object, const struct kunwind_section *section,
		   size_t limit, unsigned int ms, struct kunwind_fill **result)
{
	struct kunwind_fill *fill = kzalloc(sizeof(*fill), GFP_KERNEL | __GFP_NOWARN);
	enum kunwind_refusal refusal;

	if (!fill)
		return KUNWIND_E_NOMEM;
	INIT_WORK(&fill->work, fill_work);
	fill->object = object;
	fill->left = (u64)ms * NSEC_PER_MSEC;
	slice_begin(fill);
	refusal = kunwind_stages_begin(section, 0, PART_FDES, limit, fill_aborted, fill,
				       &fill->stages, &object->table);
	slice_end(fill);
	if (refusal)
		kfree(fill);
	else
		*result = fill;
	return refusal;
}

void kunwind_fill_cancel(struct kunwind_fill *fill)
{
	kunwind_stages_end(fill->stages);
	kfree(fill);
}

void kunwind_fill_start(struct kunwind_fill *fill, void *data, size_t charged)
{
	fill->data = data;
	fill->charged = charged;
	kunwind_object_get(fill->object);
	queue_work(fillers, &fill->work);
}

bool notrace kunwind_fill_missing(const struct kunwind_range *range, u64 addr)
{
	const struct kunwind_table *table;

	if (!range || READ_ONCE(range->dead))
		return false;
	/* As in the walk: bias is there before table is. */
	table = READ_ONCE(range->table);
	barrier();
	return table && kunwind_table_part(&table, addr - range->bias) == KUNWIND_NOT_READY;
}

enum part_state {
	PART_GONE,	/* its table, or the mapping */
	PART_THERE,
	PART_MISSING,
	PART_LATE,	/* missing, and not to be waited for now */
};

/* @timed_out: a wait for this part did. */
static enum part_state part_state(const struct mm_struct *mm, u64 addr, bool timed_out)
{
	enum part_state state = PART_GONE;
	const struct kunwind_range *range;
	struct kunwind_object *object;
	struct kunwind_ranges *ranges;
	struct kunwind_space *space;

	rcu_read_lock();
	space = kunwind_space_find(mm);
	ranges = space ? rcu_dereference(space->ranges) : NULL;
	range = ranges ? kunwind_ranges_find(ranges, addr) : NULL;
	if (range && !READ_ONCE(range->dead) && READ_ONCE(range->table))
		state = kunwind_fill_missing(range, addr) ? PART_MISSING : PART_THERE;
	if (state == PART_MISSING) {
		unsigned long late;

		object = kunwind_snapshot_of(ranges)->detail[range - ranges->range].object;
		if (timed_out)
			WRITE_ONCE(object->late_until, (jiffies + HZ) | 1);
		late = READ_ONCE(object->late_until);
		if (late && time_before(jiffies, late))
			state = PART_LATE;
	}
	rcu_read_unlock();
	return state;
}

int kunwind_fill_wait(const struct mm_struct *mm, u64 addr, unsigned long timeout)
{
	enum part_state state;

	if (!wait_event_killable_timeout(part_built,
					 (state = part_state(mm, addr, false)) != PART_MISSING,
					 timeout))
		state = part_state(mm, addr, timeout);
	switch (state) {
	case PART_THERE:
		return 0;
	case PART_GONE:
		return -ENOENT;
	default:
		return -ETIME;
	}
}

int kunwind_fill_init(void)
{
	fillers = alloc_workqueue("kunwind_fill", WQ_UNBOUND, 1);
	return fillers ? 0 : -ENOMEM;
}

void kunwind_fill_stop(void)
{
	WRITE_ONCE(stopping, true);
	drain_workqueue(fillers);
}

void kunwind_fill_exit(void)
{
	destroy_workqueue(fillers);
}
