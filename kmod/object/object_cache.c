// SPDX-License-Identifier: GPL-2.0-only
/*
 * object_cache.c - the known objects: find them, keep unused ones, free them
 *
 * A hash table finds an object by its key, that is, by the state of a file. It
 * has at most one object for each key. When a file gets another state, the
 * objects of its former states are the first to be freed.
 *
 * Objects without users (idle) are kept for the next process. They are freed if
 * memory is short (shrinker), if max_objects or a user's share is reached, and
 * if more than IDLE_MAX are idle: first those whose file has gone, then the
 * least recently used. At most IDLE_MAX / USER_PART idle objects are charged to
 * one user without CAP_SYS_ADMIN, so files that one user maps for a short time
 * do not displace the tables of others.
 *
 * Bounds: max_objects objects in the hash, which is some 32 MB by default
 * besides the tables. Each user without CAP_SYS_ADMIN is charged for at most a
 * quarter of max_objects. This quarter also bounds the objects that are not in
 * the hash: those of JITs, and those that were removed while ranges refer to
 * them. If nobody is charged for these, only max_ranges bounds the objects of
 * each process.
 *
 * A build that failed for lack of memory or time, or because the file could not
 * be read, is repeated if the file is mapped RETRY after its end or later. A
 * build that exceeded a user's share is repeated as soon as another user maps
 * the file; one that exceeded any limit of users, as soon as a process with
 * CAP_SYS_ADMIN does.
 *
 * Lock: kunwind_objects_lock (docs/locking.md). It is held for a few lookups at
 * a time; memory is allocated and freed outside. So a task that is throttled or
 * waits for memory does not stop the exec of all others.
 *
 * Callers: tasks that read mappings, JIT calls, builders, the reaper (reap.c),
 * the status, and memory reclaim (the shrinker). All run in task context.
 */
#include <linux/jhash.h>
#include <linux/memcontrol.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../compat/shrinker.h"
#include "filesystem.h"
#include "../base/memory_limit.h"
#include "../base/param.h"
#include "../base/show.h"
#include "name.h"
#include "object_cache.h"
#include "source.h"

#define BUCKETS		1024
#define IDLE_MAX	1024
#define RETRY		(5 * HZ)	/* from the end of a build that failed */
#define USER_PART	4		/* of max_objects and of IDLE_MAX, for one user */
#define BATCH		32		/* most objects that are freed before the lock is dropped */

static unsigned int max_objects = 16384;
KUNWIND_PARAM_UINT(max_objects, max_objects);
MODULE_PARM_DESC(max_objects, "most ELF objects that are known at a time (default 16384)");

static struct hlist_head objects[BUCKETS];
static LIST_HEAD(idle);			/* in the order in which they are to be freed */
/* These three are also read without the lock. */
static unsigned int nr_idle;
static u64 idle_bytes;
static unsigned int nr_objects;
static u32 seed;
DEFINE_SPINLOCK(kunwind_objects_lock);

struct kunwind_object kunwind_object_cache_overflow = {
	.users = REFCOUNT_INIT(1),
	.state = KUNWIND_OBJECT_FAILED,
	.build_error = KUNWIND_E_LIMIT,
};

static atomic64_t table_bytes, table_rows;
static struct shrinker *shrinker;

static struct hlist_head *bucket(const struct kunwind_object_key *key)
{
	BUILD_BUG_ON(KUNWIND_KEY_FILE % sizeof(u32));
	return &objects[jhash2((const u32 *)key, KUNWIND_KEY_FILE / sizeof(u32), seed) % BUCKETS];
}

/* For objects of former states of a file, which may be many. */
static struct hlist_head *bucket_of_state(const struct kunwind_object_key *key)
{
	BUILD_BUG_ON(sizeof(*key) % sizeof(u32));
	return &objects[jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), seed) % BUCKETS];
}

void kunwind_object_cache_remove(struct kunwind_object *object)
{
	lockdep_assert_held(&kunwind_objects_lock);
	if (!hlist_unhashed(&object->node)) {
		hlist_del_init(&object->node);
		WRITE_ONCE(nr_objects, nr_objects - 1);
	}
}

/* Removes an object without users, uncharges it, and adds it to @dead. */
static void retire(struct kunwind_object *object, struct list_head *dead)
{
	lockdep_assert_held(&kunwind_objects_lock);
	kunwind_object_cache_remove(object);
	if (object->table) {
		atomic64_sub(object->stats.bytes, &table_bytes);
		atomic64_sub(object->stats.nr_rows, &table_rows);
		kunwind_memory_uncharge(object->quota, object->stats.bytes);
	}
	kunwind_quota_remove_object(object->quota);
	list_add(&object->idle, dead);
}

/*
 * No grace period is needed: walks find a table only through a published
 * snapshot, which gives up its objects after a grace period (snapshot.c). An
 * object without users is in no snapshot. See docs/lifetimes.md.
 */
void kunwind_object_cache_free(struct kunwind_object *object)
{
	WARN_ON_ONCE(refcount_read(&object->users) > 1 || !hlist_unhashed(&object->node) ||
		     !list_empty(&object->requests) || object->queued || object->building_parts);
	kunwind_source_detach(object);
	if (object->table)
		kunwind_table_free(object->table);
	mem_cgroup_put(object->memcg);
	kunwind_filesystem_put(object->key.dev);
	kunwind_quota_put(object->time_quota);
	kunwind_quota_put(object->quota);
	kunwind_name_put(object->name);
	kfree(object);
}

void kunwind_object_cache_free_dead(struct list_head *dead)
{
	struct kunwind_object *object, *next;

	list_for_each_entry_safe(object, next, dead, idle)
		kunwind_object_cache_free(object);
	INIT_LIST_HEAD(dead);
}

/* ---------------------------------------------------------- without users */

static void idle_add(struct kunwind_object *object)
{
	struct kunwind_idle *own = kunwind_quota_idle(object->quota);

	lockdep_assert_held(&kunwind_objects_lock);
	if (READ_ONCE(object->gone)) {
		list_add(&object->idle, &idle);
		list_add(&object->quota_idle, &own->objects);
	} else {
		list_add_tail(&object->idle, &idle);
		list_add_tail(&object->quota_idle, &own->objects);
	}
	own->nr++;
	WRITE_ONCE(nr_idle, nr_idle + 1);
	WRITE_ONCE(idle_bytes, idle_bytes + object->stats.bytes);
}

static void idle_remove(struct kunwind_object *object)
{
	lockdep_assert_held(&kunwind_objects_lock);
	list_del(&object->idle);
	list_del(&object->quota_idle);
	kunwind_quota_idle(object->quota)->nr--;
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
	lockdep_assert_held(&kunwind_objects_lock);
	return list_first_entry_or_null(&idle, struct kunwind_object, idle);
}

static struct kunwind_object *first_idle_of(struct kunwind_quota *quota)
{
	lockdep_assert_held(&kunwind_objects_lock);
	return list_first_entry_or_null(&kunwind_quota_idle(quota)->objects,
					struct kunwind_object, quota_idle);
}

/* Returns whether another build of the same file may succeed. */
static bool transient(const struct kunwind_object *object)
{
	u32 state = kunwind_object_state(object);

	return state == KUNWIND_OBJECT_FAILED ||
	       (state == KUNWIND_OBJECT_REFUSED && READ_ONCE(object->build_error) == KUNWIND_E_LIMIT);
}

bool kunwind_object_cache_stale(const struct kunwind_object *object,
				const struct kunwind_quota *quota)
{
	if (object == &kunwind_object_cache_overflow)
		return true;
	return transient(object) && (time_after(jiffies, READ_ONCE(object->done_at) + RETRY) ||
				     (object->over_share && object->quota != quota) ||
				     (object->over_users && !quota));
}

void kunwind_object_cache_last_put(struct kunwind_object *object, struct list_head *dead)
{
	lockdep_assert_held(&kunwind_objects_lock);
	if (hlist_unhashed(&object->node) || transient(object)) {
		retire(object, dead);
	} else {
		idle_add(object);
		if (object->quota &&
		    kunwind_quota_idle(object->quota)->nr > IDLE_MAX / USER_PART)
			evict(first_idle_of(object->quota), dead);
		else if (nr_idle > IDLE_MAX)
			evict(first_idle(), dead);
	}
}

/*
 * Returns the idle object to free after a charge failed with @err; -EDQUOT: one
 * of the user of @quota.
 */
static struct kunwind_object *victim(int err, struct kunwind_quota *quota)
{
	return err == -EDQUOT ? first_idle_of(quota) : first_idle();
}

/* Called by kunwind_memory_make_room(). */
static int make_room(struct kunwind_quota *quota, size_t bytes)
{
	struct kunwind_object *object;
	unsigned int nr;
	LIST_HEAD(dead);
	int err;

	do {
		spin_lock(&kunwind_objects_lock);
		for (nr = 0; nr < BATCH; nr++) {
			err = kunwind_memory_charge(quota, bytes);
			object = err ? victim(err, quota) : NULL;
			if (!object)
				break;
			evict(object, &dead);
		}
		spin_unlock(&kunwind_objects_lock);
		kunwind_object_cache_free_dead(&dead);
	} while (nr == BATCH);
	return err;
}

/* -------------------------------------------------------------- shrinker */

/* In pages, and one for each object, so that those without table go, too. */
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

	spin_lock(&kunwind_objects_lock);
	for (nr = 0; nr < BATCH && freed < sc->nr_to_scan && (object = first_idle()); nr++) {
		freed += 1 + (object->stats.bytes >> PAGE_SHIFT);
		evict(object, &dead);
	}
	spin_unlock(&kunwind_objects_lock);
	kunwind_object_cache_free_dead(&dead);
	return freed ? freed : SHRINK_STOP;
}

/* ---------------------------------------------------------------- lookup */

/*
 * Frees objects of the file's other states if they are idle; marks the others
 * as gone, and moves them out of the bucket in which lookups search.
 */
static void supersede(const struct kunwind_object_key *key, struct list_head *dead)
{
	struct kunwind_object *object;
	struct hlist_node *next;

	lockdep_assert_held(&kunwind_objects_lock);
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

struct kunwind_object *kunwind_object_cache_find(const struct kunwind_object_key *key,
						 const struct kunwind_quota *quota,
						 struct list_head *dead)
{
	struct kunwind_object *object;

	lockdep_assert_held(&kunwind_objects_lock);
	hlist_for_each_entry(object, bucket(key), node) {
		if (memcmp(&object->key, key, sizeof(*key)))
			continue;
		if (kunwind_object_cache_stale(object, quota)) {
			/* Its users keep it; later users get a new object. */
			if (refcount_read(&object->users))
				kunwind_object_cache_remove(object);
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

bool kunwind_object_cache_insert(struct kunwind_object *object, struct list_head *dead)
{
	const unsigned int limit = READ_ONCE(max_objects);
	struct kunwind_object *old;

	lockdep_assert_held(&kunwind_objects_lock);
	supersede(&object->key, dead);
	while (nr_objects >= kunwind_quota_part(object->quota, limit)) {
		old = first_idle();
		if (!old)
			return false;
		evict(old, dead);
	}
	while (!kunwind_quota_add_object(object->quota, limit / USER_PART)) {
		old = victim(-EDQUOT, object->quota);
		if (!old)
			return false;
		evict(old, dead);
	}
	hlist_add_head(&object->node, bucket(&object->key));
	WRITE_ONCE(nr_objects, nr_objects + 1);
	return true;
}

bool kunwind_object_cache_charge(struct kunwind_quota *quota)
{
	return kunwind_quota_add_object(quota, READ_ONCE(max_objects) / USER_PART);
}

/* ---------------------------------------------------------------- status */

void kunwind_object_cache_built(struct kunwind_object *object)
{
	atomic64_add(object->stats.bytes, &table_bytes);
	atomic64_add(object->stats.nr_rows, &table_rows);
}

void kunwind_object_cache_added(const struct kunwind_table_stats *stats)
{
	atomic64_add(stats->bytes, &table_bytes);
	atomic64_add(stats->nr_rows, &table_rows);
}

void kunwind_object_cache_stats(struct kunwind_stats *stats)
{
	stats->objects += READ_ONCE(nr_objects);
	stats->table_bytes += atomic64_read(&table_bytes);
	stats->table_rows += atomic64_read(&table_rows);
}

void kunwind_object_cache_show(struct seq_file *m)
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

	seq_printf(m, "stat\tidle_objects\t%u\n", READ_ONCE(nr_idle));
	seq_printf(m, "stat\tidle_bytes\t%llu\n", READ_ONCE(idle_bytes));
	for (i = 0; i < BUCKETS; i++) {
		if (kunwind_show_ends(m))
			return;
		spin_lock(&kunwind_objects_lock);
		hlist_for_each_entry(object, &objects[i], node) {
			u32 state = kunwind_object_state(object);
			bool done = state != KUNWIND_OBJECT_PENDING;
			const char *path = kunwind_object_path(object, object->name);
			struct kunwind_table_stats stats = { };

			/*
			 * part_builder.c may write stats. They are only shown.
			 */
			if (done)
				stats = data_race(object->stats);

			seq_printf(m, "object\t%s\t%s\t%u\t%llu\t%u\t", states[state],
				   done ? kunwind_build_error_name(READ_ONCE(object->build_error)) : "-",
				   stats.nr_rows, stats.bytes,
				   refcount_read(&object->users) - READ_ONCE(object->building_parts));
			kunwind_name_show(m, path);
			if (stats.nr_parts) {
				seq_printf(m, "\nparts\t%u\t%u\t", stats.parts_built,
					   stats.nr_parts);
				kunwind_name_show(m, path);
			}
			seq_putc(m, '\n');
		}
		spin_unlock(&kunwind_objects_lock);
	}
}

void kunwind_object_cache_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_objects\t%u\n", READ_ONCE(max_objects));
}

int kunwind_object_cache_init(void)
{
	seed = get_random_u32();
	kunwind_quota_init();
	kunwind_filesystems_init();
	kunwind_memory_set_reclaim(make_room);
	shrinker = kunwind_shrinker_register("kunwind", shrink_count, shrink_scan);
	return shrinker ? 0 : -ENOMEM;
}

void kunwind_object_cache_exit(void)
{
	LIST_HEAD(dead);

	kunwind_shrinker_unregister(shrinker);
	spin_lock(&kunwind_objects_lock);
	while (nr_idle)
		evict(first_idle(), &dead);
	spin_unlock(&kunwind_objects_lock);
	kunwind_object_cache_free_dead(&dead);
	WARN_ON_ONCE(nr_objects || atomic64_read(&table_bytes) || atomic64_read(&table_rows));
	kunwind_quota_exit();
}
