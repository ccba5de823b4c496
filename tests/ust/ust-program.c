// SPDX-License-Identifier: MIT
/*
 * ust-program.c - has events of LTTng-UST in all places, with its own record of its calls
 *
 *	ust-program MODE COUNT
 *
 * Each function of a path notes its return address. The events of a mode have serial numbers
 * from 0 to COUNT - 1, or those that the mode's function says. The last line of the output is
 * "done".
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "calls.h"

#define noinline	__attribute__((__noinline__))
#define MOST		2000

/* The record of a thread, or of a signal handler in it, from base on, the outermost call first. */
static __thread struct {
	int base, nr;
	uint64_t ra[MOST];
} own __attribute__((__tls_model__("initial-exec")));

static noinline void enter(void *ra)
{
	own.ra[own.nr] = (uint64_t)ra;
	__asm__ __volatile__("" : : : "memory");
	own.nr++;
}

#define ENTER()	enter(__builtin_return_address(0))
#define LEAVE()	(*(volatile int *)&own.nr = own.nr - 1)

/* Each call of emit() is an event. The path to it differs. */
static noinline void emit(uint64_t serial)
{
	uint64_t mine[MOST], all[MOST];
	int i, nr = own.nr - own.base + 1, all_nr;
	void *bt[MOST];

	mine[0] = (uint64_t)__builtin_return_address(0);
	for (i = 1; i < nr; i++)
		mine[i] = own.ra[own.nr - i];
	all_nr = backtrace(bt, MOST);
	for (i = 0; i < all_nr; i++)
		all[i] = (uint64_t)bt[i];
	lttng_ust_tracepoint(kunwind_test, call, serial, (void *)emit, mine, nr, all, all_nr);
	__asm__ __volatile__("");
}

static noinline void path(uint64_t serial, unsigned int way, int depth);

/* Frames of different sizes, with and without saved registers. */
#define STEP(n, size)								\
static noinline void step_##n(uint64_t serial, unsigned int way, int depth)	\
{										\
	volatile char room[size];						\
										\
	ENTER();								\
	room[0] = (char)depth;							\
	path(serial, way / 4, depth - 1 + 0 * room[0]);				\
	LEAVE();								\
}
STEP(0, 8)
STEP(1, 100)
STEP(2, 1000)

static noinline void step_3(uint64_t serial, unsigned int way, int depth)
{
	char *room;

	ENTER();
	room = __builtin_alloca(16 + way % 64);
	__asm__ __volatile__("" : : "r"(room) : "rbx", "r12", "r13", "r14", "r15", "memory");
	path(serial, way / 4, depth - 1);
	LEAVE();
}

static noinline void path(uint64_t serial, unsigned int way, int depth)
{
	ENTER();
	if (depth <= 0)
		emit(serial);
	else if (way % 4 == 0)
		step_0(serial, way, depth);
	else if (way % 4 == 1)
		step_1(serial, way, depth);
	else if (way % 4 == 2)
		step_2(serial, way, depth);
	else
		step_3(serial, way, depth);
	LEAVE();
}

static unsigned int random_of(uint64_t serial)
{
	return (unsigned int)((serial + 1) * 0x9e3779b97f4a7c15ULL >> 40);
}

static uint64_t count;

static noinline void many(uint64_t from, uint64_t to, unsigned int ways)
{
	uint64_t i;

	ENTER();
	for (i = from; i < to; i++)
		path(i, random_of(i % ways), 1 + (int)(i % ways) % 9);
	LEAVE();
}

static void mode_plain(void)
{
	many(0, count, 50);
}

/* Never the same stack again for a long time. */
static void mode_new(void)
{
	many(0, count, 100000);
}

/* Recursion to 1,600 frames. */
static void mode_deep(void)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		path(i, random_of(i), 50 + (int)(i % 15) * 50);
}

/* Five a second: each one has to be explained again. */
static void mode_slow(void)
{
	uint64_t i;

	for (i = 0; i < count; i++) {
		many(i, i + 1, 1);
		usleep(200000);
	}
}

#define THREADS	8
static void *thread(void *data)
{
	const uint64_t i = (uint64_t)data, each = count / THREADS;

	many(i * each, (i + 1) * each, 500);
	return NULL;
}

/* Emits all events with serial numbers up to count / THREADS * THREADS. */
static void mode_threads(void)
{
	pthread_t threads[THREADS];
	uint64_t i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* New threads all the time: 20 events each. */
static void *short_thread(void *data)
{
	const uint64_t from = (uint64_t)data;

	many(from, from + 20, 100);
	return NULL;
}

static void mode_short_threads(void)
{
	pthread_t one;
	uint64_t i;

	for (i = 0; i < count; i += 20) {
		pthread_create(&one, NULL, short_thread, (void *)i);
		pthread_join(one, NULL);
	}
}

static uint64_t signals;

static void on_signal(int nr)
{
	const uint64_t serial = __atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
	const int base = own.base, before = own.nr;

	(void)nr;
	/* The interrupted code may be about to set ra[nr]. */
	own.base = own.nr = before + 1;
	path(1000000000 + serial, (unsigned int)serial * 7, (int)(serial % 4));
	own.base = base;
	own.nr = before;
}

/* A timer's signals; the handler has events, on the same or another stack: serials from 1,000,000,000 on. */
static void nested(int flags)
{
	const struct itimerval every = { { 0, 300 }, { 0, 300 } }, stop = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART | flags };
	stack_t stack = { .ss_size = 256 << 10, .ss_sp = malloc(256 << 10) };

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	many(0, count, 300);
	setitimer(ITIMER_REAL, &stop, NULL);
	printf("signals %llu\n", (unsigned long long)signals);
}

static void mode_signals(void)
{
	nested(SA_NODEFER);
}

static void mode_altstack(void)
{
	nested(SA_ONSTACK);
}

/* Serials: the parent's even, the children's odd ones. */
static void mode_fork(void)
{
	uint64_t i;

	for (i = 0; i < count; i += 2) {
		many(i, i + 1, 30);
		if (i % 100 == 0) {
			const pid_t pid = fork();

			if (!pid) {
				uint64_t j;

				for (j = i; j < i + 100 && j < count; j += 2)
					many(j + 1, j + 2, 30);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
	}
}

static void mode_vfork(void)
{
	volatile uint64_t i;

	for (i = 0; i < count; i += 2) {
		pid_t pid;

		many(i, i + 1, 30);
		pid = vfork();
		if (!pid) {
			many(i + 1, i + 2, 30);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

typedef void plugin_fn(void (*back)(uint64_t), uint64_t serial, void (*note)(void *ra, int on));

static void note(void *ra, int on)
{
	if (on)
		enter(ra);
	else
		LEAVE();
}

static void from_plugin(uint64_t serial)
{
	ENTER();
	emit(serial);
	LEAVE();
}

/* Two plugins of different frames, one after the other, at the same address by chance. */
static void mode_dlopen(void)
{
	char name[4096], *slash;
	uint64_t i;

	if (readlink("/proc/self/exe", name, sizeof(name) - 30) < 0)
		return;
	for (i = 0; i < count; i++) {
		void *plugin;
		plugin_fn *call;

		slash = strrchr(name, '/');
		strcpy(slash + 1, i & 1 ? "ust-plugin-40.so" : "ust-plugin-24.so");
		plugin = dlopen(name, RTLD_NOW);
		if (!plugin) {
			puts(dlerror());
			return;
		}
		*(void **)&call = dlsym(plugin, "plugin");
		call(from_plugin, i, note);
		dlclose(plugin);
	}
}

/* All descriptors are closed, except what liblttng-ust-fd.so protects. */
static void mode_closed(void)
{
	int fd;

	many(0, count / 2, 30);
	for (fd = 3; fd < 1024; fd++)
		close(fd);
	many(count / 2, count, 30);
}

static void mode_chroot(void)
{
	many(0, count / 2, 30);
	if (chroot("/proc/self/fdinfo") || chdir("/"))
		puts("no chroot");
	many(count / 2, count, 30);
}

/* Only events in constructors and destructors: serials 2,000,000,000 and 2,000,000,001. */
static void mode_none(void)
{
}

static __attribute__((__constructor__)) void before(void)
{
	if (getenv("UST_OUTSIDE"))
		emit(2000000000);
}

static __attribute__((__destructor__)) void after(void)
{
	if (getenv("UST_OUTSIDE"))
		emit(2000000001);
}

/* Plain small events at the end of 20 frames. */
static noinline void tick(int depth)
{
	uint64_t i;

	ENTER();
	if (depth > 0)
		tick(depth - 1);
	else
		for (i = 0; i < count; i++)
			lttng_ust_tracepoint(kunwind_test, tick, (uint32_t)i);
	__asm__ __volatile__("");
}

static void mode_tick(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	tick(15);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	printf("ns %.1f\n", ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
	       (double)count);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "plain", mode_plain }, { "new", mode_new }, { "deep", mode_deep }, { "slow", mode_slow },
	{ "threads", mode_threads }, { "short-threads", mode_short_threads }, { "signals", mode_signals },
	{ "altstack", mode_altstack }, { "fork", mode_fork }, { "vfork", mode_vfork },
	{ "dlopen", mode_dlopen },
	{ "closed", mode_closed }, { "chroot", mode_chroot }, { "none", mode_none }, { "tick", mode_tick },
};

int main(int argc, char **argv)
{
	unsigned int i;
	void *one[1];

	backtrace(one, 1);	/* loads libgcc */
	count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	for (i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			puts("done");
			return 0;
		}
	fputs("usage: ust-program MODE COUNT\n", stderr);
	return 1;
}
