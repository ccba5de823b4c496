/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm.h - what differs in mm and fs between 6.1 and 7.2
 */
#ifndef _KUNWIND_COMPAT_MM_H
#define _KUNWIND_COMPAT_MM_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/version.h>

/* 6.6 hid i_ctime behind accessors; drop this when 6.1 goes. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define kunwind_inode_ctime(inode)	((inode)->i_ctime)
#else
#define kunwind_inode_ctime(inode)	inode_get_ctime(inode)
#endif

#endif /* _KUNWIND_COMPAT_MM_H */
