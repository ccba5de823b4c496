// SPDX-License-Identifier: MIT
/*
 * moving.c - make system calls from random call chains, and record each chain
 *
 *	moving RECORD [CALLS [THREADS [SEED [LIBRARY]...]]]
 *
 * Each thread makes CALLS system calls. There are THREADS threads besides the
 * main one. With libraries, there is one round for each LIBRARY.
 *
 * All code here and in moving-plugin.c is compiled with -finstrument-functions:
 * __cyg_profile_func_enter() gets the return address of each function that is
 * entered, and pushes it on the thread's shadow stack. leaf() records the
 * shadow stack under a new number N and calls lseek(-77, N, 0), either by the
 * syscall instruction or through libc. The event of that call has N.
 *
 * RECORD is text. First, for each round, the executable ranges of the program
 * and the library:
 *	M START END
 * then the children that fork() and vfork() made, which use the same record:
 *	P PID
 * then a line for each N, innermost address first:
 *	R N ADDRESS...
 * All addresses are exact, also return addresses in libc (of a comparison
 * function, for example). Besides these the stack has only libc's own frames:
 * the innermost ones, between two of ours, and above main() or a thread's
 * function.
 *
 * Memory: 8 bytes for each address, kept until the end.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "moving.h"

#define NOINLINE	__attribute__((noinline, noclone))
#define QUIET		__attribute__((no_instrument_function))
#define OPAQUE		__attribute__((noinline, noipa))
#define KEEP()		__asm__ volatile("" ::: "memory")

#define MAX_DEPTH	512
#define MARK		(-77L)

struct record {
	uint64_t at;
	uint32_t depth;
};

/* Shared with the children that fork() makes. */
static struct shared {
	uint64_t next, nr_words;
	uint64_t max_records, max_words;
	uint32_t nr_children;
	pid_t child[4096];
} *shared;
static struct record *records;
static uintptr_t *words;

static __thread struct shadow {
	int depth;
	int base;		/* where the current stack starts (coroutines) */
	uint64_t random;
	int calls_left;
	uintptr_t address[MAX_DEPTH];
} shadow;

static moving_plugin_fn *const *plugin_table;
static int plugin_nr;

/* Opaque, so that their callers keep the stack aligned for calls. */
void QUIET OPAQUE __cyg_profile_func_enter(void *fn, void *call_site);
void QUIET OPAQUE __cyg_profile_func_exit(void *fn, void *call_site);

void __cyg_profile_func_enter(void *fn, void *call_site)
{
	(void)fn;
	if (shadow.depth < MAX_DEPTH)
		shadow.address[shadow.depth] = (uintptr_t)call_site;
	shadow.depth++;
}

void __cyg_profile_func_exit(void *fn, void *call_site)
{
	(void)fn;
	(void)call_site;
	shadow.depth--;
}

static QUIET uint32_t rnd(uint32_t below)
{
	shadow.random = shadow.random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(shadow.random >> 33) % below;
}

/* Records the shadow stack, @top as innermost address. Returns the number. */
static QUIET NOINLINE uint64_t record(const char *top)
{
	uint64_t n = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
	uint32_t depth = (uint32_t)(shadow.depth - shadow.base + 1), i;
	uint64_t at = __atomic_fetch_add(&shared->nr_words, depth, __ATOMIC_RELAXED);

	if (n >= shared->max_records || at + depth > shared->max_words ||
	    shadow.depth > MAX_DEPTH) {
		static const char text[] = "moving: record too small\n";

		(void)!write(2, text, sizeof(text) - 1);
		_exit(3);
	}
	words[at] = (uintptr_t)top;
	for (i = 1; i < depth; i++)
		words[at + i] = shadow.address[shadow.depth - (int)i];
	records[n].at = at;
	records[n].depth = depth;
	return n;
}

static QUIET void note_child(void)
{
	uint32_t n = __atomic_fetch_add(&shared->nr_children, 1, __ATOMIC_RELAXED);

	if (n >= sizeof(shared->child) / sizeof(*shared->child))
		_exit(3);
	/* not getpid(): after vfork() it may be the parent's */
	shared->child[n] = (pid_t)syscall(SYS_getpid);
}

/* Return addresses of the system calls, defined in the assembly below. */
extern const char after_syscall[] __attribute__((visibility("hidden")));
extern const char after_call[] __attribute__((visibility("hidden")));

static NOINLINE void direct(void)
{
	register long n __asm__("rsi") = (long)record(after_syscall);
	register long whence __asm__("rdx") = 0;
	long ret = SYS_lseek;

	__asm__ volatile("syscall\n"
			 "after_syscall:"
			 : "+a"(ret), "+r"(n), "+r"(whence) : "D"(MARK)
			 : "rcx", "r11", "memory");
}

/* The call would overwrite a red zone, but -mno-red-zone makes none. */
static NOINLINE void through_libc(void)
{
	off_t (*volatile fn)(int, off_t, int) = lseek;
	register long n __asm__("rsi") = (long)record(after_call);
	register long whence __asm__("rdx") = 0;
	long ret = (long)fn, fd = MARK;

	__asm__ volatile("call *%%rax\n"
			 "after_call:"
			 : "+a"(ret), "+r"(n), "+r"(whence), "+D"(fd) :
			 : "rcx", "r8", "r9", "r10", "r11", "memory", "cc",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

/*
 * Calls a function of libc that calls our functions. Pushes the return address
 * itself, because libc's function is not instrumented.
 */
static QUIET inline __attribute__((always_inline)) long
call_libc(void *fn, long a, long b, long c, void *d)
{
	register long rcx __asm__("rcx") = (long)d;
	long rax = (long)fn, slot;

	slot = (long)&shadow.address[shadow.depth++ & (MAX_DEPTH - 1)];
	__asm__ volatile("lea 1f(%%rip), %%r8\n\t"
			 "mov %%r8, (%[slot])\n\t"
			 "call *%%rax\n"
			 "1:"
			 : "+a"(rax), "+D"(a), "+S"(b), "+d"(c), "+r"(rcx)
			 : [slot] "r"(slot)
			 : "r8", "r9", "r10", "r11", "memory", "cc",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	shadow.depth--;
	return rax;
}

static NOINLINE void leaf(void)
{
	shadow.calls_left--;
	if (rnd(2))
		direct();
	else
		through_libc();
	KEEP();
}

static moving_fn *const table[];
static const int table_nr;

/* Calls a random function one level deeper, and leaf() now and then. */
static NOINLINE void step(int depth)
{
	int turns = 1 + (int)rnd(2);

	if (rnd(3) == 0)
		leaf();
	while (turns-- && depth > 0 && shadow.calls_left > 0) {
		if (plugin_nr && rnd(6) == 0)
			plugin_table[rnd((uint32_t)plugin_nr)](depth - 1, step);
		else
			table[rnd((uint32_t)table_nr)](depth - 1);
	}
	if (depth == 0)
		leaf();
	KEEP();
}

static NOINLINE void recursive(int depth)
{
	if (depth > 3 && rnd(2))
		recursive(depth - 1);
	else
		step(depth);
	KEEP();
}

static NOINLINE void with_alloca(int depth)
{
	volatile char *p = alloca(8 + rnd(3000));

	p[0] = 1;
	step(depth);
	p[1] = p[0];
}

static NOINLINE void aligned(int depth)
{
	_Alignas(64) volatile char block[64];

	block[0] = 1;
	step(depth);
	block[1] = block[0];
}

static NOINLINE void aligned_alloca(int depth)
{
	_Alignas(128) volatile char block[256];
	volatile char *p = alloca(16 + rnd(200));

	block[0] = p[0] = 1;
	step(depth);
	block[1] = p[0];
}

struct big { long word[12]; };
static NOINLINE long by_value(struct big a, int depth, struct big b)
{
	step(depth);
	return a.word[depth & 7] + b.word[3];
}
static NOINLINE void pushes(int depth)
{
	struct big a = { { depth } }, b = { { 1 } };
	volatile long sum = by_value(a, depth, b);

	(void)sum;
}

static NOINLINE long variadic(int depth, ...)
{
	va_list ap;
	long sum;

	va_start(ap, depth);
	step(depth);
	sum = va_arg(ap, long) + va_arg(ap, long);
	va_end(ap);
	return sum;
}
static NOINLINE void calls_variadic(int depth)
{
	volatile long sum = variadic(depth, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);

	(void)sum;
}

/* libc calls back. */
static __thread int callback_depth;
static NOINLINE int compare(const void *a, const void *b)
{
	if (callback_depth >= 0) {
		int depth = callback_depth;

		callback_depth = -1;
		step(depth);
	}
	return *(const int *)a - *(const int *)b;
}
static NOINLINE void sorts(int depth)
{
	int v[3] = { 2, 3, 1 };

	callback_depth = depth;
	call_libc(qsort, (long)v, 3, sizeof(*v), compare);
	KEEP();
}

/* A signal handler that interrupts a known instruction. */
static __thread int handler_depth;
static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	int depth = handler_depth;
	uintptr_t *top = &shadow.address[(shadow.depth - 1) & (MAX_DEPTH - 1)], restorer = *top;

	(void)sig;
	(void)info;
	/* below our caller, the restorer, is the interrupted instruction */
	*top = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
	__cyg_profile_func_enter(NULL, (void *)restorer);
	step(depth);
	shadow.depth--;
	uc->uc_mcontext.gregs[REG_RIP] += 2;
}
static NOINLINE void traps(int depth)
{
	handler_depth = depth;
	__asm__ volatile("ud2" ::: "memory");
	KEEP();
}

static __thread int on_alternate;
static void on_raise(int sig)
{
	(void)sig;
	on_alternate++;
	step(handler_depth);
	on_alternate--;
}
static NOINLINE void raises(int depth)
{
	handler_depth = depth;
	call_libc(raise, SIGUSR1, 0, 0, NULL);
	KEEP();
}

static NOINLINE void jumps_back(int depth, jmp_buf *back)
{
	step(depth);
	longjmp(*back, 1);
}
static NOINLINE void jumps(int depth)
{
	jmp_buf back;
	volatile int kept = shadow.depth;

	if (!setjmp(back))
		jumps_back(depth, &back);
	shadow.depth = kept;
}

static __thread ucontext_t coroutine_caller, coroutine;
static __thread int coroutine_depth, coroutine_busy;
static __thread char *coroutine_stack;
static void coroutine_body(void)
{
	step(coroutine_depth);
	KEEP();
}
static NOINLINE void coroutines(int depth)
{
	int base = shadow.base;

	/* a handler in a handler's coroutine would reuse the alternate stack */
	if (coroutine_busy || on_alternate) {
		step(depth);
		KEEP();
		return;
	}
	coroutine_busy = 1;
	if (!coroutine_stack)
		coroutine_stack = malloc(262144);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = coroutine_stack;
	coroutine.uc_stack.ss_size = 262144;
	coroutine.uc_link = &coroutine_caller;
	makecontext(&coroutine, coroutine_body, 0);
	coroutine_depth = depth;
	shadow.base = shadow.depth;
	swapcontext(&coroutine_caller, &coroutine);
	shadow.base = base;
	coroutine_busy = 0;
}

/* The child runs on the same stack while this thread waits. */
static NOINLINE void vforks(int depth)
{
	(void)depth;
	if (vfork() == 0) {
		note_child();
		leaf();
		_exit(0);
	}
	KEEP();
	while (wait(NULL) > 0)
		;
}

static __thread int forked;
static NOINLINE void forks(int depth)
{
	pid_t pid;

	/* rarely, and never in a child, because fork() is slow */
	if (forked || rnd(20)) {
		step(depth);
		KEEP();
		return;
	}
	pid = fork();
	if (pid == 0) {
		forked = 1;
		note_child();
		shadow.calls_left = 20;
		step(depth);
		_exit(0);
	}
	KEEP();
	waitpid(pid, NULL, 0);
}

static NOINLINE void vforks_rarely(int depth)
{
	if (forked || rnd(10))
		step(depth);
	else
		vforks(depth);
	KEEP();
}

static moving_fn *const table[] = {
	recursive, with_alloca, aligned, aligned_alloca, pushes, calls_variadic,
	sorts, traps, raises, jumps, coroutines, vforks_rarely, forks,
};
static const int table_nr = sizeof(table) / sizeof(*table);

static int calls_per_thread;

static NOINLINE void *run(void *arg)
{
	stack_t stack = { .ss_size = 1 << 20 };

	shadow.random = (uintptr_t)arg;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	for (shadow.calls_left = calls_per_thread; shadow.calls_left > 0; )
		step(4 + (int)rnd(24));
	return NULL;
}

/* Writes the ranges of this program and its library. */
static QUIET void write_ranges(FILE *out)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], perms[8], file[256];
	unsigned long start, end;

	if (!maps) {
		perror("/proc/self/maps");
		exit(1);
	}
	while (fgets(line, sizeof(line), maps)) {
		file[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &start, &end, perms, file) >= 3 &&
		    perms[2] == 'x' && strstr(file, "moving"))
			fprintf(out, "M %lx %lx\n", start, end);
	}
	fclose(maps);
}

static QUIET void write_records(FILE *out)
{
	uint64_t n;
	uint32_t i;

	for (i = 0; i < shared->nr_children; i++)
		fprintf(out, "P %d\n", (int)shared->child[i]);
	for (n = 0; n < shared->next; n++) {
		fprintf(out, "R %lu", (unsigned long)n);
		for (i = 0; i < records[n].depth; i++)
			fprintf(out, " %lx", (unsigned long)words[records[n].at + i]);
		fputc('\n', out);
	}
}

static QUIET void *map_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

/*
 * One round: a library is mapped, used by all threads, and unmapped. In the
 * next round its addresses may belong to other functions.
 */
static NOINLINE void one_round(const char *path, int nr, unsigned long seed, FILE *out)
{
	void *handle = NULL;
	pthread_t threads[64];
	int i;

	if (path) {
		handle = dlopen(path, RTLD_NOW);
		if (!handle) {
			fprintf(stderr, "moving: %s\n", dlerror());
			exit(1);
		}
		plugin_table = dlsym(handle, "moving_plugin_table");
		plugin_nr = *(const int *)dlsym(handle, "moving_plugin_nr");
	}
	write_ranges(out);
	for (i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(seed + (unsigned)i))) {
			perror("pthread_create");
			exit(1);
		}
	run((void *)(seed + 999));
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	plugin_nr = 0;
	if (handle)
		dlclose(handle);
}

int main(int argc, char **argv)
{
	int calls = argc > 2 ? atoi(argv[2]) : 2000, nr = argc > 3 ? atoi(argv[3]) : 3;
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned long seed = argc > 4 ? strtoul(argv[4], NULL, 0) : 1;
	int rounds = argc > 5 ? argc - 5 : 1, round;
	FILE *out;

	if (argc < 2 || calls < 1 || nr < 1 || nr > 64) {
		fprintf(stderr, "Usage: moving RECORD [CALLS [THREADS [SEED [LIBRARY]...]]]\n");
		return 1;
	}
	out = fopen(argv[1], "w");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	shared = map_shared(sizeof(*shared));
	/* some paths call leaf() a few more times when no calls are left */
	shared->max_records = (uint64_t)rounds * ((uint64_t)calls * (uint64_t)(nr + 1) * 3 + 10000);
	shared->max_words = shared->max_records * 64;
	records = map_shared(shared->max_records * sizeof(*records));
	words = map_shared(shared->max_words * sizeof(*words));

	action.sa_sigaction = on_trap;
	sigaction(SIGILL, &action, NULL);
	action.sa_handler = on_raise;
	action.sa_flags = SA_ONSTACK | SA_NODEFER;
	sigaction(SIGUSR1, &action, NULL);

	calls_per_thread = calls;
	for (round = 0; round < rounds; round++)
		one_round(argc > 5 ? argv[5 + round] : NULL, nr,
			  (seed * 100 + (unsigned)round) * 1000, out);
	write_records(out);
	if (fclose(out)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
