// SPDX-License-Identifier: MIT
/*
 * kunwind.c - libkunwind's functions, as <kunwind.h> describes them
 *
 * Each function fills in one structure of the ABI, on the stack, and makes one
 * ioctl. Nothing is allocated. kunwind_callstack() is in capture.S: it stores
 * the caller's registers and calls kunwind_callstack_captured().
 * kunwind_reason_name() and kunwind_trust_name() are in kmod/core/names.c.
 */
#include <errno.h>
#include <stddef.h>
#include <kunwind.h>

#include "device.h"

#define EXPORT	__attribute__((__visibility__("default")))
#define HIDDEN	__attribute__((__visibility__("hidden")))

HIDDEN int kunwind_callstack_captured(uint64_t *addresses, unsigned int capacity,
				      unsigned int *reason, const uint64_t regs[17]);

EXPORT int kunwind_register_fd(int mem_fd, unsigned int flags,
			       unsigned int *nr_maps, unsigned int *nr_ready)
{
	struct kunwind_process process = {
		.size = sizeof(process),
		.flags = flags,
		.mem_fd = mem_fd,
	};
	int ret = kunwind_device_once(KUNWIND_IOC_REGISTER, &process);

	if (!ret && nr_maps)
		*nr_maps = process.nr_maps;
	if (!ret && nr_ready)
		*nr_ready = process.nr_ready;
	return ret;
}

EXPORT int kunwind_register_self(unsigned int flags)
{
	return kunwind_register_fd(-1, flags, NULL, NULL);
}

EXPORT int kunwind_register_pid(pid_t pid, unsigned int flags)
{
	int fd = kunwind_device_open_mem(pid), ret;

	if (fd < 0)
		return fd;
	ret = kunwind_register_fd(fd, flags, NULL, NULL);
	kunwind_device_close(fd);
	return ret;
}

static int unregister(int mem_fd)
{
	struct kunwind_process process = {
		.size = sizeof(process),
		.mem_fd = mem_fd,
	};

	return kunwind_device_once(KUNWIND_IOC_UNREGISTER, &process);
}

EXPORT int kunwind_unregister_self(void)
{
	return unregister(-1);
}

EXPORT int kunwind_unregister_pid(pid_t pid)
{
	int fd = kunwind_device_open_mem(pid), ret;

	if (fd < 0)
		return fd;
	ret = unregister(fd);
	kunwind_device_close(fd);
	return ret;
}

EXPORT int kunwind_system_wide(int on)
{
	struct kunwind_system_wide request = {
		.size = sizeof(request),
		.flags = on ? KUNWIND_SYSTEM_WIDE_ON : 0,
	};

	return kunwind_device_once(KUNWIND_IOC_SYSTEM_WIDE, &request);
}

EXPORT int kunwind_callstack_trust(uint64_t *addresses, uint8_t *trust, unsigned int capacity,
				   unsigned int *reason, const uint64_t regs[17],
				   unsigned int valid)
{
	struct kunwind_callstack stack = {
		.size = sizeof(stack),
		.flags = KUNWIND_HAVE_REGS,
		.addresses = (uintptr_t)addresses,
		.trust = (uintptr_t)trust,
		.capacity = capacity,
		.valid_regs = valid,
		.regs = (uintptr_t)regs,
	};
	int ret = kunwind_device_kept(KUNWIND_IOC_CALLSTACK, &stack);

	if (ret)
		return ret;
	if (reason)
		*reason = stack.reason;
	return (int)stack.count;
}

EXPORT int kunwind_callstack_regs(uint64_t *addresses, unsigned int capacity, unsigned int *reason,
				  const uint64_t regs[17], unsigned int valid)
{
	return kunwind_callstack_trust(addresses, NULL, capacity, reason, regs, valid);
}

/* capture.S knows the registers that a call preserves, and rip. */
HIDDEN int kunwind_callstack_captured(uint64_t *addresses, unsigned int capacity,
				      unsigned int *reason, const uint64_t regs[17])
{
	return kunwind_callstack_regs(addresses, capacity, reason, regs,
				      1U << 3 | 1U << 6 | 1U << 7 | 0xfU << 12 | 1U << 16);
}

EXPORT int kunwind_thread(int mem_fd, unsigned int timeout_ms, void *stack, unsigned int stack_len,
			  struct kunwind_thread_stack *thread)
{
	*thread = (struct kunwind_thread_stack){
		.size = sizeof(*thread),
		.mem_fd = mem_fd,
		.timeout_ms = timeout_ms,
		.stack = (uintptr_t)stack,
		.stack_len = stack_len,
	};
	return kunwind_device_kept(KUNWIND_IOC_THREAD, thread);
}

EXPORT int kunwind_jit_register(const void *code, size_t len, const void *eh_frame,
				size_t eh_frame_len, unsigned int *build_error)
{
	struct kunwind_jit jit = {
		.size = sizeof(jit),
		.start = (uintptr_t)code,
		.len = len,
		.eh_frame = (uintptr_t)eh_frame,
		.eh_frame_len = eh_frame_len,
	};
	int ret = kunwind_device_once(KUNWIND_IOC_JIT_ADD, &jit);

	if (build_error)
		*build_error = jit.build_error;
	return ret ? ret : (int)jit.nr_fdes;
}

EXPORT int kunwind_jit_unregister(const void *code, size_t len)
{
	struct kunwind_jit jit = {
		.size = sizeof(jit),
		.start = (uintptr_t)code,
		.len = len,
	};

	return kunwind_device_once(KUNWIND_IOC_JIT_REMOVE, &jit);
}

EXPORT void kunwind_release(void)
{
	kunwind_device_release();
}

EXPORT int kunwind_stats(struct kunwind_stats *stats)
{
	*stats = (struct kunwind_stats){ .size = sizeof(*stats) };
	return kunwind_device_once(KUNWIND_IOC_STATS, stats);
}

EXPORT int kunwind_info(struct kunwind_info *info)
{
	*info = (struct kunwind_info){ .size = sizeof(*info) };
	return kunwind_device_once(KUNWIND_IOC_INFO, info);
}
