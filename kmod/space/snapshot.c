// SPDX-License-Identifier: GPL-2.0-only
/*
 * snapshot.c - the executable mappings of a space at one time
 *
 * Makes, fills in, reports, copies and frees snapshots and their chunks, in
 * process context. read_mappings.c reads the mappings; snapshot.h says how a
 * snapshot may change, and what memory it takes, which counts towards
 * max_table_mb and is charged to the owner of the process.
 *
 * Marks in a chunk say that it is settled and announced, so that a snapshot of
 * known chunks is settled and announced without a look at each range.
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

u64 kunwind_snapshot_bytes(void)
{
	return atomic64_read(&map_bytes);
}

/* ------------------------------------------------------------------ chunks */

struct kunwind_chunk *kunwind_chunk_alloc(u32 nr, struct kunwind_quota *quota, gfp_t gfp)
{
	struct kunwind_chunk *chunk;
	size_t size = struct_size(chunk, range, nr) + nr * sizeof(*chunk->detail);

	if (WARN_ON_ONCE(!nr || nr > KUNWIND_CHUNK_MAX))
		return NULL;
	chunk = kunwind_memory_alloc(quota, size, gfp, &size);
	if (!chunk)
		return NULL;
	atomic64_add(size, &map_bytes);
	chunk->size = size;
	chunk->quota = kunwind_quota_get(quota);
	refcount_set(&chunk->refs, 1);
	chunk->nr = nr;
	chunk->detail = (struct kunwind_detail *)&chunk->range[nr];
	return chunk;
}

/* Returns whether the build of the object failed. */
static bool failed(const struct kunwind_object *object)
{
	const u32 state = kunwind_object_state(object);

	return state == KUNWIND_OBJECT_FAILED || state == KUNWIND_OBJECT_REFUSED;
}

void kunwind_chunk_filled(struct kunwind_chunk *chunk)
{
	u32 i;

	chunk->solid = true;
	chunk->nr_maps = 0;
	for (i = 0; i < chunk->nr; i++) {
		WARN_ON_ONCE(!chunk->detail[i].object || chunk->range[i].start >= chunk->range[i].end ||
			     (i && chunk->range[i - 1].end > chunk->range[i].start));
		if (chunk->range[i].dead || (i && chunk->range[i - 1].end != chunk->range[i].start))
			chunk->solid = false;
		chunk->nr_maps += chunk->detail[i].object != &kunwind_object_anonymous;
		chunk->retry |= failed(chunk->detail[i].object);
	}
}

void kunwind_chunk_put(struct kunwind_chunk *chunk)
{
	struct kunwind_quota *quota = chunk->quota;
	u32 i;

	if (!refcount_dec_and_test(&chunk->refs))
		return;
	for (i = 0; i < chunk->nr; i++) {
		kunwind_name_put(chunk->detail[i].name);
		kunwind_object_put(chunk->detail[i].object);
	}
	atomic64_sub(chunk->size, &map_bytes);
	kunwind_memory_free(quota, chunk, chunk->size);
	kunwind_quota_put(quota);
}

void kunwind_range_copy(struct kunwind_range *to, struct kunwind_detail *to_detail,
			const struct kunwind_range *from, const struct kunwind_detail *from_detail)
{
	*to_detail = (struct kunwind_detail){
		.object = kunwind_object_get(from_detail->object),
		.name = kunwind_name_get(from_detail->name),
		.offset = from_detail->offset,
		.announced = READ_ONCE(from_detail->announced),
		.died = READ_ONCE(from_detail->died),
	};
	/* In reverse order of chunk_settle(). */
	to->reason = smp_load_acquire(&from->reason);
	to->table = smp_load_acquire(&from->table);
	to->bias = READ_ONCE(from->bias);
	to->start = from->start;
	to->end = from->end;
	to->dead = READ_ONCE(from->dead);
}

static struct kunwind_chunk *chunk_copy(const struct kunwind_chunk *from)
{
	struct kunwind_chunk *to = kunwind_chunk_alloc(from->nr, from->quota, GFP_ATOMIC);
	u32 i;

	if (!to)
		return NULL;
	/* Before what these say of the ranges. */
	to->announced = smp_load_acquire(&from->announced);
	to->settled = smp_load_acquire(&from->settled);
	for (i = 0; i < from->nr; i++)
		kunwind_range_copy(&to->range[i], &to->detail[i], &from->range[i], &from->detail[i]);
	kunwind_chunk_filled(to);
	return to;
}

bool kunwind_range_needs_others(const struct kunwind_range *range, const struct kunwind_detail *detail)
{
	const struct kunwind_object *object = detail->object;
	struct kunwind_elf_biases biases;

	if (kunwind_object_state(object) == KUNWIND_OBJECT_PENDING)
		return true;
	if (!object->has_elf)
		return false;
	kunwind_elf_biases(&object->elf, range->start, range->end - range->start, detail->offset, &biases);
	return biases.nr > 1;
}

/*
 * Finds the bias of a range. If two segments share a page of the file, the other
 * mappings of the file near it decide, dead or not: a range that dies later must
 * not make a difference. Otherwise, returns false, and *bias stays.
 */
static bool bias_of(const struct kunwind_snapshot *snapshot, struct kunwind_place place, u64 *bias)
{
	struct kunwind_detail *detail, *of;
	const struct kunwind_range *range = kunwind_snapshot_at(snapshot, place, &detail), *other;
	const struct kunwind_elf *elf = &detail->object->elf;
	struct kunwind_elf_biases biases;
	u32 n = 0;

	kunwind_elf_biases(elf, range->start, range->end - range->start, detail->offset, &biases);
	if (biases.nr > 1)
		while (n < KUNWIND_SIBLINGS && kunwind_place_before(snapshot, &place))
			n++;
	for (n += KUNWIND_SIBLINGS + 1; biases.nr > 1 && n; n--) {
		other = kunwind_snapshot_at(snapshot, place, &of);
		if (!other)
			break;
		if (other != range && of->object == detail->object)
			kunwind_elf_biases_narrow(elf, &biases, other->start, other->end - other->start,
						  of->offset);
		kunwind_place_next(snapshot, &place);
	}
	if (biases.nr != 1)
		return false;
	*bias = biases.bias[0];
	return true;
}

static void chunk_settle(const struct kunwind_snapshot *snapshot, u32 nr)
{
	struct kunwind_chunk *chunk = kunwind_snapshot_chunk(snapshot, nr);
	bool settled = true;
	u32 i;

	for (i = 0; i < chunk->nr; i++) {
		struct kunwind_range *range = &chunk->range[i];
		struct kunwind_detail *detail = &chunk->detail[i];
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
			known = bias_of(snapshot, (struct kunwind_place){ nr, i }, &bias);
		if (object->jit) {
			known = true;
			bias = 0;
		}
		if (failed(object))
			WRITE_ONCE(chunk->retry, true);
		/* Other neighbours have changed the result of an earlier read. */
		if (READ_ONCE(range->bias) != bias)
			WRITE_ONCE(detail->announced, false);
		WRITE_ONCE(range->bias, bias);
		if (object->table && known)
			/* The walk reads the table, then the bias. */
			smp_store_release(&range->table, object->table);
		else
			smp_store_release(&range->reason, kunwind_object_reason(object));
	}
	/* Pairs with chunk_copy(). */
	if (settled)
		smp_store_release(&chunk->settled, true);
}

/*
 * Announces the ranges of a chunk of @snapshot. Returns false, too early, if
 * *@published is another snapshot now.
 */
static bool chunk_announce(const struct kunwind_snapshot *snapshot, struct kunwind_chunk *chunk,
			   pid_t tgid, struct kunwind_ranges __rcu *const *published)
{
	bool all = READ_ONCE(chunk->settled);
	u32 i;

	for (i = 0; i < chunk->nr; i++) {
		struct kunwind_detail *detail = &chunk->detail[i];
		const struct kunwind_range *range = &chunk->range[i];

		if (published && rcu_access_pointer(*published) != &snapshot->ranges)
			return false;
		if (READ_ONCE(detail->announced) || kunwind_range_is_dead(range) ||
		    kunwind_object_is_nameless(detail->object) ||
		    kunwind_object_state(detail->object) == KUNWIND_OBJECT_PENDING)
			continue;
		/* A doubted range is announced after the next read. */
		if (!kunwind_range_is_usable(&snapshot->ranges, range)) {
			all = false;
			continue;
		}
		if (xchg(&detail->announced, true))
			continue;
		kunwind_trace_map(tgid, range, detail);
		/* A tracer may record a stack with each of thousands of events. */
		cond_resched();
	}
	/* Pairs with chunk_copy(). */
	if (all)
		smp_store_release(&chunk->announced, true);
	return true;
}

/* --------------------------------------------------------------- snapshots */

static const struct kunwind_range_chunk *chunks(const struct kunwind_snapshot *snapshot)
{
	return (const struct kunwind_range_chunk *)(snapshot + 1);
}

struct kunwind_snapshot *kunwind_snapshot_alloc(u32 room, struct kunwind_quota *quota, gfp_t gfp)
{
	size_t size = sizeof(struct kunwind_snapshot) + room * sizeof(struct kunwind_range_chunk);
	struct kunwind_snapshot *snapshot;

	snapshot = kunwind_memory_alloc(quota, size, gfp, &size);
	if (!snapshot)
		return NULL;
	atomic64_add(size, &map_bytes);
	snapshot->size = size;
	snapshot->quota = kunwind_quota_get(quota);
	refcount_set(&snapshot->refs, 1);
	snapshot->ranges.chunk = chunks(snapshot);
	snapshot->ranges.id = kunwind_snapshot_new_id();
	return snapshot;
}

void kunwind_snapshot_add(struct kunwind_snapshot *snapshot, struct kunwind_chunk *chunk)
{
	struct kunwind_range_chunk *last = (struct kunwind_range_chunk *)chunks(snapshot) +
					   snapshot->ranges.nr++;

	WARN_ON_ONCE((void *)(last + 1) > (void *)snapshot + snapshot->size);
	WARN_ON_ONCE(snapshot->nr && last[-1].range[last[-1].nr - 1].end > chunk->range[0].start);
	*last = (struct kunwind_range_chunk){
		.start = chunk->range[0].start, .range = chunk->range, .nr = chunk->nr,
	};
	snapshot->nr += chunk->nr;
	snapshot->chunk_size += chunk->size;
	snapshot->nr_maps += chunk->nr_maps;
}

void kunwind_snapshot_share(struct kunwind_snapshot *snapshot, const struct kunwind_snapshot *from,
			    u32 i)
{
	struct kunwind_chunk *chunk = kunwind_snapshot_chunk(from, i);

	/* Before @from is put: pairs with kunwind_snapshot_owns(). */
	if (READ_ONCE(from->foreign))
		WRITE_ONCE(chunk->foreign, true);
	refcount_inc(&chunk->refs);
	kunwind_snapshot_add(snapshot, chunk);
}

void kunwind_snapshot_destroy(struct kunwind_snapshot *snapshot)
{
	struct kunwind_quota *quota = snapshot->quota;
	u32 i;

	might_sleep();
	WARN_ON_ONCE(refcount_read(&snapshot->refs) > 1);
	for (i = 0; i < snapshot->ranges.nr; i++) {
		kunwind_chunk_put(kunwind_snapshot_chunk(snapshot, i));
		cond_resched();
	}
	atomic64_sub(snapshot->size, &map_bytes);
	kunwind_memory_free(quota, snapshot, snapshot->size);
	kunwind_quota_put(quota);
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

struct kunwind_place kunwind_snapshot_after(const struct kunwind_snapshot *snapshot, u64 addr)
{
	struct kunwind_place place = { 0, 0 };
	const struct kunwind_range_chunk *chunk;
	u32 lo = 0, hi = snapshot->ranges.nr, mid;

	/* The first chunk that begins after @addr, and then the one before it. */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (snapshot->ranges.chunk[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return place;
	place.chunk = lo - 1;
	chunk = &snapshot->ranges.chunk[place.chunk];
	lo = 0;
	hi = chunk->nr;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (chunk->range[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	place.nr = lo;
	if (place.nr == chunk->nr)
		place = (struct kunwind_place){ .chunk = place.chunk + 1 };
	return place;
}

struct kunwind_range *kunwind_snapshot_at(const struct kunwind_snapshot *snapshot,
					  struct kunwind_place place, struct kunwind_detail **detail)
{
	struct kunwind_chunk *chunk;

	if (place.chunk >= snapshot->ranges.nr)
		return NULL;
	chunk = kunwind_snapshot_chunk(snapshot, place.chunk);
	if (detail)
		*detail = &chunk->detail[place.nr];
	return &chunk->range[place.nr];
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
	to->ranges.doubt_start = from->ranges.doubt_start;
	to->ranges.doubt_end = from->ranges.doubt_end;
	to->full = from->full;
	/* If it is settled or announced, its chunks are, and all copies of them. */
	to->announced = smp_load_acquire(&from->announced);
	to->settled = smp_load_acquire(&from->settled);
	for (i = 0; i < from->ranges.nr; i++)
		kunwind_snapshot_share(to, from, i);
	return to;
}

static void add_known(struct kunwind_cover *known, u64 *reached, u64 start, u64 end, bool object)
{
	known->any = true;
	known->objects |= object;
	known->bytes += end - start;
	if (start > *reached) {
		if (known->gap_start == known->gap_end)
			known->gap_start = *reached;
		known->gap_end = start;
	}
	*reached = end;
}

struct kunwind_cover kunwind_snapshot_cover(const struct kunwind_snapshot *snapshot, u64 start, u64 end)
{
	struct kunwind_place place = kunwind_snapshot_after(snapshot, start);
	struct kunwind_cover known = { };
	const struct kunwind_range *range;
	const struct kunwind_chunk *chunk;
	u64 reached = start, last;

	while ((range = kunwind_snapshot_at(snapshot, place, NULL)) && range->start < end) {
		chunk = kunwind_snapshot_chunk(snapshot, place.chunk);
		last = chunk->range[chunk->nr - 1].end;
		if (!place.nr && READ_ONCE(chunk->solid) && range->start >= start && last <= end) {
			add_known(&known, &reached, range->start, last, chunk->nr_maps);
			place.chunk++;
			continue;
		}
		if (!kunwind_range_is_dead(range))
			add_known(&known, &reached, max(range->start, start), min(range->end, end),
				  READ_ONCE(range->reason) != KUNWIND_NO_OBJECT);
		kunwind_place_next(snapshot, &place);
	}
	if (reached < end) {
		if (known.gap_start == known.gap_end)
			known.gap_start = reached;
		known.gap_end = end;
	}
	return known;
}

/* Returns whether a snapshot of another mm may have the chunk. */
static bool is_foreign(const struct kunwind_chunk *chunk)
{
	return READ_ONCE(chunk->foreign) && refcount_read(&chunk->refs) != 1;
}

bool kunwind_snapshot_owns(const struct kunwind_snapshot *snapshot, u64 start, u64 end)
{
	u32 i = kunwind_snapshot_after(snapshot, start).chunk;

	if (READ_ONCE(snapshot->foreign) && refcount_read(&snapshot->refs) != 1)
		return false;
	/* Another mm that dropped the snapshot has marked the chunks that it kept. */
	smp_acquire__after_ctrl_dep();
	for (; i < snapshot->ranges.nr && snapshot->ranges.chunk[i].start < end; i++)
		if (is_foreign(kunwind_snapshot_chunk(snapshot, i)))
			return false;
	return true;
}

bool kunwind_snapshot_kill(struct kunwind_snapshot *snapshot, u64 start, u64 end, u32 died, bool own)
{
	struct kunwind_place place = kunwind_snapshot_after(snapshot, start);
	struct kunwind_chunk *chunk, *copy;
	const struct kunwind_range *range;
	u32 i;

	while ((range = kunwind_snapshot_at(snapshot, place, NULL)) && range->start < end) {
		chunk = kunwind_snapshot_chunk(snapshot, place.chunk);
		/* A reader of this mm may just share its chunks: kunwind_snapshot_owns() decides. */
		if (!own && is_foreign(chunk)) {
			copy = chunk_copy(chunk);
			if (!copy)
				return false;
			((struct kunwind_range_chunk *)chunks(snapshot))[place.chunk].range = copy->range;
			/* Not the last one: the snapshot from which this one was made has another. */
			kunwind_chunk_put(chunk);
			chunk = copy;
		}
		WRITE_ONCE(chunk->solid, false);
		WRITE_ONCE(chunk->died, died);
		for (i = place.nr; i < chunk->nr && chunk->range[i].start < end; i++) {
			WRITE_ONCE(chunk->detail[i].died, died);
			WRITE_ONCE(chunk->range[i].dead, true);
		}
		place = (struct kunwind_place){ .chunk = place.chunk + 1 };
	}
	return true;
}

void kunwind_snapshot_settle(struct kunwind_snapshot *snapshot)
{
	bool settled = true;
	u32 i;

	if (READ_ONCE(snapshot->settled))
		return;
	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct kunwind_chunk *chunk = kunwind_snapshot_chunk(snapshot, i);

		if (!READ_ONCE(chunk->settled))
			chunk_settle(snapshot, i);
		settled &= smp_load_acquire(&chunk->settled);
	}
	/* Pairs with kunwind_snapshot_copy(). */
	if (settled)
		smp_store_release(&snapshot->settled, true);
}

bool kunwind_snapshot_find_retired(const struct kunwind_snapshot *snapshot)
{
	bool found = false;
	u32 i, j;

	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct kunwind_chunk *chunk = kunwind_snapshot_chunk(snapshot, i);

		for (j = 0; j < chunk->nr; j++) {
			const struct kunwind_object *object = chunk->detail[j].object;
			const u32 state = kunwind_object_state(object);

			/* A build that fails before walks see its table leaves no table. */
			if (state != KUNWIND_OBJECT_PENDING && state != KUNWIND_OBJECT_READY &&
			    object->table) {
				WRITE_ONCE(chunk->retry, true);
				found = true;
				break;
			}
		}
	}
	return found;
}

bool kunwind_snapshot_announce(struct kunwind_snapshot *snapshot, pid_t tgid,
			       struct kunwind_ranges __rcu *const *published)
{
	bool all = true;
	u32 i;

	if (READ_ONCE(snapshot->announced))
		return true;
	for (i = 0; i < snapshot->ranges.nr; i++) {
		struct kunwind_chunk *chunk = kunwind_snapshot_chunk(snapshot, i);

		if (!READ_ONCE(chunk->announced) && !chunk_announce(snapshot, chunk, tgid, published))
			return false;
		all &= smp_load_acquire(&chunk->announced);
	}
	if (all) {
		/* Its chunks may have been settled as another snapshot's. */
		smp_store_release(&snapshot->settled, true);
		smp_store_release(&snapshot->announced, true);
	}
	return true;
}

/* Returns whether a dump reports the range. */
static bool is_known(const struct kunwind_range *range, const struct kunwind_detail *detail)
{
	/*
	 * Doubted ranges, too: the next read of the mappings takes over
	 * "announced", so these ranges are not announced again when they are
	 * alive.
	 */
	return !kunwind_range_is_dead(range) && !kunwind_object_is_nameless(detail->object) &&
	       kunwind_object_state(detail->object) != KUNWIND_OBJECT_PENDING;
}

u32 kunwind_snapshot_dump(const struct kunwind_snapshot *snapshot, pid_t tgid, u64 *at, u32 max)
{
	struct kunwind_place place = kunwind_snapshot_after(snapshot, *at);
	const struct kunwind_range *range;
	struct kunwind_detail *detail;
	u32 looked_at = 0, nr = 0;

	while ((range = kunwind_snapshot_at(snapshot, place, &detail)) && looked_at++ < DUMPED && nr < max) {
		if (is_known(range, detail)) {
			kunwind_trace_map(tgid, range, detail);
			nr++;
		}
		kunwind_place_next(snapshot, &place);
	}
	*at = range ? range->start : U64_MAX;
	return nr;
}

void kunwind_snapshot_dump_within(const struct kunwind_snapshot *snapshot, pid_t tgid, u32 bytes)
{
	const struct kunwind_range *range;
	struct kunwind_detail *detail;
	struct kunwind_place place;
	u32 pass, cost;

	/* Long paths come last, so that a few of them do not use up the room of all. */
	for (pass = 0; pass < 2; pass++) {
		place = (struct kunwind_place){ };
		for (; (range = kunwind_snapshot_at(snapshot, place, &detail));
		     kunwind_place_next(snapshot, &place)) {
			cost = EVENT_BYTES + (detail->name ? detail->name->size : 0);
			if ((cost > EVENT_SHORT) != pass || cost > bytes || !is_known(range, detail))
				continue;
			kunwind_trace_map(tgid, range, detail);
			bytes -= cost;
		}
	}
}

u32 kunwind_snapshot_known(const struct kunwind_snapshot *snapshot, u64 at)
{
	struct kunwind_place place = kunwind_snapshot_after(snapshot, at);
	const struct kunwind_range *range;
	struct kunwind_detail *detail;
	u32 nr = 0;

	for (; (range = kunwind_snapshot_at(snapshot, place, &detail)); kunwind_place_next(snapshot, &place))
		nr += is_known(range, detail);
	return nr;
}
