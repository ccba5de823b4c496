// SPDX-License-Identifier: GPL-2.0-only
/*
 * object.c - ELF objects and their tables, one for each state of a file
 *
 * An object is found by what the kernel says of its file: device, inode number
 * and generation, and where these may mean two files, the file's handle; then
 * size and change time. Never by path or build-id, which others can choose. The
 * first process that maps it has it built (builder.c), everyone else shares the
 * table. The file is held only while it is read, so neither mount nor inode is
 * pinned by a table. A device number may come back for another file system: the
 * epoch of the number (filesystem.c) keeps those apart.
 *
 * Objects without users are kept for the next process. They are freed when
 * memory is short (a shrinker), when the limit or a user's share is reached, and
 * beyond IDLE_MAX: first those whose file has gone, then the least recently
 * used. What failed for want of memory or time is tried again after RETRY; what
 * did not fit one user's share, at once for another's.
 *
 * Locks: objects_lock, inside mmap_lock; inside it the builder's lanes_lock.
 * Memory is asked for with it held, so the shrinker only tries to take it.
 *
 * Memory: about 600 bytes and its path an object besides its table.
 */
#include <linux/exportfs.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/kdev_t.h>
#include <linux/magic.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <asm/vdso.h>

#include "builder.h"
#include "compat/mm.h"
#include "compat/shrinker.h"
#include "filesystem.h"
#include "memory.h"
#include "object.h"
#include "snapshot.h"

#define BUCKETS		1024
#define IDLE_MAX	1024
#define RETRY		(5 * HZ)
#define USER_PART	4		/* of max_objects, for one user */

static unsigned int max_objects = 16384;
module_param(max_objects, uint, 0644);
MODULE_PARM_DESC(max_objects, "most ELF objects that are known at a time (default 16384)");

static struct hlist_head objects[BUCKETS];
static LIST_HEAD(idle);			/* to be freed first: first */
static unsigned int nr_idle;
static u64 idle_bytes;
static unsigned int nr_objects;
static DEFINE_MUTEX(objects_lock);	/* all of the above; users from and to 0 */

/* Stands for every object beyond the limit, or without memory. Always stale. */
static struct kunwind_object overflow = {
	.users = REFCOUNT_INIT(1),
	.path = "?",
	.state = KUNWIND_OBJECT_FAILED,
	.refusal = KUNWIND_E_LIMIT,
};

struct kunwind_object kunwind_object_anonymous = {
	.users = REFCOUNT_INIT(1),
	.path = "[anon]",
	.state = KUNWIND_OBJECT_NO_CFI,
	.refusal = KUNWIND_E_NO_CFI,
};

static atomic64_t table_bytes, table_rows;
static struct shrinker *shrinker;

/* States of one file share a bucket. */
static struct hlist_head *bucket(const struct kunwind_object_key *key)
{
	BUILD_BUG_ON(KUNWIND_KEY_FILE % sizeof(u32));
	return &objects[jhash2((const u32 *)key, KUNWIND_KEY_FILE / sizeof(u32), 0) % BUCKETS];
}

/* Subvolumes have the same inode numbers; snapshots the same generations and times besides. */
static bool repeats_numbers(const struct super_block *sb)
{
	return sb->s_magic == BTRFS_SUPER_MAGIC || sb->s_magic == KUNWIND_BCACHEFS_MAGIC;
}

void kunwind_object_key_init(struct kunwind_object_key *key, struct file *file)
{
	struct inode *inode = file_inode(file);
	const struct super_block *sb = inode->i_sb;
	struct timespec64 ctime = kunwind_inode_ctime(inode);
	int words = ARRAY_SIZE(key->handle);

	*key = (struct kunwind_object_key){
		.ino = inode->i_ino,
		.generation = inode->i_generation,
		.dev = new_encode_dev(sb->s_dev),
		.epoch = kunwind_filesystem_epoch(new_encode_dev(sb->s_dev)),
		.size = i_size_read(inode),
		.ctime_sec = ctime.tv_sec,
		.ctime_nsec = ctime.tv_nsec,
	};
	/* It names the subvolume; there is room for it, and it reads nothing. */
	if (repeats_numbers(sb) && sb->s_export_op && sb->s_export_op->encode_fh)
		sb->s_export_op->encode_fh(inode, key->handle, &words, NULL);
}

bool kunwind_object_of(const struct kunwind_object *object, const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return object->key.ino == inode->i_ino && object->key.generation == inode->i_generation &&
	       object->key.dev == new_encode_dev(inode->i_sb->s_dev);
}

/* Frees an object that nothing finds any more. */
static void destroy(struct kunwind_object *object)
{
	if (object->table) {
		atomic64_sub(object->stats.bytes, &table_bytes);
		atomic64_sub(object->stats.nr_rows, &table_rows);
		kunwind_memory_uncharge(object->payer, object->stats.bytes);
		kunwind_table_free(object->table);
	}
	kunwind_filesystem_put(object->key.dev);
	kunwind_payer_remove_object(object->payer);
	kunwind_payer_put(object->payer);
	kfree(object->path);
	kfree(object);
}

static void remove(struct kunwind_object *object)
{
	lockdep_assert_held(&objects_lock);
	if (!hlist_unhashed(&object->node)) {
		hlist_del_init(&object->node);
		nr_objects--;
	}
}

static void idle_add(struct kunwind_object *object)
{
	lockdep_assert_held(&objects_lock);
	if (READ_ONCE(object->gone))
		list_add(&object->idle, &idle);
	else
		list_add_tail(&object->idle, &idle);
	nr_idle++;
	idle_bytes += object->stats.bytes;
}

static void idle_remove(struct kunwind_object *object)
{
	lockdep_assert_held(&objects_lock);
	list_del(&object->idle);
	nr_idle--;
	idle_bytes -= object->stats.bytes;
}

static void evict(struct kunwind_object *object)
{
	idle_remove(object);
	remove(object);
	destroy(object);
}

static struct kunwind_object *first_idle(void)
{
	lockdep_assert_held(&objects_lock);
	return list_first_entry_or_null(&idle, struct kunwind_object, idle);
}

static bool transient(const struct kunwind_object *object)
{
	u32 state = kunwind_object_state(object);

	return state == KUNWIND_OBJECT_FAILED ||
	       (state == KUNWIND_OBJECT_REFUSED && object->refusal == KUNWIND_E_LIMIT);
}

bool kunwind_object_stale(const struct kunwind_object *object, const struct kunwind_payer *payer)
{
	if (object == &overflow)
		return true;
	return transient(object) && (time_after(jiffies, object->done_at + RETRY) ||
				     (object->over_share && object->payer != payer));
}

void kunwind_object_put(struct kunwind_object *object)
{
	if (!refcount_dec_and_mutex_lock(&object->users, &objects_lock))
		return;		/* the overflow's never ends */
	if (hlist_unhashed(&object->node) || transient(object)) {
		remove(object);
		destroy(object);
	} else {
		idle_add(object);
		if (nr_idle > IDLE_MAX)
			evict(first_idle());
	}
	mutex_unlock(&objects_lock);
}

enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object)
{
	switch (object->refusal) {
	case KUNWIND_E_LIMIT:
	case KUNWIND_E_NOMEM:
		return KUNWIND_MEMORY_LIMIT;
	default:
		return KUNWIND_NO_TABLE;
	}
}

/* The idle object to give up so that @payer's next charge may not fail as it did. */
static struct kunwind_object *victim(int err, const struct kunwind_payer *payer)
{
	struct kunwind_object *object;

	if (err != -EDQUOT)
		return first_idle();
	list_for_each_entry(object, &idle, idle)
		if (object->payer == payer)
			return object;
	return NULL;
}

int kunwind_object_make_room(struct kunwind_payer *payer, size_t bytes)
{
	struct kunwind_object *object;
	int err;

	err = kunwind_memory_charge(payer, bytes);
	if (!err)
		return 0;
	mutex_lock(&objects_lock);
	while ((err = kunwind_memory_charge(payer, bytes)) && (object = victim(err, payer)))
		evict(object);
	mutex_unlock(&objects_lock);
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

	/* Who reclaims may hold it. */
	if (!mutex_trylock(&objects_lock))
		return SHRINK_STOP;
	while (freed < sc->nr_to_scan && (object = first_idle())) {
		freed += 1 + (object->stats.bytes >> PAGE_SHIFT);
		evict(object);
	}
	mutex_unlock(&objects_lock);
	return freed ? freed : SHRINK_STOP;
}

/* ---------------------------------------------------------------- lookup */

/* Beside the one in @key's state, the same file's others: nobody comes for them. */
static void supersede(const struct kunwind_object_key *key)
{
	struct kunwind_object *object;
	struct hlist_node *next;

	lockdep_assert_held(&objects_lock);
	hlist_for_each_entry_safe(object, next, bucket(key), node) {
		if (memcmp(&object->key, key, KUNWIND_KEY_FILE) || !memcmp(&object->key, key, sizeof(*key)))
			continue;
		WRITE_ONCE(object->gone, true);
		if (!refcount_read(&object->users))
			evict(object);
	}
}

static struct kunwind_object *lookup(const struct kunwind_object_key *key,
				     const struct kunwind_payer *payer)
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
				evict(object);
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

/* The name in the process's own root while it runs, else in that of who registers it. */
static char *name_of(struct file *file)
{
	char *buf, *path, *name;

	if (!file)
		return kstrdup("[vdso]", GFP_KERNEL | __GFP_NOWARN);
	buf = kmalloc(PATH_MAX, GFP_KERNEL | __GFP_NOWARN);
	if (!buf)
		return NULL;
	path = d_path(kunwind_file_path(file), buf, PATH_MAX);
	name = kstrdup(IS_ERR(path) ? "?" : path, GFP_KERNEL | __GFP_NOWARN);
	kfree(buf);
	return name;
}

/* Takes over @path, which may be NULL: then there is no memory. */
static struct kunwind_object *object_alloc(const struct kunwind_object_key *key, char *path,
					   struct kunwind_payer *payer)
{
	struct kunwind_object *object = kzalloc(sizeof(*object), GFP_KERNEL | __GFP_NOWARN);

	if (!object || !path || !kunwind_filesystem_get(key->dev)) {
		kfree(path);
		kfree(object);
		return NULL;
	}
	object->path = path;
	object->key = *key;
	object->state = KUNWIND_OBJECT_PENDING;
	object->payer = kunwind_payer_get(payer);
	refcount_set(&object->users, 1);
	init_completion(&object->done);
	init_completion(&object->filled);
	return object;
}

/* A new object with the caller's reference, which is being built; or NULL. */
static struct kunwind_object *create(const struct kunwind_object_key *key,
				     struct kunwind_payer *payer, struct file *file,
				     const struct vdso_image *vdso)
{
	unsigned int limit = READ_ONCE(max_objects);
	struct kunwind_object *object;

	lockdep_assert_held(&objects_lock);
	while (nr_objects >= limit) {
		object = first_idle();
		if (!object)
			return NULL;
		evict(object);
	}
	while (!kunwind_payer_add_object(payer, limit / USER_PART)) {
		object = victim(-EDQUOT, payer);
		if (!object)
			return NULL;
		evict(object);
	}
	object = object_alloc(key, name_of(file), payer);
	if (!object) {
		kunwind_payer_remove_object(payer);
		return NULL;
	}
	object->vdso = vdso;
	kunwind_object_get(object);	/* the builder's */
	if (!kunwind_builder_queue(object, file)) {
		destroy(object);
		return NULL;
	}
	hlist_add_head(&object->node, bucket(key));
	nr_objects++;
	return object;
}

static struct kunwind_object *get(const struct kunwind_object_key *key,
				  struct kunwind_payer *payer, struct file *file,
				  const struct vdso_image *vdso)
{
	struct kunwind_object *object;

	mutex_lock(&objects_lock);
	object = lookup(key, payer);
	if (!object) {
		supersede(key);
		object = create(key, payer, file, vdso);
	}
	if (!object) {
		object = kunwind_object_get(&overflow);
		kunwind_memory_refused();
	} else if (file) {
		WRITE_ONCE(object->gone, !file_inode(file)->i_nlink);
	}
	mutex_unlock(&objects_lock);
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
	object = object_alloc(&key, kstrdup("[jit]", GFP_KERNEL | __GFP_NOWARN), payer);
	if (!object) {
		kunwind_payer_remove_object(payer);
		return ERR_PTR(-ENOMEM);
	}
	object->jit = true;
	return object;
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
	static const char *const names[] = {
		[KUNWIND_OBJECT_PENDING] = "pending",
		[KUNWIND_OBJECT_READY] = "ready",
		[KUNWIND_OBJECT_NO_CFI] = "no_cfi",
		[KUNWIND_OBJECT_REFUSED] = "refused",
		[KUNWIND_OBJECT_FAILED] = "failed",
	};
	const struct kunwind_object *object;
	unsigned int i;

	seq_printf(m, "stat\tmap_bytes\t%llu\n", kunwind_snapshot_bytes());
	kunwind_memory_show(m);
	mutex_lock(&objects_lock);
	seq_printf(m, "stat\tidle_objects\t%u\n", nr_idle);
	seq_printf(m, "stat\tidle_bytes\t%llu\n", idle_bytes);
	for (i = 0; i < BUCKETS; i++) {
		hlist_for_each_entry(object, &objects[i], node) {
			u32 state = kunwind_object_state(object);
			bool done = state != KUNWIND_OBJECT_PENDING;

			seq_printf(m, "object\t%s\t%s\t%u\t%llu\t%u\t", names[state],
				   done ? kunwind_refusal_name(object->refusal) : "-",
				   done ? object->stats.nr_rows : 0,
				   done ? object->stats.bytes : 0,
				   refcount_read(&object->users) - READ_ONCE(object->filling));
			seq_escape(m, object->path, "\t\n\\");
			if (done && object->stats.nr_parts) {
				seq_printf(m, "\nparts\t%u\t%u\t", object->stats.parts_built,
					   object->stats.nr_parts);
				seq_escape(m, object->path, "\t\n\\");
			}
			seq_putc(m, '\n');
		}
	}
	mutex_unlock(&objects_lock);
}

void kunwind_object_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_objects\t%u\n", READ_ONCE(max_objects));
	kunwind_memory_show_params(m);
	kunwind_builder_show_params(m);
}

int kunwind_object_init(void)
{
	shrinker = kunwind_shrinker_register("kunwind", shrink_count, shrink_scan);
	return shrinker ? 0 : -ENOMEM;
}

void kunwind_object_exit(void)
{
	kunwind_shrinker_unregister(shrinker);
	mutex_lock(&objects_lock);
	while (nr_idle)
		evict(first_idle());
	mutex_unlock(&objects_lock);
}
