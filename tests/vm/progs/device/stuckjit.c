// SPDX-License-Identifier: MIT
/*
 * stuckjit.c - add unwind information from memory that can never be read
 *
 *	stuckjit MEGABYTES
 *
 * Page faults of the memory go to a userfaultfd and get no answer, so the call
 * does not return. Prints "ready" before the call.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../../kmod/uapi/kunwind.h"

static void die(const char *what)
{
	perror(what);
	exit(2);
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? (size_t)atoi(argv[1]) << 20 : 0;
	struct kunwind_process self = { .size = sizeof(self), .mem_fd = -1 };
	struct kunwind_jit jit = { .size = sizeof(jit), .len = 4096, .eh_frame_len = size };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *code, *memory;

	if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &self))
		die(KUNWIND_DEVICE);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		die("userfaultfd");
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || memory == MAP_FAILED)
		die("mmap");
	reg.range.start = (unsigned long)memory;
	reg.range.len = size;
	if (ioctl(uffd, UFFDIO_REGISTER, &reg))
		die("UFFDIO_REGISTER");
	jit.start = (unsigned long)code;
	jit.eh_frame = (unsigned long)memory;
	puts("ready");
	fflush(stdout);
	ioctl(device, KUNWIND_IOC_JIT_ADD, &jit);
	die("KUNWIND_IOC_JIT_ADD");
}
