/* SPDX-License-Identifier: MIT */
/*
 * code-builder-test.c - rows from code for a table that is in use: when they are there,
 * what is charged, and what stays if they cannot be made
 */
#include "kernel.h"
#include "eh.h"
#include "tap.h"

#include "../../kmod/core/x86/insn_decode.h"
#include "../../kmod/object/code_builder.c"

/* ---------------------------------------------- functions that this calls */

#define CHARGED 5000
#define CODE	(TEXT_LO + 0x100)

static struct kunwind_object object;
static u64 given;			/* ns */
static bool stops, no_room;
static s64 charged;			/* bytes */
static unsigned int turns, given_back, built_over;
static u64 added, first;		/* bytes; those of the object's first table */

void kunwind_job_begin(struct kunwind_job *job, struct kunwind_object *of, u64 left)
{
	*job = (struct kunwind_job){ .object = of, .left = left };
	given = left;
}
void kunwind_job_end(struct kunwind_job *job) { (void)job; }
bool kunwind_job_take_turn(struct kunwind_job *job, enum kunwind_turn kind,
			   bool (*urgent)(void *data), void *data)
{
	(void)job, (void)kind, (void)urgent, (void)data;
	turns++;
	return !stops;
}
bool kunwind_job_may_go_on(struct kunwind_job *job) { return job->left; }
bool kunwind_estimate_charge_more(struct kunwind_object *of, size_t bytes, size_t *counter)
{
	(void)of;
	if (no_room)
		return false;
	charged += bytes;
	*counter += bytes;
	return true;
}
void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes)
{
	(void)quota;
	charged -= bytes;
}
void kunwind_object_cache_added(const struct kunwind_table_stats *stats) { added += stats->bytes; }
void kunwind_object_build_over(struct kunwind_object *of) { (void)of; built_over++; }
void kunwind_object_put(struct kunwind_object *of) { (void)of; given_back++; }

/* --------------------------------------------------------------- the scene */

/* push %rbx; pop %rbx; ret */
static const u8 text[32] = { 0x53, 0x5b, 0xc3, [3 ... 31] = 0xcc };

/*
 * An object with a table of one FDE, and the stage for the code at
 * CODE; @nothing: the code has no function.
 */
static struct kunwind_code_builder *scene(bool nothing)
{
	struct kunwind_code_gaps *gaps = kunwind_alloc(sizeof(*gaps));
	struct kunwind_section section;
	static struct eh eh;

	if (object.table)
		kunwind_table_free(object.table);
	object = (struct kunwind_object){ .building_parts = true, .users = REFCOUNT_INIT(1) };
	object.elf.text_lo = TEXT_LO;
	object.elf.text_hi = TEXT_HI;
	eh.size = 0;
	eh_plain_fde(&eh, eh_plain_cie(&eh, "0c 07 08 90 01"), TEXT_LO, 0x10, "0e 10");
	section = (struct kunwind_section){
		.data = eh.data, .size = eh.size, .addr = EH_ADDR,
		.text_base = TEXT_BASE, .data_base = DATA_BASE, .lo = TEXT_LO, .hi = TEXT_HI,
	};
	if (!gaps || kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &object.table))
		abort();
	kunwind_table_stats(object.table, &object.stats);
	first = object.stats.bytes;
	gaps->nr = 1;
	gaps->bytes = sizeof(text);
	gaps->gap[0] = (struct kunwind_code_gap){ CODE, CODE + sizeof(text), 0, 0 };
	gaps->code = kunwind_alloc(sizeof(text) + 8 * KUNWIND_TEXT_BEHIND);
	if (!nothing)
		memcpy(gaps->code, text, sizeof(text));
	charged = CHARGED;
	stops = no_room = false;
	turns = given_back = built_over = added = 0;
	return kunwind_code_builder_new(&object, gaps, CHARGED);
}

static void run(struct kunwind_code_builder *builder, u64 left)
{
	kunwind_code_builder_start(builder, left);
	drain_workqueue(code_workers);
}

/* The offset of the CFA from rsp at @addr; 0: no row. */
static s32 offset_at(u64 addr)
{
	const struct kunwind_table *table = object.table;
	struct kunwind_rule rule;

	return kunwind_table_find(&table, addr, &rule) ? 0 : rule.off;
}

/* The stage is over, and has left nothing but @bytes of a table. */
static bool is_over(u64 bytes)
{
	return charged == (s64)bytes && added == bytes && given_back == 1 && built_over == 1 &&
	       !object.building_parts && object.parts_done.done;
}

/* ------------------------------------------------------------------- tests */

static void test_rows(void)
{
	struct kunwind_code_builder *builder = scene(false);

	kunwind_code_builder_start(builder, 1000);
	tap_ok(offset_at(TEXT_LO) == 16 && !offset_at(CODE + 1),
	       "before the stage has run: the rows of the CFI");
	drain_workqueue(code_workers);
	tap_ok(offset_at(TEXT_LO) == 16 && offset_at(CODE) == 8 && offset_at(CODE + 1) == 16 &&
	       !offset_at(CODE - 1), "after it: the rows from code, too");
	tap_ok(object.stats.bytes > first && is_over(object.stats.bytes - first),
	       "after it: the charge is reduced to the bytes of these rows");
	tap_ok(given == 1000 && turns == 1, "the stage has the time that is left, and takes a turn");
}

static void test_ends(void)
{
	struct kunwind_code_builder *builder = scene(false);

	run(builder, 0);
	tap_ok(offset_at(TEXT_LO) == 16 && !offset_at(CODE) && is_over(0),
	       "no time is left: the table stays as it is");
	builder = scene(false);
	stops = true;
	run(builder, 1000);
	tap_ok(offset_at(TEXT_LO) == 16 && !offset_at(CODE) && is_over(0),
	       "the module is unloaded: the table stays as it is");
	builder = scene(false);
	no_room = true;
	run(builder, 1000);
	tap_ok(offset_at(TEXT_LO) == 16 && !offset_at(CODE) && is_over(0),
	       "there is no room for the rows: the table stays as it is");
	builder = scene(false);
	no_memory = 1;
	run(builder, 1000);
	no_memory = 0;
	tap_ok(offset_at(TEXT_LO) == 16 && is_over(object.stats.bytes - first),
	       "an allocation fails: nothing stays charged");
	run(scene(true), 1000);
	tap_ok(offset_at(TEXT_LO) == 16 && !offset_at(CODE) && is_over(0),
	       "the code has no function: the table stays as it is");
	kunwind_code_builder_cancel(scene(false));
	kunwind_code_builder_cancel(NULL);
	tap_ok(!charged && !built_over && !given_back, "cancelled: nothing stays charged");
}

int main(void)
{
	if (kunwind_code_builder_init())
		abort();
	test_rows();
	test_ends();
	kunwind_table_free(object.table);
	kunwind_code_builder_exit();
	return tap_done();
}
