// SPDX-License-Identifier: GPL-2.0-only
/*
 * read_mappings.c - read an mm's executable mappings into a snapshot
 *
 * The reader holds mmap_lock for reading until it has published the new
 * snapshot, so no mapping can change in between. A mapping that was known and
 * is not dead keeps its object: the state of its file is not compared again.
 * Any other mapping gets the object of its file in the present state. The wait
 * for tables comes last, without a lock. Process context; may sleep. At most
 * max_ranges mappings are known.
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
 *
 * Executable memory of no file (a JIT's) is in the snapshot, too. Its ranges
 * have no object of their own: the walk finds the callers without a table there
 * (core/nocfi/step.c). Where the process handed in unwind information (jit.c),
 * the mapping is cut into pieces. Only the snapshot refers to the objects of
 * these pieces; a new snapshot takes them over.
 *
 * No memory of the process is read. The vDSO is the kernel's own copy.
 */
#include <linux/auxvec.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <asm/vdso.h>

#include "../base/enabled.h"
#include "../base/memory_limit.h"
#include "../base/param.h"
#include "../object/name.h"
#include "../object/object.h"
#include "../object/object_cache.h"
#include "../object/source.h"
#include "reap.h"
#include "snapshot.h"
#include "space.h"

#define MAX_OBJECT_STALLS	20	/* waits that timed out for one object */
#define NAMED			8	/* files whose names one read remembers */
#define RETRY_MAX		(1 + HZ / 50)	/* longest sleep between two tries, jiffies */

static unsigned int max_ranges = 16384;
KUNWIND_PARAM_UINT(max_ranges, max_ranges);
MODULE_PARM_DESC(max_ranges, "most executable mappings that are known of one process (default 16384)");

/* State of one read of the mappings. */
struct reading {
	struct mm_struct *mm;
	const struct kunwind_snapshot *old;	/* may be NULL */
	struct kunwind_snapshot *new;
	const struct kunwind_change *change;	/* may be NULL */
	u32 room;		/* ranges that @new has room for */
	u32 nr;			/* ranges so far, also those beyond room */
	/* The last files whose names were found; mmap_lock keeps them open. */
	struct {
		const struct file *file;
		struct kunwind_name *name;	/* a range of @new has a reference */
	} named[NAMED];
	u32 nr_named;		/* how often a name was added to named[] */
};

/* A mapping or a part of one, which becomes one range. */
struct piece {
	u64 start, end;
	u64 offset;		/* of its start in the file */
	struct kunwind_object *jit;	/* NULL, or handed in for it; no reference */
};

/*
 * Takes object and name of the same piece from the old snapshot, with
 * references. False: the old snapshot does not have it, it is dead, it has
 * another file, or its object is stale.
 */
static bool known(const struct reading *r, const struct vm_area_struct *vma,
		  const struct piece *piece, struct kunwind_detail *detail)
{
	const struct kunwind_snapshot *old = r->old;
	struct kunwind_object *object;
	u32 i;

	if (!old)
		return false;
	i = kunwind_ranges_behind(&old->ranges, piece->start);
	if (i == old->ranges.nr)
		return false;
	object = old->detail[i].object;
	if (old->ranges.range[i].start != piece->start || old->ranges.range[i].end != piece->end ||
	    kunwind_range_is_dead(&old->ranges.range[i]) || old->detail[i].offset != piece->offset ||
	    object->jit || kunwind_object_cache_stale(object, r->new->quota))
		return false;
	if (vma->vm_file ? !kunwind_object_key_matches(object, vma->vm_file) : object->key.dev)
		return false;
	if (vma->vm_file && !file_inode(vma->vm_file)->i_nlink)
		WRITE_ONCE(object->gone, true);
	detail->announced = READ_ONCE(old->detail[i].announced);
	/*
	 * Its build may wait in a queue that another user fills, or that is too
	 * long: this user's queue may be faster.
	 */
	kunwind_object_offer(object, r->new->quota, vma->vm_file);
	detail->object = kunwind_object_get(object);
	detail->name = kunwind_name_get(old->detail[i].name);
	return true;
}

/*
 * munmap() leaves the address in the mm. The program may map memory of its own
 * there, which is anonymous (no vm_ops); the vDSO is not.
 */
static bool is_vdso(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->vm_mm;

	return !vma->vm_file && vma->vm_ops && mm->context.vdso &&
	       mm->context.vdso_image && vma->vm_start == (unsigned long)mm->context.vdso;
}

static struct kunwind_object *object_of(const struct vm_area_struct *vma,
					struct kunwind_quota *quota)
{
	if (is_vdso(vma))
		return kunwind_object_get_vdso(vma->vm_mm->context.vdso_image);
	if (!vma->vm_file)
		return kunwind_object_get(&kunwind_object_anonymous);
	return kunwind_object_get_file(vma->vm_file, quota, vma->vm_mm);
}

/* Returns the name of the mapping's file, with a reference. NULL: no memory. */
static struct kunwind_name *name_of(struct reading *r, const struct vm_area_struct *vma)
{
	struct kunwind_name *name;
	u32 i;

	for (i = 0; i < min_t(u32, r->nr_named, NAMED); i++)
		if (r->named[i].file == vma->vm_file)
			return kunwind_name_get(r->named[i].name);
	name = kunwind_name_of(vma->vm_file, r->new->quota);
	i = r->nr_named++ % NAMED;
	r->named[i].file = vma->vm_file;
	r->named[i].name = name;
	return name;
}

/* Counts the piece, and adds it if there is room. Leaves out an empty one. */
static void add_piece(struct reading *r, const struct vm_area_struct *vma,
		      const struct piece *piece)
{
	struct kunwind_snapshot *new = r->new;
	struct kunwind_range *range;
	struct kunwind_detail *detail;

	if (piece->start == piece->end || r->nr++ >= r->room)
		return;
	range = &new->ranges.range[new->ranges.nr];
	detail = &new->detail[new->ranges.nr];
	range->start = piece->start;
	range->end = piece->end;
	range->reason = KUNWIND_NOT_READY;
	detail->offset = piece->offset;
	if (piece->jit)
		detail->object = kunwind_object_get(piece->jit);
	else if (!known(r, vma, piece, detail))
		detail->object = object_of(vma, new->quota);
	if (vma->vm_file && !piece->jit && !detail->name) {
		detail->name = name_of(r, vma);
		if (detail->name)
			kunwind_object_set_name(detail->object, detail->name);
	}
	if (detail->object == &kunwind_object_anonymous)
		range->reason = KUNWIND_NO_OBJECT;
	else
		new->nr_maps++;
	new->ranges.nr++;
}

/*
 * Returns the first range of the old snapshot that has an object that was
 * handed in, is not dead and overlaps [start, end), or NULL. Looks at each
 * range in [start, end). The caller must not pass a larger @end than it needs:
 * a look at all ranges for each mapping would take quadratic time.
 */
static const struct kunwind_range *handed_in(const struct kunwind_snapshot *old, u64 start,
					     u64 end)
{
	u32 i;

	if (!old)
		return NULL;
	for (i = kunwind_ranges_behind(&old->ranges, start);
	     i < old->ranges.nr && old->ranges.range[i].start < end; i++)
		if (old->detail[i].object->jit && !kunwind_range_is_dead(&old->ranges.range[i]))
			return &old->ranges.range[i];
	return NULL;
}

/*
 * Finds the mapping's first piece from @start on whose object was handed in:
 * before (in the old snapshot), or by the change. False: none.
 */
static bool next_jit(const struct reading *r, const struct vm_area_struct *vma, u64 start,
		     struct piece *piece)
{
	const struct kunwind_change *change = r->change;
	const struct kunwind_snapshot *old = r->old;
	const struct kunwind_range *range;

	piece->jit = NULL;
	for (range = handed_in(old, start, vma->vm_end); range;
	     range = handed_in(old, range->end, vma->vm_end)) {
		/* Its first part is not in the mapping any more. */
		if (range->start < start || (change && !change->object && change->start == range->start))
			continue;
		if (range->end > vma->vm_end)
			break;
		piece->start = range->start;
		piece->end = range->end;
		piece->jit = old->detail[range - old->ranges.range].object;
		break;
	}
	if (change && change->object && change->start >= start && change->end <= vma->vm_end &&
	    (!piece->jit || change->start < piece->start)) {
		piece->start = change->start;
		piece->end = change->end;
		piece->jit = change->object;
	}
	piece->offset = vma->vm_file ? ((u64)vma->vm_pgoff << PAGE_SHIFT) +
				       piece->start - vma->vm_start : 0;
	return piece->jit;
}

/*
 * Reads where the program began: its stack pointer, and AT_ENTRY and AT_BASE in
 * the mm's copy of the auxiliary vector. prctl(PR_SET_MM) may change these.
 */
static void read_start(struct reading *r)
{
	struct kunwind_ranges *ranges = &r->new->ranges;
	const unsigned long *auxv = r->mm->saved_auxv;
	/* A 32-bit program has pairs of 32 bits: no 64-bit type is so large. */
	const bool i386 = auxv[0] >> 32;
	u32 i, nr = i386 ? 2 * AT_VECTOR_SIZE : AT_VECTOR_SIZE;
	u64 type, value;

	ranges->entry_sp = READ_ONCE(r->mm->start_stack);
	ranges->entry = 0;
	ranges->interpreter = 0;
	for (i = 0; i + 1 < nr; i += 2) {
		type = i386 ? READ_ONCE(((const u32 *)auxv)[i]) : READ_ONCE(auxv[i]);
		value = i386 ? READ_ONCE(((const u32 *)auxv)[i + 1]) : READ_ONCE(auxv[i + 1]);
		if (type == AT_NULL)
			break;
		if (type == AT_ENTRY)
			ranges->entry = value;
		else if (type == AT_BASE)
			ranges->interpreter = value;
	}
}

/* Reads the mappings. mmap_lock is held. */
static void read_mappings(struct reading *r)
{
	struct piece piece, jit;
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, r->mm, 0);

	/* Not mmap_assert_locked(): it may call an unexported function. */
	lockdep_assert_held(&r->mm->mmap_lock);
	r->nr = 0;
	r->nr_named = 0;
	read_start(r);
	for_each_vma(vmi, vma) {
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		piece = (struct piece){
			.start = vma->vm_start,
			.offset = vma->vm_file ? (u64)vma->vm_pgoff << PAGE_SHIFT : 0,
		};
		while (next_jit(r, vma, piece.start, &jit)) {
			piece.end = jit.start;
			add_piece(r, vma, &piece);
			add_piece(r, vma, &jit);
			piece.start = jit.end;
			piece.offset = vma->vm_file ? jit.offset + jit.end - jit.start : 0;
		}
		piece.end = vma->vm_end;
		add_piece(r, vma, &piece);
		cond_resched();
	}
}

/* Returns 0 if the change can be made, or an error. mmap_lock is held. */
static int check_change(const struct reading *r)
{
	const struct kunwind_change *change = r->change;
	const struct kunwind_range *range = handed_in(r->old, change->start, change->end);
	const struct vm_area_struct *vma;

	if (!change->object)
		return range && range->start == change->start && range->end == change->end ?
		       0 : -ENOENT;
	if (range)
		return -EEXIST;
	vma = find_vma(r->mm, change->start);
	if (!vma || vma->vm_start > change->start || vma->vm_end < change->end ||
	    !(vma->vm_flags & VM_EXEC))
		return -EFAULT;
	if (is_vdso(vma))
		return -EEXIST;
	/* A file on tmpfs without a name (a memfd) counts as memory. */
	if (vma->vm_file && (file_inode(vma->vm_file)->i_sb->s_magic != TMPFS_MAGIC ||
			     file_inode(vma->vm_file)->i_nlink))
		return -EEXIST;
	return 0;
}

/* Returns whether all ranges are equal, and none of @a is dead or doubted. */
static bool same(const struct kunwind_snapshot *a, const struct kunwind_snapshot *b)
{
	u32 i;

	if (a->ranges.nr != b->ranges.nr || a->ranges.entry_sp != b->ranges.entry_sp ||
	    a->ranges.entry != b->ranges.entry || a->ranges.interpreter != b->ranges.interpreter)
		return false;
	for (i = 0; i < a->ranges.nr; i++)
		if (a->ranges.range[i].start != b->ranges.range[i].start ||
		    a->ranges.range[i].end != b->ranges.range[i].end ||
		    a->detail[i].offset != b->detail[i].offset ||
		    a->detail[i].object != b->detail[i].object || a->detail[i].name != b->detail[i].name ||
		    READ_ONCE(a->ranges.range[i].dead))
			return false;
	return true;
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
 * Makes a snapshot and publishes it. space->read_mutex is held. @change may be
 * NULL.
 */
static int read_and_publish(struct kunwind_space *space, struct mm_struct *mm,
			    const struct kunwind_change *change)
{
	struct reading r = { .mm = mm, .change = change };
	u32 limit = max(1u, READ_ONCE(max_ranges)), seq;
	struct kunwind_snapshot *old = NULL, *new = NULL;
	struct kunwind_quota *quota;
	int err;

	quota = kunwind_quota_of(mm);
	/*
	 * Little more than needed, because each process has a snapshot. For a
	 * new program, the first pass mostly only counts the mappings.
	 */
	old = kunwind_space_snapshot(space);
	r.room = (old ? old->ranges.nr : 0) + 4;
	kunwind_snapshot_put(old);
	old = NULL;
	for (;;) {
		r.room = min(r.room, limit);
		new = kunwind_snapshot_alloc(r.room, quota, GFP_KERNEL);
		if (!new) {
			err = -ENOMEM;
			goto out;
		}
		err = lock_mappings(mm);
		if (err)
			goto out;
		/* Under mmap_lock: only moves can mark more of it dead. */
		old = kunwind_space_snapshot(space);
		spin_lock(&space->lock);
		seq = space->map_seq;
		spin_unlock(&space->lock);
		r.old = old;
		r.new = new;
		err = change ? check_change(&r) : 0;
		if (!err)
			read_mappings(&r);
		/* Mappings beyond the limit stay unknown. */
		if (err || r.nr <= r.room || r.room == limit)
			break;
		mmap_read_unlock(mm);
		kunwind_snapshot_put(old);
		old = NULL;
		kunwind_snapshot_destroy(new);
		r.room = r.nr + r.nr / 8 + 4;
	}
	if (!err && change && change->object && r.nr > r.room)
		err = -ENOSPC;
	if (err) {
		mmap_read_unlock(mm);
		goto out;
	}
	/* Before walks and forks can find the snapshot. */
	kunwind_snapshot_settle(new);
	/*
	 * Still under mmap_lock, so that the hooks on later mappings find the
	 * new snapshot. Only a stack can grow meanwhile, and that is no code.
	 */
	spin_lock(&space->lock);
	if (!kunwind_space_mark(space, old ? &old->ranges : NULL, &new->ranges)) {
		err = -ENOMEM;
	} else {
		if (!old || !same(old, new)) {
			kunwind_space_publish(space, new);
			new = NULL;
		}
		space->read_seq = seq;
	}
	spin_unlock(&space->lock);
	mmap_read_unlock(mm);
	/* Pairs with the barrier in sweep(). */
	smp_mb();
out:
	if (new)
		kunwind_snapshot_destroy(new);
	kunwind_quota_put(quota);
	kunwind_snapshot_put(old);
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
	u32 i;

	for (i = 0; i < snapshot->ranges.nr && left > 0; i++) {
		struct kunwind_object *object = snapshot->detail[i].object;

		while (left > 0 && (completion = awaited(object, patient))) {
			left = wait_for_completion_killable_timeout(completion, left);
			if (left < 0)
				return -EINTR;
		}
		if (!left && kunwind_object_state(object) == KUNWIND_OBJECT_PENDING) {
			WRITE_ONCE(object->stalls, READ_ONCE(object->stalls) + 1);
			kunwind_source_stalled(object);
		}
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
		err = read_and_publish(space, mm, NULL);
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
	err = read_and_publish(space, mm, change);
	/* Replaced snapshots use up the user's share until they are freed. */
	if (err == -ENOMEM) {
		kunwind_reap_flush();
		err = read_and_publish(space, mm, change);
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

void kunwind_space_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_ranges\t%u\n", READ_ONCE(max_ranges));
}
