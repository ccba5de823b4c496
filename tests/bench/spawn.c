// SPDX-License-Identifier: MIT
/*
 * spawn.c - measure fork, exec and exit of a program
 *
 *	spawn TIMES PROGRAM	runs PROGRAM TIMES times; prints the mean TSC
 *				difference from before the fork until waitpid()
 *				returned, without the highest 10 %
 *
 * Under QEMU's -icount the TSC counts instructions: of both processes, of the
 * kernel for them, and of the kernel's deferred work for earlier processes
 * (grace periods, workers).
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define MOST	10000

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static uint64_t cost[MOST];
	uint64_t sum = 0;
	int times = argc > 2 ? atoi(argv[1]) : 0, i, status;

	if (times < 1 || times > MOST)
		errx(2, "usage: spawn TIMES PROGRAM");
	for (i = 0; i < times; i++) {
		uint64_t start = __rdtsc();
		pid_t pid = fork();

		if (!pid) {
			execv(argv[2], argv + 2);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			errx(1, "%s does not run", argv[2]);
		cost[i] = __rdtsc() - start;
	}
	qsort(cost, times, sizeof(cost[0]), by_value);
	times -= times / 10;
	for (i = 0; i < times; i++)
		sum += cost[i];
	printf("%lu\n", (unsigned long)(sum / times));
	return 0;
}
