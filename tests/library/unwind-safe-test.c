// SPDX-License-Identifier: MIT
/*
 * unwind-safe-test.c - what a walk must not do in a signal handler, and stacks that a crash
 * leaves: no allocation, no lock, no thread-local variable, no system call but the
 * documented ones, no change of errno; an overflow of the stack, a jump to 0, a smashed
 * stack, seccomp
 */
#include <dlfcn.h>
#include <link.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind-stack.h"

static struct kunwind_unwinder *unwinder;
static struct kunwind_stack_walk walk;
static int seen, error;
static enum kunwind_reason reason;
static volatile bool walking;		/* calls of what follows abort the test */
static volatile int forbidden;

static void refuse(const char *name)
{
	if (!walking)
		return;
	forbidden++;
	if (write(1, "# ", 2) < 0 || write(1, name, strlen(name)) < 0)
		_exit(8);
	_exit(9);
}

#include "refuse.h"

static void take(const void *context)
{
	errno = 12345;
	walking = true;
	kunwind_walk_begin_ucontext(&walk, unwinder, context);
	seen = stack_walk(&walk);
	walking = false;
	error = errno;
	reason = kunwind_walk_reason(&walk);
}

static jmp_buf out;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	take(context);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	on_trap(number, info, context);
	siglongjmp(out, 1);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	sigaction(number, &action, NULL);
}

static void trap(void)
{
	__asm__ __volatile__("int3");
}

static void test_calls(const char *kind)
{
	handle(SIGTRAP, on_trap);
	deeper(100, trap);
	stack_depth = 100;
	tap_ok(stack_right(seen, 2, 100) && reason == KUNWIND_COMPLETE,
	       "%s: no allocation, lock or thread-local variable", kind);
	stack_depth = 0;
	tap_ok(error == 12345, "%s: errno is kept", kind);
}

/* Some calls are left to the handler's return and the test's end. */
static int allow(const int *numbers, int nr, unsigned int otherwise)
{
	struct sock_filter filter[32];
	struct sock_fprog program = { .filter = filter };
	int i, n = 0;

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (i = 0; i < nr; i++) {
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	program.len = n;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Runs @what in a child with a filter; returns its exit status. */
static int in_child(void (*what)(void), const int *numbers, int nr, unsigned int otherwise)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (allow(numbers, nr, otherwise))
			_exit(77);
		what();
		_exit(1);
	}
	waitpid(child, &status, 0);
	return status;
}

static void own_stack(void)
{
	deeper(100, trap);
	stack_depth = 100;
	_exit(!(stack_right(seen, 2, 100) && reason == KUNWIND_COMPLETE));
}

static volatile int never;

static int __attribute__((__noinline__)) overflow(int depth)
{
	volatile char some[200];

	some[depth % 200] = depth;
	return depth == never ? 0 : overflow(depth + 1) + some[depth % 100];
}

static void overflow_once(void)
{
	if (!sigsetjmp(out, 1))
		overflow(1);
}

/* Frames of overflow() are all alike. */
static bool overflow_seen(void)
{
	int i, same = 0;

	for (i = 1; i + 1 < seen && i < STACK_MOST; i++)
		same += stack_seen[i] == stack_seen[i + 1];
	return seen == STACK_MOST + 100 && same > STACK_MOST - 10;
}

static void overflow_in_child(void)
{
	overflow_once();
	_exit(!overflow_seen());
}

static void test_overflow(void)
{
	handle(SIGSEGV, on_crash);
	handle(SIGBUS, on_crash);
	overflow_once();
	tap_ok(overflow_seen(), "the stack of a stack overflow has its frames (%d)", seen);
}

static void test_system_calls(void)
{
	static const int quiet[] = { SYS_rt_sigreturn, SYS_exit_group, SYS_write };
	static const int documented[] = { SYS_rt_sigreturn, SYS_exit_group, SYS_write, SYS_getpid,
					  SYS_process_vm_readv, SYS_rt_sigprocmask };
	static const int no_copy[] = { SYS_rt_sigreturn, SYS_exit_group, SYS_write, SYS_getpid,
				       SYS_rt_sigprocmask };

	/* The first walk has checked the pages. */
	deeper(120, trap);
	tap_ok(!in_child(own_stack, quiet, 3, SECCOMP_RET_KILL_PROCESS),
	       "a walk of the thread's own stack makes no system call");
	tap_ok(!in_child(overflow_in_child, documented, 6, SECCOMP_RET_KILL_PROCESS),
	       "other walks make only the documented system calls");
	tap_ok(!in_child(overflow_in_child, no_copy, 5, SECCOMP_RET_ERRNO | EPERM),
	       "where process_vm_readv() is not allowed, a stack overflow has its frames");
}

/* Calls address 0, and an address at which nothing can be run. */
static void (*volatile nowhere)(void);

static void jump(void)
{
	if (!sigsetjmp(out, 1))
		nowhere();
}

static void test_jump(void)
{
	deeper(20, jump);
	stack_depth = 20;
	tap_ok(stack_seen[0] == 0 && stack_right(seen, 3, 20) && reason == KUNWIND_COMPLETE,
	       "a call of address 0 has its callers");
	stack_depth = 0;
	*(unsigned long *)&nowhere = 0x123456789000;
	deeper(20, jump);
	stack_depth = 20;
	tap_ok(stack_seen[0] == 0x123456789000 && stack_right(seen, 3, 20),
	       "a call of an unmapped address has its callers");
	stack_depth = 0;
}

/* Fills its frame and its callers' with what no address is. */
static void __attribute__((__noinline__)) smash(void)
{
	volatile unsigned long *word = __builtin_frame_address(0);
	int i;

	for (i = 0; i < 200; i++)
		word[i] = 0x4141414141414141;
	trap();
	_exit(!(seen > 0 && seen < 10 && reason != KUNWIND_COMPLETE));
}

static void __attribute__((__noinline__)) smashed(void)
{
	volatile char room[4096];

	room[0] = 1;
	smash();
	never += room[0];
}

static void test_smashed(void)
{
	int status;
	pid_t child = fork();

	if (!child)
		smashed();
	waitpid(child, &status, 0);
	tap_ok(!status, "a smashed stack ends, and is not complete");
}

/* The handler walks with the stack pointer in the guard page below the thread's stack. */
static uint64_t guard;

static void on_guard(int number, siginfo_t *info, void *context)
{
	static ucontext_t copy;

	(void)number;
	(void)info;
	memcpy(&copy, context, sizeof(copy));
	copy.uc_mcontext.gregs[REG_RSP] = guard;
	take(&copy);
}

static void *in_guard(void *data)
{
	pthread_attr_t attr;
	void *low;
	size_t size, guarded;

	(void)data;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_getguardsize(&attr, &guarded);
	pthread_attr_destroy(&attr);
	guard = (uint64_t)low - 2048;
	trap();
	return guarded ? (void *)1 : NULL;
}

static void test_guard(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	void *done = NULL;

	handle(SIGTRAP, on_guard);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 18);
	pthread_create(&thread, &attr, in_guard, NULL);
	pthread_join(thread, &done);
	pthread_attr_destroy(&attr);
	tap_ok(done && seen == 1 && reason != KUNWIND_COMPLETE,
	       "a stack pointer in a guard page ends the walk (%d frames, reason %d)", seen, reason);
}

int main(void)
{
	static char stack[1 << 16] __attribute__((__aligned__(16)));
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	static const struct {
		unsigned int flags;
		const char *kind;
	} kinds[] = { { 0, "single FDEs" }, { KUNWIND_UNWINDER_TABLES, "tables" } };
	int i;

	setvbuf(stdout, NULL, _IONBF, 0);
	sigaltstack(&alternate, NULL);
	for (i = 0; i < 2; i++) {
		unwinder = kunwind_unwinder_new(kinds[i].flags, 0);
		test_calls(kinds[i].kind);
		if (!i)
			kunwind_unwinder_free(unwinder);
	}
	test_overflow();
	test_system_calls();
	test_jump();
	test_smashed();
	test_guard();
	tap_ok(!forbidden, "nothing forbidden was called");
	kunwind_unwinder_free(unwinder);
	return tap_done();
}
