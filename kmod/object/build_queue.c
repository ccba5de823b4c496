// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_queue.c - the queues of objects to be built, and their workers
 *
 * Each user (all with CAP_SYS_ADMIN are one) has a lane for all local file
 * systems, and one for each remote file system (FUSE, network), whose reads may
 * never return. Remote lanes have more workers, because these mostly wait. A
 * worker builds one object, then the lane queues a worker again. Lanes do not
 * wait for each other: the scheduler shares the processors out between their
 * workers, by the priority of the user who pays (job.c). A user without
 * CAP_SYS_ADMIN has at most USER_LANES, and compiles one table at a time.
 *
 * Several users may map a file before its table is built. Then the object waits
 * in a lane of each user, and a worker of the lane that reaches it first builds
 * it. The object keeps all these users until its build is over: object.c
 * chooses which of them pays. So no user waits in another user's queue, or for
 * another user's share.
 *
 * Context: workers; the other functions run in process context.
 * Lock: lanes_lock, a spinlock inside kunwind_objects_lock (docs/locking.md).
 * Memory: 240 bytes a lane, 64 bytes an object in it.
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

/* Builds at a time in a lane of CAP_SYS_ADMIN, and in one of another user. */
#define LOCAL_WIDTH	2
#define LOCAL_USER_WIDTH 1
#define REMOTE_WIDTH	4
#define REMOTE_USER_WIDTH 2
/* 32 users with hanging file systems use up the workers for remote files. */
#define USER_LANES	8

struct lane_worker {
	struct work_struct work;
	struct kunwind_lane *lane;
	bool busy;			/* queued or running */
};

/* A lane exists while it has references, waiting places or busy workers. */
struct kunwind_lane {
	struct list_head node;		/* in the list of all lanes */
	unsigned int refs;		/* of tasks that are about to queue an object */
	u32 dev;			/* of a remote file system; 0: all local ones */
	struct kunwind_payer *payer;
	struct list_head waiting;	/* places, in the order in which they were queued */
	struct lane_worker worker[REMOTE_WIDTH];
};

static LIST_HEAD(lanes);
static DEFINE_SPINLOCK(lanes_lock);	/* all lanes, and the places that wait in them */

/* Builds the lane's next object (builder.c). */
static void (*build)(struct kunwind_lane *lane, struct kunwind_payer *payer);

/* Two workqueues, because all workers for remote files may hang. */
static struct workqueue_struct *builders, *remote_builders;

static unsigned int width(const struct kunwind_lane *lane)
{
	if (lane->dev)
		return lane->payer ? REMOTE_USER_WIDTH : REMOTE_WIDTH;
	return lane->payer ? LOCAL_USER_WIDTH : LOCAL_WIDTH;
}

/* Queues a worker unless all are busy. */
static void lane_start(struct kunwind_lane *lane)
{
	unsigned int i;

	lockdep_assert_held(&lanes_lock);
	for (i = 0; i < width(lane); i++) {
		if (lane->worker[i].busy)
			continue;
		lane->worker[i].busy = true;
		queue_work(lane->dev ? remote_builders : builders, &lane->worker[i].work);
		return;
	}
}

/* Frees the lane if it is not needed any more. */
static void lane_check(struct kunwind_lane *lane)
{
	unsigned int i;

	lockdep_assert_held(&lanes_lock);
	if (lane->refs || !list_empty(&lane->waiting))
		return;
	for (i = 0; i < ARRAY_SIZE(lane->worker); i++)
		if (lane->worker[i].busy)
			return;
	list_del(&lane->node);
	kunwind_payer_put(lane->payer);
	kfree(lane);
}

static void lane_work(struct work_struct *work)
{
	struct lane_worker *worker = container_of(work, struct lane_worker, work);
	struct kunwind_lane *lane = worker->lane;

	build(lane, lane->payer);
	spin_lock(&lanes_lock);
	worker->busy = false;
	if (!list_empty(&lane->waiting))
		lane_start(lane);
	lane_check(lane);
	spin_unlock(&lanes_lock);
}

static struct kunwind_lane *lane_alloc(u32 dev, struct kunwind_payer *payer)
{
	struct kunwind_lane *lane = kzalloc(sizeof(*lane), GFP_KERNEL | __GFP_NOWARN);
	unsigned int i;

	if (!lane)
		return NULL;
	lane->dev = dev;
	lane->payer = kunwind_payer_get(payer);
	INIT_LIST_HEAD(&lane->waiting);
	for (i = 0; i < ARRAY_SIZE(lane->worker); i++) {
		INIT_WORK(&lane->worker[i].work, lane_work);
		lane->worker[i].lane = lane;
	}
	return lane;
}

/* -ENOENT: no such lane; -ENOSPC: no such lane, and the user has too many. */
static struct kunwind_lane *lane_find(u32 dev, const struct kunwind_payer *payer)
{
	struct kunwind_lane *lane;
	unsigned int nr = 0;

	lockdep_assert_held(&lanes_lock);
	list_for_each_entry(lane, &lanes, node) {
		if (lane->payer != payer)
			continue;
		if (lane->dev == dev)
			return lane;
		nr++;
	}
	return ERR_PTR(payer && nr >= USER_LANES ? -ENOSPC : -ENOENT);
}

/* Whether reads do not wait for another program or machine. */
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

bool kunwind_lane_is_remote(const struct kunwind_lane *lane)
{
	return lane->dev;
}

struct kunwind_lane *kunwind_lane_get(struct file *file, struct kunwind_payer *payer)
{
	u32 dev = remote(file) ? new_encode_dev(file_inode(file)->i_sb->s_dev) : 0;
	struct kunwind_lane *lane, *new = NULL;

	for (;;) {
		spin_lock(&lanes_lock);
		lane = lane_find(dev, payer);
		if (lane == ERR_PTR(-ENOENT) && new) {
			lane = new;
			new = NULL;
			list_add_tail(&lane->node, &lanes);
		}
		if (!IS_ERR(lane))
			lane->refs++;
		spin_unlock(&lanes_lock);
		if (lane != ERR_PTR(-ENOENT))
			break;
		new = lane_alloc(dev, payer);
		if (!new)
			return NULL;
	}
	if (new) {
		kunwind_payer_put(new->payer);
		kfree(new);
	}
	return IS_ERR(lane) ? NULL : lane;
}

void kunwind_lane_put(struct kunwind_lane *lane)
{
	spin_lock(&lanes_lock);
	lane->refs--;
	lane_check(lane);
	spin_unlock(&lanes_lock);
}

struct kunwind_place *kunwind_place_alloc(struct kunwind_payer *payer)
{
	struct kunwind_place *place = kzalloc(sizeof(*place), GFP_KERNEL | __GFP_NOWARN);

	if (place)
		place->payer = kunwind_payer_get(payer);
	return place;
}

void kunwind_place_free(struct kunwind_place *place)
{
	kunwind_payer_put(place->payer);
	kfree(place);
}

void kunwind_lane_queue(struct kunwind_object *object, struct kunwind_lane *lane,
			struct kunwind_place *place)
{
	object->queued = true;
	place->object = object;
	place->lane = lane;
	spin_lock(&lanes_lock);
	list_add_tail(&place->in_lane, &lane->waiting);
	lane_start(lane);
	spin_unlock(&lanes_lock);
}

struct kunwind_object *kunwind_lane_next(struct kunwind_lane *lane)
{
	struct kunwind_object *object = NULL;
	struct kunwind_place *place;

	spin_lock(&lanes_lock);
	place = list_first_entry_or_null(&lane->waiting, struct kunwind_place, in_lane);
	if (place) {
		object = place->object;
		object->queued = false;
		list_for_each_entry(place, &object->places, of_object) {
			list_del(&place->in_lane);
			lane_check(place->lane);
		}
	}
	spin_unlock(&lanes_lock);
	return object;
}

int kunwind_lanes_init(void (*function)(struct kunwind_lane *lane, struct kunwind_payer *payer))
{
	build = function;
	builders = alloc_workqueue("kunwind_build", WQ_UNBOUND, 0);
	if (!builders)
		return -ENOMEM;
	remote_builders = alloc_workqueue("kunwind_build_remote", WQ_UNBOUND,
					  WQ_UNBOUND_MAX_ACTIVE);
	if (remote_builders)
		return 0;
	destroy_workqueue(builders);
	return -ENOMEM;
}

void kunwind_lanes_drain(void)
{
	drain_workqueue(builders);
	drain_workqueue(remote_builders);
}

void kunwind_lanes_exit(void)
{
	destroy_workqueue(remote_builders);
	destroy_workqueue(builders);
}
