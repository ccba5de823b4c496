/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * splice.h - make a snapshot from another one by replacing some of its chunks
 *
 * The ranges that replace them are added in ascending order. Memory while one is
 * made: at most 8 KB, but little if few ranges are added, because most processes have
 * few mappings of code. May sleep.
 */
#ifndef _KUNWIND_SPLICE_H
#define _KUNWIND_SPLICE_H

#include "snapshot.h"

#define KUNWIND_SPLICE_FEW	8

struct kunwind_splice {
	const struct kunwind_snapshot *old;	/* may be NULL */
	u32 first, end;		/* chunks of @old: those in [first, end) are replaced */
	struct kunwind_quota *quota;
	bool failed;		/* no memory: what is added is dropped at once */
	u32 nr_chunks;
	struct kunwind_chunk *chunks, **last;	/* list of the new chunks */
	/* The ranges of the next chunk. */
	u32 nr, room;
	struct kunwind_range *range;
	struct kunwind_detail *detail;
	struct kunwind_range few_ranges[KUNWIND_SPLICE_FEW];	/* until there are more */
	struct kunwind_detail few_details[KUNWIND_SPLICE_FEW];
};

/*
 * Begins a snapshot in which the ranges of [start, end) will be replaced. Each
 * range of @old must be inside [start, end) or outside. kunwind_splice_end() must
 * follow.
 */
void kunwind_splice_begin(struct kunwind_splice *splice, const struct kunwind_snapshot *old,
			  u64 start, u64 end, struct kunwind_quota *quota);

/* Adds a range. Takes over the references of @detail. */
void kunwind_splice_add(struct kunwind_splice *splice, const struct kunwind_range *range,
			const struct kunwind_detail *detail);

/* Returns the new snapshot, or NULL: no memory, or over a limit. */
struct kunwind_snapshot *__must_check kunwind_splice_end(struct kunwind_splice *splice);

#endif /* _KUNWIND_SPLICE_H */
