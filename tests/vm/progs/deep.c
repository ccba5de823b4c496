// SPDX-License-Identifier: MIT
/*
 * deep.c - make system calls from many frames, and write down the right stack
 *
 * deep FRAMES CALLS FILE: main() calls a chain of FRAMES functions, of three
 * kinds with frames of different sizes, which record their return addresses.
 * The innermost one calls getppid(2) CALLS times. FILE gets the return
 * addresses, innermost first: the right call stack after the program counter.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define MOST	16384

static void *noted[MOST];
static int frames, calls, seed;

#define NOTE(n)	(noted[n] = __builtin_extract_return_addr(__builtin_return_address(0)))

/*
 * All registers and flags are the same at each system call, so kunwind can
 * distinguish two calls only by its probe of sys_enter.
 */
static __attribute__((noinline)) int bottom(int n)
{
	volatile int left = calls;
	long result;

	NOTE(n);
	__asm__ volatile("1:	xorl %%eax, %%eax\n"
			 "	movl %2, %%eax\n"
			 "	syscall\n"
			 "	decl %1\n"
			 "	jnz 1b\n"
			 : "=&a"(result), "+m"(left) : "i"(SYS_getppid)
			 : "rcx", "r11", "memory", "cc");
	return (int)result & 1;
}

static int small(int n);

static __attribute__((noinline)) int large(int n)
{
	volatile char room[200];

	room[n % 200] = (char)n;
	NOTE(n);
	return (n + 1 < frames ? small(n + 1) : bottom(n + 1)) + room[n % 200];
}

/* A frame of run-time size needs a frame pointer or another register. */
static __attribute__((noinline)) int sized(int n)
{
	volatile char *room = __builtin_alloca((size_t)(n & 15) + (size_t)seed);

	room[0] = (char)n;
	NOTE(n);
	return (n + 1 < frames ? large(n + 1) : bottom(n + 1)) + room[0];
}

static __attribute__((noinline)) int small(int n)
{
	NOTE(n);
	return (n + 1 < frames ? sized(n + 1) : bottom(n + 1)) + 1;
}

int main(int argc, char **argv)
{
	FILE *file;
	int n, sum;

	if (argc != 4)
		errx(1, "usage: deep FRAMES CALLS FILE");
	frames = atoi(argv[1]) - 1;	/* bottom() is one of them */
	calls = atoi(argv[2]);
	if (frames < 1 || frames >= MOST)
		errx(1, "frames: 2 to %d", MOST);
	seed = argc * 4;
	sum = small(0);
	file = fopen(argv[3], "w");
	if (!file)
		err(1, "%s", argv[3]);
	for (n = frames; n >= 0; n--)
		fprintf(file, "%lx\n", (unsigned long)noted[n]);
	return fclose(file) || sum == -1;
}
