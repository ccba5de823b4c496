// SPDX-License-Identifier: MIT
/*
 * isolation.c - a user who floods the builders, and one who waits for a table
 *
 *	isolation flood PROCESSES SHARED COSTLY...
 *		PROCESSES processes change the mode of the COSTLY files again
 *		and again and map each new state as code, until they are killed.
 *		After 40 files each process also maps SHARED, if that is not "".
 *	isolation first FILE...
 *		maps the files, copies of small.so, one after the other, and
 *		calls the function of each until the stack through it is
 *		complete. Prints the median and the longest time from mmap() to
 *		that stack, in microseconds.
 *	isolation ready FILE...
 *		the same without calls: until the new mapping has its table
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/own_stack.h"

#define MOST_MAPPED	2000
#define LONGEST_US	60000000L

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static char *map_code(const char *path)
{
	int i, fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Phdr *phdr;
	char head[4096], *page;
	off_t text = -1;

	if (fd < 0 || pread(fd, head, sizeof(head), 0) < (ssize_t)sizeof(Elf64_Ehdr))
		die(path);
	phdr = (const void *)(head + ((const Elf64_Ehdr *)head)->e_phoff);
	for (i = 0; i < ((const Elf64_Ehdr *)head)->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && (phdr[i].p_flags & PF_X))
			text = phdr[i].p_offset;
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, text);
	if (page == MAP_FAILED)
		die("mmap");
	close(fd);
	return page;
}

static void flood(const char *shared, char **files, int nr)
{
	char *mapped[MOST_MAPPED];
	unsigned int i;

	for (i = 0;; i++) {
		const char *file = files[i % nr];
		char **slot = &mapped[i % MOST_MAPPED];

		if (chmod(file, i / nr % 2 ? 0644 : 0755))
			die(file);
		if (i >= MOST_MAPPED)
			munmap(*slot, 4096);
		*slot = map_code(file);
		/* queued after 40: another user must not wait as long */
		if (i == 40 && *shared)
			map_code(shared);
		usleep(5000);	/* until the clock of file times ticks */
	}
}

static long us_since(const struct timespec *a)
{
	struct timespec b;

	clock_gettime(CLOCK_MONOTONIC, &b);
	return (b.tv_sec - a->tv_sec) * 1000000 + (b.tv_nsec - a->tv_nsec) / 1000;
}

static long first_stack(const char *path)
{
	struct timespec start;
	int (*called)(int (*)(void));

	clock_gettime(CLOCK_MONOTONIC, &start);
	called = (void *)map_code(path);
	for (;;) {
		called(back);
		if (!stack.reason || us_since(&start) > LONGEST_US)
			return us_since(&start);
		usleep(1000);
	}
}

static int missing(void)
{
	struct kunwind_process self = { .size = sizeof(self), .mem_fd = -1 };

	if (ioctl(device, KUNWIND_IOC_REGISTER, &self))
		die("KUNWIND_IOC_REGISTER");
	return self.nr_maps - self.nr_ready;
}

static long ready(const char *path)
{
	int before = missing();
	struct timespec start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	map_code(path);
	while (missing() > before && us_since(&start) < LONGEST_US)
		usleep(1000);
	return us_since(&start);
}

static int ascending(const void *a, const void *b)
{
	return *(const long *)a < *(const long *)b ? -1 : *(const long *)a > *(const long *)b;
}

int main(int argc, char **argv)
{
	long us[64];
	int i;

	if (argc < 3)
		return 2;
	enroll(KUNWIND_REGISTER_CHILDREN);
	if (!strcmp(argv[1], "flood") && argc > 4) {
		for (i = 1; i < atoi(argv[2]); i++)
			if (!fork())
				break;
		flood(argv[3], argv + 4, argc - 4);
	}
	for (i = 0; i < argc - 2 && i < 64; i++)
		us[i] = strcmp(argv[1], "ready") ? first_stack(argv[i + 2]) : ready(argv[i + 2]);
	qsort(us, i, sizeof(*us), ascending);
	printf("%ld %ld\n", us[i / 2], us[i - 1]);
	return 0;
}
