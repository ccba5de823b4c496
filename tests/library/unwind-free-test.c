/* SPDX-License-Identifier: MIT */
/*
 * unwind-free-test.c - what an unwinder frees, and when: not before the last walk that uses it has
 * ended, and then all of it; memory for tables can be used again
 *
 * What is freed is filled with other bytes (counted-memory.h).
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind-stack.h"
#include "counted-memory.h"
#include "internal.h"

static struct kunwind_unwinder *unwinder;

static void *load(const char *name)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len] = 0;
	strcpy(strrchr(path, '/') + 1, name);
	return dlopen(path, RTLD_NOW);
}

/* The snapshots that are no longer published, but not freed. */
static int retired(void)
{
	const struct unwind_snapshot *snapshot;
	int nr = 0;

	for (snapshot = unwinder->retired; snapshot; snapshot = snapshot->next)
		nr++;
	return nr;
}

static int objects(void)
{
	const struct unwind_object *object;
	int nr = 0;

	for (object = unwinder->objects; object; object = object->next)
		nr++;
	return nr;
}

/* A read of a walk, which uses a snapshot meanwhile. */
static int reads, retired_meanwhile, wrong;

static size_t read_and_refresh(void *data, uint64_t addr, void *buf, size_t len)
{
	(void)data, (void)addr;
	if (!reads++) {
		wrong += !!kunwind_unwinder_refresh(unwinder);
		wrong += !!kunwind_unwinder_refresh(unwinder);
		retired_meanwhile = retired();
	}
	memset(buf, 0, len);
	return len;
}

static void walk_and_refresh(void)
{
	struct kunwind_registers regs = { .valid = 1 << 7 | 1 << 16 };
	struct kunwind_stack_frame frame;
	static struct kunwind_stack_walk walk;
	void *code = dlsym(RTLD_DEFAULT, "qsort");

	reads = retired_meanwhile = wrong = 0;
	regs.r[7] = 0x10000;
	regs.r[16] = (uint64_t)code;
	kunwind_walk_begin_regs(&walk, unwinder, &regs, read_and_refresh, NULL);
	while (kunwind_walk_next(&walk, &frame))
		;
}

static void test_walk(void)
{
	long live;

	unwinder = kunwind_unwinder_new(0, 0);
	kunwind_unwinder_refresh(unwinder);
	live = counted_live;
	kunwind_unwinder_refresh(unwinder);
	kunwind_unwinder_refresh(unwinder);
	tap_ok(counted_live == live && !retired(), "refreshed without a walk: nothing more is kept");
	walk_and_refresh();
	tap_ok(reads && !wrong && retired_meanwhile == 2,
	       "while a walk uses a snapshot, two refreshes free none (%d kept)",
	       retired_meanwhile);
	kunwind_unwinder_refresh(unwinder);
	tap_ok(!retired() && counted_live == live, "after the walk, the next one frees all");
	unwinder->users.barrier = false;
	walk_and_refresh();
	tap_ok(reads && retired_meanwhile == 2, "without membarrier(), it is the same");
	kunwind_unwinder_refresh(unwinder);
	tap_ok(!retired() && counted_live == live, "without membarrier(), all is freed, too");
	kunwind_unwinder_free(unwinder);
}

/* A walk that a handler has left never ends. */
static void test_left(void)
{
	const long before = counted_live;
	int status, i;
	pid_t child;

	unwinder = kunwind_unwinder_new(0, 0);
	unwind_users_enter(&unwinder->users);
	for (i = 0; i < 5; i++)
		kunwind_unwinder_refresh(unwinder);
	tap_ok(retired() == 5, "a walk that never ends keeps snapshots");
	child = fork();
	if (!child) {
		kunwind_unwinder_refresh(unwinder);
		_exit(retired());
	}
	waitpid(child, &status, 0);
	tap_ok(!status, "a forked child frees them: the walk is its parent's");
	kunwind_unwinder_free(unwinder);
	tap_ok(counted_live == before, "with the unwinder, all are freed (%ld left)", counted_live - before);
}

static void test_objects(void)
{
	size_t memory, less;
	int nr, i, drift = 0;
	void *handle;
	long calls;

	counted_calls = 0;
	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_TABLES, 0);
	calls = counted_calls;
	counted_calls = 0;
	kunwind_unwinder_refresh(unwinder);
	tap_ok(counted_calls < calls / 2, "a refresh builds no table again (%ld of %ld allocations)",
	       counted_calls, calls);
	memory = unwinder->memory;
	nr = objects();
	tap_ok(memory < 256 << 20, "tables are counted against the limit");
	handle = load("unwind-plugin-24.so");
	kunwind_unwinder_refresh(unwinder);
	less = unwinder->memory;
	tap_ok(less < memory && objects() == nr + 1, "a loaded object takes memory for its table");
	kunwind_unwinder_refresh(unwinder);
	tap_ok(unwinder->memory == less && objects() == nr + 1, "it is taken once");
	dlclose(handle);
	kunwind_unwinder_refresh(unwinder);
	tap_ok(unwinder->memory == memory && objects() == nr, "an unloaded object gives it back");
	for (i = 0; i < 50; i++) {
		handle = load(i % 2 ? "unwind-plugin-24.so" : "unwind-plugin-40.so");
		kunwind_unwinder_refresh(unwinder);
		drift += unwinder->memory != less;
		dlclose(handle);
		if (i % 3)
			kunwind_unwinder_refresh(unwinder);
	}
	kunwind_unwinder_refresh(unwinder);
	tap_ok(!drift && unwinder->memory == memory && objects() == nr, "the same 50 times");
	kunwind_unwinder_free(unwinder);
}

static bool stop;

static void walk_here(void)
{
	struct kunwind_stack_walk walk;
	uint64_t addresses[100];
	int i, nr;

	kunwind_walk_begin_here(&walk, unwinder);
	nr = kunwind_walk_addresses(&walk, addresses, 100);
	for (i = 0; i < 40; i++)
		if (i + 2 >= nr || addresses[i + 2] != stack_true[stack_depth - 1 - i])
			break;
	if (i < 40 || kunwind_walk_reason(&walk) != KUNWIND_COMPLETE)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void *walk_often(void *data)
{
	(void)data;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		deeper(40, walk_here);
	return NULL;
}

static void test_threads(bool barrier)
{
	pthread_t thread[2];
	const long before = counted_live;
	int i;

	stop = false;
	wrong = 0;
	unwinder = kunwind_unwinder_new(0, 0);
	unwinder->users.barrier &= barrier;
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, walk_often, NULL);
	for (i = 0; i < 150; i++)
		wrong += !!kunwind_unwinder_refresh(unwinder);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	kunwind_unwinder_free(unwinder);
	tap_ok(!wrong && counted_live == before,
	       "%s: two threads walk while the unwinder is refreshed (%d wrong, %ld left)",
	       barrier ? "counters" : "one counter", wrong, counted_live - before);
}

/* At any point of the builds. */
static void test_builder(void)
{
	const long before = counted_live;
	int i, late = 0;

	for (i = 0; i < 60; i++) {
		unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_THREAD, 0);
		usleep(i * 300);
		if (i % 2)
			wrong += !!kunwind_unwinder_refresh(unwinder);
		kunwind_unwinder_free(unwinder);
		late += counted_live != before;
	}
	usleep(20000);
	tap_ok(!late && counted_live == before,
	       "an unwinder is freed while its thread builds tables (%d times not all)",
	       late);
}

int main(void)
{
	alarm(60);
	setvbuf(stdout, NULL, _IONBF, 0);
	test_walk();
	test_left();
	test_objects();
	test_threads(true);
	test_threads(false);
	test_builder();
	return tap_done();
}
