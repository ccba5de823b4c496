/* SPDX-License-Identifier: MIT */
/*
 * build-queue-test.c - the queues in which objects wait to be built: order,
 * build requests of several users, and the user who is charged
 */
#include "object-scene.h"

/* The worker of the oldest queue takes an object, but does not build it yet. */
static struct kunwind_object *begins(struct kunwind_quota *quota, bool *wanted)
{
	return kunwind_object_next(list_entry(queues.next, struct kunwind_build_queue, node), quota, wanted);
}

static unsigned int nr_requests(const struct kunwind_object *object)
{
	const struct kunwind_build_request *request;
	unsigned int nr = 0;

	list_for_each_entry(request, &object->requests, of_object)
		nr++;
	return nr;
}

/* Returns the quota of the build's time, without a reference. */
static struct kunwind_quota *time_quota(struct kunwind_object *object)
{
	struct kunwind_quota *quota = kunwind_object_time_quota(object);

	kunwind_quota_put(quota);
	return quota;
}

static void over_budget(struct kunwind_quota *quota)
{
	kunwind_quota_add_time(quota, 2000 * NSEC_PER_MSEC);
}

/* The object's worker builds it and finishes. */
static void ends(struct kunwind_object *object)
{
	build_object(object);
	close_file(object);
	kunwind_object_put(object);
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
	       "unwanted: an object without users is dropped, and not built");
	tap_ok(closed == 2 && files[0].refs == 1 && files[1].refs == 1,
	       "unwanted: the worker closes the file of each object");
	kunwind_object_put(a);
	/* during a build: the worker has one reference */
	a = get_file(2, alice);
	tap_ok(begins(alice, &wanted) == a && wanted && !kunwind_object_unwanted(a),
	       "unwanted: a build for an object with users goes on");
	tap_ok(kunwind_object_has_users(a), "unwanted: a process that uses the object is its user");
	refcount_dec_and_test(&a->users);
	tap_ok(!kunwind_object_has_users(a), "unwanted: the build is no user of its object");
	tap_ok(!kunwind_object_unwanted(a), "unwanted: within the budget, a build goes on without users");
	kunwind_quota_add_time(alice, 2000 * NSEC_PER_MSEC);
	tap_ok(kunwind_object_unwanted(a) && hlist_unhashed(&a->node),
	       "unwanted: over the budget, a build without users ends");
	kunwind_object_build_over(a);
	kunwind_object_put(a);
	now_ns += 100000 * NSEC_PER_MSEC;
	a = get_file(3, alice);
	begins(alice, &wanted);
	refcount_dec_and_test(&a->users);
	a->gone = true;
	tap_ok(kunwind_object_unwanted(a), "unwanted: a build without users ends if the file is deleted");
	kunwind_object_build_over(a);
	kunwind_object_put(a);
	end("unwanted");
}

/* An object waits in the queue of each user who maps the file. */
static void test_requests(void)
{
	struct kunwind_object *o[6], *again;
	unsigned int i;

	begin();
	for (i = 0; i < 5; i++)
		o[i] = get_file(i, alice);
	o[5] = get_file(4, bob);
	tap_ok(o[5] == o[4] && o[4]->quota == alice,
	       "requests: two users share one object, charged to the first user");
	again = get_file(4, alice);
	kunwind_object_offer(o[5], bob, &files[4]);
	tap_ok(nr_requests(o[4]) == 2, "requests: a user has one, however often the user maps the file");
	kunwind_object_put(again);
	run_work();
	run_work();
	tap_ok(kunwind_object_state(o[0]) == KUNWIND_OBJECT_READY &&
	       kunwind_object_state(o[4]) == KUNWIND_OBJECT_READY &&
	       kunwind_object_state(o[1]) == KUNWIND_OBJECT_PENDING,
	       "requests: a user does not wait for objects that another user queued earlier");
	tap_ok(o[4]->quota == bob && o[4]->time_quota == bob && alice->objects == 4 && bob->objects == 1 &&
	       kunwind_quota_add_bytes(bob, 0) == TABLE,
	       "requests: the user whose queue reaches the object first is charged");
	build_all();
	tap_ok(built == 5 && closed == 5, "requests: an object in two queues is built once");
	for (i = 0; i < 6; i++)
		kunwind_object_put(o[i]);
	end("requests");

	/*
	 * no memory for a build request; then no room in a user's share of
	 * objects
	 */
	begin();
	max_objects = 8;
	for (i = 0; i < 2; i++)
		o[i] = get_file(i, alice);
	no_memory = 1;
	o[2] = get_file(1, bob);
	tap_ok(o[2] == o[1] && !no_memory && nr_requests(o[1]) == 1,
	       "requests: without memory for a second request, the first one stays");
	kunwind_object_offer(o[2], bob, &files[1]);
	for (i = 3; i < 5; i++)
		o[i] = get_file(i, bob);
	kunwind_object_put(o[0]);
	build_all();
	tap_ok(built == 3 && o[1]->time_quota == bob && o[1]->quota == alice && bob->objects == 2,
	       "requests: a user with too many objects is charged for the time only");
	for (i = 1; i < 5; i++)
		kunwind_object_put(o[i]);
	end("share of objects");
}

/* A second user maps the file after its build has begun. */
static void test_take_over(void)
{
	struct kunwind_object *a, *b;
	struct kunwind_quota *carol;
	bool wanted;

	begin();
	carol = user(1003);
	a = get_file(0, alice);
	begins(alice, &wanted);
	b = get_file(0, bob);
	kunwind_object_put(get_file(0, carol));
	over_budget(alice);
	tap_ok(time_quota(a) == bob, "take over: the first user within the budget is charged");
	ends(a);
	kunwind_object_put(a);
	kunwind_object_put(b);
	kunwind_quota_put(carol);
	now_ns += 100000 * NSEC_PER_MSEC;
	end("take over by the first");

	begin();
	a = get_file(0, alice);
	begins(alice, &wanted);
	kunwind_quota_turns.woken = 0;
	b = get_file(0, bob);
	tap_ok(a == b && time_quota(a) == alice && nr_requests(a) == 2 && kunwind_quota_turns.woken == 1 &&
	       nr_works == 1,
	       "take over: within the budget, the first user is charged for the build's time");
	over_budget(alice);
	tap_ok(time_quota(a) == bob && a->quota == alice,
	       "take over: a user within the budget is charged for the time, not for the table");
	over_budget(bob);
	tap_ok(time_quota(a) == bob, "take over: a user over the budget takes over nothing");
	kunwind_object_offer(b, NULL, &files[0]);
	tap_ok(!time_quota(a), "take over: CAP_SYS_ADMIN takes over any build");
	kunwind_object_offer(b, alice, &files[0]);
	tap_ok(!time_quota(a) && nr_requests(a) == 3,
	       "take over: no user takes over a build from CAP_SYS_ADMIN");
	ends(a);
	tap_ok(list_empty(&a->requests), "take over: after the build, no build request is left");
	kunwind_object_put(a);
	kunwind_object_put(b);
	now_ns += 100000 * NSEC_PER_MSEC;
	end("taken over");
}

/*
 * Alice's share has no room. Her idle queue reaches a file of Bob's before
 * Bob's queue does, because another file waits in Bob's queue before it.
 */
static void test_charged(void)
{
	struct kunwind_object *front, *used, *a, *b;
	struct kunwind_quota *quota;
	bool wanted;

	begin();
	max_user_table_mb = 1;
	if (kunwind_memory_charge(alice, (1 << 20) - 1000))
		abort();
	front = get_file(0, bob);
	a = get_file(1, bob);
	b = get_file(1, alice);
	run_work();
	run_work();
	tap_ok(kunwind_object_state(a) == KUNWIND_OBJECT_READY && a->quota == bob &&
	       bob->objects == 2 && !alice->objects,
	       "charged: a table for which one user's share has no room is charged to another");
	kunwind_object_put(b);
	/* Two tables of Bob's are in use now. */
	used = a;
	if (kunwind_memory_charge(bob, (1 << 20) - 1000 - 2 * TABLE))
		abort();
	a = get_file(2, bob);
	b = get_file(2, alice);
	build_all();
	tap_ok(kunwind_object_state(a) == KUNWIND_OBJECT_REFUSED && a->over_share,
	       "charged: a table is refused if no user's share has room");
	kunwind_object_put(a);
	kunwind_object_put(b);
	a = get_file(3, bob);
	b = get_file(3, alice);
	kunwind_object_offer(b, NULL, &files[3]);
	tap_ok(!time_quota(a), "charged: no user is charged for the time if CAP_SYS_ADMIN maps the file");
	build_all();
	tap_ok(kunwind_object_state(a) == KUNWIND_OBJECT_READY && !a->quota,
	       "charged: a table that only CAP_SYS_ADMIN has room for is in no user's share");
	kunwind_object_put(a);
	kunwind_object_put(b);
	kunwind_object_put(front);
	kunwind_object_put(used);
	kunwind_memory_uncharge(alice, (1 << 20) - 1000);
	kunwind_memory_uncharge(bob, (1 << 20) - 1000 - 2 * TABLE);
	end("shares of several users");

	/* Three quarters of all memory are charged: users get no more. */
	begin();
	max_table_mb = 1;
	if (kunwind_memory_charge(NULL, 3 << 18))
		abort();
	a = get_file(1, alice);
	b = get_file(1, bob);
	build_all();
	tap_ok(kunwind_object_state(a) == KUNWIND_OBJECT_REFUSED && a->quota == alice && !a->over_share,
	       "charged: at the limit of all users, no other user is charged");
	kunwind_object_put(a);
	kunwind_object_put(b);
	a = get_file(2, alice);
	b = get_file(2, bob);
	kunwind_object_offer(b, NULL, &files[2]);
	build_all();
	tap_ok(kunwind_object_state(a) == KUNWIND_OBJECT_READY && !a->quota && !alice->objects,
	       "charged: at the limit of all users, CAP_SYS_ADMIN gets the table from the last quarter");
	kunwind_object_put(a);
	kunwind_object_put(b);
	kunwind_memory_uncharge(NULL, 3 << 18);
	end("limit of all users");

	begin();
	over_budget(alice);
	a = get_file(1, bob);
	b = get_file(1, alice);
	/* the newest queue: Alice's */
	a = kunwind_object_next(list_entry(queues.prev, struct kunwind_build_queue, node), alice,
				&wanted);
	tap_ok(a == b && wanted && time_quota(a) == bob,
	       "charged: a user over the budget is not charged for time while another is within");
	over_budget(bob);
	now_ns += 15000 * NSEC_PER_MSEC;
	over_budget(alice);
	tap_ok(time_quota(a) == bob, "charged: the first user stays charged when both are over the budget");
	ends(a);
	kunwind_object_put(b);
	kunwind_object_put(b);
	now_ns += 100000 * NSEC_PER_MSEC;
	end("budgets of several users");

	begin();
	a = get_file(1, alice);
	b = get_file(1, bob);
	begins(alice, &wanted);
	tap_ok(kunwind_quota_take_turn(alice, KUNWIND_TURN_COMPILE), "turns: the first user compiles");
	tap_ok(kunwind_object_take_turn(a, KUNWIND_TURN_COMPILE, &quota) && quota == bob &&
	       time_quota(a) == bob, "turns: if the first user's turn is taken, another user's is used");
	tap_ok(!kunwind_object_take_turn(a, KUNWIND_TURN_COMPILE, &quota) && !quota,
	       "turns: no turn if all users compile");
	kunwind_quota_give_turn(bob, KUNWIND_TURN_COMPILE);
	kunwind_quota_put(bob);
	kunwind_quota_give_turn(alice, KUNWIND_TURN_COMPILE);
	over_budget(alice);
	tap_ok(kunwind_object_take_turn(a, KUNWIND_TURN_COMPILE, &quota) && quota == bob,
	       "turns: the turn is that of a user within the budget");
	tap_ok(!kunwind_object_take_turn(a, KUNWIND_TURN_COMPILE, &quota),
	       "turns: no turn if only a user over the budget has one left");
	over_budget(bob);
	tap_ok(kunwind_object_take_turn(a, KUNWIND_TURN_COMPILE, &quota) && quota == alice &&
	       time_quota(a) == alice, "turns: if all users are over the budget, any user's turn is used");
	if (quota)
		kunwind_quota_give_turn(quota, KUNWIND_TURN_COMPILE);
	kunwind_quota_put(quota);
	kunwind_object_offer(a, NULL, &files[1]);
	tap_ok(kunwind_object_take_turn(a, KUNWIND_TURN_COMPILE, &quota) && !quota,
	       "turns: CAP_SYS_ADMIN waits for no turn");
	kunwind_quota_give_turn(bob, KUNWIND_TURN_COMPILE);
	kunwind_quota_put(bob);
	/* the second stage goes on; other users can still be charged */
	a->building_parts = true;
	ends(a);
	tap_ok(nr_requests(a) == 3, "requests: they are kept until the second stage ends");
	a->building_parts = false;
	kunwind_object_build_over(a);
	tap_ok(list_empty(&a->requests), "requests: none is left after the second stage");
	kunwind_object_put(a);
	kunwind_object_put(b);
	now_ns += 100000 * NSEC_PER_MSEC;
	end("turns of several users");
}

/* Root of a container takes the ids of many users, each of whom maps the file. */
static void test_most_requests(void)
{
	struct kunwind_object *object, *again;
	struct kunwind_quota *quota;
	unsigned int i, unused = 0;

	begin();
	object = get_file(0, alice);
	for (i = 0; i < 2 * MAX_REQUESTS; i++) {
		quota = user(2000 + i);
		again = get_file(0, quota);
		if (again != object)
			abort();
		kunwind_object_put(again);
		unused += quota->refs == 1;
		kunwind_quota_put(quota);
	}
	tap_ok(nr_requests(object) == MAX_REQUESTS && unused == MAX_REQUESTS + 1,
	       "most requests: at most %u users have one, the quotas of the others are not kept",
	       MAX_REQUESTS);
	kunwind_object_offer(object, NULL, &files[0]);
	kunwind_object_offer(object, NULL, &files[0]);
	tap_ok(nr_requests(object) == MAX_REQUESTS + 1 && !time_quota(object),
	       "most requests: CAP_SYS_ADMIN still adds one");
	build_all();
	tap_ok(built == 1 && list_empty(&object->requests),
	       "most requests: after the build, none is left");
	kunwind_object_put(object);
	end("most requests");
}

static void test_queues(void)
{
	struct kunwind_object *o[30];
	unsigned int i;

	begin();
	for (i = 0; i < 5; i++)
		o[i] = get_file(i, alice);
	tap_ok(nr_works == 1, "queues: one local build of a user at a time");
	for (i = 5; i < 8; i++)
		o[i] = get_file(i, bob);
	tap_ok(nr_works == 2, "queues: each user has an own queue");
	for (i = 8; i < 14; i++)
		o[i] = get_file(i, NULL);
	tap_ok(nr_works == 4, "queues: CAP_SYS_ADMIN has two");
	run_work();
	run_work();
	tap_ok(kunwind_object_state(o[0]) == KUNWIND_OBJECT_READY &&
	       kunwind_object_state(o[5]) == KUNWIND_OBJECT_READY && nr_works == 4,
	       "queues: the workers of all queues build, the first object of each queue first");
	build_all();
	for (i = 0; i < 14; i++)
		kunwind_object_put(o[i]);
	tap_ok(list_empty(&queues), "queues: an empty queue is freed");

	for (i = 0; i < 10; i++)
		inodes[20 + i].i_sb = i < 8 ? &fuse : i == 8 ? &nfs : &memory;
	for (i = 0; i < 10; i++)
		o[i] = get_file(20 + i, alice);
	tap_ok(nr_works == 2 + 1 + 1,
	       "queues: a user's two builds from one remote file system run beside the others");
	tap_ok(o[0]->module_held && o[8]->module_held && !o[9]->module_held,
	       "queues: FUSE and NFS are remote, tmpfs is not");
	o[10] = get_file(0, alice);
	tap_ok(nr_works == 4, "queues: all local files of a user are in one queue");
	build_all();
	for (i = 0; i < 11; i++)
		kunwind_object_put(o[i]);
	end("queues");
}

static struct kunwind_build_queue *other_queue;
static void other_task_gets(void) { other_queue = kunwind_build_queue_get(&files[0], alice); }

static void test_two_make(void)
{
	struct kunwind_build_queue *queue;

	begin();
	while_allocating = other_task_gets;
	queue = kunwind_build_queue_get(&files[0], alice);
	tap_ok(queue && queue == other_queue && !while_allocating,
	       "queues: two tasks that make one at the same time share it");
	kunwind_build_queue_put(queue);
	kunwind_build_queue_put(other_queue);
	end("queues of two tasks");
}

/* A user has a queue for each remote file system, up to USER_QUEUES. */
static void test_most_queues(void)
{
	struct super_block remote[USER_QUEUES + 1];
	struct kunwind_build_queue *queue[USER_QUEUES + 1], *root;
	unsigned int i, nr = 0;

	begin();
	for (i = 0; i <= USER_QUEUES; i++) {
		remote[i] = fuse;
		remote[i].s_dev = 0x40 + i;
		inodes[20 + i].i_sb = &remote[i];
		queue[i] = kunwind_build_queue_get(&files[20 + i], alice);
		nr += queue[i] != NULL;
	}
	root = kunwind_build_queue_get(&files[20 + USER_QUEUES], NULL);
	tap_ok(nr == USER_QUEUES && !queue[USER_QUEUES] && root,
	       "queues: a user has at most %u, and root still gets one", USER_QUEUES);
	kunwind_build_queue_put(root);
	tap_ok(kunwind_build_queue_get(&files[20], alice) == queue[0], "queues: two tasks share one");
	kunwind_build_queue_put(queue[0]);
	tap_ok(kunwind_build_queue_get(&files[20], alice) == queue[0],
	       "queues: one that another task still uses is kept");
	kunwind_build_queue_put(queue[0]);
	for (i = 0; i < USER_QUEUES; i++)
		kunwind_build_queue_put(queue[i]);
	tap_ok(list_empty(&queues), "queues: a queue to which no object was added is freed");
	for (i = 0; i <= USER_QUEUES; i++)
		inodes[20 + i].i_sb = &fuse;
	end("most queues");
}

static const struct workqueue_struct *workqueue(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_workqueues; i++)
		if (!strcmp(workqueues[i].name, name))
			return &workqueues[i];
	wrong("no workqueue %s", name);
}

static void test_workqueues(void)
{
	tap_ok(workqueue("kunwind_build")->flags == (WQ_UNBOUND | WQ_FREEZABLE),
	       "suspend: the workers that read and close local files are frozen");
	tap_ok(workqueue("kunwind_build_remote")->flags == WQ_UNBOUND,
	       "suspend: a server that does not answer does not prevent it");
}

int main(void)
{
	current = &task;
	kunwind_build_queues_init(build_next);
	test_workqueues();
	test_unwanted();
	test_requests();
	test_take_over();
	test_charged();
	test_most_requests();
	test_queues();
	test_two_make();
	test_most_queues();
	return tap_done();
}
