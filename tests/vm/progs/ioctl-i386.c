// SPDX-License-Identifier: MIT
/*
 * ioctl-i386.c - a 32-bit program takes its own stack by ioctl
 *
 * It registers itself. The innermost function of a known chain takes the stack
 * by libc's ioctl() (through the vDSO) and by int $0x80, each time with the
 * registers at kernel entry and with registers of its own. The addresses must
 * include all return addresses of the chain, in order. With the argument
 * "stock" the program only calls getppid().
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kunwind.h"

#define NOINLINE __attribute__((noinline, noclone))
#define DEPTH	12

static int device;
static void *chain[DEPTH + 1];
static int failed;

static int by_int80(int fd, unsigned long request, void *arg)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(SYS_ioctl), "b"(fd), "c"(request), "d"(arg)
			 : "memory");
	return ret;
}

static void check(const char *what, const struct kunwind_callstack *call, const __u64 *stack, int ret)
{
	unsigned int i, n = 0;

	for (i = 0; !ret && i < call->count; i++)
		if (n <= DEPTH && stack[i] == (unsigned long)chain[DEPTH - n])
			n++;
	if (ret || n != DEPTH + 1 || call->reason != KUNWIND_COMPLETE) {
		fprintf(stderr, "%s: ret %d, reason %u, %u addresses, %u of the chain\n", what, ret,
			call->reason, call->count, n);
		for (i = 0; !ret && i < call->count; i++)
			fprintf(stderr, "  %llx\n", (unsigned long long)stack[i]);
		failed = 1;
	}
}

static NOINLINE void ask(bool int80, bool regs)
{
	static __u64 stack[64];
	__u64 own[17] = { 0 };
	struct kunwind_callstack call = {
		.size = sizeof(call), .addresses = (unsigned long)stack, .capacity = 64,
	};
	int ret;

	if (regs) {
		__asm__ volatile("mov %%ebp, %0\n\tmov %%esp, %1\n\tcall 1f\n1:\tpop %%ecx\n\tmov %%ecx, %2"
				 : "=m"(own[6]), "=m"(own[7]), "=m"(own[16])::"ecx", "memory");
		call.flags = KUNWIND_HAVE_REGS;
		call.valid_regs = 1U << 6 | 1U << 7 | 1U << 16;
		call.regs = (unsigned long)own;
	}
	ret = int80 ? by_int80(device, KUNWIND_IOC_CALLSTACK, &call) :
		      ioctl(device, KUNWIND_IOC_CALLSTACK, &call);
	check(int80 ? regs ? "int80, regs" : "int80" : regs ? "vdso, regs" : "vdso", &call, stack, ret);
}

static NOINLINE int down(int n)
{
	char array[16 + n];

	chain[DEPTH - n] = __builtin_return_address(0);
	memset(array, n, sizeof(array));
	if (n) {
		n = down(n - 1);
	} else {
		ask(false, false);
		ask(true, false);
		ask(false, true);
		ask(true, true);
	}
	__asm__ volatile("" ::"m"(array) : "memory");
	return n + 1;
}

int main(int argc, char **argv)
{
	struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };

	if (argc > 1 && !strcmp(argv[1], "stock"))
		return syscall(SYS_getppid) < 0;
	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &process)) {
		perror(KUNWIND_DEVICE);
		return 1;
	}
	down(DEPTH);
	return failed;
}
