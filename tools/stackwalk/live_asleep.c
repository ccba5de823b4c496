// SPDX-License-Identifier: MIT
/*
 * live_asleep.c - read a thread that sleeps, without stopping it
 *
 * /proc/PID/task/TID/syscall has, of a thread that does not run, the number of its system call,
 * the call's arguments, rsp and rip (proc(5)). The arguments are registers: of 64-bit code those
 * that a call may change, of 32-bit code all but eax. So rbx, rbp and r12 to r15 of 64-bit code
 * are not known, and a walk that needs them before some frame has saved them ends early.
 *
 * The thread may run while its stack is copied. It did not if the file says the same afterwards,
 * and the thread was put on a CPU as often as before (the third number of schedstat).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"

#define ARGUMENTS	6
#define SYSCALL		0x050f		/* the instructions, little-endian */
#define INT_80		0x80cd

/* What the files say about a thread. */
struct sleeper {
	int64_t number;				/* of the system call; -1: none */
	uint64_t argument[ARGUMENTS], sp, ip;	/* arguments: 0 without a call */
	uint64_t turns;				/* times that it was put on a CPU */
};

/* The files, open. */
struct sleeper_files {
	int schedstat, syscall;
};

static struct sleeper_files open_files(const struct live_process *live, pid_t tid)
{
	return (struct sleeper_files){ live_open_file(live, tid, "schedstat"),
				       live_open_file(live, tid, "syscall") };
}

static void close_files(const struct sleeper_files *files)
{
	if (files->schedstat >= 0)
		close(files->schedstat);
	if (files->syscall >= 0)
		close(files->syscall);
}

static bool look(const struct sleeper_files *files, struct sleeper *sleeper)
{
	uint64_t *a = sleeper->argument;
	char text[512];

	memset(sleeper, 0, sizeof(*sleeper));
	if (live_read_open(files->schedstat, text, sizeof(text)) < 0 ||
	    sscanf(text, "%*u %*u %" SCNu64, &sleeper->turns) != 1 ||
	    live_read_open(files->syscall, text, sizeof(text)) < 0)
		return false;
	if (!sleeper->turns)	/* the kernel does not count them */
		return false;
	if (sscanf(text, "%" SCNi64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64
			 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64, &sleeper->number, &a[0], &a[1], &a[2],
		   &a[3], &a[4], &a[5], &sleeper->sp, &sleeper->ip) == 9 && sleeper->number >= 0)
		return true;
	memset(a, 0, sizeof(sleeper->argument));
	/* neither: it runs */
	return sscanf(text, "%" SCNi64 " 0x%" SCNx64 " 0x%" SCNx64, &sleeper->number, &sleeper->sp,
		      &sleeper->ip) == 3 && sleeper->number == -1;
}

/*
 * Which registers the arguments are depends on how the call was made. False: by another
 * instruction than those of the process's class, so it may be the code of another class.
 */
static bool set_registers(const struct live_process *live, const struct sleeper *sleeper,
			  struct kunwind_registers *regs)
{
	/* rdi rsi rdx r10 r8 r9; ebx ecx edx esi edi ebp */
	static const uint8_t wide[ARGUMENTS] = { 5, 4, 1, 10, 8, 9 };
	static const uint8_t narrow[ARGUMENTS] = { 3, 2, 1, 4, 5, 6 };
	const uint8_t *number = live->i386 ? narrow : wide;
	uint8_t code[2];
	uint32_t i;

	memset(regs, 0, sizeof(*regs));
	regs->r[7] = sleeper->sp;
	regs->r[16] = sleeper->ip;
	regs->valid = 1u << 7 | 1u << 16;
	regs->flags = live->i386 ? KUNWIND_REGISTERS_I386 : 0;
	if (sleeper->number < 0 ||
	    live_read(live, sleeper->ip - sizeof(code), code, sizeof(code)) != sizeof(code) ||
	    dump_u16(code) != (live->i386 ? INT_80 : SYSCALL))
		return false;
	for (i = 0; i < ARGUMENTS; i++)
		regs->r[number[i]] = sleeper->argument[i];
	for (i = 0; i < ARGUMENTS; i++)
		regs->valid |= 1u << number[i];
	return true;
}

static bool take(struct live_process *live, struct live_thread *thread, const struct sleeper_files *files)
{
	struct sleeper before, after;
	struct live_stack stack;

	if (!look(files, &before))
		return false;
	/* Not in a call, it sleeps because of a page, or was stopped: in 32-bit code, perhaps. */
	if (!set_registers(live, &before, &stack.regs) && !live->i386 && !(before.ip >> 32))
		return false;
	if (!live_copy_stack(live, thread, &stack))
		return false;
	if (!look(files, &after) || memcmp(&before, &after, sizeof(before))) {
		live_drop_stack(&stack);
		return false;
	}
	live_keep_stack(live, thread, &stack, LIVE_ASLEEP);
	return true;
}

bool live_take_asleep(struct live_process *live, struct live_thread *thread)
{
	const struct sleeper_files files = open_files(live, thread->tid);
	const bool taken = take(live, thread, &files);

	close_files(&files);
	return taken;
}

/*
 * Calls that end with EINTR if their thread is stopped (signal(7)), and cannot be made again with
 * the time that was left. @timeout: the argument that is not 0 if the call has a limit on time.
 */
static const struct {
	uint16_t number;
	uint8_t timeout;
	bool is_signed;		/* a number: negative without a limit */
	const char *why;
} timed[] = {
#define WOULD_END(call)	"to stop it would end its call of " call "() with EINTR"
	{ 232, 3, true, WOULD_END("epoll_wait") },
	{ 281, 3, true, WOULD_END("epoll_pwait") },
	{ 441, 3, false, WOULD_END("epoll_pwait2") },
	{ 220, 3, false, WOULD_END("semtimedop") },
	{ 128, 2, false, WOULD_END("rt_sigtimedwait") },
	{ 208, 4, false, WOULD_END("io_getevents") },
	{ 333, 4, false, WOULD_END("io_pgetevents") },
	{ 426, 4, false, WOULD_END("io_uring_enter") },
};

const char *live_why_not_stop(const struct live_process *live, pid_t tid)
{
	struct sleeper_files files;
	struct sleeper sleeper;
	char text[512], *name;
	bool sleeps;
	size_t i;

	if (live_read_file(live, tid, "stat", text, sizeof(text)) < 0)
		return "it has ended";
	name = strrchr(text, ')');
	if (name && name[1] && name[2] == 'D')
		return "it cannot be stopped: uninterruptible sleep (D)";
	if (name && name[1] && (name[2] == 'Z' || name[2] == 'X'))
		return "it has ended";
	files = open_files(live, tid);
	sleeps = !live->i386 && look(&files, &sleeper) && sleeper.number >= 0;
	close_files(&files);
	if (!sleeps)
		return NULL;
	for (i = 0; i < sizeof(timed) / sizeof(timed[0]); i++) {
		const uint64_t timeout = sleeper.argument[timed[i].timeout];

		if (sleeper.number == timed[i].number &&
		    (timed[i].is_signed ? (int32_t)timeout > 0 : timeout != 0))
			return timed[i].why;
	}
	return NULL;
}
