// SPDX-License-Identifier: MIT
/*
 * tables.c - processes whose tables and mappings t-tables.sh and others check
 *
 *	tables call FILE...
 *		maps each file's code and calls its function
 *	tables hold FILE
 *		the same, again for each line of input
 *	tables memfd SMALL LARGE
 *		the same with a memfd that is overwritten
 *	tables shared SMALL LARGE
 *		the same with a memfd that is overwritten by a shared mapping
 *	tables map FILE...
 *		maps files as code, waits for the end of input
 *	tables many NR PROGRAM...
 *		starts NR children that run these programs in turn, waits for
 *		the end of input
 *	tables share NR RANGES
 *		maps a file RANGES times, with gaps; starts NR children that
 *		share its memory, and waits
 *
 * Each process registers itself first. FILE is small.so or large.so, whose
 * function (called.c) calls back. With the table of the other file, or with
 * none, a stack through the function is not complete. For each call a line
 * "REASON THROUGH FRAME" is printed: why the stack ended, how many of its
 * addresses are in the function's page, and "small" or "large" by the size of
 * the function's frame. "map" prints the longest and the median time of an
 * mmap() in microseconds.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/own_stack.h"

static char *back_frame;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Offset of the text, which starts with the function. */
static off_t text_of(int fd)
{
	char head[4096];
	const Elf64_Ehdr *ehdr = (const void *)head;
	const Elf64_Phdr *phdr;
	int i;

	if (pread(fd, head, sizeof(head), 0) < (ssize_t)sizeof(*ehdr))
		die("read");
	phdr = (const void *)(head + ehdr->e_phoff);
	for (i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && (phdr[i].p_flags & PF_X))
			return phdr[i].p_offset;
	exit(2);
}

static int __attribute__((noinline)) framed_back(void)
{
	back_frame = __builtin_frame_address(0);
	return back();
}

static void __attribute__((noinline)) call(const char *page)
{
	int (*called)(int (*)(void)) = (void *)page;
	char *own = __builtin_frame_address(0);
	unsigned int i, through = 0;

	called(framed_back);
	for (i = 0; i < stack.count; i++)
		through += addresses[i] - (unsigned long)page < 4096;
	printf("%u %u %s\n", stack.reason, through, own - back_frame < 400 ? "small" : "large");
	fflush(stdout);
}

static char *map_code(int fd)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, text_of(fd));

	if (page == MAP_FAILED)
		die("mmap");
	return page;
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static void copy(int from, int to)
{
	char buf[1 << 16];
	ssize_t size = pread(from, buf, sizeof(buf), 0);

	if (size < 0 || pwrite(to, buf, size, 0) != size)
		die("memfd");
}

static void in_memory(const char *small, const char *large)
{
	int fd = memfd_create("tables", MFD_CLOEXEC);
	char *page;

	if (fd < 0)
		die("memfd_create");
	copy(open_file(small), fd);
	page = map_code(fd);
	call(page);
	munmap(page, 4096);
	usleep(20000);		/* until the clock of file times ticks */
	copy(open_file(large), fd);
	call(map_code(fd));
}

/* Only the first write to each page of a mapping changes the file's times. */
static void by_mapping(const char *small, const char *large)
{
	int fd = memfd_create("shared", MFD_CLOEXEC), from = open_file(large);
	char *page, *shared;
	struct stat st;
	off_t i;

	if (fd < 0 || fstat(from, &st))
		die("memfd_create");
	copy(open_file(small), fd);
	shared = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	for (i = 0; i < st.st_size; i += 4096)
		((volatile char *)shared)[i] = shared[i];
	usleep(20000);		/* until the clock of file times ticks */
	page = map_code(fd);
	call(page);
	munmap(page, 4096);
	if (read(from, shared, st.st_size) != st.st_size)
		die(large);
	munmap(shared, st.st_size);
	/* A failed build is repeated after five seconds. */
	sleep(6);
	call(map_code(fd));
}

static void wait_for_end(void)
{
	char byte;

	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
}

static int ascending(const void *a, const void *b)
{
	return *(const long *)a < *(const long *)b ? -1 : *(const long *)a > *(const long *)b;
}

static void map_all(char **files, int nr)
{
	long *us = calloc(nr, sizeof(*us));
	int i;

	for (i = 0; us && i < nr; i++) {
		int fd = open_file(files[i]);
		struct timespec a, b;
		struct stat st;

		if (fstat(fd, &st))
			die(files[i]);
		clock_gettime(CLOCK_MONOTONIC, &a);
		if (mmap(NULL, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			die("mmap");
		clock_gettime(CLOCK_MONOTONIC, &b);
		us[i] = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
		close(fd);
	}
	if (!us)
		exit(2);
	qsort(us, nr, sizeof(*us), ascending);
	printf("%ld %ld\n", us[nr - 1], us[nr / 2]);
	wait_for_end();
}

static void many(int nr, char **programs)
{
	pid_t *pids = calloc(nr, sizeof(*pids));
	int i, nr_programs = 0;
	char *argv[] = { "many", NULL };

	if (!pids)
		exit(2);
	while (programs[nr_programs])
		nr_programs++;
	for (i = 0; i < nr; i++) {
		errno = posix_spawn(&pids[i], programs[i % nr_programs], NULL, NULL, argv, NULL);
		if (errno)
			die(programs[i % nr_programs]);
	}
	printf("up\n");
	wait_for_end();
	for (i = 0; i < nr; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

static int child_that_waits(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

static void share(int nr, int ranges)
{
	enum { PAGE = 4096 };
	int i, code = open_file("/proc/self/exe");
	char *at = mmap(NULL, (2L * ranges + nr) * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("room");
	for (i = 0; i < ranges; i++, at += 2 * PAGE)
		if (mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, code, 0) != at)
			die("mmap");
	enroll(KUNWIND_REGISTER_CHILDREN);
	for (i = 0; i < nr; i++, at += PAGE)
		if (clone(child_that_waits, at + PAGE, CLONE_VM | SIGCHLD, NULL) < 0)
			die("clone");
	puts("up");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	char line[16], *page;

	if (!strcmp(what, "share") && argc == 4)
		share(atoi(argv[2]), atoi(argv[3]));
	enroll(KUNWIND_REGISTER_CHILDREN);
	if (!strcmp(what, "many")) {
		many(atoi(argv[2]), argv + 3);
	} else if (!strcmp(what, "map")) {
		map_all(argv + 2, argc - 2);
	} else if (!strcmp(what, "memfd") && argc == 4) {
		in_memory(argv[2], argv[3]);
	} else if (!strcmp(what, "shared") && argc == 4) {
		by_mapping(argv[2], argv[3]);
	} else if (!strcmp(what, "call")) {
		for (argv += 2; *argv; argv++)
			call(map_code(open_file(*argv)));
	} else if (!strcmp(what, "hold")) {
		page = map_code(open_file(argv[2]));
		call(page);
		while (fgets(line, sizeof(line), stdin))
			call(page);
	} else {
		return 2;
	}
	return 0;
}
