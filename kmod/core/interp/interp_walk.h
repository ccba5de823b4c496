/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * interp_walk.h - from a native stack to the interpreter's frames that belong to it
 */
#ifndef _KUNWIND_INTERP_WALK_H
#define _KUNWIND_INTERP_WALK_H

#include "interp.h"

/* Why an interpreter's list was not followed further. The native frames hold in each case. */
enum kunwind_interp_reason {
	KUNWIND_INTERP_COMPLETE,	/* each group that has a native frame is there */
	KUNWIND_INTERP_NO_LOOP,		/* no native frame is in the eval loop: nothing was read */
	KUNWIND_INTERP_NO_STATE,	/* the thread has no node: it is not the interpreter's */
	KUNWIND_INTERP_UNSETTLED_CODE,	/* the thread is in code that changes the lists */
	KUNWIND_INTERP_BAD_KEY,		/* a key is not below its limit */
	KUNWIND_INTERP_UNREADABLE,	/* unread has the address */
	KUNWIND_INTERP_SPOILT,		/* a node is not aligned, or the list leads back to itself */
	KUNWIND_INTERP_TORN,		/* a group does not go on where the next one begins: left out */
	KUNWIND_INTERP_BUDGET,		/* the walk's budget is spent */
	KUNWIND_INTERP_FULL,		/* frames were left out, because there was no room */
	KUNWIND_INTERP_NATIVE,		/* frames were left out, because their native frame is not known */
	KUNWIND_INTERP_NR_REASONS
};

/*
 * @id: address of what runs, the code object for instance; never 0
 * @position: where in it
 * @check: digest of the check words: another one if another id came to the same address
 * @native: index of the native frame that runs it
 */
struct kunwind_interp_frame {
	u64 id, position;
	u32 check, native;
};

/**
 * struct kunwind_interp_walk - the interpreter's frames of one native stack
 * @interp: in
 * @bias: in: of the object: address - bias = ELF virtual address
 * @mem: in: the reader of the native walk, with the rest of its budget
 * @addresses: in: of the native frames, the innermost first; the first one is exact,
 *	all others follow a call
 * @sp: in: stack pointer of each native frame
 * @nr: in: number of native frames
 * @complete: in: they are the whole stack
 * @frames: out: @capacity frames, the innermost first
 * @count: out
 * @missing: out: frames that were read, and that are not in @frames, because there was
 *	no room, or no native frame for their group
 * @unread: out, after KUNWIND_INTERP_UNREADABLE
 */
struct kunwind_interp_walk {
	const struct kunwind_interp *interp;
	u64 bias;
	struct kunwind_mem *mem;
	const unsigned long *addresses;
	const u64 *sp;
	u32 nr;
	bool complete;
	struct kunwind_interp_frame *frames;
	u32 capacity, count, missing;
	u64 unread;
};

/**
 * kunwind_interp_walk() - find the interpreter's frames
 *
 * Any context, NMI included. No window may be open. Each node costs one unit of the
 * budget. Frames of a group are there only if the whole group was read and its native
 * frame is known; those that do not fit are the outermost ones.
 */
enum kunwind_interp_reason kunwind_interp_walk(struct kunwind_interp_walk *walk);

/* Returns the range of the eval loop that has the ELF virtual address, or NULL. */
static __always_inline const struct kunwind_interp_range *
kunwind_interp_loop(const struct kunwind_interp *interp, u64 addr)
{
	u32 i;

	if (likely(addr - interp->lo >= interp->hi - interp->lo))
		return NULL;
	for (i = 0; i < interp->nr_ranges; i++)
		if (addr - interp->range[i].start < interp->range[i].end - interp->range[i].start)
			return &interp->range[i];
	return NULL;
}

#endif /* _KUNWIND_INTERP_WALK_H */
