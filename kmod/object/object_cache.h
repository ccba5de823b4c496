/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object_cache.h - the known objects, for object.c
 *
 * What object_cache.c does for other files is declared in object.h.
 */
#ifndef _KUNWIND_OBJECT_CACHE_H
#define _KUNWIND_OBJECT_CACHE_H

#include <linux/spinlock.h>

#include "object.h"

/*
 * All of object_cache.c; users from and to 0, payer, time_payer and name of each
 * object; the lists idle and payer_idle. Process context. Order: docs/locking.md.
 */
extern spinlock_t kunwind_objects_lock;

/* Stands for every object beyond the limit, or without memory. Always stale. */
extern struct kunwind_object kunwind_object_overflow;

/*
 * These need the lock. Objects put on @dead are for
 * kunwind_object_cache_free_dead(), after the lock was released.
 */

/*
 * The object of this state of a file, with a reference; NULL: there is none that
 * @payer can use. A stale one is removed.
 */
struct kunwind_object *kunwind_object_cache_find(const struct kunwind_object_key *key,
						 const struct kunwind_payer *payer,
						 struct list_head *dead);

/*
 * Makes a new object known, and charges its payer for it. Objects without users are
 * given up for it. False: there is no room.
 */
bool __must_check kunwind_object_cache_insert(struct kunwind_object *object,
					      struct list_head *dead);

/* Nothing finds the object any more. Its users keep it. */
void kunwind_object_cache_remove(struct kunwind_object *object);

/* These must not be called with the lock held. */

/* Frees an object that was not charged, or is not any more. */
void kunwind_object_cache_free(struct kunwind_object *object);
void kunwind_object_cache_free_dead(struct list_head *dead);

/* With or without the lock. One more object of @payer; false: the share is used up. */
bool __must_check kunwind_object_cache_charge(struct kunwind_payer *payer);

/* Lines "stat" about objects without users, and the lines "object" and "parts". */
void kunwind_object_cache_show(struct seq_file *m);

#endif /* _KUNWIND_OBJECT_CACHE_H */
