// SPDX-License-Identifier: MIT
/*
 * maps-test.c - look up the mapping that holds an address at a given time, and
 * the process that a vpid means: a table of histories and questions
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "maps.h"
#include "pids.h"

enum what { END, MAP, UNMAP, EXEC, FORK, EXIT, LIVE, ALIAS, ASK, WHO };

struct step {
	enum what what;
	int pid;
	int64_t time;
	/*
	 * MAP, UNMAP, LIVE: start, end; FORK: child; ALIAS: vpid; ASK: address;
	 * WHO: address, vpid (pid is the expected answer)
	 */
	uint64_t a, b;
	const char *file;	/* MAP, LIVE: path; ASK: expected path, NULL: no mapping */
};

struct test {
	const char *name;
	struct step step[14];
};

/* In each test all events come before the first question, as in the tool. */
static const struct test tests[] = {
	{ "a mapping holds its start, not its end, and only in its process", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ ASK, 1, 20, 0xfff, 0, NULL },
		{ ASK, 1, 20, 0x1000, 0, "a" },
		{ ASK, 1, 20, 0x1fff, 0, "a" },
		{ ASK, 1, 20, 0x2000, 0, NULL },
		{ ASK, 2, 20, 0x1000, 0, NULL } } },
	{ "a mapping inside another replaces only the addresses that it covers", {
		{ MAP, 1, 10, 0x1000, 0x9000, "a" },
		{ UNMAP, 1, 20, 0x3000, 0x4000, NULL },
		{ MAP, 1, 20, 0x3000, 0x4000, "b" },
		{ ASK, 1, 15, 0x3000, 0, "a" },
		{ ASK, 1, 25, 0x2fff, 0, "a" },
		{ ASK, 1, 25, 0x3000, 0, "b" },
		{ ASK, 1, 25, 0x4000, 0, "a" } } },
	{ "a mapping over several others replaces only the addresses that it covers", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ MAP, 1, 10, 0x2000, 0x3000, "b" },
		{ MAP, 1, 10, 0x3000, 0x4000, "c" },
		{ MAP, 1, 20, 0x1800, 0x3800, "d" },
		{ ASK, 1, 20, 0x17ff, 0, "a" },
		{ ASK, 1, 20, 0x1800, 0, "d" },
		{ ASK, 1, 20, 0x2800, 0, "d" },
		{ ASK, 1, 20, 0x3800, 0, "c" } } },
	{ "a range that is mapped again: the file mapped at the given time is found", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ UNMAP, 1, 20, 0x1000, 0x2000, NULL },
		{ MAP, 1, 20, 0x1000, 0x2000, "b" },
		{ UNMAP, 1, 30, 0x1000, 0x2000, NULL },
		{ MAP, 1, 30, 0x1000, 0x2000, "a" },
		{ ASK, 1, 10, 0x1000, 0, "a" },
		{ ASK, 1, 20, 0x1000, 0, "b" },
		{ ASK, 1, 30, 0x1000, 0, "a" } } },
	{ "exec ends the mappings of the process", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ EXEC, 1, 20, 0, 0, NULL },
		{ MAP, 1, 30, 0x5000, 0x6000, "b" },
		{ ASK, 1, 15, 0x1000, 0, "a" },
		{ ASK, 1, 25, 0x1000, 0, NULL },
		{ ASK, 1, 25, 0x5000, 0, "b" },		/* reported late */
		{ ASK, 1, 35, 0x5000, 0, "b" } } },
	{ "questions about earlier times: the mappings of those times are found", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ UNMAP, 1, 20, 0x1000, 0x2000, NULL },
		{ MAP, 1, 20, 0x1000, 0x2000, "b" },
		{ UNMAP, 1, 30, 0x1000, 0x2000, NULL },
		{ EXEC, 1, 40, 0, 0, NULL },
		{ MAP, 1, 45, 0x1000, 0x2000, "c" },
		{ EXIT, 1, 50, 0, 0, NULL },
		{ ASK, 1, 60, 0x1000, 0, NULL },
		{ ASK, 1, 49, 0x1000, 0, "c" },
		{ ASK, 1, 39, 0x1000, 0, NULL },
		{ ASK, 1, 29, 0x1000, 0, "b" },
		{ ASK, 1, 19, 0x1000, 0, "a" },
		{ ASK, 1, 49, 0x1000, 0, "c" } } },
	{ "questions about earlier times: a child has what its parent had at the fork", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ UNMAP, 1, 30, 0x1000, 0x2000, NULL },
		{ MAP, 1, 30, 0x1000, 0x2000, "b" },
		{ UNMAP, 2, 40, 0x1000, 0x2000, NULL },
		{ MAP, 2, 40, 0x1000, 0x2000, "c" },
		{ EXIT, 2, 50, 0, 0, NULL },
		{ ASK, 2, 60, 0x1000, 0, NULL },
		{ ASK, 1, 60, 0x1000, 0, "b" },
		{ ASK, 2, 35, 0x1000, 0, "a" },
		{ ASK, 1, 25, 0x1000, 0, "a" },
		{ ASK, 2, 45, 0x1000, 0, "c" } } },
	{ "a mapping made after an exec is not used for times before the exec", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ EXEC, 1, 20, 0, 0, NULL },
		{ MAP, 1, 30, 0x5000, 0x6000, "b" },
		{ ASK, 1, 15, 0x5000, 0, NULL } } },
	{ "a mapping that a state dump reports late is used for earlier times", {
		{ MAP, 1, 100, 0x1000, 0x2000, "a" },
		{ ASK, 1, 5, 0x1000, 0, "a" } } },
	{ "a state dump that repeats known mappings changes nothing", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ MAP, 1, 10, 0x2000, 0x3000, "b" },
		{ MAP, 1, 20, 0x1000, 0x2000, "a" },
		{ MAP, 1, 20, 0x2000, 0x3000, "b" },
		{ ASK, 1, 30, 0x1000, 0, "a" },
		{ ASK, 1, 30, 0x2fff, 0, "b" } } },
	{ "fork: the child has the parent's mappings at the time of the fork", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ UNMAP, 1, 30, 0x1000, 0x2000, NULL },
		{ MAP, 1, 30, 0x1000, 0x2000, "b" },
		{ ASK, 1, 15, 0x1000, 0, "a" },
		{ ASK, 2, 25, 0x1000, 0, "a" },
		{ ASK, 1, 35, 0x1000, 0, "b" },
		{ ASK, 2, 35, 0x1000, 0, "a" } } },
	/* Each processor's buffer overwrites its oldest events, so a snapshot may have gaps. */
	{ "lost exec after a fork: a mapping that contradicts the parent's counts from the fork", {
		{ MAP, 1, 10, 0x1000, 0x3000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ MAP, 2, 40, 0x2000, 0x4000, "b" },
		{ ASK, 2, 30, 0x2000, 0, "b" },
		{ ASK, 2, 30, 0x3000, 0, "b" },
		{ ASK, 2, 30, 0x1000, 0, "a" },
		{ ASK, 1, 30, 0x2000, 0, "a" },
		{ ASK, 2, 50, 0x2000, 0, "b" } } },
	{ "lost exec after a fork, and later another exec: the contradiction counts", {
		{ MAP, 1, 10, 0x1000, 0x3000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ MAP, 2, 40, 0x2000, 0x4000, "b" },
		{ EXEC, 2, 50, 0, 0, NULL },
		{ MAP, 2, 51, 0x2000, 0x4000, "c" },
		{ EXIT, 2, 60, 0, 0, NULL },
		{ ASK, 2, 30, 0x2000, 0, "b" },
		{ ASK, 2, 55, 0x2000, 0, "c" } } },
	{ "lost exec: until a mapping that contradicts an older one, neither is found", {
		{ MAP, 1, 10, 0x1000, 0x3000, "a" },
		{ MAP, 1, 40, 0x2000, 0x4000, "b" },
		{ ASK, 1, 30, 0x2000, 0, NULL },
		{ ASK, 1, 30, 0x1000, 0, "a" },
		{ ASK, 1, 50, 0x2000, 0, "b" } } },
	{ "a mapping that is reported again in parts contradicts nothing", {
		{ MAP, 1, 10, 0x1000, 0x3000, "a" },
		{ MAP, 1, 40, 0x1000, 0x2000, "a" },
		{ ASK, 1, 30, 0x1000, 0, "a" },
		{ ASK, 1, 50, 0x2000, 0, "a" } } },
	{ "a mapping after an exec contradicts nothing before it", {
		{ MAP, 1, 10, 0x1000, 0x3000, "a" },
		{ EXEC, 1, 35, 0, 0, NULL },
		{ MAP, 1, 40, 0x2000, 0x4000, "b" },
		{ ASK, 1, 30, 0x2000, 0, "a" },
		{ ASK, 1, 37, 0x2000, 0, "b" } } },
	{ "exec of a child does not end the parent's mappings", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ EXEC, 2, 30, 0, 0, NULL },
		{ MAP, 2, 31, 0x1000, 0x2000, "b" },
		{ ASK, 2, 25, 0x1000, 0, "a" },
		{ ASK, 1, 40, 0x1000, 0, "a" },
		{ ASK, 2, 40, 0x1000, 0, "b" } } },
	{ "fork: a grandchild has the mappings if it is the first process looked up", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ FORK, 2, 30, 3, 0, NULL },
		{ ASK, 3, 40, 0x1000, 0, "a" } } },
	{ "pid used again: each process has its own mappings", {
		{ MAP, 7, 10, 0x1000, 0x2000, "a" },
		{ EXIT, 7, 20, 0, 0, NULL },
		{ MAP, 7, 50, 0x1000, 0x2000, "b" },
		{ ASK, 7, 15, 0x1000, 0, "a" },
		{ ASK, 7, 30, 0x1000, 0, "b" },		/* the new process, reported late */
		{ ASK, 7, 60, 0x1000, 0, "b" } } },
	{ "a process has no mapping after its exit", {
		{ MAP, 7, 10, 0x1000, 0x2000, "a" },
		{ EXIT, 7, 20, 0, 0, NULL },
		{ ASK, 7, 30, 0x1000, 0, NULL } } },
	{ "two processes that fork each other at one time: the lookup ends", {
		{ FORK, 1, 10, 2, 0, NULL },
		{ FORK, 2, 10, 1, 0, NULL },
		{ ASK, 1, 20, 0x1000, 0, NULL } } },
	{ "a mapping whose end is not above its start is ignored", {
		{ MAP, 1, 10, 0x2000, 0x1000, "a" },
		{ MAP, 1, 10, 0x3000, 0x3000, "a" },
		{ ASK, 1, 20, 0x1800, 0, NULL },
		{ ASK, 1, 20, 0x3000, 0, NULL } } },
	{ "a munmap whose end is not above its start is ignored", {
		{ MAP, 1, 10, 0x1000, 0x9000, "a" },
		{ UNMAP, 1, 20, 0x5000, 0x2000, NULL },
		{ UNMAP, 1, 20, 0x3000, 0x3000, NULL },
		{ ASK, 1, 30, 0x1fff, 0, "a" },
		{ ASK, 1, 30, 0x3000, 0, "a" },
		{ ASK, 1, 30, 0x4fff, 0, "a" },
		{ ASK, 1, 30, 0x5000, 0, "a" },
		{ ASK, 1, 30, 0x8fff, 0, "a" } } },
	{ "vpid of no known process: the vpid itself is returned", {
		{ WHO, 5, 20, 0x1000, 5, NULL } } },
	{ "vpid of one process: the process is found for any address", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ WHO, 500, 20, 0x1000, 5, NULL },
		{ WHO, 500, 20, 0x9000, 5, NULL } } },
	{ "munmap ends the mapping only for the unmapped addresses", {
		{ MAP, 1, 10, 0x1000, 0x9000, "a" },
		{ UNMAP, 1, 20, 0x3000, 0x4000, NULL },
		{ ASK, 1, 15, 0x3000, 0, "a" },
		{ ASK, 1, 25, 0x2fff, 0, "a" },
		{ ASK, 1, 25, 0x3000, 0, NULL },
		{ ASK, 1, 25, 0x3fff, 0, NULL },
		{ ASK, 1, 25, 0x4000, 0, "a" } } },
	{ "a file that is unmapped and mapped again is found before, between and after", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ UNMAP, 1, 20, 0x1000, 0x2000, NULL },
		{ MAP, 1, 30, 0x1000, 0x2000, "a" },
		{ ASK, 1, 15, 0x1000, 0, "a" },
		{ ASK, 1, 25, 0x1000, 0, "a" },		/* by looking ahead: reported late */
		{ ASK, 1, 35, 0x1000, 0, "a" } } },
	{ "munmap of an unknown mapping: a later mapping is not used before the munmap", {
		{ MAP, 1, 5, 0x8000, 0x9000, "b" },
		{ UNMAP, 1, 20, 0x1000, 0x2000, NULL },
		{ MAP, 1, 30, 0x1000, 0x2000, "a" },
		{ ASK, 1, 10, 0x1000, 0, NULL },
		{ ASK, 1, 35, 0x1000, 0, "a" } } },
	{ "fork: the child keeps mappings that the parent unmaps later", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ UNMAP, 1, 30, 0x1000, 0x2000, NULL },
		{ ASK, 2, 40, 0x1000, 0, "a" },
		{ ASK, 1, 40, 0x1000, 0, NULL } } },
	{ "fork: the child, first looked up after the parent's exec, keeps the mappings", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ EXEC, 1, 30, 0, 0, NULL },
		{ ASK, 1, 40, 0x1000, 0, NULL },
		{ ASK, 2, 41, 0x1000, 0, "a" } } },
	{ "fork: a lookup of the parent between its later changes does not affect the child", {
		{ MAP, 1, 10, 0x1000, 0x9000, "a" },
		{ UNMAP, 1, 15, 0x5000, 0x6000, NULL },
		{ FORK, 1, 20, 2, 0, NULL },
		{ UNMAP, 1, 30, 0x1000, 0x2000, NULL },
		{ MAP, 1, 40, 0x3000, 0x4000, "b" },
		{ MAP, 1, 40, 0xa000, 0xb000, "b" },
		{ ASK, 1, 35, 0x1000, 0, NULL },
		{ ASK, 1, 45, 0x3000, 0, "b" },
		{ ASK, 2, 45, 0x1000, 0, "a" },
		{ ASK, 2, 45, 0x3000, 0, "a" },
		{ ASK, 2, 45, 0x5000, 0, NULL },
		{ ASK, 2, 45, 0xa000, 0, NULL },
		{ ASK, 1, 45, 0x3000, 0, "b" } } },
	{ "fork: a grandchild keeps the mappings after changes of its ancestors", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ MAP, 2, 25, 0x3000, 0x4000, "b" },
		{ FORK, 2, 30, 3, 0, NULL },
		{ EXEC, 2, 35, 0, 0, NULL },
		{ EXIT, 1, 35, 0, 0, NULL },
		{ ASK, 1, 40, 0x1000, 0, NULL },
		{ ASK, 2, 40, 0x3000, 0, NULL },
		{ ASK, 3, 40, 0x1000, 0, "a" },
		{ ASK, 3, 40, 0x3000, 0, "b" } } },
	{ "fork: a child with its grandparent's pid has the parent's mappings", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ EXIT, 1, 30, 0, 0, NULL },
		{ FORK, 2, 40, 1, 0, NULL },
		{ EXEC, 2, 50, 0, 0, NULL },
		{ ASK, 2, 60, 0x1000, 0, NULL },
		{ ASK, 1, 60, 0x1000, 0, "a" } } },
	{ "fork: an exec of the parent at the time of the fork does not affect the child", {
		{ MAP, 1, 20, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ EXEC, 1, 20, 0, 0, NULL },
		{ ASK, 2, 20, 0x1000, 0, "a" },
		{ ASK, 1, 20, 0x1000, 0, NULL } } },
	{ "fork: the child of a live process keeps the mappings after the parent's exec", {
		{ LIVE, 1, 0, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ EXEC, 1, 30, 0, 0, NULL },
		{ ASK, 1, 40, 0x1000, 0, NULL },
		{ ASK, 2, 40, 0x1000, 0, "a" } } },
	{ "fork: the child has the mappings of a parent that is read from /proc after the fork", {
		{ FORK, 1, 20, 2, 0, NULL },
		{ LIVE, 1, 0, 0x1000, 0x2000, "a" },
		{ ASK, 2, 40, 0x1000, 0, "a" } } },
	{ "vpid of two processes: the process with code at the address is found", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 600, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ MAP, 600, 10, 0x5000, 0x6000, "b" },
		{ WHO, 500, 20, 0x1000, 5, NULL },
		{ WHO, 600, 20, 0x5000, 5, NULL },
		{ WHO, -1, 20, 0x9000, 5, NULL } } },
	{ "vpid of two processes with different objects at the address: no process is found", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 600, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ MAP, 600, 10, 0x1000, 0x2000, "b" },
		{ WHO, -1, 20, 0x1000, 5, NULL } } },
	{ "vpid of two processes with one object at the address: one of them is found", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 600, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ MAP, 600, 10, 0x1000, 0x2000, "a" },
		{ WHO, 500, 20, 0x1000, 5, NULL } } },
	{ "vpid used again by another process: the process of that time is found", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 600, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ EXIT, 500, 20, 0, 0, NULL },
		{ MAP, 600, 30, 0x1000, 0x2000, "b" },
		{ WHO, 600, 40, 0x1000, 5, NULL } } },
};

static bool ask(struct kunwind_maps *maps, const struct step *step)
{
	const struct kunwind_maps_range *map = kunwind_maps_find(maps, step->pid, step->a, step->time);
	const char *got = map ? kunwind_object_path(map->object) : NULL;

	if (got == step->file || (got && step->file && !strcmp(got, step->file)))
		return true;
	printf("# process %d, address 0x%" PRIx64 ", time %" PRId64 ": got %s, wanted %s\n",
	       step->pid, step->a, step->time, got ? got : "none",
	       step->file ? step->file : "none");
	return false;
}

static bool who(const struct kunwind_pids *pids, struct kunwind_maps *maps,
		const struct step *step)
{
	int got = kunwind_pids_find(pids, maps, (int)step->b, step->a, step->time);

	if (got == step->pid)
		return true;
	printf("# vpid %d at 0x%" PRIx64 ": got %d, wanted %d\n", (int)step->b, step->a, got,
	       step->pid);
	return false;
}

static bool run(const struct test *test, struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_maps *maps = kunwind_maps_new();
	struct kunwind_pids *pids = kunwind_pids_new();
	const struct step *step;
	bool ok = true;

	for (step = test->step; step->what != END; step++) {
		struct kunwind_maps_range map = { .start = step->a, .end = step->b };

		switch (step->what) {
		case MAP:
			map.object = kunwind_symbolizer_object(symbolizer, step->file, "", 0);
			ok &= kunwind_maps_map(maps, step->pid, step->time, &map);
			break;
		case UNMAP:
			ok &= kunwind_maps_unmap(maps, step->pid, step->time, step->a, step->b);
			break;
		case EXEC:
			ok &= kunwind_maps_exec(maps, step->pid, step->time);
			break;
		case FORK:
			ok &= kunwind_maps_fork(maps, step->pid, (int)step->a, step->time);
			break;
		case EXIT:
			ok &= kunwind_maps_exit(maps, step->pid, step->time);
			break;
		case LIVE:
			map.object = kunwind_symbolizer_object(symbolizer, step->file, "", 0);
			ok &= kunwind_maps_live(maps, step->pid, &map);
			break;
		case ALIAS:
			ok &= kunwind_pids_add(pids, (int)step->a, step->pid);
			break;
		case WHO:
			ok &= who(pids, maps, step);
			break;
		default:
			ok &= ask(maps, step);
		}
	}
	kunwind_pids_free(pids);
	kunwind_maps_free(maps);
	return ok;
}

/* A function of the sanitizer that this program is built with. */
size_t __sanitizer_get_current_allocated_bytes(void);

static bool has(struct kunwind_maps *maps, int pid, uint64_t addr, int64_t time, bool wanted)
{
	bool got = kunwind_maps_find(maps, pid, addr, time);

	if (got != wanted)
		printf("# process %d, address 0x%" PRIx64 ": %s\n", pid, addr, got ? "one" : "none");
	return got == wanted;
}

/*
 * Process N maps a page and forks process N + 1. Only the last process is
 * looked up.
 */
static bool long_line(struct kunwind_symbolizer *symbolizer)
{
	enum { NR = 100000 };
	struct kunwind_maps *maps = kunwind_maps_new();
	struct kunwind_maps_range map = { .object = kunwind_symbolizer_object(symbolizer, "a", "", 0) };
	bool ok = true;
	int i;

	for (i = 1; i <= NR; i++) {
		map.start = (uint64_t)(i % 1000) << 12;
		map.end = map.start + 0x1000;
		ok &= kunwind_maps_map(maps, i, i, &map) && kunwind_maps_fork(maps, i, i + 1, i);
	}
	ok &= has(maps, NR + 1, 0x1000, NR + 1, true) && has(maps, NR + 1, 0x3e7000, NR + 1, true);
	kunwind_maps_free(maps);
	return ok;
}

/*
 * A parent has 1,000 mappings and 10,000 children. Only the parent and one
 * child are looked up. The library may allocate 2 KB for each child.
 */
static bool fork_storm(struct kunwind_symbolizer *symbolizer)
{
	enum { MAPS = 1000, CHILDREN = 10000 };
	struct kunwind_maps *maps = kunwind_maps_new();
	struct kunwind_maps_range map = { .object = kunwind_symbolizer_object(symbolizer, "a", "", 0) };
	size_t before = __sanitizer_get_current_allocated_bytes(), used;
	bool ok = true;
	int i;

	for (i = 0; i < MAPS; i++) {
		map.start = (uint64_t)i << 16;
		map.end = map.start + 0x1000;
		ok &= kunwind_maps_map(maps, 1, 10, &map);
	}
	for (i = 0; i < CHILDREN; i++)
		ok &= kunwind_maps_fork(maps, 1, 2 + i, 20 + i) &&
		      kunwind_maps_unmap(maps, 1, 20 + i, (uint64_t)i << 16, (uint64_t)i << 16 | 0x1000);
	ok &= has(maps, 1, 0x10000, 100000, false) && has(maps, 2, 0, 100000, true);
	used = __sanitizer_get_current_allocated_bytes() - before;
	if (used > CHILDREN * 2048) {
		printf("# %zu bytes\n", used);
		ok = false;
	}
	kunwind_maps_free(maps);
	return ok;
}

/* When the program that a process runs at some time began, and when it ended. */
static bool programs(void)
{
	static const struct {
		int64_t time, began, ended;
	} cases[] = { { 9, INT64_MAX, 10 }, { 10, 10, 20 }, { 19, 10, 20 }, { 20, 20, 30 }, { 29, 20, 30 },
		      { 30, 20, INT64_MAX } };
	struct kunwind_maps *maps = kunwind_maps_new();
	int64_t began, ended;
	bool ok = true;
	size_t i;

	kunwind_maps_fork(maps, 1, 2, 10);
	kunwind_maps_exec(maps, 2, 20);
	kunwind_maps_exit(maps, 2, 30);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		kunwind_maps_program(maps, 2, cases[i].time, &began, &ended);
		if (began == cases[i].began && ended == cases[i].ended)
			continue;
		printf("# at %" PRId64 ": from %" PRId64 " to %" PRId64 "\n", cases[i].time, began, ended);
		ok = false;
	}
	kunwind_maps_free(maps);
	return ok;
}

/* A file is mapped again at the same addresses, from another offset. */
static bool other_bias(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_maps *maps = kunwind_maps_new();
	struct kunwind_maps_range range = { .start = 0x1000, .end = 0x2000,
				       .object = kunwind_symbolizer_object(symbolizer, "a", "", 0) };
	const struct kunwind_maps_range *found;
	bool ok;

	kunwind_maps_map(maps, 1, 10, &range);
	range.bias = 0x1000;
	kunwind_maps_unmap(maps, 1, 20, range.start, range.end);
	kunwind_maps_map(maps, 1, 20, &range);
	found = kunwind_maps_find(maps, 1, 0x1000, 30);
	ok = found && found->bias == 0x1000;
	found = kunwind_maps_find(maps, 1, 0x1000, 15);
	ok &= found && !found->bias;
	kunwind_maps_free(maps);
	return ok;
}

static unsigned int next_random(unsigned int *seed)
{
	return *seed = *seed * 1103515245 + 12345, *seed >> 16;
}

/*
 * Look-ups before most of the entries of a process: what comes first of the address,
 * up to the next exec. Compared with a search of all entries, one by one.
 */
static bool long_ahead(struct kunwind_symbolizer *symbolizer)
{
	enum { NR = 700, ADDRESSES = 200 };
	struct { enum what what; uint64_t start, end; } entry[NR];
	unsigned int seed = 1, i, k, wrong = 0;
	uint64_t at;

	for (i = 0; i < 200; i++) {
		struct kunwind_maps *maps = kunwind_maps_new();

		for (k = 0; k < NR; k++) {
			struct kunwind_maps_range range = {
				.start = 16 * (1 + next_random(&seed) % ADDRESSES), .bias = k,
				.object = kunwind_symbolizer_object(symbolizer, "a", "", 0) };

			range.end = range.start + 16 * (1 + next_random(&seed) % 3);
			entry[k].what = next_random(&seed) % 2 ? MAP : UNMAP;
			if (!(next_random(&seed) % 300))
				entry[k].what = EXEC;
			entry[k].start = range.start;
			entry[k].end = range.end;
			if (entry[k].what == MAP)
				kunwind_maps_map(maps, 1, 10 + k, &range);
			else if (entry[k].what == UNMAP)
				kunwind_maps_unmap(maps, 1, 10 + k, range.start, range.end);
			else
				kunwind_maps_exec(maps, 1, 10 + k);
		}
		for (at = 0; at < 16 * (ADDRESSES + 6); at += 8) {
			const struct kunwind_maps_range *found = kunwind_maps_find(maps, 1, at, 0);

			for (k = 0; k < NR && entry[k].what != EXEC; k++) {
				if (entry[k].start <= at && at < entry[k].end)
					break;
			}
			if (k < NR && entry[k].what == MAP)
				wrong += !found || found->bias != k;
			else
				wrong += found != NULL;
		}
		kunwind_maps_free(maps);
	}
	if (wrong)
		printf("# %u of %u wrong\n", wrong, i * 2 * (ADDRESSES + 6));
	return !wrong;
}

/* Two processes with one vpid map different parts of one file at the same addresses. */
static bool one_vpid(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_maps *maps = kunwind_maps_new();
	struct kunwind_pids *pids = kunwind_pids_new();
	struct kunwind_maps_range range = { .start = 0x1000, .end = 0x2000,
				       .object = kunwind_symbolizer_object(symbolizer, "a", "", 0) };
	bool ok;

	kunwind_pids_add(pids, 5, 500);
	kunwind_pids_add(pids, 5, 600);
	kunwind_maps_map(maps, 500, 10, &range);
	range.bias = 0x1000;
	kunwind_maps_map(maps, 600, 10, &range);
	ok = kunwind_pids_find(pids, maps, 5, 0x1000, 20) == -1;
	kunwind_maps_free(maps);
	kunwind_pids_free(pids);
	return ok;
}

/* /proc is read once a process, and only if the trace has no mappings of it. */
static bool ask_live(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_maps *maps = kunwind_maps_new();
	struct kunwind_maps_range range = { .start = 0x1000, .end = 0x2000,
				       .object = kunwind_symbolizer_object(symbolizer, "a", "", 0) };
	bool ok;

	kunwind_maps_map(maps, 1, 10, &range);
	ok = !kunwind_maps_ask_live(maps, 1) && kunwind_maps_ask_live(maps, 2) &&
	     !kunwind_maps_ask_live(maps, 2);
	kunwind_maps_free(maps);
	return ok;
}

int main(void)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
	size_t i, nr = sizeof(tests) / sizeof(*tests);
	bool ok;
	int failed = 0;

	for (i = 0; i < nr; i++) {
		ok = run(&tests[i], symbolizer);
		printf("%sok %zu - maps: %s\n", ok ? "" : "not ", i + 1, tests[i].name);
		failed += !ok;
	}
	ok = long_line(symbolizer);
	printf("%sok %zu - maps: fork: the last of 100,000 generations has its ancestors' mappings\n",
	       ok ? "" : "not ", ++nr);
	failed += !ok;
	ok = fork_storm(symbolizer);
	printf("%sok %zu - maps: fork: children that are not looked up have no copy of the mappings\n",
	       ok ? "" : "not ", ++nr);
	failed += !ok;
	ok = programs();
	printf("%sok %zu - maps: a program begins with a fork or exec, and ends with the next exec or exit\n",
	       ok ? "" : "not ", ++nr);
	failed += !ok;
	ok = other_bias(symbolizer);
	printf("%sok %zu - maps: a file mapped again from another offset replaces the mapping\n",
	       ok ? "" : "not ", ++nr);
	failed += !ok;
	ok = long_ahead(symbolizer);
	printf("%sok %zu - maps: before all entries: the first one of an address, before an exec, is found\n",
	       ok ? "" : "not ", ++nr);
	failed += !ok;
	ok = one_vpid(symbolizer);
	printf("%sok %zu - maps: vpid of two processes that map different parts of one file: none is found\n",
	       ok ? "" : "not ", ++nr);
	failed += !ok;
	ok = ask_live(symbolizer);
	printf("%sok %zu - maps: /proc is read once a process, and only if the trace has no mappings of it\n",
	       ok ? "" : "not ", ++nr);
	failed += !ok;
	printf("1..%zu\n", nr);
	kunwind_symbolizer_free(symbolizer);
	return failed != 0;
}
