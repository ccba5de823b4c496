/* SPDX-License-Identifier: MIT */
/*
 * quota-test.c - a user's limits of processes, objects, bytes and processor
 * time; and to which user a process belongs
 */
#include "kernel.h"
#include "tap.h"

#define _KUNWIND_SHOW_H
static bool status_ends;
#define kunwind_show_ends(m)	((void)(m), status_ends)
#include "../../kmod/base/memory_limit.c"
#include "../../kmod/base/quota.c"

static struct user_namespace outer = { &init_user_ns, { 1001 } }, inner = { &outer, { 100000 } };
static struct pid_namespace container1 = { &init_pid_ns, &init_user_ns, { 11 } };
static struct pid_namespace container2 = { &init_pid_ns, &init_user_ns, { 12 } };
static struct pid_namespace nested = { &container1, &outer, { 13 } };
static struct cred cred;
static struct mm_struct mm;
static struct task_struct task = { .cred = &cred, .pid_ns = &init_pid_ns, .mm = &mm };

/* Sets the current task's user, namespaces and CAP_SYS_ADMIN. */
static void be(u32 uid, struct user_namespace *user_ns, struct pid_namespace *pid_ns, bool admin)
{
	cred = (struct cred){ user_ns, { uid }, admin ? 1ULL << CAP_SYS_ADMIN : 0 };
	task.pid_ns = pid_ns;
	current = &task;
}

static struct kunwind_quota *quota(u32 uid, struct user_namespace *user_ns, struct pid_namespace *pid_ns)
{
	be(uid, user_ns, pid_ns, false);
	return kunwind_quota_of(&mm);
}

static unsigned int users(void)
{
	struct seq_file m = { .used = 0 };
	unsigned int n = 0;
	const char *p;

	kunwind_quota_show(&m);
	for (p = m.text; (p = strstr(p, "user\t")); p++)
		n++;
	return n;
}

static void test_who(void)
{
	struct kunwind_quota *user = quota(1001, &init_user_ns, &init_pid_ns);
	struct kunwind_quota *other = quota(1002, &init_user_ns, &init_pid_ns);
	struct kunwind_quota *p, *root1, *root2;
	struct cred owner_cred = { &init_user_ns, { 1002 }, 0 };
	struct task_struct owner = { .cred = &owner_cred, .pid_ns = &init_pid_ns };
	struct mm_struct others = { .owner = &owner };

	tap_ok(user && other && user != other, "who: two users have different quotas");
	p = quota(100000, &outer, &init_pid_ns);
	tap_ok(p == user, "who: a process in a user namespace belongs to the namespace's owner");
	kunwind_quota_put(p);
	p = quota(7, &inner, &init_pid_ns);
	tap_ok(p == user, "who: a process in a nested user namespace belongs to the outermost one's owner");
	kunwind_quota_put(p);
	be(1001, &init_user_ns, &init_pid_ns, true);
	tap_ok(!kunwind_quota_of(&mm), "who: CAP_SYS_ADMIN is not charged");
	be(1001, &outer, &init_pid_ns, true);
	p = kunwind_quota_of(&mm);
	tap_ok(p == user, "who: CAP_SYS_ADMIN of another user namespace is charged");
	kunwind_quota_put(p);
	be(1001, &init_user_ns, &init_pid_ns, false);
	p = kunwind_quota_of(&others);
	tap_ok(p == other, "who: another process belongs to its own user");
	kunwind_quota_put(p);
	others.owner = NULL;
	be(1001, &init_user_ns, &init_pid_ns, true);
	p = kunwind_quota_of(&others);
	tap_ok(p == &anyone, "who: an ending process of unknown user is charged even for CAP_SYS_ADMIN");
	kunwind_quota_put(p);
	be(1001, &init_user_ns, &init_pid_ns, false);
	p = kunwind_quota_of(&others);
	tap_ok(p == &anyone, "who: an ending process does not belong to the user who reads its mappings");
	kunwind_quota_put(p);
	root1 = quota(0, &init_user_ns, &container1);
	root2 = quota(0, &init_user_ns, &container2);
	p = quota(0, &init_user_ns, &init_pid_ns);
	tap_ok(root1 != root2 && p != root1 && p != root2, "who: each container's root is a separate user");
	kunwind_quota_put(p);
	p = quota(0, &init_user_ns, &nested);
	tap_ok(p == root1, "who: a PID namespace that a user made gives no second share");
	kunwind_quota_put(p);
	p = quota(1001, &init_user_ns, &container1);
	tap_ok(p == user, "who: a user other than root is the same in each container");
	kunwind_quota_put(p);
	tap_ok(users() == 4, "who: the status shows four users");
	status_ends = true;
	tap_ok(!users(), "who: the status ends early if its reader is killed");
	status_ends = false;
	quotas_lock.taken = 0;
	users();
	tap_ok(quotas_lock.taken == QUOTA_BUCKETS, "who: the status holds the lock for one bucket at a time");
	kunwind_quota_put(user);
	kunwind_quota_put(other);
	kunwind_quota_put(root1);
	kunwind_quota_put(root2);
	tap_ok(!users(), "who: users without charges are not shown");
}

static void test_processes(void)
{
	struct kunwind_quota *p[3], *more;

	max_user_processes = 2;
	be(1001, &init_user_ns, &init_pid_ns, false);
	p[0] = kunwind_quota_add_process(KUIDT_INIT(1001), false);
	p[1] = kunwind_quota_add_process(KUIDT_INIT(1001), false);
	tap_ok(!IS_ERR(p[0]) && p[0] == p[1], "processes: a user may have max_user_processes");
	more = kunwind_quota_add_process(KUIDT_INIT(1001), false);
	tap_ok(more == ERR_PTR(-ENOSPC), "processes: one more than max_user_processes is refused");
	p[2] = kunwind_quota_add_process(KUIDT_INIT(1001), true);
	tap_ok(p[2] == p[0], "processes: CAP_SYS_ADMIN has no limit, but is counted");
	kunwind_quota_remove_process(p[2]);
	kunwind_quota_remove_process(p[1]);
	p[1] = kunwind_quota_add_process(KUIDT_INIT(1001), false);
	tap_ok(p[1] == p[0], "processes: the end of a process makes room for another");
	kunwind_quota_remove_process(p[0]);
	kunwind_quota_remove_process(p[1]);
	no_memory = 1;
	tap_ok(kunwind_quota_add_process(KUIDT_INIT(1001), false) == ERR_PTR(-ENOMEM),
	       "processes: no memory returns ENOMEM");
	max_user_processes = 0;
	tap_ok(kunwind_quota_add_process(KUIDT_INIT(1001), false) == ERR_PTR(-ENOSPC) && !users(),
	       "processes: a refused process leaves no charge");
}

/*
 * Adds processes of @uid until one is refused, at most 99. @nr of @max records
 * exist before.
 */
static unsigned int autos(u32 uid, bool admin, unsigned int nr, unsigned int max,
			  struct kunwind_quota **p)
{
	unsigned int i;

	be(uid, &init_user_ns, &init_pid_ns, admin);
	for (i = 0; i < 99; i++) {
		p[i] = kunwind_quota_add_share(&task, KUNWIND_SHARE_RECORD, nr + i < max ? max - nr - i : 0);
		if (IS_ERR(p[i]))
			break;
	}
	return i;
}

static void test_autos(void)
{
	struct kunwind_quota *p[100], *q[100], *r[100], *more;

	max_user_processes = 0;
	tap_ok(autos(1001, false, 0, 8, p) == 4 && p[4] == ERR_PTR(-ENOSPC) && p[0] == p[3] && p[0],
	       "system_wide: a user has at most half of the records");
	tap_ok(autos(1002, false, 4, 8, q) == 2,
	       "system_wide: the next user has half of the remaining records");
	tap_ok(autos(0, true, 6, 8, r) == 99 && !r[0] && !r[98],
	       "system_wide: root's processes with CAP_SYS_ADMIN are in no user's share");
	kunwind_quota_remove_share(p[0], KUNWIND_SHARE_RECORD);
	be(1001, &init_user_ns, &init_pid_ns, false);
	more = kunwind_quota_add_share(&task, KUNWIND_SHARE_RECORD, 3);
	tap_ok(more == ERR_PTR(-ENOSPC), "system_wide: a user has at most as many records as are free");
	more = kunwind_quota_add_share(&task, KUNWIND_SHARE_RECORD, 4);
	tap_ok(more == p[1], "system_wide: a user may have as many records as are free");
	tap_ok(kunwind_quota_add_share(&task, KUNWIND_SHARE_UNMAP, 1) == p[1] &&
	       kunwind_quota_add_share(&task, KUNWIND_SHARE_UNMAP, 1) == ERR_PTR(-ENOSPC),
	       "system_wide: records and unmaps are counted separately");
	kunwind_quota_remove_share(p[1], KUNWIND_SHARE_UNMAP);
	be(1001, &init_user_ns, &init_pid_ns, true);
	tap_ok(kunwind_quota_add_share(&task, KUNWIND_SHARE_RECORD, 4) == ERR_PTR(-ENOSPC),
	       "system_wide: a set-user-ID program is in its real user's share");
	kunwind_quota_remove_share(more, KUNWIND_SHARE_RECORD);
	kunwind_quota_remove_share(p[1], KUNWIND_SHARE_RECORD);
	kunwind_quota_remove_share(p[2], KUNWIND_SHARE_RECORD);
	kunwind_quota_remove_share(p[3], KUNWIND_SHARE_RECORD);
	kunwind_quota_remove_share(q[0], KUNWIND_SHARE_RECORD);
	kunwind_quota_remove_share(q[1], KUNWIND_SHARE_RECORD);
	kunwind_quota_remove_share(NULL, KUNWIND_SHARE_RECORD);
	no_memory = 1;
	tap_ok(kunwind_quota_add_share(&task, KUNWIND_SHARE_RECORD, 4) == ERR_PTR(-ENOMEM) && !users(),
	       "system_wide: no memory leaves no charge");
}

/*
 * Does the record of a process that becomes this user's stay charged to @quota?
 */
static bool stays(const struct kunwind_quota *quota, u32 uid, struct pid_namespace *pid_ns, bool admin)
{
	be(uid, &init_user_ns, pid_ns, admin);
	return kunwind_quota_shares(quota, &task);
}

static void test_becomes(void)
{
	struct kunwind_quota *user, *root;

	be(1001, &init_user_ns, &init_pid_ns, false);
	user = kunwind_quota_add_share(&task, KUNWIND_SHARE_RECORD, 1);
	be(0, &init_user_ns, &container1, false);
	root = kunwind_quota_add_share(&task, KUNWIND_SHARE_RECORD, 1);
	tap_ok(stays(user, 1001, &init_pid_ns, false) && stays(user, 1001, &init_pid_ns, true) &&
	       stays(NULL, 0, &init_pid_ns, true), "exec: the record stays with an unchanged real user");
	tap_ok(!stays(user, 1002, &init_pid_ns, false) && !stays(user, 0, &init_pid_ns, true) &&
	       !stays(NULL, 1001, &init_pid_ns, false) && !stays(NULL, 1001, &init_pid_ns, true),
	       "exec: the record moves with a changed real user");
	tap_ok(stays(root, 0, &container1, false) && !stays(root, 0, &container2, false),
	       "exec: root of another container is another user");
	kunwind_quota_remove_share(user, KUNWIND_SHARE_RECORD);
	kunwind_quota_remove_share(root, KUNWIND_SHARE_RECORD);
}

static void test_objects(void)
{
	struct kunwind_quota *p = quota(1001, &init_user_ns, &init_pid_ns);

	tap_ok(kunwind_quota_add_object(p, 2) && kunwind_quota_add_object(p, 2) &&
	       !kunwind_quota_add_object(p, 2), "objects: the limit of two is exact");
	kunwind_quota_remove_object(p);
	tap_ok(kunwind_quota_add_object(p, 2) && !kunwind_quota_add_object(p, 2),
	       "objects: an object that is freed makes room for another");
	tap_ok(kunwind_quota_add_object(NULL, 0), "objects: without a quota there is no limit");
	kunwind_quota_remove_object(p);
	kunwind_quota_remove_object(p);
	kunwind_quota_put(p);
}

static void test_dump(void)
{
	struct kunwind_quota *p = quota(1001, &init_user_ns, &init_pid_ns);

	tap_ok(kunwind_quota_dump(p, 1, 0, 100) && kunwind_quota_dump(p, 1, 99, 100) &&
	       !kunwind_quota_dump(p, 1, 1, 100) && !kunwind_quota_dump(p, 1, 0, 100),
	       "dump: a user's limit of mappings in one dump is exact");
	tap_ok(kunwind_quota_dump(p, 2, 0, 100) && kunwind_quota_dump(p, 2, 99, 100),
	       "dump: the limit applies to each dump");
	tap_ok(kunwind_quota_dump(NULL, 2, 1000, 100),
	       "dump: any number of mappings of CAP_SYS_ADMIN's processes");
	kunwind_quota_put(p);
}

static int reclaims;
static int reclaim_nothing(struct kunwind_quota *quota, size_t bytes)
{
	(void)bytes;
	reclaims++;
	return quota ? -EDQUOT : -ENOSPC;
}

/* What is charged is what the allocator gives. */
static void test_given(void)
{
	struct kunwind_quota *p = quota(1001, &init_user_ns, &init_pid_ns);
	const s64 before = atomic64_read(&refusals);
	size_t first, second, third;
	void *a, *b, *c;

	max_table_mb = 4;
	max_user_table_mb = 1;
	kunwind_memory_set_reclaim(reclaim_nothing);
	a = kunwind_memory_alloc(p, 9000, GFP_KERNEL, &first);
	tap_ok(a && first == 16384 && kunwind_quota_add_bytes(p, 0) == 16384,
	       "memory: the bytes of the slab are charged");
	no_pages = true;
	b = kunwind_memory_alloc(p, 9000, GFP_KERNEL, &second);
	tap_ok(b && second == 12288 && kunwind_quota_add_bytes(p, 0) == 16384 + 12288 &&
	       atomic64_read(&used) == 16384 + 12288, "memory of vmalloc(): its pages are charged");
	no_pages = false;
	kunwind_memory_free(p, a, first);
	tap_ok(kunwind_quota_add_bytes(p, 0) == 12288, "memory: its free uncharges what was charged");
	kunwind_memory_free(p, b, second);
	tap_ok(!kunwind_quota_add_bytes(p, 0) && !atomic64_read(&used),
	       "memory of vmalloc(): its free uncharges what was charged");

	/* more than half of the share, in a slab of twice as much */
	a = kunwind_memory_alloc(p, (1 << 19) + 1, GFP_ATOMIC, &first);
	tap_ok(a && first == 1 << 20, "memory: the share is used up to the byte");
	b = kunwind_memory_alloc(p, 1, GFP_ATOMIC, &second);
	tap_ok(!b && !reclaims && atomic64_read(&refusals) == before + 1,
	       "memory over the share, no sleep: refused and counted");
	c = kunwind_memory_alloc(p, 1, GFP_KERNEL, &third);
	tap_ok(!c && reclaims == 1 && atomic64_read(&refusals) == before + 2,
	       "memory over the share: refused after no idle object could be freed");
	kunwind_memory_free(p, a, first);
	no_memory = 1;
	a = kunwind_memory_alloc(p, 100, GFP_KERNEL, &first);
	tap_ok(!a && !first && !kunwind_quota_add_bytes(p, 0) && !atomic64_read(&used) &&
	       atomic64_read(&refusals) == before + 2,
	       "memory that the kernel does not have: nothing is charged");
	no_memory = 0;
	kunwind_quota_put(p);
}

static bool shows(const char *line)
{
	static struct seq_file m;

	memset(&m, 0, sizeof(m));
	kunwind_memory_show(&m);
	return strstr(m.text, line);
}

static const char *refused_line(void)
{
	static char line[64];

	kunwind_memory_refused();
	snprintf(line, sizeof(line), "stat\tmemory_refused\t%llu\n",
		 (unsigned long long)atomic64_read(&refusals));
	return line;
}

static void test_bytes(void)
{
	struct kunwind_quota *p = quota(1001, &init_user_ns, &init_pid_ns);
	struct kunwind_quota *q = quota(1002, &init_user_ns, &init_pid_ns);

	max_table_mb = 4;
	max_user_table_mb = 1;
	tap_ok(!kunwind_memory_charge(p, 1 << 20) && kunwind_memory_charge(p, 1) == -EDQUOT,
	       "bytes: a user's share is exact to the byte");
	tap_ok(atomic64_read(&used) == 1 << 20 && kunwind_quota_add_bytes(p, 0) == 1 << 20,
	       "bytes: a refused charge is not counted");
	tap_ok(!kunwind_memory_charge(q, 1 << 20), "bytes: another user has a separate share");
	tap_ok(!kunwind_memory_charge(NULL, 2 << 20) && kunwind_memory_charge(NULL, 1) == -ENOSPC,
	       "bytes: the limit of all users is exact to the byte");
	tap_ok(kunwind_memory_charge(q, 1) == -EDQUOT && atomic64_read(&used) == 4 << 20 &&
	       kunwind_quota_add_bytes(q, 0) == 1 << 20,
	       "bytes: a user's share comes before the limit of all users");
	kunwind_memory_uncharge(p, 1 << 20);
	kunwind_memory_uncharge(NULL, 1 << 20);
	tap_ok(!kunwind_memory_charge(p, 1 << 20), "bytes: uncharged bytes can be charged again");
	kunwind_memory_uncharge(p, 2);
	tap_ok(!kunwind_memory_charge(NULL, 1) && kunwind_memory_charge(p, 2) == -ENOSPC &&
	       !kunwind_memory_charge(p, 1) && !kunwind_memory_charge(NULL, 1 << 20),
	       "bytes: the last quarter of the limit of all users is for CAP_SYS_ADMIN");
	kunwind_memory_uncharge(p, (1 << 20) - 1);
	kunwind_memory_uncharge(q, 1 << 20);
	kunwind_memory_uncharge(NULL, (2 << 20) + 1);
	tap_ok(!atomic64_read(&used) && !kunwind_quota_add_bytes(p, 0) && !kunwind_quota_add_bytes(q, 0),
	       "bytes: after all uncharges, no charge is left");
	max_table_mb = 3 << 12;
	max_user_table_mb = 1 << 13;
	tap_ok(!kunwind_memory_charge(p, 8ULL << 30) && kunwind_memory_charge(p, 1) == -EDQUOT &&
	       !kunwind_memory_charge(q, 1ULL << 30) && kunwind_memory_charge(q, 1) == -ENOSPC,
	       "bytes: limits above 4 GB hold to the byte");
	tap_ok(shows("stat\tmemory_bytes\t9663676416\n") && shows(refused_line()),
	       "bytes: the status has the sum of all users, and how often memory was refused");
	kunwind_memory_uncharge(p, 8ULL << 30);
	kunwind_memory_uncharge(q, 1ULL << 30);
	kunwind_quota_put(p);
	kunwind_quota_put(q);
}

#define MS	NSEC_PER_MSEC

/* Each number of a user's line is another one. */
static void test_line(void)
{
	struct kunwind_quota *q = quota(1009, &init_user_ns, &init_pid_ns);
	struct seq_file m = { .used = 0 };
	unsigned int i;

	for (i = 0; i < 3; i++)
		kunwind_quota_add_process((kuid_t){ 1009 }, true);
	for (i = 0; i < 2; i++)
		if (!kunwind_quota_add_object(q, 10))
			abort();
	kunwind_quota_add_bytes(q, 5000);
	kunwind_quota_add_time(q, 7 * MS);
	kunwind_quota_show(&m);
	tap_ok(strstr(m.text, "user\t1009\t5000\t2\t3\t7\n"),
	       "status: bytes, objects, processes and time of a user");
	for (i = 0; i < 3; i++)
		kunwind_quota_remove_process(q);
	for (i = 0; i < 2; i++)
		kunwind_quota_remove_object(q);
	kunwind_quota_remove_bytes(q, 5000);
	kunwind_quota_put(q);
	now_ns += 100000 * MS;
}

static void test_time(void)
{
	struct kunwind_quota *p = quota(1001, &init_user_ns, &init_pid_ns), *again;

	max_user_build_ms = 100;
	tap_ok(!kunwind_quota_over_budget(p), "time: a new user is within the budget");
	kunwind_quota_add_time(p, 999 * MS);
	tap_ok(!kunwind_quota_over_budget(p), "time: the budget of ten seconds may be used at once");
	kunwind_quota_add_time(p, MS);
	tap_ok(kunwind_quota_over_budget(p), "time: the budget of ten seconds is exact");
	now_ns += 1000 * MS;
	tap_ok(!kunwind_quota_over_budget(p), "time: one second pays off its part");
	kunwind_quota_add_time(p, 99 * MS);
	tap_ok(!kunwind_quota_over_budget(p), "time: the part of one second is not yet used by 99 ms");
	kunwind_quota_add_time(p, MS);
	tap_ok(kunwind_quota_over_budget(p), "time: one second pays off exactly 100 ms");
	kunwind_quota_put(p);
	again = quota(1001, &init_user_ns, &init_pid_ns);
	tap_ok(again == p && kunwind_quota_over_budget(again),
	       "time: a user who ends all processes and starts again has no new budget");
	kunwind_quota_add_time(p, 3600000 * MS);
	now_ns += 9999 * MS;
	tap_ok(kunwind_quota_over_budget(p), "time: a debt of one hour is not paid off before ten seconds");
	now_ns += 2 * MS;
	tap_ok(!kunwind_quota_over_budget(p), "time: a debt of one hour is paid off after ten seconds");
	now_ns += 10000 * MS;
	kunwind_quota_add_time(p, 400 * MS);
	kunwind_quota_add_time(p, 400 * MS);
	tap_ok(p->debt == 800 * MS && p->time > 3600000 * MS, "time: debts add up");
	now_ns += MS / 2;
	kunwind_quota_over_budget(p);
	now_ns += MS / 2;
	kunwind_quota_over_budget(p);
	tap_ok(p->debt == 800 * MS - 100 * USEC_PER_MSEC,
	       "time: frequent checks lose no part of a millisecond");
	max_user_build_ms = 10;
	now_ns += MS;
	kunwind_quota_over_budget(p);
	tap_ok(p->debt == 200 * MS, "time: a smaller budget limits the debt, too");
	max_user_build_ms = 100;
	kunwind_quota_add_time(NULL, 3600000 * MS);
	tap_ok(!kunwind_quota_over_budget(NULL), "time: CAP_SYS_ADMIN has no budget");
	kunwind_quota_put(p);
	now_ns += 10000 * MS;
	p = quota(1065, &init_user_ns, &init_pid_ns);
	kunwind_quota_put(p);
}

static void test_turns(void)
{
	struct kunwind_quota *p = quota(1001, &init_user_ns, &init_pid_ns);
	struct kunwind_quota *q = quota(1002, &init_user_ns, &init_pid_ns);
	unsigned int before;

	tap_ok(kunwind_quota_take_turn(p, KUNWIND_TURN_COMPILE) &&
	       !kunwind_quota_take_turn(p, KUNWIND_TURN_COMPILE),
	       "turns: a user compiles one table at a time");
	tap_ok(kunwind_quota_take_turn(p, KUNWIND_TURN_PARTS) &&
	       !kunwind_quota_take_turn(p, KUNWIND_TURN_PARTS),
	       "turns: a user builds the parts of one table at a time, also while compiling another");
	tap_ok(kunwind_quota_take_turn(q, KUNWIND_TURN_COMPILE), "turns: another user does not wait");
	kunwind_quota_give_turn(p, KUNWIND_TURN_COMPILE);
	tap_ok(kunwind_quota_take_turn(p, KUNWIND_TURN_COMPILE) &&
	       !kunwind_quota_take_turn(p, KUNWIND_TURN_PARTS),
	       "turns: a turn that is given back can be taken again");
	tap_ok(kunwind_quota_take_turn(NULL, KUNWIND_TURN_COMPILE) &&
	       kunwind_quota_take_turn(NULL, KUNWIND_TURN_COMPILE) &&
	       kunwind_quota_take_turn(NULL, KUNWIND_TURN_PARTS) &&
	       !kunwind_quota_take_turn(NULL, KUNWIND_TURN_PARTS),
	       "turns: CAP_SYS_ADMIN compiles any number of tables, and builds the parts of one");
	before = kunwind_quota_turns.woken;
	kunwind_quota_give_turn(NULL, KUNWIND_TURN_PARTS);
	tap_ok(kunwind_quota_turns.woken == before + 1 && kunwind_quota_take_turn(NULL, KUNWIND_TURN_PARTS),
	       "turns: CAP_SYS_ADMIN can build the next parts, and jobs that wait are woken");
	kunwind_quota_give_turn(NULL, KUNWIND_TURN_PARTS);
	kunwind_quota_put(p);
	kunwind_quota_put(q);
}

#define CHOSEN	2048

/* Returns the most quotas in one bucket. */
static unsigned int longest(void)
{
	const struct kunwind_quota *entry;
	unsigned int i, n, most = 0;

	for (i = 0; i < QUOTA_BUCKETS; i++) {
		n = 0;
		hlist_for_each_entry(entry, &quotas[i], node)
			n++;
		most = max(most, n);
	}
	return most;
}

static void test_buckets(void)
{
	static struct kunwind_quota *p[CHOSEN];
	static struct hlist_head *place[CHOSEN];
	static struct quota_key key[CHOSEN];
	unsigned int n, moved = 0;
	u32 uid = 1;

	/* ids that hash_32(), which has no seed, puts into one bucket */
	for (n = 0; n < CHOSEN; uid++)
		if (!hash_32(uid, 10))
			p[n++] = quota(uid, &init_user_ns, &init_pid_ns);
	tap_ok(longest() <= 16, "buckets: of %u users with chosen ids, at most %u share a bucket",
	       CHOSEN, longest());
	for (n = 0; n < CHOSEN; n++) {
		key[n] = p[n]->key;
		place[n] = quota_bucket(key[n]);
		kunwind_quota_put(p[n]);
	}
	kunwind_quota_init();
	for (n = 0; n < CHOSEN; n++)
		moved += quota_bucket(key[n]) != place[n];
	tap_ok(moved > CHOSEN / 2, "buckets: another seed moves most of the users");
}

int main(void)
{
	kunwind_quota_init();
	test_buckets();
	test_who();
	test_processes();
	test_autos();
	test_becomes();
	test_objects();
	test_dump();
	test_bytes();
	test_given();
	test_line();
	test_time();
	test_turns();
	kunwind_quota_exit();
	return tap_done();
}
