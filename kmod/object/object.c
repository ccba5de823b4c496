// SPDX-License-Identifier: GPL-2.0-only
/*
 * object.c - ELF objects and their tables, one for each state of a file
 *
 * An object is found by what the kernel knows of its file: device, inode number
 * and generation, and the file's handle where two files may have these in
 * common; then size and change time. It is never found by path or build-id,
 * because users can choose these. The first process that maps a file has the
 * table built (builder.c); all others share it. The worker closes the file
 * after the build (of a big table: after its first stage), so a table pins
 * neither mount nor inode. The kernel may give a device number to another file
 * system: the epoch of the number (filesystem.c) keeps the two apart.
 * object_cache.c keeps the objects, and decides how long.
 *
 * If no process uses an object any more when its turn to be built comes, it is
 * dropped. A build that has begun ends early if no process uses the object and
 * the file has gone or the user who pays for the time is over the budget.
 *
 * An object waits to be built in the queues of all users whose processes map
 * the file (build_queue.c). The user whose queue reaches it first is charged
 * for it, if that user's share has room for the table; otherwise the next of
 * these users. The build has the priority and the turns (job.c) of the user who
 * is served best: if the user who pays for the time is over the budget, or
 * compiles another table, another of these users pays from then on. If one of
 * them has CAP_SYS_ADMIN, nobody pays for the time.
 *
 * Each process has its own names of files (name.c). An object keeps one of them
 * for the status: that of a process with CAP_SYS_ADMIN, if one maps the file;
 * otherwise that of the user who is charged for the object, as soon as a
 * process of this user maps it.
 *
 * Process context; object.h says which functions may sleep.
 * Lock: kunwind_objects_lock (object_cache.h, docs/locking.md). In each object
 * it also protects users from and to 0, quota (which only the worker that
 * builds the object changes), time_quota, places and name.
 * Memory: about 1,800 bytes an object (2 KB from the allocator), besides its
 * table and its name. Most of these bytes are the segments in struct
 * kunwind_elf.
 */
#include <linux/err.h>
#include <linux/fs.h>
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

struct kunwind_object kunwind_object_anonymous = {
	.users = REFCOUNT_INIT(1),
	.state = KUNWIND_OBJECT_NO_CFI,
	.build_error = KUNWIND_E_NO_CFI,
};

static atomic64_t nr_dropped;		/* objects that no process used when their turn came */

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

/* -------------------------------------------------------------- who pays */

static void set_time_quota(struct kunwind_object *object, struct kunwind_quota *quota)
{
	lockdep_assert_held(&kunwind_objects_lock);
	kunwind_quota_put(object->time_quota);
	object->time_quota = kunwind_quota_get(quota);
}

/* Charges @object to @quota. False: @quota has too many objects. */
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
	const struct kunwind_place *place;

	lockdep_assert_held(&kunwind_objects_lock);
	list_for_each_entry(place, &object->places, of_object) {
		if (!object->time_quota)
			return;
		if (!place->quota || (over && !kunwind_quota_over_budget(place->quota))) {
			set_time_quota(object, place->quota);
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
	const struct kunwind_place *place;
	bool taken;

	spin_lock(&kunwind_objects_lock);
	choose_time_quota(object);
	taken = kunwind_quota_take_turn(object->time_quota, turn);
	list_for_each_entry(place, &object->places, of_object) {
		if (taken || !object->time_quota)
			break;
		if (kunwind_quota_over_budget(place->quota))
			continue;
		taken = kunwind_quota_take_turn(place->quota, turn);
		if (taken)
			set_time_quota(object, place->quota);
	}
	*quota = taken ? kunwind_quota_get(object->time_quota) : NULL;
	spin_unlock(&kunwind_objects_lock);
	return taken;
}

bool kunwind_object_next_quota(struct kunwind_object *object)
{
	const struct kunwind_quota *full = object->quota;
	struct kunwind_place *place;
	bool found = false;

	spin_lock(&kunwind_objects_lock);
	list_for_each_entry(place, &object->places, of_object) {
		if (place->quota == full)
			place->full = true;
		if (!found && !place->full)
			found = set_quota(object, place->quota);
	}
	spin_unlock(&kunwind_objects_lock);
	return found;
}

static void free_places(struct kunwind_object *object)
{
	struct kunwind_place *place, *next;

	lockdep_assert_held(&kunwind_objects_lock);
	list_for_each_entry_safe(place, next, &object->places, of_object)
		kunwind_place_free(place);
	INIT_LIST_HEAD(&object->places);
}

void kunwind_object_build_over(struct kunwind_object *object)
{
	spin_lock(&kunwind_objects_lock);
	free_places(object);
	spin_unlock(&kunwind_objects_lock);
}

enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object)
{
	/* The second stage of a build may change it (part_builder.c). */
	switch (READ_ONCE(object->build_error)) {
	case KUNWIND_E_LIMIT:
	case KUNWIND_E_NOMEM:
		return KUNWIND_MEMORY_LIMIT;
	default:
		return KUNWIND_NO_TABLE;
	}
}

/* A pending object, not yet charged to @quota. NULL: no memory. May sleep. */
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
	init_completion(&object->filled);
	INIT_LIST_HEAD(&object->places);
	return object;
}

/* An object, ready to be queued. NULL: no memory, or unloading. May sleep. */
static struct kunwind_object *prepare(const struct kunwind_object_key *key,
				      struct kunwind_quota *quota, struct file *file,
				      const struct vdso_image *vdso,
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
	return object;
}

/* Adds @object to the cache and queues it. False: there is no room for it. */
static bool insert(struct kunwind_object *object, struct kunwind_build_queue *queue,
		   struct kunwind_place *place, struct list_head *dead)
{
	if (!kunwind_object_cache_insert(object, dead))
		return false;
	kunwind_object_get(object);	/* for the build */
	list_add_tail(&place->of_object, &object->places);
	kunwind_build_queue_add(object, queue, place);
	return true;
}

static bool being_built(const struct kunwind_object *object)
{
	return kunwind_object_state(object) == KUNWIND_OBJECT_PENDING ||
	       READ_ONCE(object->filling);
}

/* Whether the build is not over, and @quota is not among those who can pay. */
static bool wants_quota(const struct kunwind_object *object, const struct kunwind_quota *quota)
{
	const struct kunwind_place *place;

	lockdep_assert_held(&kunwind_objects_lock);
	if (!being_built(object))
		return false;
	list_for_each_entry(place, &object->places, of_object)
		if (place->quota == quota)
			return false;
	return true;
}

struct kunwind_object *kunwind_object_next(struct kunwind_build_queue *queue,
					   struct kunwind_quota *quota, bool *wanted)
{
	struct kunwind_object *object;

	spin_lock(&kunwind_objects_lock);
	object = kunwind_build_queue_next(queue);
	*wanted = object && refcount_read(&object->users) > 1;
	if (*wanted) {
		/* A user with too many objects pays for the time only. */
		set_quota(object, quota);
		set_time_quota(object, quota);
	} else if (object) {
		kunwind_object_cache_remove(object);
		free_places(object);
		atomic64_inc(&nr_dropped);
	}
	spin_unlock(&kunwind_objects_lock);
	return object;
}

void kunwind_object_offer(struct kunwind_object *object, struct kunwind_quota *quota,
			  struct file *file)
{
	struct kunwind_place *place;
	struct kunwind_build_queue *queue;
	bool useful;

	if (!being_built(object))
		return;
	spin_lock(&kunwind_objects_lock);
	useful = wants_quota(object, quota);
	spin_unlock(&kunwind_objects_lock);
	if (!useful)
		return;
	place = kunwind_place_alloc(quota);
	queue = kunwind_build_queue_get(file, quota);
	spin_lock(&kunwind_objects_lock);
	if (place && (queue || !object->queued) && wants_quota(object, quota)) {
		list_add_tail(&place->of_object, &object->places);
		if (object->queued)
			kunwind_build_queue_add(object, queue, place);
		place = NULL;
	}
	spin_unlock(&kunwind_objects_lock);
	if (place)
		kunwind_place_free(place);
	if (queue)
		kunwind_build_queue_put(queue);
	kunwind_turns_wake();
}

/* A new object, or one that another task has made meanwhile. Never NULL. */
static struct kunwind_object *make(const struct kunwind_object_key *key,
				   struct kunwind_quota *quota, struct file *file,
				   const struct vdso_image *vdso)
{
	struct kunwind_build_queue *queue = kunwind_build_queue_get(file, quota);
	struct kunwind_object *object, *made = NULL;
	struct kunwind_place *place = kunwind_place_alloc(quota);
	LIST_HEAD(dead);

	if (queue && place)
		made = prepare(key, quota, file, vdso, queue);
	spin_lock(&kunwind_objects_lock);
	object = kunwind_object_cache_find(key, quota, &dead);
	if (!object && made && insert(made, queue, place, &dead)) {
		object = made;
		made = NULL;
		place = NULL;
	}
	if (!object)
		object = kunwind_object_get(&kunwind_object_overflow);
	else if (file)
		WRITE_ONCE(object->gone, !file_inode(file)->i_nlink);
	spin_unlock(&kunwind_objects_lock);
	kunwind_object_cache_free_dead(&dead);
	if (made)
		kunwind_object_cache_free(made);
	if (place)
		kunwind_place_free(place);
	if (queue)
		kunwind_build_queue_put(queue);
	if (object == &kunwind_object_overflow)
		kunwind_memory_refused();
	return object;
}

static struct kunwind_object *get(const struct kunwind_object_key *key,
				  struct kunwind_quota *quota, struct file *file,
				  const struct vdso_image *vdso)
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
		object = make(key, quota, file, vdso);
	kunwind_object_offer(object, quota, file);
	return object;
}

struct kunwind_object *kunwind_object_get_file(struct file *file, struct kunwind_quota *quota)
{
	struct kunwind_object_key key;

	kunwind_object_key_init(&key, file);
	return get(&key, quota, file, NULL);
}

struct kunwind_object *kunwind_object_get_vdso(const struct vdso_image *image)
{
	struct kunwind_object_key key = {
		.ino = (unsigned long)image,
		.size = image->size,
	};

	return get(&key, NULL, NULL, image);
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
 * Whether the status is to show @name for @object: no name or another user's is
 * shown, and @name is CAP_SYS_ADMIN's or of the user who is charged (who may
 * change). Without kunwind_objects_lock, the answer may be out of date.
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
