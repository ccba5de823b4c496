// SPDX-License-Identifier: MIT
/*
 * build-budget-test.c - what a build may spend, and which errors end it
 */
#include "eh.h"
#include "../../kmod/core/cfi/budget.h"
#include "../../kmod/core/cfi/fde_list.h"
#include "tap.h"

static void test_work(void)
{
	struct kunwind_budget budget = { .work = 100, .memory = 1000 };

	tap_ok(kunwind_budget_work(&budget, 60) && kunwind_budget_work(&budget, 40) && !budget.work &&
	       !budget.exceeded, "work: all of it can be spent");
	tap_ok(kunwind_budget_work(&budget, 0) && !budget.exceeded, "work: nothing more costs nothing");
	tap_ok(kunwind_budget_error(&budget) == KUNWIND_E_NOMEM, "work: not exceeded, an error is of memory");
	tap_ok(!kunwind_budget_work(&budget, 1) && budget.exceeded && budget.memory == 1000 &&
	       kunwind_budget_error(&budget) == KUNWIND_E_LIMIT, "work: one byte too many is the limit");
}

static void test_memory(void)
{
	struct kunwind_budget budget = { .work = 100, .memory = 1000 };
	void *all = kunwind_budget_alloc(&budget, 1000), *more;

	tap_ok(all && !budget.memory && !budget.exceeded && budget.work == 100,
	       "memory: all of it can be allocated");
	kunwind_budget_free(&budget, NULL, 500);
	tap_ok(!budget.memory, "memory: to free nothing gives nothing back");
	kunwind_budget_free(&budget, all, 1000);
	tap_ok(budget.memory == 1000, "memory: what is freed can be allocated again");
	more = kunwind_budget_alloc(&budget, 1001);
	tap_ok(!more && budget.memory == 1000 && budget.exceeded &&
	       kunwind_budget_error(&budget) == KUNWIND_E_LIMIT, "memory: one byte too many is the limit");
}

/* Which errors concern one record only; of those, the first is kept. */
static void test_unread(void)
{
	static const enum kunwind_build_error ends[] = {
		KUNWIND_E_NOMEM, KUNWIND_E_IO, KUNWIND_E_LIMIT, KUNWIND_E_ABORTED,
	};
	struct kunwind_section section = { .strict = false };
	struct kunwind_fde_list fdes = { .section = &section };
	u32 i, bad = 0;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		bad += kunwind_fde_list_unread(&fdes, ends[i]) != ends[i];
	tap_ok(!bad && !fdes.unread, "errors of memory, limits, I/O and an abort end a build");
	tap_ok(kunwind_fde_list_unread(&fdes, KUNWIND_OK) == KUNWIND_OK && !fdes.unread,
	       "no error is no unread record");
	tap_ok(kunwind_fde_list_unread(&fdes, KUNWIND_E_OVERLAP) == KUNWIND_OK &&
	       fdes.unread == KUNWIND_E_OVERLAP, "a record that cannot be read does not end a build");
	tap_ok(kunwind_fde_list_unread(&fdes, KUNWIND_E_AUGMENTATION) == KUNWIND_OK &&
	       fdes.unread == KUNWIND_E_OVERLAP, "of records that cannot be read, the first decides");
	fdes.unread = KUNWIND_OK;
	section.strict = true;
	tap_ok(kunwind_fde_list_unread(&fdes, KUNWIND_E_OVERLAP) == KUNWIND_E_OVERLAP && !fdes.unread,
	       "strict: a record that cannot be read ends a build");
	tap_ok(kunwind_fde_list_unread(&fdes, KUNWIND_E_AUGMENTATION) == KUNWIND_OK &&
	       fdes.unread == KUNWIND_E_AUGMENTATION, "strict: an unknown augmentation does not");
	tap_ok(kunwind_fde_list_unread(&fdes, KUNWIND_OK) == KUNWIND_OK, "strict: no error is none");
}

static u32 asked;

static bool stop(void *data)
{
	asked++;
	return *(bool *)data;
}

static void test_tick(void)
{
	bool stops = false;
	struct kunwind_fde_list fdes = { .abort = stop, .abort_data = &stops };
	u32 i, bad = 0;

	for (i = 1; i <= 3 * KUNWIND_TICKS; i++)
		bad += kunwind_fde_list_tick(&fdes) != KUNWIND_OK || asked != i / KUNWIND_TICKS;
	tap_ok(!bad, "abort() is called once in %u records", KUNWIND_TICKS);
	stops = true;
	for (i = 1; i < KUNWIND_TICKS; i++)
		bad += kunwind_fde_list_tick(&fdes) != KUNWIND_OK;
	tap_ok(!bad && kunwind_fde_list_tick(&fdes) == KUNWIND_E_ABORTED, "abort() ends a build");
	fdes.abort = NULL;
	fdes.ticks = KUNWIND_TICKS - 1;
	tap_ok(kunwind_fde_list_tick(&fdes) == KUNWIND_OK, "a build without abort() goes on");
}

int main(void)
{
	test_work();
	test_memory();
	test_unread();
	test_tick();
	return tap_done();
}
