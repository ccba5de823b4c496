/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - compare a walk with the shadow, and count by class
 */
#ifndef _STEPS_VERDICT_H
#define _STEPS_VERDICT_H

#include <stdio.h>

#include "others.h"
#include "shadow.h"

#define VERDICT_MOST	1024		/* addresses of a stack that are compared */

/* From the best to the worst. */
enum verdict {
	VERDICT_RIGHT,		/* all addresses, and "complete" (or as deep as there is room) */
	VERDICT_OPEN,		/* all addresses, and a reason why there may be more */
	VERDICT_SHORTER,	/* the first ones, and a reason */
	VERDICT_FALSE,		/* the first ones, and "complete" */
	VERDICT_WRONG,		/* another address, or more than there are */
	NR_VERDICTS
};

extern const char *const verdict_names[NR_VERDICTS];

/* The result of an unwinder. */
struct verdict_stack {
	u64 address[VERDICT_MOST];
	u8 trust[VERDICT_MOST];
	u32 nr;
	bool complete;
	const char *reason;
};

/*
 * Returns the best verdict over all readings of the shadow. *at: the number of
 * the first address that differs or is missing in the reading with that
 * verdict.
 */
enum verdict verdict_of(const struct verdict_stack *stack, const struct shadow_thread *thread,
			struct memory *memory, u64 ip, u64 sp, u32 *at);

#endif /* _STEPS_VERDICT_H */
