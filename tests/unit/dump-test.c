/* SPDX-License-Identifier: MIT */
/*
 * dump-test.c - the dump of known mappings for a reader that starts late: how
 * many mappings of a process and of a user it reports, and when it ends
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

struct pid { unsigned int bucket; int refs; u32 dump; };
#define pid_nr(pid)			((int)(pid)->bucket)
static void put_pid(struct pid *pid) { pid->refs--; }

#define _KUNWIND_HOOK_H
static bool hook_missing;
#define kunwind_hook_missing()		hook_missing
#define _KUNWIND_EVENTS_H
#define _KUNWIND_MAP_EVENT_H
#include "../../kmod/object/object.h"
#include "../../kmod/base/memory_limit.h"
#include "../../kmod/space/snapshot.h"
#include "../../kmod/trace/dump.h"

static bool listening;
#define trace_kunwind_map_enabled()	listening
static unsigned int told, ends_after;
static u64 told_last;

static void kunwind_trace_map(pid_t tgid, const struct kunwind_range *range,
			      const struct kunwind_detail *detail)
{
	(void)tgid, (void)detail;
	told_last = range->start;
	if (++told == ends_after)
		listening = false;
}

#include "../../kmod/base/quota.c"
#include "../../kmod/space/snapshot.c"
#include "../../kmod/dump.c"

#define NR	100
static struct kunwind_snapshot *lists[NR];

/* stack/blocked.c: counts what it is asked for. */
static bool blocked_on, short_of_memory;
static unsigned int reports, reported, told_before;
bool kunwind_blocked_wanted(void) { return blocked_on; }
struct kunwind_blocked_report *kunwind_blocked_begin(void)
{
	if (short_of_memory)
		return NULL;
	reports++;
	return (void *)&reports;
}
void kunwind_blocked_end(struct kunwind_blocked_report *report) { reports -= !!report; }
void kunwind_blocked_process(struct kunwind_blocked_report *report, struct pid *pid,
			     struct kunwind_quota *quota, u32 dump, u32 limit)
{
	if (report != (void *)&reports || quota != lists[pid->bucket]->quota || dump != dump_nr ||
	    limit != USER_MAX)
		wrong("what the report gets");
	reported++;
	told_before = told;
}
void kunwind_blocked_show(struct seq_file *m) { seq_puts(m, "blocked\n"); }

/* ------------------------ functions of other files that these files call */

static struct pid pids[NR];
static struct kunwind_object object;
static struct cred cred;
static struct mm_struct mm;
static struct task_struct task = { .cred = &cred, .pid_ns = &init_pid_ns, .mm = &mm };

struct pid *kunwind_process_next(unsigned int *bucket, u32 dump)
{
	struct pid *pid;

	for (; *bucket < NR; ++*bucket) {
		pid = &pids[*bucket];
		if (!lists[*bucket] || pid->dump == dump)
			continue;
		pid->dump = dump;
		pid->refs++;
		return pid;
	}
	return NULL;
}

struct kunwind_snapshot *kunwind_process_snapshot(struct pid *pid)
{
	refcount_inc(&lists[pid->bucket]->refs);
	return lists[pid->bucket];
}

struct kunwind_object kunwind_object_anonymous = { .users = REFCOUNT_INIT(1) };
void kunwind_object_put(struct kunwind_object *of) { refcount_dec_and_test(&of->users); }
enum kunwind_reason kunwind_object_reason(const struct kunwind_object *of)
{
	(void)of;
	return KUNWIND_NO_TABLE;
}
int kunwind_memory_make_room(struct kunwind_quota *quota, size_t bytes)
{
	(void)quota, (void)bytes;
	return 0;
}
int kunwind_memory_charge(struct kunwind_quota *quota, size_t bytes) { (void)quota, (void)bytes; return 0; }
void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes) { (void)quota, (void)bytes; }
void kunwind_memory_refused(void) { }
#include "memory.h"
struct kunwind_space;
#include "snapshot.h"
void kunwind_name_put(struct kunwind_name *name) { (void)name; }
void kunwind_reap(struct kunwind_reap *reap, void (*free)(struct kunwind_reap *reap)) { free(reap); }

/* --------------------------------------------------------------- the scene */

/* Process @n of user @uid (0: root) has @nr mappings of a file. */
static void process(unsigned int n, u32 uid, u32 nr)
{
	static struct kunwind_range ranges[2 * PROCESS_MAX];
	static struct kunwind_detail details[2 * PROCESS_MAX];
	struct kunwind_quota *quota;
	u32 i;

	cred = (struct cred){ &init_user_ns, { uid }, uid ? 0 : 1ULL << CAP_SYS_ADMIN };
	quota = kunwind_quota_of(&mm);
	for (i = 0; i < nr; i++) {
		ranges[i] = (struct kunwind_range){
			.start = 0x2000 * (i + 1), .end = 0x2000 * (i + 1) + 0x1000,
		};
		details[i] = (struct kunwind_detail){ .object = kunwind_object_get(&object) };
	}
	lists[n] = snapshot_from(ranges, details, nr, KUNWIND_CHUNK_MAX, quota);
	kunwind_quota_put(quota);
}

static void begin(void)
{
	unsigned int i;

	current = &task;
	for (i = 0; i < NR; i++)
		pids[i] = (struct pid){ .bucket = i };
	refcount_set(&object.users, 1);
	object.state = KUNWIND_OBJECT_READY;
	listening = true;
	told = ends_after = 0;
	left_out.n = 0;
}

static void end(const char *what)
{
	bool good = !dumping;
	unsigned int i;

	for (i = 0; i < NR; i++) {
		good &= !pids[i].refs;
		if (lists[i])
			kunwind_snapshot_put(lists[i]);
		lists[i] = NULL;
	}
	tap_ok(good && refcount_read(&object.users) == 1 && !kunwind_snapshot_bytes(),
	       "%s: all references and snapshots are released", what);
}

/* ------------------------------------------------------------------- tests */

static void test_process(void)
{
	static struct seq_file m;

	begin();
	process(0, 0, 1000);
	kunwind_dump_all();
	tap_ok(told == 1000 && told_last == 0x2000 * 1000 && !left_out.n,
	       "process: each mapping is reported once");
	kunwind_dump_all();
	tap_ok(told == 2000, "process: the next dump reports each mapping once again");
	process(1, 0, PROCESS_MAX);
	process(2, 0, PROCESS_MAX + 1000);
	told = 0;
	kunwind_dump_all();
	tap_ok(told == 1000 + 2 * PROCESS_MAX && left_out.n == 1000,
	       "process: at most %u mappings are reported, the others are counted", PROCESS_MAX);
	kunwind_dump_show(&m);
	tap_ok(!strcmp(m.text, "stat\tdump_left_out\t1000\nblocked\n"),
	       "process: the status shows how many mappings were left out");
	end("process");

	/* mappings that are never reported lie between the others */
	begin();
	process(0, 0, PROCESS_MAX + 1000);
	RANGE(lists[0], 0).dead = true;
	RANGE(lists[0], PROCESS_MAX + 500).dead = true;
	kunwind_object_put(&object);
	DETAIL(lists[0], PROCESS_MAX + 501).object = kunwind_object_get(&kunwind_object_anonymous);
	kunwind_dump_all();
	tap_ok(told == PROCESS_MAX && told_last == 0x2000 * (PROCESS_MAX + 1),
	       "process: dead and anonymous mappings do not count towards the %u", PROCESS_MAX);
	tap_ok(left_out.n == 1000 - 1 - 2,
	       "process: dead and anonymous mappings do not count as left out");
	end("process with dead and anonymous mappings");

	/* A process that was in no dump yet has the number 0. */
	begin();
	process(0, 0, 10);
	dump_nr = U32_MAX;
	kunwind_dump_all();
	tap_ok(told == 10, "process: after 2^32 dumps, a new process is reported, too");
	end("process after 2^32 dumps");
}

static void test_user(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < 80; i++)
		process(i, 1001, PROCESS_MAX);
	process(80, 1002, 10);
	process(81, 0, 10);
	kunwind_dump_all();
	tap_ok(told == USER_MAX + 10 + 10 && left_out.n == 80 * PROCESS_MAX - USER_MAX,
	       "user: at most %u mappings of all processes; other users' are reported", USER_MAX);
	told = 0;
	kunwind_dump_all();
	tap_ok(told == USER_MAX + 10 + 10, "user: the next dump reports the same number");
	end("user");

	begin();
	for (i = 0; i < 80; i++)
		process(i, 1001, PROCESS_MAX - 1);
	kunwind_dump_all();
	tap_ok(told == USER_MAX && left_out.n == 80 * (PROCESS_MAX - 1) - USER_MAX,
	       "user: the limit also holds for processes below their own limit");
	end("user with smaller processes");

	begin();
	for (i = 0; i < 80; i++)
		process(i, 0, PROCESS_MAX);
	kunwind_dump_all();
	tap_ok(told == 80 * PROCESS_MAX && !left_out.n,
	       "user: no limit for processes with CAP_SYS_ADMIN");
	end("CAP_SYS_ADMIN");
}

static void test_blocked(void)
{
	begin();
	process(0, 1001, 10);
	kunwind_dump_all();
	tap_ok(!reported && !reports, "blocked: the event is off: no report");
	blocked_on = true;
	kunwind_dump_all();
	tap_ok(reported == 1 && told_before == 20 && !reports,
	       "blocked: a process's threads are reported after its mappings");
	process(1, 0, 10);
	listening = false;
	kunwind_dump_all();
	tap_ok(reported == 3 && told == 20, "blocked: without kunwind_map, the threads are reported");
	listening = short_of_memory = true;
	kunwind_dump_all();
	tap_ok(reported == 3 && told == 40, "blocked: without memory, the mappings are reported");
	blocked_on = short_of_memory = false;
	end("blocked");
}

static void test_end(void)
{
	begin();
	process(0, 0, 1000);
	process(1, 0, 1000);
	ends_after = 100;
	kunwind_dump_all();
	tap_ok(told == 2 * DUMPED && !left_out.n,
	       "end: the dump stops soon after the event is disabled");
	end("end");

	begin();
	process(0, 0, 1000);
	hook_missing = true;
	kunwind_dump_all();
	hook_missing = false;
	tap_ok(!told, "no mapping is reported if a required hook is missing");
	end("missing hook");
}

/* What is reported when a process dies: @bytes of events, short paths first. */
static void test_within(void)
{
	struct kunwind_name *longer = calloc(1, sizeof(*longer));
	struct kunwind_name *shorter = calloc(1, sizeof(*shorter));
	struct kunwind_snapshot *snapshot;
	u32 i;

	begin();
	process(0, 0, 100);
	snapshot = lists[0];
	longer->size = 4096;
	shorter->size = 256;
	for (i = 0; i < 100; i++)
		DETAIL(snapshot, i).name = i < 90 ? longer : shorter;
	kunwind_snapshot_dump_within(snapshot, 100, 10 * EVENT_SHORT);
	tap_ok(told == 10 && told_last == 0x2000 * 100,
	       "death: mappings with short paths are reported, those with long ones do not fit");
	told = 0;
	kunwind_snapshot_dump_within(snapshot, 100, 10 * EVENT_SHORT + 3 * (EVENT_BYTES + 4096));
	tap_ok(told == 13 && told_last == 0x2000 * 3,
	       "death: then mappings with long paths, as far as there is room");
	told = 0;
	kunwind_snapshot_dump_within(snapshot, 100, 10 * EVENT_SHORT - 1);
	tap_ok(told == 9, "death: no event exceeds the limit");
	told = 0;
	RANGE(snapshot, 99).dead = true;
	kunwind_snapshot_dump_within(snapshot, 100, 10 * EVENT_SHORT);
	tap_ok(told == 9 && told_last == 0x2000 * 99,
	       "death: dead ranges are not reported, and take no room");
	told = 0;
	for (i = 0; i < 99; i++)
		DETAIL(snapshot, i).name = NULL;
	kunwind_snapshot_dump_within(snapshot, 100, 99 * EVENT_BYTES);
	tap_ok(told == 99, "death: a mapping without a path takes the room of its event alone");
	DETAIL(snapshot, 99).name = NULL;
	end("death");
	free(longer);
	free(shorter);
}

int main(void)
{
	test_process();
	test_user();
	test_blocked();
	test_end();
	kunwind_quota_exit();
	test_within();
	return tap_done();
}
