/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * build_queue.h - the queues of objects to be built, and their workers
 */
#ifndef _KUNWIND_BUILD_QUEUE_H
#define _KUNWIND_BUILD_QUEUE_H

#include <linux/list.h>
#include <linux/types.h>

struct file;
struct kunwind_build_queue;
struct kunwind_object;
struct kunwind_quota;
struct kunwind_place;

/*
 * @build: takes the next object out of @queue, whose user is @quota, and builds
 * it; called in a worker, which may sleep. 0 or -ENOMEM.
 */
int kunwind_build_queues_init(void (*build)(struct kunwind_build_queue *queue, struct kunwind_quota *quota));
/* After the last kunwind_build_queue_add(): returns when no worker runs any more. */
void kunwind_build_queues_drain(void);
void kunwind_build_queues_exit(void);

/*
 * Returns the queue in which objects of @file (NULL: the vDSO) wait for @quota,
 * with a reference. NULL: no memory, or @quota has too many queues. May sleep.
 */
struct kunwind_build_queue *kunwind_build_queue_get(struct file *file, struct kunwind_quota *quota);
void kunwind_build_queue_put(struct kunwind_build_queue *queue);

/* Whether reads of the queue's files may never return. */
bool kunwind_build_queue_is_remote(const struct kunwind_build_queue *queue);

/**
 * struct kunwind_place - a user who can pay for the build of an object
 * @in_queue: in the queue, while the object is queued (object->queued)
 * @of_object: in object->places, until the build is over
 * @queue: valid while the object is queued
 * @full: the user's share of memory has no room for the table
 */
struct kunwind_place {
	struct list_head in_queue;
	struct list_head of_object;
	struct kunwind_object *object;
	struct kunwind_build_queue *queue;
	struct kunwind_quota *quota;
	bool full;
};

/* A place that is in no list yet. NULL: no memory. May sleep. */
struct kunwind_place *kunwind_place_alloc(struct kunwind_quota *quota);
void kunwind_place_free(struct kunwind_place *place);

/*
 * Queues an attached, pending object in @queue. If it is queued in several
 * queues, the first that reaches it builds it. The caller has a reference to the
 * queue, and has added @place to object->places. With the first place, the
 * caller passes on a reference to the object, which the worker puts.
 * No sleep. Callers of this and the next function hold kunwind_objects_lock.
 */
void kunwind_build_queue_add(struct kunwind_object *object, struct kunwind_build_queue *queue,
			struct kunwind_place *place);
/* Takes the next object out of this queue and all others. NULL: none waits. */
struct kunwind_object *kunwind_build_queue_next(struct kunwind_build_queue *queue);

#endif /* _KUNWIND_BUILD_QUEUE_H */
