// SPDX-License-Identifier: GPL-2.0-only
/*
 * object_key.c - distinguish files, and the states of one file
 *
 * Process context. Reads only inodes in memory, never a file system.
 */
#include <linux/exportfs.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/magic.h>

#include "../compat/mm.h"
#include "filesystem.h"
#include "object.h"

/*
 * Subvolumes of one file system have the same inode numbers. Snapshots also
 * have the same generations and times.
 */
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
	/* The handle contains the subvolume, and fits. This reads nothing. */
	if (repeats_numbers(sb) && sb->s_export_op && sb->s_export_op->encode_fh)
		sb->s_export_op->encode_fh(inode, key->handle, &words, NULL);
}

bool kunwind_object_key_matches(const struct kunwind_object *object, const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return object->key.ino == inode->i_ino && object->key.generation == inode->i_generation &&
	       object->key.dev == new_encode_dev(inode->i_sb->s_dev);
}
