// SPDX-License-Identifier: MIT
/*
 * follow.c - code that comes and goes in the address space of a registered process
 *
 *	follow DIRECTORY	that has small.so and large.so
 *
 * small.so and large.so have one function at the same place whose frames differ
 * in size: with the table of the one a stack through the other goes astray. The
 * function is put at an address in every way there is, and called at once; it
 * calls back here, where the stack must be complete and lead through it.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../../kmod/uapi/kunwind.h"

static int device, failed;
static struct kunwind_callstack stack;
static __u64 addresses[64];

/* A library: its file, and where in it its text is (one page; its function comes first). */
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

static int back(void)
{
	stack.size = sizeof(stack);
	stack.addresses = (unsigned long)addresses;
	stack.capacity = 64;
	if (ioctl(device, KUNWIND_IOC_CALLSTACK, &stack)) {
		perror("KUNWIND_IOC_CALLSTACK");
		exit(2);
	}
	return 0;
}

/* The stack that a call of the function in @page gives is as it should be. */
static bool __attribute__((noinline)) right(char *page)
{
	volatile unsigned long frame[100];	/* a table of too large a frame finds it */
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
	is(right(a), "mmap");
	b = map(NULL, &large, RX);
	is(right(b), "mmap of another");
	map(a, &large, RX);
	is(right(a), "mmap over it");
	map(a, &small, RX);
	is(right(a), "and back");
	mremap(b, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, a);
	is(right(a), "mremap over it");
	c = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mremap(a, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, c);
	is(right(c), "mremap elsewhere");
	d = map(NULL, &small, PROT_READ);
	mprotect(d, 4096, RX);
	is(right(d), "mprotect to executable");
	mprotect(d, 4096, PROT_NONE);
	mprotect(d, 4096, RX);
	is(right(d), "mprotect to and fro");
	munmap(d, 4096);
	map(d, &large, RX);
	is(right(d), "munmap, and another there");
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
	is(!wrong, "500 times one after another at one address");
	munmap(page, 4096);
}

/* A child and its parent have something else at one address. */
static void forks(void)
{
	char *page = map(NULL, &small, RX);
	int ends[2], status;
	char byte;

	if (pipe(ends))
		exit(2);
	if (!fork()) {
		is(right(page), "child: as the parent");
		map(page, &large, RX);
		is(right(page), "child: another over it");
		if (write(ends[1], "", 1) != 1)
			exit(2);
		if (!fork()) {
			is(right(page), "grandchild: as the child");
			exit(failed);
		}
		wait(&status);
		exit(failed || status);
	}
	if (read(ends[0], &byte, 1) != 1)
		exit(2);
	is(right(page), "parent: as before the child's change");
	wait(&status);
	is(!status, "child and grandchild ended well");
	munmap(page, 4096);
}

/*
 * Text moved to anonymous huge pages, as programs do that want fewer misses of
 * the TLB: the bytes are the same, but the kernel cannot know that. So the table
 * of the file is not used for them, and what is found ends there, or is found by
 * other means and right.
 */
#define HUGE	(2UL << 20)

static void remapped(void)
{
	char *area = mmap(NULL, 3 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *page = (char *)(((unsigned long)area + HUGE - 1) & ~(HUGE - 1));
	char *anonymous = page + HUGE;
	__u64 innermost[2];

	map(page, &small, RX);
	is(right(page), "text before it is remapped");
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
	   "text remapped to anonymous huge pages: no table of what was there");
	map(page, &large, RX);
	is(right(page), "another file's text over the huge pages");
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
	is(!wrong, "a sibling thread maps during fork: 200 children, each with what it got");
	munmap(contested, 4096);
}

/* Files that are no good as ELF, mapped and run; what is good goes on working. */
static void hostile(const char *directory)
{
	static const struct {
		const char *what;
		off_t cut;		/* length of the file; 0: as it is */
		off_t at;		/* bytes overwritten there ... */
		unsigned char with;	/* ... by eight of these; none at -1 */
	} table[] = {
		{ "no magic number", 0, 0, 0 },
		{ "cut behind its text", 0x2000, -1, 0 },
		{ "program headers far away", 0, 32, 0x7f },
		{ "section headers far away", 0, 40, 0x7f },
		{ "first program header all ones", 0, 64, 0xff },
		{ "sizes of a segment all ones", 0, 64 + 32, 0xff },
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
		/* What still can be found may be used; nothing else may. */
		snprintf(what, sizeof(what), "%s: complete, or no table", table[i].what);
		is(stack.reason == KUNWIND_COMPLETE || stack.reason == KUNWIND_NO_TABLE, what);
		is(right(good), "another object beside it");
		munmap(page, 4096);
		unlink(path);
		close(bad.fd);
	}
	munmap(good, 4096);
}

int main(int argc, char **argv)
{
	struct kunwind_process self = {
		.size = sizeof(self), .mem_fd = -1, .flags = KUNWIND_REGISTER_CHILDREN,
	};

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &self)) {
		perror(KUNWIND_DEVICE);
		return 2;
	}
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
