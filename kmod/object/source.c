// SPDX-License-Identifier: GPL-2.0-only
/*
 * source.c - the file that an object is built from
 *
 * Reads call read_iter() of the file system, without the checks of vfs_read().
 * The permission to map the file as code was checked at open and mmap, and a
 * fanotify listener that is registered would wait for itself.
 *
 * A build holds a reference to the module until its last read is over. So rmmod
 * reports "in use", and does not wait for what may never end: the server of a
 * remote file system or, on a local one, the lock of an inode, whose holder may
 * wait for a page fault in what it writes. A build on a remote file system has
 * the reference from its queueing until its file is closed, others from their
 * first read on. The worker gives the reference up before its work is over;
 * this is safe, because kunwind_builder_stop() drains the workers.
 *
 * Process context. Reads and closing may sleep, for ever if the file is remote.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/uio.h>

#include "filesystem.h"
#include "object.h"
#include "source.h"

/* virtio_fs allocates the size of a request as one piece, in atomic context. */
#define FUSE_CHUNK	(28 * 1024)

bool kunwind_source_attach(struct kunwind_object *object, struct file *file, bool remote)
{
	/* This fails only while the module is being unloaded. */
	if (remote && !try_module_get(THIS_MODULE))
		return false;
	object->remote = remote;
	object->reading = remote;
	object->module_held = remote;
	object->file = file ? get_file(file) : NULL;
	return true;
}

static void let_module_go(struct kunwind_object *object)
{
	if (object->module_held) {
		object->module_held = false;
		module_put(THIS_MODULE);
	}
}

void kunwind_source_detach(struct kunwind_object *object)
{
	if (object->file)
		fput(object->file);
	object->file = NULL;
	let_module_go(object);
}

void kunwind_source_close(struct kunwind_object *object)
{
	if (object->file)
		__fput_sync(object->file);
	object->file = NULL;
	let_module_go(object);
}

bool kunwind_source_hold(struct kunwind_object *object)
{
	if (!object->module_held && !try_module_get(THIS_MODULE))
		return false;
	object->module_held = true;
	return true;
}

void kunwind_source_done(struct kunwind_object *object)
{
	WRITE_ONCE(object->reading, false);
	/* Closing a remote file may take as long as a read. */
	if (!object->remote)
		let_module_go(object);
}

static ssize_t read_at(struct file *file, void *buf, size_t len, loff_t pos, int flags)
{
	struct kvec kvec = { .iov_base = buf, .iov_len = len };
	struct kiocb kiocb;
	struct iov_iter iter;

	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = pos;
	/* The caller decides on direct I/O, not the flags of the file. */
	kiocb.ki_flags = (kiocb.ki_flags & ~IOCB_DIRECT) | flags;
	iov_iter_kvec(&iter, READ, &kvec, 1, len);
	return file->f_op->read_iter(&kiocb, &iter);
}

static ssize_t read_some(struct file *file, void *buf, size_t len, loff_t pos)
{
	ssize_t got;

	/*
	 * Not through the page cache: a read without an answer would keep pages
	 * locked, and the next open() of the file, which drops its pages, would
	 * hang although only this module has read it.
	 */
	if (file_inode(file)->i_sb->s_magic == FUSE_SUPER_MAGIC) {
		got = read_at(file, buf, min_t(size_t, len, FUSE_CHUNK), pos, IOCB_DIRECT);
		if (got != -EINVAL)
			return got;
	}
	return read_at(file, buf, len, pos, 0);
}

/*
 * Reads with the opener's credentials: a FUSE file system answers only users of
 * its user namespace.
 */
ssize_t kunwind_source_read(const struct kunwind_object *object, void *buf, size_t len, loff_t pos)
{
	const struct cred *old = override_creds(object->file->f_cred);
	ssize_t got = read_some(object->file, buf, len, pos);

	revert_creds(old);
	return got;
}

bool kunwind_source_readable(const struct kunwind_object *object)
{
	const struct file *file = object->file;

	return S_ISREG(file_inode(file)->i_mode) && (file->f_mode & FMODE_READ) &&
	       (file->f_mode & FMODE_CAN_READ) && file->f_op->read_iter && !file->f_op->read;
}

/*
 * Returns whether writes may leave the file's times unchanged. write() sets
 * them before it copies the data, and stores through a shared mapping set them
 * only while the page is clean; in file systems in memory, only the first store
 * to a page does. So a file that is open for writing has no table. A memfd's
 * first descriptor does not count as open for writing, but its mappings do.
 */
static bool written_unseen(struct file *file)
{
	if (inode_is_open_for_write(file_inode(file)))
		return true;
	switch (file_inode(file)->i_sb->s_magic) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case HUGETLBFS_MAGIC:
		return mapping_writably_mapped(file->f_mapping);
	default:
		return false;
	}
}

bool kunwind_source_unchanged(const struct kunwind_object *object)
{
	struct kunwind_object_key now;

	if (object->vdso)
		return true;
	if (written_unseen(object->file))
		return false;
	kunwind_object_key_init(&now, object->file);
	return !memcmp(&now, &object->key, sizeof(now));
}

/* Only remote ones can hang: kunwind_source_stalled() counts no others. */
bool kunwind_source_stalls(const struct kunwind_object *object)
{
	return kunwind_filesystem_hangs(object->key.dev);
}

void kunwind_source_stalled(struct kunwind_object *object)
{
	if (READ_ONCE(object->reading))
		kunwind_filesystem_stalled(object->key.dev);
}
