// SPDX-License-Identifier: MIT
/*
 * pieces-test.c - test parts of the tools: expressions as text, the pointer map
 * of the plug-in, the tree of calls, waiting for processes
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kunwind.h>

#include "analyze/calls.h"
#include "babeltrace2/ptrmap.h"
#include "dwarf_op.h"
#include "record/pids.h"

static int count, failed;

static void check(bool good, const char *name)
{
	printf("%sok %d - pieces: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

static const struct {
	const char *bytes, *text, *text32;
} ops[] = {
	{ "77 08", "breg7(rsp)+8", "breg7(edi)+8" },
	{ "76 78 06", "breg6(rbp)-8; deref", "breg6(esi)-8; deref" },
	{ "74 00", "breg4(rsi)+0", "breg4(esp)+0" },
	{ "57", "reg7(rsp)", "reg7(edi)" },
	{ "92 0d 7f", "breg13(r13)-1", "breg13(?)-1" },
	{ "09 ff", "const1s -1", "const1s -1" },
	{ "08 ff", "const1u 255", "const1u 255" },
	{ "0b fe ff", "const2s -2", "const2s -2" },
	{ "0d 00 00 00 80", "const4s -2147483648", "const4s -2147483648" },
	{ "0e ff ff ff ff ff ff ff ff", "const8u 18446744073709551615", "const8u 18446744073709551615" },
	{ "11 40", "consts -64", "consts -64" },
	{ "10 40", "constu 64", "constu 64" },
	{ "28 fd ff", "bra -3", "bra -3" },
	{ "2f 03 00", "skip +3", "skip +3" },
	{ "3b 2a", "lit11; ge", "lit11; ge" },
	{ "0b fe", "const2s 0?", "const2s 0?" },
};

static void test_ops(void)
{
	size_t i;
	int i386;

	for (i = 0; i < 2 * sizeof(ops) / sizeof(ops[0]); i++) {
		const char *hex = ops[i / 2].bytes, *want;
		unsigned char bytes[16];
		char *got = NULL, name[64];
		size_t len = 0, size;
		FILE *out = open_memstream(&got, &size);

		i386 = i % 2;
		want = i386 ? ops[i / 2].text32 : ops[i / 2].text;
		for (; *hex; hex += 2 + (hex[2] == ' '))
			sscanf(hex, "%2hhx", &bytes[len++]);
		kunwind_dwarf_print(out, i386, bytes, len);
		fclose(out);
		snprintf(name, sizeof(name), "expression %s%s", ops[i / 2].bytes,
			 i386 ? ", 32-bit code" : "");
		if (strcmp(got, want))
			printf("# %s\n", got);
		check(!strcmp(got, want), name);
		free(got);
	}
}

/* Adds and removes entries at random, in the map and in a plain table. */
static void test_map(void)
{
	static void *plain[1000];
	static char keys[1000];
	struct ptrmap map = { NULL, 0, 0 };
	unsigned int i, round, seed = 1, nr = 0;
	bool good = true;

	check(!ptrmap_find(&map, keys) && !ptrmap_remove(&map, keys),
	      "map: an empty map has no entry");
	for (round = 0; round < 200000 && good; round++) {
		seed = seed * 1103515245 + 12345;
		i = seed >> 8 & 1023;
		if (i >= 1000)
			continue;
		if (plain[i]) {
			good &= ptrmap_find(&map, &keys[i]) == plain[i] &&
				ptrmap_remove(&map, &keys[i]) == plain[i];
			plain[i] = NULL;
			nr--;
		} else {
			good &= !ptrmap_find(&map, &keys[i]);
			plain[i] = &plain[seed >> 20 & 511];
			good &= ptrmap_add(&map, &keys[i], plain[i]);
			nr++;
		}
		good &= map.nr == nr && map.nr < map.size;
	}
	for (i = 0; i < 1000; i++)
		good &= ptrmap_find(&map, &keys[i]) == plain[i];
	check(good, "map: entries that are added and removed at random are found");
	ptrmap_clear(&map, NULL);
	check(!map.nr && !ptrmap_find(&map, keys), "map: a cleared map has no entry");
}

static void test_calls(void)
{
	struct calls calls;
	struct calls_total *total;
	uint32_t first, again, other, below;

	calls_init(&calls);
	first = calls_node(&calls, CALLS_ROOT, FRAME_FUNCTION, "", "");
	check(first != CALLS_ROOT, "calls: a frame without a name at the root is not the root");
	first = calls_node(&calls, CALLS_ROOT, FRAME_FUNCTION, "main", "a");
	again = calls_node(&calls, CALLS_ROOT, FRAME_FUNCTION, "main", "a");
	other = calls_node(&calls, CALLS_ROOT, FRAME_FUNCTION, "main", "b");
	check(first == again, "calls: equal calls are one node");
	check(first != other && strcmp(calls_object(&calls, first), calls_object(&calls, other)),
	      "calls: functions of one name in two objects are two nodes");
	check(calls_node(&calls, CALLS_ROOT, FRAME_NOTE,
			 "main", "a") != first, "calls: a note and a function of one name are two nodes");
	below = calls_node(&calls, first, FRAME_FUNCTION, "f", "a");
	calls.node[below].self[WEIGHT_BLOCKED] = 5;
	calls.node[first].self[WEIGHT_BLOCKED] = 3;
	total = calls_totals(&calls);
	check(total[first].weight[WEIGHT_BLOCKED] == 8 && total[CALLS_ROOT].weight[WEIGHT_BLOCKED] == 8 &&
	      total[other].weight[WEIGHT_BLOCKED] == 0, "calls: a node's total includes its children");
	free(total);
	check(!strcmp(calls.string[calls_string(&calls, "a\033[31m")], "a\xef\xbf\xbd[31m"),
	      "calls: a terminal's escape sequence is escaped in a name");
	calls_free(&calls);
}

/* pids.c calls these two functions; there is no module. */
int kunwind_register_pid(int pid, unsigned int flags)
{
	(void)pid, (void)flags;
	return -ENODEV;
}

int kunwind_unregister_pid(int pid)
{
	(void)pid;
	return -ENODEV;
}

static volatile sig_atomic_t too_late;

static void on_alarm(int signal)
{
	(void)signal;
	too_late = 1;
}

/* Returns a process that ends after @microseconds. */
static pid_t process(unsigned int microseconds)
{
	pid_t pid = fork();

	if (!pid) {
		usleep(microseconds);
		_exit(0);
	}
	return pid;
}

/* Returns whether pids_wait() returned before an alarm interrupted it. */
static bool waited(const struct pids *pids, int signals, bool forever)
{
	too_late = 0;
	alarm(5);
	pids_wait(pids, signals, forever);
	alarm(0);
	return !too_late;
}

static void test_pids(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	pid_t ended = process(0), running = process(300000);
	struct pids pids = { .pid = (int[]){ ended, ended }, .nr = 2 };
	int channel[2];

	sigaction(SIGALRM, &action, NULL);
	waitpid(ended, NULL, 0);
	check(waited(&pids, -1, false), "pids: processes that have ended are not waited for");
	pids.pid[1] = running;
	check(waited(&pids, -1, false),
	      "pids: the wait for an ended and a running process ends without a signal");
	check(waitpid(running, NULL, WNOHANG) == running,
	      "pids: the wait lasts until the running process has ended");
	check(!pipe(channel) && write(channel[1], "", 1) == 1 && waited(&pids, channel[0], true),
	      "pids: a signal ends the wait");
	close(channel[0]);
	close(channel[1]);
}

int main(void)
{
	test_ops();
	test_map();
	test_calls();
	test_pids();
	printf("1..%d\n", count);
	return failed != 0;
}
