// SPDX-License-Identifier: GPL-2.0-only
/*
 * estimate.c - charge the memory that a build may need
 *
 * A build charges all memory that it can need before it reads the sections, and
 * keeps the charge of its table at the end. So the sum of all tables and of all
 * builds that run stays within max_table_mb. Builds that find no room wait for
 * the end of others; they do not wait for tables in use, which may stay for
 * ever.
 *
 * Context: workers, and jit.c's caller. May sleep.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/wait.h>

#include "../base/memory_limit.h"
#include "estimate.h"
#include "job.h"
#include "object.h"

static atomic_t nr_charged;		/* builds that have charged their estimate */
static DECLARE_WAIT_QUEUE_HEAD(uncharged);

enum kunwind_build_error
kunwind_estimate_charge(struct kunwind_object *object, size_t bytes, unsigned long deadline,
			bool (*aborted)(void *data), void *data)
{
	int err;

	for (;;) {
		err = kunwind_memory_make_room(object->quota, bytes);
		if (!err)
			break;
		if (kunwind_object_next_quota(object, err))
			continue;
		object->over_share = err == -EDQUOT;
		if (object->over_share || !atomic_read(&nr_charged) ||
		    time_after(jiffies, deadline)) {
			object->over_users = object->quota;
			return KUNWIND_E_LIMIT;
		}
		if (aborted(data))
			return KUNWIND_E_ABORTED;
		wait_event_timeout(uncharged, !atomic_read(&nr_charged) || kunwind_jobs_stopping(),
				   HZ / 10);
	}
	atomic_inc(&nr_charged);
	return KUNWIND_OK;
}

bool kunwind_estimate_charge_more(struct kunwind_object *object, size_t bytes, size_t *charged)
{
	if (kunwind_memory_make_room(object->quota, bytes))
		return false;
	*charged += bytes;
	return true;
}

void kunwind_estimate_uncharge(struct kunwind_object *object, size_t charged, size_t kept)
{
	WARN_ON_ONCE(kept > charged);
	kunwind_memory_uncharge(object->quota, charged - kept);
	WARN_ON_ONCE(atomic_dec_return(&nr_charged) < 0);
	wake_up_all(&uncharged);
}

void kunwind_estimates_wake(void)
{
	wake_up_all(&uncharged);
}
