// SPDX-License-Identifier: GPL-2.0-only
/*
 * object.c - ELF objects and their tables, one for each state of a file
 *
 * An object is found by what the kernel knows of its file: device, inode number
 * and generation, and the file's handle where two files may have these in
 * common; then size and change time. It is never found by path or build-id,
 * because users can choose these. The table is built when the first process
 * maps the file (builder.c); all other processes share it. The worker closes
 * the file after the build (of a big table: after its first stage), so a table
 * pins neither mount nor inode. The kernel may give a device number to another
 * file system: the epoch of the number (filesystem.c) distinguishes the two.
 * object_cache.c keeps the objects, and decides how long.
 *
 * If no process uses an object any more when a worker takes it out of its
 * queue, the object is dropped. A build that has begun ends early if no process
 * uses the object any more and the file has gone or the user who is charged for
 * the time is over the budget.
 *
 * An object waits to be built in the queues of all users whose processes map
 * the file: each of them has a build request (build_queue.c). The object is
 * charged to the user whose queue reaches it first, if that user's share has
 * room for the table; otherwise to the next user with room. If only
 * CAP_SYS_ADMIN has room, nobody is charged. The processor time
 * of the build is also charged to one of these users (time_quota). The build
 * has that user's priority, and needs one of that user's turns (job.c). If that
 * user is over the budget, or compiles another table, another of these users is
 * charged from then on. If one of them has CAP_SYS_ADMIN, nobody is charged for
 * the time. After MAX_REQUESTS users, only CAP_SYS_ADMIN adds a request; other
 * users wait for the build of one of the first.
 *
 * The memory of the build and of the table is also charged to a memory control
 * group, that of the process that mapped the file first (job.c). As with the
 * page cache of a file, the group keeps this charge while others use the table.
 *
 * Each process has its own names of files (name.c). An object keeps one of them
 * for the status: that of a process with CAP_SYS_ADMIN, if one maps the file;
 * otherwise that of the user who is charged for the object, as soon as a
 * process of this user maps it.
 *
 * Process context; object.h says which functions may sleep.
 * Lock: kunwind_objects_lock (object_cache.h, docs/locking.md). In each object
 * it also protects users from and to 0, quota (which only the worker that
 * builds the object changes), time_quota, the build requests and name.
 * Memory: about 1,800 bytes an object (2 KB from the allocator), besides its
 * table and its name. Most of these bytes are the segments in struct
 * kunwind_elf.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <asm/vdso.h>

#include "filesystem.h"
#include "build_queue.h"
#include "../base/memory_limit.h"
#include "name.h"
#include "object.h"
#include "object_cache.h"
#include "source.h"

/*
 * Most build requests of users for one object; CAP_SYS_ADMIN adds one more. The
 * list is searched under kunwind_objects_lock, and each request keeps a quota:
 * a task that may change its real user id could add any number.
 */
#define MAX_REQUESTS	64

struct kunwind_object kunwind_object_anonymous = {
	.users = REFCOUNT_INIT(1),
	.state = KUNWIND_OBJECT_NO_CFI,
	.build_error = KUNWIND_E_NO_CFI,
};

static atomic64_t nr_dropped;		/* objects that no process used when they left their queue */

void kunwind_object_put(struct kunwind_object *object)
{
	LIST_HEAD(dead);

	might_sleep();
	lockdep_assert_not_held(&kunwind_objects_lock);
	/* The static objects keep their first reference for ever. */
	if (!refcount_dec_and_lock(&object->users, &kunwind_objects_lock))
		return;
	kunwind_object_cache_last_put(object, &dead);
	spin_unlock(&kunwind_objects_lock);
	kunwind_object_cache_free_dead(&dead);
}

bool kunwind_object_unwanted(struct kunwind_object *object)
{
	bool unwanted = false;

	if (refcount_read(&object->users) > 1)
		return false;
	spin_lock(&kunwind_objects_lock);
	if (refcount_read(&object->users) == 1 &&
	    (READ_ONCE(object->gone) || kunwind_quota_over_budget(object->time_quota))) {
		/* A process that maps the file later gets a new object. */
		kunwind_object_cache_remove(object);
		unwanted = true;
	}
	spin_unlock(&kunwind_objects_lock);
	return unwanted;
}

bool kunwind_object_has_users(struct kunwind_object *object)
{
	bool used;

	spin_lock(&kunwind_objects_lock);
	used = refcount_read(&object->users) > 1;
	spin_unlock(&kunwind_objects_lock);
	return used;
}

/* ------------------------------------------------- which user is charged */

static void set_time_quota(struct kunwind_object *object, struct kunwind_quota *quota)
{
	lockdep_assert_held(&kunwind_objects_lock);
	kunwind_quota_put(object->time_quota);
	object->time_quota = kunwind_quota_get(quota);
}

/* Charges @object to @quota. False: that user has too many objects. */
static bool set_quota(struct kunwind_object *object, struct kunwind_quota *quota)
{
	lockdep_assert_held(&kunwind_objects_lock);
	if (object->quota == quota)
		return true;
	if (!kunwind_object_cache_charge(quota))
		return false;
	kunwind_quota_remove_object(object->quota);
	kunwind_quota_put(object->quota);
	/* Other code reads it without the lock, only to compare it. */
	WRITE_ONCE(object->quota, kunwind_quota_get(quota));
	return true;
}

static void choose_time_quota(struct kunwind_object *object)
{
	bool over = kunwind_quota_over_budget(object->time_quota);
	const struct kunwind_build_request *request;

	lockdep_assert_held(&kunwind_objects_lock);
	list_for_each_entry(request, &object->requests, of_object) {
		if (!object->time_quota)
			return;
		if (!request->quota || (over && !kunwind_quota_over_budget(request->quota))) {
			set_time_quota(object, request->quota);
			over = false;
		}
	}
}

struct kunwind_quota *kunwind_object_time_quota(struct kunwind_object *object)
{
	struct kunwind_quota *quota;

	spin_lock(&kunwind_objects_lock);
	choose_time_quota(object);
	quota = kunwind_quota_get(object->time_quota);
	spin_unlock(&kunwind_objects_lock);
	return quota;
}

bool kunwind_object_take_turn(struct kunwind_object *object, enum kunwind_turn turn,
			      struct kunwind_quota **quota)
{
	const struct kunwind_build_request *request;
	bool taken, over;

	spin_lock(&kunwind_objects_lock);
	choose_time_quota(object);
	/* If so, no other user with a request is within the budget, either. */
	over = kunwind_quota_over_budget(object->time_quota);
	taken = kunwind_quota_take_turn(object->time_quota, turn);
	list_for_each_entry(request, &object->requests, of_object) {
		if (taken || !object->time_quota)
			break;
		if (!over && kunwind_quota_over_budget(request->quota))
			continue;
		taken = kunwind_quota_take_turn(request->quota, turn);
		if (taken)
			set_time_quota(object, request->quota);
	}
	*quota = taken ? kunwind_quota_get(object->time_quota) : NULL;
	spin_unlock(&kunwind_objects_lock);
	return taken;
}

bool kunwind_object_next_quota(struct kunwind_object *object, int err)
{
	const struct kunwind_quota *full = object->quota;
	struct kunwind_build_request *request;
	bool found = false;

	if (!full)
		return false;
	spin_lock(&kunwind_objects_lock);
	list_for_each_entry(request, &object->requests, of_object) {
		if (err == -EDQUOT && request->quota == full)
			request->full = true;
		if (!found && !request->full && (err == -EDQUOT || !request->quota))
			found = set_quota(object, request->quota);
	}
	spin_unlock(&kunwind_objects_lock);
	return found;
}

static void free_requests(struct kunwind_object *object)
{
	struct kunwind_build_request *request, *next;

	lockdep_assert_held(&kunwind_objects_lock);
	list_for_each_entry_safe(request, next, &object->requests, of_object)
		kunwind_build_request_free(request);
	INIT_LIST_HEAD(&object->requests);
	mem_cgroup_put(object->memcg);
	object->memcg = NULL;
}

void kunwind_object_build_over(struct kunwind_object *object)
{
	spin_lock(&kunwind_objects_lock);
	free_requests(object);
	spin_unlock(&kunwind_objects_lock);
}

enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object)
{
	WARN_ON_ONCE(kunwind_object_state(object) == KUNWIND_OBJECT_PENDING);
	/* The second stage of a build may change it (part_builder.c). */
	switch (READ_ONCE(object->build_error)) {
	case KUNWIND_E_LIMIT:
	case KUNWIND_E_NOMEM:
		return KUNWIND_MEMORY_LIMIT;
	case KUNWIND_E_NOT_ELF:
		/*
		 * Memory that a process shares with itself: JITs map it twice, to write code at
		 * one address and to run it at another (a memfd, /dev/zero, a deleted file).
		 */
		if (READ_ONCE(object->gone))
			return KUNWIND_NO_OBJECT;
		fallthrough;
	default:
		return KUNWIND_NO_TABLE;
	}
}

/*
 * Returns a pending object, not yet charged to @quota. NULL: no memory. May
 * sleep.
 */
static struct kunwind_object *object_alloc(const struct kunwind_object_key *key,
					   struct kunwind_quota *quota)
{
	struct kunwind_object *object = kzalloc(sizeof(*object), GFP_KERNEL | __GFP_NOWARN);

	if (!object || !kunwind_filesystem_get(key->dev, key->epoch)) {
		kfree(object);
		return NULL;
	}
	object->key = *key;
	object->name_quota = ERR_PTR(-ENOENT);
	object->state = KUNWIND_OBJECT_PENDING;
	object->quota = kunwind_quota_get(quota);
	object->time_quota = kunwind_quota_get(quota);
	refcount_set(&object->users, 1);
	init_completion(&object->done);
	init_completion(&object->parts_done);
	INIT_LIST_HEAD(&object->requests);
	return object;
}

/*
 * Returns an object, ready to be queued. NULL: no memory, or unloading. May
 * sleep.
 */
static struct kunwind_object *prepare(const struct kunwind_object_key *key,
				      struct kunwind_quota *quota, struct file *file,
				      const struct vdso_image *vdso, struct mm_struct *mm,
				      struct kunwind_build_queue *queue)
{
	struct kunwind_object *object = object_alloc(key, quota);

	if (!object)
		return NULL;
	object->vdso = vdso;
	if (!kunwind_source_attach(object, file, kunwind_build_queue_is_remote(queue))) {
		kunwind_object_cache_free(object);
		return NULL;
	}
	if (mm)
		object->memcg = get_mem_cgroup_from_mm(mm);
	return object;
}

/* Adds @object to the cache and queues it. False: there is no room for it. */
static bool insert(struct kunwind_object *object, struct kunwind_build_queue *queue,
		   struct kunwind_build_request *request, struct list_head *dead)
{
	if (!kunwind_object_cache_insert(object, dead))
		return false;
	kunwind_object_get(object);	/* for the build */
	list_add_tail(&request->of_object, &object->requests);
	kunwind_build_queue_add(object, queue, request);
	return true;
}

static bool being_built(const struct kunwind_object *object)
{
	return kunwind_object_state(object) == KUNWIND_OBJECT_PENDING ||
	       READ_ONCE(object->building_parts);
}

/*
 * Returns whether the build is not over, and the user of @quota has no build
 * request for the object and may add one.
 */
static bool wants_quota(const struct kunwind_object *object, const struct kunwind_quota *quota)
{
	const struct kunwind_build_request *request;
	unsigned int nr = 0;

	lockdep_assert_held(&kunwind_objects_lock);
	if (!being_built(object))
		return false;
	list_for_each_entry(request, &object->requests, of_object) {
		if (request->quota == quota)
			return false;
		nr++;
	}
	return nr < MAX_REQUESTS || !quota;
}

struct kunwind_object *kunwind_object_next(struct kunwind_build_queue *queue,
					   struct kunwind_quota *quota, bool *wanted)
{
	struct kunwind_object *object;

	spin_lock(&kunwind_objects_lock);
	object = kunwind_build_queue_next(queue);
	*wanted = object && refcount_read(&object->users) > 1;
	if (*wanted) {
		/* A user with too many objects is charged for the time only. */
		set_quota(object, quota);
		set_time_quota(object, quota);
	} else if (object) {
		kunwind_object_cache_remove(object);
		free_requests(object);
		atomic64_inc(&nr_dropped);
	}
	spin_unlock(&kunwind_objects_lock);
	return object;
}

void kunwind_object_offer(struct kunwind_object *object, struct kunwind_quota *quota,
			  struct file *file)
{
	struct kunwind_build_request *request;
	struct kunwind_build_queue *queue;
	bool useful;

	if (!being_built(object))
		return;
	spin_lock(&kunwind_objects_lock);
	useful = wants_quota(object, quota);
	spin_unlock(&kunwind_objects_lock);
	if (!useful)
		return;
	request = kunwind_build_request_alloc(quota);
	queue = kunwind_build_queue_get(file, quota);
	spin_lock(&kunwind_objects_lock);
	if (request && (queue || !object->queued) && wants_quota(object, quota)) {
		list_add_tail(&request->of_object, &object->requests);
		if (object->queued)
			kunwind_build_queue_add(object, queue, request);
		request = NULL;
	}
	spin_unlock(&kunwind_objects_lock);
	if (request)
		kunwind_build_request_free(request);
	if (queue)
		kunwind_build_queue_put(queue);
	kunwind_quota_wake_turns();
}

/*
 * Returns a new object, or one that another task has made meanwhile. Never
 * NULL.
 */
static struct kunwind_object *make(const struct kunwind_object_key *key,
				   struct kunwind_quota *quota, struct file *file,
				   const struct vdso_image *vdso, struct mm_struct *mm)
{
	struct kunwind_build_queue *queue = kunwind_build_queue_get(file, quota);
	struct kunwind_object *object, *made = NULL;
	struct kunwind_build_request *request = kunwind_build_request_alloc(quota);
	LIST_HEAD(dead);

	if (queue && request)
		made = prepare(key, quota, file, vdso, mm, queue);
	spin_lock(&kunwind_objects_lock);
	object = kunwind_object_cache_find(key, quota, &dead);
	if (!object && made && insert(made, queue, request, &dead)) {
		object = made;
		made = NULL;
		request = NULL;
	}
	if (!object)
		object = kunwind_object_get(&kunwind_object_cache_overflow);
	else if (file)
		WRITE_ONCE(object->gone, !file_inode(file)->i_nlink);
	spin_unlock(&kunwind_objects_lock);
	kunwind_object_cache_free_dead(&dead);
	if (made)
		kunwind_object_cache_free(made);
	if (request)
		kunwind_build_request_free(request);
	if (queue)
		kunwind_build_queue_put(queue);
	if (object == &kunwind_object_cache_overflow)
		kunwind_memory_refused();
	return object;
}

static struct kunwind_object *get(const struct kunwind_object_key *key,
				  struct kunwind_quota *quota, struct file *file,
				  const struct vdso_image *vdso, struct mm_struct *mm)
{
	struct kunwind_object *object;
	LIST_HEAD(dead);

	spin_lock(&kunwind_objects_lock);
	object = kunwind_object_cache_find(key, quota, &dead);
	if (object && file)
		WRITE_ONCE(object->gone, !file_inode(file)->i_nlink);
	spin_unlock(&kunwind_objects_lock);
	kunwind_object_cache_free_dead(&dead);
	if (!object)
		object = make(key, quota, file, vdso, mm);
	kunwind_object_offer(object, quota, file);
	return object;
}

struct kunwind_object *kunwind_object_get_file(struct file *file, struct kunwind_quota *quota,
					       struct mm_struct *mm)
{
	struct kunwind_object_key key;

	kunwind_object_key_init(&key, file);
	return get(&key, quota, file, NULL, mm);
}

struct kunwind_object *kunwind_object_get_vdso(const struct vdso_image *image)
{
	struct kunwind_object_key key = {
		.ino = (unsigned long)image,
		.size = image->size,
	};

	return get(&key, NULL, NULL, image, NULL);
}

struct kunwind_object *kunwind_object_new_jit(struct kunwind_quota *quota)
{
	const struct kunwind_object_key key = { };
	struct kunwind_object *object;

	/* Without a quota, max_ranges limits the objects of each process. */
	if (!kunwind_object_cache_charge(quota))
		return ERR_PTR(-ENOSPC);
	object = object_alloc(&key, quota);
	if (!object) {
		kunwind_quota_remove_object(quota);
		return ERR_PTR(-ENOMEM);
	}
	object->jit = true;
	return object;
}

/*
 * Returns whether the status is to show @name for @object: it shows no name or
 * that of another user, and @name is that of CAP_SYS_ADMIN or of the user who
 * is charged for the object (who may change). Without kunwind_objects_lock, the
 * result may be out of date.
 */
static bool names(const struct kunwind_name *name, const struct kunwind_object *object)
{
	const struct kunwind_quota *shown = READ_ONCE(object->name_quota);

	/* NULL: CAP_SYS_ADMIN's name, which stays; or a static object. */
	if (!shown || shown == name->quota)
		return false;
	return !name->quota || READ_ONCE(object->quota) == name->quota;
}

void kunwind_object_set_name(struct kunwind_object *object, struct kunwind_name *name)
{
	struct kunwind_name *old = NULL;

	/* Each exec calls this for each file: mostly it takes no lock. */
	if (!names(name, object))
		return;
	spin_lock(&kunwind_objects_lock);
	if (names(name, object)) {
		old = object->name;
		object->name = kunwind_name_get(name);
		WRITE_ONCE(object->name_quota, name->quota);
	}
	spin_unlock(&kunwind_objects_lock);
	kunwind_name_put(old);
}

void kunwind_object_show_dropped(struct seq_file *m)
{
	seq_printf(m, "stat\tdropped\t%llu\n", atomic64_read(&nr_dropped));
}
