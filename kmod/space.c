// SPDX-License-Identifier: GPL-2.0-only
/*
 * space.c - address spaces of registered processes, found by mm, read under RCU
 *
 * A space points to a snapshot of the executable mappings: sorted ranges, each
 * with the table of its object. A scan reads the mm's own list of mappings,
 * under mmap_lock, and publishes a new snapshot before it lets that lock go;
 * so no mapping can come in between. Walks read snapshots without any lock.
 *
 * A published snapshot changes in two ways only, both of which a walk may meet
 * half done:
 *   - a range whose table was not ready gets bias, then table (or the reason
 *     why there is none). This is true of the file, so it holds for every
 *     space that shares the snapshot.
 *   - a range dies (something else was mapped there): first the range, then
 *     the snapshot's id, which takes its rules out of the walk's caches. This
 *     is true of one mm only: a shared snapshot is copied before.
 *
 * Lifetimes: a snapshot is counted by the spaces that share it and by whoever
 * works on it; the last put frees it behind a grace period, from a worker,
 * because that gives up objects and may sleep. A space is counted by the hash
 * and by processes; freed the same way. References are taken under space->lock,
 * or in hand already.
 *
 * Locks, outer first: scan, mmap_lock, objects_lock; spaces_lock, space->lock.
 *
 * Memory: a space 200 bytes, a snapshot 100 and 64 for each executable mapping;
 * a forked child shares its parent's.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <asm/vdso.h>

#include "compat/mm.h"
#include "object.h"
#include "space.h"
#include "trace_hooks.h"

#define HASH_BITS	12

static unsigned int max_ranges = 16384;
module_param(max_ranges, uint, 0644);
MODULE_PARM_DESC(max_ranges, "most executable mappings that are known of one process (default 16384)");

/* What a walk does not need of a range. */
struct detail {
	struct kunwind_object *object;
	u64 offset;		/* of the range's start in the file, bytes */
	bool announced;		/* kunwind_map was emitted */
};

struct snapshot {
	refcount_t refs;
	bool settled;		/* no range waits for its object */
	struct rcu_work free;
	struct detail *detail;	/* [ranges.nr] behind the ranges */
	struct kunwind_ranges ranges;	/* last */
};

static struct hlist_head spaces[1 << HASH_BITS];
static DEFINE_SPINLOCK(spaces_lock);	/* the hash, hashed, processes, children */
static atomic64_t next_id = ATOMIC64_INIT(0);
static struct workqueue_struct *reaper;

static void sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweeper, sweep);
static unsigned long sweep_delay = 1;	/* jiffies */

/* ------------------------------------------------------------ snapshots */

static struct snapshot *snapshot_of(struct kunwind_ranges *ranges)
{
	return ranges ? container_of(ranges, struct snapshot, ranges) : NULL;
}

static size_t snapshot_size(u32 nr)
{
	return sizeof(struct snapshot) + nr * (sizeof(struct kunwind_range) + sizeof(struct detail));
}

static struct snapshot *snapshot_alloc(u32 room, gfp_t gfp)
{
	struct snapshot *snapshot;

	/* kvmalloc() does not do without sleeping. */
	if (gfpflags_allow_blocking(gfp))
		snapshot = kvzalloc(snapshot_size(room), gfp | __GFP_NOWARN);
	else
		snapshot = kzalloc(snapshot_size(room), gfp | __GFP_NOWARN);
	if (!snapshot)
		return NULL;
	refcount_set(&snapshot->refs, 1);
	snapshot->detail = (struct detail *)&snapshot->ranges.range[room];
	snapshot->ranges.id = atomic64_inc_return(&next_id);
	return snapshot;
}

static void snapshot_destroy(struct snapshot *snapshot)
{
	u32 i;

	for (i = 0; i < snapshot->ranges.nr; i++)
		kunwind_object_put(snapshot->detail[i].object);
	kvfree(snapshot);
}

static void snapshot_free_work(struct work_struct *work)
{
	snapshot_destroy(container_of(to_rcu_work(work), struct snapshot, free));
}

/* Any context but NMI. */
static void snapshot_put(struct snapshot *snapshot)
{
	if (!snapshot || !refcount_dec_and_test(&snapshot->refs))
		return;
	INIT_RCU_WORK(&snapshot->free, snapshot_free_work);
	queue_rcu_work(reaper, &snapshot->free);
}

static struct snapshot *snapshot_get(struct kunwind_space *space)
{
	struct snapshot *snapshot;

	spin_lock(&space->lock);
	snapshot = snapshot_of(rcu_dereference_protected(space->ranges,
							 lockdep_is_held(&space->lock)));
	if (snapshot)
		refcount_inc(&snapshot->refs);
	spin_unlock(&space->lock);
	return snapshot;
}

/* Takes over the caller's reference to @snapshot, which may be NULL. */
static void publish(struct kunwind_space *space, struct snapshot *snapshot)
{
	struct kunwind_ranges *old;

	lockdep_assert_held(&space->lock);
	old = rcu_dereference_protected(space->ranges, lockdep_is_held(&space->lock));
	rcu_assign_pointer(space->ranges, snapshot ? &snapshot->ranges : NULL);
	snapshot_put(snapshot_of(old));
}

/*
 * Fills in ranges whose objects are done by now. Any number of CPUs may do
 * this to one snapshot at a time: all write the same.
 */
static void settle(struct snapshot *snapshot)
{
	bool settled = true;
	u32 i;

	if (READ_ONCE(snapshot->settled))
		return;
	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct kunwind_range *range = &snapshot->ranges.range[i];
		const struct detail *detail = &snapshot->detail[i];
		const struct kunwind_object *object = detail->object;
		u64 bias = range->start - detail->offset;
		bool known = false;

		if (READ_ONCE(range->table) || READ_ONCE(range->reason) != KUNWIND_NOT_READY)
			continue;
		if (kunwind_object_state(object) == KUNWIND_OBJECT_PENDING) {
			settled = false;
			continue;
		}
		if (object->has_elf)
			known = kunwind_elf_bias(&object->elf, range->start,
						 range->end - range->start, detail->offset, &bias);
		WRITE_ONCE(range->bias, bias);
		if (object->table && known)
			/* Pairs with the walk, which reads the table before the bias. */
			smp_store_release(&range->table, object->table);
		else
			smp_store_release(&range->reason, kunwind_object_reason(object));
	}
	if (settled)
		WRITE_ONCE(snapshot->settled, true);
}

/* Emits kunwind_map for ranges that are known now and were not announced. */
static void announce(struct kunwind_space *space, struct snapshot *snapshot)
{
	u32 i;

	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct detail *detail = &snapshot->detail[i];

		if (READ_ONCE(detail->announced) || READ_ONCE(snapshot->ranges.range[i].dead) ||
		    kunwind_object_state(detail->object) == KUNWIND_OBJECT_PENDING)
			continue;
		if (xchg(&detail->announced, true))
			continue;
		kunwind_trace_map(space->tgid, &snapshot->ranges.range[i], detail->offset,
				  detail->object);
	}
}

/*
 * Settles every snapshot for which nobody waited long enough. All objects that
 * are done by now at once, and never more than a tenth of a CPU, however many
 * spaces and objects someone makes.
 */
static void sweep(struct work_struct *work)
{
	unsigned long start = jiffies;
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
			struct snapshot *snapshot = snapshot_of(rcu_dereference(space->ranges));

			if (!snapshot || READ_ONCE(snapshot->settled))
				continue;
			settle(snapshot);
			announce(space, snapshot);
		}
		rcu_read_unlock();
		cond_resched();
	}
	sweep_delay = 1 + 10 * (jiffies - start);
}

void kunwind_space_object_done(void)
{
	queue_delayed_work(reaper, &sweeper, READ_ONCE(sweep_delay));
}

/* --------------------------------------------------------------- spaces */

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

static void space_destroy(struct kunwind_space *space)
{
	snapshot_put(snapshot_of(rcu_dereference_protected(space->ranges, true)));
	mmdrop(space->mm);
	kfree(space);
}

static void space_free_work(struct work_struct *work)
{
	space_destroy(container_of(to_rcu_work(work), struct kunwind_space, free));
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
	INIT_RCU_WORK(&space->free, space_free_work);
	queue_rcu_work(reaper, &space->free);
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
			space->children += children;
			if (!space->tgid)
				space->tgid = tgid;	/* kunwind_space_dup() does not know it */
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
	space->children -= children;
	if (!--space->processes)
		unhash(space);
	spin_unlock(&spaces_lock);
	kunwind_space_put(space);
}

void kunwind_space_add_children(struct kunwind_space *space)
{
	spin_lock(&spaces_lock);
	space->children++;
	spin_unlock(&spaces_lock);
}

void kunwind_space_forget(const struct mm_struct *mm)
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
	if (space)
		unhash(space);
	spin_unlock(&spaces_lock);
}

void kunwind_space_dup(struct mm_struct *old, struct mm_struct *new)
{
	struct kunwind_space *parent, *child;
	struct snapshot *snapshot;

	rcu_read_lock();
	parent = kunwind_space_find(old);
	if (!parent || !READ_ONCE(parent->children))
		goto out;
	child = space_alloc(new, 0, GFP_ATOMIC);
	if (!child)
		goto out;
	spin_lock(&parent->lock);
	snapshot = snapshot_of(rcu_dereference_protected(parent->ranges,
							 lockdep_is_held(&parent->lock)));
	if (snapshot) {
		refcount_inc(&snapshot->refs);
		RCU_INIT_POINTER(child->ranges, &snapshot->ranges);
	}
	child->map_seq = parent->map_seq;
	child->scanned_seq = parent->scanned_seq;
	spin_unlock(&parent->lock);

	spin_lock(&spaces_lock);
	hash(child);
	spin_unlock(&spaces_lock);
	kunwind_space_put(child);
	/* What was done meanwhile was done to the snapshot, by way of the parent. */
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

/* --------------------------------------------------- mappings that come */

/* The first range that ends behind @addr; nr when there is none. */
static u32 first_behind(const struct kunwind_ranges *ranges, u64 addr)
{
	u32 lo = 0, hi = ranges->nr;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (ranges->range[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct snapshot *snapshot_copy(const struct snapshot *from)
{
	struct snapshot *to = snapshot_alloc(from->ranges.nr, GFP_ATOMIC);
	u32 i;

	if (!to)
		return NULL;
	to->ranges.entry_sp = from->ranges.entry_sp;
	to->ranges.nr = from->ranges.nr;
	for (i = 0; i < from->ranges.nr; i++) {
		const struct kunwind_range *range = &from->ranges.range[i];

		to->detail[i] = from->detail[i];
		kunwind_object_get(to->detail[i].object);
		/* The other way round than settle(). What is missed is settled again. */
		to->ranges.range[i].reason = smp_load_acquire(&range->reason);
		to->ranges.range[i].table = smp_load_acquire(&range->table);
		to->ranges.range[i].bias = READ_ONCE(range->bias);
		to->ranges.range[i].start = range->start;
		to->ranges.range[i].end = range->end;
		to->ranges.range[i].dead = READ_ONCE(range->dead);
	}
	return to;
}

/* Returns the space's own snapshot: a copy when others share it; NULL: no memory, or none. */
static struct snapshot *own_snapshot(struct kunwind_space *space)
{
	struct snapshot *snapshot, *copy;

	lockdep_assert_held(&space->lock);
	snapshot = snapshot_of(rcu_dereference_protected(space->ranges,
							 lockdep_is_held(&space->lock)));
	if (!snapshot || refcount_read(&snapshot->refs) == 1)
		return snapshot;
	copy = snapshot_copy(snapshot);
	publish(space, copy);
	if (copy) {
		smp_mb();	/* as in scan() */
		settle(copy);
	}
	return copy;
}

bool kunwind_space_mapped(struct kunwind_space *space, u64 start, u64 end, bool read)
{
	struct kunwind_ranges *ranges;
	struct snapshot *snapshot;
	bool hit = false;
	u32 i;

	spin_lock(&space->lock);
	ranges = rcu_dereference_protected(space->ranges, lockdep_is_held(&space->lock));
	if (ranges)
		for (i = first_behind(ranges, start);
		     i < ranges->nr && ranges->range[i].start < end; i++)
			hit |= !ranges->range[i].dead;
	if (hit) {
		snapshot = own_snapshot(space);
		/* Without memory for a copy the space knows nothing until it is read again. */
		if (snapshot) {
			ranges = &snapshot->ranges;
			for (i = first_behind(ranges, start);
			     i < ranges->nr && ranges->range[i].start < end; i++)
				WRITE_ONCE(ranges->range[i].dead, 1);
			/* Dead first: a rule found before is cached under the old id. */
			smp_wmb();
			WRITE_ONCE(ranges->id, atomic64_inc_return(&next_id));
		}
	}
	if (hit || read)
		space->map_seq++;
	spin_unlock(&space->lock);
	return hit || read;
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
		for (i = first_behind(ranges, start);
		     i < ranges->nr && ranges->range[i].start < end; i++)
			known |= !READ_ONCE(ranges->range[i].dead);
	rcu_read_unlock();
	return known;
}

/* ----------------------------------------------------------------- scan */

/* The object of the same mapping in @old, as long as it is alive; with a reference. */
static struct kunwind_object *known(const struct snapshot *old, const struct vm_area_struct *vma,
				    u64 offset, bool *announced)
{
	struct kunwind_object *object;
	u32 i;

	if (!old)
		return NULL;
	i = first_behind(&old->ranges, vma->vm_start);
	if (i == old->ranges.nr)
		return NULL;
	object = old->detail[i].object;
	if (old->ranges.range[i].start != vma->vm_start ||
	    old->ranges.range[i].end != vma->vm_end || READ_ONCE(old->ranges.range[i].dead) ||
	    old->detail[i].offset != offset || kunwind_object_stale(object))
		return NULL;
	if (vma->vm_file) {
		const struct inode *inode = file_inode(vma->vm_file);

		if (object->key.ino != inode->i_ino ||
		    object->key.dev != new_encode_dev(inode->i_sb->s_dev) ||
		    object->key.generation != inode->i_generation)
			return NULL;
	} else if (object->key.dev) {
		return NULL;
	}
	*announced = READ_ONCE(old->detail[i].announced);
	return kunwind_object_get(object);
}

static struct kunwind_object *object_of(const struct vm_area_struct *vma, char *buf)
{
	const char *path;

	if (!vma->vm_file)
		return kunwind_object_get_vdso(vma->vm_mm->context.vdso_image);
	/* The name in the process's own root while it runs, else in that of who registers it. */
	path = file_path(vma->vm_file, buf, PATH_MAX);
	return kunwind_object_get_file(vma->vm_file, IS_ERR(path) ? "?" : path);
}

/* Code that comes from a file, or the vDSO. */
static bool wanted(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->vm_mm;

	if (!(vma->vm_flags & VM_EXEC))
		return false;
	if (vma->vm_file)
		return true;
	return mm->context.vdso && mm->context.vdso_image &&
	       vma->vm_start == (unsigned long)mm->context.vdso;
}

/*
 * Reads the mappings into @new, which has place for @room. mmap_lock is held.
 * Returns 0, or -ENOSPC when there is not enough room.
 */
static int read_mappings(struct mm_struct *mm, const struct snapshot *old, struct snapshot *new,
			 u32 room, char *buf)
{
	struct vm_area_struct *vma;
	struct kunwind_range *range;
	struct detail *detail;
	VMA_ITERATOR(vmi, mm, 0);

	/* Not mmap_assert_locked(): with DEBUG_VM it calls what modules cannot. */
	lockdep_assert_held(&mm->mmap_lock);
	new->ranges.entry_sp = mm->start_stack;
	for_each_vma(vmi, vma) {
		if (!wanted(vma))
			continue;
		if (new->ranges.nr == room)
			return -ENOSPC;
		range = &new->ranges.range[new->ranges.nr];
		detail = &new->detail[new->ranges.nr];
		range->start = vma->vm_start;
		range->end = vma->vm_end;
		range->reason = KUNWIND_NOT_READY;
		detail->offset = vma->vm_file ? (u64)vma->vm_pgoff << PAGE_SHIFT : 0;
		detail->object = known(old, vma, detail->offset, &detail->announced);
		if (!detail->object)
			detail->object = object_of(vma, buf);
		new->ranges.nr++;
		cond_resched();
	}
	return 0;
}

/* Same mappings, same objects, none dead. */
static bool same(const struct snapshot *a, const struct snapshot *b)
{
	u32 i;

	if (a->ranges.nr != b->ranges.nr || a->ranges.entry_sp != b->ranges.entry_sp)
		return false;
	for (i = 0; i < a->ranges.nr; i++)
		if (a->ranges.range[i].start != b->ranges.range[i].start ||
		    a->ranges.range[i].end != b->ranges.range[i].end ||
		    a->detail[i].offset != b->detail[i].offset ||
		    a->detail[i].object != b->detail[i].object ||
		    READ_ONCE(a->ranges.range[i].dead))
			return false;
	return true;
}

static int scan(struct kunwind_space *space, struct mm_struct *mm)
{
	u32 room, ready, limit = max(1u, READ_ONCE(max_ranges)), seq;
	struct snapshot *old = NULL, *new = NULL;
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	int err = -ENOMEM;

	if (!buf)
		return err;
	kunwind_space_count(space, &room, &ready);
	room += 32;
	for (;;) {
		room = min(room, limit);
		new = snapshot_alloc(room, GFP_KERNEL);
		if (!new) {
			err = -ENOMEM;
			goto out;
		}
		err = mmap_read_lock_killable(mm);
		if (err)
			goto out;
		/* Inside mmap_lock: nothing of it dies from now on. */
		old = snapshot_get(space);
		spin_lock(&space->lock);
		seq = space->map_seq;
		spin_unlock(&space->lock);
		err = read_mappings(mm, old, new, room, buf);
		if (err != -ENOSPC || room == limit)
			break;
		mmap_read_unlock(mm);
		snapshot_put(old);
		old = NULL;
		snapshot_destroy(new);
		room *= 2;
	}
	/* Beyond the limit the rest stays unknown. */
	if (err == -ENOSPC)
		err = 0;
	if (!err) {
		/*
		 * Still inside: mappings that come later find the new snapshot.
		 * Only growth of a stack comes in between, and that is no code.
		 */
		spin_lock(&space->lock);
		if (!old || !same(old, new)) {
			publish(space, new);
			new = NULL;
		}
		space->scanned_seq = seq;
		spin_unlock(&space->lock);
	}
	mmap_read_unlock(mm);
	/* Pairs with the one in sweep(). */
	smp_mb();
out:
	if (new)
		snapshot_destroy(new);
	kfree(buf);
	snapshot_put(old);
	return err;
}

/* Waits until all objects are done. 0 or -EINTR; the end of the time is no error. */
static int wait_for_objects(struct snapshot *snapshot, unsigned long timeout)
{
	long left = timeout;
	u32 i;

	for (i = 0; i < snapshot->ranges.nr && left > 0; i++) {
		struct kunwind_object *object = snapshot->detail[i].object;

		if (kunwind_object_state(object) != KUNWIND_OBJECT_PENDING)
			continue;
		left = wait_for_completion_killable_timeout(&object->done, left);
		if (left < 0)
			return -EINTR;
	}
	return 0;
}

int kunwind_space_scan(struct kunwind_space *space, struct mm_struct *mm, bool force,
		       unsigned long timeout)
{
	struct snapshot *snapshot;
	int err = 0;

	if (mutex_lock_killable(&space->scan))
		return -EINTR;
	if (force || kunwind_space_dirty(space))
		err = scan(space, mm);
	mutex_unlock(&space->scan);
	if (err)
		return err;

	snapshot = snapshot_get(space);
	if (!snapshot)
		return 0;
	settle(snapshot);
	err = wait_for_objects(snapshot, timeout);
	settle(snapshot);
	announce(space, snapshot);
	snapshot_put(snapshot);
	return err;
}

void kunwind_space_count(struct kunwind_space *space, u32 *nr_maps, u32 *nr_ready)
{
	const struct kunwind_ranges *ranges;
	u32 i;

	*nr_maps = 0;
	*nr_ready = 0;
	rcu_read_lock();
	ranges = rcu_dereference(space->ranges);
	if (ranges) {
		*nr_maps = ranges->nr;
		for (i = 0; i < ranges->nr; i++)
			*nr_ready += READ_ONCE(ranges->range[i].table) &&
				     !READ_ONCE(ranges->range[i].dead);
	}
	rcu_read_unlock();
}

void kunwind_space_dump(struct kunwind_space *space, pid_t tgid)
{
	const struct snapshot *snapshot = snapshot_of(rcu_dereference(space->ranges));
	u32 i;

	if (!snapshot)
		return;
	for (i = 0; i < snapshot->ranges.nr; i++)
		if (!READ_ONCE(snapshot->ranges.range[i].dead) &&
		    kunwind_object_state(snapshot->detail[i].object) != KUNWIND_OBJECT_PENDING)
			kunwind_trace_map(tgid, &snapshot->ranges.range[i],
					  snapshot->detail[i].offset, snapshot->detail[i].object);
}

void kunwind_space_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_ranges\t%u\n", READ_ONCE(max_ranges));
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
	 * What a fork left behind whose tracepoint was gone already, or whose
	 * parent was unregistered meanwhile: a space that no process owns.
	 */
	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		spin_lock(&spaces_lock);
		hlist_for_each_entry_safe(space, next, &spaces[i], node)
			unhash(space);
		spin_unlock(&spaces_lock);
	}
	cancel_delayed_work_sync(&sweeper);
	/*
	 * Freeing a space queues the freeing of its snapshot behind another
	 * grace period: two rounds.
	 */
	rcu_barrier();
	flush_workqueue(reaper);
	rcu_barrier();
	destroy_workqueue(reaper);
}
