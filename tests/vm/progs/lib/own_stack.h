/* SPDX-License-Identifier: MIT */
/*
 * own_stack.h - for programs that register themselves, and take stacks of their
 * own through code that they have mapped
 */
#ifndef OWN_STACK_H
#define OWN_STACK_H

#include <err.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "../../../../kmod/uapi/kunwind.h"

static int device;
static struct kunwind_callstack stack;	/* the last one */
static __u64 addresses[64];		/* of it */

static void enroll(unsigned int flags)
{
	struct kunwind_process self = { .size = sizeof(self), .mem_fd = -1, .flags = flags };

	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &self))
		err(2, KUNWIND_DEVICE);
}

/* The mapped code calls this. */
static int back(void)
{
	stack.size = sizeof(stack);
	stack.addresses = (unsigned long)addresses;
	stack.capacity = 64;
	if (ioctl(device, KUNWIND_IOC_CALLSTACK, &stack))
		err(2, "KUNWIND_IOC_CALLSTACK");
	return 0;
}

#endif /* OWN_STACK_H */
