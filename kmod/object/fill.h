/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fill.h - the second stage of big objects: the rows of a table that is in use
 */
#ifndef _KUNWIND_FILL_H
#define _KUNWIND_FILL_H

#include "../core/kunwind_core.h"

struct kunwind_fill;
struct kunwind_job;
struct mm_struct;

int kunwind_fill_init(void);
/* Makes all that goes on end; nothing may be started any more. */
void kunwind_fill_stop(void);
void kunwind_fill_exit(void);

/**
 * kunwind_fill_begin() - the first stage, in the caller's context
 * @job: the build's; the second stage has what is left of its time
 * @limit: most bytes of the table
 * Makes the object's table. @section's bytes must stay until the end.
 */
enum kunwind_refusal __must_check
kunwind_fill_begin(struct kunwind_job *job, const struct kunwind_section *section,
		   size_t limit, struct kunwind_fill **fill);

/* There will be no second stage; the table is left to the caller. */
void kunwind_fill_cancel(struct kunwind_fill *fill);

/*
 * The second stage begins. Takes over the section's bytes @data (kvfree()) and
 * what was charged for the build.
 */
void kunwind_fill_start(struct kunwind_fill *fill, void *data, size_t charged);

/*
 * Whether the code at @addr in @range (or NULL) has no rule only because a part of
 * its table is not built. Any context, with preemption off. notrace.
 */
bool kunwind_fill_missing(const struct kunwind_range *range, u64 addr);

/**
 * kunwind_fill_wait() - wait until the part of a table is there that the code at @addr needs
 * @mm: in which it is mapped; of the current task
 * @timeout: jiffies
 * Sleeps, killably. Return: 0 when it is there; -ENOENT when no table in parts has
 * that code any more; -ETIME after the timeout, which is also returned at once for a
 * second after a wait for the same object has timed out.
 */
int kunwind_fill_wait(const struct mm_struct *mm, u64 addr, unsigned long timeout);

#endif /* _KUNWIND_FILL_H */
