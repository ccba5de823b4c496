// SPDX-License-Identifier: MIT
/*
 * calls.c - measure the time of a program that makes system calls
 *
 * calls [ROUNDS]: makes six system calls in each of ROUNDS rounds (2,000), from
 * stacks of 14 to 20 addresses, with some work of its own in between. Prints the
 * median TSC difference around a round, times ROUNDS. Under QEMU's -icount the TSC
 * counts instructions, including those of the kernel and of tracers; in a median
 * they are not those of other processes.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

static volatile unsigned int sum;

/* Some hundred instructions of the program itself. */
static __attribute__((noinline)) void work(const unsigned char *bytes, size_t nr)
{
	unsigned int hash = 2166136261U;
	size_t i;

	for (i = 0; i < nr; i++)
		hash = (hash ^ bytes[i]) * 16777619;
	sum += hash;
}

/* Each level of the recursion is a frame. */
static __attribute__((noinline)) int at_depth(int left, int (*call)(int), int fd)
{
	volatile char room[24];

	room[0] = 0;
	return (left ? at_depth(left - 1, call, fd) : call(fd)) + room[0];
}

static __attribute__((noinline)) int call_open(int fd)
{
	(void)fd;
	return open("/dev/zero", O_RDONLY);
}

static __attribute__((noinline)) int call_stat(int fd)
{
	struct stat st;

	return fstat(fd, &st);
}

static __attribute__((noinline)) int call_read(int fd)
{
	unsigned char bytes[96];
	ssize_t nr = read(fd, bytes, sizeof(bytes));

	work(bytes, sizeof(bytes));
	return (int)nr;
}

static __attribute__((noinline)) int call_seek(int fd)
{
	return (int)lseek(fd, 0, SEEK_SET);
}

static __attribute__((noinline)) int call_parent(int fd)
{
	(void)fd;
	return (int)syscall(SYS_getppid);
}

static __attribute__((noinline)) int call_close(int fd)
{
	return close(fd);
}

static __attribute__((noinline)) void once(void)
{
	int fd = at_depth(10, call_open, -1);

	if (fd < 0)
		err(1, "/dev/zero");
	at_depth(8, call_stat, fd);
	at_depth(12, call_read, fd);
	at_depth(9, call_seek, fd);
	at_depth(13, call_parent, fd);
	at_depth(11, call_close, fd);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int i, rounds = argc > 1 ? atoi(argv[1]) : 2000;
	uint64_t *time = calloc((size_t)rounds, sizeof(*time)), start;

	if (!time || !rounds)
		errx(1, "no rounds");
	for (i = 0; i < rounds; i++) {
		start = __rdtsc();
		once();
		time[i] = __rdtsc() - start;
	}
	qsort(time, (size_t)rounds, sizeof(*time), by_value);
	printf("%lu\n", (unsigned long)(time[rounds / 2] * (uint64_t)rounds));
	return 0;
}
