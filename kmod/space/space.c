// SPDX-License-Identifier: GPL-2.0-only
/*
 * space.c - address spaces of registered processes, found by mm, read under RCU
 *
 * A space points to a snapshot of the executable mappings: sorted ranges, each
 * with the table of its object. update.c reads the mm's own list of
 * mappings under mmap_lock, and publishes a new snapshot before it drops that
 * lock, so no mapping can change in between. invalidate.c marks ranges as dead.
 * snapshot.h says how a published snapshot can change. This file does not read
 * mappings or build tables.
 *
 * Walks find spaces and read snapshots in any context, NMI included, without a
 * lock. All other functions run in process context (space.h).
 *
 * A space belongs to an mm, not to a process. All tasks that use the mm are
 * walked, also those of a process that is not registered but shares the mm
 * (vfork(), or clone() with CLONE_VM and without CLONE_THREAD). This ends when
 * that process calls exec, or when no registered process uses the mm any more.
 *
 * The hash, each process, and each task that works on a space have a reference
 * to it. The last put frees it after a grace period. A task that only has
 * rcu_read_lock() takes a reference by refcount_inc_not_zero().
 *
 * Locks: spaces_lock, space->lock and space->read_mutex; docs/locking.md has
 * their order, and docs/lifetimes.md says which code frees what.
 *
 * Memory: 248 bytes a space (256 from the allocator), and its snapshot, which
 * forked children share.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../object/result.h"
#include "reap.h"
#include "snapshot.h"
#include "space.h"

#define HASH_BITS	12

static struct hlist_head spaces[1 << HASH_BITS];
static DEFINE_SPINLOCK(spaces_lock);	/* the hash, hashed, processes, children */

#define SETTLE_DELAY	(1 + HZ / 50)
#define ANNOUNCE_TRIES	16		/* most snapshots that one call begins to announce */

static void sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweeper, sweep);
static unsigned long sweep_delay = 1;	/* jiffies */
static u32 sweep_nr;			/* number of the current sweep, never 0; only sweep() */
static bool rules_gone;

/* Returns the published snapshot with a reference, or NULL, and whether it is borrowed. */
static struct kunwind_snapshot *get_snapshot(struct kunwind_space *space, bool *borrowed)
{
	struct kunwind_snapshot *snapshot;

	spin_lock(&space->lock);
	snapshot = kunwind_space_locked_snapshot(space);
	if (snapshot)
		refcount_inc(&snapshot->refs);
	*borrowed = space->borrowed;
	spin_unlock(&space->lock);
	return snapshot;
}

struct kunwind_snapshot *kunwind_space_snapshot(struct kunwind_space *space)
{
	bool borrowed;

	return get_snapshot(space, &borrowed);
}

void kunwind_space_publish(struct kunwind_space *space, struct kunwind_snapshot *snapshot)
{
	struct kunwind_snapshot *old;

	lockdep_assert_held(&space->lock);
	old = kunwind_space_locked_snapshot(space);
	rcu_assign_pointer(space->ranges, snapshot ? &snapshot->ranges : NULL);
	kunwind_snapshot_put(old);
}

/* An object is done. A worker soon fills in the ranges that wait for it. */
void kunwind_space_sweep_soon(void)
{
	kunwind_reap_queue(&sweeper, READ_ONCE(sweep_delay));
}

void kunwind_space_announce(struct kunwind_space *space)
{
	struct kunwind_snapshot *snapshot;
	unsigned int tries = 0;
	bool done = false, borrowed;

	might_sleep();
	/* What is borrowed must not be announced: its marks are another process's. */
	while (!done && (snapshot = get_snapshot(space, &borrowed))) {
		const pid_t tgid = READ_ONCE(space->tgid);
		/* The last try ends, whatever other threads map meanwhile. */
		struct kunwind_ranges __rcu **published =
			++tries < ANNOUNCE_TRIES ? &space->ranges : NULL;

		kunwind_snapshot_settle(snapshot);
		done = tgid <= 0 || borrowed ||
		       kunwind_snapshot_announce(snapshot, tgid, published);
		kunwind_snapshot_put(snapshot);
	}
}

/*
 * Looks at the spaces of a bucket that this sweep has not looked at. Returns
 * the first with something to announce, with a reference; NULL: none is left.
 * *@again: set if a space has to wait for the next sweep.
 */
static struct kunwind_space *next_unannounced(struct hlist_head *bucket, bool renew, bool *again)
{
	struct kunwind_snapshot *snapshot;
	struct kunwind_space *space;

	rcu_read_lock();
	hlist_for_each_entry_rcu(space, bucket, node) {
		if (space->swept == sweep_nr)
			continue;
		space->swept = sweep_nr;
		snapshot = kunwind_snapshot_of(rcu_dereference(space->ranges));
		if (snapshot && renew && kunwind_snapshot_find_retired(snapshot))
			WRITE_ONCE(snapshot->ranges.id, kunwind_snapshot_new_id());
		if (!snapshot || READ_ONCE(snapshot->announced))
			continue;
		/* Made by fork: no process number for events yet. */
		if (!READ_ONCE(space->tgid))
			*again = true;
		else if (refcount_inc_not_zero(&space->refs))
			break;
	}
	rcu_read_unlock();
	return space;
}

/*
 * Settles all snapshots whose objects became done after the tasks stopped
 * waiting. One sweep handles all objects that are done by then. The next sweep
 * is delayed by ten times the duration of this one, so sweeps take at most a
 * tenth of a CPU for any number of spaces and objects. The duration is measured
 * in ns, because most sweeps are shorter than a jiffy. While a space's ranges
 * are announced, no lock and no RCU read section is held.
 */
static void sweep(struct work_struct *work)
{
	bool again = false, renew = xchg(&rules_gone, false);
	u64 start = ktime_get_ns();
	struct kunwind_space *space;
	unsigned int i;

	/*
	 * Pairs with the barrier in read_and_publish(). If a snapshot was
	 * published with a pending object, either this sweep sees the snapshot,
	 * or the task that published it sees that the object is done. kill()
	 * asks for another sweep after it has published a copy.
	 */
	smp_mb();
	sweep_nr += 1 + (sweep_nr == U32_MAX);
	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (hlist_empty(&spaces[i]))
			continue;
		while ((space = next_unannounced(&spaces[i], renew, &again))) {
			kunwind_space_announce(space);
			kunwind_space_put(space);
		}
		cond_resched();
	}
	WRITE_ONCE(sweep_delay, 1 + nsecs_to_jiffies(10 * (ktime_get_ns() - start)));
	if (again)
		kunwind_space_sweep_soon();
}

/*
 * A table that walks have used is given up: a worker soon gives each snapshot
 * with this table a new id, so that walks forget all cached rules of its
 * processes, also those of other tables.
 */
static void forget_rules(void)
{
	WRITE_ONCE(rules_gone, true);
	kunwind_space_sweep_soon();
}

static bool unsettled(void)
{
	const struct kunwind_snapshot *snapshot;
	const struct kunwind_space *space;
	bool found = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(spaces) && !found; i++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(space, &spaces[i], node) {
			snapshot = kunwind_snapshot_of(rcu_dereference(space->ranges));
			found |= snapshot && !READ_ONCE(snapshot->settled);
		}
		rcu_read_unlock();
	}
	return found;
}

int kunwind_space_settle(unsigned long timeout)
{
	const unsigned long end = jiffies + timeout;
	long left = timeout;

	/* Polls, because a snapshot may also go away unsettled. */
	while (left > 0 && unsettled()) {
		schedule_timeout_killable(min_t(long, left, SETTLE_DELAY));
		if (fatal_signal_pending(current))
			return -EINTR;
		left = end - jiffies;
	}
	return 0;
}

static struct hlist_head *bucket(const struct mm_struct *mm)
{
	return &spaces[hash_long((unsigned long)mm >> L1_CACHE_SHIFT, HASH_BITS)];
}

struct kunwind_space notrace *kunwind_space_find(const struct mm_struct *mm)
{
	struct kunwind_space *space;

	hlist_for_each_entry_rcu_notrace(space, bucket(mm), node)
		if (space->mm == mm)
			return space;
	return NULL;
}

static struct kunwind_space *space_alloc(struct mm_struct *mm, pid_t tgid, gfp_t gfp)
{
	struct kunwind_space *space = kzalloc(sizeof(*space), gfp | __GFP_NOWARN);

	if (!space)
		return NULL;
	mmgrab(mm);
	space->mm = mm;
	space->tgid = tgid;
	refcount_set(&space->refs, 1);
	mutex_init(&space->read_mutex);
	spin_lock_init(&space->lock);
	space->map_seq = 1;		/* never read */
	kunwind_changed_add(&space->changed, 0, U64_MAX);
	return space;
}

static void space_free(struct kunwind_reap *reap)
{
	struct kunwind_space *space = container_of(reap, struct kunwind_space, reap);

	/* No other reference is left, and the grace period is over. */
	WARN_ON_ONCE(space->hashed || space->processes || space->children || space->moves.nr);
	kunwind_snapshot_put(kunwind_snapshot_of(rcu_dereference_protected(space->ranges, true)));
	mmdrop(space->mm);
	kfree(space);
}

struct kunwind_space *kunwind_space_get(struct kunwind_space *space)
{
	refcount_inc(&space->refs);
	return space;
}

struct kunwind_space *kunwind_space_find_get(const struct mm_struct *mm)
{
	struct kunwind_space *space;

	rcu_read_lock();
	space = kunwind_space_find(mm);
	if (space && !refcount_inc_not_zero(&space->refs))
		space = NULL;
	rcu_read_unlock();
	return space;
}

void kunwind_space_put(struct kunwind_space *space)
{
	if (!refcount_dec_and_test(&space->refs))
		return;
	kunwind_reap(&space->reap, space_free);
}

/* Adds the space to the hash, which takes a reference of its own. */
static void hash(struct kunwind_space *space)
{
	lockdep_assert_held(&spaces_lock);
	kunwind_space_get(space);
	space->hashed = true;
	hlist_add_head_rcu(&space->node, bucket(space->mm));
}

static void unhash(struct kunwind_space *space)
{
	lockdep_assert_held(&spaces_lock);
	if (!space->hashed)
		return;
	space->hashed = false;
	hlist_del_rcu(&space->node);
	kunwind_space_put(space);
}

static void set_tgid(struct kunwind_space *space, pid_t tgid)
{
	lockdep_assert_held(&spaces_lock);
	/* Not 0 in place of KUNWIND_NO_TGID: sweep() would wait for a name. */
	if (tgid && space->tgid <= 0)
		WRITE_ONCE(space->tgid, tgid);
}

void kunwind_space_name(struct kunwind_space *space, pid_t tgid)
{
	spin_lock(&spaces_lock);
	set_tgid(space, tgid);
	spin_unlock(&spaces_lock);
}

struct kunwind_space *kunwind_space_link(struct mm_struct *mm, pid_t tgid, bool children,
					 bool fresh, gfp_t gfp)
{
	struct kunwind_space *space, *new = NULL;

	for (;;) {
		spin_lock(&spaces_lock);
		space = kunwind_space_find(mm);
		if (!space && new) {
			space = new;
			new = NULL;
			hash(space);
		} else if (space) {
			kunwind_space_get(space);
		}
		if (space) {
			space->processes++;
			WRITE_ONCE(space->children, space->children + children);
			set_tgid(space, tgid);
		}
		spin_unlock(&spaces_lock);
		if (space)
			break;
		new = space_alloc(mm, tgid, gfp);
		if (!new)
			return NULL;
		new->fresh = fresh;
	}
	if (new)	/* was never visible */
		kunwind_space_put(new);
	return space;
}

void kunwind_space_unlink(struct kunwind_space *space, pid_t tgid, bool children)
{
	spin_lock(&spaces_lock);
	WARN_ON_ONCE(!space->processes || space->children < children);
	WRITE_ONCE(space->children, space->children - children);
	if (tgid && space->tgid == tgid)
		WRITE_ONCE(space->tgid, KUNWIND_NO_TGID);
	if (!--space->processes)
		unhash(space);
	spin_unlock(&spaces_lock);
	kunwind_space_put(space);
}

void kunwind_space_add_children(struct kunwind_space *space, int nr)
{
	spin_lock(&spaces_lock);
	WRITE_ONCE(space->children, space->children + nr);
	WARN_ON_ONCE(space->children > space->processes);
	spin_unlock(&spaces_lock);
}

static void forget(const struct mm_struct *mm, bool used)
{
	struct kunwind_space *space;
	bool known;

	/*
	 * Called for each mm that ends. Takes no lock if the mm has no space.
	 */
	rcu_read_lock();
	known = kunwind_space_find(mm);
	rcu_read_unlock();
	if (!known)
		return;
	spin_lock(&spaces_lock);
	space = kunwind_space_find(mm);
	if (space && (used || !space->processes))
		unhash(space);
	spin_unlock(&spaces_lock);
}

void kunwind_space_forget(const struct mm_struct *mm)
{
	forget(mm, true);
}

void kunwind_space_forget_unused(const struct mm_struct *mm)
{
	forget(mm, false);
}

void kunwind_space_dup(struct mm_struct *old, struct mm_struct *new)
{
	struct kunwind_space *parent, *child;
	struct kunwind_snapshot *snapshot;

	lockdep_assert_held_write(&old->mmap_lock);
	rcu_read_lock();
	parent = kunwind_space_find(old);
	if (!parent || !READ_ONCE(parent->children))
		goto out;
	child = space_alloc(new, 0, GFP_ATOMIC);
	if (!child)
		goto out;
	spin_lock(&parent->lock);
	child->map_seq = parent->map_seq;
	child->read_seq = parent->read_seq;
	snapshot = kunwind_space_locked_snapshot(parent);
	if (snapshot && !parent->moves.nr) {
		WRITE_ONCE(snapshot->foreign, true);
		refcount_inc(&snapshot->refs);
		RCU_INIT_POINTER(child->ranges, &snapshot->ranges);
		child->borrowed = parent->borrowed || !READ_ONCE(snapshot->announced);
	}
	if (snapshot && !parent->moves.nr && !child->borrowed) {
		child->changed = parent->changed;
		child->reads = READ_ONCE(parent->reads);
	} else {
		/*
		 * During a move, the snapshot may soon be wrong. If it is
		 * borrowed, parent and child each announce all ranges.
		 */
		child->read_seq = child->map_seq - 1;
	}
	spin_unlock(&parent->lock);

	spin_lock(&spaces_lock);
	hash(child);
	spin_unlock(&spaces_lock);
	kunwind_space_put(child);
out:
	rcu_read_unlock();
}

u32 kunwind_space_maps(struct kunwind_space *space)
{
	const struct kunwind_snapshot *snapshot;
	u32 nr;

	rcu_read_lock();
	snapshot = kunwind_snapshot_of(rcu_dereference(space->ranges));
	nr = snapshot ? snapshot->nr_maps : 0;
	rcu_read_unlock();
	return nr;
}

void kunwind_space_count(struct kunwind_space *space, u32 *nr_maps, u32 *nr_ready)
{
	const struct kunwind_snapshot *snapshot;
	u32 i, j;

	*nr_maps = kunwind_space_maps(space);
	*nr_ready = 0;
	rcu_read_lock();
	snapshot = kunwind_snapshot_of(rcu_dereference(space->ranges));
	for (i = 0; snapshot && i < snapshot->ranges.nr; i++) {
		const struct kunwind_range_chunk *chunk = &snapshot->ranges.chunk[i];

		for (j = 0; j < chunk->nr; j++)
			*nr_ready += READ_ONCE(chunk->range[j].table) &&
				     kunwind_range_is_usable(&snapshot->ranges, &chunk->range[j]);
	}
	rcu_read_unlock();
}

size_t kunwind_space_bytes(struct kunwind_space *space)
{
	const struct kunwind_snapshot *snapshot;
	size_t bytes = sizeof(*space);

	rcu_read_lock();
	snapshot = kunwind_snapshot_of(rcu_dereference(space->ranges));
	if (snapshot)
		bytes += (snapshot->size + snapshot->chunk_size) /
			 max(1u, refcount_read(&snapshot->refs));
	rcu_read_unlock();
	return bytes;
}

int kunwind_space_init(void)
{
	static const struct kunwind_result_listener listener = {
		.done = kunwind_space_sweep_soon,
		.rules_gone = forget_rules,
	};
	int err = kunwind_reap_init();

	if (err)
		return err;
	kunwind_result_listen(&listener);
	return 0;
}

void kunwind_space_exit(void)
{
	struct kunwind_space *space;
	struct hlist_node *next;
	unsigned int i;

	/*
	 * Spaces that no process uses: made by a fork during which the hook on
	 * perf_event_fork() was removed, or the parent was unregistered.
	 */
	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		spin_lock(&spaces_lock);
		hlist_for_each_entry_safe(space, next, &spaces[i], node) {
			WARN_ON_ONCE(space->processes);
			unhash(space);
		}
		spin_unlock(&spaces_lock);
	}
	cancel_delayed_work_sync(&sweeper);
	kunwind_reap_exit();
	/* Waits until all records of processes are freed. */
	rcu_barrier();
}
