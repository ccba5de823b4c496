/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object_type.h - struct kunwind_object: one ELF file in one state
 */
#ifndef _KUNWIND_OBJECT_TYPE_H
#define _KUNWIND_OBJECT_TYPE_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/stddef.h>

#include "../base/quota.h"
#include "../uapi/kunwind.h"
#include "../core/cfi/elf.h"
#include "name.h"

struct file;
struct mem_cgroup;
struct vdso_image;

/*
 * Identifies one state of one file: the members before size identify the file,
 * the others the state. All 0 for a JIT's code. Keys are compared as bytes, so
 * the structure has no holes.
 */
struct kunwind_object_key {
	u64 ino;		/* inode number; the vDSO: address of its image */
	u32 generation;
	u32 dev;		/* new_encode_dev(); 0: the vDSO, or no file */
	u32 epoch;		/* of the device number: see filesystem.h */
	u32 handle[5];		/* file handle, if inode numbers repeat in the file system; or 0 */
	u64 size;		/* bytes */
	s64 ctime_sec;
	u32 ctime_nsec;
	u32 pad;
};
#define KUNWIND_KEY_FILE	offsetof(struct kunwind_object_key, size)

/**
 * struct kunwind_object - one ELF file in one state, the vDSO, or code of a JIT
 * @users: references of ranges, of the build, and of its second stage; 0: the
 *	object is only kept for reuse (idle)
 * @state: enum kunwind_object_state. Once a reader has loaded (acquire) another
 *	state than PENDING, the members from build_error to done_at are valid and
 *	do not change. Exception: while building_parts is set, stats changes, and a failure may
 *	still change state, build_error and done_at; walks get the reason from
 *	the table.
 * @quota: of the user to whom object and table are charged; NULL: nobody
 * @time_quota: of the user to whom the processor time of the build is charged;
 *	NULL: nobody
 * @memcg: memory control group of the process that mapped the file first, until
 *	the build is over: charged for the memory and the page cache of the
 *	build, and so for the table; NULL: nobody
 * @requests: the build requests of the users who map the file, until the build
 *	is over
 * @queued: the object waits in a queue of each of these users
 * @gone: the file has no name any more, or is in another state now: probably
 *	no other process will map this object
 * @over_share: refused because the share of memory of its user is used up
 * @over_users: refused for lack of memory while a user was charged; there may
 *	be memory for CAP_SYS_ADMIN
 * @building_parts: the table is in use while the later stages of the build run: its parts
 *	(part_builder.c), and rows from code (code_builder.c)
 * @parts_done: completed at the end of the last stage
 * @late_until: no task waits for a part of the table before this jiffy; or 0
 * @jit: a process handed the object in, for one range of its own (jit.c)
 */
struct kunwind_object {
	struct hlist_node node;
	struct list_head idle;		/* in the list of all idle objects, or of dead ones */
	struct list_head quota_idle;	/* in the list of its user's idle objects */
	refcount_t users;
	struct kunwind_object_key key;
	struct kunwind_name *name;	/* for the status; under kunwind_objects_lock; or NULL */
	/*
	 * name->quota, only to compare; ERR_PTR(): no name yet. Written under
	 * kunwind_objects_lock.
	 */
	const struct kunwind_quota *name_quota;

	u32 state;
	u32 build_error;		/* enum kunwind_build_error */
	struct kunwind_table *table;
	struct kunwind_table_stats stats;
	struct kunwind_elf elf;
	bool has_elf;		/* elf is valid */
	unsigned long done_at;	/* jiffies */
	u32 stalls;		/* waits for the object that timed out */
	struct kunwind_quota *quota;
	struct kunwind_quota *time_quota;
	struct mem_cgroup *memcg;
	bool gone;
	bool over_share;
	bool over_users;
	bool building_parts;
	bool jit;
	unsigned long late_until;

	struct completion done;
	struct completion parts_done;
	/* For the build. */
	struct list_head requests;
	bool queued;
	struct file *file;		/* NULL after the worker has closed it */
	bool remote;			/* the file is on a remote file system */
	bool reading;			/* remote, and the last read is not over */
	bool module_held;		/* the build has a reference to the module: see source.c */
	const struct vdso_image *vdso;
};

/* Any context. See @state of struct kunwind_object. */
static inline enum kunwind_object_state kunwind_object_state(const struct kunwind_object *object)
{
	return smp_load_acquire(&object->state);
}

/* The path of @object for a process that has @name (or NULL). Never NULL. */
static inline const char *kunwind_object_path(const struct kunwind_object *object,
					      const struct kunwind_name *name)
{
	if (name)
		return name->path;
	return object->vdso ? "[vdso]" : "?";
}

#endif /* _KUNWIND_OBJECT_TYPE_H */
