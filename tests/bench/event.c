// SPDX-License-Identifier: MIT
/*
 * event.c - measure one traced system call, or one sample of the CPU, from user
 * space
 *
 * event [register] [changing] [sampled]: with a stack of twenty addresses, calls
 * getppid(2) CALLS times and prints the median TSC difference around the call.
 * Under QEMU's -icount the TSC counts instructions, including those of the
 * kernel and the tracer's probes. "register": with kunwind. "changing": each
 * call has another stack pointer than the call before. "sampled": instead of the
 * system call, the program waits for an interrupt; the median is the cost of a
 * sample, if most interrupts are the sampler's.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../../kmod/uapi/kunwind.h"

#define CALLS	201

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int changing, sampled;

/* Returns the time of the next interrupt; a round of the loop takes less. */
static __attribute__((noinline)) uint64_t until_interrupt(void)
{
	const uint64_t shortest = 300;
	uint64_t usual = UINT64_MAX, before, now = __rdtsc(), gap;

	do {
		before = now;
		now = __rdtsc();
		gap = now - before;
		if (gap < usual)
			usual = gap;
	} while (gap < usual + shortest);
	return gap - usual;
}

static __attribute__((noinline)) uint64_t call(int i)
{
	volatile char *room = __builtin_alloca(changing && i % 2 ? 512 : 256);
	uint64_t start;

	room[0] = 0;
	if (sampled)
		return until_interrupt() + room[0];
	start = __rdtsc();
	syscall(SYS_getppid);
	return __rdtsc() - start + room[0];
}

static __attribute__((noinline)) int measure(void)
{
	uint64_t cost[CALLS];
	int i;

	for (i = 0; i < CALLS; i++)
		cost[i] = call(i);
	qsort(cost, CALLS, sizeof(cost[0]), by_value);
	printf("%lu\n", (unsigned long)cost[CALLS / 2]);
	return 1;
}

/*
 * Thirteen of the twenty addresses. The other seven: syscall() (or
 * until_interrupt()), call(),
 * measure(), main(), libc's two functions that call main(), _start().
 */
static __attribute__((noinline)) int deeper(int left)
{
	volatile char room[24];

	room[0] = left;
	return (left ? deeper(left - 1) : measure()) + room[0];
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };
		int fd;

		if (!strcmp(argv[i], "changing")) {
			changing = 1;
			continue;
		}
		if (!strcmp(argv[i], "sampled")) {
			sampled = 1;
			continue;
		}
		fd = open(KUNWIND_DEVICE, O_RDWR);
		if (fd < 0 || ioctl(fd, KUNWIND_IOC_REGISTER, &process))
			err(1, KUNWIND_DEVICE);
	}
	return deeper(12) < 0;
}
