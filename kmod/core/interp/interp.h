/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * interp.h - checked descriptions of interpreters' call stacks
 *
 * interp_check.c makes a struct kunwind_interp of a description (interp_desc.h)
 * that is not trusted. It is immutable, has no pointer, and all that a walk
 * computes by it is an address of user memory: a walk (interp_walk.c) checks no number
 * of it again. It takes 696 bytes for each described object.
 */
#ifndef _KUNWIND_INTERP_H
#define _KUNWIND_INTERP_H

#include "../kunwind_core.h"
#include "interp_desc.h"

/* A value in memory: its bits in the aligned word that holds it. */
struct kunwind_interp_place {
	u64 mask;		/* of the word: a description's mask is shifted */
	u32 word;		/* bytes from the base; a multiple of 8 */
	u8 shift;		/* bits below the value */
	u8 base;		/* enum kunwind_interp_base */
};

#define KUNWIND_INTERP_PLAIN_CHECKS	3

struct kunwind_interp {
	u8 nr_ranges, nr_steps, nr_tests, nr_checks, nr_fields;
	u8 anchor;		/* enum kunwind_interp_anchor */
	bool outer, via, chain;
	bool plain;		/* a list with one test, of the node; whole positions; at most
				 * KUNWIND_INTERP_PLAIN_CHECKS check words, of the id */
	u16 outer_head, outer_next;
	s32 stride;		/* 0: a list */
	u16 next, id_at, via_at;
	u64 id_mask;
	struct kunwind_interp_place position;
	u64 lo, hi;		/* all ranges are in [lo, hi) */
	struct kunwind_interp_range range[KUNWIND_INTERP_RANGES];
	struct kunwind_interp_step step[KUNWIND_INTERP_STEPS];
	struct {
		struct kunwind_interp_place place;
		u64 equals;	/* shifted, too */
		u8 verdict;	/* enum kunwind_interp_verdict */
		bool differs;
	} test[KUNWIND_INTERP_TESTS];
	struct kunwind_interp_place check[KUNWIND_INTERP_CHECKS];
	struct kunwind_interp_field field[KUNWIND_INTERP_FIELDS];
};

/**
 * kunwind_interp_check() - check a description, and compile it
 * @desc: from user space, copied once; any bytes
 * @interp: out: undefined unless KUNWIND_INTERP_OK is returned
 *
 * Bounded time. Return: KUNWIND_INTERP_OK or why the description is refused.
 */
enum kunwind_interp_error __must_check kunwind_interp_check(const struct kunwind_interp_desc *desc,
							    struct kunwind_interp *interp);

#endif /* _KUNWIND_INTERP_H */
