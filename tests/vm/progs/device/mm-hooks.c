// SPDX-License-Identifier: MIT
/*
 * mm-hooks.c - map, move and unmap code in a registered process
 *
 *	mm-hooks DIRECTORY SCRATCH
 *		DIRECTORY has small.so and large.so; files are made in SCRATCH
 *
 * small.so and large.so have one function at the same offset, with frames of
 * different sizes, so a stack through one with the table of the other is wrong.
 * The function comes to an address in all possible ways and is called at once.
 * It calls back(), whose stack must be complete and have the function once.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/own_stack.h"

static int failed;

/* A library: its file, and the offset of the text, where its function is. */
struct library {
	int fd;
	off_t text;
};

static struct library small, large;

static struct library library_open(const char *directory, const char *name)
{
	struct library library = { 0 };
	char path[512];
	char *image;
	const Elf64_Ehdr *ehdr;
	const Elf64_Phdr *phdr;
	struct stat st;
	int i;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	library.fd = open(path, O_RDONLY);
	if (library.fd < 0 || fstat(library.fd, &st)) {
		perror(path);
		exit(2);
	}
	image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, library.fd, 0);
	ehdr = (const void *)image;
	phdr = (const void *)(image + ehdr->e_phoff);
	for (i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && (phdr[i].p_flags & PF_X))
			library.text = phdr[i].p_offset;
	munmap(image, st.st_size);
	return library;
}

/* Calls the function in @page. Returns whether the stack was right. */
static bool __attribute__((noinline)) right(char *page)
{
	volatile unsigned long frame[100];	/* a table for a larger frame reads these */
	unsigned int i, through = 0;
	int (*called)(int (*)(void)) = (void *)page;

	for (i = 0; i < sizeof(frame) / sizeof(frame[0]); i++)
		frame[i] = (unsigned long)page + 1;
	called(back);
	for (i = 0; i < stack.count; i++)
		through += addresses[i] - (unsigned long)page < 4096;
	return stack.reason == KUNWIND_COMPLETE && through == 1;
}

static void is(bool good, const char *what)
{
	printf("%s - %s\n", good ? "ok" : "not ok", what);
	if (!good) {
		printf("# %u addresses, reason %u\n", stack.count, stack.reason);
		failed = 1;
	}
}

static char *map(void *where, const struct library *library, int prot)
{
	char *page = mmap(where, 4096, prot, MAP_PRIVATE | (where ? MAP_FIXED : 0),
			  library->fd, library->text);

	if (page == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return page;
}

#define RX	(PROT_READ | PROT_EXEC)

static void moves(void)
{
	char *a, *b, *c, *d;

	a = map(NULL, &small, RX);
	is(right(a), "mmap of code: its table is used");
	b = map(NULL, &large, RX);
	is(right(b), "mmap of another library: its table is used");
	map(a, &large, RX);
	is(right(a), "mmap over code: the new code's table is used");
	map(a, &small, RX);
	is(right(a), "mmap over code again: the first code's table is used");
	mremap(b, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, a);
	is(right(a), "mremap over code: the old table is not used");
	c = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mremap(a, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, c);
	is(right(c), "mremap to another address: the code's table is used there");
	d = map(NULL, &small, PROT_READ);
	mprotect(d, 4096, RX);
	is(right(d), "mprotect to executable: the code's table is used");
	mprotect(d, 4096, PROT_NONE);
	mprotect(d, 4096, RX);
	is(right(d), "mprotect to inaccessible and back: the code's table is used");
	munmap(d, 4096);
	map(d, &large, RX);
	is(right(d), "munmap, and other code at the address: the old table is not used");
	munmap(c, 4096);
	munmap(d, 4096);
}

static void many(void)
{
	char *page = map(NULL, &small, RX);
	unsigned int i, wrong = 0;

	for (i = 0; i < 500; i++) {
		map(page, i & 1 ? &small : &large, RX);
		wrong += !right(page);
	}
	is(!wrong, "two libraries mapped 500 times at one address: each stack is right");
	munmap(page, 4096);
}

/* A child and its parent have different code at one address. */
static void forks(void)
{
	char *page = map(NULL, &small, RX);
	int ends[2], status;
	char byte;

	if (pipe(ends))
		exit(2);
	if (!fork()) {
		is(right(page), "fork: the child's stack through the parent's code is right");
		map(page, &large, RX);
		is(right(page), "fork: the child maps other code: its table is used");
		if (write(ends[1], "", 1) != 1)
			exit(2);
		if (!fork()) {
			is(right(page), "fork: the grandchild's stack through the child's code is right");
			exit(failed);
		}
		wait(&status);
		exit(failed || status);
	}
	if (read(ends[0], &byte, 1) != 1)
		exit(2);
	is(right(page), "fork: after the child's mmap the parent's table is unchanged");
	wait(&status);
	is(!status, "fork: child and grandchild exit with status 0");
	munmap(page, 4096);
}

/*
 * Some programs move their text to anonymous huge pages, for fewer TLB misses.
 * The bytes are the same, but the kernel does not know this. Therefore the
 * file's table must not be used for them: the stack ends there, or is right
 * because the walk read the code.
 */
#define HUGE	(2UL << 20)

static void remapped(void)
{
	char *area = mmap(NULL, 3 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *page = (char *)(((unsigned long)area + HUGE - 1) & ~(HUGE - 1));
	char *anonymous = page + HUGE;
	__u64 innermost[2];

	map(page, &small, RX);
	is(right(page), "text on huge pages: the stack before the move is right");
	innermost[0] = addresses[0];
	innermost[1] = addresses[1];
	if (mmap(anonymous, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		exit(2);
	madvise(anonymous, HUGE, MADV_HUGEPAGE);
	memcpy(anonymous, page, 4096);
	mprotect(anonymous, HUGE, RX);
	if (mremap(anonymous, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, page) != page)
		exit(2);
	is(right(page) || (stack.reason != KUNWIND_COMPLETE && stack.count >= 2 &&
			   addresses[0] == innermost[0] && addresses[1] == innermost[1]),
	   "text on huge pages: the file's table is not used");
	map(page, &large, RX);
	is(right(page), "text on huge pages: another file mapped over them has its table");
	munmap(area, 3 * HUGE);
}

/* A thread maps one library over the other while its sibling forks. */
static char *contested;
static volatile bool over;

static void *remaps(void *data)
{
	unsigned int i;

	(void)data;
	for (i = 0; !over; i++)
		map(contested, i & 1 ? &small : &large, RX);
	return NULL;
}

static void siblings(void)
{
	unsigned int i, wrong = 0;
	pthread_t thread;
	int status;

	contested = map(NULL, &small, RX);
	if (pthread_create(&thread, NULL, remaps, NULL))
		exit(2);
	for (i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(!right(contested));
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			exit(2);
		wrong += status != 0;
	}
	over = true;
	pthread_join(thread, NULL);
	if (wrong)
		printf("# %u of 200 children\n", wrong);
	is(!wrong, "a sibling thread maps code during fork: the stacks of 200 children are right");
	munmap(contested, 4096);
}

/* Damaged ELF files are mapped and called. Other objects still work. */
static void hostile(const char *directory)
{
	static const struct {
		const char *what;
		off_t cut;		/* length of the file; 0: not truncated */
		off_t at;		/* eight bytes at this offset are set ... */
		unsigned char with;	/* ... to this value; none if @at is -1 */
	} table[] = {
		{ "ELF file without magic number", 0, 0, 0 },
		{ "ELF file truncated after its text", 0x2000, -1, 0 },
		{ "ELF file with program headers far away", 0, 32, 0x7f },
		{ "ELF file with section headers far away", 0, 40, 0x7f },
		{ "ELF file with a first program header of ones", 0, 64, 0xff },
		{ "ELF file with segment sizes of ones", 0, 64 + 32, 0xff },
	};
	unsigned int i;
	char path[512], *page, *good = map(NULL, &large, RX);
	static char image[1 << 16];
	ssize_t size = pread(small.fd, image, sizeof(image), 0);

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct library bad = small;
		char what[128];

		snprintf(path, sizeof(path), "%s/hostile-%u", directory, i);
		bad.fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (bad.fd < 0 || write(bad.fd, image, size) != size)
			exit(2);
		if (table[i].cut && ftruncate(bad.fd, table[i].cut))
			exit(2);
		if (table[i].at >= 0) {
			unsigned char bytes[8];

			memset(bytes, table[i].with, sizeof(bytes));
			if (pwrite(bad.fd, bytes, sizeof(bytes), table[i].at) != sizeof(bytes))
				exit(2);
		}
		close(bad.fd);
		bad.fd = open(path, O_RDONLY);
		page = map(NULL, &bad, RX);
		((int (*)(int (*)(void)))page)(back);
		/* A table that is still found may be used. */
		snprintf(what, sizeof(what), "%s: complete, or no table", table[i].what);
		is(stack.reason == KUNWIND_COMPLETE || stack.reason == KUNWIND_NO_TABLE, what);
		is(right(good), "a good object beside a damaged one: its table is used");
		munmap(page, 4096);
		unlink(path);
		close(bad.fd);
	}
	munmap(good, 4096);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	enroll(KUNWIND_REGISTER_CHILDREN);
	small = library_open(argv[1], "small.so");
	large = library_open(argv[1], "large.so");
	moves();
	many();
	forks();
	remapped();
	siblings();
	hostile(argv[2]);
	return failed;
}
