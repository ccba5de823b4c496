/* SPDX-License-Identifier: MIT */
/*
 * announce-test.c - which mappings of an address space are settled, announced
 * and dumped, by a task and by the sweeper
 */
#include <unistd.h>

#include "space-scene.h"

static void test_settle(void)
{
	struct kunwind_snapshot *snapshot;
	u64 at = 0;

	begin();
	objects[0].elf.load[0].offset = 0x8000;		/* its code is at another place of the file */
	objects[1].table = NULL;
	objects[2].state = KUNWIND_OBJECT_PENDING;
	objects[3].jit = true;
	objects[3].has_elf = false;
	snapshot = list();
	DETAIL(snapshot, 3).offset = 0;
	kunwind_snapshot_settle(snapshot);
	tap_ok(!RANGE(snapshot, 0).table && RANGE(snapshot, 0).reason == KUNWIND_NO_TABLE,
	       "settle: a range in none of the file's segments has no table");
	tap_ok(!RANGE(snapshot, 1).table && RANGE(snapshot, 1).reason == KUNWIND_NO_TABLE,
	       "settle: a range of an object without a table has no table");
	tap_ok(!RANGE(snapshot, 2).table && RANGE(snapshot, 2).reason == KUNWIND_NOT_READY &&
	       !snapshot->settled, "settle: a range of a pending object is not ready");
	tap_ok(RANGE(snapshot, 3).table && !RANGE(snapshot, 3).bias,
	       "settle: a range of a JIT's object has bias 0");
	told = 0;
	RANGE(snapshot, 1).dead = 1;
	kunwind_snapshot_announce(snapshot, 100, NULL);
	tap_ok(told == 1 && told_start == AT(0),
	       "announce: ranges of files that are ready; none that is pending, dead or a JIT's");
	objects[2].state = KUNWIND_OBJECT_READY;
	kunwind_snapshot_settle(snapshot);
	tap_ok(snapshot->settled && RANGE(snapshot, 2).table == objects[2].table &&
	       RANGE(snapshot, 2).bias == AT(2) - 0x5000,
	       "settle: a ready object's table has the bias of its segment");
	kunwind_snapshot_announce(snapshot, 100, NULL);
	tap_ok(told == 2 && told_start == AT(2), "announce: each range once");
	tap_ok(kunwind_snapshot_dump(snapshot, 100, &at, ~0U) == 2 && told == 4 && at == U64_MAX,
	       "dump: announced ranges are reported again");
	kunwind_snapshot_destroy(snapshot);
	end("settle");
}

/* The fields of kunwind_map. */
static void test_event(void)
{
	static char path[sizeof(struct kunwind_name) + 16];
	struct kunwind_name *of_file = (struct kunwind_name *)path;
	struct kunwind_object *object = &objects[0];
	struct kunwind_range range = { .start = AT(0), .end = AT(0) + 0x2000, .bias = 0x555500000000 };
	struct kunwind_detail detail = { .object = object, .name = of_file, .offset = 0x123456789000 };

	begin();
	strcpy(of_file->path, "/bin/prog");
	object->key.dev = 0x801;
	object->key.ino = 1ULL << 40;
	object->elf.build_id_len = 20;
	kunwind_trace_map(77, &range, &detail);
	tap_ok(told_tgid == 77 && told_start == AT(0) && told_map.end == AT(0) + 0x2000 &&
	       told_map.offset == 0x123456789000 && told_map.bias == 0x555500000000,
	       "kunwind_map: process, addresses, offset and bias");
	tap_ok(told_map.dev == 0x801 && told_map.ino == 1ULL << 40 &&
	       told_map.build_id == object->elf.build_id &&
	       told_map.build_id_len == 20 && !strcmp(told_map.path, "/bin/prog"),
	       "kunwind_map: file, build-id and path");
	object->has_elf = false;
	kunwind_trace_map(77, &range, &detail);
	tap_ok(!told_map.build_id_len && told_map.ino == 1ULL << 40,
	       "kunwind_map of a file that is no ELF object: no build-id");
	object->has_elf = true;
	object->key.dev = 0;	/* the vDSO: the key holds a pointer */
	object->vdso = (const void *)object;
	detail.name = NULL;
	kunwind_trace_map(77, &range, &detail);
	tap_ok(!told_map.dev && !told_map.ino && told_map.build_id_len == 20 &&
	       !strcmp(told_map.path, "[vdso]"),
	       "kunwind_map of the vDSO: no address of the kernel in the place of the inode");
	end("event");
}

static void test_dump(void)
{
	struct kunwind_snapshot *snapshot;
	static struct kunwind_range ranges[2 * DUMPED + 6];
	static struct kunwind_detail details[ARRAY_SIZE(ranges)];
	const u32 nr = ARRAY_SIZE(ranges);
	u64 at = 0;
	u32 i;

	begin();
	for (i = 0; i < nr; i++) {
		ranges[i] = (struct kunwind_range){ .start = AT(i), .end = AT(i) + 0x10000 };
		details[i] = (struct kunwind_detail){ .object = kunwind_object_get(&objects[0]) };
	}
	snapshot = snapshot_from(ranges, details, nr, 10, &user);
	RANGE(snapshot, 1).dead = true;
	/* reported, although no walk uses it */
	snapshot->ranges.doubt_start = AT(2);
	snapshot->ranges.doubt_end = AT(2) + 1;
	told = 0;
	tap_ok(kunwind_snapshot_dump(snapshot, 100, &at, ~0U) == DUMPED - 1 && told_start == AT(DUMPED - 1) &&
	       at == AT(DUMPED), "dump: the first ranges, except dead ones");
	tap_ok(kunwind_snapshot_dump(snapshot, 100, &at, 10) == 10 && at == AT(DUMPED + 10),
	       "dump: the next ranges, up to the limit");
	tap_ok(kunwind_snapshot_dump(snapshot, 100, &at, DUMPED - 10) == DUMPED - 10 && at == AT(2 * DUMPED),
	       "dump: the ranges after the limit");
	tap_ok(kunwind_snapshot_dump(snapshot, 100, &at, ~0U) == 6 && at == U64_MAX && told == nr - 1,
	       "dump: all ranges, each once");
	kunwind_snapshot_destroy(snapshot);
	end("dump");
}

static void test_sweep(void)
{
	u64 id;

	begin();
	id = ranges_of(space)->id;
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(ranges_of(space)->id == id, "sweep: cached rules stay valid after a build");
	forget_rules();
	flush_delayed_work(&sweeper);
	tap_ok(ranges_of(space)->id == id,
	       "sweep: cached rules stay valid if a table of another process is given up");
	objects[1].state = KUNWIND_OBJECT_FAILED;
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(ranges_of(space)->id == id, "sweep: a failed build alone makes no rule invalid");
	forget_rules();
	flush_delayed_work(&sweeper);
	tap_ok(ranges_of(space)->id != id, "sweep: no cached rule is valid after a table is given up");
	id = ranges_of(space)->id;
	tap_ok(kunwind_snapshot_chunk(of(space), 0)->retry,
	       "sweep: after a table is given up, its build may be repeated at the next read");
	objects[1].state = KUNWIND_OBJECT_PENDING;
	forget_rules();
	flush_delayed_work(&sweeper);
	tap_ok(ranges_of(space)->id == id, "sweep: cached rules stay valid if the object is pending");
	objects[1].state = KUNWIND_OBJECT_READY;
	sweep_costs = NSEC_PER_MSEC;
	forget_rules();
	flush_delayed_work(&sweeper);
	sweep_costs = 0;
	tap_ok(sweep_delay == 1 + 10 * NSEC_PER_MSEC / (NSEC_PER_SEC / HZ),
	       "sweep: the next one is delayed by ten times the duration of the last");
	end("sweep");
}

/* Two spaces in one bucket of the hash, whose mappings no task announces. */
static void test_sweep_announces(void)
{
	static struct mm_struct many[16 << HASH_BITS];
	struct kunwind_space *other, *ended;
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(many) - 1 && bucket(&many[i]) != bucket(&mm); i++)
		;
	other = kunwind_space_link(&many[i], 200, false, false, GFP_KERNEL);
	publish(space, list());
	publish(other, list());
	told = told_under_rcu = 0;
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(told == 2 * NR && RANGE(of(other), 0).table,
	       "sweep: settles and announces all spaces of a bucket");
	tap_ok(!told_under_rcu, "sweep: announces outside RCU read sections");
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(told == 2 * NR, "sweep: announces each mapping once");
	publish(other, list());
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(told == 3 * NR, "sweep: the next one announces what is new");
	sweep_nr = ~0U;
	other->swept = space->swept = 0;
	publish(other, list());
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(told == 4 * NR, "sweep: its number wraps and skips the number of a new space");
	WRITE_ONCE(other->tgid, KUNWIND_NO_TGID);
	publish(other, list());
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(told == 4 * NR && !sweeper.queued,
	       "sweep: nothing is announced for a process that ended, nor swept again");
	WRITE_ONCE(other->tgid, 0);
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(told == 4 * NR && sweeper.queued, "sweep: a child without a number is swept again");
	WRITE_ONCE(other->tgid, 200);
	publish(other, list());
	objects[2].state = KUNWIND_OBJECT_PENDING;
	publish(other, list());
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(told == 5 * NR - 1, "sweep: ends while an object is pending");
	objects[2].state = KUNWIND_OBJECT_READY;
	ended = kunwind_space_get(other);
	refcount_set(&other->refs, 0);
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(told == 5 * NR - 1 && !refcount_read(&ended->refs),
	       "sweep: leaves out a space that is being freed");
	refcount_set(&other->refs, 3);
	kunwind_space_put(ended);
	kunwind_space_unlink(other, 200, false);
	end("sweep, announcements");
}

int main(void)
{
	alarm(60);	/* a sweep that would not end */
	kunwind_space_init();
	test_settle();
	test_event();
	test_dump();
	test_sweep();
	test_sweep_announces();
	return tap_done();
}
