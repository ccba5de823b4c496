/* SPDX-License-Identifier: MIT */
/*
 * object-scene.h - for tests of objects and their queues: includes the files of
 * kmod that keep objects, and has files, two users, and a builder that reads
 * nothing
 */
#ifndef _TEST_OBJECT_SCENE_H
#define _TEST_OBJECT_SCENE_H

#include "kernel.h"

#include <stdint.h>

#include "tap.h"

/* -------------------------------------------- more of the kernel, and files */

struct timespec64 { s64 tv_sec; long tv_nsec; };
struct inode;
struct export_operations {
	int (*encode_fh)(struct inode *inode, u32 *fh, int *max_len, struct inode *parent);
};
struct file_system_type { int fs_flags; };
struct super_block {
	u32 s_dev;
	unsigned long s_magic;
	const struct export_operations *s_export_op;
	const struct file_system_type *s_type;
};
struct inode {
	unsigned long i_ino;
	u32 i_generation;
	s64 i_size;
	struct timespec64 i_ctime;
	struct super_block *i_sb;
	unsigned int i_nlink;
};
struct file { struct inode *inode; int refs; const char *name; };
struct vdso_image { void *data; unsigned long size; };
struct shrinker { int unused; };
struct shrink_control { unsigned long nr_to_scan; };
#define file_inode(file)	((file)->inode)
#define i_size_read(inode)	((inode)->i_size)
#define new_encode_dev(dev)	(dev)
#define FS_REQUIRES_DEV		1
#define PATH_MAX		4096
#define SHRINK_EMPTY		(~0UL - 1)
#define SHRINK_STOP		(~0UL)
#define d_path(file, buf, size)	((char *)(file)->name)

static u32 jhash2(const u32 *words, u32 nr, u32 seed)
{
	while (nr--)
		seed = (seed ^ *words++) * 0x61C88647U;
	return seed;
}
static void seq_putc(struct seq_file *m, char c) { seq_printf(m, "%c", c); }

#define _KUNWIND_COMPAT_SHRINKER_H
static struct shrinker the_shrinker;
typedef unsigned long shrink_fn(struct shrinker *shrinker, struct shrink_control *sc);
static shrink_fn *shrinker_count, *shrinker_scan;
static struct shrinker *kunwind_shrinker_register(const char *name, shrink_fn *count, shrink_fn *scan)
{
	(void)name;
	shrinker_count = count;
	shrinker_scan = scan;
	return &the_shrinker;
}
static void kunwind_shrinker_unregister(struct shrinker *shrinker) { (void)shrinker; }

#define _KUNWIND_COMPAT_MM_H
#define kunwind_inode_ctime(inode)	((inode)->i_ctime)
#define kunwind_file_path(file)	(file)
#define KUNWIND_BCACHEFS_MAGIC	0xca451a4e

#define _KUNWIND_SHOW_H
static bool status_full;
static bool kunwind_show_ends(struct seq_file *m) { (void)m; return status_full; }

#define local	queue_local	/* other files use the name, too */
#define find	filesystem_find
#define bucket	filesystem_bucket

#include "../../kmod/object/filesystem.c"
#undef find
#undef bucket
#include "../../kmod/base/quota.c"
#define used	memory_used
#include "../../kmod/base/memory_limit.c"
#undef used
#include "../../kmod/object/name.c"
#include "../../kmod/object/object_key.c"
#include "../../kmod/object/build_queue.c"
#undef local
#include "../../kmod/object/object_cache.c"
#include "../../kmod/object/object.c"

/* --------------------------------- functions of other files that these call */

#define TABLE	100000		/* bytes of each table */

static unsigned int built, closed;
static enum kunwind_build_error ends_with;

bool kunwind_source_attach(struct kunwind_object *object, struct file *file, bool remote)
{
	object->module_held = remote;
	object->file = file;
	if (file)
		file->refs++;
	return true;
}

void kunwind_source_detach(struct kunwind_object *object)
{
	if (object->file)
		object->file->refs--;
	object->file = NULL;
}

static void close_file(struct kunwind_object *object)
{
	closed++;
	kunwind_source_detach(object);
}

static void build_object(struct kunwind_object *object)
{
	int err;

	built++;
	object->build_error = ends_with;
	if (!ends_with) {
		do
			err = kunwind_memory_make_room(object->quota, TABLE);
		while (err && kunwind_object_next_quota(object, err));
		object->over_share = err == -EDQUOT;
		if (err) {
			object->over_users = object->quota;
			object->build_error = KUNWIND_E_LIMIT;
		} else {
			object->table = kunwind_alloc(1024);
			object->stats.bytes = TABLE;
			object->stats.nr_rows = 10;
			kunwind_object_cache_built(object);
		}
	}
	object->done_at = jiffies;
	object->state = !object->build_error ? KUNWIND_OBJECT_READY :
			object->build_error == KUNWIND_E_LIMIT ? KUNWIND_OBJECT_REFUSED :
			object->build_error == KUNWIND_E_NO_CFI ? KUNWIND_OBJECT_NO_CFI :
								  KUNWIND_OBJECT_FAILED;
	if (!object->building_parts)
		kunwind_object_build_over(object);
}

const char *kunwind_build_error_name(unsigned int build_error);

static void build_next(struct kunwind_build_queue *queue, struct kunwind_quota *quota)
{
	struct kunwind_object *object;
	bool wanted;

	object = kunwind_object_next(queue, quota, &wanted);
	if (!object)
		return;
	if (wanted)
		build_object(object);
	close_file(object);
	kunwind_object_put(object);
}

/* --------------------------------------------------------------- the scene */

static const struct file_system_type on_disk = { FS_REQUIRES_DEV }, elsewhere = { 0 };
static struct super_block disk = { 0x801, 0xef53, NULL, &on_disk };
static struct super_block fuse = { 0x30, FUSE_SUPER_MAGIC, NULL, &on_disk };
static struct super_block nfs = { 0x31, NFS_SUPER_MAGIC, NULL, &elsewhere };
static struct super_block memory = { 0x32, TMPFS_MAGIC, NULL, &elsewhere };

#define MANY	64
static struct inode inodes[MANY];
static struct file files[MANY];
static struct cred cred;
static struct mem_cgroup memcg, other_memcg;
static struct mm_struct mm = { .memcg = &other_memcg }, mapper = { .memcg = &memcg };
static struct task_struct task = { .cred = &cred, .pid_ns = &init_pid_ns, .mm = &mm };
static struct kunwind_quota *alice, *bob;

static struct kunwind_quota *user(u32 uid)
{
	cred = (struct cred){ &init_user_ns, { uid }, 0 };
	return kunwind_quota_of(&mm);
}

static void begin(void)
{
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		inodes[i] = (struct inode){ i + 1, 1, 5000, { 1, 1 }, &disk, 1 };
		files[i] = (struct file){ &inodes[i], 1, "/usr/lib/x" };
	}
	max_objects = 1000;
	max_table_mb = 512;
	max_user_table_mb = 128;
	built = closed = 0;
	ends_with = KUNWIND_OK;
	alice = user(1001);
	bob = user(1002);
	kunwind_object_cache_init();
}

static struct kunwind_object *get_file(unsigned int i, struct kunwind_quota *quota)
{
	return kunwind_object_get_file(&files[i], quota, &mapper);
}

static void build_all(void) { while (run_work()) ; }

/* Makes an object that is ready and that nothing uses. */
static void once(unsigned int i, struct kunwind_quota *quota)
{
	struct kunwind_object *object = get_file(i, quota);

	build_all();
	kunwind_object_put(object);
}

static void end(const char *what)
{
	struct shrink_control all = { .nr_to_scan = ~0UL };
	bool good = true;
	unsigned int i;

	build_all();
	while (nr_idle && shrinker_scan(NULL, &all) != SHRINK_STOP)
		;
	for (i = 0; i < MANY; i++)
		good &= files[i].refs == 1;
	good &= list_empty(&queues) && alice->refs == 1 && bob->refs == 1 && !alice->objects &&
		!bob->objects && !atomic64_read(&memory_used) && !nr_objects && !nr_idle &&
		!idle_bytes && !kunwind_quota_idle(alice)->nr && !kunwind_quota_idle(bob)->nr &&
		!kunwind_quota_idle(NULL)->nr && !memcg.refs && !other_memcg.refs &&
		!atomic64_read(&table_bytes) && !atomic64_read(&table_rows);
	for (i = 0; i < ARRAY_SIZE(filesystems); i++)
		good &= hlist_empty(&filesystems[i]);
	if (!tap_ok(good, "%s: all objects, references and charges are released", what))
		printf("# %u objects, %u idle, %llu bytes; %u and %u of users, %u and %u references\n",
		       nr_objects, nr_idle, (unsigned long long)idle_bytes, alice->objects, bob->objects,
		       alice->refs, bob->refs);
	kunwind_quota_put(alice);
	kunwind_quota_put(bob);
	kunwind_object_cache_exit();
	memset(quotas, 0, sizeof(quotas));
}

#endif /* _TEST_OBJECT_SCENE_H */
