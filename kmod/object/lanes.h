/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lanes.h - the queues of objects to be built, and their workers
 */
#ifndef _KUNWIND_LANES_H
#define _KUNWIND_LANES_H

#include <linux/list.h>
#include <linux/types.h>

struct file;
struct kunwind_lane;
struct kunwind_object;
struct kunwind_payer;
struct kunwind_place;

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

/**
 * struct kunwind_place - one user who maps the file of an object that is being built
 * @in_lane: while the object is queued (object->queued)
 * @of_object: until the build is over, so that this user can pay instead of another
 * @full: the user's share of memory has no room for the table
 */
struct kunwind_place {
	struct list_head in_lane;
	struct list_head of_object;
	struct kunwind_object *object;
	struct kunwind_lane *lane;
	struct kunwind_payer *payer;
	bool full;
};

/* Of no object yet. NULL: no memory. May sleep. */
struct kunwind_place *kunwind_place_alloc(struct kunwind_payer *payer);
void kunwind_place_free(struct kunwind_place *place);

/*
 * Has an attached, pending object built (kunwind_builder_run()): by the first lane
 * that gets to it, if it is queued in several. The caller has a reference to the
 * lane, has added @place to object->places and, with the first place, gives the object
 * a reference, which the lane's worker puts. No sleep. kunwind_objects_lock is held
 * here and below.
 */
void kunwind_lane_queue(struct kunwind_object *object, struct kunwind_lane *lane,
			struct kunwind_place *place);
/* The object to be built next, which is queued no longer; or NULL. No sleep. */
struct kunwind_object *kunwind_lane_next(struct kunwind_lane *lane);

#endif /* _KUNWIND_LANES_H */
