/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * build_queue.h - the queues of objects to be built, and their workers
 */
#ifndef _KUNWIND_BUILD_QUEUE_H
#define _KUNWIND_BUILD_QUEUE_H

#include <linux/list.h>
#include <linux/types.h>

struct file;
struct kunwind_lane;
struct kunwind_object;
struct kunwind_payer;
struct kunwind_place;

/*
 * @build: takes the next object out of @lane, whose user is @payer, and builds
 * it; called in a worker, which may sleep. 0 or -ENOMEM.
 */
int kunwind_lanes_init(void (*build)(struct kunwind_lane *lane, struct kunwind_payer *payer));
/* After the last kunwind_lane_queue(): returns when no worker runs any more. */
void kunwind_lanes_drain(void);
void kunwind_lanes_exit(void);

/*
 * Returns the lane in which objects of @file (NULL: the vDSO) wait for @payer,
 * with a reference. NULL: no memory, or @payer has too many lanes. May sleep.
 */
struct kunwind_lane *kunwind_lane_get(struct file *file, struct kunwind_payer *payer);
void kunwind_lane_put(struct kunwind_lane *lane);

/* Whether reads of the lane's files may never return. */
bool kunwind_lane_is_remote(const struct kunwind_lane *lane);

/**
 * struct kunwind_place - a user who can pay for the build of an object
 * @in_lane: in the lane, while the object is queued (object->queued)
 * @of_object: in object->places, until the build is over
 * @lane: valid while the object is queued
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

/* A place that is in no list yet. NULL: no memory. May sleep. */
struct kunwind_place *kunwind_place_alloc(struct kunwind_payer *payer);
void kunwind_place_free(struct kunwind_place *place);

/*
 * Queues an attached, pending object in @lane. If it is queued in several
 * lanes, the first that reaches it builds it. The caller has a reference to the
 * lane, and has added @place to object->places. With the first place, the
 * caller passes on a reference to the object, which the worker puts.
 * No sleep. Callers of this and the next function hold kunwind_objects_lock.
 */
void kunwind_lane_queue(struct kunwind_object *object, struct kunwind_lane *lane,
			struct kunwind_place *place);
/* Takes the next object out of this lane and all others. NULL: none waits. */
struct kunwind_object *kunwind_lane_next(struct kunwind_lane *lane);

#endif /* _KUNWIND_BUILD_QUEUE_H */
