// SPDX-License-Identifier: MIT
/*
 * accidents.c - a program that crashes, in a state that its argument names, in which a report is
 * difficult; accidents.py checks the report
 *
 *	accidents MODE PATH [RECEIVER]	PATH: of the report; fd:N: a descriptor
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef PRELOADED
#define kunwind_crash_thread()	0
#else
#include <kunwind/crash.h>
#endif

#define FRAME	__attribute__((__noinline__, __noclone__))
#define AFTER	__asm__ volatile("" ::: "memory")

static const char *mode;
volatile int k_sink;
static int *volatile null;
static sigjmp_buf out;
static pthread_barrier_t barrier;
static volatile int caught;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

/* ------------------------------------------------------------ what a handler must not call */

#ifdef FORBID
static volatile int forbidden;		/* from the crash on */

static void refuse(const char *name)
{
	if (!forbidden)
		return;
	if (write(2, name, strlen(name)) > 0)
		_exit(9);
	_exit(8);
}

#include "../library/refuse.h"

REFUSE(FILE *, fopen, (const char *path, const char *how), (path, how))
#define FORBIDDEN()	(forbidden = 1)
#else
#define FORBIDDEN()
#endif

#ifdef LOCKED
/* An allocator that crashes while it holds its lock: each call after that would wait for ever. */
static volatile int locked, crashes;

void *malloc(size_t size)
{
	static char memory[1 << 22] __attribute__((__aligned__(16)));
	static size_t used;
	void *block;

	while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
		;
	if (crashes)
		k_sink = *null;
	block = memory + used;
	used += (size + 15) & -16UL;
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
	return used <= sizeof(memory) ? block : NULL;
}

void free(void *p)
{
	while (p && locked)
		;
}

void *calloc(size_t nr, size_t size)
{
	return malloc(nr * size);
}

void *realloc(void *p, size_t size)
{
	void *more = malloc(size);

	return p && more ? memcpy(more, p, size) : more;
}

FRAME void k_allocate(void)
{
	crashes = 1;
	k_sink = malloc(10) != NULL;
	AFTER;
}
#endif

/* ------------------------------------------------------------ crashes */

FRAME void k_crash(void)
{
	FORBIDDEN();
	k_sink = *null;
	AFTER;
}

FRAME void k_outer(void)
{
	k_crash();
	AFTER;
}

static volatile int never;

FRAME int k_recurse(int depth)
{
	volatile char room[64];

	room[depth & 63] = 1;
	if (!never)
		k_sink += k_recurse(depth + 1) + room[0];
	AFTER;
	return k_sink;
}

FRAME void *k_overflow(void *unused)
{
	(void)unused;
	if (kunwind_crash_thread())
		_exit(3);
	k_recurse(0);
	AFTER;
	return NULL;
}

FRAME void *k_together(void *unused)
{
	(void)unused;
	kunwind_crash_thread();
	pthread_barrier_wait(&barrier);
	if (!is("second-recovers") || !sigsetjmp(out, 1))
		k_crash();
	AFTER;
	return NULL;
}

static void in_threads(void *(*function)(void *), int nr)
{
	pthread_attr_t attr;
	pthread_t thread[64];
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 18);
	pthread_barrier_init(&barrier, NULL, (unsigned int)nr);
	for (i = 0; i < nr; i++)
		pthread_create(&thread[i], &attr, function, NULL);
	for (i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
}

/* ------------------------------------------------------------ other threads */

static volatile unsigned long turns;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

FRAME void k_spin(void)
{
	for (;;)
		turns++;
}

FRAME void k_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pause();
	AFTER;
}

FRAME void k_lock(void)
{
	pthread_mutex_lock(&held);
	AFTER;
}

FRAME void k_read(void)
{
	int ends[2];
	char c;

	if (!pipe(ends))
		k_sink = (int)read(ends[0], &c, 1);
	AFTER;
}

static void (*const busy[])(void) = { k_spin, k_blocked, k_lock, k_read };
#define BUSY	(sizeof(busy) / sizeof(busy[0]))

FRAME void *k_other(void *number)
{
	prctl(PR_SET_NAME, "other \"name\"");
	pthread_barrier_wait(&barrier);
	busy[(long)number]();
	AFTER;
	return NULL;
}

/* Threads that run, block all signals, wait for a lock, or are in a system call. */
static void begin_others(void)
{
	pthread_t thread;
	long i;

	pthread_mutex_lock(&held);
	pthread_barrier_init(&barrier, NULL, BUSY + 1);
	for (i = 0; i < (long)BUSY; i++)
		pthread_create(&thread, NULL, k_other, (void *)i);
	pthread_barrier_wait(&barrier);
	usleep(100000);
}

/* After a report, the other threads go on. */
static int others_go_on(void)
{
	unsigned long before;

	if (!sigsetjmp(out, 1))
		k_outer();
	before = turns;
	usleep(100000);
	return caught == 1 && turns != before ? 0 : 1;
}

/* Overwrites all of the heap. */
FRAME void k_heap(void)
{
	char *end = sbrk(0), *at = malloc(1);

	at = (char *)((unsigned long)at & -4096UL);
	memset(at, 0x41, (size_t)(end - at));
	k_crash();
	AFTER;
}

/* Makes the unwind information of the program unreadable: the walk crashes. */
static int hide(struct dl_phdr_info *info, size_t size, void *data)
{
	int i;

	(void)size;
	(void)data;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
			unsigned long at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

			mprotect((void *)(at & -4096UL), 4096, PROT_NONE);
		}
	return 1;
}

/* @action for the system calls in @numbers. */
static void filter(unsigned int action, const int *numbers, int nr)
{
	struct sock_filter program[64];
	struct sock_fprog all = { .filter = program };
	int i, n = 0;

	program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	for (i = 0; i < nr; i++) {
		program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
	program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	all.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
		_exit(77);
}

static void seccomp_filter(void)
{
	static const int few[] = { SYS_process_vm_readv };
	static const int ptraces[] = { SYS_ptrace, SYS_clone, SYS_wait4 };
	static const int many[] = { SYS_process_vm_readv, SYS_poll, SYS_clock_gettime, SYS_prctl, SYS_kill,
				    SYS_rt_tgsigqueueinfo, SYS_nanosleep };

	if (is("seccomp-eperm"))
		filter(SECCOMP_RET_ERRNO | EPERM, few, 1);
	else if (is("seccomp-trap"))
		filter(SECCOMP_RET_TRAP, few, 1);
	else if (is("seccomp-ptrace"))
		filter(SECCOMP_RET_ERRNO | EPERM, &ptraces[0], 1);
	else if (is("seccomp-ptrace-trap"))
		filter(SECCOMP_RET_TRAP, &ptraces[0], 1);
	else if (is("seccomp-clone"))
		filter(SECCOMP_RET_ERRNO | EPERM, &ptraces[1], 1);
	else if (is("seccomp-wait"))
		filter(SECCOMP_RET_TRAP, &ptraces[2], 1);
	else
		filter(is("seccomp-many") ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_TRAP, many, 7);
}

/* ------------------------------------------------------------ handlers that were there before */

static void on_exit_42(int number, siginfo_t *info, void *context)
{
	(void)context;
	_exit(number == SIGSEGV && info->si_code == SEGV_MAPERR && !info->si_addr ? 42 : 1);
}

static void on_recover(int number)
{
	(void)number;
	caught++;
	siglongjmp(out, 1);
}

static void on_thread_end(int number)
{
	(void)number;
	caught++;
	pthread_exit(NULL);
}

static void on_count(int number)
{
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	/* SIGUSR1 is in sa_mask; SIGSEGV itself is blocked, SIGUSR2 is not */
	caught += sigismember(&mask, SIGUSR1) && sigismember(&mask, number) && !sigismember(&mask, SIGUSR2);
}

static void before(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_flags = flags };

	if (flags & SA_SIGINFO)
		action.sa_sigaction = on_exit_42;
	else
		action.sa_handler = handler;
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(number, &action, NULL);
}

static void handlers(void)
{
	if (is("chain"))
		before(SIGSEGV, NULL, SA_SIGINFO);
	else if (is("recover") || is("closed-pipe") || is("others-go-on"))
		before(SIGSEGV, on_recover, 0);
	else if (is("second-recovers"))
		before(SIGSEGV, on_thread_end, 0);
	else if (is("returns"))
		before(SIGSEGV, on_count, 0);
	else if (is("reset"))
		before(SIGSEGV, on_count, (int)SA_RESETHAND);
	else if (is("ignored")) {
		signal(SIGTRAP, SIG_IGN);
		signal(SIGSEGV, SIG_IGN);
	}
}

/* ------------------------------------------------------------ what happens */

static int in_child(pid_t child)
{
	int status;

	if (!child) {
		k_outer();
		_exit(0);
	}
	if (is("zombie"))
		return 1;
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/* Their alternate stacks must be freed. */
static void *no_crash(void *unused)
{
	(void)unused;
	return kunwind_crash_thread() ? null : NULL;
}

static int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int c, lines = 0;

	while (maps && (c = getc(maps)) != EOF)
		lines += c == '\n';
	if (maps)
		fclose(maps);
	return lines;
}

static int end_threads(void)
{
	int i, nr;

	in_threads(no_crash, 64);
	nr = count_mappings();
	for (i = 0; i < 10; i++)
		in_threads(no_crash, 64);
	return nr && count_mappings() <= nr + 8 ? 0 : 1;
}

static int happen(void)
{
	volatile int i;

	if (!strncmp(mode, "others", 6) || is("seccomp-ptrace") || is("seccomp-ptrace-trap") ||
	    is("seccomp-clone") || is("seccomp-wait") || is("full-pipe"))
		begin_others();
	if (is("overflow-thread"))
		in_threads(k_overflow, 1);
	else if (is("together") || is("second-recovers"))
		in_threads(k_together, 8);
	else if (is("breakpoint"))
		__asm__ volatile("int3");
	else if (is("slow-pipe"))
		k_recurse(0);
	else if (is("heap"))
		k_heap();
	else if (is("others-go-on"))
		return others_go_on();
	else if (is("others-nested") || is("nested")) {
		dl_iterate_phdr(hide, NULL);
		k_outer();
	} else if (is("threads-end"))
		return end_threads();
	else if (!strncmp(mode, "seccomp", 7))
		seccomp_filter();
	else if (is("recover") || is("closed-pipe")) {
		for (i = 0; i < 3; i++)
			if (!sigsetjmp(out, 1))
				k_outer();
		return caught == 3 ? 0 : 1;
	} else if (is("returns")) {
		for (i = 0; i < 3; i++)
			raise(SIGSEGV);
		return caught == 3 ? 0 : 1;
	} else if (is("reset")) {
		raise(SIGSEGV);
		if (caught != 1)
			return 1;
	} else if (is("ignored")) {
		raise(SIGTRAP);
		raise(SIGSEGV);
	} else if (is("fork") || is("forked-twice")) {
		if (!in_child(fork()) || (is("forked-twice") && !in_child(fork())))
			return 1;
	} else if (is("vfork") || is("zombie") || is("others-vfork")) {
		if (!in_child(vfork()))
			return 1;
	} else if (is("blocked")) {
		sigset_t all;

		sigfillset(&all);
		sigdelset(&all, SIGSEGV);
		sigprocmask(SIG_SETMASK, &all, NULL);
	}
#ifdef LOCKED
	if (is("malloc"))
		k_allocate();
#endif
	k_outer();
	return 1;
}

static int begin(const char *path, const char *receiver)
{
#ifdef PRELOADED
	(void)path;
	(void)receiver;
	return 0;
#else
	struct kunwind_crash_options options = { .size = sizeof(options), .most_frames = 10000,
						 .receiver = receiver };

	if (strncmp(path, "fd:", 3))
		options.path = path;
	else
		options.fd = atoi(path + 3);
	if (is("full-pipe") || is("slow-pipe") || is("receiver-hangs"))
		options.deadline_ms = 300;
	return kunwind_crash_init(&options) || kunwind_crash_init(&options) != -EALREADY;
#endif
}

int main(int argc, char **argv)
{
	int ret;

	if (argc < 3)
		return 2;
	mode = argv[1];
	handlers();
	if (begin(argv[2], argv[3]))
		return 3;
	ret = happen();
	AFTER;
	return ret;
}
