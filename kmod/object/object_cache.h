/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object_cache.h - the known objects
 *
 * The lock, kunwind_object_cache_overflow and all functions up to
 * kunwind_object_cache_charge() are for object.c. All files use the others.
 */
#ifndef _KUNWIND_OBJECT_CACHE_H
#define _KUNWIND_OBJECT_CACHE_H

#include <linux/spinlock.h>

#include "object_type.h"

struct seq_file;

/*
 * Protects the data of object_cache.c and the lists idle and quota_idle. Of each
 * object, it protects quota, time_quota, requests and name, and changes of users
 * from 0 or to 0. Process context. Order: docs/locking.md.
 */
extern spinlock_t kunwind_objects_lock;

/* Stands for all objects without room or memory. FAILED, and always stale. */
extern struct kunwind_object kunwind_object_cache_overflow;

/*
 * Callers of these hold the lock. After they have released it, they pass @dead
 * to kunwind_object_cache_free_dead().
 */

/*
 * Returns the object of this state of a file, with a reference; NULL: there is
 * none that the user of @quota can use. Removes it if it is stale for that
 * user.
 */
struct kunwind_object *kunwind_object_cache_find(const struct kunwind_object_key *key,
						 const struct kunwind_quota *quota,
						 struct list_head *dead);

/*
 * Adds a new object, and counts it in its quota. Idle objects are freed to make
 * room for it. Returns false if there is no room.
 */
bool __must_check kunwind_object_cache_insert(struct kunwind_object *object,
					      struct list_head *dead);

/* No lookup finds the object any more. Its users keep it. */
void kunwind_object_cache_remove(struct kunwind_object *object);

/*
 * The last reference was dropped: keeps the object for the next process, or
 * frees it.
 */
void kunwind_object_cache_last_put(struct kunwind_object *object, struct list_head *dead);

/* Callers of these do not hold the lock. */

/* Frees an object that is in no list and not counted in its quota. */
void kunwind_object_cache_free(struct kunwind_object *object);
void kunwind_object_cache_free_dead(struct list_head *dead);

/*
 * Counts one object in @quota. False: the user's share is used up. With or
 * without the lock.
 */
bool __must_check kunwind_object_cache_charge(struct kunwind_quota *quota);

int kunwind_object_cache_init(void);
/* All references must have been put. Frees the idle objects. */
void kunwind_object_cache_exit(void);

/* Counts a new table, whose memory has been charged. For the builder. */
void kunwind_object_cache_built(struct kunwind_object *object);
/* Counts rows that were added to the table of an object; object->stats counts them, too. */
void kunwind_object_cache_added(const struct kunwind_table_stats *stats);

/*
 * Returns whether a new build of the object, for the user of @quota, may have
 * another result.
 */
bool kunwind_object_cache_stale(const struct kunwind_object *object,
				const struct kunwind_quota *quota);

/* Adds to objects, table_bytes and table_rows. */
void kunwind_object_cache_stats(struct kunwind_stats *stats);
void kunwind_object_cache_show_params(struct seq_file *m);
/* Lines "stat" about idle objects, and the lines "object" and "parts". */
void kunwind_object_cache_show(struct seq_file *m);

#endif /* _KUNWIND_OBJECT_CACHE_H */
