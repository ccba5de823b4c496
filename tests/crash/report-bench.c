// SPDX-License-Identifier: MIT
/*
 * report-bench.c - how long a report takes, beside eu-stack and gdb by the same process
 *
 *	report-bench PATH THREADS
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <kunwind/crash.h>

static sigjmp_buf out;
static int *volatile null;
static volatile int sink;

static void recover(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static __attribute__((__noinline__)) int deeper(int depth)
{
	volatile char room[32];

	room[0] = (char)depth;
	if (depth)
		sink += deeper(depth - 1) + room[0];
	else
		pause();
	return sink;
}

static void *sleeper(void *unused)
{
	deeper(10);
	return unused;
}

static void other(const char *command)
{
	char line[256];
	double begin = now();

	snprintf(line, sizeof(line), command, (int)getpid());
	if (system(line))
		printf("failed: ");
	printf("%.1f ms: %s\n", now() - begin, line);
}

int main(int argc, char **argv)
{
	struct kunwind_crash_options options = { .size = sizeof(options) };
	volatile int i;
	pthread_t thread;
	double begin;

	if (argc < 3)
		return 2;
	options.path = argv[1];
	signal(SIGSEGV, recover);
	if (kunwind_crash_init(&options))
		return 1;
	for (i = 0; i < atoi(argv[2]); i++)
		pthread_create(&thread, NULL, sleeper, NULL);
	sleep(1);
	for (i = 0; i < 7; i++) {
		begin = now();
		if (!sigsetjmp(out, 1))
			sink = *null;
		printf("%.1f ms: report\n", now() - begin);
	}
	for (i = 0; i < 3; i++) {
		other("eu-stack -p %d >/dev/null");
		other("gdb -nx -batch -iex 'set debuginfod enabled off' -p %d -ex 'thread apply all bt' "
		      ">/dev/null 2>&1");
	}
	return 0;
}
