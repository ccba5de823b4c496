/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * estimate.h - charge the memory that a build may need
 */
#ifndef _KUNWIND_ESTIMATE_H
#define _KUNWIND_ESTIMATE_H

#include "../core/kunwind_core.h"

struct kunwind_object;

/**
 * kunwind_estimate_charge() - charge @bytes for the build of @object
 * @deadline: jiffies
 * @aborted: returns whether the build must end; gets @data
 * Charges the first user who maps the file and whose share has room. If the
 * limit of all users is reached, nobody is charged if CAP_SYS_ADMIN maps the
 * file: more memory is reserved for that. If there is no room for that either,
 * this waits while other builds have charges, until the deadline. May sleep. If
 * it fails, nothing is charged.
 */
enum kunwind_build_error __must_check
kunwind_estimate_charge(struct kunwind_object *object, size_t bytes, unsigned long deadline,
			bool (*aborted)(void *data), void *data);

/*
 * Charges @bytes more for a build that kunwind_estimate_charge() has charged, and adds them to
 * *@charged. Does not wait. May sleep. Returns false, with nothing charged, if there is no room.
 */
bool __must_check kunwind_estimate_charge_more(struct kunwind_object *object, size_t bytes,
					       size_t *charged);

/* At the end of the build: uncharges all but @kept bytes (the table). */
void kunwind_estimate_uncharge(struct kunwind_object *object, size_t charged, size_t kept);

/* Wakes builds that wait, so that they check whether they must end. */
void kunwind_estimates_wake(void);

#endif /* _KUNWIND_ESTIMATE_H */
