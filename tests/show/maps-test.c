// SPDX-License-Identifier: MIT
/*
 * maps-test.c - which mapping holds an address at a given time, and which process a
 * vpid means then: a table of histories and questions
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "maps.h"
#include "pids.h"

enum what { END, MAP, UNMAP, EXEC, FORK, EXIT, ALIAS, ASK, WHO };

struct step {
	enum what what;
	int pid;
	int64_t time;
	uint64_t a, b;		/* MAP, UNMAP: start, end; FORK: child; ALIAS: vpid; ASK: address;
				 * WHO: address, vpid; its pid is the answer wanted */
	const char *file;	/* MAP: path; ASK: path wanted, NULL for none */
};

struct test {
	const char *name;
	struct step step[14];
};

/* All steps that tell come before those that ask, as in the tool. */
static const struct test tests[] = {
	{ "a mapping holds from its start to before its end", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ ASK, 1, 20, 0xfff, 0, NULL },
		{ ASK, 1, 20, 0x1000, 0, "a" },
		{ ASK, 1, 20, 0x1fff, 0, "a" },
		{ ASK, 1, 20, 0x2000, 0, NULL },
		{ ASK, 2, 20, 0x1000, 0, NULL } } },
	{ "a new mapping replaces what it covers, and nothing else", {
		{ MAP, 1, 10, 0x1000, 0x9000, "a" },
		{ MAP, 1, 20, 0x3000, 0x4000, "b" },
		{ ASK, 1, 15, 0x3000, 0, "a" },
		{ ASK, 1, 25, 0x2fff, 0, "a" },
		{ ASK, 1, 25, 0x3000, 0, "b" },
		{ ASK, 1, 25, 0x4000, 0, "a" } } },
	{ "a new mapping over several old ones", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ MAP, 1, 10, 0x2000, 0x3000, "b" },
		{ MAP, 1, 10, 0x3000, 0x4000, "c" },
		{ MAP, 1, 20, 0x1800, 0x3800, "d" },
		{ ASK, 1, 20, 0x17ff, 0, "a" },
		{ ASK, 1, 20, 0x1800, 0, "d" },
		{ ASK, 1, 20, 0x2800, 0, "d" },
		{ ASK, 1, 20, 0x3800, 0, "c" } } },
	{ "the same range again, with another file", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ MAP, 1, 20, 0x1000, 0x2000, "b" },
		{ MAP, 1, 30, 0x1000, 0x2000, "a" },
		{ ASK, 1, 10, 0x1000, 0, "a" },
		{ ASK, 1, 20, 0x1000, 0, "b" },
		{ ASK, 1, 30, 0x1000, 0, "a" } } },
	{ "exec forgets", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ EXEC, 1, 20, 0, 0, NULL },
		{ MAP, 1, 30, 0x5000, 0x6000, "b" },
		{ ASK, 1, 15, 0x1000, 0, "a" },
		{ ASK, 1, 25, 0x1000, 0, NULL },
		{ ASK, 1, 25, 0x5000, 0, "b" },		/* told late */
		{ ASK, 1, 35, 0x5000, 0, "b" } } },
	{ "what is behind an exec is not looked ahead at", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ EXEC, 1, 20, 0, 0, NULL },
		{ MAP, 1, 30, 0x5000, 0x6000, "b" },
		{ ASK, 1, 15, 0x5000, 0, NULL } } },
	{ "a state dump behind the first events", {
		{ MAP, 1, 100, 0x1000, 0x2000, "a" },
		{ ASK, 1, 5, 0x1000, 0, "a" } } },
	{ "a state dump that repeats", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ MAP, 1, 10, 0x2000, 0x3000, "b" },
		{ MAP, 1, 20, 0x1000, 0x2000, "a" },
		{ MAP, 1, 20, 0x2000, 0x3000, "b" },
		{ ASK, 1, 30, 0x1000, 0, "a" },
		{ ASK, 1, 30, 0x2fff, 0, "b" } } },
	{ "fork copies what the parent had then", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ MAP, 1, 30, 0x1000, 0x2000, "b" },
		{ ASK, 1, 15, 0x1000, 0, "a" },
		{ ASK, 2, 25, 0x1000, 0, "a" },
		{ ASK, 1, 35, 0x1000, 0, "b" },
		{ ASK, 2, 35, 0x1000, 0, "a" } } },
	{ "the child execs, the parent stays", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ EXEC, 2, 30, 0, 0, NULL },
		{ MAP, 2, 31, 0x1000, 0x2000, "b" },
		{ ASK, 2, 25, 0x1000, 0, "a" },
		{ ASK, 1, 40, 0x1000, 0, "a" },
		{ ASK, 2, 40, 0x1000, 0, "b" } } },
	{ "a grandchild, asked for first", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ FORK, 2, 30, 3, 0, NULL },
		{ ASK, 3, 40, 0x1000, 0, "a" } } },
	{ "a number that is used again", {
		{ MAP, 7, 10, 0x1000, 0x2000, "a" },
		{ EXIT, 7, 20, 0, 0, NULL },
		{ MAP, 7, 50, 0x1000, 0x2000, "b" },
		{ ASK, 7, 15, 0x1000, 0, "a" },
		{ ASK, 7, 30, 0x1000, 0, "b" },		/* its new user, told late */
		{ ASK, 7, 60, 0x1000, 0, "b" } } },
	{ "an exited process has nothing", {
		{ MAP, 7, 10, 0x1000, 0x2000, "a" },
		{ EXIT, 7, 20, 0, 0, NULL },
		{ ASK, 7, 30, 0x1000, 0, NULL } } },
	{ "a circle of forks at one instant ends", {
		{ FORK, 1, 10, 2, 0, NULL },
		{ FORK, 2, 10, 1, 0, NULL },
		{ ASK, 1, 20, 0x1000, 0, NULL } } },
	{ "a mapping whose end is not behind its start is none", {
		{ MAP, 1, 10, 0x2000, 0x1000, "a" },
		{ MAP, 1, 10, 0x3000, 0x3000, "a" },
		{ ASK, 1, 20, 0x1800, 0, NULL },
		{ ASK, 1, 20, 0x3000, 0, NULL } } },
	{ "a vpid of which nothing is known means itself", {
		{ WHO, 5, 20, 0x1000, 5, NULL } } },
	{ "a vpid of one process means that one, wherever it stands", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ WHO, 500, 20, 0x1000, 5, NULL },
		{ WHO, 500, 20, 0x9000, 5, NULL } } },
	{ "what is unmapped is gone, and nothing else", {
		{ MAP, 1, 10, 0x1000, 0x9000, "a" },
		{ UNMAP, 1, 20, 0x3000, 0x4000, NULL },
		{ ASK, 1, 15, 0x3000, 0, "a" },
		{ ASK, 1, 25, 0x2fff, 0, "a" },
		{ ASK, 1, 25, 0x3000, 0, NULL },
		{ ASK, 1, 25, 0x3fff, 0, NULL },
		{ ASK, 1, 25, 0x4000, 0, "a" } } },
	{ "unmapped, then mapped again alike", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ UNMAP, 1, 20, 0x1000, 0x2000, NULL },
		{ MAP, 1, 30, 0x1000, 0x2000, "a" },
		{ ASK, 1, 15, 0x1000, 0, "a" },
		{ ASK, 1, 25, 0x1000, 0, "a" },		/* by looking ahead: told late */
		{ ASK, 1, 35, 0x1000, 0, "a" } } },
	{ "no looking ahead past the end of what is not known", {
		{ MAP, 1, 5, 0x8000, 0x9000, "b" },
		{ UNMAP, 1, 20, 0x1000, 0x2000, NULL },
		{ MAP, 1, 30, 0x1000, 0x2000, "a" },
		{ ASK, 1, 10, 0x1000, 0, NULL },
		{ ASK, 1, 35, 0x1000, 0, "a" } } },
	{ "a child keeps what its parent unmaps later", {
		{ MAP, 1, 10, 0x1000, 0x2000, "a" },
		{ FORK, 1, 20, 2, 0, NULL },
		{ UNMAP, 1, 30, 0x1000, 0x2000, NULL },
		{ ASK, 2, 40, 0x1000, 0, "a" },
		{ ASK, 1, 40, 0x1000, 0, NULL } } },
	{ "of two processes with one vpid, that with code at the address is meant", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 600, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ MAP, 600, 10, 0x5000, 0x6000, "b" },
		{ WHO, 500, 20, 0x1000, 5, NULL },
		{ WHO, 600, 20, 0x5000, 5, NULL },
		{ WHO, -1, 20, 0x9000, 5, NULL } } },
	{ "both have, but other objects: none is", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 600, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ MAP, 600, 10, 0x1000, 0x2000, "b" },
		{ WHO, -1, 20, 0x1000, 5, NULL } } },
	{ "both have, the same object: any will do", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 600, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ MAP, 600, 10, 0x1000, 0x2000, "a" },
		{ WHO, 500, 20, 0x1000, 5, NULL } } },
	{ "a vpid that is used again by another process", {
		{ ALIAS, 500, 0, 5, 0, NULL },
		{ ALIAS, 600, 0, 5, 0, NULL },
		{ MAP, 500, 10, 0x1000, 0x2000, "a" },
		{ EXIT, 500, 20, 0, 0, NULL },
		{ MAP, 600, 30, 0x1000, 0x2000, "b" },
		{ WHO, 600, 40, 0x1000, 5, NULL } } },
};

static bool ask(struct kunwind_maps *maps, const struct step *step)
{
	const struct kunwind_range *map = kunwind_maps_find(maps, step->pid, step->a, step->time);
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
		struct kunwind_range map = { .start = step->a, .end = step->b };

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

int main(void)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
	size_t i, nr = sizeof(tests) / sizeof(*tests);
	int failed = 0;

	for (i = 0; i < nr; i++) {
		bool ok = run(&tests[i], symbolizer);

		printf("%sok %zu - maps: %s\n", ok ? "" : "not ", i + 1, tests[i].name);
		failed += !ok;
	}
	printf("1..%zu\n", nr);
	kunwind_symbolizer_free(symbolizer);
	return failed != 0;
}
