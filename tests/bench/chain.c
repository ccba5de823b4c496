// SPDX-License-Identifier: MIT
/*
 * chain.c - count the kernel's walk of a known stack
 *
 * chain DEPTH [register]: calls DEPTH functions with different frames, then
 * reads /dev/kunwind-bench. Prints: addresses found, instructions of the first
 * call (cold) and of the last (warm). "register": with kunwind, otherwise with
 * the kernel's own walk. Built three times: chain-fp has frame pointers; chain
 * has none; chain-saved has none, and one function has its CFA in r15 (as in
 * libcrypto's assembler), so that the object's table follows r15, which every
 * function saves.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../kmod/uapi/kunwind.h"

#define ROUNDS	8
#define MOST	1024

static uint64_t result[1 + ROUNDS + MOST];
static int bench;

#ifdef SAVED
#define USE_SAVED()	__asm__ __volatile__("" : : : "rbx", "r14", "r15")
__asm__(".text\n"
	"by_r15:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa %r15, 16\n"
	"	ret\n"
	"	.cfi_endproc\n");
#else
#define USE_SAVED()	do { } while (0)
#endif

typedef int chain_fn(int left);
static chain_fn *const chain[16];

static int next(int left)
{
	if (!left)
		return read(bench, result, sizeof(result)) != sizeof(result);
	return chain[left % 16](left - 1) + 1 - 1;
}

#define LINK(n)									\
static __attribute__((noinline)) int link##n(int left)				\
{										\
	volatile char room[8 + n * 24];						\
	int ret;								\
										\
	USE_SAVED();								\
	room[0] = left;								\
	ret = left ? chain[left % 16](left - 1) : next(0);			\
	return ret + room[0] - (char)left;					\
}
LINK(0) LINK(1) LINK(2) LINK(3) LINK(4) LINK(5) LINK(6) LINK(7)
LINK(8) LINK(9) LINK(10) LINK(11) LINK(12) LINK(13) LINK(14) LINK(15)

static chain_fn *const chain[16] = {
	link0, link1, link2, link3, link4, link5, link6, link7,
	link8, link9, link10, link11, link12, link13, link14, link15,
};

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 20;

	bench = open("/dev/kunwind-bench", O_RDONLY);
	if (bench < 0)
		err(1, "/dev/kunwind-bench");
	if (argc > 2) {
		struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };
		int fd = open(KUNWIND_DEVICE, O_RDWR);

		if (fd < 0 || ioctl(fd, KUNWIND_IOC_REGISTER, &process))
			err(1, KUNWIND_DEVICE);
	}
	if (next(depth))
		errx(1, "bench failed");
	printf("%lu %lu %lu\n", (unsigned long)result[0], (unsigned long)result[1],
	       (unsigned long)result[ROUNDS]);
	return 0;
}
