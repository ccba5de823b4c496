// SPDX-License-Identifier: MIT
/*
 * mappings.c - measure mmap(2) of code in a registered process with many
 * mappings
 *
 * mappings NUMBER: makes NUMBER separate executable mappings, registers itself,
 * makes MORE further ones, and prints the median TSC difference around mmap(2).
 * This includes the task work that reads the list of mappings again. Under
 * QEMU's -icount the TSC counts instructions.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../../kmod/uapi/kunwind.h"

#define PAGE	4096
#define MORE	9

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };
	int code = open("/proc/self/exe", O_RDONLY), number = argc > 1 ? atoi(argv[1]) : 0, fd, i;
	uint64_t cost[MORE], start;
	char *at;

	if (number < 1 || number > 16000)
		errx(2, "usage: mappings NUMBER (1 to 16000)");
	at = mmap(NULL, 2L * (number + MORE) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code < 0 || at == MAP_FAILED)
		err(1, "cannot open /proc/self/exe, or reserve addresses");
	for (i = 0; i < number + MORE; i++, at += 2 * PAGE) {
		if (i == number) {
			fd = open(KUNWIND_DEVICE, O_RDWR);
			if (fd < 0 || ioctl(fd, KUNWIND_IOC_REGISTER, &process))
				err(1, KUNWIND_DEVICE);
			if (process.nr_maps < (unsigned int)number)
				errx(1, "kunwind knows only %u mappings", process.nr_maps);
		}
		start = __rdtsc();
		if (mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, code, 0) != at)
			err(1, "mmap");
		if (i >= number)
			cost[i - number] = __rdtsc() - start;
	}
	qsort(cost, MORE, sizeof(cost[0]), by_value);
	printf("%lu\n", (unsigned long)cost[MORE / 2]);
	return 0;
}
