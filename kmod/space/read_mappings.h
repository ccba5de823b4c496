/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read_mappings.h - read an mm's executable mappings into a snapshot
 *
 * mmap_lock of the mm is held. May sleep.
 */
#ifndef _KUNWIND_READ_MAPPINGS_H
#define _KUNWIND_READ_MAPPINGS_H

#include "changed.h"
#include "space.h"
#include "splice.h"

#define KUNWIND_NAMED	8	/* files whose names one read remembers */

/*
 * State of one read of the mappings. The caller sets the members up to
 * @nr_unused, and destroys the snapshots in @unused when it no longer holds
 * mmap_lock.
 */
struct kunwind_mm_reading {
	struct mm_struct *mm;
	struct kunwind_quota *quota;
	const struct kunwind_snapshot *old;	/* may be NULL */
	const struct kunwind_change *change;	/* may be NULL */
	bool announce_all;	/* @old is another process's: nothing of it is announced */
	struct kunwind_snapshot *unused[KUNWIND_CHANGED_MAX + 1];
	u32 nr_unused;
	bool over;		/* there were more than max_ranges */
	u32 room;		/* ranges that may still be added */
	/* The last files whose names were found; mmap_lock keeps them open. */
	struct {
		const struct file *file;
		struct kunwind_name *name;	/* a range of @splice has a reference, unless that failed */
	} named[KUNWIND_NAMED];
	u32 nr_named;		/* how often a name was added to named[] */
	struct kunwind_splice splice;
};

/* Returns 0 if the change can be made to @old, or an error of kunwind_space_change(). */
int kunwind_mappings_check(const struct kunwind_mm_reading *r);

/*
 * Reads the mappings of the intervals, which it widens where they cut mappings. Returns the
 * new snapshot; or @old, if there are no intervals; or NULL: no memory. Snapshots that it
 * made on the way are unused.
 */
struct kunwind_snapshot *kunwind_mappings_read(struct kunwind_mm_reading *r, struct kunwind_snapshot *old,
					    const struct kunwind_changed *changed);

#endif /* _KUNWIND_READ_MAPPINGS_H */
