/* SPDX-License-Identifier: MIT */
/*
 * object-test.c - objects: one for each state of a file; their limits, their end, their names
 */
#include "object-scene.h"

static void test_states(void)
{
	struct kunwind_object *a, *b, *c;
	unsigned int i;

	begin();
	max_objects = 10000;
	a = get_file(0, NULL);
	b = get_file(0, alice);
	tap_ok(a == b && kunwind_object_state(a) == KUNWIND_OBJECT_PENDING && files[0].refs == 2,
	       "one object for a state of a file, and one build");
	build_all();
	tap_ok(built == 1 && kunwind_object_state(a) == KUNWIND_OBJECT_READY && files[0].refs == 1,
	       "a build drops its reference to the file");
	kunwind_object_put(a);
	kunwind_object_put(b);
	tap_ok(nr_idle == 1 && idle_bytes == TABLE, "an object without users is kept");
	a = get_file(0, alice);
	tap_ok(a == b && built == 1 && !nr_idle && !idle_bytes, "a kept object is used again");
	inodes[0].i_ctime.tv_nsec++;
	c = get_file(0, alice);
	tap_ok(c != a && a->gone && nr_objects == 2, "another state of the file is another object");
	kunwind_object_put(a);
	build_all();
	inodes[0].i_ctime.tv_nsec--;
	a = get_file(0, alice);
	tap_ok(a != c && c->gone, "an object of a former state of a file is not found");
	build_all();
	kunwind_object_put(a);
	kunwind_object_put(c);
	inodes[1].i_nlink = 0;
	once(1, NULL);
	tap_ok(first_idle()->key.ino == inodes[1].i_ino, "an object whose file is deleted is freed first");
	for (i = 0; i < IDLE_MAX + 10; i++) {
		inodes[2].i_ino = 1000 + i;
		once(2, NULL);
	}
	tap_ok(nr_idle == IDLE_MAX, "at most %u objects without users are kept", IDLE_MAX);
	end("states");
}

static void test_idle_share(void)
{
	struct kunwind_object *object;
	unsigned int i, before;

	begin();
	max_objects = 10000;
	for (i = 0; i < 3; i++)
		once(i, NULL);
	once(3, bob);
	inodes[4].i_ino = 999;
	inodes[4].i_nlink = 0;
	for (i = 0; i < IDLE_MAX / USER_PART + 50; i++) {
		inodes[5].i_ino = 1000 + i;
		once(i == IDLE_MAX / USER_PART - 10 ? 4 : 5, alice);
	}
	tap_ok(kunwind_payer_idle(alice)->nr == IDLE_MAX / USER_PART &&
	       nr_idle == IDLE_MAX / USER_PART + 4 && alice->objects == IDLE_MAX / USER_PART,
	       "a user keeps a quarter of them");
	before = built;
	for (i = 0; i < 4; i++)
		once(i, i < 3 ? NULL : bob);
	tap_ok(built == before, "a user's kept tables displace none of other users");
	once(5, alice);
	tap_ok(built == before, "but the user's own that were used least recently");
	inodes[5].i_ino = 1000;
	once(5, alice);
	tap_ok(built == before + 1, "they are built again when the file is used again");
	list_for_each_entry(object, &kunwind_payer_idle(alice)->objects, payer_idle)
		if (object->key.ino == 999)
			break;
	tap_ok(&object->payer_idle == &kunwind_payer_idle(alice)->objects,
	       "one whose file has no name went first");
	for (i = 0; i < IDLE_MAX; i++) {
		inodes[6].i_ino = 10000 + i;
		once(6, NULL);
	}
	tap_ok(nr_idle == IDLE_MAX && kunwind_payer_idle(NULL)->nr > IDLE_MAX / USER_PART,
	       "CAP_SYS_ADMIN's may be all");
	end("idle share");
}

static void test_retry(void)
{
	struct kunwind_object *a, *b;

	begin();
	ends_with = KUNWIND_E_NOMEM;
	a = get_file(0, NULL);
	build_all();
	tap_ok(!kunwind_object_stale(a, NULL), "a build that failed is not tried again at once");
	b = get_file(0, NULL);
	tap_ok(a == b, "for nobody");
	jiffies += RETRY + 1;
	ends_with = KUNWIND_OK;
	tap_ok(kunwind_object_stale(a, NULL), "but five seconds later");
	kunwind_object_put(b);
	b = get_file(0, NULL);
	build_all();
	tap_ok(a != b && kunwind_object_state(b) == KUNWIND_OBJECT_READY, "with another object");
	kunwind_object_put(a);
	kunwind_object_put(b);

	max_user_table_mb = 0;
	a = get_file(1, alice);
	build_all();
	tap_ok(a->over_share && !kunwind_object_stale(a, alice) && kunwind_object_stale(a, bob) &&
	       kunwind_object_stale(a, NULL),
	       "what did not fit one user's share is tried at once for another");
	kunwind_object_put(a);
	ends_with = KUNWIND_E_NO_CFI;
	a = get_file(2, NULL);
	build_all();
	jiffies += RETRY + 1;
	tap_ok(!kunwind_object_stale(a, NULL), "a file without unwind information is not tried again");
	kunwind_object_put(a);
	end("retry");
}

static void test_limits(void)
{
	struct kunwind_object *o[20];
	unsigned int i;

	begin();
	max_objects = 8;
	for (i = 0; i < 4; i++)
		o[i] = get_file(i, alice);
	tap_ok(o[0] != &kunwind_object_overflow && o[1] != &kunwind_object_overflow &&
	       o[2] == &kunwind_object_overflow && o[3] == &kunwind_object_overflow && alice->objects == 2,
	       "a user has a quarter of all objects");
	tap_ok(kunwind_object_stale(o[2], alice), "what there is no room for is tried again each time");
	for (i = 4; i < 10; i++)
		o[i] = get_file(i, NULL);
	tap_ok(o[9] != &kunwind_object_overflow && nr_objects == 8, "others have the rest");
	o[10] = get_file(10, NULL);
	tap_ok(o[10] == &kunwind_object_overflow && nr_objects == 8, "and no more");
	build_all();
	for (i = 0; i < 11; i++)
		kunwind_object_put(o[i]);
	tap_ok(nr_idle == 8, "all are kept without users");
	for (i = 20; i < 30; i++)
		once(i, alice);
	tap_ok(alice->objects == 2 && nr_objects <= 8,
	       "a user's next object takes the place of the oldest one");
	once(40, NULL);
	once(41, NULL);
	tap_ok(nr_objects == 8, "anybody's does at the limit of all");
	end("limits");

	/* of memory */
	begin();
	max_user_table_mb = 1;
	for (i = 0; i < 3; i++)
		once(i, NULL);
	for (i = 10; i < 30; i++)
		once(i, alice);
	tap_ok(nr_idle == 3 + 10 && kunwind_payer_add_bytes(alice, 0) == 10 * TABLE,
	       "a user's next table takes the place of the user's oldest");
	for (i = 0; i < 3; i++) {
		unsigned int before = built;

		once(i, NULL);
		if (built != before)
			break;
	}
	tap_ok(i == 3, "not of others'");
	max_table_mb = 1;
	once(50, NULL);
	tap_ok(atomic64_read(&memory_used) <= 1 << 20, "at the limit of all it takes anybody's");
	end("memory");
}

static void test_shrinker(void)
{
	struct shrink_control sc = { .nr_to_scan = 5 * (1 + TABLE / PAGE_SIZE) };
	unsigned int i;

	begin();
	tap_ok(shrinker_count(NULL, &sc) == SHRINK_EMPTY, "shrinker: nothing to free");
	for (i = 0; i < 10; i++)
		once(i, alice);
	tap_ok(shrinker_count(NULL, &sc) == 10 + 10 * TABLE / PAGE_SIZE, "shrinker: pages of ten tables");
	tap_ok(shrinker_scan(NULL, &sc) == sc.nr_to_scan && nr_idle == 5,
	       "shrinker: five of the ten tables are freed");
	once(9, alice);
	tap_ok(built == 10, "shrinker: the least recently used tables are freed");
	end("shrinker");
}

/* The name of an object in the status. */
static void test_names(void)
{
	struct kunwind_object *a, *b;
	struct kunwind_name *of_alice, *of_bob, *of_root, *again;
	unsigned int taken;
	bool wanted;

	begin();
	files[0].name = "/tmp/evil";
	of_alice = kunwind_name_of(&files[0], alice);
	of_bob = kunwind_name_of(&files[0], bob);
	files[0].name = "/usr/bin/prog";
	of_root = kunwind_name_of(&files[0], NULL);
	again = kunwind_name_of(&files[0], NULL);
	tap_ok(alice->refs == 2 && kunwind_payer_add_bytes(alice, 0) == of_alice->size &&
	       !strcmp(of_alice->path, "/tmp/evil"), "names: charged to the user");
	a = get_file(0, alice);
	tap_ok(!strcmp(kunwind_object_path(a, a->name), "?") &&
	       !strcmp(kunwind_object_path(a, of_bob), "/tmp/evil"),
	       "names: an object has none of its own, a process has its own");
	kunwind_object_set_name(a, of_bob);
	tap_ok(!a->name, "names: the status has no name of a user who is not charged");
	kunwind_object_set_name(a, of_alice);
	tap_ok(a->name == of_alice, "names: it has one of the user who is");
	b = get_file(0, bob);
	kunwind_object_next(list_entry(lanes.prev, struct kunwind_lane, node), bob, &wanted);
	taken = kunwind_objects_lock.taken;
	kunwind_object_set_name(a, of_alice);
	tap_ok(kunwind_objects_lock.taken == taken,
	       "names: a name that the status does not show takes no lock");
	tap_ok(b == a && wanted && a->payer == bob && a->name == of_alice,
	       "names: which stays when another is charged");
	kunwind_object_set_name(a, of_alice);
	kunwind_object_set_name(a, of_bob);
	tap_ok(a->name == of_bob, "names: until that user maps the file again");
	kunwind_object_set_name(a, of_root);
	taken = kunwind_objects_lock.taken;
	kunwind_object_set_name(a, of_bob);
	kunwind_object_set_name(a, again);
	tap_ok(a->name == of_root && kunwind_objects_lock.taken == taken,
	       "names: that of CAP_SYS_ADMIN comes first, and stays, without a lock");
	kunwind_object_set_name(&kunwind_object_overflow, of_root);
	tap_ok(!kunwind_object_overflow.name, "names: the object for files beyond the limit has none");
	kunwind_name_put(of_alice);
	kunwind_name_put(of_bob);
	kunwind_name_put(of_root);
	kunwind_name_put(again);
	kunwind_builder_run(a);
	kunwind_builder_close(a);
	kunwind_object_put(a);
	kunwind_object_put(a);
	kunwind_object_put(b);
	end("names");
}

static void test_show(void)
{
	static struct seq_file m;
	struct kunwind_object *a;
	struct kunwind_name *name;
	struct kunwind_stats stats = { .objects = 0 };
#define TEN(x)	x x x x x x x x x x
#define FIFTY	TEN("/bcde")
#define MOST	TEN("/bcde") TEN("/bcde") TEN("/bcde") TEN("/bcde") TEN("/bcde") "/bcdef"
	static const struct { const char *what, *path, *shown; } paths[] = {
		{ "of 256 bytes all", MOST, MOST },
		{ "of 257 bytes the last 256", "a" MOST, "..." MOST },
		{ "of line ends as many as fit when written", TEN("\n") TEN("\n") TEN(TEN("\n")),
		  "..." TEN("\\012\\012\\012") TEN("\\012\\012\\012") "\\012\\012\\012\\012" },
		{ "no half character", "a\303\244" FIFTY FIFTY FIFTY FIFTY FIFTY "/bcde",
		  "..." FIFTY FIFTY FIFTY FIFTY FIFTY "/bcde" },
	};
	unsigned int i;

	begin();
	files[0].name = "a\nobject\tforged\\";
	a = get_file(0, NULL);
	name = kunwind_name_of(&files[0], NULL);
	kunwind_object_set_name(a, name);
	kunwind_name_put(name);
	build_all();
	m.used = 0;
	kunwind_object_show(&m);
	tap_ok(strstr(m.text, "object\tready\tok\t10\t100000\t1\ta\\012object\\011forged\\134\n"),
	       "status: a name cannot add a line or a field");
	/* long ones */
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		m.used = 0;
		kunwind_name_show(&m, paths[i].path);
		tap_ok(!strcmp(m.text, paths[i].shown), "shown: of a path %s", paths[i].what);
	}
	status_full = true;
	m.used = 0;
	kunwind_object_show(&m);
	status_full = false;
	tap_ok(!strstr(m.text, "\nobject\t"), "shown: no object when the buffer is full");
	kunwind_object_stats(&stats);
	tap_ok(stats.objects == 1 && stats.table_bytes == TABLE && stats.table_rows == 10, "counted");
	kunwind_object_put(a);
	end("shown");
}

static void test_jit(void)
{
	struct kunwind_object *o[20];
	unsigned int i, nr;

	begin();
	max_objects = 16;
	for (nr = 0; nr < 20; nr++) {
		o[nr] = kunwind_object_new_jit(alice);
		if (IS_ERR(o[nr]))
			break;
	}
	tap_ok(nr == 4 && o[nr] == ERR_PTR(-ENOSPC), "handed in: a user has a quarter of all objects");
	for (i = 0; i < nr; i++) {
		o[i]->state = KUNWIND_OBJECT_READY;
		kunwind_object_put(o[i]);
	}
	tap_ok(!alice->objects && !nr_idle, "handed in: nothing of it is kept");
	end("handed in");
}

int main(void)
{
	current = &task;
	kunwind_lanes_init();
	test_states();
	test_idle_share();
	test_retry();
	test_limits();
	test_shrinker();
	test_names();
	test_show();
	test_jit();
	return tap_done();
}
