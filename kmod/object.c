// SPDX-License-Identifier: GPL-2.0-only
/*
 * object.c - ELF objects and their tables, one for each state of a file
 *
 * An object is found by what the kernel says of its file: device, inode number
 * and generation, and where these may mean two files, the file's handle; then
 * size and change time. Never by path or build-id, which others can choose. The
 * first process that maps a file has the table built (builder.c), all others share
 * it. The file is held only while it is read, so neither mount nor inode is
 * pinned by a table. A device number may come back for another file system: the
 * epoch of the number (filesystem.c) keeps those apart.
 *
 * Objects without users are kept for the next process. They are freed when
 * memory is short (a shrinker), when the limit or a user's share is reached, and
 * beyond IDLE_MAX: first those whose file has gone, then the least recently
 * used. Of a user without CAP_SYS_ADMIN at most a share of IDLE_MAX is kept: files
 * that one user maps in passing do not displace others' tables.
 *
 * What failed for want of memory or time is tried again after RETRY; what did not
 * fit one user's share, at once for another's.
 *
 * An object that no process uses any more is dropped when its turn to be built
 * comes. If the build has begun, it ends early when the file has gone or when the
 * user who is charged for the time is over the budget.
 *
 * An object that waits to be built waits in the queues of all users whose processes
 * map the file (lanes.c), and is charged to the user whose queue gets to it first. A
 * build that has begun is charged to another if its user is over the budget and a
 * user within it, or CAP_SYS_ADMIN, maps the file.
 *
 * Locks: objects_lock, a spinlock inside mmap_lock; inside it the builder's
 * lanes_lock and payers_lock. It is held for a few lookups at a time: memory is
 * allocated and freed outside. So a task that is throttled or waits for memory
 * does not stop the exec of all others.
 *
 * Each process has its own names of files (name.c). An object keeps one of them,
 * for the status: that of a process with CAP_SYS_ADMIN, if one maps the file, and
 * else that of the user who is charged for the object, once that user maps it.
 *
 * Memory: about 600 bytes an object besides its table and its name.
 */
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <asm/vdso.h>

#include "builder.h"
#include "compat/shrinker.h"
#include "filesystem.h"
#include "job.h"
#include "lanes.h"
#include "memory.h"
#include "name.h"
#include "object.h"
#include "snapshot.h"
#include "status.h"

#define BUCKETS		1024
#define IDLE_MAX	1024
#define RETRY		(5 * HZ)
#define USER_PART	4		/* of max_objects and of IDLE_MAX, for one user */
#define BATCH		32		/* objects given up while the lock is held once */

static unsigned int max_objects = 16384;
module_param(max_objects, uint, 0644);
MODULE_PARM_DESC(max_objects, "most ELF objects that are known at a time (default 16384)");

static struct hlist_head objects[BUCKETS];
static LIST_HEAD(idle);			/* to be freed first: first */
/* These three are also read without the lock. */
static unsigned int nr_idle;
static u64 idle_bytes;
static unsigned int nr_objects;
static u32 seed;
/* All of the above; users from and to 0; time_payer. */
static DEFINE_SPINLOCK(objects_lock);

/* Stands for every object beyond the limit, or without memory. Always stale. */
static struct kunwind_object overflow = {
	.users = REFCOUNT_INIT(1),
	.state = KUNWIND_OBJECT_FAILED,
	.refusal = KUNWIND_E_LIMIT,
};

struct kunwind_object kunwind_object_anonymous = {
	.users = REFCOUNT_INIT(1),
	.state = KUNWIND_OBJECT_NO_CFI,
	.refusal = KUNWIND_E_NO_CFI,
};

static atomic64_t table_bytes, table_rows;
static atomic64_t nr_dropped;		/* never built, or not to the end: nobody wanted them */
static struct shrinker *shrinker;

static struct hlist_head *bucket(const struct kunwind_object_key *key)
{
	BUILD_BUG_ON(KUNWIND_KEY_FILE % sizeof(u32));
	return &objects[jhash2((const u32 *)key, KUNWIND_KEY_FILE / sizeof(u32), seed) % BUCKETS];
}

/* For former states of a file, which may be many. */
static struct hlist_head *bucket_of_state(const struct kunwind_object_key *key)
{
	BUILD_BUG_ON(sizeof(*key) % sizeof(u32));
	return &objects[jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), seed) % BUCKETS];
}

/* Nothing finds the object any more. */
static void remove(struct kunwind_object *object)
{
	lockdep_assert_held(&objects_lock);
	if (!hlist_unhashed(&object->node)) {
		hlist_del_init(&object->node);
		WRITE_ONCE(nr_objects, nr_objects - 1);
	}
}

/* The object is over: what was charged for it is given back, and it is put on @dead. */
static void retire(struct kunwind_object *object, struct list_head *dead)
{
	lockdep_assert_held(&objects_lock);
	remove(object);
	if (object->table) {
		atomic64_sub(object->stats.bytes, &table_bytes);
		atomic64_sub(object->stats.nr_rows, &table_rows);
		kunwind_memory_uncharge(object->payer, object->stats.bytes);
	}
	kunwind_payer_remove_object(object->payer);
	list_add(&object->idle, dead);
}

/* Frees an object that was not charged, or is not any more. */
static void object_free(struct kunwind_object *object)
{
	kunwind_builder_detach(object);
	if (object->table)
		kunwind_table_free(object->table);
	kunwind_filesystem_put(object->key.dev);
	kunwind_payer_put(object->time_payer);
	kunwind_payer_put(object->payer);
	kunwind_name_put(object->name);
	kfree(object);
}

/* Without the lock. */
static void free_dead(struct list_head *dead)
{
	struct kunwind_object *object, *next;

	list_for_each_entry_safe(object, next, dead, idle)
		object_free(object);
	INIT_LIST_HEAD(dead);
}

static void idle_add(struct kunwind_object *object)
{
	struct kunwind_idle *own = kunwind_payer_idle(object->payer);

	lockdep_assert_held(&objects_lock);
	if (READ_ONCE(object->gone)) {
		list_add(&object->idle, &idle);
		list_add(&object->payer_idle, &own->objects);
	} else {
		list_add_tail(&object->idle, &idle);
		list_add_tail(&object->payer_idle, &own->objects);
	}
	own->nr++;
	WRITE_ONCE(nr_idle, nr_idle + 1);
	WRITE_ONCE(idle_bytes, idle_bytes + object->stats.bytes);
}

static void idle_remove(struct kunwind_object *object)
{
	lockdep_assert_held(&objects_lock);
	list_del(&object->idle);
	list_del(&object->payer_idle);
	kunwind_payer_idle(object->payer)->nr--;
	WRITE_ONCE(nr_idle, nr_idle - 1);
	WRITE_ONCE(idle_bytes, idle_bytes - object->stats.bytes);
}

static void evict(struct kunwind_object *object, struct list_head *dead)
{
	idle_remove(object);
	retire(object, dead);
}

static struct kunwind_object *first_idle(void)
{
	lockdep_assert_held(&objects_lock);
	return list_first_entry_or_null(&idle, struct kunwind_object, idle);
}

static struct kunwind_object *first_idle_of(struct kunwind_payer *payer)
{
	lockdep_assert_held(&objects_lock);
	return list_first_entry_or_null(&kunwind_payer_idle(payer)->objects,
					struct kunwind_object, payer_idle);
}

static bool transient(const struct kunwind_object *object)
{
	u32 state = kunwind_object_state(object);

	return state == KUNWIND_OBJECT_FAILED ||
	       (state == KUNWIND_OBJECT_REFUSED && READ_ONCE(object->refusal) == KUNWIND_E_LIMIT);
}

bool kunwind_object_stale(const struct kunwind_object *object, const struct kunwind_payer *payer)
{
	if (object == &overflow)
		return true;
	return transient(object) && (time_after(jiffies, READ_ONCE(object->done_at) + RETRY) ||
				     (object->over_share && object->payer != payer));
}

static void last_put(struct kunwind_object *object, struct list_head *dead)
{
	lockdep_assert_held(&objects_lock);
	if (hlist_unhashed(&object->node) || transient(object)) {
		retire(object, dead);
	} else {
		idle_add(object);
		if (object->payer &&
		    kunwind_payer_idle(object->payer)->nr > IDLE_MAX / USER_PART)
			evict(first_idle_of(object->payer), dead);
		else if (nr_idle > IDLE_MAX)
			evict(first_idle(), dead);
	}
}

void kunwind_object_put(struct kunwind_object *object)
{
	LIST_HEAD(dead);

	/* The overflow's never ends. */
	if (!refcount_dec_and_lock(&object->users, &objects_lock))
		return;
	last_put(object, &dead);
	spin_unlock(&objects_lock);
	free_dead(&dead);
}

bool kunwind_object_unwanted(struct kunwind_object *object)
{
	bool unwanted = false;

	if (refcount_read(&object->users) > 1)
		return false;
	spin_lock(&objects_lock);
	if (refcount_read(&object->users) == 1 &&
	    (READ_ONCE(object->gone) || kunwind_payer_over_budget(object->time_payer))) {
		/* Who maps the file from now on gets another object. */
		remove(object);
		unwanted = true;
	}
	spin_unlock(&objects_lock);
	return unwanted;
}

struct kunwind_payer *kunwind_object_time_payer(struct kunwind_object *object)
{
	struct kunwind_payer *payer;

	spin_lock(&objects_lock);
	payer = kunwind_payer_get(object->time_payer);
	spin_unlock(&objects_lock);
	return payer;
}

enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object)
{
	/* The second stage of a build may write it once more (fill.c). */
	switch (READ_ONCE(object->refusal)) {
	case KUNWIND_E_LIMIT:
	case KUNWIND_E_NOMEM:
		return KUNWIND_MEMORY_LIMIT;
	default:
		return KUNWIND_NO_TABLE;
	}
}

/* The idle object to give up so that @payer's next charge may not fail as it did. */
static struct kunwind_object *victim(int err, struct kunwind_payer *payer)
{
	return err == -EDQUOT ? first_idle_of(payer) : first_idle();
}

int kunwind_object_make_room(struct kunwind_payer *payer, size_t bytes)
{
	struct kunwind_object *object;
	unsigned int nr;
	LIST_HEAD(dead);
	int err;

	err = kunwind_memory_charge(payer, bytes);
	if (!err)
		return 0;
	do {
		spin_lock(&objects_lock);
		for (nr = 0; nr < BATCH; nr++) {
			err = kunwind_memory_charge(payer, bytes);
			object = err ? victim(err, payer) : NULL;
			if (!object)
				break;
			evict(object, &dead);
		}
		spin_unlock(&objects_lock);
		free_dead(&dead);
	} while (nr == BATCH);
	return err;
}

void kunwind_object_built(struct kunwind_object *object)
{
	atomic64_add(object->stats.bytes, &table_bytes);
	atomic64_add(object->stats.nr_rows, &table_rows);
}

/* -------------------------------------------------------------- shrinker */

/* In pages; whoever has no table counts as one, so that it goes too. */
static unsigned long shrink_count(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long pages = READ_ONCE(nr_idle) + (READ_ONCE(idle_bytes) >> PAGE_SHIFT);

	return pages ? pages : SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long freed = 0;
	struct kunwind_object *object;
	unsigned int nr;
	LIST_HEAD(dead);

	spin_lock(&objects_lock);
	for (nr = 0; nr < BATCH && freed < sc->nr_to_scan && (object = first_idle()); nr++) {
		freed += 1 + (object->stats.bytes >> PAGE_SHIFT);
		evict(object, &dead);
	}
	spin_unlock(&objects_lock);
	free_dead(&dead);
	return freed ? freed : SHRINK_STOP;
}

/* ---------------------------------------------------------------- lookup */

/* Nobody comes for the same file's other states any more. */
static void supersede(const struct kunwind_object_key *key, struct list_head *dead)
{
	struct kunwind_object *object;
	struct hlist_node *next;

	lockdep_assert_held(&objects_lock);
	hlist_for_each_entry_safe(object, next, bucket(key), node) {
		if (memcmp(&object->key, key, KUNWIND_KEY_FILE) || !memcmp(&object->key, key, sizeof(*key)))
			continue;
		WRITE_ONCE(object->gone, true);
		if (!refcount_read(&object->users)) {
			evict(object, dead);
		} else {
			hlist_del(&object->node);
			hlist_add_head(&object->node, bucket_of_state(&object->key));
		}
	}
}

static struct kunwind_object *lookup(const struct kunwind_object_key *key,
				     const struct kunwind_payer *payer, struct list_head *dead)
{
	struct kunwind_object *object;

	lockdep_assert_held(&objects_lock);
	hlist_for_each_entry(object, bucket(key), node) {
		if (memcmp(&object->key, key, sizeof(*key)))
			continue;
		if (kunwind_object_stale(object, payer)) {
			/* Its users keep it; the next ones get another. */
			if (refcount_read(&object->users))
				remove(object);
			else
				evict(object, dead);
			return NULL;
		}
		if (refcount_read(&object->users)) {
			refcount_inc(&object->users);
		} else {
			idle_remove(object);
			refcount_set(&object->users, 1);
		}
		return object;
	}
	return NULL;
}

/* To be charged by the caller. NULL: no memory. */
static struct kunwind_object *object_alloc(const struct kunwind_object_key *key,
					   struct kunwind_payer *payer)
{
	struct kunwind_object *object = kzalloc(sizeof(*object), GFP_KERNEL | __GFP_NOWARN);

	if (!object || !kunwind_filesystem_get(key->dev, key->epoch)) {
		kfree(object);
		return NULL;
	}
	object->key = *key;
	object->state = KUNWIND_OBJECT_PENDING;
	object->payer = kunwind_payer_get(payer);
	object->time_payer = kunwind_payer_get(payer);
	refcount_set(&object->users, 1);
	init_completion(&object->done);
	init_completion(&object->filled);
	INIT_LIST_HEAD(&object->places);
	return object;
}

/* What get() needs to have built what it does not find. May sleep. */
static struct kunwind_object *prepare(const struct kunwind_object_key *key,
				      struct kunwind_payer *payer, struct file *file,
				      const struct vdso_image *vdso, struct kunwind_lane *lane)
{
	struct kunwind_object *object = object_alloc(key, payer);

	if (!object)
		return NULL;
	object->vdso = vdso;
	if (!kunwind_builder_attach(object, file, kunwind_lane_is_remote(lane))) {
		object_free(object);
		return NULL;
	}
	return object;
}

/* Makes @object known, and has it built. False: there is no room for it. */
static bool insert(struct kunwind_object *object, struct kunwind_lane *lane,
		   struct kunwind_place *place, struct list_head *dead)
{
	unsigned int limit = READ_ONCE(max_objects);
	struct kunwind_object *old;

	lockdep_assert_held(&objects_lock);
	supersede(&object->key, dead);
	while (nr_objects >= limit) {
		old = first_idle();
		if (!old)
			return false;
		evict(old, dead);
	}
	while (!kunwind_payer_add_object(object->payer, limit / USER_PART)) {
		old = victim(-EDQUOT, object->payer);
		if (!old)
			return false;
		evict(old, dead);
	}
	hlist_add_head(&object->node, bucket(&object->key));
	WRITE_ONCE(nr_objects, nr_objects + 1);
	kunwind_object_get(object);	/* the builder's */
	kunwind_lane_queue(object, lane, place);
	return true;
}

/* Whether @object waits for others while @payer could have it built, or pay for that. */
static bool wants_payer(struct kunwind_object *object, struct kunwind_payer *payer)
{
	lockdep_assert_held(&objects_lock);
	if (kunwind_object_state(object) != KUNWIND_OBJECT_PENDING && !READ_ONCE(object->filling))
		return false;
	if (kunwind_lane_queued(object))
		return !kunwind_lane_queued_for(object, payer);
	if (!object->time_payer || object->time_payer == payer)
		return false;
	return !payer || (kunwind_payer_over_budget(object->time_payer) &&
			  !kunwind_payer_over_budget(payer));
}

/* The work on @object is @payer's from now on. */
static void set_time_payer(struct kunwind_object *object, struct kunwind_payer *payer)
{
	lockdep_assert_held(&objects_lock);
	kunwind_payer_put(object->time_payer);
	object->time_payer = kunwind_payer_get(payer);
}

/* So is its table, which is not built yet, if there is room for it in @payer's share. */
static void set_payer(struct kunwind_object *object, struct kunwind_payer *payer)
{
	set_time_payer(object, payer);
	if (object->payer == payer ||
	    !kunwind_payer_add_object(payer, READ_ONCE(max_objects) / USER_PART))
		return;
	kunwind_payer_remove_object(object->payer);
	kunwind_payer_put(object->payer);
	object->payer = kunwind_payer_get(payer);
}

struct kunwind_object *kunwind_object_next(struct kunwind_lane *lane, struct kunwind_payer *payer,
					   bool *wanted)
{
	struct kunwind_object *object;

	spin_lock(&objects_lock);
	object = kunwind_lane_next(lane);
	*wanted = object && refcount_read(&object->users) > 1;
	if (*wanted) {
		set_payer(object, payer);
	} else if (object) {
		remove(object);
		atomic64_inc(&nr_dropped);
	}
	spin_unlock(&objects_lock);
	return object;
}

void kunwind_object_offer(struct kunwind_object *object, struct kunwind_payer *payer,
			  struct file *file)
{
	struct kunwind_place *place;
	struct kunwind_lane *lane;
	bool useful;

	if (kunwind_object_state(object) != KUNWIND_OBJECT_PENDING && !READ_ONCE(object->filling))
		return;
	spin_lock(&objects_lock);
	useful = wants_payer(object, payer);
	spin_unlock(&objects_lock);
	if (!useful)
		return;
	place = kunwind_place_alloc();
	lane = kunwind_lane_get(file, payer);
	spin_lock(&objects_lock);
	if (!wants_payer(object, payer)) {
		;
	} else if (!kunwind_lane_queued(object)) {
		set_time_payer(object, payer);
	} else if (lane && place) {
		kunwind_lane_queue(object, lane, place);
		place = NULL;
	}
	spin_unlock(&objects_lock);
	kfree(place);
	if (lane)
		kunwind_lane_put(lane);
	kunwind_jobs_wake();
}

/* A new object, or one that another made meanwhile. Never NULL. */
static struct kunwind_object *make(const struct kunwind_object_key *key,
				   struct kunwind_payer *payer, struct file *file,
				   const struct vdso_image *vdso)
{
	struct kunwind_lane *lane = kunwind_lane_get(file, payer);
	struct kunwind_object *object, *made = NULL;
	struct kunwind_place *place = kunwind_place_alloc();
	LIST_HEAD(dead);

	if (lane && place)
		made = prepare(key, payer, file, vdso, lane);
	spin_lock(&objects_lock);
	object = lookup(key, payer, &dead);
	if (!object && made && insert(made, lane, place, &dead)) {
		object = made;
		made = NULL;
		place = NULL;
	}
	if (!object)
		object = kunwind_object_get(&overflow);
	else if (file)
		WRITE_ONCE(object->gone, !file_inode(file)->i_nlink);
	spin_unlock(&objects_lock);
	free_dead(&dead);
	if (made)
		object_free(made);
	kfree(place);
	if (lane)
		kunwind_lane_put(lane);
	if (object == &overflow)
		kunwind_memory_refused();
	return object;
}

static struct kunwind_object *get(const struct kunwind_object_key *key,
				  struct kunwind_payer *payer, struct file *file,
				  const struct vdso_image *vdso)
{
	struct kunwind_object *object;
	LIST_HEAD(dead);

	spin_lock(&objects_lock);
	object = lookup(key, payer, &dead);
	if (object && file)
		WRITE_ONCE(object->gone, !file_inode(file)->i_nlink);
	spin_unlock(&objects_lock);
	free_dead(&dead);
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

	/* Those without a payer are bounded by their lists of mappings. */
	if (!kunwind_payer_add_object(payer, READ_ONCE(max_objects) / USER_PART))
		return ERR_PTR(-ENOSPC);
	object = object_alloc(&key, payer);
	if (!object) {
		kunwind_payer_remove_object(payer);
		return ERR_PTR(-ENOMEM);
	}
	object->jit = true;
	return object;
}

/* Whether @name is to be shown for @object. */
static bool names(const struct kunwind_name *name, const struct kunwind_object *object)
{
	lockdep_assert_held(&objects_lock);
	if (object == &overflow)
		return false;
	if (!name->payer)
		return !object->name || object->name->payer;
	/* The one that is there may be of a user whose queue was not the first (lanes.c). */
	return object->payer == name->payer &&
	       (!object->name || (object->name->payer && object->name->payer != name->payer));
}

void kunwind_object_set_name(struct kunwind_object *object, struct kunwind_name *name)
{
	struct kunwind_name *old = NULL;

	spin_lock(&objects_lock);
	if (names(name, object)) {
		old = object->name;
		object->name = kunwind_name_get(name);
	}
	spin_unlock(&objects_lock);
	kunwind_name_put(old);
}

const char *kunwind_object_path(const struct kunwind_object *object,
				const struct kunwind_name *name)
{
	if (name)
		return name->path;
	return object->vdso ? "[vdso]" : "?";
}

void kunwind_object_stats(struct kunwind_stats *stats)
{
	u64 builds, refused;

	kunwind_builder_counts(&builds, &refused);
	stats->objects += READ_ONCE(nr_objects);
	stats->table_bytes += atomic64_read(&table_bytes);
	stats->table_rows += atomic64_read(&table_rows);
	stats->table_builds += builds;
	stats->table_refused += refused;
}

void kunwind_object_show(struct seq_file *m)
{
	static const char *const states[] = {
		[KUNWIND_OBJECT_PENDING] = "pending",
		[KUNWIND_OBJECT_READY] = "ready",
		[KUNWIND_OBJECT_NO_CFI] = "no_cfi",
		[KUNWIND_OBJECT_REFUSED] = "refused",
		[KUNWIND_OBJECT_FAILED] = "failed",
	};
	const struct kunwind_object *object;
	unsigned int i;

	seq_printf(m, "stat\tdropped\t%llu\n", atomic64_read(&nr_dropped));
	seq_printf(m, "stat\tmap_bytes\t%llu\n", kunwind_snapshot_bytes());
	kunwind_memory_show(m);
	seq_printf(m, "stat\tidle_objects\t%u\n", READ_ONCE(nr_idle));
	seq_printf(m, "stat\tidle_bytes\t%llu\n", READ_ONCE(idle_bytes));
	for (i = 0; i < BUCKETS; i++) {
		if (kunwind_status_ends(m))
			return;
		spin_lock(&objects_lock);
		hlist_for_each_entry(object, &objects[i], node) {
			u32 state = kunwind_object_state(object);
			bool done = state != KUNWIND_OBJECT_PENDING;
			const char *path = kunwind_object_path(object, object->name);
			struct kunwind_table_stats stats = { };

			/* fill.c may be writing them: numbers to be shown, no more. */
			if (done)
				stats = data_race(object->stats);

			seq_printf(m, "object\t%s\t%s\t%u\t%llu\t%u\t", states[state],
				   done ? kunwind_refusal_name(READ_ONCE(object->refusal)) : "-",
				   stats.nr_rows, stats.bytes,
				   refcount_read(&object->users) - READ_ONCE(object->filling));
			seq_escape(m, path, "\t\n\\");
			if (stats.nr_parts) {
				seq_printf(m, "\nparts\t%u\t%u\t", stats.parts_built,
					   stats.nr_parts);
				seq_escape(m, path, "\t\n\\");
			}
			seq_putc(m, '\n');
		}
		spin_unlock(&objects_lock);
	}
}

void kunwind_object_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_objects\t%u\n", READ_ONCE(max_objects));
	kunwind_memory_show_params(m);
	kunwind_builder_show_params(m);
}

int kunwind_object_init(void)
{
	seed = get_random_u32();
	shrinker = kunwind_shrinker_register("kunwind", shrink_count, shrink_scan);
	return shrinker ? 0 : -ENOMEM;
}

void kunwind_object_exit(void)
{
	LIST_HEAD(dead);

	kunwind_shrinker_unregister(shrinker);
	spin_lock(&objects_lock);
	while (nr_idle)
		evict(first_idle(), &dead);
	spin_unlock(&objects_lock);
	free_dead(&dead);
	kunwind_payer_exit();
}
