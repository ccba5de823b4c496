/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lanes.h - the queues of objects to be built, and their workers
 */
#ifndef _KUNWIND_LANES_H
#define _KUNWIND_LANES_H

#include <linux/types.h>

struct file;
struct kunwind_lane;
struct kunwind_object;
struct kunwind_payer;

int kunwind_lanes_init(void);
/* Returns when no object waits and no worker runs any more. */
void kunwind_lanes_drain(void);
void kunwind_lanes_exit(void);

/*
 * The lane in which objects of @file (NULL: the vDSO) wait for @payer, with a
 * reference. NULL: no memory, or @payer has too many. May sleep.
 */
struct kunwind_lane *kunwind_lane_get(struct file *file, struct kunwind_payer *payer);
void kunwind_lane_put(struct kunwind_lane *lane);

/* Whether reads of its files may never return. */
bool kunwind_lane_is_remote(const struct kunwind_lane *lane);

/*
 * Has an attached, pending object built (kunwind_builder_run()), then puts a
 * reference to it that the caller gives here. The caller has a reference to the
 * lane. No sleep.
 */
void kunwind_lane_queue(struct kunwind_object *object, struct kunwind_lane *lane);
/* Takes it back, with the reference. False: it is not in the queue, or not any more. No sleep. */
bool kunwind_lane_unqueue(struct kunwind_object *object);

#endif /* _KUNWIND_LANES_H */
