// SPDX-License-Identifier: GPL-2.0-only
/*
 * read_mappings.c - read an mm's executable mappings into a snapshot
 *
 * A mapping that was known and is not dead keeps its object: the state of its
 * file is not compared again. Any other mapping gets the object of its file in
 * the present state. At most max_ranges mappings are known. Only the mappings of
 * the given intervals are read; the rest of the snapshot is the old one's.
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
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <asm/vdso.h>

#include "../base/param.h"
#include "../object/name.h"
#include "../object/object.h"
#include "../object/object_cache.h"
#include "read_mappings.h"

static unsigned int max_ranges = 16384;
KUNWIND_PARAM_UINT(max_ranges, max_ranges);
MODULE_PARM_DESC(max_ranges, "most executable mappings that are known of one process (default 16384)");

/* A mapping or a part of one, which becomes one range. */
struct piece {
	u64 start, end;
	u64 offset;		/* of its start in the file */
	struct kunwind_object *jit;	/* NULL, or handed in for it; no reference */
};

/*
 * Takes object, name and bias of the same piece from the old snapshot, with
 * references. False: the old snapshot does not have it, it is dead, it has
 * another file, or its object is stale.
 */
static bool known(const struct kunwind_mm_reading *r, const struct vm_area_struct *vma,
		  const struct piece *piece, struct kunwind_range *new, struct kunwind_detail *detail)
{
	const struct kunwind_snapshot *old = r->old;
	const struct kunwind_range *range;
	struct kunwind_object *object;
	struct kunwind_detail *was;

	if (!old)
		return false;
	range = kunwind_snapshot_at(old, kunwind_snapshot_after(old, piece->start), &was);
	if (!range)
		return false;
	object = was->object;
	if (range->start != piece->start || range->end != piece->end ||
	    kunwind_range_is_dead(range) || was->offset != piece->offset ||
	    object->jit || kunwind_object_cache_stale(object, r->quota))
		return false;
	if (vma->vm_file ? !kunwind_object_key_matches(object, vma->vm_file) : object->key.dev)
		return false;
	if (vma->vm_file && !file_inode(vma->vm_file)->i_nlink)
		WRITE_ONCE(object->gone, true);
	detail->announced = READ_ONCE(was->announced) && !r->announce_all;
	new->bias = READ_ONCE(range->bias);	/* with which it was announced */
	/*
	 * Its build may wait in a queue that another user fills, or that is too
	 * long: this user's queue may be faster.
	 */
	kunwind_object_offer(object, r->quota, vma->vm_file);
	detail->object = kunwind_object_get(object);
	detail->name = kunwind_name_get(was->name);
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
static struct kunwind_name *name_of(struct kunwind_mm_reading *r, const struct vm_area_struct *vma)
{
	struct kunwind_name *name;
	u32 i;

	for (i = 0; i < min_t(u32, r->nr_named, KUNWIND_NAMED); i++)
		if (r->named[i].file == vma->vm_file)
			return kunwind_name_get(r->named[i].name);
	name = kunwind_name_of(vma->vm_file, r->quota);
	i = r->nr_named++ % KUNWIND_NAMED;
	r->named[i].file = vma->vm_file;
	r->named[i].name = name;
	return name;
}

/* Adds the piece if there is room. Leaves out an empty one. */
static void add_piece(struct kunwind_mm_reading *r, const struct vm_area_struct *vma,
		      const struct piece *piece)
{
	struct kunwind_range range = {
		.start = piece->start, .end = piece->end, .reason = KUNWIND_NOT_READY,
	};
	struct kunwind_detail detail = { .offset = piece->offset };

	/* After a failure, names that are remembered may have gone. */
	if (piece->start == piece->end || r->splice.failed)
		return;
	if (!r->room) {
		r->over = true;
		return;
	}
	r->room--;
	if (piece->jit)
		detail.object = kunwind_object_get(piece->jit);
	else if (!known(r, vma, piece, &range, &detail))
		detail.object = object_of(vma, r->quota);
	if (vma->vm_file && !piece->jit && !detail.name) {
		detail.name = name_of(r, vma);
		if (detail.name)
			kunwind_object_set_name(detail.object, detail.name);
	}
	if (detail.object == &kunwind_object_anonymous)
		range.reason = KUNWIND_NO_OBJECT;
	kunwind_splice_add(&r->splice, &range, &detail);
}

/*
 * Returns the first range of the old snapshot that has an object that was
 * handed in, is not dead and overlaps [start, end), or NULL. Looks at each
 * range in [start, end). The caller must not pass a larger @end than it needs:
 * a look at all ranges for each mapping would take quadratic time.
 */
static const struct kunwind_range *handed_in(const struct kunwind_snapshot *old, u64 start,
					     u64 end, struct kunwind_object **object)
{
	const struct kunwind_range *range;
	struct kunwind_detail *detail;
	struct kunwind_place place;

	if (!old)
		return NULL;
	place = kunwind_snapshot_after(old, start);
	for (; (range = kunwind_snapshot_at(old, place, &detail)) && range->start < end;
	     kunwind_place_next(old, &place)) {
		if (detail->object->jit && !kunwind_range_is_dead(range)) {
			*object = detail->object;
			return range;
		}
	}
	return NULL;
}

/*
 * Finds the first piece of the mapping, in [start, end), whose object was handed
 * in: before (in the old snapshot), or by the change. False: none.
 */
static bool next_jit(const struct kunwind_mm_reading *r, const struct vm_area_struct *vma, u64 start, u64 end,
		     struct piece *piece)
{
	const struct kunwind_change *change = r->change;
	const struct kunwind_snapshot *old = r->old;
	const struct kunwind_range *range;
	struct kunwind_object *object;

	piece->jit = NULL;
	for (range = handed_in(old, start, end, &object); range;
	     range = handed_in(old, range->end, end, &object)) {
		/* Its first part is not in the mapping any more. */
		if (range->start < start || (change && !change->object && change->start == range->start))
			continue;
		if (range->end > end)
			break;
		piece->start = range->start;
		piece->end = range->end;
		piece->jit = object;
		break;
	}
	if (change && change->object && change->start >= start && change->end <= end &&
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
static void read_start(const struct kunwind_mm_reading *r, struct kunwind_ranges *ranges)
{
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

/* Reads the mappings of [start, end). mmap_lock is held. */
static void read_mappings(struct kunwind_mm_reading *r, u64 start, u64 end)
{
	struct piece piece, jit;
	struct vm_area_struct *vma;
	u64 to;
	VMA_ITERATOR(vmi, r->mm, start);

	/* Not mmap_assert_locked(): it may call an unexported function. */
	lockdep_assert_held(&r->mm->mmap_lock);
	r->nr_named = 0;
	for_each_vma(vmi, vma) {
		if (vma->vm_start >= end || r->splice.failed)
			break;
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		piece = (struct piece){ .start = max_t(u64, vma->vm_start, start) };
		to = min_t(u64, vma->vm_end, end);
		piece.offset = vma->vm_file ? ((u64)vma->vm_pgoff << PAGE_SHIFT) +
					      piece.start - vma->vm_start : 0;
		while (next_jit(r, vma, piece.start, to, &jit)) {
			piece.end = jit.start;
			add_piece(r, vma, &piece);
			add_piece(r, vma, &jit);
			piece.start = jit.end;
			piece.offset = vma->vm_file ? jit.offset + jit.end - jit.start : 0;
		}
		piece.end = to;
		add_piece(r, vma, &piece);
		cond_resched();
	}
}

/* Returns the mapping of code that has the bytes before and after @at, or NULL. */
static const struct vm_area_struct *cut_by(struct mm_struct *mm, u64 at)
{
	const struct vm_area_struct *vma = find_vma(mm, at);

	return vma && vma->vm_start < at && (vma->vm_flags & VM_EXEC) ? vma : NULL;
}

/* Returns whether a mapping may be cut at this range's begin and end. */
static bool cuts(const struct kunwind_range *range, const struct kunwind_detail *detail,
		 const struct vm_area_struct *vma)
{
	return detail->object->jit && !kunwind_range_is_dead(range) && range->start >= vma->vm_start &&
	       range->end <= vma->vm_end;
}

static u64 widen_down(u64 at, const struct kunwind_snapshot *snapshot, struct mm_struct *mm)
{
	const struct vm_area_struct *vma;
	const struct kunwind_range *range;
	struct kunwind_detail *detail;
	struct kunwind_place place;

	for (;;) {
		place = kunwind_snapshot_after(snapshot, at);
		range = kunwind_snapshot_at(snapshot, place, NULL);
		if (range && range->start < at)
			at = range->start;
		vma = cut_by(mm, at);
		if (!vma)
			return at;
		range = NULL;
		if (kunwind_place_before(snapshot, &place))
			range = kunwind_snapshot_at(snapshot, place, &detail);
		if (!range || range->end <= vma->vm_start)
			return vma->vm_start;
		if (range->end == at && cuts(range, detail, vma))
			return at;
		at = range->end < at ? range->end : range->start;
		cond_resched();
	}
}

static u64 widen_up(u64 at, const struct kunwind_snapshot *snapshot, struct mm_struct *mm)
{
	const struct vm_area_struct *vma;
	const struct kunwind_range *range;
	struct kunwind_detail *detail;
	struct kunwind_place place;

	for (;;) {
		place = kunwind_snapshot_after(snapshot, at);
		range = kunwind_snapshot_at(snapshot, place, NULL);
		if (range && range->start < at) {
			at = range->end;
			kunwind_place_next(snapshot, &place);
		}
		vma = cut_by(mm, at);
		if (!vma)
			return at;
		range = kunwind_snapshot_at(snapshot, place, &detail);
		if (!range || range->start >= vma->vm_end)
			return vma->vm_end;
		if (range->start == at && cuts(range, detail, vma))
			return at;
		at = range->start > at ? range->start : range->end;
		cond_resched();
	}
}

/*
 * Widens the interval, so that a snapshot in which only the ranges inside it are
 * read again equals one that is read as a whole: to all known ranges and mappings
 * that it cuts. It ends at a range whose object was handed in, where a mapping is
 * cut into ranges anyway.
 */
static void widen(struct kunwind_interval *interval, const struct kunwind_snapshot *snapshot,
		  struct mm_struct *mm)
{
	u64 start, end;

	start = widen_down(interval->start, snapshot, mm);
	end = widen_up(interval->end, snapshot, mm);
	interval->start = start;
	interval->end = end;
}

static u32 between(const struct kunwind_snapshot *old, struct kunwind_place from, struct kunwind_place to)
{
	u32 nr = to.nr - from.nr;

	for (; from.chunk < to.chunk; from.chunk++)
		nr += old->ranges.chunk[from.chunk].nr;
	return nr;
}

/*
 * Adds the old ranges from @place to @end, not included. They are next to those
 * that are read: @before: before them.
 */
static void keep(struct kunwind_mm_reading *r, struct kunwind_place place, struct kunwind_place end,
		 bool before)
{
	const u32 nr = between(r->old, place, end);
	struct kunwind_detail *was, detail;
	const struct kunwind_range *old;
	struct kunwind_range range = { };
	u32 i;

	for (i = 0; i < nr && !r->splice.failed && (old = kunwind_snapshot_at(r->old, place, &was)); i++) {
		kunwind_range_copy(&range, &detail, old, was);
		/* The ranges that are read may decide its bias, or no longer do so. */
		if ((before ? nr - i : i + 1) <= KUNWIND_SIBLINGS && range.reason != KUNWIND_NO_OBJECT &&
		    kunwind_range_needs_others(&range, &detail)) {
			range.table = NULL;
			range.reason = KUNWIND_NOT_READY;
		}
		kunwind_splice_add(&r->splice, &range, &detail);
		kunwind_place_next(r->old, &place);
		if (!place.nr)		/* a chunk */
			cond_resched();
	}
}

/*
 * Returns a snapshot like the old one, in which the ranges of the interval, whose
 * borders cut no range, are read again. NULL: no memory.
 */
static struct kunwind_snapshot *read_interval(struct kunwind_mm_reading *r, u64 start, u64 end)
{
	const u32 limit = max(1u, READ_ONCE(max_ranges));
	const struct kunwind_snapshot *old = r->old;
	struct kunwind_place from = { }, to = { };
	struct kunwind_snapshot *new;
	u32 others = 0;

	kunwind_splice_begin(&r->splice, old, start, end, r->quota);
	if (old) {
		from = kunwind_snapshot_after(old, start);
		to = kunwind_snapshot_after(old, end);
		others = old->nr - between(old, from, to);
		keep(r, (struct kunwind_place){ .chunk = r->splice.first }, from, true);
	}
	r->room = limit - min(limit, others);
	read_mappings(r, start, end);
	if (old)
		keep(r, to, (struct kunwind_place){ .chunk = r->splice.end }, false);
	new = kunwind_splice_end(&r->splice);
	if (!new)
		return NULL;
	read_start(r, &new->ranges);
	/* A partial read does not find out whether the others have room now. */
	new->full = r->over || (others && old->full);
	return new;
}

struct kunwind_snapshot *kunwind_mappings_read(struct kunwind_mm_reading *r, struct kunwind_snapshot *old,
					    const struct kunwind_changed *changed)
{
	struct kunwind_snapshot *new = old, *before;
	struct kunwind_interval interval;
	u32 i;

	r->over = false;
	for (i = 0; i < changed->nr; i++) {
		interval = changed->interval[i];
		before = new;
		r->old = before;
		if (before && (interval.start || interval.end != U64_MAX))
			widen(&interval, before, r->mm);
		new = read_interval(r, interval.start, interval.end);
		if (before != old)
			r->unused[r->nr_unused++] = before;
		if (!new)
			break;
	}
	return new;
}

int kunwind_mappings_check(const struct kunwind_mm_reading *r)
{
	const struct kunwind_change *change = r->change;
	struct kunwind_object *object;
	const struct kunwind_range *range = handed_in(r->old, change->start, change->end, &object);
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

void kunwind_space_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_ranges\t%u\n", READ_ONCE(max_ranges));
}
