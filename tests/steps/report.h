/* SPDX-License-Identifier: MIT */
/*
 * report.h - count verdicts of one program, by class, and print them
 *
 * A class is a verdict, its reason or trust, and the place at which the first
 * wrong step began: the address before the first one that differs.
 */
#ifndef _STEPS_REPORT_H
#define _STEPS_REPORT_H

#include "verdict.h"

struct report {
	const char *program, *suffix;	/* its name, and a suffix of it */
	u64 steps, positions, sampled;
	u64 verdict[NR_VERDICTS];
	u64 explained;			/* not in verdict[]: explained by the list */
	u64 trust[KUNWIND_NR_TRUSTS];	/* of wrong addresses */
	u64 method[KUNWIND_NR_METHODS];	/* steps without CFI */
	/* On the sample: right, shorter, wrong. */
	u64 ours[3], libdw[3], libunwind[3];
	struct report_class *classes;
	u32 nr_classes;
	u32 stacks;			/* stacks still to show that are not right */
};

/*
 * Reads functions whose object's CFI is wrong: lines
 * "OBJECT<tab>FUNCTION<tab>WHY".
 */
void report_read_explained(const char *path);

/*
 * Counts one position. @sample: libdw and libunwind walk it, whatever our
 * verdict is.
 */
void report_add(struct report *report, struct target *target, const struct shadow_thread *thread,
		pid_t tid, const struct kunwind_regs *regs, const struct verdict_stack *ours,
		bool sample);

/* Adds the steps that a walk made without CFI. */
void report_methods(struct report *report, const struct kunwind_walk *walk);

void report_print(const struct report *report, FILE *to);

#endif /* _STEPS_REPORT_H */
