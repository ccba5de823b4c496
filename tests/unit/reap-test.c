/* SPDX-License-Identifier: MIT */
/*
 * reap-test.c - what walks may still read is freed after a grace period
 */
#include "kernel.h"
#include "tap.h"

#include "../../kmod/space/reap.c"

static unsigned int freed_after;	/* how many grace periods */

static void note_free(struct kunwind_reap *item)
{
	(void)item;
	freed_after = grace_periods;
}

/* A walk may still read an item when it is queued. */
static void test_reap(void)
{
	struct kunwind_reap first, second;

	grace_periods = freed_after = 0;
	kunwind_reap(&first, note_free);
	tap_ok(!grace_periods && !freed_after, "reap: the caller does not wait for a grace period");
	tap_ok(reap_work.queued && reap_work.delay == REAP_DELAY, "reap: items are collected for a while");
	kunwind_reap_flush();
	tap_ok(freed_after == 1, "reap: an item is freed after a grace period that began when it was queued");
	kunwind_reap(&second, note_free);
	kunwind_reap_flush();
	tap_ok(freed_after == 2, "reap: a later item is freed after a later grace period");
}

int main(void)
{
	kunwind_reap_init();
	test_reap();
	kunwind_reap_exit();
	return tap_done();
}
