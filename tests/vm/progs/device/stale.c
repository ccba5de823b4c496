// SPDX-License-Identifier: MIT
/*
 * stale.c - old tables are not used for changed mappings and files
 *
 *	stale moves DIRECTORY
 *		mremap() of several pages of small.so and large.so in DIRECTORY
 *	stale file PATH SMALL LARGE
 *		a file is changed within a second
 *	stale reused PATH SMALL LARGE
 *		a new file has a deleted file's inode number and times
 *	stale call LIBRARY
 *		a stack through LIBRARY; status 0: it is right
 *
 * Both libraries have one function at the same offset, with frames of two
 * sizes, filled with an address inside the function (called.c): a stack by the
 * other library's table is never right by accident.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../lib/own_stack.h"

#define PAGE	4096
#define RX	(PROT_READ | PROT_EXEC)

static int failed;

static void __attribute__((noreturn)) quit(const char *what)
{
	perror(what);
	exit(2);
}

/* The offset of a library's text: one page, which starts with the function. */
static off_t text_of(int fd)
{
	off_t text = 0;
	struct stat st;
	char *image;
	int i;

	if (fstat(fd, &st))
		quit("fstat");
	image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	for (i = 0; i < ((ElfW(Ehdr) *)image)->e_phnum; i++) {
		const ElfW(Phdr) *phdr = (void *)(image + ((ElfW(Ehdr) *)image)->e_phoff);

		if (phdr[i].p_type == PT_LOAD && (phdr[i].p_flags & PF_X))
			text = phdr[i].p_offset;
	}
	munmap(image, st.st_size);
	return text;
}

static bool __attribute__((noinline)) right(char *page)
{
	unsigned int i, through = 0;
	int (*called)(int (*)(void)) = (void *)page;

	called(back);
	for (i = 0; i < stack.count; i++)
		through += addresses[i] - (unsigned long)page < PAGE;
	return stack.reason == KUNWIND_COMPLETE && through == 1;
}

static void is(bool good, const char *what)
{
	printf("%s - %s%s\n", good ? "ok" : "not ok", sizeof(long) == 4 ? "32-bit code: " : "", what);
	if (!good)
		printf("# %u addresses, reason %u\n", stack.count, stack.reason);
	failed |= !good;
}

static int library(const char *directory, const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		quit(path);
	return fd;
}

/* Maps the page before the text and the text, at @where or anywhere. */
static char *map_two(char *where, int fd)
{
	char *page = mmap(where, 2 * PAGE, RX, MAP_PRIVATE | (where ? MAP_FIXED : 0), fd,
			  text_of(fd) - PAGE);

	if (page == MAP_FAILED)
		quit("mmap");
	return page;
}

static void moves(const char *directory)
{
	int small = library(directory, "small.so"), large = library(directory, "large.so");
	char *area = mmap(NULL, 16 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *to = area + 4 * PAGE, *from = area + 8 * PAGE;

	map_two(to, small);
	map_two(from, large);
	is(right(to + PAGE) && right(from + PAGE), "mmap of two libraries: stacks are right");
	mremap(from, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	is(right(to + PAGE), "mremap over code: the old table is not used for the second page");
	map_two(from, small);
	is(right(from + PAGE), "another library at the address that mremap left: its table is used");

	mremap(to, 2 * PAGE, PAGE, 0);
	if (mremap(to, PAGE, 2 * PAGE, 0) != to)
		quit("mremap");
	is(right(to + PAGE), "mremap grows code in place: its table is used");
	munmap(area, 16 * PAGE);
}

/* Writes the library @from to @path, with @size bytes. Returns a descriptor. */
static int becomes(const char *path, const char *from, off_t size)
{
	static char bytes[1 << 16];
	int in = open(from, O_RDONLY), out = open(path, O_RDWR | O_CREAT, 0755);

	memset(bytes, 0, sizeof(bytes));
	if (in < 0 || out < 0 || read(in, bytes, sizeof(bytes)) <= 0 ||
	    pwrite(out, bytes, size, 0) != size)
		quit(from);
	close(in);
	return out;
}

/* The same, repeated until the change time of @fd's file is another one. */
static void becomes_in_place(int fd, const char *path, const char *from)
{
	struct timespec pause = { 0, 10000000 };
	struct stat before, after;

	fstat(fd, &before);
	do {
		nanosleep(&pause, NULL);
		close(becomes(path, from, 40000));
		fstat(fd, &after);
	} while (before.st_ctim.tv_sec == after.st_ctim.tv_sec &&
		 before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);
}

static bool once(int fd)
{
	char *page = mmap(NULL, PAGE, RX, MAP_PRIVATE, fd, text_of(fd));
	bool good;

	if (page == MAP_FAILED)
		quit("mmap");
	good = right(page);
	munmap(page, PAGE);
	return good;
}

/* Changes a file's bytes but not its size, twice within one second. */
static void file(const char *path, const char *small, const char *large)
{
	struct timespec pause = { 0, 30000000 }, now;
	struct stat before, after;
	char *page;
	off_t text;
	bool good;
	int fd, tries;

	for (tries = 0; tries < 20; tries++) {
		do
			clock_gettime(CLOCK_REALTIME, &now);
		while (now.tv_nsec > 100000000);
		fd = becomes(path, small, 40000);
		fstat(fd, &before);
		close(fd);
		fd = open(path, O_RDONLY);
		good = once(fd);
		close(fd);
		nanosleep(&pause, NULL);
		fd = becomes(path, large, 40000);
		fstat(fd, &after);
		close(fd);
		if (before.st_ctim.tv_sec == after.st_ctim.tv_sec && before.st_size == after.st_size &&
		    before.st_ctim.tv_nsec != after.st_ctim.tv_nsec)
			break;
	}
	is(good && tries < 20, "a file is changed twice within one second and keeps its size");
	fd = open(path, O_RDONLY);
	is(once(fd), "a file changed within one second: the second state has its own table");

	/* Mapped again at the same address, with no other mmap() in between. */
	text = text_of(fd);
	page = mmap(NULL, PAGE, RX, MAP_PRIVATE, fd, text);
	good = page != MAP_FAILED && right(page);
	becomes_in_place(fd, path, small);
	mmap(page, PAGE, RX, MAP_PRIVATE | MAP_FIXED, fd, text);
	is(good && right(page), "a changed file is mapped at the same address: the old table is not used");
}

/* Creates a file with change time @time. Returns -1 if the clock has ticked. */
static int born(const char *path, const char *from, const struct timespec *time, struct stat *st)
{
	static char bytes[1 << 16];
	int in = open(from, O_RDONLY), fd;

	memset(bytes, 0, sizeof(bytes));
	if (in < 0 || read(in, bytes, sizeof(bytes)) <= 0)
		quit(from);
	close(in);
	/* files get the time of the last tick: until the next one @time */
	if (clock_settime(CLOCK_REALTIME, time))
		quit("clock_settime");
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0755);
	if (fd < 0 || pwrite(fd, bytes, 40000, 0) != 40000 || fstat(fd, st))
		quit(path);
	if (st->st_ctim.tv_sec == time->tv_sec && st->st_ctim.tv_nsec == time->tv_nsec)
		return fd;
	close(fd);
	unlink(path);
	return -1;
}

/* Two files, one after the other. Only content and generation differ. */
static void reused(const char *path, const char *small, const char *large)
{
	struct stat before, after;
	struct timespec time;
	bool good = false;
	int fd, tries;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec = 0;
	for (tries = 0; tries < 200; tries++) {
		fd = born(path, small, &time, &before);
		if (fd < 0)
			continue;
		close(fd);
		fd = open(path, O_RDONLY);
		good = once(fd);
		close(fd);
		break;
	}
	is(good, "a reused inode number: a stack through the first file is right");
	unlink(path);
	for (fd = -1; tries < 200 && fd < 0; tries++)
		fd = born(path, large, &time, &after);
	is(fd >= 0 && before.st_ino == after.st_ino && before.st_dev == after.st_dev &&
	   before.st_size == after.st_size && before.st_ctim.tv_sec == after.st_ctim.tv_sec &&
	   before.st_ctim.tv_nsec == after.st_ctim.tv_nsec,
	   "a reused inode number: size and change time are the deleted file's");
	close(fd);
	fd = open(path, O_RDONLY);
	is(once(fd), "a reused inode number: the table of the deleted file is not used");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	enroll(0);
	if (!strcmp(argv[1], "moves"))
		moves(argv[2]);
	else if (!strcmp(argv[1], "file") && argc == 5)
		file(argv[2], argv[3], argv[4]);
	else if (!strcmp(argv[1], "reused") && argc == 5)
		reused(argv[2], argv[3], argv[4]);
	else if (!strcmp(argv[1], "call"))
		failed = !once(open(argv[2], O_RDONLY));
	else
		return 2;
	return failed;
}
