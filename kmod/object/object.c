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
 * the file (build_queue.c). The user whose queue reaches it first is charged for it,
 * if that user's share has room for the table; otherwise the next of these
 * users. The build has the priority and the turns (job.c) of the user who is
 * served best: if the user who pays for the time is over the budget, or
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
 * it also protects users from and to 0, payer (which only the worker that
 * builds the object changes), time_payer, places and name.
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
	    (READ_ONCE(object->gone) || kunwind_payer_over_budget(object->time_payer))) {
		/* A process that maps the file later gets a new object. */
		kunwind_object_cache_remove(object);
		unwanted = true;
	}
	spin_unlock(&kunwind_objects_lock);
	return unwanted;
}

/* -------------------------------------------------------------- who pays */

static void set_time_payer(struct kunwind_object *object, struct kunwind_payer *payer)
{
	lockdep_assert_held(&kunwind_objects_lock);
	kunwind_payer_put(object->time_payer);
	object->time_payer = kunwind_payer_get(payer);
}

/* Charges @object to @payer. False: @payer has too many objects. */
static bool set_payer(struct kunwind_object *object, struct kunwind_payer *payer)
{
	lockdep_assert_held(&kunwind_objects_lock);
	if (object->payer == payer)
		return true;
	if (!kunwind_object_cache_charge(payer))
		return false;
	kunwind_payer_remove_object(object->payer);
	kunwind_payer_put(object->payer);
	/* Other code reads it without the lock, only to compare it. */
	WRITE_ONCE(object->payer, kunwind_payer_get(payer));
	return true;
}

static void choose_time_payer(struct kunwind_object *object)
{
	bool over = kunwind_payer_over_budget(object->time_payer);
	const struct kunwind_place *place;

	lockdep_assert_held(&kunwind_objects_lock);
	list_for_each_entry(place, &object->places, of_object) {
		if (!object->time_payer)
			return;
		if (!place->payer || (over && !kunwind_payer_over_budget(place->payer))) {
			set_time_payer(object, place->payer);
			over = false;
		}
	}
}

struct kunwind_payer *kunwind_object_time_payer(struct kunwind_object *object)
{
	struct kunwind_payer *payer;

	spin_lock(&kunwind_objects_lock);
	choose_time_payer(object);
	payer = kunwind_payer_get(object->time_payer);
	spin_unlock(&kunwind_objects_lock);
	return payer;
}

bool kunwind_object_take_turn(struct kunwind_object *object, enum kunwind_turn turn,
			      struct kunwind_payer **payer)
{
	const struct kunwind_place *place;
	bool taken;

	spin_lock(&kunwind_objects_lock);
	choose_time_payer(object);
	taken = kunwind_payer_take_turn(object->time_payer, turn);
	list_for_each_entry(place, &object->places, of_object) {
		if (taken || !object->time_payer)
			break;
		if (kunwind_payer_over_budget(place->payer))
			continue;
		taken = kunwind_payer_take_turn(place->payer, turn);
		if (taken)
			set_time_payer(object, place->payer);
	}
	*payer = taken ? kunwind_payer_get(object->time_payer) : NULL;
	spin_unlock(&kunwind_objects_lock);
	return taken;
}

bool kunwind_object_next_payer(struct kunwind_object *object)
{
	const struct kunwind_payer *full = object->payer;
	struct kunwind_place *place;
	bool found = false;

	spin_lock(&kunwind_objects_lock);
	list_for_each_entry(place, &object->places, of_object) {
		if (place->payer == full)
			place->full = true;
		if (!found && !place->full)
			found = set_payer(object, place->payer);
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

/* A pending object, not yet charged to @payer. NULL: no memory. May sleep. */
static struct kunwind_object *object_alloc(const struct kunwind_object_key *key,
					   struct kunwind_payer *payer)
{
	struct kunwind_object *object = kzalloc(sizeof(*object), GFP_KERNEL | __GFP_NOWARN);

	if (!object || !kunwind_filesystem_get(key->dev, key->epoch)) {
		kfree(object);
		return NULL;
	}
	object->key = *key;
	object->name_payer = ERR_PTR(-ENOENT);
	object->state = KUNWIND_OBJECT_PENDING;
	object->payer = kunwind_payer_get(payer);
	object->time_payer = kunwind_payer_get(payer);
	refcount_set(&object->users, 1);
	init_completion(&object->done);
	init_completion(&object->filled);
	INIT_LIST_HEAD(&object->places);
	return object;
}

/* An object, ready to be queued. NULL: no memory, or unloading. May sleep. */
static struct kunwind_object *prepare(const struct kunwind_object_key *key,
				      struct kunwind_payer *payer, struct file *file,
				      const struct vdso_image *vdso, struct kunwind_lane *lane)
{
	struct kunwind_object *object = object_alloc(key, payer);

	if (!object)
		return NULL;
	object->vdso = vdso;
	if (!kunwind_source_attach(object, file, kunwind_lane_is_remote(lane))) {
		kunwind_object_cache_free(object);
		return NULL;
	}
	return object;
}

/* Adds @object to the cache and queues it. False: there is no room for it. */
static bool insert(struct kunwind_object *object, struct kunwind_lane *lane,
		   struct kunwind_place *place, struct list_head *dead)
{
	if (!kunwind_object_cache_insert(object, dead))
		return false;
	kunwind_object_get(object);	/* for the build */
	list_add_tail(&place->of_object, &object->places);
	kunwind_lane_queue(object, lane, place);
	return true;
}

static bool being_built(const struct kunwind_object *object)
{
	return kunwind_object_state(object) == KUNWIND_OBJECT_PENDING ||
	       READ_ONCE(object->filling);
}

/* Whether the build is not over, and @payer is not among those who can pay. */
static bool wants_payer(const struct kunwind_object *object, const struct kunwind_payer *payer)
{
	const struct kunwind_place *place;

	lockdep_assert_held(&kunwind_objects_lock);
	if (!being_built(object))
		return false;
	list_for_each_entry(place, &object->places, of_object)
		if (place->payer == payer)
			return false;
	return true;
}

struct kunwind_object *kunwind_object_next(struct kunwind_lane *lane, struct kunwind_payer *payer,
					   bool *wanted)
{
	struct kunwind_object *object;

	spin_lock(&kunwind_objects_lock);
	object = kunwind_lane_next(lane);
	*wanted = object && refcount_read(&object->users) > 1;
	if (*wanted) {
		/* A user with too many objects pays for the time only. */
		set_payer(object, payer);
		set_time_payer(object, payer);
	} else if (object) {
		kunwind_object_cache_remove(object);
		free_places(object);
		atomic64_inc(&nr_dropped);
	}
	spin_unlock(&kunwind_objects_lock);
	return object;
}

void kunwind_object_offer(struct kunwind_object *object, struct kunwind_payer *payer,
			  struct file *file)
{
	struct kunwind_place *place;
	struct kunwind_lane *lane;
	bool useful;

	if (!being_built(object))
		return;
	spin_lock(&kunwind_objects_lock);
	useful = wants_payer(object, payer);
	spin_unlock(&kunwind_objects_lock);
	if (!useful)
		return;
	place = kunwind_place_alloc(payer);
	lane = kunwind_lane_get(file, payer);
	spin_lock(&kunwind_objects_lock);
	if (place && (lane || !object->queued) && wants_payer(object, payer)) {
		list_add_tail(&place->of_object, &object->places);
		if (object->queued)
			kunwind_lane_queue(object, lane, place);
		place = NULL;
	}
	spin_unlock(&kunwind_objects_lock);
	if (place)
		kunwind_place_free(place);
	if (lane)
		kunwind_lane_put(lane);
	kunwind_turns_wake();
}

/* A new object, or one that another task has made meanwhile. Never NULL. */
static struct kunwind_object *make(const struct kunwind_object_key *key,
				   struct kunwind_payer *payer, struct file *file,
				   const struct vdso_image *vdso)
{
	struct kunwind_lane *lane = kunwind_lane_get(file, payer);
	struct kunwind_object *object, *made = NULL;
	struct kunwind_place *place = kunwind_place_alloc(payer);
	LIST_HEAD(dead);

	if (lane && place)
		made = prepare(key, payer, file, vdso, lane);
	spin_lock(&kunwind_objects_lock);
	object = kunwind_object_cache_find(key, payer, &dead);
	if (!object && made && insert(made, lane, place, &dead)) {
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
	if (lane)
		kunwind_lane_put(lane);
	if (object == &kunwind_object_overflow)
		kunwind_memory_refused();
	return object;
}

static struct kunwind_object *get(const struct kunwind_object_key *key,
				  struct kunwind_payer *payer, struct file *file,
				  const struct vdso_image *vdso)
{
	struct kunwind_object *object;
	LIST_HEAD(dead);

	spin_lock(&kunwind_objects_lock);
	object = kunwind_object_cache_find(key, payer, &dead);
	if (object && file)
		WRITE_ONCE(object->gone, !file_inode(file)->i_nlink);
	spin_unlock(&kunwind_objects_lock);
	kunwind_object_cache_free_dead(&dead);
	if (!object)
		object = make(key, payer, file, vdso);
	kunwind_object_offer(object, payer, file);
	return object;
}

struct kunwind_object *kunwind_object_get_file(struct file *file, struct kunwind_payer *payer)
{
	struct kunwind_object_key key;

	kunwind_object_key_init(&key, file);
	return get(&key, payer, file, NULL);
}

struct kunwind_object *kunwind_object_get_vdso(const struct vdso_image *image)
{
	struct kunwind_object_key key = {
		.ino = (unsigned long)image,
		.size = image->size,
	};

	return get(&key, NULL, NULL, image);
}

struct kunwind_object *kunwind_object_new_jit(struct kunwind_payer *payer)
{
	const struct kunwind_object_key key = { };
	struct kunwind_object *object;

	/* Without a payer, max_ranges limits the objects of each process. */
	if (!kunwind_object_cache_charge(payer))
		return ERR_PTR(-ENOSPC);
	object = object_alloc(&key, payer);
	if (!object) {
		kunwind_payer_remove_object(payer);
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
	const struct kunwind_payer *shown = READ_ONCE(object->name_payer);

	/* NULL: CAP_SYS_ADMIN's name, which stays; or a static object. */
	if (!shown || shown == name->payer)
		return false;
	return !name->payer || READ_ONCE(object->payer) == name->payer;
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
		WRITE_ONCE(object->name_payer, name->payer);
	}
	spin_unlock(&kunwind_objects_lock);
	kunwind_name_put(old);
}

void kunwind_object_show_dropped(struct seq_file *m)
{
	seq_printf(m, "stat\tdropped\t%llu\n", atomic64_read(&nr_dropped));
}
