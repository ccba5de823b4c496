// SPDX-License-Identifier: GPL-2.0-only
/*
 * part.c - parts of tables that a walk has missed
 *
 * A walk that needs a part that is not built (part_builder.c) ends there, and
 * leaves a request (fault_in.c) with the address of the code. The task looks
 * the address up in its own space, because its mappings may have changed
 * meanwhile, and waits until the part is built. After a wait for a part has
 * timed out, no task waits for that object for a second.
 *
 * kunwind_part_wait() sleeps in the walked task, before it returns to user
 * mode. kunwind_part_missing(): any context, NMI included.
 */
#include <linux/jiffies.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>

#include "../base/quota.h"
#include "../object/part_builder.h"
#include "../object/object.h"
#include "part.h"
#include "snapshot.h"
#include "space.h"

bool notrace kunwind_part_missing(const struct kunwind_range *range, u64 addr)
{
	const struct kunwind_table *table;

	if (!range || READ_ONCE(range->dead))
		return false;
	/* As in a walk: bias is written before table. */
	table = READ_ONCE(range->table);
	barrier();
	return table && kunwind_table_part(&table, addr - range->bias) == KUNWIND_NOT_READY;
}

enum part_state {
	PART_GONE,	/* the mapping or its table has gone */
	PART_THERE,
	PART_MISSING,
	PART_LATE,	/* missing; tasks wait for no part of this object now */
};

/* @timed_out: a wait for this part has timed out. */
static enum part_state part_state(const struct mm_struct *mm, u64 addr, bool timed_out)
{
	enum part_state state = PART_GONE;
	const struct kunwind_range *range;
	struct kunwind_object *object;
	struct kunwind_ranges *ranges;
	struct kunwind_space *space;

	rcu_read_lock();
	space = kunwind_space_find(mm);
	ranges = space ? rcu_dereference(space->ranges) : NULL;
	range = ranges ? kunwind_ranges_find(ranges, addr) : NULL;
	if (range && kunwind_range_is_usable(ranges, range) && READ_ONCE(range->table))
		state = kunwind_part_missing(range, addr) ? PART_MISSING : PART_THERE;
	if (state == PART_MISSING) {
		const struct kunwind_snapshot *snapshot = kunwind_snapshot_of(ranges);
		struct kunwind_detail *detail;
		unsigned long late;

		if (!kunwind_snapshot_at(snapshot, kunwind_snapshot_after(snapshot, addr), &detail)) {
			state = PART_GONE;
			goto out;
		}
		object = detail->object;
		if (timed_out)
			WRITE_ONCE(object->late_until, (jiffies + HZ) | 1);
		late = READ_ONCE(object->late_until);
		if (late && time_before(jiffies, late))
			state = PART_LATE;
	}
out:
	rcu_read_unlock();
	return state;
}

struct part_wait {
	const struct mm_struct *mm;
	u64 addr;
	enum part_state state;
};

static bool is_over(void *data)
{
	struct part_wait *wait = data;

	wait->state = part_state(wait->mm, wait->addr, false);
	return wait->state != PART_MISSING;
}

int kunwind_part_wait(const struct mm_struct *mm, u64 addr, unsigned long timeout)
{
	struct part_wait wait = { .mm = mm, .addr = addr };

	if (!is_over(&wait))
		kunwind_quota_wake_turns();
	if (!kunwind_part_builder_wait(is_over, &wait, timeout))
		wait.state = part_state(mm, addr, timeout);
	switch (wait.state) {
	case PART_THERE:
		return 0;
	case PART_GONE:
		return -ENOENT;
	default:
		return -ETIME;
	}
}
