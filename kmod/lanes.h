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
struct kunwind_place;	/* of one object in one lane */

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

/* For kunwind_lane_queue(); else to be freed by kfree(). NULL: no memory. May sleep. */
struct kunwind_place *kunwind_place_alloc(void);

/*
 * Has an attached, pending object built (kunwind_builder_run()): by the first lane
 * that gets to it, if it is queued in several. Takes over @place. The caller has a
 * reference to the lane and, with the first place, gives one to the object, which
 * the lane's worker puts. No sleep. kunwind_objects_lock is held here and below.
 */
void kunwind_lane_queue(struct kunwind_object *object, struct kunwind_lane *lane,
			struct kunwind_place *place);
/* Whether the object waits in any lane; and in one of @payer. No sleep. */
bool kunwind_lane_queued(struct kunwind_object *object);
bool kunwind_lane_queued_for(struct kunwind_object *object, const struct kunwind_payer *payer);
/* The object to be built next, which waits in no lane any more; or NULL. No sleep. */
struct kunwind_object *kunwind_lane_next(struct kunwind_lane *lane);

#endif /* _KUNWIND_LANES_H */
