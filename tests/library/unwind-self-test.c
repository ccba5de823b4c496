// SPDX-License-Identifier: MIT
/*
 * unwind-self-test.c - walks of the program's own stacks: from a function, from a signal
 * handler, on each kind of stack, in a forked child, in threads
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind-stack.h"

static struct kunwind_unwinder *unwinder;
static struct kunwind_stack_walk walk;
static const char *kind;
static int seen;
static enum kunwind_reason reason;

static void walk_here(void)
{
	kunwind_walk_begin_here(&walk, unwinder);
	seen = stack_walk(&walk);
	reason = kunwind_walk_reason(&walk);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	kunwind_walk_begin_ucontext(&walk, unwinder, context);
	seen = stack_walk(&walk);
	reason = kunwind_walk_reason(&walk);
}

/* The signal arrives at the instruction after int3. */
static void trap(void)
{
	__asm__ __volatile__("int3");
}

static void handle(int number, int flags)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags };

	sigaction(number, &action, NULL);
}

static void test_here(void)
{
	struct kunwind_stack_frame frame;
	static uint64_t all[STACK_MOST];
	int i, nr;

	deeper(1, walk_here);
	stack_depth = 1;
	tap_ok(stack_right(seen, 2, 1) && reason == KUNWIND_COMPLETE, "%s: a stack of one call", kind);
	stack_depth = 0;
	deeper(3000, walk_here);
	tap_ok(seen > 3000, "%s: a stack of 3,000 calls has all frames (%d)", kind, seen);
	stack_depth = 3000;
	tap_ok(stack_right(seen, 2, 3000), "%s: all are the true ones", kind);
	stack_depth = 0;
	tap_ok(reason == KUNWIND_COMPLETE, "%s: the stack is complete (%d)", kind, reason);

	kunwind_walk_begin_here(&walk, unwinder);
	tap_ok(kunwind_walk_reason(&walk) == KUNWIND_BUFFER_FULL,
	       "%s: a walk that has begun has not ended", kind);
	tap_ok(kunwind_walk_next(&walk, &frame) && !frame.exact &&
	       frame.trust == KUNWIND_TRUST_REGISTERS &&
	       (uint64_t)__builtin_frame_address(0) - frame.sp < 4096,
	       "%s: the first frame follows the call of the library", kind);
	tap_ok(frame.module && frame.ip - frame.module->start < frame.module->end - frame.module->start &&
	       frame.module->build_id_len == 20, "%s: it is in a module with a build-id", kind);
	tap_ok(frame.module && frame.module->image && !memcmp((void *)frame.module->image, "\177ELF", 4),
	       "%s: the module's image begins with the ELF header", kind);
	nr = stack_walk(&walk);
	tap_ok(!kunwind_walk_next(&walk, &frame), "%s: after the end there is no frame", kind);
	kunwind_walk_begin_here(&walk, unwinder);
	i = kunwind_walk_addresses(&walk, all, 2);
	i += kunwind_walk_addresses(&walk, all + 2, STACK_MOST - 2);
	tap_ok(i == nr + 1 && !memcmp(all + 1, stack_seen, nr * sizeof(*all)),
	       "%s: kunwind_walk_addresses() gives the same", kind);
}

static void test_ucontext(void)
{
	handle(SIGTRAP, 0);
	deeper(100, trap);
	stack_depth = 100;
	tap_ok(stack_right(seen, 2, 100) && reason == KUNWIND_COMPLETE,
	       "%s: from a handler, the stack begins at the interrupted instruction", kind);
	stack_depth = 0;
}

/* A walk from a function that a handler calls passes the signal frame. */
static volatile bool through;

static void on_signal_here(int number)
{
	(void)number;
	walk_here();
	through = true;
}

static void test_signal_frame(void)
{
	int from;

	signal(SIGTRAP, on_signal_here);
	deeper(50, trap);
	/* The signal frame is somewhere after the handler's own frames. */
	for (from = 2; from < seen && stack_seen[from] != stack_true[49]; from++)
		;
	stack_depth = 50;
	tap_ok(through && reason == KUNWIND_COMPLETE && stack_right(seen, from, 50),
	       "%s: a walk passes a signal frame (%d frames)", kind, seen);
	stack_depth = 0;
}

static void test_fork(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		deeper(100, walk_here);
		stack_depth = 100;
		_exit(!(stack_right(seen, 2, 100) && reason == KUNWIND_COMPLETE &&
			!kunwind_unwinder_refresh(unwinder)));
	}
	waitpid(child, &status, 0);
	tap_ok(!status, "%s: a forked child walks, and refreshes", kind);
}

#ifdef __GLIBC__	/* musl has no makecontext() */
/* A stack of the program's own, with nothing mapped around it. */
static ucontext_t back, other;

static void on_other(void)
{
	deeper(200, walk_here);
	swapcontext(&other, &back);
}

static void test_coroutine(void)
{
	const size_t size = 1 << 18;
	char *area = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(area + 4096, size, PROT_READ | PROT_WRITE);
	getcontext(&other);
	other.uc_stack.ss_sp = area + 4096;
	other.uc_stack.ss_size = size;
	other.uc_link = NULL;
	makecontext(&other, on_other, 0);
	swapcontext(&back, &other);
	stack_depth = 200;
	tap_ok(stack_right(seen, 2, 200), "%s: a coroutine's stack", kind);
	stack_depth = 0;
	munmap(area, size + 8192);
}
#else
static void test_coroutine(void)
{
}
#endif

struct job {
	int wrong, walks;
	bool stop;
	struct kunwind_stack_walk walk;
	uint64_t addresses[400];
};

static __thread struct job *own_job;

static void walk_in_thread(void)
{
	struct job *job = own_job;
	int n, i, k;

	for (k = 0; k < 20; k++) {
		kunwind_walk_begin_here(&job->walk, unwinder);
		n = kunwind_walk_addresses(&job->walk, job->addresses, 400);
		for (i = 0; i < stack_depth && i + 2 < n; i++)
			if (job->addresses[i + 2] != stack_true[stack_depth - 1 - i])
				break;
		job->walks++;
		job->wrong += i < stack_depth || kunwind_walk_reason(&job->walk) != KUNWIND_COMPLETE;
	}
}

static void *thread(void *data)
{
	int i;

	own_job = data;
	for (i = 0; !__atomic_load_n(&own_job->stop, __ATOMIC_RELAXED); i++)
		deeper(1 + i % 90, walk_in_thread);
	return NULL;
}

#define THREADS	8
static void test_threads(void)
{
	static struct job job[THREADS];
	pthread_t id[THREADS];
	int i, wrong = 0, walks = 0, failed = 0;

	memset(job, 0, sizeof(job));
	for (i = 0; i < THREADS; i++)
		pthread_create(&id[i], NULL, thread, &job[i]);
	for (i = 0; i < 60; i++) {
		failed += kunwind_unwinder_refresh(unwinder);
		usleep(5000);
	}
	for (i = 0; i < THREADS; i++)
		__atomic_store_n(&job[i].stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++) {
		pthread_join(id[i], NULL);
		wrong += job[i].wrong;
		walks += job[i].walks;
	}
	tap_ok(!failed && !wrong && walks > THREADS,
	       "%s: %d threads walk while the unwinder is refreshed (%d of %d wrong)", kind, THREADS,
	       wrong, walks);
}

int main(void)
{
	unsigned int i;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (i = 0; i < 3; i++) {
		kind = unwinders[i].kind;
		unwinder = kunwind_unwinder_new(unwinders[i].flags, 0);
		if (!tap_ok(unwinder, "%s: kunwind_unwinder_new()", kind))
			return tap_done();
		test_here();
		test_ucontext();
		test_signal_frame();
		test_fork();
		test_coroutine();
		test_threads();
		kunwind_unwinder_free(unwinder);
	}
	tap_ok(!kunwind_unwinder_new(1U << 31, 0), "an unknown flag is refused");
	kunwind_unwinder_free(NULL);
	return tap_done();
}
