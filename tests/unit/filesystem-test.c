/* SPDX-License-Identifier: MIT */
/*
 * filesystem-test.c - how files are distinguished: each part of an object's
 * key; device numbers that are reused, and those that share a bucket of the
 * hash table
 */
#include "kernel.h"
#include "tap.h"

struct vdso_image;
struct timespec64 { s64 tv_sec; long tv_nsec; };
struct fid { u32 raw[8]; };
struct inode;
struct export_operations {
	int (*encode_fh)(struct inode *inode, u32 *fh, int *max_len, struct inode *parent);
};
struct super_block { u32 s_dev; unsigned long s_magic; const struct export_operations *s_export_op; };
struct inode {
	unsigned long i_ino;
	u32 i_generation;
	s64 i_size;
	struct timespec64 i_ctime;
	struct super_block *i_sb;
	u32 subvolume;
};
struct file { struct inode *inode; };
#define file_inode(file)	((file)->inode)
#define i_size_read(inode)	((inode)->i_size)
#define new_encode_dev(dev)	(dev)
#define _KUNWIND_COMPAT_MM_H
#define kunwind_inode_ctime(inode)	((inode)->i_ctime)
#define KUNWIND_BCACHEFS_MAGIC	0xca451a4e

#include "../../kmod/object/filesystem.c"
#include "../../kmod/object/object_key.c"
#define find(dev)	in_rcu(find(dev))

static int subvolume(struct inode *inode, u32 *fh, int *words, struct inode *parent)
{
	(void)parent;
	if (*words < 5)
		return 255;
	fh[3] = inode->subvolume;
	return 0;
}

static const struct export_operations operations = { subvolume };
static struct super_block sb = { 0x801, 0xef53, &operations };
static struct inode inode = { 77, 5, 1000, { 12, 34 }, &sb, 1 };
static struct file file = { &inode };

static struct kunwind_object_key key(void)
{
	struct kunwind_object_key k;

	memset(&k, 0x55, sizeof(k));
	kunwind_object_key_init(&k, &file);
	return k;
}

#define DIFFERS(what, place, value)						\
do {										\
	struct kunwind_object_key before = key(), after;			\
	__typeof__(place) was = place;						\
										\
	place = value;								\
	after = key();								\
	tap_ok(memcmp(&before, &after, sizeof(before)), "key: %s changes the key", what);	\
	place = was;								\
	after = key();								\
	tap_ok(!memcmp(&before, &after, sizeof(before)), "key: %s: restored, the key is the old one", what); \
} while (0)

static void test_key(void)
{
	struct super_block other = { 0x802, 0xef53, NULL };
	struct kunwind_object object = { .key = key() };

	DIFFERS("inode number", inode.i_ino, 78);
	DIFFERS("generation", inode.i_generation, 6);
	DIFFERS("size", inode.i_size, 1001);
	DIFFERS("change time, seconds", inode.i_ctime.tv_sec, 13);
	DIFFERS("change time, nanoseconds", inode.i_ctime.tv_nsec, 35);
	DIFFERS("device", inode.i_sb, &other);
	sb.s_magic = BTRFS_SUPER_MAGIC;
	DIFFERS("subvolume of btrfs", inode.subvolume, 2);
	sb.s_magic = KUNWIND_BCACHEFS_MAGIC;
	DIFFERS("subvolume of bcachefs", inode.subvolume, 2);
	sb.s_magic = 0xef53;

	inode.i_size = 5;
	inode.i_ctime.tv_nsec = 6;
	tap_ok(kunwind_object_key_matches(&object, &file),
	       "key: a file with another size and change time is the same file");
	inode.i_ino++;
	tap_ok(!kunwind_object_key_matches(&object, &file), "key: another inode number is another file");
	inode.i_ino--;
	inode.i_generation++;
	tap_ok(!kunwind_object_key_matches(&object, &file), "key: another generation is another file");
	inode.i_generation--;
	inode.i_sb = &other;
	tap_ok(!kunwind_object_key_matches(&object, &file), "key: another device is another file");
	inode.i_sb = &sb;
}

static void test_epochs(void)
{
	u32 epoch;

	tap_ok(kunwind_filesystem_get(0x801, 0),
	       "epoch: the first object makes a record of its file system");
	epoch = kunwind_filesystem_epoch(0x801);
	DIFFERS("epoch of a reused device number",
		((struct filesystem *)find(0x801))->epoch, epoch + 1);
	kunwind_filesystem_ends(0x801);
	tap_ok(kunwind_filesystem_epoch(0x801) != epoch,
	       "epoch: the end of the file system changes it");
	tap_ok(kunwind_filesystem_get(0x801, epoch + 1), "epoch: a second object is accepted");
	kunwind_filesystem_put(0x801);
	tap_ok(kunwind_filesystem_epoch(0x801) != epoch,
	       "epoch: it stays as long as an object is left");
	kunwind_filesystem_put(0x801);
	tap_ok(!find(0x801), "epoch: the last object frees the record");
	kunwind_filesystem_ends(0x801);
	tap_ok(!find(0x801), "epoch: the end of a file system without objects makes no record");
	tap_ok(kunwind_filesystem_get(0x801, 5) && kunwind_filesystem_epoch(0x801) == 5,
	       "epoch: a new record begins with the epoch in the object's key");
	tap_ok(kunwind_filesystem_get(0x801, 4) && kunwind_filesystem_epoch(0x801) == 5,
	       "epoch: the key of an older object does not change it");
	tap_ok(kunwind_filesystem_get(0x801, 7) && kunwind_filesystem_epoch(0x801) == 7,
	       "epoch: a record that was freed and made anew gets the epoch that it had");
	kunwind_filesystem_put(0x801);
	kunwind_filesystem_put(0x801);
	kunwind_filesystem_put(0x801);
	tap_ok(kunwind_filesystem_get(0x801, U32_MAX) && kunwind_filesystem_get(0x801, 1) &&
	       kunwind_filesystem_epoch(0x801) == 1, "epoch: after 2^32 ends, a newer epoch is still newer");
	tap_ok(kunwind_filesystem_get(0x801, U32_MAX) && kunwind_filesystem_epoch(0x801) == 1,
	       "epoch: and an older one older");
	kunwind_filesystem_put(0x801);
	kunwind_filesystem_put(0x801);
	kunwind_filesystem_put(0x801);
	no_memory = 1;
	tap_ok(!kunwind_filesystem_get(0x801, 0) && !find(0x801),
	       "epoch: without memory for a record, get fails");
}

/* Two device numbers in one bucket. */
static void test_numbers(void)
{
	u32 a = 1, b = 2, i, epoch;

	while (bucket(b) != bucket(a))
		b++;
	tap_ok(kunwind_filesystem_get(a, 0) && kunwind_filesystem_get(b, 0),
	       "stalls: device numbers %u and %u share a bucket", a, b);
	for (i = 0; i < MAX_FILESYSTEM_STALLS - 1; i++)
		kunwind_filesystem_stalled(a);
	tap_ok(!kunwind_filesystem_hangs(a),
	       "stalls: after %u timeouts a file system does not yet count as hung",
	       MAX_FILESYSTEM_STALLS - 1);
	kunwind_filesystem_stalled(a);
	tap_ok(kunwind_filesystem_hangs(a) && !kunwind_filesystem_hangs(b),
	       "stalls: the other file system in the bucket does not count as hung");
	kunwind_filesystem_answered(b);
	tap_ok(kunwind_filesystem_hangs(a),
	       "stalls: an answer of one file system does not count for the other");
	epoch = kunwind_filesystem_epoch(a);
	kunwind_filesystem_ends(b);
	tap_ok(kunwind_filesystem_epoch(a) == epoch && kunwind_filesystem_epoch(b) == epoch + 1,
	       "stalls: the end of one file system does not change the other's epoch");
	kunwind_filesystem_answered(a);
	tap_ok(!kunwind_filesystem_hangs(a),
	       "stalls: a file system that answers no longer counts as hung");
	kunwind_filesystem_put(a);
	tap_ok(!find(a) && find(b), "stalls: the last object of a file system frees its record only");
	kunwind_filesystem_put(b);
	tap_ok(!find(b), "stalls: the other file system's last object frees its record");
}

#define CHOSEN	2048

static void test_buckets(void)
{
	static struct hlist_head *place[CHOSEN];
	static u32 dev[CHOSEN];
	u32 n, m, chosen, together, most = 0, moved = 0;

	/* numbers that hash_32(), which has no seed, puts into one bucket */
	for (n = 0, chosen = 1; n < CHOSEN; chosen++)
		if (!hash_32(chosen, 10))
			dev[n++] = chosen;
	for (n = 0; n < CHOSEN; n++) {
		place[n] = bucket(dev[n]);
		for (m = together = 0; m <= n; m++)
			together += place[m] == place[n];
		most = max(most, together);
	}
	tap_ok(most <= 16, "buckets: of %u chosen device numbers, at most %u share a bucket",
	       CHOSEN, most);
	kunwind_filesystems_init();
	for (n = 0; n < CHOSEN; n++)
		moved += bucket(dev[n]) != place[n];
	tap_ok(moved > CHOSEN / 2, "buckets: another seed moves most of the device numbers");
}

int main(void)
{
	kunwind_filesystems_init();
	test_buckets();
	test_key();
	test_epochs();
	test_numbers();
	return tap_done();
}
