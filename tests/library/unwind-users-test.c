/* SPDX-License-Identifier: MIT */
/*
 * unwind-users-test.c - walks are counted as long as they run, whatever the threads' number, and
 * whether or not membarrier(2) can be used
 *
 * The thread pointer and the system calls are the test's.
 */
#define _UNWIND_SYSCALL_H
static long unwind_syscall(long number, long a, long b, long c, long d, long e, long f);

static unsigned long thread_pointer;
#define __builtin_thread_pointer()	((void *)thread_pointer)
#include "../../libkunwind/unwind/users.c"
#include "../unit/tap.h"

static int registered, barriers;
static bool no_register, no_barrier;

static long unwind_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	(void)d, (void)e, (void)f;
	if (number != SYS_membarrier || b || c)
		return -22;
	if (a == 16 && !no_register) {
		registered++;
		return 0;
	}
	if (a != 8 || no_barrier || !registered)
		return -1;
	barriers++;
	return 0;
}

static struct unwind_users users;

static u64 *enter(unsigned long thread)
{
	thread_pointer = thread;
	return unwind_users_enter(&users);
}

static void begin(void)
{
	memset(&users, 0, sizeof(users));
	no_register = no_barrier = false;
	registered = barriers = 0;
	unwind_users_init(&users);
}

static void test_one(void)
{
	u64 *one, *two;

	begin();
	tap_ok(users.barrier && registered == 1, "membarrier() is registered, and can be used");
	barriers = 0;
	tap_ok(unwind_users_none(&users) && barriers == 1, "at first there is no walk; a barrier says so");
	one = enter(0x7f0000001000);
	tap_ok(one != &users.locked && *one == 1 && !unwind_users_none(&users), "a walk is counted");
	two = enter(0x7f0000001000);
	tap_ok(two == one && *one == 2, "so is a handler's in the same thread");
	unwind_users_exit(&users, two);
	tap_ok(!unwind_users_none(&users), "the first one still runs");
	no_barrier = true;
	unwind_users_exit(&users, one);
	tap_ok(!unwind_users_none(&users), "without a barrier, nothing is known");
	no_barrier = false;
	tap_ok(unwind_users_none(&users), "after both there is none");
}

/* More threads than counters. */
#define THREADS	1000
static void test_many(void)
{
	static u64 *count[THREADS];
	u32 i, k, own = 0, wrong = 0;

	begin();
	for (i = 0; i < THREADS; i++) {
		count[i] = enter(0x7f0000000000 + i * 0x800040);
		own += count[i] != &users.locked;
		for (k = 0; k < i; k++)
			wrong += count[k] == count[i] && count[i] != &users.locked;
	}
	tap_ok(!wrong && own > 100 && own <= ARRAY_SIZE(users.user) && users.locked == THREADS - own,
	       "%u of %d threads have counters of their own, %lu use the common one", own, THREADS,
	       users.locked);
	for (i = 0; i < THREADS; i++) {
		wrong += unwind_users_none(&users);
		unwind_users_exit(&users, count[i]);
	}
	tap_ok(!wrong && unwind_users_none(&users), "there is a walk until the last one has ended");
	for (i = 0; i < THREADS; i++) {
		wrong += enter(0x7f0000000000 + i * 0x800040) != count[i];
		unwind_users_exit(&users, count[i]);
	}
	tap_ok(!wrong && unwind_users_none(&users), "each thread keeps its counter");
	for (i = 0; i < ARRAY_SIZE(users.user); i++) {
		users.user[i].count = 1;
		wrong += unwind_users_none(&users);
		users.user[i].count = 0;
	}
	tap_ok(!wrong, "each counter is looked at");
}

static void test_without(void)
{
	u64 *one;
	int i;

	for (i = 0; i < 2; i++) {
		begin();
		no_register = !i;
		no_barrier = i;
		registered = 0;
		unwind_users_init(&users);
		one = enter(0x7f0000001000);
		tap_ok(!users.barrier && one == &users.locked && *one == 1 && !unwind_users_none(&users),
		       "without membarrier(): by the common counter");
		unwind_users_exit(&users, one);
		tap_ok(!*one && unwind_users_none(&users), "without membarrier(): it ends");
	}
}

static void test_forget(void)
{
	begin();
	enter(0x7f0000001000);
	enter(0x7f0000001040);
	users.user[0].count = users.user[ARRAY_SIZE(users.user) - 1].count = 1;
	users.locked = 1;
	registered = 0;
	no_barrier = true;
	unwind_users_forget(&users);
	tap_ok(!users.barrier && registered == 1, "a forked child registers again");
	no_barrier = false;
	unwind_users_forget(&users);
	tap_ok(users.barrier && unwind_users_none(&users), "it has none of its parent's walks");
}

int main(void)
{
	test_one();
	test_many();
	test_without();
	test_forget();
	return tap_done();
}
