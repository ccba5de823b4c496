// SPDX-License-Identifier: MIT
/*
 * moved.c - mremap() moves code to an address for which the process had added
 * unwind information for other code
 *
 * The code is in anonymous memory: one function, which fills its frame with an
 * address inside itself and calls back. The program adds unwind information for
 * it. Then mremap() moves other code, with a frame of another size, to the same
 * address. With the old table, the stack would have the function twice.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/own_stack.h"

#define PAGE	4096UL
#define RWX	(PROT_READ | PROT_WRITE | PROT_EXEC)
#define SMALL	40
#define LARGE	400

static int failed;

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static char *memory(void *where, size_t size)
{
	char *p = mmap(where, size, RWX, MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0),
		       -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

/* Writes the function, with a frame of @frame bytes, to the start of @page. */
static void write_code(char *page, int frame)
{
	static const unsigned char code[] = {
		0x48, 0x89, 0xfa,			/*  0 mov %rdi,%rdx */
		0x48, 0x81, 0xec, 0, 0, 0, 0,		/*  3 sub $frame,%rsp */
		0x48, 0x89, 0xe7,			/* 10 mov %rsp,%rdi */
		0xb9, 0, 0, 0, 0,			/* 13 mov $frame/8,%ecx */
		0x48, 0x8d, 0x05, 0, 0, 0, 0,		/* 18 lea 0(%rip),%rax */
		0xf3, 0x48, 0xab,			/* 25 rep stos %rax,(%rdi) */
		0xff, 0xd2,				/* 28 call *%rdx */
		0x48, 0x81, 0xc4, 0, 0, 0, 0,		/* 30 add $frame,%rsp */
		0xc3,					/* 37 ret */
	};
	int words = frame / 8;

	memcpy(page, code, sizeof(code));
	memcpy(page + 6, &frame, 4);
	memcpy(page + 14, &words, 4);
	memcpy(page + 33, &frame, 4);
}

/* Adds unwind information for a frame of @frame bytes, from the sub on. */
static void hand_in(char *page, int frame)
{
	static unsigned char eh_frame[64] = {
		20, 0, 0, 0,  0, 0, 0, 0,		/* CIE */
		1, 'z', 'R', 0, 1, 0x78, 16, 1, 0,	/* version, -8, RA 16, absolute */
		0x0c, 7, 8, 0x90, 1, 0, 0,		/* CFA rsp+8, RA at CFA-8 */
		28, 0, 0, 0,  28, 0, 0, 0,		/* FDE, its CIE */
		0, 0, 0, 0, 0, 0, 0, 0,			/* 32: from */
		0, 0, 0, 0, 0, 0, 0, 0,			/* 40: length */
		0, 0x4a, 0x0e, 0, 0, 0, 0, 0,		/* 48: at 10: CFA offset */
		0, 0, 0, 0,				/* end */
	};
	struct kunwind_jit jit = {
		.size = sizeof(jit), .start = (unsigned long)page, .len = PAGE,
		.eh_frame = (unsigned long)eh_frame, .eh_frame_len = 60,
	};
	__u64 from = (unsigned long)page, length = 38;
	int cfa = frame + 8;

	memcpy(eh_frame + 32, &from, 8);
	memcpy(eh_frame + 40, &length, 8);
	eh_frame[51] = (cfa & 0x7f) | 0x80;
	eh_frame[52] = cfa >> 7;
	if (ioctl(device, KUNWIND_IOC_JIT_ADD, &jit))
		fail("KUNWIND_IOC_JIT_ADD");
}

/* Calls the function in @page. Returns how often the stack has it. */
static unsigned int __attribute__((noinline)) through(char *page)
{
	volatile unsigned long frame[2 * LARGE / sizeof(long)];
	int (*called)(int (*)(void)) = (void *)page;
	unsigned int i, n = 0;

	/* A table for a larger frame reads these. */
	for (i = 0; i < sizeof(frame) / sizeof(frame[0]); i++)
		frame[i] = (unsigned long)page + 1;
	called(back);
	for (i = 0; i < stack.count; i++)
		n += addresses[i] - (unsigned long)page < PAGE;
	return n + 0 * (unsigned int)frame[0];
}

static void is(bool good, const char *what)
{
	unsigned int i;

	printf("%s - %s\n", good ? "ok" : "not ok", what);
	if (good)
		return;
	failed = 1;
	printf("# reason %u, %u addresses:", stack.reason, stack.count);
	for (i = 0; i < stack.count; i++)
		printf(" %llx", addresses[i]);
	printf("\n");
}

/* Writes code with a small frame to @page, and adds its unwind information. */
static void small(char *page, const char *what)
{
	char text[128];

	write_code(page, SMALL);
	hand_in(page, SMALL);
	snprintf(text, sizeof(text), "%s: the table is used for its own code", what);
	is(through(page) == 1 && stack.reason == KUNWIND_COMPLETE, text);
}

static void fixed(void)
{
	char *page = memory(NULL, PAGE), *other = memory(NULL, PAGE);

	small(page, "mremap to a fixed address");
	write_code(other, LARGE);
	if (mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page) != page)
		fail("mremap");
	is(through(page) == 1, "mremap to a fixed address: the old table is not used");
	munmap(page, PAGE);
}

static void grown(void)
{
	char *source = memory(NULL, 2 * PAGE), *page = source + PAGE;

	small(page, "mremap grows in place");
	munmap(page, PAGE);
	if (mremap(source, PAGE, 2 * PAGE, 0) != source)
		fail("mremap");
	write_code(page, LARGE);
	is(through(page) == 1, "mremap grows in place: the old table is not used");
	munmap(source, 2 * PAGE);
}

/* The part from before the growth keeps its table. */
static void kept(void)
{
	char *source = memory(NULL, 2 * PAGE);

	small(source, "mremap grows in place, code before it");
	munmap(source + PAGE, PAGE);
	if (mremap(source, PAGE, 2 * PAGE, 0) != source)
		fail("mremap");
	is(through(source) == 1 && stack.reason == KUNWIND_COMPLETE,
	   "mremap grows in place: code before it keeps its table");
	munmap(source, 2 * PAGE);
}

/* The kernel chooses the highest gap of sufficient size: the one freed last. */
static void chosen(void)
{
	unsigned int tries = 0;
	char *source, *page, *to;

	do {
		source = memory(NULL, 3 * PAGE);
		munmap(source, PAGE);		/* no neighbours */
		source += PAGE;
		memory(source + PAGE, PAGE);
		mprotect(source + PAGE, PAGE, PROT_NONE);
		write_code(source, LARGE);
		page = memory(NULL, 2 * PAGE);
		small(page, "mremap to where the kernel chooses");
		munmap(page, 2 * PAGE);
		to = mremap(source, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
		if (to == MAP_FAILED)
			fail("mremap");
	} while (to != page && ++tries < 20);
	is(to == page, "mremap to where the kernel chooses: it is the address that was freed");
	is(through(to) == 1,
	   "mremap to where the kernel chooses: the old table is not used");
}

/* mremap() fails: the destination's table is removed or still right. */
static void failing(void)
{
	char *page = memory(NULL, PAGE), *other = memory(NULL, PAGE);

	small(page, "mremap that fails");
	munmap(other, PAGE);
	if (mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page) != MAP_FAILED)
		fail("mremap");
	is(through(page) == 1, "mremap that fails: stacks through the destination are right");
	hand_in(page, SMALL);
	is(through(page) == 1 && stack.reason == KUNWIND_COMPLETE,
	   "mremap that fails: unwind information can be added again");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	enroll(0);
	fixed();
	grown();
	kept();
	chosen();
	failing();
	return failed;
}
