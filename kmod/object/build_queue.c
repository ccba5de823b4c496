// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_queue.c - the queues of objects to be built, and their workers
 *
 * Each user (all with CAP_SYS_ADMIN are one) has a queue for all local file
 * systems, and one for each remote file system (FUSE, network), whose reads may
 * never return. A remote queue has more workers, because these mostly wait. A
 * worker builds one object. If other objects wait in its queue, it then starts
 * a worker again. Queues do not wait for each other: the scheduler shares the
 * processors out between their workers, by the priority of the user to whom the
 * time of the build is charged (job.c). A user without CAP_SYS_ADMIN has at
 * most USER_QUEUES queues, and compiles one table at a time.
 *
 * Several users may map a file before its table is built. Then each of them has
 * a build request for the object in a queue of its own. A worker of the queue
 * that reaches the object first builds it. The object keeps all these requests
 * until its build is over, and object.c chooses the user to whom the build is
 * charged. So no build that a user needs waits only in another user's queue, or
 * depends only on another user's share of memory.
 *
 * Context: workers; the other functions run in process context.
 * Lock: queues_lock, a spinlock inside kunwind_objects_lock (docs/locking.md).
 * Memory: 240 bytes a queue, 64 bytes a build request.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/magic.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "build_queue.h"
#include "object.h"
#include "../base/quota.h"

/*
 * Builds at a time from a queue of CAP_SYS_ADMIN, and from one of another user.
 */
#define LOCAL_WIDTH	2
#define LOCAL_USER_WIDTH 1
#define REMOTE_WIDTH	4
#define REMOTE_USER_WIDTH 2
/* 32 users with hanging file systems use up the workers for remote files. */
#define USER_QUEUES	8

struct queue_worker {
	struct work_struct work;
	struct kunwind_build_queue *queue;
	bool busy;			/* queued or running */
};

/* Exists while it has references, waiting build requests or busy workers. */
struct kunwind_build_queue {
	struct list_head node;		/* in the list of all queues */
	unsigned int refs;		/* of tasks that are about to add an object */
	u32 dev;			/* of a remote file system; 0: all local ones */
	struct kunwind_quota *quota;
	struct list_head waiting;	/* build requests, in the order in which they were added */
	struct queue_worker worker[REMOTE_WIDTH];
};

static LIST_HEAD(queues);
static DEFINE_SPINLOCK(queues_lock);	/* all queues, and the build requests in them */

/* Builds the next object of a queue (builder.c). */
static void (*build)(struct kunwind_build_queue *queue, struct kunwind_quota *quota);

/* Two workqueues, because all workers for remote files may hang. */
static struct workqueue_struct *builders, *remote_builders;

static unsigned int width(const struct kunwind_build_queue *queue)
{
	if (queue->dev)
		return queue->quota ? REMOTE_USER_WIDTH : REMOTE_WIDTH;
	return queue->quota ? LOCAL_USER_WIDTH : LOCAL_WIDTH;
}

/* Starts a worker of the queue, unless all are busy. */
static void queue_start(struct kunwind_build_queue *queue)
{
	unsigned int i;

	lockdep_assert_held(&queues_lock);
	for (i = 0; i < width(queue); i++) {
		if (queue->worker[i].busy)
			continue;
		queue->worker[i].busy = true;
		queue_work(queue->dev ? remote_builders : builders, &queue->worker[i].work);
		return;
	}
}

/* Frees the queue if it is not needed any more. */
static void queue_check(struct kunwind_build_queue *queue)
{
	unsigned int i;

	lockdep_assert_held(&queues_lock);
	if (queue->refs || !list_empty(&queue->waiting))
		return;
	for (i = 0; i < ARRAY_SIZE(queue->worker); i++)
		if (queue->worker[i].busy)
			return;
	list_del(&queue->node);
	kunwind_quota_put(queue->quota);
	kfree(queue);
}

static void run_worker(struct work_struct *work)
{
	struct queue_worker *worker = container_of(work, struct queue_worker, work);
	struct kunwind_build_queue *queue = worker->queue;

	build(queue, queue->quota);
	spin_lock(&queues_lock);
	worker->busy = false;
	if (!list_empty(&queue->waiting))
		queue_start(queue);
	queue_check(queue);
	spin_unlock(&queues_lock);
}

static struct kunwind_build_queue *queue_alloc(u32 dev, struct kunwind_quota *quota)
{
	struct kunwind_build_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL | __GFP_NOWARN);
	unsigned int i;

	if (!queue)
		return NULL;
	queue->dev = dev;
	queue->quota = kunwind_quota_get(quota);
	INIT_LIST_HEAD(&queue->waiting);
	for (i = 0; i < ARRAY_SIZE(queue->worker); i++) {
		INIT_WORK(&queue->worker[i].work, run_worker);
		queue->worker[i].queue = queue;
	}
	return queue;
}

/* -ENOENT: no such queue; -ENOSPC: no such queue, and the user has too many. */
static struct kunwind_build_queue *queue_find(u32 dev, const struct kunwind_quota *quota)
{
	struct kunwind_build_queue *queue;
	unsigned int nr = 0;

	lockdep_assert_held(&queues_lock);
	list_for_each_entry(queue, &queues, node) {
		if (queue->quota != quota)
			continue;
		if (queue->dev == dev)
			return queue;
		nr++;
	}
	return ERR_PTR(quota && nr >= USER_QUEUES ? -ENOSPC : -ENOENT);
}

/* Returns whether reads never wait for another program or machine. */
static bool local(const struct super_block *sb)
{
	switch (sb->s_magic) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case HUGETLBFS_MAGIC:
		return true;
	case FUSE_SUPER_MAGIC:		/* fuseblk has a device */
		return false;
	default:
		return sb->s_type->fs_flags & FS_REQUIRES_DEV;
	}
}

static bool remote(const struct file *file)
{
	return file && !local(file_inode(file)->i_sb);
}

bool kunwind_build_queue_is_remote(const struct kunwind_build_queue *queue)
{
	return queue->dev;
}

struct kunwind_build_queue *kunwind_build_queue_get(struct file *file, struct kunwind_quota *quota)
{
	u32 dev = remote(file) ? new_encode_dev(file_inode(file)->i_sb->s_dev) : 0;
	struct kunwind_build_queue *queue, *new = NULL;

	for (;;) {
		spin_lock(&queues_lock);
		queue = queue_find(dev, quota);
		if (queue == ERR_PTR(-ENOENT) && new) {
			queue = new;
			new = NULL;
			list_add_tail(&queue->node, &queues);
		}
		if (!IS_ERR(queue))
			queue->refs++;
		spin_unlock(&queues_lock);
		if (queue != ERR_PTR(-ENOENT))
			break;
		new = queue_alloc(dev, quota);
		if (!new)
			return NULL;
	}
	if (new) {
		kunwind_quota_put(new->quota);
		kfree(new);
	}
	return IS_ERR(queue) ? NULL : queue;
}

void kunwind_build_queue_put(struct kunwind_build_queue *queue)
{
	spin_lock(&queues_lock);
	WARN_ON_ONCE(!queue->refs);
	queue->refs--;
	queue_check(queue);
	spin_unlock(&queues_lock);
}

struct kunwind_build_request *kunwind_build_request_alloc(struct kunwind_quota *quota)
{
	struct kunwind_build_request *request = kzalloc(sizeof(*request), GFP_KERNEL | __GFP_NOWARN);

	if (request)
		request->quota = kunwind_quota_get(quota);
	return request;
}

void kunwind_build_request_free(struct kunwind_build_request *request)
{
	kunwind_quota_put(request->quota);
	kfree(request);
}

void kunwind_build_queue_add(struct kunwind_object *object, struct kunwind_build_queue *queue,
			     struct kunwind_build_request *request)
{
	object->queued = true;
	request->object = object;
	request->queue = queue;
	spin_lock(&queues_lock);
	list_add_tail(&request->in_queue, &queue->waiting);
	queue_start(queue);
	spin_unlock(&queues_lock);
}

struct kunwind_object *kunwind_build_queue_next(struct kunwind_build_queue *queue)
{
	struct kunwind_object *object = NULL;
	struct kunwind_build_request *request;

	spin_lock(&queues_lock);
	request = list_first_entry_or_null(&queue->waiting, struct kunwind_build_request, in_queue);
	if (request) {
		object = request->object;
		object->queued = false;
		/* A queue with requests has a busy worker, which frees it if this one was its last. */
		list_for_each_entry(request, &object->requests, of_object)
			list_del(&request->in_queue);
	}
	spin_unlock(&queues_lock);
	return object;
}

int kunwind_build_queues_init(void (*function)(struct kunwind_build_queue *queue,
					       struct kunwind_quota *quota))
{
	build = function;
	/*
	 * Frozen for suspend: a read may change a file's access time, and
	 * closing a deleted file frees its blocks, which must not happen once
	 * hibernation has made its image. Those for remote files are not
	 * frozen: a server that does not answer would make each suspend fail.
	 */
	builders = alloc_workqueue("kunwind_build", WQ_UNBOUND | WQ_FREEZABLE, 0);
	if (!builders)
		return -ENOMEM;
	remote_builders = alloc_workqueue("kunwind_build_remote", WQ_UNBOUND,
					  WQ_UNBOUND_MAX_ACTIVE);
	if (remote_builders)
		return 0;
	destroy_workqueue(builders);
	return -ENOMEM;
}

void kunwind_build_queues_drain(void)
{
	drain_workqueue(builders);
	drain_workqueue(remote_builders);
	WARN_ON_ONCE(!list_empty(&queues));
}

void kunwind_build_queues_exit(void)
{
	destroy_workqueue(remote_builders);
	destroy_workqueue(builders);
}
