// SPDX-License-Identifier: MIT
/*
 * parts.c - measure how long mmap() of a big object takes, and when its code
 * can be walked
 *
 *	parts FILE
 *		maps FILE's code, and takes stacks until all places are ready
 *
 * The stacks are forged: program counters at places all over the code, and a
 * stack of words that are not code. If a walk has the rule of a place, the
 * stack ends with any reason except KUNWIND_NOT_READY. The program starts with
 * the last place, whose part the builder would build last. Prints one line
 * "STALL FIRST ALL MISSES": the time of mmap(), the times from before mmap()
 * until the first place and until all places are ready, in microseconds; the
 * number of walks without a table.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../../../kmod/uapi/kunwind.h"

#define PLACES	256

static int device;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The largest executable segment. */
static Elf64_Phdr text_of(int fd)
{
	Elf64_Phdr phdr, text = { 0 };
	Elf64_Ehdr ehdr;
	int i;

	if (pread(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr))
		die("read");
	for (i = 0; i < ehdr.e_phnum; i++) {
		if (pread(fd, &phdr, sizeof(phdr), ehdr.e_phoff + i * sizeof(phdr)) != sizeof(phdr))
			die("read");
		if (phdr.p_type == PT_LOAD && (phdr.p_flags & PF_X) && phdr.p_filesz > text.p_filesz)
			text = phdr;
	}
	if (!text.p_filesz)
		exit(2);
	return text;
}

static unsigned int reason_at(unsigned long ip)
{
	static __u64 words[512];
	__u64 regs[17], addresses[2];
	struct kunwind_callstack stack = {
		.size = sizeof(stack), .flags = KUNWIND_HAVE_REGS, .capacity = 2,
		.addresses = (unsigned long)addresses, .regs = (unsigned long)regs,
		.valid_regs = (1U << 17) - 1,
	};
	int i;

	for (i = 0; i < 17; i++)
		regs[i] = (unsigned long)&words[256];
	regs[16] = ip;
	if (ioctl(device, KUNWIND_IOC_CALLSTACK, &stack))
		die("KUNWIND_IOC_CALLSTACK");
	return stack.reason;
}

int main(int argc, char **argv)
{
	struct kunwind_process self = { .size = sizeof(self), .mem_fd = -1 };
	int fd = open(argc == 2 ? argv[1] : "", O_RDONLY | O_CLOEXEC), i;
	long begin, stall, first = 0, misses = 0;
	unsigned long start, page = 4095;
	Elf64_Phdr text;
	char *code;

	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0 || device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &self))
		die(argv[0]);
	text = text_of(fd);
	begin = now();
	code = mmap(NULL, text.p_filesz, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    text.p_offset & ~page);
	stall = now() - begin;
	if (code == MAP_FAILED)
		die("mmap");
	start = (unsigned long)code + (text.p_offset & page);
	for (i = PLACES - 1; i >= 0; i--) {
		while (reason_at(start + text.p_filesz / PLACES * i) == KUNWIND_NOT_READY) {
			if (now() - begin > 60000000)
				exit(1);
			misses++;
		}
		if (!first)
			first = now() - begin;
	}
	printf("%ld %ld %ld %ld\n", stall, first, now() - begin, misses);
	return 0;
}
