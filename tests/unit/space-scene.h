/* SPDX-License-Identifier: MIT */
/*
 * space-scene.h - for tests of space.c and snapshot.c: includes them, and has an
 * address space with four mappings
 *
 * The address sanitizer finds leaks. It and the reference counts of kernel.h
 * find memory that is freed too early.
 */
#ifndef _TEST_SPACE_SCENE_H
#define _TEST_SPACE_SCENE_H

#include "kernel.h"
#include "tap.h"

/* How long a sweep takes for each bucket of spaces, in ns. */
static u64 sweep_costs;
#undef cond_resched
#define cond_resched()	do { might_sleep(); now_ns += sweep_costs; } while (0)

/* Trace events: the last one, and their number. */
#define _KUNWIND_EVENTS_H
#define _KUNWIND_EMIT_H
#define KUNWIND_EMIT(event, ...)	(emits(), trace_##event(__VA_ARGS__))
#include "../../kmod/object/object.h"
#include "../../kmod/base/memory_limit.h"
#include "../../kmod/space/snapshot.h"

static u64 told_start;
static pid_t told_tgid;
static unsigned int told, told_under_rcu;
static struct {
	u64 end, offset, bias, ino;
	u32 dev, build_id_len;
	const u8 *build_id;
	const char *path;
} told_map;

static void trace_kunwind_map(pid_t tgid, u64 start, u64 end, u64 offset, u64 bias, u32 dev, u64 ino,
			      const u8 *build_id, u32 build_id_len, const char *path)
{
	told_under_rcu += !!rcu_depth;
	told_start = start;
	told_tgid = tgid;
	told_map.end = end;
	told_map.offset = offset;
	told_map.bias = bias;
	told_map.dev = dev;
	told_map.ino = ino;
	told_map.build_id = build_id;
	told_map.build_id_len = build_id_len;
	told_map.path = path;
	told++;
}

#include "../../kmod/space/snapshot.c"
#include "../../kmod/space/reap.c"
#include "../../kmod/space/changed.c"
#include "../../kmod/space/invalidate.c"
#include "../../kmod/space/space.c"
#include "snapshot.h"
#define kunwind_space_find(mm)	in_rcu((kunwind_space_find)(mm))

/* ----------------------------------------- what these files need of others */

struct kunwind_quota { int refs; s64 bytes; };
static struct kunwind_quota user = { .refs = 1 };
static bool no_room;
static unsigned int refusals;

struct kunwind_object kunwind_object_anonymous = {
	.users = REFCOUNT_INIT(1), .state = KUNWIND_OBJECT_NO_CFI, .build_error = KUNWIND_E_NO_CFI,
};

void kunwind_object_put(struct kunwind_object *object)
{
	if (refcount_dec_and_test(&object->users))
		abort();		/* the test has one of each */
}

void kunwind_name_put(struct kunwind_name *name)
{
	if (name && refcount_dec_and_test(&name->refs))
		abort();		/* the test has one */
}

int kunwind_memory_charge(struct kunwind_quota *quota, size_t bytes)
{
	if (no_room)
		return -ENOSPC;
	quota->bytes += bytes;
	return 0;
}

void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes) { quota->bytes -= bytes; }
void kunwind_memory_refused(void) { refusals++; }

int kunwind_memory_make_room(struct kunwind_quota *quota, size_t bytes)
{
	return kunwind_memory_charge(quota, bytes);
}
#include "memory.h"

struct kunwind_quota *kunwind_quota_get(struct kunwind_quota *quota)
{
	quota->refs++;
	return quota;
}

void kunwind_quota_put(struct kunwind_quota *quota) { quota->refs--; }
void kunwind_result_listen(const struct kunwind_result_listener *listener) { (void)listener; }
static void (*while_settling)(void);	/* runs once */
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *object)
{
	void (*what)(void) = while_settling;

	(void)object;
	while_settling = NULL;
	if (what)
		what();
	return KUNWIND_NO_TABLE;
}

/* --------------------------------------------------------------- the scene */

#define NR	4
#define AT(n)	(0x10000ULL * ((n) + 1))	/* range n; each of 0x2000 bytes */

static struct mm_struct mm, child_mm;
static struct kunwind_object objects[NR];
static struct kunwind_name name = { .refs = REFCOUNT_INIT(1) };	/* of the first two */
static struct kunwind_space *space;

/*
 * An object with a table, one segment of code at file offset and address
 * 0x1000.
 */
static void object_init(struct kunwind_object *object)
{
	memset(object, 0, sizeof(*object));
	refcount_set(&object->users, 1);
	object->state = KUNWIND_OBJECT_READY;
	object->table = (struct kunwind_table *)object;
	object->has_elf = true;
	object->elf.nr_loads = 1;
	object->elf.load[0] = (struct kunwind_elf_load){
		.offset = 0x1000, .vaddr = 0x5000, .filesz = 0x2000, .flags = 1,
	};
}

static u32 chunk_max = NR;		/* ranges in a chunk */

static struct kunwind_snapshot *list(void)
{
	struct kunwind_detail details[NR];
	struct kunwind_range ranges[NR];
	struct kunwind_snapshot *snapshot;
	unsigned int i;

	for (i = 0; i < NR; i++) {
		ranges[i] = (struct kunwind_range){
			.start = AT(i), .end = AT(i) + 0x2000, .reason = KUNWIND_NOT_READY,
		};
		details[i] = (struct kunwind_detail){
			.object = kunwind_object_get(&objects[i]), .offset = 0x1000,
			.name = kunwind_name_get(i < 2 ? &name : NULL),
		};
	}
	snapshot = snapshot_from(ranges, details, NR, chunk_max, &user);
	snapshot->ranges.entry_sp = 0x7ffe0000;
	return snapshot;
}

static void publish(struct kunwind_space *to, struct kunwind_snapshot *snapshot)
{
	spin_lock(&to->lock);
	kunwind_space_publish(to, snapshot);
	to->read_seq = to->map_seq;
	to->changed.nr = 0;
	spin_unlock(&to->lock);
}

static void begin(void)
{
	struct kunwind_snapshot *snapshot;
	unsigned int i;

	for (i = 0; i < NR; i++)
		object_init(&objects[i]);
	space = kunwind_space_link(&mm, 100, true, false, GFP_KERNEL);
	snapshot = list();
	kunwind_snapshot_settle(snapshot);
	kunwind_snapshot_announce(snapshot, 100, NULL);
	publish(space, snapshot);
}

static struct kunwind_ranges *ranges_of(struct kunwind_space *what) { return what->ranges; }

/* Returns which ranges are dead, as a bit mask. */
static u32 dead(struct kunwind_space *what)
{
	u32 i, bits = 0;

	for (i = 0; i < of(what)->nr; i++)
		bits |= !kunwind_range_is_usable(what->ranges, &RANGE(of(what), i)) << i;
	return bits;
}

static void end(const char *what)
{
	bool good = true;
	unsigned int i;

	if (space)
		kunwind_space_unlink(space, 100, true);
	for (i = 0; i < 10 && !llist_empty(&reaped); i++)
		flush_delayed_work(&reap_work);
	for (i = 0; i < NR; i++)
		good &= refcount_read(&objects[i].users) == 1;
	good &= refcount_read(&name.refs) == 1;
	tap_ok(good && !user.bytes && user.refs == 1 && !mm.grabbed && !child_mm.grabbed &&
	       !kunwind_snapshot_bytes() && !kunwind_space_find(&mm) && !kunwind_space_find(&child_mm),
	       "%s: all references and charges are released", what);
}

#endif /* _TEST_SPACE_SCENE_H */
