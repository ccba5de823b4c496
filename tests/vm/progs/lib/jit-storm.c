// SPDX-License-Identifier: MIT
/*
 * jit-storm.c - threads add and remove unwind information while others walk
 *
 *	jit-storm [SECONDS]
 *
 * All threads use some units of code together, so the result of a walk through
 * them depends on timing. Each thread also makes units of its own, takes stacks
 * through them, changes their protection and unmaps them. At the same time
 * children are forked and exit. Each call must have a result that the ABI
 * allows, and at the end stacks must be as with one thread (jit.h). Other
 * errors are for a kernel with checkers to find. Prints "ok - WHAT" or "not ok
 * - WHAT".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#include "jit.h"

#define SHARED	24
static struct unit *shared_units[SHARED];
static time_t storm_end;
static unsigned int storm_wrong, storm_added, storm_removed, storm_equal;

static void storm_count(int ret, int good, unsigned int *count)
{
	if (ret >= 0)
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	else if (ret != good && ret != -ENOMEM)
		__atomic_fetch_add(&storm_wrong, 1, __ATOMIC_RELAXED);
}

static void storm_walk(struct look *look, struct unit *const *units, unsigned int nr)
{
	look_through(look, units, nr);
	if (look->nr_ours == -ENOMEM)
		return;
	if (look->nr_ours < 1 || look->reason >= KUNWIND_NR_REASONS)
		__atomic_fetch_add(&storm_wrong, 1, __ATOMIC_RELAXED);
	if (equal(look))
		__atomic_fetch_add(&storm_equal, 1, __ATOMIC_RELAXED);
}

static void *storm_thread(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg, first, nr;
	struct look *own = calloc(1, sizeof(*own));

	while (time(NULL) < storm_end) {
		struct unit *unit = shared_units[rand_r(&seed) % SHARED];

		switch (rand_r(&seed) % 5) {
		case 0:
			storm_count(hand_in(unit, NULL), -EEXIST, &storm_added);
			break;
		case 1:
			storm_count(kunwind_jit_unregister(unit->code, unit->len), -ENOENT,
				    &storm_removed);
			break;
		case 2:		/* a unit of its own, which no other thread runs */
			unit = make(1 + (unsigned int)rand_r(&seed) % 9, NULL, -1);
			__register_frame(unit->eh);
			storm_count(hand_in(unit, NULL), 0, &storm_added);
			storm_walk(own, &unit, 1);
			if (rand_r(&seed) % 2) {
				mprotect(unit->code, PAGE, PROT_READ | PROT_WRITE);
				mprotect(unit->code, PAGE, PROT_READ | PROT_EXEC);
				storm_walk(own, &unit, 1);
			}
			__deregister_frame(unit->eh);
			munmap(unit->code, PAGE);
			free(unit->eh);
			free(unit);
			break;
		default:
			nr = 1 + (unsigned int)rand_r(&seed) % 8;
			first = (unsigned int)rand_r(&seed) % (SHARED - nr);
			storm_walk(own, shared_units + first, nr);
		}
	}
	free(own);
	return NULL;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 5;
	pthread_t threads[4];
	uintptr_t i;
	pid_t child;

	/* if allocations fail at random, one of the next calls succeeds */
	while (kunwind_register_self(KUNWIND_REGISTER_CHILDREN) == -ENOMEM)
		;
	for (i = 0; i < SHARED; i++) {
		shared_units[i] = make(i % 5 + 1, NULL, -1);
		__register_frame(shared_units[i]->eh);
	}
	storm_end = time(NULL) + seconds;
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, storm_thread, (void *)(i + 1));
	while (time(NULL) < storm_end) {
		child = fork();
		if (!child) {
			/* no libgcc here: another thread may have its lock */
			for (i = 0; i < SHARED; i++)
				kunwind_jit_unregister(shared_units[i]->code, shared_units[i]->len);
			_exit(0);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	verdict(!storm_wrong && storm_added && storm_removed && storm_equal,
		"%u times handed in, %u taken back, %u stacks equal to libgcc's, %u wrong answers",
		storm_added, storm_removed, storm_equal, storm_wrong);
	for (i = 0; i < SHARED; i++)
		hand_in(shared_units[i], NULL);
	same(shared_units, SHARED, "all shared units after the storm");
	return 0;
}
