/* SPDX-License-Identifier: MIT */
/*
 * object-test.c - objects: one for each state of a file; limits, end of life,
 * names in the status
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
	       "states: one object and one build for a state of a file");
	build_all();
	tap_ok(built == 1 && kunwind_object_state(a) == KUNWIND_OBJECT_READY && files[0].refs == 1,
	       "states: the end of a build drops its reference to the file");
	kunwind_object_put(a);
	kunwind_object_put(b);
	tap_ok(nr_idle == 1 && idle_bytes == TABLE, "states: an object without users is kept");
	a = get_file(0, alice);
	tap_ok(a == b && built == 1 && !nr_idle && !idle_bytes,
	       "states: a kept object is used again");
	inodes[0].i_ctime.tv_nsec++;
	c = get_file(0, alice);
	tap_ok(c != a && a->gone && nr_objects == 2, "states: a changed file has a new object");
	kunwind_object_put(a);
	build_all();
	inodes[0].i_ctime.tv_nsec--;
	a = get_file(0, alice);
	tap_ok(a != c && c->gone, "states: the object of an earlier state is not found");
	build_all();
	kunwind_object_put(a);
	kunwind_object_put(c);
	inodes[1].i_nlink = 0;
	once(1, NULL);
	tap_ok(with_lock(&kunwind_objects_lock, first_idle())->key.ino == inodes[1].i_ino,
	       "states: an object whose file is deleted is freed first");
	for (i = 0; i < IDLE_MAX + 10; i++) {
		inodes[2].i_ino = 1000 + i;
		once(2, NULL);
	}
	tap_ok(nr_idle == IDLE_MAX, "states: at most %u objects without users are kept", IDLE_MAX);
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
	tap_ok(kunwind_quota_idle(alice)->nr == IDLE_MAX / USER_PART &&
	       nr_idle == IDLE_MAX / USER_PART + 4 && alice->objects == IDLE_MAX / USER_PART,
	       "idle share: a user has at most a quarter of the kept objects");
	before = built;
	for (i = 0; i < 4; i++)
		once(i, i < 3 ? NULL : bob);
	tap_ok(built == before,
	       "idle share: a user's kept tables do not displace those of other users");
	once(5, alice);
	tap_ok(built == before, "idle share: a user's last object is still kept");
	inodes[5].i_ino = 1000;
	once(5, alice);
	tap_ok(built == before + 1, "idle share: the user's least recently used table was freed");
	list_for_each_entry(object, &kunwind_quota_idle(alice)->objects, quota_idle)
		if (object->key.ino == 999)
			break;
	tap_ok(&object->quota_idle == &kunwind_quota_idle(alice)->objects,
	       "idle share: an object whose file is deleted was freed first");
	for (i = 0; i < IDLE_MAX; i++) {
		inodes[6].i_ino = 10000 + i;
		once(6, NULL);
	}
	tap_ok(nr_idle == IDLE_MAX && kunwind_quota_idle(NULL)->nr > IDLE_MAX / USER_PART,
	       "idle share: objects of CAP_SYS_ADMIN may be more than a quarter");
	end("idle share");
}

static void test_retry(void)
{
	struct kunwind_object *a, *b;

	begin();
	ends_with = KUNWIND_E_NOMEM;
	a = get_file(0, NULL);
	build_all();
	tap_ok(!kunwind_object_cache_stale(a, NULL),
	       "retry: a failed build is not repeated at once");
	b = get_file(0, NULL);
	tap_ok(a == b, "retry: a new mapping of the file uses the failed object");
	jiffies += 5 * HZ;
	tap_ok(!kunwind_object_cache_stale(a, NULL),
	       "retry: a failed build is not repeated before five seconds");
	jiffies++;
	ends_with = KUNWIND_OK;
	tap_ok(kunwind_object_cache_stale(a, NULL),
	       "retry: a failed build is repeated after five seconds");
	kunwind_object_put(b);
	b = get_file(0, NULL);
	build_all();
	tap_ok(a != b && kunwind_object_state(b) == KUNWIND_OBJECT_READY,
	       "retry: the repeated build makes a new object");
	tap_ok(hlist_unhashed(&a->node) && nr_objects == 1,
	       "retry: the failed object, which a process still uses, is not known any more");
	kunwind_object_put(a);
	kunwind_object_put(b);

	max_user_table_mb = 0;
	a = get_file(1, alice);
	build_all();
	tap_ok(a->over_share && !kunwind_object_cache_stale(a, alice) && kunwind_object_cache_stale(a, bob) &&
	       kunwind_object_cache_stale(a, NULL),
	       "retry: a table over one user's share is built at once for another user");
	kunwind_object_put(a);
	max_table_mb = max_user_table_mb = 1;
	if (kunwind_memory_charge(NULL, 3 << 18))
		abort();
	a = get_file(3, alice);
	build_all();
	tap_ok(kunwind_object_state(a) == KUNWIND_OBJECT_REFUSED && !a->over_share &&
	       !kunwind_object_cache_stale(a, alice) && !kunwind_object_cache_stale(a, bob),
	       "retry: a table over the limit of all users is not built at once for another user");
	b = get_file(3, NULL);
	build_all();
	tap_ok(a != b && kunwind_object_state(b) == KUNWIND_OBJECT_READY,
	       "retry: a table over the limit of all users is built at once for CAP_SYS_ADMIN");
	kunwind_object_put(a);
	kunwind_object_put(b);
	if (kunwind_memory_make_room(NULL, (1 << 18) - TABLE / 2))
		abort();
	a = get_file(4, NULL);
	build_all();
	tap_ok(kunwind_object_state(a) == KUNWIND_OBJECT_REFUSED && !kunwind_object_cache_stale(a, NULL),
	       "retry: a table over the limit for CAP_SYS_ADMIN is not built again at once");
	kunwind_object_put(a);
	kunwind_memory_uncharge(NULL, (1 << 20) - TABLE / 2);
	ends_with = KUNWIND_E_NO_CFI;
	a = get_file(2, NULL);
	build_all();
	jiffies += RETRY + 1;
	tap_ok(!kunwind_object_cache_stale(a, NULL),
	       "retry: a file without unwind information is not built again");
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
	tap_ok(o[0] != &kunwind_object_cache_overflow && o[1] != &kunwind_object_cache_overflow &&
	       o[2] == &kunwind_object_cache_overflow && o[3] == &kunwind_object_cache_overflow &&
	       alice->objects == 2,
	       "limits: a user has at most a quarter of all objects");
	tap_ok(kunwind_object_cache_stale(o[2], alice),
	       "limits: a refused object is tried again at each scan");
	for (i = 4; i < 10; i++)
		o[i] = get_file(i, NULL);
	tap_ok(o[9] != &kunwind_object_cache_overflow && nr_objects == 8,
	       "limits: CAP_SYS_ADMIN may have the rest");
	o[10] = get_file(10, NULL);
	tap_ok(o[10] == &kunwind_object_cache_overflow && nr_objects == 8,
	       "limits: no object beyond max_objects");
	build_all();
	for (i = 0; i < 11; i++)
		kunwind_object_put(o[i]);
	tap_ok(nr_idle == 8, "limits: all objects are kept without users");
	for (i = 20; i < 30; i++)
		once(i, alice);
	tap_ok(alice->objects == 2 && nr_objects <= 8,
	       "limits: a user's next object displaces the user's oldest one");
	for (i = 40; i < 50; i++)
		once(i, NULL);
	tap_ok(nr_objects == 8, "limits: at max_objects, a new object displaces any user's");
	end("limits");

	begin();
	max_objects = 8;
	for (i = 0; i < 6; i++)
		o[i] = get_file(i, NULL);
	o[6] = get_file(6, alice);
	o[7] = get_file(7, NULL);
	tap_ok(o[6] == &kunwind_object_cache_overflow && o[7] != &kunwind_object_cache_overflow,
	       "limits: the last quarter of all objects is for CAP_SYS_ADMIN");
	build_all();
	for (i = 0; i < 8; i++)
		kunwind_object_put(o[i]);
	end("limits of users together");

	/* limits of memory */
	begin();
	max_user_table_mb = 1;
	for (i = 0; i < 3; i++)
		once(i, NULL);
	for (i = 10; i < 30; i++)
		once(i, alice);
	tap_ok(nr_idle == 3 + 10 && kunwind_quota_add_bytes(alice, 0) == 10 * TABLE,
	       "memory: a user's next table displaces the user's oldest one");
	for (i = 0; i < 3; i++) {
		unsigned int before = built;

		once(i, NULL);
		if (built != before)
			break;
	}
	tap_ok(i == 3, "memory: a user's next table displaces none of other users");
	max_table_mb = 2;	/* three quarters: 1.5 MB, of which 1.3 MB are charged */
	tap_ok(kunwind_memory_make_room(bob, 2 << 20) == -EDQUOT && nr_idle == 3 + 10,
	       "memory: a charge that exceeds the user's share displaces none of other users");
	max_table_mb = 1;
	once(50, NULL);
	tap_ok(atomic64_read(&memory_used) <= 1 << 20,
	       "memory: at max_table_mb, a new table displaces any user's");
	end("memory");
}

static void test_shrinker(void)
{
	struct shrink_control sc = { .nr_to_scan = 5 * (1 + TABLE / PAGE_SIZE) };
	unsigned int i;

	begin();
	tap_ok(shrinker_count(NULL, &sc) == SHRINK_EMPTY,
	       "shrinker: it reports that nothing can be freed");
	for (i = 0; i < 10; i++)
		once(i, alice);
	tap_ok(shrinker_count(NULL, &sc) == 10 + 10 * TABLE / PAGE_SIZE,
	       "shrinker: it reports the pages of ten tables");
	tap_ok(shrinker_scan(NULL, &sc) == sc.nr_to_scan && nr_idle == 5,
	       "shrinker: five of the ten tables are freed");
	once(9, alice);
	tap_ok(built == 10, "shrinker: the least recently used tables are freed");
	for (i = 0; i < BATCH + 8; i++)
		once(i, NULL);
	sc.nr_to_scan = ~0UL;
	shrinker_scan(NULL, &sc);
	tap_ok(nr_idle == 8, "shrinker: one scan holds the lock for a few objects only");
	end("shrinker");

	/* more idle objects than are freed before the lock is dropped */
	begin();
	for (i = 0; i < BATCH + 8; i++)
		once(i, NULL);
	max_table_mb = 4;
	tap_ok(!kunwind_memory_make_room(NULL, 4 << 20) && !nr_idle,
	       "room: as many idle objects are freed as needed");
	kunwind_memory_uncharge(NULL, 4 << 20);
	end("room");
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
	tap_ok(alice->refs == 2 && kunwind_quota_add_bytes(alice, 0) == of_alice->size &&
	       !strcmp(of_alice->path,
		       "/tmp/evil"), "names: a name is charged to the user who mapped the file");
	a = get_file(0, alice);
	tap_ok(!strcmp(kunwind_object_path(a, a->name), "?") &&
	       !strcmp(kunwind_object_path(a, of_bob), "/tmp/evil"),
	       "names: an object shows the name that the process has");
	kunwind_object_set_name(a, of_bob);
	tap_ok(!a->name,
	       "names: the object does not take a name from a user who is not charged for it");
	kunwind_object_set_name(a, of_alice);
	tap_ok(a->name == of_alice,
	       "names: the object takes the name from the user who is charged for it");
	b = get_file(0, bob);
	kunwind_object_next(list_entry(queues.prev, struct kunwind_build_queue, node), bob,
			    &wanted);
	taken = kunwind_objects_lock.taken;
	kunwind_object_set_name(a, of_alice);
	tap_ok(kunwind_objects_lock.taken == taken,
	       "names: a name that the object does not take needs no lock");
	tap_ok(b == a && wanted && a->quota == bob && a->name == of_alice,
	       "names: the object keeps its name when another user is charged");
	kunwind_object_set_name(a, of_alice);
	kunwind_object_set_name(a, of_bob);
	tap_ok(a->name == of_bob,
	       "names: the next mapping of the user who is charged now sets the name");
	kunwind_object_set_name(a, of_root);
	taken = kunwind_objects_lock.taken;
	kunwind_object_set_name(a, of_bob);
	kunwind_object_set_name(a, again);
	tap_ok(a->name == of_root && kunwind_objects_lock.taken == taken,
	       "names: a name from CAP_SYS_ADMIN wins and stays, without a lock");
	kunwind_object_set_name(&kunwind_object_cache_overflow, of_root);
	tap_ok(!kunwind_object_cache_overflow.name,
	       "names: the object for files over the limit has none");
	kunwind_name_put(of_alice);
	kunwind_name_put(of_bob);
	kunwind_name_put(of_root);
	kunwind_name_put(again);
	build_object(a);
	close_file(a);
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
		{ "of 256 bytes: all of it", MOST, MOST },
		{ "of 257 bytes: the last 256", "a" MOST, "..." MOST },
		{ "of newlines: as many as fit when escaped", TEN("\n") TEN("\n") TEN(TEN("\n")),
		  "..." TEN("\\012\\012\\012") TEN("\\012\\012\\012") "\\012\\012\\012\\012" },
		{ "of UTF-8: no half character", "a\303\244" FIFTY FIFTY FIFTY FIFTY FIFTY "/bcde",
		  "..." FIFTY FIFTY FIFTY FIFTY FIFTY "/bcde" },
	};
	unsigned int i;

	begin();
	files[0].name = "a\nobject\tforged\\";
	a = get_file(0, NULL);
	name = kunwind_name_of(&files[0], NULL);
	kunwind_object_set_name(a, name);
	kunwind_name_put(name);
	a->stats.nr_rows = 7;	/* the builder writes it before the table is ready */
	m.used = 0;
	kunwind_object_cache_show(&m);
	tap_ok(strstr(m.text, "object\tpending\t-\t0\t0\t"),
	       "status: an object that is built has no rows yet");
	a->stats.nr_rows = 0;
	build_all();
	a->building_parts = true;
	refcount_inc(&a->users);	/* as part_builder.c holds it */
	m.used = 0;
	kunwind_object_cache_show(&m);
	tap_ok(strstr(m.text, "object\tready\tok\t10\t100000\t1\t"),
	       "status: the builder of parts is no user of the object");
	a->building_parts = false;
	kunwind_object_put(a);
	m.used = 0;
	kunwind_object_cache_show(&m);
	tap_ok(strstr(m.text, "object\tready\tok\t10\t100000\t1\ta\\012object\\011forged\\134\n"),
	       "status: a name cannot add a line or a field");
	/* long names */
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		m.used = 0;
		kunwind_name_show(&m, paths[i].path);
		tap_ok(!strcmp(m.text, paths[i].shown), "status: name %s", paths[i].what);
	}
	status_full = true;
	m.used = 0;
	kunwind_object_cache_show(&m);
	status_full = false;
	tap_ok(!strstr(m.text, "\nobject\t"), "status: no object if the buffer is full");
	kunwind_object_cache_stats(&stats);
	tap_ok(stats.objects == 1 && stats.table_bytes == TABLE && stats.table_rows == 10,
	       "status: objects, bytes and rows are counted");
	kunwind_object_put(a);
	end("status");
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
	tap_ok(nr == 4 && o[nr] == ERR_PTR(-ENOSPC),
	       "jit: a user has at most a quarter of all objects");
	for (i = 0; i < nr; i++) {
		o[i]->state = KUNWIND_OBJECT_READY;
		kunwind_object_put(o[i]);
	}
	tap_ok(!alice->objects && !nr_idle, "jit: an object without users is not kept");
	end("jit");
}

/* A file without a name: probably no other process will map it. */
static void test_gone(void)
{
	struct kunwind_object *a;
	unsigned int woken;

	begin();
	inodes[0].i_nlink = 0;
	a = get_file(0, alice);
	tap_ok(a->gone, "gone: a new object of a file that was unlinked");
	inodes[0].i_nlink = 1;
	kunwind_object_put(get_file(0, alice));
	tap_ok(!a->gone, "gone: not any more when the file has a name again (linkat())");
	inodes[0].i_nlink = 0;
	kunwind_object_put(get_file(0, alice));
	tap_ok(a->gone, "gone: the file of a known object was unlinked");
	woken = kunwind_quota_turns.woken;
	kunwind_object_put(get_file(0, bob));
	tap_ok(kunwind_quota_turns.woken > woken,
	       "request: another user's wakes the job, which can take that user's turn");
	kunwind_object_put(a);
	end("gone");
}

/* Code in a file without a name: a memfd. */
static void test_reasons(void)
{
	struct kunwind_object *a, *b;

	begin();
	a = get_file(0, alice);
	inodes[1].i_nlink = 0;
	b = get_file(1, alice);
	inodes[1].i_nlink = 1;
	a->state = b->state = KUNWIND_OBJECT_REFUSED;
	a->build_error = b->build_error = KUNWIND_E_NOT_ELF;
	tap_ok(kunwind_object_reason(a) == KUNWIND_NO_TABLE,
	       "reason: a file that has a name and is no ELF file is no code of a JIT");
	tap_ok(kunwind_object_reason(b) == KUNWIND_NO_OBJECT,
	       "reason: a file that has no name and is no ELF file is code of a JIT");
	b->build_error = KUNWIND_E_NO_CFI;
	tap_ok(kunwind_object_reason(b) == KUNWIND_NO_TABLE,
	       "reason: an ELF file that has no name is no code of a JIT");
	b->build_error = KUNWIND_E_LIMIT;
	tap_ok(kunwind_object_reason(b) == KUNWIND_MEMORY_LIMIT, "reason: a limit");
	a->build_error = b->build_error = 0;
	kunwind_object_put(a);
	kunwind_object_put(b);
	end("reasons");
}

static void test_memcg(void)
{
	struct kunwind_object *a, *again, *vdso, *parts;
	static struct vdso_image image = { .size = 5000 };

	begin();
	a = get_file(0, alice);
	tap_ok(a->memcg == &memcg && memcg.refs == 1 && !other_memcg.refs,
	       "control group: a build has that of the process that maps the file");
	again = kunwind_object_get_file(&files[0], bob, &mm);
	tap_ok(again == a && a->memcg == &memcg && memcg.refs == 1 && !other_memcg.refs,
	       "control group: a build keeps that of the first process");
	build_all();
	tap_ok(!a->memcg && !memcg.refs,
	       "control group: a table that is kept does not keep a removed group");
	kunwind_object_put(a);
	kunwind_object_put(again);
	vdso = kunwind_object_get_vdso(&image);
	tap_ok(!vdso->memcg, "control group: the vDSO's table is charged to none");
	kunwind_object_put(vdso);

	parts = get_file(1, alice);
	parts->building_parts = true;
	build_all();
	tap_ok(parts->memcg == &memcg && memcg.refs == 1,
	       "control group: it is also that of the second stage");
	parts->building_parts = false;
	kunwind_object_build_over(parts);
	tap_ok(!memcg.refs, "control group: given up at the end of the second stage");
	kunwind_object_put(parts);

	a = get_file(2, alice);
	kunwind_object_put(a);
	build_all();
	tap_ok(!memcg.refs, "control group: given up when no process uses the object any more");
	max_objects = 0;
	a = get_file(3, alice);
	tap_ok(a == &kunwind_object_cache_overflow && !memcg.refs,
	       "control group: given up when there is no room for the object");
	end("control group");
}

int main(void)
{
	current = &task;
	kunwind_build_queues_init(build_next);
	test_states();
	test_idle_share();
	test_retry();
	test_limits();
	test_shrinker();
	test_names();
	test_show();
	test_jit();
	test_gone();
	test_reasons();
	test_memcg();
	return tap_done();
}
