/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm.h - differences of mm and fs between 6.1 and 7.2
 */
#ifndef _KUNWIND_COMPAT_MM_H
#define _KUNWIND_COMPAT_MM_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/version.h>

/* 6.6 hid i_ctime behind accessors. Drop this when 6.1 goes. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define kunwind_inode_ctime(inode)	((inode)->i_ctime)
#else
#define kunwind_inode_ctime(inode)	inode_get_ctime(inode)
#endif

/*
 * The path by which a process opened a mapped file. Since 6.7, f_path of a
 * mapped overlayfs file is its path in the layer, and file_user_path() returns
 * the path of the process. Drop this when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define kunwind_file_path(file)		(&(file)->f_path)
#else
#define kunwind_file_path(file)		file_user_path(file)
#endif

/*
 * The bytes that kmalloc() gives for @size bytes; not 0. 6.2 has a function for
 * this. Drop this when 6.1 goes.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
static inline size_t kunwind_kmalloc_size(size_t size)
{
	if (size > KMALLOC_MAX_CACHE_SIZE)
		return PAGE_SIZE << get_order(size);
	if (size > 64 && size <= 96)
		return 96;
	if (size > 128 && size <= 192)
		return 192;
	return roundup_pow_of_two(max_t(size_t, size, KMALLOC_MIN_SIZE));
}
#else
#define kunwind_kmalloc_size(size)	kmalloc_size_roundup(size)
#endif

/* bcachefs was in 6.7 to 6.17. Its header was never public. */
#define KUNWIND_BCACHEFS_MAGIC	0xca451a4e

#endif /* _KUNWIND_COMPAT_MM_H */
