/* SPDX-License-Identifier: MIT */
/*
 * lanes-test.c - the queues in which objects wait to be built: in which order, for which
 * users, and who pays
 */
#include "object-scene.h"

/* The worker of the oldest lane takes an object, and has not begun to build it. */
static struct kunwind_object *begins(struct kunwind_payer *payer, bool *wanted)
{
	return kunwind_object_next(list_entry(lanes.next, struct kunwind_lane, node), payer, wanted);
}

static void test_unwanted(void)
{
	struct kunwind_object *a, *b;
	bool wanted;

	begin();
	a = get_file(0, alice);
	b = get_file(1, alice);
	kunwind_object_put(b);
	build_all();
	tap_ok(atomic64_read(&nr_dropped) == 1 && built == 1 && nr_objects == 1 && alice->objects == 1,
	       "what nobody waits for any more is dropped when its turn comes, and not built");
	tap_ok(closed == 2 && files[0].refs == 1 && files[1].refs == 1, "the worker closes each file");
	kunwind_object_put(a);
	/* in the midst of a build: the worker has one reference */
	a = get_file(2, alice);
	tap_ok(begins(alice, &wanted) == a && wanted && !kunwind_object_unwanted(a),
	       "a build for somebody goes on");
	refcount_dec_and_test(&a->users);
	tap_ok(!kunwind_object_unwanted(a), "within the budget for nobody, too");
	kunwind_payer_add_time(alice, 2000 * NSEC_PER_MSEC);
	tap_ok(kunwind_object_unwanted(a) && hlist_unhashed(&a->node), "beyond the budget it ends");
	kunwind_object_put(a);
	now_ns += 100000 * NSEC_PER_MSEC;
	a = get_file(3, alice);
	begins(alice, &wanted);
	refcount_dec_and_test(&a->users);
	a->gone = true;
	tap_ok(kunwind_object_unwanted(a), "so it does when the file has gone");
	kunwind_object_put(a);
	end("unwanted");
}

/* An object waits in the queue of each user who maps the file. */
static void test_places(void)
{
	struct kunwind_object *o[6], *again;
	unsigned int i;

	begin();
	for (i = 0; i < 5; i++)
		o[i] = get_file(i, alice);
	o[5] = get_file(4, bob);
	tap_ok(o[5] == o[4] && o[4]->payer == alice, "places: one object, which the first user made");
	again = get_file(4, alice);
	kunwind_object_offer(o[5], bob, &files[4]);
	tap_ok(!list_empty(&o[4]->places) && o[4]->places.next->next->next == &o[4]->places,
	       "places: one for each user, however often the file is mapped");
	kunwind_object_put(again);
	run_work();
	run_work();
	tap_ok(kunwind_object_state(o[0]) == KUNWIND_OBJECT_READY &&
	       kunwind_object_state(o[4]) == KUNWIND_OBJECT_READY &&
	       kunwind_object_state(o[1]) == KUNWIND_OBJECT_PENDING,
	       "places: a user does not wait for what another queued before");
	tap_ok(o[4]->payer == bob && o[4]->time_payer == bob && alice->objects == 4 && bob->objects == 1 &&
	       kunwind_payer_add_bytes(bob, 0) == TABLE,
	       "places: the user whose queue gets to it first pays");
	build_all();
	tap_ok(built == 5 && closed == 5, "places: it is built once");
	for (i = 0; i < 6; i++)
		kunwind_object_put(o[i]);
	end("places");

	/* without memory for a place; without room in the share */
	begin();
	max_objects = 8;
	for (i = 0; i < 2; i++)
		o[i] = get_file(i, alice);
	no_memory = 1;
	o[2] = get_file(1, bob);
	tap_ok(o[2] == o[1] && !no_memory && !kunwind_lane_queued_for(o[1], bob) &&
	       kunwind_lane_queued_for(o[1], alice), "places: without memory it waits where it did");
	kunwind_object_offer(o[2], bob, &files[1]);
	for (i = 3; i < 5; i++)
		o[i] = get_file(i, bob);
	kunwind_object_put(o[0]);
	build_all();
	tap_ok(built == 3 && o[1]->time_payer == bob && o[1]->payer == alice && bob->objects == 2,
	       "places: a user whose share is full pays the time, not the object");
	for (i = 1; i < 5; i++)
		kunwind_object_put(o[i]);
	end("share");
}

/* A build that has begun. */
static void test_take_over(void)
{
	struct kunwind_object *a, *b;
	bool wanted;

	begin();
	a = get_file(0, alice);
	begins(alice, &wanted);
	woken = 0;
	b = get_file(0, bob);
	tap_ok(a == b && a->time_payer == alice && !woken,
	       "within the budget a build stays the first user's");
	kunwind_payer_add_time(alice, 2000 * NSEC_PER_MSEC);
	kunwind_object_offer(b, bob, &files[0]);
	tap_ok(a->time_payer == bob && a->payer == alice && woken == 1,
	       "beyond it another user's who is within takes it over, not its table");
	kunwind_payer_add_time(bob, 2000 * NSEC_PER_MSEC);
	kunwind_object_offer(b, alice, &files[0]);
	tap_ok(a->time_payer == bob, "a user beyond the budget takes over nothing");
	kunwind_object_offer(b, NULL, &files[0]);
	tap_ok(!a->time_payer, "CAP_SYS_ADMIN takes over any");
	kunwind_object_offer(b, alice, &files[0]);
	tap_ok(!a->time_payer, "which nobody takes from it");
	kunwind_builder_run(a);
	kunwind_builder_close(a);
	kunwind_object_put(a);
	kunwind_object_put(a);
	kunwind_object_put(b);
	now_ns += 100000 * NSEC_PER_MSEC;
	end("taken over");
}

static void test_lanes(void)
{
	struct kunwind_object *o[30];
	unsigned int i;

	begin();
	for (i = 0; i < 5; i++)
		o[i] = get_file(i, alice);
	tap_ok(nr_works == 1, "lanes: one local build of a user at a time");
	for (i = 5; i < 8; i++)
		o[i] = get_file(i, bob);
	tap_ok(nr_works == 2, "lanes: each user has one");
	for (i = 8; i < 14; i++)
		o[i] = get_file(i, NULL);
	tap_ok(nr_works == 4, "lanes: two for CAP_SYS_ADMIN");
	run_work();
	run_work();
	tap_ok(kunwind_object_state(o[0]) == KUNWIND_OBJECT_READY &&
	       kunwind_object_state(o[5]) == KUNWIND_OBJECT_READY && nr_works == 4,
	       "lanes: in turn, the first of each first");
	build_all();
	for (i = 0; i < 14; i++)
		kunwind_object_put(o[i]);
	tap_ok(list_empty(&lanes), "lanes: an empty one goes");

	for (i = 0; i < 10; i++)
		inodes[20 + i].i_sb = i < 8 ? &fuse : i == 8 ? &nfs : &memory;
	for (i = 0; i < 10; i++)
		o[i] = get_file(20 + i, alice);
	tap_ok(nr_works == 2 + 1 + 1,
	       "lanes: two builds of a user from one remote file system, and others beside");
	tap_ok(o[0]->module_held && o[8]->module_held && !o[9]->module_held,
	       "lanes: FUSE and a network are remote, memory is not");
	o[10] = get_file(0, alice);
	tap_ok(nr_works == 4, "lanes: local ones are in one lane");
	build_all();
	for (i = 0; i < 11; i++)
		kunwind_object_put(o[i]);
	end("lanes");
}

int main(void)
{
	current = &task;
	kunwind_lanes_init();
	test_unwanted();
	test_places();
	test_take_over();
	test_lanes();
	return tap_done();
}
