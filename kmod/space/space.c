// SPDX-License-Identifier: GPL-2.0-only
/*
 * space.c - address spaces of registered processes, found by mm, read under RCU
 *
 * A space points to a snapshot of the executable mappings: sorted ranges, each
 * with the table of its object. A scan reads the mm's own list of mappings,
 * under mmap_lock, and publishes a new snapshot before it lets that lock go;
 * so no mapping can come in between. Walks read snapshots without any lock.
 *
 * What may happen to a published snapshot is told in snapshot.h.
 *
 * A space belongs to an mm, not to a process. All tasks that use the mm are walked,
 * also those of another process that shares it (vfork(), or clone() with CLONE_VM and
 * without CLONE_THREAD) and is not registered itself. This ends with its exec, or when
 * no registered process uses the mm any more.
 *
 * The hash, each process, and each task that works on a space have a reference to
 * it. The last put frees it after a grace period. Inside rcu_read_lock() alone, a
 * reference is taken by refcount_inc_not_zero().
 *
 * Locks: spaces_lock, space->lock and space->scan; their order is in
 * docs/locking.md. Who frees what: docs/lifetimes.md.
 *
 * Memory: 200 bytes a space, and its snapshot; a forked child shares its
 * parent's.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "snapshot.h"
#include "space.h"

#define HASH_BITS	12

static struct hlist_head spaces[1 << HASH_BITS];
static DEFINE_SPINLOCK(spaces_lock);	/* the hash, hashed, processes, children */

/*
 * What is to be freed, all of it behind one grace period and by one run of a
 * worker: a grace period and a wake-up for each would be a good part of what a
 * short-lived process costs.
 */
#define REAP_DELAY	(HZ / 20)
#define SETTLE_DELAY	(1 + HZ / 50)

static struct workqueue_struct *reaper;
static LLIST_HEAD(reaped);
static void reap(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap_work, reap);

static void sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweeper, sweep);
static unsigned long sweep_delay = 1;	/* jiffies */
static bool rules_gone;

static struct kunwind_ranges *locked_ranges(struct kunwind_space *space)
{
	return rcu_dereference_protected(space->ranges, lockdep_is_held(&space->lock));
}

struct kunwind_snapshot *kunwind_space_snapshot(struct kunwind_space *space)
{
	struct kunwind_snapshot *snapshot;

	spin_lock(&space->lock);
	snapshot = kunwind_snapshot_of(locked_ranges(space));
	if (snapshot)
		refcount_inc(&snapshot->refs);
	spin_unlock(&space->lock);
	return snapshot;
}

void kunwind_space_publish(struct kunwind_space *space, struct kunwind_snapshot *snapshot)
{
	struct kunwind_ranges *old;

	lockdep_assert_held(&space->lock);
	old = locked_ranges(space);
	rcu_assign_pointer(space->ranges, snapshot ? &snapshot->ranges : NULL);
	kunwind_snapshot_put(kunwind_snapshot_of(old));
}

void kunwind_reap(struct kunwind_reap *item, void (*free)(struct kunwind_reap *item))
{
	item->free = free;
	if (llist_add(&item->node, &reaped))
		queue_delayed_work(reaper, &reap_work, REAP_DELAY);
}

static void reap(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&reaped);
	struct kunwind_reap *item, *next;

	if (!list)
		return;
	synchronize_rcu();
	llist_for_each_entry_safe(item, next, list, node) {
		item->free(item);
		cond_resched();
	}
}

void kunwind_space_flush(void)
{
	flush_delayed_work(&reap_work);
}

/*
 * Settles every snapshot for which nobody waited long enough. All objects that
 * are done by now at once, and never more than a tenth of a CPU, however many
 * spaces and objects someone makes. A sweep is shorter than a jiffy as a rule, so
 * its time is taken in ns.
 */
static void sweep(struct work_struct *work)
{
	bool again = false, renew = xchg(&rules_gone, false);
	u64 start = ktime_get_ns();
	struct kunwind_space *space;
	unsigned int i;

	/*
	 * Pairs with the one in scan(): either this sees a snapshot that was
	 * published with an object pending, or its scan sees the object done.
	 */
	smp_mb();
	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (hlist_empty(&spaces[i]))
			continue;
		rcu_read_lock();
		hlist_for_each_entry_rcu(space, &spaces[i], node) {
			struct kunwind_snapshot *snapshot;

			snapshot = kunwind_snapshot_of(rcu_dereference(space->ranges));
			if (snapshot && renew)
				WRITE_ONCE(snapshot->ranges.id, kunwind_snapshot_new_id());
			if (!snapshot || READ_ONCE(snapshot->settled))
				continue;
			/* Made by fork just now: its process has no number yet to be named. */
			if (!READ_ONCE(space->tgid)) {
				again = true;
				continue;
			}
			kunwind_snapshot_settle(snapshot);
			kunwind_snapshot_announce(snapshot, READ_ONCE(space->tgid));
		}
		rcu_read_unlock();
		cond_resched();
	}
	WRITE_ONCE(sweep_delay, 1 + nsecs_to_jiffies(10 * (ktime_get_ns() - start)));
	if (again)
		kunwind_space_object_done();
}

void kunwind_space_object_done(void)
{
	queue_delayed_work(reaper, &sweeper, READ_ONCE(sweep_delay));
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

	/* Looks again and again: what it waits for may also end with its process. */
	while (left > 0 && unsettled()) {
		schedule_timeout_killable(min_t(long, left, SETTLE_DELAY));
		if (fatal_signal_pending(current))
			return -EINTR;
		left = end - jiffies;
	}
	return 0;
}

void kunwind_space_rules_gone(void)
{
	WRITE_ONCE(rules_gone, true);
	kunwind_space_object_done();
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
	mutex_init(&space->scan);
	spin_lock_init(&space->lock);
	space->map_seq = 1;		/* never scanned */
	return space;
}

static void space_free(struct kunwind_reap *reap)
{
	struct kunwind_space *space = container_of(reap, struct kunwind_space, reap);

	/* Nobody else has it any more. */
	kunwind_snapshot_put(kunwind_snapshot_of(rcu_dereference_protected(space->ranges, true)));
	mmdrop(space->mm);
	kfree(space);
}

struct kunwind_space *kunwind_space_get(struct kunwind_space *space)
{
	refcount_inc(&space->refs);
	return space;
}

void kunwind_space_put(struct kunwind_space *space)
{
	if (!refcount_dec_and_test(&space->refs))
		return;
	kunwind_reap(&space->reap, space_free);
}

/* Gives the hash a reference of its own. */
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
			if (!space->tgid)
				/* kunwind_space_dup() does not know it */
				WRITE_ONCE(space->tgid, tgid);
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

void kunwind_space_unlink(struct kunwind_space *space, bool children)
{
	spin_lock(&spaces_lock);
	WRITE_ONCE(space->children, space->children - children);
	if (!--space->processes)
		unhash(space);
	spin_unlock(&spaces_lock);
	kunwind_space_put(space);
}

void kunwind_space_add_children(struct kunwind_space *space, int nr)
{
	spin_lock(&spaces_lock);
	WRITE_ONCE(space->children, space->children + nr);
	spin_unlock(&spaces_lock);
}

static void forget(const struct mm_struct *mm, bool used)
{
	struct kunwind_space *space;
	bool known;

	/* Called for every mm that ends: no lock for those that nobody registered. */
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
	bool pending = false;

	rcu_read_lock();
	parent = kunwind_space_find(old);
	if (!parent || !READ_ONCE(parent->children))
		goto out;
	child = space_alloc(new, 0, GFP_ATOMIC);
	if (!child)
		goto out;
	spin_lock(&parent->lock);
	child->map_seq = parent->map_seq;
	child->scanned_seq = parent->scanned_seq;
	snapshot = kunwind_snapshot_of(locked_ranges(parent));
	if (parent->moves.nr) {
		/* What the parent knows may be wrong soon: the child reads for itself. */
		snapshot = NULL;
		child->scanned_seq = child->map_seq - 1;
	} else if (snapshot && !READ_ONCE(snapshot->settled)) {
		/* What becomes known later is announced for each of the two. */
		pending = true;
		snapshot = kunwind_snapshot_copy(snapshot);
		if (snapshot)
			kunwind_snapshot_settle(snapshot);
		/* The child waits as its parent does, for the same time at most. */
		if (!snapshot || !READ_ONCE(snapshot->settled))
			child->scanned_seq = child->map_seq - 1;
	} else if (snapshot) {
		refcount_inc(&snapshot->refs);
	}
	if (snapshot)
		RCU_INIT_POINTER(child->ranges, &snapshot->ranges);
	spin_unlock(&parent->lock);

	spin_lock(&spaces_lock);
	hash(child);
	spin_unlock(&spaces_lock);
	kunwind_space_put(child);
	/* What was done meanwhile was done to the snapshot, by way of the parent, unless copied. */
	if (pending)
		kunwind_space_object_done();
out:
	rcu_read_unlock();
}

bool kunwind_space_dirty(struct kunwind_space *space)
{
	bool dirty;

	spin_lock(&space->lock);
	dirty = space->map_seq != space->scanned_seq;
	spin_unlock(&space->lock);
	return dirty;
}

/* Returns the space's own snapshot: a copy when others share it; NULL: no memory, or none. */
static struct kunwind_snapshot *own_snapshot(struct kunwind_space *space)
{
	struct kunwind_snapshot *snapshot, *copy;

	lockdep_assert_held(&space->lock);
	snapshot = kunwind_snapshot_of(locked_ranges(space));
	if (!snapshot || refcount_read(&snapshot->refs) == 1)
		return snapshot;
	copy = kunwind_snapshot_copy(snapshot);
	kunwind_space_publish(space, copy);
	if (copy) {
		smp_mb();	/* as in scan() */
		kunwind_snapshot_settle(copy);
	}
	return copy;
}

bool kunwind_space_mapped(struct kunwind_space *space, u64 start, u64 end, u64 added, bool read)
{
	struct kunwind_ranges *ranges;
	struct kunwind_snapshot *snapshot;
	bool hit = false;
	u64 bytes = 0;
	u32 i;

	spin_lock(&space->lock);
	ranges = locked_ranges(space);
	if (ranges)
		for (i = kunwind_ranges_behind(ranges, start);
		     i < ranges->nr && ranges->range[i].start < end; i++)
			if (!kunwind_range_is_dead(&ranges->range[i])) {
				hit = true;
				bytes += min(ranges->range[i].end, end) -
					 max(ranges->range[i].start, start);
				/*
				 * What a JIT may write to now, and run again later, is
				 * read again then.
				 */
				read |= READ_ONCE(ranges->range[i].reason) != KUNWIND_NO_OBJECT;
			}
	if (hit && (!added || bytes + added != end - start)) {
		snapshot = own_snapshot(space);
		/* Without memory for a copy the space knows nothing until it is read again. */
		if (!snapshot) {
			read = true;
		} else {
			ranges = &snapshot->ranges;
			for (i = kunwind_ranges_behind(ranges, start);
			     i < ranges->nr && ranges->range[i].start < end; i++)
				WRITE_ONCE(ranges->range[i].dead, KUNWIND_DEAD);
			/* Dead first: a rule found before is cached under the old id. */
			smp_wmb();
			WRITE_ONCE(ranges->id, kunwind_snapshot_new_id());
		}
	}
	if (read)
		space->map_seq++;
	spin_unlock(&space->lock);
	return read;
}

void kunwind_space_begin_move(struct kunwind_space *space)
{
	spin_lock(&space->lock);
	if (!space->moves.nr++)
		space->moves.start = space->moves.end = 0;
	spin_unlock(&space->lock);
}

void kunwind_space_move_to(struct kunwind_space *space, u64 start, u64 end)
{
	struct kunwind_moves *moves = &space->moves;

	spin_lock(&space->lock);
	if (moves->start == moves->end) {
		moves->start = start;
		moves->end = end;
	} else {
		moves->start = min(moves->start, start);
		moves->end = max(moves->end, end);
	}
	spin_unlock(&space->lock);
}

void kunwind_space_end_move(struct kunwind_space *space)
{
	const struct kunwind_moves *moves = &space->moves;

	spin_lock(&space->lock);
	/* What was doubted is read again, even if the task is killed that would do it now. */
	if (!--space->moves.nr && moves->start != moves->end)
		space->map_seq++;
	spin_unlock(&space->lock);
}

/* Marks what was read in the interval of moves. */
static void doubt(const struct kunwind_moves *moves, struct kunwind_ranges *ranges)
{
	u32 i;

	if (!moves->nr)
		return;
	for (i = kunwind_ranges_behind(ranges, moves->start);
	     i < ranges->nr && ranges->range[i].start < moves->end; i++)
		ranges->range[i].dead = KUNWIND_DOUBTED;
}

bool kunwind_space_mark(struct kunwind_space *space, const struct kunwind_ranges *old,
			struct kunwind_ranges *ranges)
{
	const struct kunwind_ranges *now;
	u32 i, j, first = 0;

	lockdep_assert_held(&space->lock);
	doubt(&space->moves, ranges);
	now = locked_ranges(space);
	if (now == old)
		return true;
	if (!now)
		return false;
	/* A copy of the old one, in which something died. */
	for (i = 0; i < now->nr; i++) {
		const struct kunwind_range *range = &now->range[i];

		if (!kunwind_range_is_dead(range) || kunwind_range_is_dead(&old->range[i]))
			continue;
		while (first < ranges->nr && ranges->range[first].end <= range->start)
			first++;
		for (j = first; j < ranges->nr && ranges->range[j].start < range->end; j++)
			ranges->range[j].dead = KUNWIND_DEAD;
	}
	return true;
}

bool kunwind_space_knows(struct kunwind_space *space, u64 start, u64 len)
{
	const struct kunwind_ranges *ranges;
	bool known = false;
	u64 end;
	u32 i;

	if (check_add_overflow(start, len, &end))
		end = U64_MAX;
	rcu_read_lock();
	ranges = rcu_dereference(space->ranges);
	if (ranges)
		for (i = kunwind_ranges_behind(ranges, start);
		     i < ranges->nr && ranges->range[i].start < end; i++)
			known |= !kunwind_range_is_dead(&ranges->range[i]);
	rcu_read_unlock();
	return known;
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
	const struct kunwind_ranges *ranges;
	u32 i;

	*nr_maps = kunwind_space_maps(space);
	*nr_ready = 0;
	rcu_read_lock();
	ranges = rcu_dereference(space->ranges);
	if (ranges)
		for (i = 0; i < ranges->nr; i++)
			*nr_ready += READ_ONCE(ranges->range[i].table) &&
				     !READ_ONCE(ranges->range[i].dead);
	rcu_read_unlock();
}

size_t kunwind_space_bytes(struct kunwind_space *space)
{
	const struct kunwind_snapshot *snapshot;
	size_t bytes = sizeof(*space);

	rcu_read_lock();
	snapshot = kunwind_snapshot_of(rcu_dereference(space->ranges));
	if (snapshot)
		bytes += snapshot->size / max(1u, refcount_read(&snapshot->refs));
	rcu_read_unlock();
	return bytes;
}

int kunwind_space_init(void)
{
	reaper = alloc_workqueue("kunwind_free", WQ_UNBOUND, 0);
	return reaper ? 0 : -ENOMEM;
}

void kunwind_space_exit(void)
{
	struct kunwind_space *space;
	struct hlist_node *next;
	unsigned int i;

	/*
	 * What a fork left behind whose hook was gone already, or whose
	 * parent was unregistered meanwhile: a space that no process owns.
	 */
	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		spin_lock(&spaces_lock);
		hlist_for_each_entry_safe(space, next, &spaces[i], node)
			unhash(space);
		spin_unlock(&spaces_lock);
	}
	cancel_delayed_work_sync(&sweeper);
	/* Freeing a space puts its snapshot on the list. */
	do
		flush_delayed_work(&reap_work);
	while (!llist_empty(&reaped));
	destroy_workqueue(reaper);
	/* Records of processes. */
	rcu_barrier();
}
