// SPDX-License-Identifier: GPL-2.0-only
/*
 * snapshot.c - the executable mappings of a space at one time
 *
 * Makes, fills in, reports, copies and frees snapshots, in process context.
 * read_mappings.c reads the mappings; snapshot.h says how a snapshot may
 * change.
 *
 * Memory: 96 bytes, and 72 for each range that there is room for, counted
 * towards max_table_mb, and charged to the owner of the process.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "../base/memory_limit.h"
#include "../object/name.h"
#include "../object/object.h"
#include "../object/object_cache.h"
#include "map_event.h"
#include "snapshot.h"

#define DUMPED	64		/* most ranges that one call of a dump looks at */
#define EVENT_BYTES	128	/* of kunwind_map with its build-id, without the path */
#define EVENT_SHORT	(EVENT_BYTES + 256)

static atomic64_t next_id = ATOMIC64_INIT(0);
static atomic64_t map_bytes;

u64 kunwind_snapshot_new_id(void)
{
	return atomic64_inc_return(&next_id);
}

static size_t snapshot_size(u32 nr)
{
	return sizeof(struct kunwind_snapshot) +
	       nr * (sizeof(struct kunwind_range) + sizeof(struct kunwind_detail));
}

struct kunwind_snapshot *kunwind_snapshot_alloc(u32 room, struct kunwind_quota *quota, gfp_t gfp)
{
	size_t size = snapshot_size(room);
	struct kunwind_snapshot *snapshot;

	snapshot = kunwind_memory_alloc(quota, size, gfp, &size);
	if (!snapshot)
		return NULL;
	atomic64_add(size, &map_bytes);
	snapshot->size = size;
	snapshot->quota = kunwind_quota_get(quota);
	refcount_set(&snapshot->refs, 1);
	snapshot->detail = (struct kunwind_detail *)&snapshot->ranges.range[room];
	snapshot->ranges.id = kunwind_snapshot_new_id();
	return snapshot;
}

void kunwind_snapshot_destroy(struct kunwind_snapshot *snapshot)
{
	struct kunwind_quota *quota = snapshot->quota;
	u32 i;

	for (i = 0; i < snapshot->ranges.nr; i++) {
		kunwind_name_put(snapshot->detail[i].name);
		kunwind_object_put(snapshot->detail[i].object);
	}
	atomic64_sub(snapshot->size, &map_bytes);
	kunwind_memory_free(quota, snapshot, snapshot->size);
	kunwind_quota_put(quota);
}

u64 kunwind_snapshot_bytes(void)
{
	return atomic64_read(&map_bytes);
}

static void snapshot_free(struct kunwind_reap *reap)
{
	kunwind_snapshot_destroy(container_of(reap, struct kunwind_snapshot, reap));
}

void kunwind_snapshot_put(struct kunwind_snapshot *snapshot)
{
	if (!snapshot || !refcount_dec_and_test(&snapshot->refs))
		return;
	kunwind_reap(&snapshot->reap, snapshot_free);
}

#define SIBLINGS	16	/* mappings on either side that bias_of() looks at */

/*
 * Finds the bias of a range. If two segments share a page of the file, the other
 * mappings of the file near it decide. Otherwise, returns false, and *bias stays.
 */
static bool bias_of(const struct kunwind_snapshot *snapshot, u32 i, u64 *bias)
{
	const struct kunwind_range *range = snapshot->ranges.range;
	const struct kunwind_detail *detail = snapshot->detail;
	const struct kunwind_elf *elf = &detail[i].object->elf;
	const u32 end = min(snapshot->ranges.nr, i + SIBLINGS + 1);
	struct kunwind_elf_biases biases;
	u32 n;

	kunwind_elf_biases(elf, range[i].start, range[i].end - range[i].start, detail[i].offset,
			   &biases);
	for (n = i - min(i, (u32)SIBLINGS); biases.nr > 1 && n < end; n++)
		if (n != i && detail[n].object == detail[i].object)
			kunwind_elf_biases_narrow(elf, &biases, range[n].start,
						  range[n].end - range[n].start, detail[n].offset);
	if (biases.nr != 1)
		return false;
	*bias = biases.bias[0];
	return true;
}

void kunwind_snapshot_settle(struct kunwind_snapshot *snapshot)
{
	bool settled = true;
	u32 i;

	if (READ_ONCE(snapshot->settled))
		return;
	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct kunwind_range *range = &snapshot->ranges.range[i];
		const struct kunwind_detail *detail = &snapshot->detail[i];
		const struct kunwind_object *object = detail->object;
		u64 bias = range->start - detail->offset;
		bool known = false;

		if (READ_ONCE(range->table) || READ_ONCE(range->reason) != KUNWIND_NOT_READY)
			continue;
		if (kunwind_object_state(object) == KUNWIND_OBJECT_PENDING) {
			settled = false;
			continue;
		}
		if (object->has_elf)
			known = bias_of(snapshot, i, &bias);
		if (object->jit) {
			known = true;
			bias = 0;
		}
		WRITE_ONCE(range->bias, bias);
		if (object->table && known)
			/* The walk reads the table, then the bias. */
			smp_store_release(&range->table, object->table);
		else
			smp_store_release(&range->reason, kunwind_object_reason(object));
	}
	if (settled)
		WRITE_ONCE(snapshot->settled, true);
}

bool kunwind_snapshot_has_retired(const struct kunwind_snapshot *snapshot)
{
	u32 i;

	for (i = 0; i < snapshot->ranges.nr; i++) {
		const struct kunwind_object *object = snapshot->detail[i].object;
		const u32 state = kunwind_object_state(object);

		/* A build that fails before walks see its table leaves no table. */
		if (state != KUNWIND_OBJECT_PENDING && state != KUNWIND_OBJECT_READY &&
		    object->table)
			return true;
	}
	return false;
}

bool kunwind_snapshot_announce(struct kunwind_snapshot *snapshot, pid_t tgid,
			       struct kunwind_ranges __rcu *const *published)
{
	const bool settled = READ_ONCE(snapshot->settled);
	u32 i;

	if (READ_ONCE(snapshot->announced))
		return true;
	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct kunwind_detail *detail = &snapshot->detail[i];

		if (published && rcu_access_pointer(*published) != &snapshot->ranges)
			return false;
		if (READ_ONCE(detail->announced) || READ_ONCE(snapshot->ranges.range[i].dead) ||
		    kunwind_object_is_nameless(detail->object) ||
		    kunwind_object_state(detail->object) == KUNWIND_OBJECT_PENDING)
			continue;
		if (xchg(&detail->announced, true))
			continue;
		kunwind_trace_map(tgid, &snapshot->ranges.range[i], detail);
		/* A tracer may record a stack with each of thousands of events. */
		cond_resched();
	}
	/* Pairs with kunwind_snapshot_copy(). */
	if (settled)
		smp_store_release(&snapshot->announced, true);
	return true;
}

/* Returns whether a dump reports range @i. */
static bool is_known(const struct kunwind_snapshot *snapshot, u32 i)
{
	const struct kunwind_object *object = snapshot->detail[i].object;

	/*
	 * Doubted ranges, too: the next read of the mappings takes over
	 * "announced", so these ranges are not announced again when they are
	 * alive.
	 */
	return !kunwind_range_is_dead(&snapshot->ranges.range[i]) &&
	       !kunwind_object_is_nameless(object) &&
	       kunwind_object_state(object) != KUNWIND_OBJECT_PENDING;
}

u32 kunwind_snapshot_dump(const struct kunwind_snapshot *snapshot, pid_t tgid, u64 *at, u32 max)
{
	const struct kunwind_ranges *ranges = &snapshot->ranges;
	u32 i = kunwind_ranges_behind(ranges, *at);
	u32 end = min(ranges->nr, i + DUMPED), nr = 0;

	for (; i < end && nr < max; i++) {
		if (!is_known(snapshot, i))
			continue;
		kunwind_trace_map(tgid, &ranges->range[i], &snapshot->detail[i]);
		nr++;
	}
	*at = i < ranges->nr ? ranges->range[i].start : U64_MAX;
	return nr;
}

void kunwind_snapshot_dump_within(const struct kunwind_snapshot *snapshot, pid_t tgid, u32 bytes)
{
	const struct kunwind_name *name;
	u32 pass, i, cost;

	/* Long paths come last, so that a few of them do not use up the room of all. */
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < snapshot->ranges.nr; i++) {
			name = snapshot->detail[i].name;
			cost = EVENT_BYTES + (name ? name->size : 0);
			if ((cost > EVENT_SHORT) != pass || cost > bytes || !is_known(snapshot, i))
				continue;
			kunwind_trace_map(tgid, &snapshot->ranges.range[i], &snapshot->detail[i]);
			bytes -= cost;
		}
}

u32 kunwind_snapshot_known(const struct kunwind_snapshot *snapshot, u64 at)
{
	u32 i, nr = 0;

	for (i = kunwind_ranges_behind(&snapshot->ranges, at); i < snapshot->ranges.nr; i++)
		nr += is_known(snapshot, i);
	return nr;
}

u32 kunwind_ranges_behind(const struct kunwind_ranges *ranges, u64 addr)
{
	u32 lo = 0, hi = ranges->nr;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (ranges->range[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct kunwind_snapshot *kunwind_snapshot_copy(const struct kunwind_snapshot *from)
{
	struct kunwind_snapshot *to = kunwind_snapshot_alloc(from->ranges.nr, from->quota, GFP_ATOMIC);
	u32 i;

	if (!to)
		return NULL;
	to->ranges.entry_sp = from->ranges.entry_sp;
	to->ranges.entry = from->ranges.entry;
	to->ranges.interpreter = from->ranges.interpreter;
	to->ranges.nr = from->ranges.nr;
	to->nr_maps = from->nr_maps;
	/* Before the marks of the ranges. */
	to->announced = smp_load_acquire(&from->announced);
	for (i = 0; i < from->ranges.nr; i++) {
		const struct kunwind_range *range = &from->ranges.range[i];

		to->detail[i] = from->detail[i];
		kunwind_object_get(to->detail[i].object);
		kunwind_name_get(to->detail[i].name);
		/* In reverse order of kunwind_snapshot_settle(). */
		to->ranges.range[i].reason = smp_load_acquire(&range->reason);
		to->ranges.range[i].table = smp_load_acquire(&range->table);
		to->ranges.range[i].bias = READ_ONCE(range->bias);
		to->ranges.range[i].start = range->start;
		to->ranges.range[i].end = range->end;
		to->ranges.range[i].dead = READ_ONCE(range->dead);
	}
	return to;
}
