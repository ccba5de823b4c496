/* SPDX-License-Identifier: MIT */
/*
 * object-test.c - objects: one for each state of a file, their limits, who pays, when they
 * go; and the queues in which they wait to be built
 */
#include "kernel.h"

#include <stdint.h>

#include "tap.h"

/* ------------------------------------------------- more of the kernel, and files */

struct timespec64 { s64 tv_sec; long tv_nsec; };
struct inode;
struct export_operations {
	int (*encode_fh)(struct inode *inode, u32 *fh, int *max_len, struct inode *parent);
};
struct file_system_type { int fs_flags; };
struct super_block {
	u32 s_dev;
	unsigned long s_magic;
	const struct export_operations *s_export_op;
	const struct file_system_type *s_type;
};
struct inode {
	unsigned long i_ino;
	u32 i_generation;
	s64 i_size;
	struct timespec64 i_ctime;
	struct super_block *i_sb;
	unsigned int i_nlink;
};
struct file { struct inode *inode; int refs; const char *name; };
struct vdso_image { void *data; unsigned long size; };
struct shrinker { int unused; };
struct shrink_control { unsigned long nr_to_scan; };
#define file_inode(file)	((file)->inode)
#define i_size_read(inode)	((inode)->i_size)
#define new_encode_dev(dev)	(dev)
#define FS_REQUIRES_DEV		1
#define PATH_MAX		4096
#define SHRINK_EMPTY		(~0UL - 1)
#define SHRINK_STOP		(~0UL)
#define d_path(file, buf, size)	((char *)(file)->name)

static u32 jhash2(const u32 *words, u32 nr, u32 seed)
{
	while (nr--)
		seed = (seed ^ *words++) * 0x61C88647U;
	return seed;
}
static u32 get_random_u32(void) { return 7; }
static void seq_escape(struct seq_file *m, const char *text, const char *what)
{
	for (; *text; text++)
		seq_printf(m, strchr(what, *text) ? "\\%03o" : "%c", *text);
}
static void seq_putc(struct seq_file *m, char c) { seq_printf(m, "%c", c); }
static void seq_puts(struct seq_file *m, const char *text) { seq_printf(m, "%s", text); }

#define _KUNWIND_COMPAT_SHRINKER_H
static struct shrinker the_shrinker;
typedef unsigned long shrink_fn(struct shrinker *shrinker, struct shrink_control *sc);
static shrink_fn *shrinker_count, *shrinker_scan;
static struct shrinker *kunwind_shrinker_register(const char *name, shrink_fn *count, shrink_fn *scan)
{
	(void)name;
	shrinker_count = count;
	shrinker_scan = scan;
	return &the_shrinker;
}
static void kunwind_shrinker_unregister(struct shrinker *shrinker) { (void)shrinker; }

#define _KUNWIND_COMPAT_MM_H
#define kunwind_inode_ctime(inode)	((inode)->i_ctime)
#define kunwind_file_path(file)	(file)
#define KUNWIND_BCACHEFS_MAGIC	0xca451a4e

#define local	lane_local	/* of a file system; below it is a file */
#define find	filesystem_find
#define bucket	filesystem_bucket

#include "../../kmod/filesystem.c"
#undef find
#undef bucket
#undef BITS
#undef MAX_STALLS
#include "../../kmod/payer.c"
#define used	memory_used
#include "../../kmod/memory.c"
#undef used
#include "../../kmod/name.c"
#include "../../kmod/object_key.c"
#include "../../kmod/lanes.c"
#undef local
#include "../../kmod/object_cache.c"
#include "../../kmod/object.c"

/* ------------------------------------------------ what these need of others */

#define TABLE	100000		/* bytes of each table */

static unsigned int built, closed, woken;
static enum kunwind_refusal ends_with;

bool kunwind_builder_attach(struct kunwind_object *object, struct file *file, bool remote)
{
	object->module_held = remote;
	object->file = file;
	if (file)
		file->refs++;
	return true;
}

void kunwind_builder_detach(struct kunwind_object *object)
{
	if (object->file)
		object->file->refs--;
	object->file = NULL;
}

void kunwind_builder_close(struct kunwind_object *object)
{
	closed++;
	kunwind_builder_detach(object);
}

void kunwind_builder_run(struct kunwind_object *object)
{
	int err;

	built++;
	object->refusal = ends_with;
	if (!ends_with) {
		err = kunwind_object_make_room(object->payer, TABLE);
		object->over_share = err == -EDQUOT;
		if (err) {
			object->refusal = KUNWIND_E_LIMIT;
		} else {
			object->table = kunwind_alloc(1024);
			object->stats.bytes = TABLE;
			object->stats.nr_rows = 10;
			kunwind_object_built(object);
		}
	}
	object->done_at = jiffies;
	object->state = !object->refusal ? KUNWIND_OBJECT_READY :
			object->refusal == KUNWIND_E_LIMIT ? KUNWIND_OBJECT_REFUSED :
			object->refusal == KUNWIND_E_NO_CFI ? KUNWIND_OBJECT_NO_CFI : KUNWIND_OBJECT_FAILED;
}

void kunwind_builder_counts(u64 *builds, u64 *refused) { *builds = built; *refused = 0; }
void kunwind_builder_show_params(struct seq_file *m) { (void)m; }
const char *kunwind_refusal_name(unsigned int refusal);
u64 kunwind_snapshot_bytes(void) { return 0; }
static bool status_full;
bool kunwind_status_ends(struct seq_file *m) { (void)m; return status_full; }
void kunwind_jobs_wake(void) { woken++; }

/* --------------------------------------------------------------- the scene */

static const struct file_system_type on_disk = { FS_REQUIRES_DEV }, elsewhere = { 0 };
static struct super_block disk = { 0x801, 0xef53, NULL, &on_disk };
static struct super_block fuse = { 0x30, FUSE_SUPER_MAGIC, NULL, &on_disk };
static struct super_block nfs = { 0x31, NFS_SUPER_MAGIC, NULL, &elsewhere };
static struct super_block memory = { 0x32, TMPFS_MAGIC, NULL, &elsewhere };

#define MANY	64
static struct inode inodes[MANY];
static struct file files[MANY];
static struct cred cred;
static struct mm_struct mm;
static struct task_struct task = { .cred = &cred, .pid_ns = &init_pid_ns, .mm = &mm };
static struct kunwind_payer *alice, *bob;

static struct kunwind_payer *user(u32 uid)
{
	cred = (struct cred){ &init_user_ns, { uid }, 0 };
	return kunwind_payer_of(&mm);
}

static void begin(void)
{
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		inodes[i] = (struct inode){ i + 1, 1, 5000, { 1, 1 }, &disk, 1 };
		files[i] = (struct file){ &inodes[i], 1, "/usr/lib/x" };
	}
	max_objects = 1000;
	max_table_mb = 512;
	max_user_table_mb = 128;
	built = closed = 0;
	ends_with = KUNWIND_OK;
	alice = user(1001);
	bob = user(1002);
	kunwind_object_init();
}

static struct kunwind_object *get_file(unsigned int i, struct kunwind_payer *payer)
{
	return kunwind_object_get_file(&files[i], payer);
}

static void build_all(void) { while (run_work()) ; }

/* One that is ready and has no users. */
static void once(unsigned int i, struct kunwind_payer *payer)
{
	struct kunwind_object *object = get_file(i, payer);

	build_all();
	kunwind_object_put(object);
}

static void end(const char *what)
{
	struct shrink_control all = { .nr_to_scan = ~0UL };
	bool good = true;
	unsigned int i;

	build_all();
	while (nr_idle && shrinker_scan(NULL, &all) != SHRINK_STOP)
		;
	for (i = 0; i < MANY; i++)
		good &= files[i].refs == 1;
	good &= list_empty(&lanes) && alice->refs == 1 && bob->refs == 1 && !alice->objects &&
		!bob->objects && !atomic64_read(&memory_used) && !nr_objects && !nr_idle &&
		!idle_bytes && !kunwind_payer_idle(alice)->nr && !kunwind_payer_idle(bob)->nr &&
		!kunwind_payer_idle(NULL)->nr && !atomic64_read(&table_bytes) && !atomic64_read(&table_rows);
	for (i = 0; i < ARRAY_SIZE(filesystems); i++)
		good &= hlist_empty(&filesystems[i]);
	if (!tap_ok(good, "%s: all is given back", what))
		printf("# %u objects, %u idle, %llu bytes; %u and %u of users, %u and %u references\n",
		       nr_objects, nr_idle, (unsigned long long)idle_bytes, alice->objects, bob->objects,
		       alice->refs, bob->refs);
	kunwind_payer_put(alice);
	kunwind_payer_put(bob);
	kunwind_object_exit();
	memset(payers, 0, sizeof(payers));
}

/* ------------------------------------------------------------------- tests */

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
	       "which lets go of the file");
	kunwind_object_put(a);
	kunwind_object_put(b);
	tap_ok(nr_idle == 1 && idle_bytes == TABLE, "without users it is kept");
	a = get_file(0, alice);
	tap_ok(a == b && built == 1 && !nr_idle && !idle_bytes, "for the next one");
	inodes[0].i_ctime.tv_nsec++;
	c = get_file(0, alice);
	tap_ok(c != a && a->gone && nr_objects == 2, "another state of the file is another object");
	kunwind_object_put(a);
	build_all();
	inodes[0].i_ctime.tv_nsec--;
	a = get_file(0, alice);
	tap_ok(a != c && c->gone, "a former state is not looked for among the present ones");
	build_all();
	kunwind_object_put(a);
	kunwind_object_put(c);
	inodes[1].i_nlink = 0;
	once(1, NULL);
	tap_ok(first_idle()->key.ino == inodes[1].i_ino, "whose file has no name goes first");
	for (i = 0; i < IDLE_MAX + 10; i++) {
		inodes[2].i_ino = 1000 + i;
		once(2, NULL);
	}
	tap_ok(nr_idle == IDLE_MAX, "no more than %u are kept without users", IDLE_MAX);
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
	tap_ok(built == before, "and displaces no table of others");
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
	tap_ok(!kunwind_object_stale(a, NULL), "what failed is not tried again at once");
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
	tap_ok(shrinker_count(NULL, &sc) == SHRINK_EMPTY, "shrinker: nothing");
	for (i = 0; i < 10; i++)
		once(i, alice);
	tap_ok(shrinker_count(NULL, &sc) == 10 + 10 * TABLE / PAGE_SIZE, "shrinker: pages of ten tables");
	tap_ok(shrinker_scan(NULL, &sc) == sc.nr_to_scan && nr_idle == 5, "shrinker: five of them go");
	once(9, alice);
	tap_ok(built == 10, "shrinker: those that nobody used for longest");
	end("shrinker");
}

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

/* The name of an object in the status. */
static void test_names(void)
{
	struct kunwind_object *a, *b;
	struct kunwind_name *of_alice, *of_bob, *of_root;
	bool wanted;

	begin();
	files[0].name = "/tmp/evil";
	of_alice = kunwind_name_of(&files[0], alice);
	of_bob = kunwind_name_of(&files[0], bob);
	files[0].name = "/usr/bin/prog";
	of_root = kunwind_name_of(&files[0], NULL);
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
	tap_ok(b == a && wanted && a->payer == bob && a->name == of_alice,
	       "names: which stays when another is charged");
	kunwind_object_set_name(a, of_alice);
	kunwind_object_set_name(a, of_bob);
	tap_ok(a->name == of_bob, "names: until that user maps the file again");
	kunwind_object_set_name(a, of_root);
	kunwind_object_set_name(a, of_bob);
	tap_ok(a->name == of_root, "names: that of CAP_SYS_ADMIN comes first, and stays");
	kunwind_object_set_name(&kunwind_object_overflow, of_root);
	tap_ok(!kunwind_object_overflow.name, "names: what there is no room for has none");
	kunwind_name_put(of_alice);
	kunwind_name_put(of_bob);
	kunwind_name_put(of_root);
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
	       "shown: a name can make no line, and no field");
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
	test_unwanted();
	test_places();
	test_take_over();
	test_lanes();
	test_names();
	test_show();
	test_jit();
	return tap_done();
}
