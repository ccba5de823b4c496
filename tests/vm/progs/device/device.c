// SPDX-License-Identifier: MIT
/*
 * device.c - results of the ioctls of /dev/kunwind for right and wrong
 * arguments
 *
 *	device errors
 *		tests each errno of uapi/kunwind.h
 *	device off
 *		tests the errnos with the kill switch on
 *	device exec PROGRAM...
 *		registers itself and execs PROGRAM
 *	device asks
 *		takes a stack: prints its reason, or the errno's name
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../../kmod/uapi/kunwind.h"

static int device;
static int failed;

/* Returns 0 or the errno of a call. */
static int call(unsigned long number, const void *argument)
{
	return ioctl(device, number, argument) ? errno : 0;
}

static void is(int got, int wanted, const char *what)
{
	if (got == wanted) {
		printf("ok - %s\n", what);
		return;
	}
	printf("not ok - %s\n# got %s, wanted %s\n", what, strerror(got), strerror(wanted));
	failed = 1;
}

#define KERNEL_ADDRESS	((void *)0xffffffff81000000UL)

/* Sizes of structures: KUNWIND_IOC_INFO has no other argument. */
static void sizes(void)
{
	static const struct {
		const char *what;
		unsigned int size, set;		/* of the structure; index of a byte set to 1, or 0 */
		int wanted;
	} table[] = {
		{ "structure of size 0", 0, 0, EINVAL },
		{ "structure of half the size", 8, 0, EINVAL },
		{ "structure one byte too short", sizeof(struct kunwind_info) - 1, 0, EINVAL },
		{ "structure of the right size", sizeof(struct kunwind_info), 0, 0 },
		{ "longer structure with zeros at the end", 200, 0, 0 },
		{ "longer structure with a 1 at the end", 200, 199, E2BIG },
		{ "structure longer than a page", 8192, 0, E2BIG },
		{ "structure of 4 GB", ~0U, 0, E2BIG },
	};
	static char buffer[8192];
	unsigned int i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		memset(buffer, 0, sizeof(buffer));
		memcpy(buffer, &table[i].size, sizeof(table[i].size));
		if (table[i].set)
			buffer[table[i].set] = 1;
		is(call(KUNWIND_IOC_INFO, buffer), table[i].wanted, table[i].what);
	}
	memset(buffer, 0, sizeof(buffer));
	buffer[0] = 100;
	is(call(_IOWR(KUNWIND_IOC_MAGIC, 0xe0, char[100]), buffer), 0,
	   "ioctl number with the size of a longer structure");
	is(call(KUNWIND_IOC_INFO, NULL), EFAULT, "structure at address 0");
	is(call(KUNWIND_IOC_INFO, KERNEL_ADDRESS), EFAULT, "structure in kernel memory");
	is(call(_IOWR(KUNWIND_IOC_MAGIC, 0xf0, int), buffer), ENOTTY, "unknown ioctl number");
	is(call(_IOWR('J', 0xe0, int), buffer), ENOTTY, "ioctl number of another driver");
	is(call(_IO(KUNWIND_IOC_MAGIC, 0xe0), buffer), ENOTTY, "ioctl number without a direction");
}

/* The smaller structure of an older version: no more bytes are written. */
static void older(void)
{
	struct {
		struct kunwind_stats stats;
		unsigned char behind[64];
	} now;
	const unsigned int size = offsetof(struct kunwind_stats, missed_limit);
	unsigned char *byte = (unsigned char *)&now + size;
	int same = 1;

	memset(&now, 0, sizeof(now));
	now.stats.size = size;
	memset(byte, 0x5a, sizeof(now) - size);
	is(call(KUNWIND_IOC_STATS, &now), 0, "smaller structure of an older version is accepted");
	for (; byte < (unsigned char *)(&now + 1); byte++)
		same &= *byte == 0x5a;
	is(same, 1, "nothing is written after a smaller structure of an older version");
}

static int process_call(unsigned long number, int fd, unsigned int flags, unsigned int reserved)
{
	struct kunwind_process process = {
		.size = sizeof(process), .mem_fd = fd, .flags = flags, .reserved = reserved,
	};

	return call(number, &process);
}

static int mem_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void processes(void)
{
	const unsigned long reg = KUNWIND_IOC_REGISTER, unreg = KUNWIND_IOC_UNREGISTER;
	static const char *const others[] = { "/proc/self/maps", "/proc/self/environ", "/dev/zero",
					      "/dev/kunwind", "/proc/self/exe", "/" };
	unsigned int i;
	int status, fd;
	pid_t pid;

	is(process_call(unreg, -1, 0, 0), ENOENT, "unregister: a process that is not registered");
	is(process_call(reg, -1, 2, 0), EINVAL, "register: an unknown flag");
	is(process_call(reg, -1, 0, 1), EINVAL, "register: padding that is not 0");
	is(process_call(unreg, -1, KUNWIND_REGISTER_CHILDREN, 0), EINVAL, "unregister: a flag");
	is(process_call(reg, -2, 0, 0), EBADF, "register: descriptor -2");
	is(process_call(reg, 999, 0, 0), EBADF, "register: a descriptor that is not open");
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char what[64];

		snprintf(what, sizeof(what), "register: a descriptor of %s", others[i]);
		fd = open(others[i], O_RDONLY);
		is(process_call(reg, fd, 0, 0), EBADF, what);
		close(fd);
	}
	fd = mem_of(2);
	if (fd >= 0) {
		is(process_call(reg, fd, 0, 0), ESRCH, "register: a kernel thread");
		close(fd);
	}

	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	fd = mem_of(pid);
	is(process_call(reg, fd, 0, 0), 0, "register: a child");
	is(process_call(reg, fd, 0, 0), 0, "register: a child again");
	is(process_call(reg, fd, KUNWIND_REGISTER_CHILDREN, 0), 0, "register: a child, with its children");
	is(process_call(unreg, fd, 0, 0), 0, "unregister: a child");
	is(process_call(unreg, fd, 0, 0), ENOENT, "unregister: a child again");
	is(process_call(reg, fd, 0, 0), 0, "register: a child after unregister");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	is(process_call(reg, fd, 0, 0), ESRCH, "register: a child that has ended");
	is(process_call(unreg, fd, 0, 0), ESRCH, "unregister: a child that has ended");
	close(fd);
}

static void stacks(void)
{
	__u64 addresses[8], regs[17];
	struct kunwind_callstack good = {
		.size = sizeof(good), .addresses = (unsigned long)addresses, .capacity = 8,
	}, bad;
	unsigned int i;

	is(call(KUNWIND_IOC_CALLSTACK, &good), ENOENT, "stack: a process that is not registered");
	is(process_call(KUNWIND_IOC_REGISTER, -1, 0, 0), 0, "stacks: register itself");
	is(call(KUNWIND_IOC_CALLSTACK, &good), 0, "stack: a registered process");
	is(good.count > 2 && good.reason == KUNWIND_COMPLETE, 1, "stack: the reason is complete");
#define STACK(wanted, what, ...) do {						\
	bad = good;								\
	__VA_ARGS__;								\
	is(call(KUNWIND_IOC_CALLSTACK, &bad), wanted, "stack: " what);		\
} while (0)
	STACK(EINVAL, "capacity 0", bad.capacity = 0);
	STACK(EINVAL, "capacity 4097", bad.capacity = KUNWIND_MAX_FRAMES + 1);
	STACK(0, "capacity 1", bad.capacity = 1);
	is(bad.count == 1 && bad.reason == KUNWIND_BUFFER_FULL, 1,
	   "stack: capacity 1 gives the reason buffer_full");
	STACK(EINVAL, "an unknown flag", bad.flags = 2);
	STACK(EFAULT, "a buffer that is not mapped", bad.addresses = 8);
	STACK(EFAULT, "a buffer in the kernel", bad.addresses = (unsigned long)KERNEL_ADDRESS);
	STACK(EINVAL, "registers without rsp and rip", bad.flags = KUNWIND_HAVE_REGS);
	STACK(EINVAL, "an 18th register", bad.flags = KUNWIND_HAVE_REGS;
	      bad.regs = (unsigned long)regs; bad.valid_regs = 0x3ffff);
	STACK(EFAULT, "registers at address 0", bad.flags = KUNWIND_HAVE_REGS; bad.valid_regs = 0x1ffff);
	for (i = 0; i < 17; i++)
		regs[i] = (unsigned long)KERNEL_ADDRESS + 8 * i;
	STACK(0, "registers of the kernel", bad.flags = KUNWIND_HAVE_REGS;
	      bad.regs = (unsigned long)regs; bad.valid_regs = 0x1ffff);
	is(bad.count <= 1 && bad.reason != KUNWIND_COMPLETE, 1, "stack: registers of the kernel end it");
	/* a program counter of ours, all other registers in the kernel */
	regs[16] = (unsigned long)stacks + 64;
	STACK(0, "a kernel stack pointer", bad.flags = KUNWIND_HAVE_REGS;
	      bad.regs = (unsigned long)regs; bad.valid_regs = 0x1ffff);
	is(bad.count <= 1 && bad.reason != KUNWIND_COMPLETE, 1, "stack: a kernel stack pointer ends it");
	is(process_call(KUNWIND_IOC_UNREGISTER, -1, 0, 0), 0, "stacks: unregister itself");
	is(call(KUNWIND_IOC_CALLSTACK, &good), ENOENT, "stack: after unregister");
}

static void __attribute__((noinline)) calls_nothing(void)
{
	__asm__ volatile("nop; nop; nop; nop");
}

/*
 * A stack in memory that was never accessed: its pages are not present. The
 * first walk cannot read them and must not fault. Before the task returns to
 * user mode, it faults them in. They are zeros, which end the stack.
 */
static void absent(void)
{
	const unsigned int size = 1 << 20;
	char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	__u64 addresses[8], regs[17];
	struct kunwind_callstack stack = {
		.size = sizeof(stack), .addresses = (unsigned long)addresses, .capacity = 8,
		.flags = KUNWIND_HAVE_REGS, .regs = (unsigned long)regs, .valid_regs = 0x1ffff,
	};
	unsigned int i, first, tries = 0;

	is(process_call(KUNWIND_IOC_REGISTER, -1, 0, 0), 0, "absent page: register itself");
	for (i = 0; i < 17; i++)
		regs[i] = (unsigned long)area + size / 2 + 64;
	regs[16] = (unsigned long)calls_nothing + 1;
	is(call(KUNWIND_IOC_CALLSTACK, &stack), 0, "absent page: a stack in a page that was never accessed");
	first = stack.reason;
	is(first == KUNWIND_UNREADABLE, 1, "absent page: the stack ends with \"unreadable\"");
	/* a task may make a request each jiffy, after failures each second */
	while (stack.reason == KUNWIND_UNREADABLE && tries++ < 200) {
		usleep(20000);
		if (call(KUNWIND_IOC_CALLSTACK, &stack))
			break;
	}
	is(stack.reason == KUNWIND_COMPLETE && stack.count == 1, 1,
	   "absent page: a later walk reads the page");
	calls_nothing();
	is(process_call(KUNWIND_IOC_UNREGISTER, -1, 0, 0), 0, "absent page: unregister itself");
	munmap(area, size);
}

static void statistics(void)
{
	struct kunwind_stats stats = { .size = sizeof(stats) };
	char text[64];

	is(call(KUNWIND_IOC_STATS, &stats), 0, "statistics: the call succeeds");
	is(stats.stacks > 0 && stats.table_bytes > 0, 1, "statistics: stacks and table bytes are counted");
	stats.reserved = 1;
	is(call(KUNWIND_IOC_STATS, &stats), EINVAL, "statistics: padding that is not 0");
	is(read(device, text, sizeof(text)) > 0, 1, "read() of the device returns text");
	is(pread(device, text, sizeof(text), 1000000) == 0, 1, "read() after the end returns 0");
	is(write(device, text, 1) == -1, 1, "write() to the device is refused");
}

static int asks(void)
{
	__u64 addresses[64];
	struct kunwind_callstack stack = {
		.size = sizeof(stack), .addresses = (unsigned long)addresses, .capacity = 64,
	};
	int error = call(KUNWIND_IOC_CALLSTACK, &stack);

	if (error)
		puts(strerrorname_np(error));
	else
		printf("%u\n", stack.reason);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0) {
		perror(KUNWIND_DEVICE);
		return 2;
	}
	if (!strcmp(mode, "asks"))
		return asks();
	if (!strcmp(mode, "exec") && argc > 2) {
		if (process_call(KUNWIND_IOC_REGISTER, -1, 0, 0))
			return 3;
		execv(argv[2], argv + 2);
		return 4;
	}
	if (!strcmp(mode, "off")) {
		struct kunwind_info info = { .size = sizeof(info) };
		__u64 addresses[8];
		struct kunwind_callstack stack = {
			.size = sizeof(stack), .addresses = (unsigned long)addresses, .capacity = 8,
		};

		is(process_call(KUNWIND_IOC_REGISTER, -1, 0, 0), EOPNOTSUPP, "off: register");
		is(process_call(KUNWIND_IOC_UNREGISTER, -1, 0, 0), ENOENT, "off: unregister");
		is(call(KUNWIND_IOC_INFO, &info), 0, "off: info");
		is(call(KUNWIND_IOC_CALLSTACK, &stack), EOPNOTSUPP, "off: stack");
		return failed;
	}
	sizes();
	older();
	processes();
	stacks();
	absent();
	statistics();
	return failed;
}
