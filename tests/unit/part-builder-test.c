/* SPDX-License-Identifier: MIT */
/*
 * part-builder-test.c - the second stage of a big table: its total time, the
 * state of the object after the stage ends or is given up, how long a task
 * waits for a part
 */
#include "kernel.h"
#include "eh.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

static unsigned int waited;
#define wq_has_sleeper(queue)		true
#define wait_event_killable_timeout(queue, condition, timeout)			\
	({									\
		bool met_ = (condition);					\
										\
		if (!met_) {							\
			waited++;						\
			if (while_waiting)					\
				while_waiting();				\
			met_ = (condition);					\
		}								\
		met_ ? 1L : 0L;							\
	})

/* Each part has one FDE. */
#define kunwind_build_parts_begin(section, keep, part_fdes, ...) \
	(kunwind_build_parts_begin)(section, keep, 1, __VA_ARGS__)
#include "../../kmod/object/part_builder.c"
#include "../../kmod/space/part.c"

/* ---------------------------------------------- functions that these call */

#define NR_PARTS	5
#define CHARGED		10000

static struct kunwind_object object;
static struct kunwind_job build;
static struct kunwind_space space;
static struct kunwind_snapshot *snapshot;
static struct kunwind_detail detail;	/* of its only range */

struct kunwind_place kunwind_snapshot_after(const struct kunwind_snapshot *in, u64 addr)
{
	return (struct kunwind_place){ .nr = in->ranges.range[0].end <= addr };
}
struct kunwind_range *kunwind_snapshot_at(const struct kunwind_snapshot *in, struct kunwind_place place,
					  struct kunwind_detail **is)
{
	*is = &detail;
	return place.nr ? NULL : (struct kunwind_range *)&in->ranges.range[0];
}
static struct mm_struct mm;
static u64 used_each;		/* processor time between two checks, in ns */
static u64 given[16];		/* time of each slice, in ns */
static unsigned int slices, in_background, turns, rules_gone, concluded, built, given_back;
static bool retired;		/* the table, when its users were counted */
static size_t uncharged, kept;
static enum kunwind_build_error conclusion;

void kunwind_job_begin(struct kunwind_job *job, struct kunwind_object *of, u64 left)
{
	*job = (struct kunwind_job){ .object = of, .left = left };
	given[slices++ % ARRAY_SIZE(given)] = left;
}
/* As in job.c: the end charges for the time since the last check. */
static u64 used_at_end;
void kunwind_job_end(struct kunwind_job *job) { job->left -= min(job->left, used_at_end); }
void kunwind_job_set_background(struct kunwind_job *job, bool background)
{
	(void)job;
	in_background += background;
}
bool kunwind_job_take_turn(struct kunwind_job *job, enum kunwind_turn kind,
			   bool (*urgent)(void *data), void *data)
{
	(void)kind, (void)urgent, (void)data;
	turns++;
	return job->has_turn = true;
}
bool kunwind_job_may_go_on(struct kunwind_job *job)
{
	jiffies++;
	job->left -= min(job->left, used_each);
	return job->left;
}
static unsigned int woken;
void kunwind_quota_wake_turns(void) { woken++; }
void kunwind_result_set(struct kunwind_object *of, enum kunwind_build_error build_error)
{
	of->build_error = conclusion = build_error;
	concluded++;
}
void kunwind_estimate_uncharge(struct kunwind_object *of, size_t charged, size_t stays)
{
	(void)of;
	uncharged = charged;
	kept = stays;
}
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *of)
{
	return of->build_error ? KUNWIND_NO_TABLE : KUNWIND_COMPLETE;
}
bool kunwind_object_has_users(struct kunwind_object *of)
{
	/* The last part is not built yet. */
	retired = !kunwind_part_missing(&snapshot->ranges.range[0],
					TEXT_LO + 0x10 * (NR_PARTS - 1));
	return refcount_read(&of->users) > 1;
}
void kunwind_object_cache_built(struct kunwind_object *of) { (void)of; built++; }
struct kunwind_code_builder { int unused; };
static struct kunwind_code_builder the_code_builder;
static unsigned int code_started, code_cancelled;
static u64 code_left;
void kunwind_code_builder_start(struct kunwind_code_builder *builder, u64 left)
{
	code_started += builder == &the_code_builder;
	code_left = left;
}
void kunwind_code_builder_cancel(struct kunwind_code_builder *builder)
{
	code_cancelled += builder == &the_code_builder;
}
void kunwind_object_build_over(struct kunwind_object *of) { (void)of; }
void kunwind_object_put(struct kunwind_object *of) { (void)of; given_back++; }
void kunwind_result_rules_gone(void) { rules_gone++; }
struct kunwind_space *kunwind_space_find(const struct mm_struct *of) { return of == &mm ? &space : NULL; }

/* --------------------------------------------------------------- the scene */

/* An object of five parts after its first stage; @left: ns for the second. */
static struct kunwind_part_builder *scene(u64 left)
{
	static struct kunwind_part_builder *builder;
	static struct eh eh;
	struct kunwind_section section;
	size_t cie;
	u32 i;

	if (object.table)
		kunwind_table_free(object.table);
	object = (struct kunwind_object){ .building_parts = true, .users = REFCOUNT_INIT(1) };
	slices = in_background = turns = rules_gone = concluded = built = given_back = waited = 0;
	uncharged = kept = 0;
	eh.size = 0;
	cie = eh_plain_cie(&eh, "0c 07 08 90 01");
	for (i = 0; i < NR_PARTS; i++)
		eh_plain_fde(&eh, cie, TEXT_LO + 0x10 * i, 0x10, "0e 10");
	section = (struct kunwind_section){
		.data = eh.data, .size = eh.size, .addr = EH_ADDR,
		.text_base = TEXT_BASE, .data_base = DATA_BASE, .lo = TEXT_LO, .hi = TEXT_HI,
	};
	used_each = 0;
	build = (struct kunwind_job){ .object = &object, .left = ~0ULL };
	if (kunwind_part_builder_begin(&build, &section, 1 << 20, &builder))
		abort();
	builder->left = left;
	if (!snapshot)
		snapshot = calloc(1, sizeof(*snapshot) + sizeof(struct kunwind_range));
	detail.object = &object;
	snapshot->ranges.nr = 1;
	snapshot->ranges.doubt_start = snapshot->ranges.doubt_end = 0;
	snapshot->ranges.range[0] = (struct kunwind_range){
		.start = TEXT_LO, .end = TEXT_HI, .table = object.table,
	};
	space.ranges = &snapshot->ranges;
	return builder;
}

static u32 parts_built(void)
{
	struct kunwind_table_stats stats;

	kunwind_table_stats(object.table, &stats);
	return stats.parts_built;
}

/* ------------------------------------------------------------------- tests */

static void test_whole(void)
{
	struct kunwind_part_builder *builder = scene(1000);
	const unsigned int woken = part_built.woken;

	kunwind_part_builder_start(builder, malloc(1), CHARGED, NULL);
	drain_workqueue(part_workers);
	tap_ok(parts_built() == NR_PARTS && !concluded, "whole table: all parts are built");
	tap_ok(part_built.woken == woken + NR_PARTS + 1,
	       "whole table: waiting tasks are woken after each part and at the end");
	tap_ok(!object.building_parts && object.parts_done.done && built == 1 && given_back == 1,
	       "whole table: the object is complete, its reference released");
	tap_ok(uncharged == CHARGED && kept == object.stats.bytes && kept,
	       "whole table: the charge is reduced to the table's bytes");
	tap_ok(!rules_gone, "whole table: the caches keep their rules");
	tap_ok(turns == slices && in_background,
	       "whole table: each slice runs in the background, and takes a turn");
}

static void test_time(void)
{
	struct kunwind_part_builder *builder = scene(1000);
	unsigned int i;
	bool less = true;

	used_each = 10;
	kunwind_part_builder_start(builder, malloc(1), CHARGED, NULL);
	drain_workqueue(part_workers);
	for (i = 1; i < slices; i++)
		less &= given[i] < given[i - 1];
	tap_ok(slices > 1 && less && given[0] == 1000 && parts_built() == NR_PARTS,
	       "time: each of %u slices gets what the slices before it left", slices);
	builder = scene(1000);
	used_each = 10;
	used_at_end = 100;
	kunwind_part_builder_start(builder, malloc(1), CHARGED, NULL);
	drain_workqueue(part_workers);
	used_at_end = 0;
	for (i = 1; i < slices; i++)
		less &= given[i] + 100 < given[i - 1];
	tap_ok(slices > 1 && less, "time: what a slice has used at its end counts, too");
	builder = scene(1000);
	used_each = 300;
	kunwind_part_builder_start(builder, malloc(1), CHARGED, NULL);
	drain_workqueue(part_workers);
	tap_ok(concluded == 1 && conclusion == KUNWIND_E_ABORTED,
	       "time: the second stage is given up when its time is used");
}

static void test_given_up(void)
{
	struct kunwind_part_builder *builder = scene(0);
	const struct kunwind_range *range = &snapshot->ranges.range[0];
	const unsigned int periods = grace_periods;

	used_each = 1;
	kunwind_part_builder_start(builder, malloc(1), CHARGED, NULL);
	drain_workqueue(part_workers);
	tap_ok(concluded == 1 && !parts_built(), "given up: no part stays");
	tap_ok(rules_gone == 1 && grace_periods == periods + 1,
	       "given up: the caches forget the table's rules");
	tap_ok(!kunwind_part_missing(range, TEXT_LO) && kunwind_part_wait(&mm, TEXT_LO, HZ) != -ETIME,
	       "given up: no task waits for a part any more");
	tap_ok(uncharged == CHARGED && kept == object.stats.bytes && object.parts_done.done &&
	       given_back == 1, "given up: the charge is reduced to the table's bytes");
}

static void test_given_up_unused(void)
{
	struct kunwind_part_builder *builder = scene(0);
	const unsigned int periods = grace_periods;

	used_each = 1;
	retired = false;
	kunwind_part_builder_start(builder, malloc(1), CHARGED, NULL);
	refcount_dec_and_test(&object.users);	/* the process's */
	drain_workqueue(part_workers);
	tap_ok(concluded == 1 && !parts_built() && given_back == 1, "given up, no users: no part stays");
	tap_ok(!rules_gone && grace_periods == periods,
	       "given up, no users: the caches keep the rules of other tables");
	tap_ok(retired, "given up, no users: the table is retired before its users are counted");
}

/* The stage after this one has what this one has left, unless this one fails. */
static void test_code(void)
{
	struct kunwind_part_builder *builder = scene(1000);

	object.parts_done.done = 0;
	used_each = 10;
	kunwind_part_builder_start(builder, malloc(1), CHARGED, &the_code_builder);
	drain_workqueue(part_workers);
	tap_ok(code_started == 1 && !code_cancelled && code_left && code_left < 1000 &&
	       object.building_parts && !object.parts_done.done,
	       "rows from code: they are made after the last part, in the time that is left");
	builder = scene(0);
	used_each = 1;
	kunwind_part_builder_start(builder, malloc(1), CHARGED, &the_code_builder);
	drain_workqueue(part_workers);
	tap_ok(code_started == 1 && code_cancelled == 1 && !object.building_parts && object.parts_done.done,
	       "rows from code: none if the table is given up");
}

static void all_are_built(void) { drain_workqueue(part_workers); }
static void time_goes_by(void) { jiffies += 10; }

static void test_wait(void)
{
	struct kunwind_part_builder *builder = scene(1000);

	kunwind_part_builder_start(builder, malloc(1), CHARGED, NULL);
	tap_ok(kunwind_part_missing(&snapshot->ranges.range[0], TEXT_LO), "wait: a part is missing");
	snapshot->ranges.range[0].dead = true;
	tap_ok(!kunwind_part_missing(&snapshot->ranges.range[0], TEXT_LO),
	       "wait: no part of a mapping that is gone is missing");
	snapshot->ranges.range[0].dead = false;
	while_waiting = NULL;
	tap_ok(kunwind_part_wait(&mm, TEXT_LO, 0) == -ETIME && !object.late_until,
	       "wait of a real-time task, which has no time: other tasks wait all the same");
	woken = 0;
	while_waiting = time_goes_by;
	waited = 0;
	tap_ok(kunwind_part_wait(&mm, TEXT_LO, 10) == -ETIME && waited == 1,
	       "wait: the task waits, and times out");
	tap_ok(woken == 1, "wait: jobs that wait for a turn are woken, because one may need none now");
	tap_ok(kunwind_part_wait(&mm, TEXT_LO, 10) == -ETIME && waited == 1,
	       "wait: after a timeout, the next task does not wait");
	jiffies += HZ + 1;	/* late_until is odd */
	tap_ok(kunwind_part_wait(&mm, TEXT_LO, 10) == -ETIME && waited == 2,
	       "wait: tasks wait again after one second");
	/* The time until which nobody waits would be 0, which means that there is none. */
	object.late_until = 0;
	jiffies = -HZ - 10;
	tap_ok(kunwind_part_wait(&mm, TEXT_LO, 10) == -ETIME && waited == 3 && object.late_until &&
	       kunwind_part_wait(&mm, TEXT_LO, 10) == -ETIME && waited == 3,
	       "wait: a timeout a second before the jiffies are 0 holds, too");
	waited = 2;
	jiffies = HZ;
	while_waiting = all_are_built;
	tap_ok(!kunwind_part_wait(&mm, TEXT_LO, 10) && waited == 3,
	       "wait: the wait ends when the part is built");
	tap_ok(!kunwind_part_wait(&mm, TEXT_LO, 10) && waited == 3,
	       "wait: a task does not wait for a part that is built");
	tap_ok(kunwind_part_wait(NULL, TEXT_LO, 10) == -ENOENT,
	       "wait: a task does not wait for a part of another address space");
	snapshot->ranges.range[0].dead = true;
	tap_ok(kunwind_part_wait(&mm, TEXT_LO, 10) == -ENOENT && waited == 3,
	       "wait: a task does not wait for a part of a mapping that is gone");
	while_waiting = NULL;
}

int main(void)
{
	kunwind_part_builder_init();
	test_whole();
	test_time();
	test_given_up();
	test_wait();
	test_given_up_unused();
	test_code();
	kunwind_part_builder_exit();
	kunwind_table_free(object.table);
	free(snapshot);
	return tap_done();
}
