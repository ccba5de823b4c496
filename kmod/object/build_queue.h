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
struct kunwind_build_request;

/*
 * @build: takes the next object out of @queue, and builds it; @quota: of the
 * user of the queue. Called in a worker, may sleep. Returns 0 or -ENOMEM.
 */
int kunwind_build_queues_init(void (*build)(struct kunwind_build_queue *queue,
					    struct kunwind_quota *quota));
/*
 * Call this after the last kunwind_build_queue_add(). Returns when no worker
 * runs any more.
 */
void kunwind_build_queues_drain(void);
void kunwind_build_queues_exit(void);

/*
 * Returns the queue for objects of @file (NULL: the vDSO) of the user of
 * @quota, with a reference. NULL: no memory, or the user has too many queues.
 * May sleep.
 */
struct kunwind_build_queue *kunwind_build_queue_get(struct file *file, struct kunwind_quota *quota);
void kunwind_build_queue_put(struct kunwind_build_queue *queue);

/* Returns whether reads of the queue's files may never return. */
bool kunwind_build_queue_is_remote(const struct kunwind_build_queue *queue);

/**
 * struct kunwind_build_request - a user needs the table of an object
 * @in_queue: entry of the queue, while the object waits (object->queued)
 * @of_object: entry of object->requests, until the build is over
 * @queue: of the user; valid while the object waits
 * @quota: of the user, to whom object and build may be charged; NULL:
 *	CAP_SYS_ADMIN
 * @full: the user's share of memory has no room for the table
 */
struct kunwind_build_request {
	struct list_head in_queue;
	struct list_head of_object;
	struct kunwind_object *object;
	struct kunwind_build_queue *queue;
	struct kunwind_quota *quota;
	bool full;
};

/* Returns a build request that is in no list. NULL: no memory. May sleep. */
struct kunwind_build_request *kunwind_build_request_alloc(struct kunwind_quota *quota);
void kunwind_build_request_free(struct kunwind_build_request *request);

/*
 * Adds an attached (source.h), pending object to @queue. If the object waits in
 * several queues, a worker of the first queue that reaches it builds it. The
 * caller has a reference to the queue, and has added @request to
 * object->requests. With the first request, the caller passes on a reference to
 * the object, which the worker puts. No sleep. Callers of this and the next
 * function hold kunwind_objects_lock.
 */
void kunwind_build_queue_add(struct kunwind_object *object, struct kunwind_build_queue *queue,
			     struct kunwind_build_request *request);
/*
 * Takes the next object out of this and all its other queues. NULL: none waits.
 */
struct kunwind_object *kunwind_build_queue_next(struct kunwind_build_queue *queue);

#endif /* _KUNWIND_BUILD_QUEUE_H */
