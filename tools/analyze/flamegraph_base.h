/* SPDX-License-Identifier: MIT */
/*
 * flamegraph_base.h - one tree of calls for two traces
 */
#ifndef KUNWIND_ANALYZE_FLAMEGRAPH_BASE_H
#define KUNWIND_ANALYZE_FLAMEGRAPH_BASE_H

#include "calls.h"

/* Starts as all zeros. */
struct merged {
	struct calls calls;		/* the nodes of both; weights of the trace */
	struct calls_total *base;	/* weights of the base, for each node, without descendants */
};

/* Merges the trees of a trace and of its base. Ends the program if out of memory. */
void merge_base(struct merged *merged, const struct calls *trace, const struct calls *base);

/*
 * Replaces frames whose share of each weight, with all below them, is less than @least, by one for
 * each caller. @base: of merge_base(); NULL: there is no base. Nothing can be added afterwards.
 * Returns the new number of each node; free(3) it.
 */
uint32_t *leave_out_narrow(struct calls *calls, struct calls_total *base, double least);

void merged_free(struct merged *merged);

#endif /* KUNWIND_ANALYZE_FLAMEGRAPH_BASE_H */
