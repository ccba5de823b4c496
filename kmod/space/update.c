// SPDX-License-Identifier: GPL-2.0-only
/*
 * update.c - bring the snapshot of a space up to date, and wait for its tables
 *
 * The reader holds mmap_lock for reading until it has published the new
 * snapshot, so no mapping can change in between. The wait for tables comes last,
 * without a lock. Process context; may sleep.
 *
 * A change reads only the mappings that it touched (changed.h), because a process
 * with thousands of mappings would otherwise read all of them at each mmap().
 * Ranges that munmap() left behind, which no hook sees, go when all mappings are
 * read: after a quarter as many reads as there are ranges. So this adds to the
 * cost of each change as much as a few ranges. If there seem to be more than
 * max_ranges, all are read at once, because such ranges may take the room of others.
 *
 * Only a task of the process itself waits for mmap_lock, or for another reader
 * of the same mappings (space->read_mutex). A reader from outside (a
 * registration, system_wide.c) only tries both locks, and sleeps without a lock
 * before it tries again. So nothing that holds up one process holds up another.
 *
 * A reader from outside keeps the memory of the process alive (mm_users) only
 * while it reads the mappings. If the process ends meanwhile, the reader unmaps
 * this memory, and may wait for a file system to which it is written back. A
 * registration does this in its caller's context, like a read of
 * /proc/PID/maps, because the kernel's own workqueue (mmput_async()) has a
 * limited number of workers, which others need. system_wide.c uses a workqueue
 * of its own.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../base/enabled.h"
#include "../object/object.h"
#include "../object/object_cache.h"
#include "../object/source.h"
#include "read_mappings.h"
#include "reap.h"
#include "space.h"

#define MAX_OBJECT_STALLS	20	/* waits that timed out for one object */
#define RETRY_MAX		(1 + HZ / 50)	/* longest sleep between two tries, jiffies */
#define PARTIAL_READS		16U	/* least number of reads until all mappings are read again */

/* Returns whether all ranges are equal, and none of those that @a alone has is dead or doubted. */
static bool same(const struct kunwind_snapshot *a, const struct kunwind_snapshot *b)
{
	struct kunwind_place at = { }, to = { };
	struct kunwind_detail *of_a, *of_b;
	const struct kunwind_range *x, *y;

	if (a->nr != b->nr || a->full != b->full || a->ranges.doubt_start != a->ranges.doubt_end ||
	    a->ranges.entry_sp != b->ranges.entry_sp || a->ranges.entry != b->ranges.entry ||
	    a->ranges.interpreter != b->ranges.interpreter)
		return false;
	while ((x = kunwind_snapshot_at(a, at, &of_a))) {
		y = kunwind_snapshot_at(b, to, &of_b);
		if (x == y && !at.nr) {		/* a whole chunk */
			at.chunk++;
			to.chunk++;
			continue;
		}
		if (x->start != y->start || x->end != y->end || of_a->offset != of_b->offset ||
		    of_a->object != of_b->object || of_a->name != of_b->name || READ_ONCE(x->dead))
			return false;
		kunwind_place_next(a, &at);
		kunwind_place_next(b, &to);
	}
	return true;
}

/*
 * Returns whether a build that failed may be repeated now. Looks at most once a
 * jiffy, because a process may have thousands of them.
 */
static bool may_retry(struct kunwind_space *space, const struct kunwind_snapshot *old,
		      const struct kunwind_quota *quota)
{
	const struct kunwind_chunk *chunk;
	u32 i, j;

	if (space->retried == jiffies)
		return false;
	for (i = 0; i < old->ranges.nr; i++) {
		chunk = kunwind_snapshot_chunk(old, i);
		if (!READ_ONCE(chunk->retry))
			continue;
		space->retried = jiffies;
		for (j = 0; j < chunk->nr; j++)
			if (kunwind_object_cache_stale(chunk->detail[j].object, quota))
				return true;
	}
	return false;
}

/* Returns whether enough partial reads have been done since all mappings were read. */
static bool is_due(const struct kunwind_space *space, const struct kunwind_snapshot *old)
{
	return space->reads >= max(PARTIAL_READS, old->nr / (old->full ? 16 : 4));
}

/*
 * Takes mmap_lock for reading. A task waits for the lock of its own mm only.
 * The holder of another's may wait for a file system that never answers. 0,
 * -EINTR, or -EAGAIN: the lock of another's mm is taken.
 */
static int lock_mappings(struct mm_struct *mm)
{
	if (mm == current->mm)
		return mmap_read_lock_killable(mm);
	return mmap_read_trylock(mm) ? 0 : -EAGAIN;
}

/*
 * Returns whether all mappings have to be read, because ranges that munmap() left
 * behind may take the room of others. A process that has more than max_ranges
 * does so at some of its changes only, unless it hands in a table.
 */
static bool may_have_room(const struct kunwind_space *space, const struct kunwind_mm_reading *r,
			  const struct kunwind_snapshot *old)
{
	return r->over && (!old->full || r->change || space->reads >= PARTIAL_READS);
}

/* Reads, and publishes the result. space->read_mutex and mmap_lock are held. */
static int read_locked(struct kunwind_space *space, struct kunwind_mm_reading *r, bool all)
{
	struct kunwind_snapshot *old, *made = NULL;
	struct kunwind_changed changed;
	int err = 0;
	u32 seq;

	/*
	 * In one section: a range that dies later is alive in @old or not, and
	 * kunwind_space_mark() finds it. Only moves can do this: mmap_lock is held.
	 */
	spin_lock(&space->lock);
	old = kunwind_space_locked_snapshot(space);
	if (old)
		refcount_inc(&old->refs);
	seq = space->map_seq;
	changed = space->changed;
	space->changed.nr = 0;
	space->deaths = false;
	space->reading = kunwind_snapshot_new_id();
	r->announce_all = space->borrowed;
	spin_unlock(&space->lock);
	r->old = old;
	if (r->change)
		err = kunwind_mappings_check(r);
	if (err)
		goto publish;
	all |= !old || r->announce_all || is_due(space, old) || may_retry(space, old, r->quota);
	if (all)
		kunwind_changed_add(&changed, 0, U64_MAX);
	else if (r->change)
		kunwind_changed_add(&changed, r->change->start, r->change->end);
	made = kunwind_mappings_read(r, old, &changed);
	if (made && !all && may_have_room(space, r, old)) {
		r->unused[r->nr_unused++] = made;
		all = true;
		kunwind_changed_add(&changed, 0, U64_MAX);
		made = kunwind_mappings_read(r, old, &changed);
	}
	if (!made)
		err = -ENOMEM;
	else if (r->change && r->change->object && r->over)
		err = -ENOSPC;
	/* Before walks and forks can find the snapshot. */
	if (!err && made != old)
		kunwind_snapshot_settle(made);
publish:
	/*
	 * Still under mmap_lock, so that the hooks on later mappings find the
	 * new snapshot. Only a stack can grow meanwhile, and that is no code.
	 */
	spin_lock(&space->lock);
	if (!err && made != old && !kunwind_space_mark(space, made))
		err = -ENOMEM;
	if (err) {
		kunwind_changed_add_all(&space->changed, &changed);
	} else {
		if (made != old && (!old || r->announce_all || !same(old, made))) {
			kunwind_space_publish(space, made);
			space->borrowed = false;
			made = NULL;
		}
		space->read_seq = seq;
	}
	spin_unlock(&space->lock);
	if (!err)
		WRITE_ONCE(space->reads, all ? 0 : space->reads + 1);
	if (made != old && made)
		r->unused[r->nr_unused++] = made;
	kunwind_snapshot_put(old);
	return err;
}

/*
 * Makes a snapshot and publishes it. space->read_mutex is held. @change may be
 * NULL. @all: reads all mappings.
 */
static int read_and_publish(struct kunwind_space *space, struct mm_struct *mm,
			    const struct kunwind_change *change, bool all)
{
	struct kunwind_mm_reading reading, *r = &reading;	/* not zeroed; 0.9 KB */
	int err;

	lockdep_assert_held(&space->read_mutex);
	r->mm = mm;
	r->change = change;
	r->nr_unused = 0;
	r->quota = kunwind_quota_of(mm);
	err = lock_mappings(mm);
	if (!err) {
		err = read_locked(space, r, all);
		mmap_read_unlock(mm);
		/* Pairs with the barrier in sweep(). */
		smp_mb();
	}
	/* Without mmap_lock: this may drop the last references to many objects. */
	while (r->nr_unused)
		kunwind_snapshot_destroy(r->unused[--r->nr_unused]);
	kunwind_quota_put(r->quota);
	return err;
}

/*
 * Returns the completion for which the task waits to get the object's table, or
 * NULL: the task does not wait.
 */
static struct completion *awaited(struct kunwind_object *object, bool patient)
{
	if (kunwind_object_state(object) == KUNWIND_OBJECT_PENDING)
		return patient || (READ_ONCE(object->stalls) < MAX_OBJECT_STALLS &&
				   !kunwind_source_stalls(object)) ? &object->done : NULL;
	/* A patient caller also waits for the second stage of a build. */
	return patient && READ_ONCE(object->building_parts) ? &object->parts_done : NULL;
}

/*
 * Waits until all objects are done, at most @timeout jiffies. Returns 0, also
 * after a timeout, or -EINTR. Unless @patient, does not wait for an object
 * after MAX_OBJECT_STALLS waits for it have timed out, nor for an object whose
 * file system hangs.
 */
static int wait_for_objects(struct kunwind_snapshot *snapshot, unsigned long timeout, bool patient)
{
	struct completion *completion;
	long left = timeout;
	struct kunwind_place place = { };
	struct kunwind_detail *detail;

	while (left > 0 && kunwind_snapshot_at(snapshot, place, &detail)) {
		struct kunwind_object *object = detail->object;

		/* A patient caller also waits for the second stage of builds. */
		if (!patient && READ_ONCE(kunwind_snapshot_chunk(snapshot, place.chunk)->settled)) {
			place = (struct kunwind_place){ .chunk = place.chunk + 1 };
			continue;
		}
		while (left > 0 && (completion = awaited(object, patient))) {
			left = wait_for_completion_killable_timeout(completion, left);
			if (left < 0)
				return -EINTR;
		}
		if (!left && kunwind_object_state(object) == KUNWIND_OBJECT_PENDING) {
			WRITE_ONCE(object->stalls, READ_ONCE(object->stalls) + 1);
			kunwind_source_stalled(object);
		}
		kunwind_place_next(snapshot, &place);
	}
	return 0;
}

/*
 * Reads the mappings if they have changed, or with @force. Only tries the locks
 * of an mm that is not the current task's.
 */
static int read_once(struct kunwind_space *space, struct mm_struct *mm, bool force)
{
	const bool own = mm == current->mm;
	int err = 0;

	if (own) {
		if (mutex_lock_killable(&space->read_mutex))
			return -EINTR;
	} else if (!mutex_trylock(&space->read_mutex)) {
		return -EAGAIN;
	} else if (!mmget_not_zero(mm)) {
		mutex_unlock(&space->read_mutex);
		return -ESRCH;
	}
	if (force || kunwind_space_dirty(space))
		err = read_and_publish(space, mm, NULL, force);
	mutex_unlock(&space->read_mutex);
	if (!own)
		mmput(mm);
	return err;
}

int kunwind_space_read_mappings(struct kunwind_space *space, struct mm_struct *mm, bool force,
				unsigned long timeout, bool patient)
{
	const unsigned long end = jiffies + timeout;
	struct kunwind_snapshot *snapshot;
	unsigned long delay = 1;
	long left = timeout;
	int err;

	while ((err = read_once(space, mm, force)) == -EAGAIN && left > 0) {
		schedule_timeout_killable(min_t(unsigned long, delay, left));
		if (fatal_signal_pending(current))
			return -EINTR;
		delay = min_t(unsigned long, 2 * delay, RETRY_MAX);
		left = end - jiffies;
	}
	if (err)
		return err;
	/* While kunwind is switched off, no task waits for tables. */
	if (!READ_ONCE(kunwind_enabled))
		left = 0;

	snapshot = kunwind_space_snapshot(space);
	if (!snapshot)
		return 0;
	kunwind_snapshot_settle(snapshot);
	err = wait_for_objects(snapshot, max(left, 0L), patient);
	kunwind_snapshot_put(snapshot);
	/*
	 * During the wait, other threads may have replaced mappings, which are
	 * still alive in the old snapshot.
	 */
	kunwind_space_announce(space);
	return err;
}

int kunwind_space_change(struct kunwind_space *space, struct mm_struct *mm,
			 const struct kunwind_change *change)
{
	int err;

	if (mutex_lock_killable(&space->read_mutex))
		return -EINTR;
	err = read_and_publish(space, mm, change, false);
	/* Replaced snapshots use up the user's share until they are freed. */
	if (err == -ENOMEM) {
		kunwind_reap_flush();
		err = read_and_publish(space, mm, change, false);
	}
	mutex_unlock(&space->read_mutex);
	if (err)
		return err;
	/*
	 * Settles and announces the new snapshot, without a wait for tables. An
	 * error here does not undo the change, so it is not returned.
	 */
	kunwind_space_read_mappings(space, mm, false, 0, false);
	return 0;
}
