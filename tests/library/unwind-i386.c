/* SPDX-License-Identifier: MIT */
/*
 * unwind-i386.c - a 32-bit program without libc, for unwind-reader-test: each function notes
 * its return address; the last one stops the process, with the array in esi and their number
 * in edi
 */
static unsigned int truth[64], nr;

static void __attribute__((__noinline__)) stop(void)
{
	unsigned int pid;

	truth[nr++] = (unsigned int)__builtin_return_address(0);
	__asm__ __volatile__("int $0x80" : "=a"(pid) : "a"(20));		/* getpid */
	/* kill, SIGSTOP */
	__asm__ __volatile__("int $0x80" : : "a"(37), "b"(pid), "c"(19), "S"(truth), "D"(nr));
}

static void __attribute__((__noinline__)) deeper(int depth)
{
	truth[nr++] = (unsigned int)__builtin_return_address(0);
	if (depth > 1)
		deeper(depth - 1);
	else
		stop();
	__asm__ __volatile__("" : : : "memory");
}

void _start(void);
void _start(void)
{
	__asm__ __volatile__(".cfi_undefined eip");
	deeper(20);
	__asm__ __volatile__("int $0x80" : : "a"(1), "b"(0));	/* exit */
}
