// SPDX-License-Identifier: MIT
/*
 * settle.c - wait until all threads of programs sleep
 *
 *	settle SECONDS PID...
 *
 * Looks at all threads of all PIDs each half second. Exits with 0 when two
 * looks in a row find that every thread sleeps in a system call (or is stopped)
 * and has not run since the look before: its count of voluntary context
 * switches is the same. A thread that waits for a page of a file, which can
 * take a second here, does not count as asleep, because it goes on by itself.
 * After SECONDS exits with 1 and names a thread that does not sleep.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char culprit[700];

/* Whether a thread in state D handles a page fault: it is in no system call. */
static int page_fault(const char *pid, const char *tid)
{
	char path[600], line[256];
	FILE *f;
	int is;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/syscall", pid, tid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	is = fgets(line, sizeof(line), f) && !strncmp(line, "-1 ", 3);
	fclose(f);
	return is;
}

/* Adds one thread's switches to @sum, a hash of all threads. False: it runs. */
static int look(const char *pid, const char *tid, uint64_t *sum)
{
	char path[600], line[256];
	unsigned long n;
	int asleep = 1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/status", pid, tid);
	f = fopen(path, "r");
	if (!f)
		return 1;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "State:\t", 7) &&
		    (!strchr("SDtTZ", line[7]) || (line[7] == 'D' && page_fault(pid, tid)))) {
			snprintf(culprit, sizeof(culprit), "%s/%s: %.60s", pid, tid, line);
			asleep = 0;
		}
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1)
			*sum = *sum * 31 + n + strtoul(tid, NULL, 10);
	}
	fclose(f);
	return asleep;
}

static int look_all(int nr, char **pids, uint64_t *sum)
{
	int asleep = 1, i;

	*sum = 0;
	for (i = 0; i < nr; i++) {
		char path[300];
		struct dirent *entry;
		DIR *dir;

		snprintf(path, sizeof(path), "/proc/%s/task", pids[i]);
		dir = opendir(path);
		while (dir && (entry = readdir(dir)))
			if (entry->d_name[0] != '.')
				asleep &= look(pids[i], entry->d_name, sum);
		if (dir)
			closedir(dir);
	}
	return asleep;
}

int main(int argc, char **argv)
{
	const struct timespec half = { 0, 500000000 };
	uint64_t before = 0, now;
	int turn, quiet = 0;

	if (argc < 3) {
		fprintf(stderr, "Usage: settle SECONDS PID...\n");
		return 2;
	}
	for (turn = 0; turn < 2 * atoi(argv[1]); turn++) {
		int asleep = look_all(argc - 2, argv + 2, &now);

		quiet = asleep && now == before ? quiet + 1 : 0;
		if (quiet == 2)
			return 0;
		before = now;
		nanosleep(&half, NULL);
	}
	fprintf(stderr, "settle: not quiet after %s s; %s\n", argv[1], culprit);
	return 1;
}
