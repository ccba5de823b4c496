/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object.h - ELF objects and their tables, one for each state of a file
 */
#ifndef _KUNWIND_OBJECT_H
#define _KUNWIND_OBJECT_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/stddef.h>

#include "../base/quota.h"
#include "../core/cfi/elf.h"
#include "name.h"

struct file;
struct kunwind_build_queue;
struct seq_file;
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
 * @state: enum kunwind_object_state. After it was read (acquire) as other than
 *	PENDING, the members from build_error to done_at are valid and constant.
 *	Exception: while building_parts is set, stats changes, and a failure may
 *	still change state, build_error and done_at; walks get the reason from
 *	the table.
 * @quota: of the user to whom object and table are charged; NULL: nobody
 * @time_quota: of the user to whom the processor time of the build is charged;
 *	NULL: nobody
 * @requests: the build requests of the users who map the file, until the build
 *	is over
 * @queued: the object waits in a queue of each of these users
 * @gone: the file has no name any more, or is in another state now: probably
 *	no other process will map this object
 * @over_share: refused because the share of memory of its user is used up
 * @over_users: refused for lack of memory while a user was charged; there may
 *	be memory for CAP_SYS_ADMIN
 * @building_parts: the table is in use while its second stage builds its parts
 *	(part_builder.c)
 * @parts_done: completed at the end of the second stage
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

int kunwind_object_init(void);
/* All references must have been put. Frees the idle objects. */
void kunwind_object_exit(void);

/* Fills in the key of @file in its present state, from the inode in memory. */
void kunwind_object_key_init(struct kunwind_object_key *key, struct file *file);

/*
 * Returns whether the object is of this file, in any state. Compares only
 * device, inode number and generation: enough for a mapping that has not
 * changed.
 */
bool kunwind_object_of(const struct kunwind_object *object, const struct file *file);

/*
 * Return the object of a mapped file in its present state, or of the vDSO, with
 * a reference. A new object is added to a build queue, and charged to @quota
 * (the vDSO: to nobody). Never NULL: without room or memory, they return one
 * object in the state FAILED that stands for all such objects. May sleep.
 */
struct kunwind_object *kunwind_object_get_file(struct file *file, struct kunwind_quota *quota);
struct kunwind_object *kunwind_object_get_vdso(const struct vdso_image *image);

/*
 * Stands for executable memory of no file (a JIT's), because a walk must know
 * that the memory is executable. Its ranges have no table, and the reason
 * KUNWIND_NO_OBJECT.
 */
extern struct kunwind_object kunwind_object_anonymous;

/*
 * Returns a pending object for code that a process hands in, with a reference.
 * ERR_PTR(-ENOMEM); ERR_PTR(-ENOSPC): the user of @quota has too many objects.
 * No lookup finds the object. May sleep.
 */
struct kunwind_object *kunwind_object_new_jit(struct kunwind_quota *quota);

/* Gives the status the name that a process has for the object. No sleep. */
void kunwind_object_set_name(struct kunwind_object *object, struct kunwind_name *name);

/* The path of @object for a process that has @name (or NULL). Never NULL. */
static inline const char *kunwind_object_path(const struct kunwind_object *object,
					      const struct kunwind_name *name)
{
	if (name)
		return name->path;
	return object->vdso ? "[vdso]" : "?";
}

/*
 * Returns whether the object is code of no file, which trace events do not
 * report.
 */
static inline bool kunwind_object_is_nameless(const struct kunwind_object *object)
{
	return object == &kunwind_object_anonymous || object->jit;
}

/* Takes one more reference; the object must have users. Any context. */
static inline struct kunwind_object *kunwind_object_get(struct kunwind_object *object)
{
	refcount_inc(&object->users);
	return object;
}

/* Gives a reference up. May sleep; not under kunwind_objects_lock. */
void kunwind_object_put(struct kunwind_object *object);

/*
 * Returns whether work on the object should end: the caller has the only
 * reference, and the file has gone or the user who is charged for the time is
 * over the budget. If so, no lookup finds the object any more.
 */
bool kunwind_object_unwanted(struct kunwind_object *object);

/*
 * Returns whether anyone except the caller has a reference. If not, a task that
 * takes one later sees all that the caller wrote before the call.
 */
bool kunwind_object_has_users(struct kunwind_object *object);

/*
 * Takes the next object to build out of @queue, and out of all other queues.
 * Returns it with the reference of the build; NULL: none waits. *@wanted: a
 * process still uses the object. If so, object and time are charged to @quota,
 * that of the queue's user, from now on; only the time if the user has too many
 * objects. If not, no lookup finds the object any more. No sleep.
 */
struct kunwind_object *kunwind_object_next(struct kunwind_build_queue *queue,
					   struct kunwind_quota *quota, bool *wanted);

/*
 * Adds a build request of the user of @quota, whose process maps the object's
 * @file (NULL: the vDSO), so that the build does not wait for another user's
 * builds. No effect after the build, if the user already has a request, or if 64
 * users have one (unless @quota is NULL). Only for an object that the process
 * already has; kunwind_object_get_file() does this itself. May sleep.
 */
void kunwind_object_offer(struct kunwind_object *object, struct kunwind_quota *quota,
			  struct file *file);

/*
 * Chooses the user to whom the time of the build is charged from now on:
 * nobody, if a user who maps the file has CAP_SYS_ADMIN; otherwise a user
 * within the budget, if there is one. Returns that user's quota with a
 * reference; NULL: nobody is charged.
 */
struct kunwind_quota *kunwind_object_time_quota(struct kunwind_object *object);

/*
 * Takes the turn of the user who is charged for the time. If another job has
 * that turn, takes the turn of another user who maps the file and is within the
 * budget, or of any other user if none is within the budget; from now on, the
 * time is charged to this user. *@quota: of the user
 * whose turn was taken, with a reference; NULL: nobody is charged, or no turn
 * was taken. Returns false if no turn is free.
 */
bool __must_check kunwind_object_take_turn(struct kunwind_object *object, enum kunwind_turn turn,
					   struct kunwind_quota **quota);

/*
 * Charges object and table to another user who maps the file, because a charge
 * for the user of object->quota failed with @err. -EDQUOT: that user's share has
 * no room. -ENOSPC: the limit of all users is reached; then only CAP_SYS_ADMIN
 * (nobody is charged) may have room. Only for the builder, before it charges
 * memory. Returns false if no other user is left.
 */
bool __must_check kunwind_object_next_quota(struct kunwind_object *object, int err);

/* Call after the build with its second stage: frees the build requests. */
void kunwind_object_build_over(struct kunwind_object *object);

/* Any context. See @state of struct kunwind_object. */
static inline enum kunwind_object_state kunwind_object_state(const struct kunwind_object *object)
{
	return smp_load_acquire(&object->state);
}

/* Counts a new table, whose memory has been charged. For the builder. */
void kunwind_object_built(struct kunwind_object *object);

/*
 * Returns whether a new build of the object, for the user of @quota, may have
 * another result.
 */
bool kunwind_object_stale(const struct kunwind_object *object, const struct kunwind_quota *quota);

/* Why walks end in an object without a table. It must not be pending. */
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object);

/* Adds to objects, table_bytes and table_rows. */
void kunwind_object_stats(struct kunwind_stats *stats);
void kunwind_object_show_params(struct seq_file *m);
void kunwind_object_show_dropped(struct seq_file *m);
/* Lines "stat" about idle objects, and the lines "object" and "parts". */
void kunwind_object_show(struct seq_file *m);

#endif /* _KUNWIND_OBJECT_H */
