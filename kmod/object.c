// SPDX-License-Identifier: GPL-2.0-only
/*
 * object.c - ELF objects and their tables, one for each state of a file
 *
 * An object is found by what the kernel says of its file: device, inode number
 * and generation, size, change time; never by path or build-id, which others
 * can choose. The first process that maps it has it built by a worker, everyone
 * else shares the table. The file is held only while it is read, so neither
 * mount nor inode is pinned by a table.
 *
 * A build reads the ELF headers, then .eh_frame whole, then compiles it. It is
 * bounded in number (workers), time (max_build_ms, looked at between reads and
 * by the compiler) and memory (max_eh_frame_mb, max_table_mb); a file whose size
 * or change time moved meanwhile is refused. Worker, not task: memory is not
 * charged to whoever maps the file, and a file system that hangs holds a worker
 * and nothing else. File systems that can hang (not on a local device) have
 * workers of their own.
 *
 * Objects without users are kept for the next process, the least recently used
 * of them freed first: at most IDLE_MAX, and none when the limit is reached.
 * What failed for want of memory or time is tried again after RETRY.
 *
 * Memory: about 2 KB an object besides its table.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/kdev_t.h>
#include <linux/magic.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <asm/vdso.h>

#include "compat/mm.h"
#include "object.h"
#include "space.h"

#define BUCKETS		1024
#define IDLE_MAX	256
#define RETRY		(5 * HZ)
#define CHUNK		(256 * 1024)

static unsigned int max_table_mb = 512;
module_param(max_table_mb, uint, 0644);
MODULE_PARM_DESC(max_table_mb,
		 "most memory for all unwind tables and lists of mappings, MiB (default 512)");

static unsigned int max_eh_frame_mb = 64;
module_param(max_eh_frame_mb, uint, 0644);
MODULE_PARM_DESC(max_eh_frame_mb, "largest .eh_frame that is read, MiB (default 64)");

static unsigned int max_build_ms = 10000;
module_param(max_build_ms, uint, 0644);
MODULE_PARM_DESC(max_build_ms, "longest time that building one table may take, ms (default 10000)");

static unsigned int max_objects = 16384;
module_param(max_objects, uint, 0644);
MODULE_PARM_DESC(max_objects, "most ELF objects that are known at a time (default 16384)");

static struct hlist_head objects[BUCKETS];
static LIST_HEAD(idle);			/* least recently used first */
static unsigned int nr_idle;
static unsigned int nr_objects;
static DEFINE_MUTEX(objects_lock);	/* all of the above; users from and to 0 */

/* Stands for every object beyond the limit, or without memory. Always stale. */
static struct kunwind_object overflow = {
	.users = REFCOUNT_INIT(1),
	.path = "?",
	.state = KUNWIND_OBJECT_FAILED,
	.refusal = KUNWIND_E_LIMIT,
};

static atomic64_t table_bytes, table_rows, nr_builds, nr_refused;
static atomic64_t map_bytes;		/* what others charged */
static struct workqueue_struct *builders, *remote_builders;
static bool stopping;

static struct hlist_head *bucket(const struct kunwind_object_key *key)
{
	BUILD_BUG_ON(sizeof(*key) % sizeof(u32));
	return &objects[jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0) % BUCKETS];
}

void kunwind_object_key_init(struct kunwind_object_key *key, struct file *file)
{
	struct inode *inode = file_inode(file);
	struct timespec64 ctime = kunwind_inode_ctime(inode);

	*key = (struct kunwind_object_key){
		.ino = inode->i_ino,
		.size = i_size_read(inode),
		.ctime_sec = ctime.tv_sec,
		.ctime_nsec = ctime.tv_nsec,
		.generation = inode->i_generation,
		.dev = new_encode_dev(inode->i_sb->s_dev),
	};
}

/* Frees an object that nothing finds any more. */
static void destroy(struct kunwind_object *object)
{
	if (object->table) {
		atomic64_sub(object->stats.bytes, &table_bytes);
		atomic64_sub(object->stats.nr_rows, &table_rows);
		kunwind_table_free(object->table);
	}
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

static void evict(struct kunwind_object *object)
{
	lockdep_assert_held(&objects_lock);
	list_del(&object->idle);
	nr_idle--;
	remove(object);
	destroy(object);
}

static bool transient(const struct kunwind_object *object)
{
	u32 state = kunwind_object_state(object);

	return state == KUNWIND_OBJECT_FAILED ||
	       (state == KUNWIND_OBJECT_REFUSED && object->refusal == KUNWIND_E_LIMIT);
}

bool kunwind_object_stale(const struct kunwind_object *object)
{
	return object == &overflow ||
	       (transient(object) && time_after(jiffies, object->done_at + RETRY));
}

void kunwind_object_put(struct kunwind_object *object)
{
	if (!refcount_dec_and_mutex_lock(&object->users, &objects_lock))
		return;		/* the overflow's never ends */
	if (hlist_unhashed(&object->node) || transient(object)) {
		remove(object);
		destroy(object);
	} else {
		list_add_tail(&object->idle, &idle);
		if (++nr_idle > IDLE_MAX)
			evict(list_first_entry(&idle, struct kunwind_object, idle));
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

static u64 memory_limit(void)
{
	return (u64)READ_ONCE(max_table_mb) << 20;
}

static u64 memory_used(void)
{
	return atomic64_read(&table_bytes) + atomic64_read(&map_bytes);
}

bool kunwind_object_charge(size_t bytes)
{
	if (memory_used() + bytes > memory_limit())
		return false;
	atomic64_add(bytes, &map_bytes);
	return true;
}

void kunwind_object_uncharge(size_t bytes)
{
	atomic64_sub(bytes, &map_bytes);
}

/* Bytes that tables may still take; makes room by giving up idle ones. */
static u64 room(u64 wanted)
{
	u64 limit = memory_limit(), used;

	mutex_lock(&objects_lock);
	while ((used = memory_used()) + wanted > limit && nr_idle)
		evict(list_first_entry(&idle, struct kunwind_object, idle));
	mutex_unlock(&objects_lock);
	return used < limit ? limit - used : 0;
}

struct build {
	struct kunwind_object *object;
	unsigned long deadline;		/* jiffies */
};

static bool build_aborted(void *data)
{
	const struct build *build = data;

	return READ_ONCE(stopping) || time_after(jiffies, build->deadline);
}

static int read_file(void *data, u64 off, void *buf, size_t len)
{
	const struct build *build = data;
	struct kunwind_object *object = build->object;
	loff_t pos = off;

	if (off > object->key.size || len > object->key.size - off)
		return -EIO;
	if (object->vdso) {
		memcpy(buf, object->vdso->data + off, len);
		return 0;
	}
	while (len) {
		ssize_t got;

		if (build_aborted(data))
			return -ETIMEDOUT;
		got = kernel_read(object->file, buf, min_t(size_t, len, CHUNK), &pos);
		if (got <= 0)
			return -EIO;
		buf += got;
		len -= got;
		cond_resched();
	}
	return 0;
}

/* Only what kernel_read() takes without a complaint in the log. */
static bool readable(struct file *file)
{
	return S_ISREG(file_inode(file)->i_mode) && (file->f_mode & FMODE_READ) &&
	       (file->f_mode & FMODE_CAN_READ) && file->f_op->read_iter && !file->f_op->read;
}

static bool unchanged(const struct kunwind_object *object)
{
	struct kunwind_object_key now;

	if (object->vdso)
		return true;
	kunwind_object_key_init(&now, object->file);
	return !memcmp(&now, &object->key, sizeof(now));
}

static enum kunwind_refusal build_table(struct build *build)
{
	struct kunwind_object *object = build->object;
	const struct kunwind_elf *elf = &object->elf;
	struct kunwind_section section[2];
	enum kunwind_refusal refusal;
	u64 size, limit;
	u8 *data;

	refusal = kunwind_elf_parse(read_file, build, object->key.size, &object->elf);
	object->has_elf = refusal == KUNWIND_OK || refusal == KUNWIND_E_NO_CFI;
	if (refusal)
		return refusal;
	/* neither is larger than the file */
	size = elf->eh_size + elf->debug_size;
	if (size > (u64)READ_ONCE(max_eh_frame_mb) << 20)
		return KUNWIND_E_LIMIT;
	/* A table is no larger than its .eh_frame but in odd cases. */
	limit = room(size);
	if (!limit)
		return KUNWIND_E_LIMIT;
	data = kvmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!data)
		return KUNWIND_E_NOMEM;
	if (read_file(build, elf->eh_offset, data, elf->eh_size) ||
	    read_file(build, elf->debug_offset, data + elf->eh_size, elf->debug_size)) {
		refusal = KUNWIND_E_IO;
		goto out;
	}
	kunwind_elf_sections(elf, data, data + elf->eh_size, section);
	refusal = kunwind_table_build(section, 0, limit, build_aborted, build, &object->table);
	if (refusal)
		goto out;
	if (!unchanged(object)) {
		kunwind_table_free(object->table);
		object->table = NULL;
		refusal = KUNWIND_E_IO;
		goto out;
	}
	kunwind_table_stats(object->table, &object->stats);
	atomic64_add(object->stats.bytes, &table_bytes);
	atomic64_add(object->stats.nr_rows, &table_rows);
out:
	kvfree(data);
	return refusal;
}

static enum kunwind_object_state state_of(enum kunwind_refusal refusal)
{
	switch (refusal) {
	case KUNWIND_OK:
		return KUNWIND_OBJECT_READY;
	case KUNWIND_E_NO_CFI:
		return KUNWIND_OBJECT_NO_CFI;
	case KUNWIND_E_NOMEM:
	case KUNWIND_E_IO:
	case KUNWIND_E_ABORTED:
		return KUNWIND_OBJECT_FAILED;
	default:
		return KUNWIND_OBJECT_REFUSED;
	}
}

static void run_build(struct kunwind_object *object)
{
	struct build build = {
		.object = object,
		.deadline = jiffies + msecs_to_jiffies(READ_ONCE(max_build_ms)),
	};
	enum kunwind_refusal refusal;

	if (object->file && !readable(object->file))
		refusal = KUNWIND_E_IO;
	else
		refusal = build_table(&build);
	if (object->file) {
		fput(object->file);
		object->file = NULL;
	}
	object->refusal = refusal;
	object->done_at = jiffies;
	atomic64_inc(&nr_builds);
	if (refusal && refusal != KUNWIND_E_NO_CFI)
		atomic64_inc(&nr_refused);
	/* Pairs with kunwind_object_state(). */
	smp_store_release(&object->state, state_of(refusal));
	/* Those who wait see to their own spaces. */
	complete_all(&object->done);
	kunwind_space_object_done();
}

static void build_work(struct work_struct *work)
{
	struct kunwind_object *object = container_of(work, struct kunwind_object, work);

	run_build(object);
	kunwind_object_put(object);
}

static struct kunwind_object *lookup(const struct kunwind_object_key *key)
{
	struct kunwind_object *object;

	lockdep_assert_held(&objects_lock);
	hlist_for_each_entry(object, bucket(key), node) {
		if (memcmp(&object->key, key, sizeof(*key)))
			continue;
		if (kunwind_object_stale(object)) {
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
			list_del(&object->idle);
			nr_idle--;
			refcount_set(&object->users, 1);
		}
		return object;
	}
	return NULL;
}

/* A new object with the caller's reference, in the table of objects; or NULL. */
static struct kunwind_object *create(const struct kunwind_object_key *key, const char *path)
{
	struct kunwind_object *object;

	lockdep_assert_held(&objects_lock);
	while (nr_objects >= READ_ONCE(max_objects)) {
		if (!nr_idle)
			return NULL;
		evict(list_first_entry(&idle, struct kunwind_object, idle));
	}
	object = kzalloc(sizeof(*object), GFP_KERNEL | __GFP_NOWARN);
	if (!object)
		return NULL;
	object->path = kstrdup(path, GFP_KERNEL | __GFP_NOWARN);
	if (!object->path) {
		kfree(object);
		return NULL;
	}
	object->key = *key;
	object->state = KUNWIND_OBJECT_PENDING;
	refcount_set(&object->users, 1);
	init_completion(&object->done);
	INIT_WORK(&object->work, build_work);
	hlist_add_head(&object->node, bucket(key));
	nr_objects++;
	return object;
}

/* File systems that do not wait for another program or machine. */
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

struct kunwind_object *kunwind_object_get_file(struct file *file, const char *path)
{
	struct kunwind_object_key key;
	struct kunwind_object *object;

	kunwind_object_key_init(&key, file);
	mutex_lock(&objects_lock);
	object = lookup(&key);
	if (object)
		goto out;
	object = create(&key, path);
	if (!object) {
		object = kunwind_object_get(&overflow);
		goto out;
	}
	object->file = get_file(file);
	kunwind_object_get(object);	/* build_work()'s */
	queue_work(local(file_inode(file)->i_sb) ? builders : remote_builders, &object->work);
out:
	mutex_unlock(&objects_lock);
	return object;
}

struct kunwind_object *kunwind_object_get_vdso(const struct vdso_image *image)
{
	struct kunwind_object_key key = {
		.ino = (unsigned long)image,
		.size = image->size,
	};
	struct kunwind_object *object;

	mutex_lock(&objects_lock);
	object = lookup(&key);
	if (object)
		goto out;
	object = create(&key, "[vdso]");
	if (!object) {
		object = kunwind_object_get(&overflow);
		goto out;
	}
	object->vdso = image;
	kunwind_object_get(object);
	queue_work(builders, &object->work);
out:
	mutex_unlock(&objects_lock);
	return object;
}

void kunwind_object_stats(struct kunwind_stats *stats)
{
	stats->objects += READ_ONCE(nr_objects);
	stats->table_bytes += atomic64_read(&table_bytes);
	stats->table_rows += atomic64_read(&table_rows);
	stats->table_builds += atomic64_read(&nr_builds);
	stats->table_refused += atomic64_read(&nr_refused);
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

	seq_printf(m, "stat\tmap_bytes\t%llu\n", atomic64_read(&map_bytes));
	mutex_lock(&objects_lock);
	for (i = 0; i < BUCKETS; i++) {
		hlist_for_each_entry(object, &objects[i], node) {
			u32 state = kunwind_object_state(object);
			bool done = state != KUNWIND_OBJECT_PENDING;

			seq_printf(m, "object\t%s\t%s\t%u\t%llu\t%u\t", names[state],
				   done ? kunwind_refusal_name(object->refusal) : "-",
				   done ? object->stats.nr_rows : 0,
				   done ? object->stats.bytes : 0,
				   refcount_read(&object->users));
			seq_escape(m, object->path, "\t\n\\");
			seq_putc(m, '\n');
		}
	}
	mutex_unlock(&objects_lock);
}

void kunwind_object_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_objects\t%u\n", READ_ONCE(max_objects));
	seq_printf(m, "param\tmax_table_mb\t%u\n", READ_ONCE(max_table_mb));
	seq_printf(m, "param\tmax_eh_frame_mb\t%u\n", READ_ONCE(max_eh_frame_mb));
	seq_printf(m, "param\tmax_build_ms\t%u\n", READ_ONCE(max_build_ms));
}

int kunwind_object_init(void)
{
	builders = alloc_workqueue("kunwind_build", WQ_UNBOUND, 2);
	if (!builders)
		return -ENOMEM;
	remote_builders = alloc_workqueue("kunwind_build_remote", WQ_UNBOUND, 4);
	if (!remote_builders) {
		destroy_workqueue(builders);
		return -ENOMEM;
	}
	return 0;
}

void kunwind_object_stop(void)
{
	WRITE_ONCE(stopping, true);
	flush_workqueue(builders);
	flush_workqueue(remote_builders);
}

void kunwind_object_exit(void)
{
	destroy_workqueue(remote_builders);
	destroy_workqueue(builders);
	mutex_lock(&objects_lock);
	while (nr_idle)
		evict(list_first_entry(&idle, struct kunwind_object, idle));
	mutex_unlock(&objects_lock);
}
