// SPDX-License-Identifier: MIT
/*
 * device-test.c - libkunwind with a device that this test replaces: which
 * descriptors it opens and closes, which errors it returns, what it requests
 *
 * syscall(2) and fstat(2) are wrapped. Descriptors are indices of a table here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "kunwind.h"
#include "kunwind/abi.h"

#define DEVICE		makedev(10, 100)
#define MOST		64

enum what { CLOSED, KUNWIND, FOREIGN, MEM };

static struct {
	enum what what;
} descriptor[MOST];
static int open_error;			/* of the device's open; 0: it succeeds */
static int mem_error;
static int foreign_error;		/* of an ioctl on another file */
static int answers[8], nr_answers;	/* of ioctl, in order; then it succeeds */
static int opened, closed, asked;
static unsigned long last_request;
static struct kunwind_callstack last_stack;
static char last_path[64];

static int count, failed;

static void check(bool good, const char *name)
{
	printf("%sok %d - library: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

static int make(enum what what)
{
	int fd;

	for (fd = 3; descriptor[fd].what; fd++)
		;
	descriptor[fd].what = what;
	opened++;
	return fd;
}

static unsigned int odd_opens;		/* otherwise than for reading, closed by exec */
static bool other_thread;
static bool always_foreign;		/* a descriptor is another file's as soon as it is used */
static struct kunwind_process last_process;
static struct kunwind_jit last_jit;
static struct kunwind_system_wide last_system_wide;
static struct kunwind_stats last_stats;
static struct kunwind_info last_info;
static struct kunwind_thread_stack last_thread;
static unsigned int last_size;		/* each request begins with the size of its structure */

static int stack(void);
long __wrap_syscall(long number, ...);
int __wrap_fstat(int fd, struct stat *st);

long __wrap_syscall(long number, ...)
{
	long a, b, c, d = 0;
	va_list args;

	va_start(args, number);
	a = va_arg(args, long);
	b = va_arg(args, long);
	c = va_arg(args, long);
	if (number == SYS_openat)
		d = va_arg(args, long);
	va_end(args);
	if (number == SYS_openat) {
		if (c != (O_RDONLY | O_CLOEXEC) || d)
			odd_opens++;
		/*
		 * another thread opens the device at the same time, and is the
		 * first to keep it
		 */
		if (other_thread) {
			other_thread = false;
			stack();
		}
		snprintf(last_path, sizeof(last_path), "%s", (const char *)b);
		if (!strcmp(last_path, KUNWIND_DEVICE))
			return open_error ? fail(open_error) : make(KUNWIND);
		return mem_error ? fail(mem_error) : make(MEM);
	}
	if (number == SYS_close) {
		closed++;
		descriptor[a].what = CLOSED;
		return 0;
	}
	if (number != SYS_ioctl)
		return fail(ENOSYS);
	asked++;
	last_request = (unsigned long)b;
	if (always_foreign)
		descriptor[a].what = FOREIGN;
	if (descriptor[a].what == CLOSED)
		return fail(EBADF);
	if (descriptor[a].what != KUNWIND)
		return fail(foreign_error);
	memcpy(&last_size, (void *)c, sizeof(last_size));
	if (last_request == KUNWIND_IOC_CALLSTACK)
		memcpy(&last_stack, (void *)c, sizeof(last_stack));
	if (nr_answers) {
		int error = answers[0];

		memmove(answers, answers + 1, sizeof(answers) - sizeof(answers[0]));
		nr_answers--;
		if (error == ENOEXEC && last_request == KUNWIND_IOC_JIT_ADD)
			((struct kunwind_jit *)c)->build_error = KUNWIND_E_NOMEM;
		if (error)
			return fail(error);
	}
	if (last_request == KUNWIND_IOC_CALLSTACK) {
		((struct kunwind_callstack *)c)->count = 1;
		((struct kunwind_callstack *)c)->reason = KUNWIND_UNREADABLE;
	} else if (last_request == KUNWIND_IOC_REGISTER || last_request == KUNWIND_IOC_UNREGISTER) {
		last_process = *(struct kunwind_process *)c;
		((struct kunwind_process *)c)->nr_maps = 9;
		((struct kunwind_process *)c)->nr_ready = 8;
	} else if (last_request == KUNWIND_IOC_JIT_ADD || last_request == KUNWIND_IOC_JIT_REMOVE) {
		last_jit = *(struct kunwind_jit *)c;
		((struct kunwind_jit *)c)->build_error = KUNWIND_OK;
		((struct kunwind_jit *)c)->nr_fdes = 7;
	} else if (last_request == KUNWIND_IOC_SYSTEM_WIDE) {
		last_system_wide = *(struct kunwind_system_wide *)c;
	} else if (last_request == KUNWIND_IOC_STATS) {
		last_stats = *(struct kunwind_stats *)c;
		((struct kunwind_stats *)c)->processes = 11;
	} else if (last_request == KUNWIND_IOC_THREAD) {
		last_thread = *(struct kunwind_thread_stack *)c;
		((struct kunwind_thread_stack *)c)->turns = 13;
	} else if (last_request == KUNWIND_IOC_INFO) {
		last_info = *(struct kunwind_info *)c;
		((struct kunwind_info *)c)->abi_version = 12;
	}
	return 0;
}

int __wrap_fstat(int fd, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	if (descriptor[fd].what == CLOSED)
		return fail(EBADF);
	st->st_mode = descriptor[fd].what == KUNWIND ? S_IFCHR : S_IFREG;
	st->st_rdev = descriptor[fd].what == KUNWIND ? DEVICE : 0;
	return 0;
}

static void answer(int first, int second)
{
	answers[0] = first;
	answers[1] = second;
	nr_answers = second < 0 ? 1 : 2;
}

static void begin(void)
{
	kunwind_release();
	memset(descriptor, 0, sizeof(descriptor));
	foreign_error = ENOTTY;
	open_error = mem_error = nr_answers = opened = closed = asked = 0;
	errno = 77;
}

static int stack(void)
{
	uint64_t addresses[4], regs[17] = { 0 };

	return kunwind_callstack_regs(addresses, 4, NULL, regs, 1U << 7 | 1U << 16);
}

static void test_errors(void)
{
	static const struct {
		int open, want;
		const char *name;
	} cases[] = {
		{ ENOENT, -ENODEV, "no device node: ENODEV" },
		{ ENXIO, -ENODEV, "a node without a module: ENODEV" },
		{ EPERM, -EACCES, "EPERM at open: EACCES" },
		{ EACCES, -EACCES, "EACCES at open: EACCES" },
		{ EMFILE, -EMFILE, "too many descriptors: EMFILE" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		open_error = cases[i].open;
		check(kunwind_register_self(0) == cases[i].want && stack() == cases[i].want &&
		      errno == 77, cases[i].name);
	}
}

static void test_once(void)
{
	begin();
	check(!kunwind_register_self(0) && last_request == KUNWIND_IOC_REGISTER && opened == 1 &&
	      closed == 1 && errno == 77, "a single call closes its descriptor, and keeps errno");
	begin();
	answer(ENOSPC, -1);
	check(kunwind_register_self(0) == -ENOSPC && opened == closed && errno == 77,
	      "a failed call closes its descriptor, and keeps errno");
	begin();
	answer(EINTR, -1);
	check(kunwind_register_self(0) == -EINTR && asked == 1,
	      "a registration that a signal interrupted is not repeated");
}

static void test_mem(void)
{
	begin();
	check(!kunwind_register_pid(1234567, 0) && opened == 2 && closed == 2,
	      "register_pid: it closes both descriptors");
	begin();
	mem_error = 0;
	check(!kunwind_unregister_pid(1234567) && opened == 2 && closed == 2,
	      "unregister_pid: it closes both descriptors");
	check(last_request == KUNWIND_IOC_UNREGISTER && last_process.mem_fd >= 0 &&
	      descriptor[last_process.mem_fd].what == CLOSED &&
	      !strcmp(last_path, KUNWIND_DEVICE), "unregister_pid: it opens that process's mem file");
	check(!kunwind_unregister_self() && last_process.mem_fd == -1,
	      "unregister_self: it names the caller");
	begin();
	mem_error = ENOENT;
	check(kunwind_register_pid(10203, 0) == -ESRCH && !strcmp(last_path, "/proc/10203/mem"),
	      "register_pid: a process that does not exist returns ESRCH");
	mem_error = EACCES;
	check(kunwind_register_pid(1, 0) == -ESRCH && !strcmp(last_path, "/proc/1/mem"),
	      "register_pid: EACCES on /proc/PID/mem becomes ESRCH");
	mem_error = EPERM;
	check(kunwind_register_pid(2147483647, 0) == -ESRCH &&
	      !strcmp(last_path, "/proc/2147483647/mem"),
	      "register_pid: EPERM on /proc/PID/mem becomes ESRCH");
	check(kunwind_register_pid(0, 0) == -ESRCH && kunwind_register_pid(-5, 0) == -ESRCH,
	      "register_pid: 0 and negative numbers are refused");
}

static void test_kept(void)
{
	begin();
	check(stack() == 1 && stack() == 1 && opened == 1 && !closed && errno == 77,
	      "stack: all calls use one descriptor, which stays open");
	answer(EINTR, EINTR);
	check(stack() == 1 && opened == 1, "stack: an interrupted call is repeated");

	/* someone closed it */
	descriptor[3].what = CLOSED;
	check(stack() == 1 && opened == 2 && !closed,
	      "stack: a descriptor that the program closed is opened again");

	/* closed, and opened for another file */
	descriptor[3].what = FOREIGN;
	check(stack() == 1 && opened == 3 && !closed && descriptor[3].what == FOREIGN,
	      "stack: a descriptor that is now another file's is not used or closed");
	check(stack() == 1 && opened == 3, "stack: the new descriptor stays open");
	foreign_error = EINVAL;
	descriptor[4].what = FOREIGN;
	check(stack() == 1 && opened == 4 && !closed && descriptor[4].what == FOREIGN,
	      "stack: another file whose ioctl returns EINVAL is not used or closed");
	descriptor[5].what = FOREIGN;
	kunwind_release();
	check(!closed && descriptor[5].what == FOREIGN,
	      "end: a descriptor that is another file's is not closed");
	begin();
	stack();
	kunwind_release();
	check(closed == 1, "end: the library's own descriptor is closed");

	begin();
	other_thread = true;
	check(stack() == 1 && opened == 2 && closed == 1,
	      "stack: of two threads that open the device at once, one closes its descriptor");
	check(stack() == 1 && opened == 2, "stack: the descriptor of the other thread stays open");

	/* the module knows no such call */
	begin();
	stack();
	answer(ENOTTY, ENOTTY);
	check(stack() == -ENOTTY && opened == 1 && asked == 2,
	      "stack: ENOTTY from the module does not open the device again");
	begin();
	stack();
	answer(ENOSPC, ENOSPC);
	check(stack() == -ENOSPC && opened == 1 && asked == 2,
	      "stack: another error from the module is returned at once");
}

static void test_asks(void)
{
	uint64_t addresses[4], regs[17] = { 0 };
	uint8_t trust[4];

	begin();
	kunwind_callstack_trust(addresses, trust, 4, NULL, regs, 0x10080);
	check(last_stack.trust == (uintptr_t)trust && last_stack.capacity == 4 &&
	      last_stack.valid_regs == 0x10080 && last_stack.addresses == (uintptr_t)addresses,
	      "stack with trust: the request has the address of the array");
	kunwind_callstack(addresses, 4, NULL);
	/* rbx, rbp, rsp, r12 to r15, rip */
	check(last_stack.valid_regs == (0x8 | 0x40 | 0x80 | 0xf000 | 0x10000) && !last_stack.trust,
	      "own stack: the request has all registers that a call preserves");
}

/* What is asked for, and what comes back. */
static void test_answers(void)
{
	static char code[32], eh_frame[64];
	unsigned int reason = 77, maps = 77, ready = 77, build_error = 77;
	uint64_t addresses[4], regs[17] = { 0 };

	begin();
	check(kunwind_callstack_regs(addresses, 4, &reason, regs, 0x10080) == 1 &&
	      reason == KUNWIND_UNREADABLE, "stack: the reason is returned");
	check(!kunwind_register_fd(5, KUNWIND_REGISTER_CHILDREN, &maps, &ready) && maps == 9 &&
	      ready == 8 && last_process.mem_fd == 5 &&
	      last_process.flags == KUNWIND_REGISTER_CHILDREN,
	      "register: process, flags, numbers of mappings and tables");
	check(kunwind_jit_register(code, sizeof(code), eh_frame, sizeof(eh_frame), &build_error) == 7 &&
	      build_error == KUNWIND_OK && last_jit.start == (uintptr_t)code &&
	      last_jit.len == sizeof(code) && last_jit.eh_frame == (uintptr_t)eh_frame &&
	      last_jit.eh_frame_len == sizeof(eh_frame),
	      "jit_register: addresses, and the number of functions");
	answer(ENOEXEC, -1);
	check(kunwind_jit_register(code, 1, eh_frame, 1, &build_error) == -ENOEXEC &&
	      build_error == KUNWIND_E_NOMEM, "jit_register: a build error returns ENOEXEC, and the error");
	check(!kunwind_jit_unregister(code, sizeof(code)) && last_request == KUNWIND_IOC_JIT_REMOVE &&
	      last_jit.start == (uintptr_t)code && last_jit.len == sizeof(code) &&
	      !last_jit.eh_frame && !last_jit.eh_frame_len,
	      "jit_unregister: the request has the address only");
	check(!kunwind_system_wide(1) && last_system_wide.flags == KUNWIND_SYSTEM_WIDE_ON &&
	      !kunwind_system_wide(0) && !last_system_wide.flags, "system_wide: it is switched on and off");
	check(!odd_opens, "all descriptors are opened for reading, with O_CLOEXEC");
}

/* All that a request says, and nothing of the request before. */
static void test_requests(void)
{
	static char code[32], eh_frame[64];
	static const struct kunwind_stats no_stats = { .size = sizeof(no_stats) };
	static const struct kunwind_info no_info = { .size = sizeof(no_info) };
	uint64_t addresses[4], regs[17] = { 0 };
	struct kunwind_stats stats;
	struct kunwind_info info;
	struct kunwind_thread_stack thread;
	unsigned int reason = 77, maps = 77, ready = 77, build_error = 77;

	begin();
	memset(&thread, 0xaa, sizeof(thread));
	check(!kunwind_thread(5, 6, code, 7, &thread) && thread.turns == 13 && last_size == sizeof(thread) &&
	      last_thread.mem_fd == 5 && last_thread.timeout_ms == 6 && last_thread.stack_len == 7 &&
	      last_thread.stack == (uintptr_t)code && !last_thread.flags && !last_thread.regs[0],
	      "thread: what is asked, and nothing else; the answer comes back");
	check(!kunwind_thread(5, 0, NULL, 0, &thread) && opened == 1, "thread: the descriptor is kept");
	begin();
	memset(&stats, 0xaa, sizeof(stats));
	check(!kunwind_stats(&stats) && last_request == KUNWIND_IOC_STATS && stats.processes == 11 &&
	      !memcmp(&last_stats, &no_stats, sizeof(no_stats)),
	      "stats: the request is empty, the answer comes back");
	memset(&info, 0xaa, sizeof(info));
	check(!kunwind_info(&info) && last_request == KUNWIND_IOC_INFO && info.abi_version == 12 &&
	      !memcmp(&last_info, &no_info, sizeof(no_info)),
	      "info: the request is empty, the answer comes back");
	check(!kunwind_register_self(KUNWIND_REGISTER_CHILDREN) && last_process.mem_fd == -1 &&
	      last_process.flags == KUNWIND_REGISTER_CHILDREN &&
	      last_size == sizeof(struct kunwind_process),
	      "register_self: the caller, the flags and the size");
	check(!kunwind_register_pid(5, KUNWIND_REGISTER_CHILDREN) && last_process.mem_fd >= 0 &&
	      last_process.flags == KUNWIND_REGISTER_CHILDREN, "register_pid: the process and the flags");
	check(!kunwind_unregister_pid(5) && !last_process.flags &&
	      last_size == sizeof(struct kunwind_process),
	      "unregister_pid: no flags");
	kunwind_callstack_regs(addresses, 4, NULL, regs, 0x10080);
	check(last_stack.flags == KUNWIND_HAVE_REGS && last_stack.regs == (uintptr_t)regs &&
	      !last_stack.trust && last_size == sizeof(struct kunwind_callstack),
	      "stack: the registers, and no array of trusts");
	kunwind_jit_register(code, 1, eh_frame, 2, NULL);
	check(last_size == sizeof(struct kunwind_jit) && last_jit.len == 1 && last_jit.eh_frame_len == 2,
	      "jit_register: the size");
	kunwind_jit_unregister(code, 1);
	check(last_size == sizeof(struct kunwind_jit), "jit_unregister: the size");
	kunwind_system_wide(1);
	check(last_size == sizeof(struct kunwind_system_wide), "system_wide: the size");
	answer(EAGAIN, -1);
	check(kunwind_register_fd(5, 0, &maps, &ready) == -EAGAIN && maps == 77 && ready == 77,
	      "register: a failed call leaves the numbers alone");
	answer(ENOSPC, -1);
	check(kunwind_callstack_regs(addresses, 4, &reason, regs, 0x10080) == -ENOSPC && reason == 77,
	      "stack: a failed call leaves the reason alone");
	check(kunwind_jit_register(code, 1, eh_frame, 2, &build_error) == 7 && build_error == KUNWIND_OK,
	      "jit_register: the build error is overwritten also on success");
}

/* Another file takes the number of the kept descriptor again and again. */
static void test_taken(void)
{
	begin();
	stack();
	always_foreign = true;
	check(stack() == -ENOTTY && asked == 4, "stack: the third error in a row is returned");
	always_foreign = false;
	check(stack() == 1, "stack: the device is opened again after that");
}

int main(void)
{
	test_errors();
	test_once();
	test_mem();
	test_kept();
	test_asks();
	test_answers();
	test_requests();
	test_taken();
	printf("1..%d\n", count);
	return failed != 0;
}
