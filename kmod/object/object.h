/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object.h - ELF objects and their tables, one for each state of a file
 *
 * object_cache.h keeps them.
 */
#ifndef _KUNWIND_OBJECT_H
#define _KUNWIND_OBJECT_H

#include <linux/refcount.h>

#include "object_type.h"

struct kunwind_build_queue;
struct mm_struct;
struct seq_file;

/* Fills in the key of @file in its present state, from the inode in memory. */
void kunwind_object_key_init(struct kunwind_object_key *key, struct file *file);

/*
 * Returns whether the object is of this file, in any state. Compares only
 * device, inode number and generation: enough for a mapping that has not
 * changed.
 */
bool kunwind_object_key_matches(const struct kunwind_object *object, const struct file *file);

/*
 * Return the object of a mapped file in its present state, or of the vDSO, with
 * a reference. A new object is added to a build queue, and charged to @quota
 * (the vDSO: to nobody); its build is also charged to the memory control group
 * of @mm, which maps the file. Never NULL: without room or memory, they return one
 * object in the state FAILED that stands for all such objects. May sleep.
 */
struct kunwind_object *kunwind_object_get_file(struct file *file, struct kunwind_quota *quota,
					       struct mm_struct *mm);
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

/*
 * Why walks end in an object without a table. It must not be pending.
 * KUNWIND_NO_OBJECT: it is memory of no file, or of a file that has no name and is no
 * ELF file. Walks take code there as a JIT's.
 */
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object);

void kunwind_object_show_dropped(struct seq_file *m);

#endif /* _KUNWIND_OBJECT_H */
