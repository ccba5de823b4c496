// SPDX-License-Identifier: MIT
/*
 * stacks.cc - threads that block in system calls, called from frames that are
 * hard to unwind
 *
 * Each entry of the table "scenes" runs in a thread of its name. When all
 * threads have started, the main thread writes "ready" to standard output and
 * waits. No thread ends: the caller of this program kills it.
 *
 * With -DNO_DLOPEN (static builds) the scenes that use dlopen() are left out.
 * With an argument only the scene of that name runs. The scene rareg needs
 * -DRAREG: eu-stack is wrong about it, so gdb is its oracle, which is slow.
 */
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <alloca.h>
#ifndef NO_DLOPEN
#include <dlfcn.h>
#endif
#include <errno.h>
#include <ftw.h>
#include <immintrin.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "frames.h"

#define NOINLINE __attribute__((noinline, noclone))

/* Prevents tail calls and frames that functions share. */
#define KEEP() asm volatile("" ::: "memory")

static int pipe_fd[2];

/* Many ways to sleep. */
NOINLINE static void sleep_read() { char c; (void)!read(pipe_fd[0], &c, 1); KEEP(); }
NOINLINE static void sleep_nanosleep()
{
	struct timespec forever = { 100000, 0 };
	nanosleep(&forever, nullptr);
	KEEP();
}
NOINLINE static void sleep_poll() { poll(nullptr, 0, -1); KEEP(); }
NOINLINE static void sleep_pause() { pause(); KEEP(); }
NOINLINE static void sleep_futex()
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&never, &mutex);
}
NOINLINE static void sleep_epoll()
{
	struct epoll_event event;
	epoll_wait(epoll_create1(0), &event, 1, -1);
	KEEP();
}
NOINLINE static void sleep_sigsuspend()
{
	sigset_t none;
	sigemptyset(&none);
	sigsuspend(&none);
	KEEP();
}
NOINLINE static void sleep_syscall() { syscall(SYS_pause); KEEP(); }

/* Over-aligned frames: the CFA is in a register (DRAP) or relative to rbp. */
NOINLINE static int overaligned(int n)
{
	alignas(64) volatile char block[192];
	alignas(128) volatile char *extra = static_cast<volatile char *>(alloca(16 + n));
	block[n & 127] = 1;
	extra[0] = 2;
	sleep_read();
	return block[0] + extra[0];
}

__attribute__((target("avx2"))) NOINLINE static int vectors(int n)
{
	__m256i a = _mm256_set1_epi32(n), b[8];
	for (int i = 0; i < 8; i++)
		b[i] = _mm256_add_epi32(a, _mm256_set1_epi32(i));
	asm volatile("" :: "m"(b) : "memory");
	sleep_poll();
	asm volatile("" :: "m"(b) : "memory");
	return _mm256_extract_epi32(b[n & 7], 0);
}

NOINLINE static int with_alloca(int n)
{
	volatile char *p = static_cast<volatile char *>(alloca(100 + 16 * n));
	p[n] = 1;
	if (n > 0)
		n = with_alloca(n - 1);
	else
		sleep_nanosleep();
	return p[n] + 1;
}

/* Arguments pushed on the stack move the CFA inside the function. */
struct big { long word[9]; };
NOINLINE static long by_value(struct big a, struct big b, int n)
{
	sleep_pause();
	return a.word[n] + b.word[n];
}
NOINLINE static long variadic(int n, ...)
{
	va_list ap;
	long sum = 0;
	struct big x = {}, y = {};
	va_start(ap, n);
	while (n-- > 0)
		sum += va_arg(ap, long);
	va_end(ap);
	return sum + by_value(x, y, static_cast<int>(sum & 7));
}

NOINLINE static int deep(int n)
{
	volatile int here = n;
	if (n == 0)
		sleep_read();
	else
		deep(n - 1);
	KEEP();
	return here;
}

/* The last instruction is a call: the return address is past the function. */
[[noreturn]] NOINLINE static void never_returns()
{
	for (;;)
		sleep_poll();
}
NOINLINE static void ends_in_call(int n)
{
	volatile int here = n;
	(void)here;
	never_returns();
}

struct animal {
	virtual ~animal() {}
	virtual int speak(int n) = 0;
};
struct dog final : animal {
	int speak(int n) override { sleep_epoll(); return n; }
};
NOINLINE static int ask(animal *a) { int r = a->speak(3); KEEP(); return r; }

NOINLINE static void thrower(int n)
{
	std::string s(static_cast<size_t>(n), 'x');
	if (n > 2)
		throw std::runtime_error(s);
	thrower(n + 1);
	KEEP();
}
NOINLINE static void catcher()
{
	try {
		thrower(0);
	} catch (const std::exception &e) {
		if (e.what()[0])
			sleep_read();
	}
	KEEP();
}

/* A destructor that a landing pad calls while an exception is thrown. */
struct guard {
	NOINLINE ~guard() { sleep_nanosleep(); }
};
NOINLINE static void cleanup()
{
	try {
		guard g;
		thrower(1);
	} catch (...) {
	}
	KEEP();
}

NOINLINE static void rethrow()
{
	try {
		try {
			thrower(1);
		} catch (const std::runtime_error &) {
			thrower(2);
		}
	} catch (...) {
		std::exception_ptr p = std::current_exception();
		try {
			std::rethrow_exception(p);
		} catch (...) {
			sleep_sigsuspend();
		}
	}
	KEEP();
}

/* Callbacks from libc. */
static int compare(const void *, const void *) { sleep_read(); return 0; }
NOINLINE static void sorted()
{
	int v[4] = { 3, 1, 2, 0 };
	qsort(v, 4, sizeof(*v), compare);
	KEEP();
}
static int compare_throw(const void *, const void *) { throw 1; }
NOINLINE static void sort_throws()
{
	int v[4] = { 3, 1, 2, 0 };
	try {
		qsort(v, 4, sizeof(*v), compare_throw);
	} catch (int) {
		sorted();
	}
	KEEP();
}
static int visited(const char *, const struct stat *, int, struct FTW *) { sleep_poll(); return 1; }
static int object(struct dl_phdr_info *, size_t, void *) { sleep_read(); return 1; }
static int tree_compare(const void *a, const void *b) { return a < b ? -1 : a > b; }
static void tree_visit(const void *, VISIT, int) { sleep_pause(); }
static ssize_t cookie_read(void *, char *, size_t) { sleep_read(); return 0; }

/* Signal handlers. */
static void handler_simple(int) { sleep_read(); }
static void handler_info(int, siginfo_t *, void *) { sleep_poll(); }
static void handler_inner(int) { sleep_nanosleep(); }
static void handler_outer(int) { raise(SIGUSR2); KEEP(); }
static void install(int sig, void (*fn)(int), int flags)
{
	struct sigaction action = {};
	action.sa_handler = fn;
	action.sa_flags = flags;
	sigaction(sig, &action, nullptr);
}
static void alternate_stack()
{
	stack_t stack = {};
	stack.ss_size = 65536;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
}

#ifdef __x86_64__
static ucontext_t coroutine_main, coroutine;
static void coroutine_body() { sleep_read(); }
static void inner_coroutine_body()
{
	sorted();
}
#endif

static void *cancel_async(void *)
{
	int old;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	sleep_read();
	return nullptr;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void run_once() { sleep_read(); }

struct in_thread_exit {
	int touched = 0;
	~in_thread_exit() { sleep_read(); }
};

struct scene {
	const char *name;
	std::function<void()> play;
};

/* Set by the scenes dlopen and constructor when their library is loaded. */
static volatile int held;

static const std::vector<scene> scenes = {
	{ "lambda", [] { [](int n) NOINLINE { sleep_read(); return n; }(1); KEEP(); } },
	{ "function", [] {
		std::function<int(int)> inner = [](int n) { sleep_futex(); return n; };
		std::function<int(int)> outer = [&inner](int n) { return inner(n + 1) + 1; };
		outer(1);
	} },
	{ "caught", [] { catcher(); } },
	{ "cleanup", [] { cleanup(); } },
	{ "rethrow", [] { rethrow(); } },
	{ "qsort", [] { sorted(); } },
	{ "qsort-throw", [] { sort_throws(); } },
	{ "std-sort", [] {
		std::vector<int> v = { 5, 4, 3, 2, 1 };
		std::sort(v.begin(), v.end(), [](int a, int b) { sleep_nanosleep(); return a < b; });
	} },
	{ "nftw", [] { nftw("/etc", visited, 4, FTW_PHYS); KEEP(); } },
	{ "twalk", [] {
		void *root = nullptr;
		tsearch("key", &root, tree_compare);
		twalk(root, tree_visit);
		KEEP();
	} },
	{ "cookie", [] {
		cookie_io_functions_t io = {};
		char line[8];
		io.read = cookie_read;
		(void)!fgets(line, sizeof(line), fopencookie(nullptr, "r", io));
		KEEP();
	} },
	{ "signal", [] { install(SIGHUP, handler_simple, 0); raise(SIGHUP); } },
	{ "altstack", [] {
		alternate_stack();
		install(SIGTERM, handler_simple, SA_ONSTACK);
		raise(SIGTERM);
	} },
	{ "nested", [] {
		alternate_stack();
		install(SIGUSR1, handler_outer, SA_ONSTACK);
		install(SIGUSR2, handler_inner, 0);
		raise(SIGUSR1);
	} },
	{ "segv", [] {
		struct sigaction action = {};
		action.sa_sigaction = handler_info;
		action.sa_flags = SA_SIGINFO | SA_ONSTACK;
		alternate_stack();
		sigaction(SIGSEGV, &action, nullptr);
		asm volatile("movl $0, (%0)" :: "r"(8L));
	} },
	{ "firstbyte", [] { install(SIGILL, handler_simple, 0); first_byte(); KEEP(); } },
	{ "drap", [] { drap_by_expression(sleep_read); KEEP(); } },
#ifdef RAREG
	{ "rareg", [] { return_in_register(sleep_read); KEEP(); } },
#endif
	{ "twoepilogues", [] { early_return(nullptr); early_return(sorted); KEEP(); } },
	{ "alloca", [] { with_alloca(6); } },
	{ "overaligned", [] { overaligned(7); } },
	{ "vectors", [] {
		if (__builtin_cpu_supports("avx2"))
			vectors(5);
		else
			sleep_read();
	} },
	{ "variadic", [] { variadic(8, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L); } },
	{ "deep", [] { deep(300); } },
	{ "endsincall", [] { ends_in_call(3); } },
	{ "virtual", [] { dog d; ask(&d); } },
#ifdef __x86_64__	/* i386: no CFI at the return address that makecontext() sets */
	{ "coroutine", [] {
		static char stack[65536];
		getcontext(&coroutine);
		coroutine.uc_stack.ss_sp = stack;
		coroutine.uc_stack.ss_size = sizeof(stack);
		coroutine.uc_link = &coroutine_main;
		makecontext(&coroutine, coroutine_body, 0);
		swapcontext(&coroutine_main, &coroutine);
	} },
	{ "corosort", [] {
		static ucontext_t here, there;
		static char stack[65536];
		getcontext(&there);
		there.uc_stack.ss_sp = stack;
		there.uc_stack.ss_size = sizeof(stack);
		there.uc_link = &here;
		makecontext(&there, inner_coroutine_body, 0);
		swapcontext(&here, &there);
	} },
#endif
	{ "cancel", [] { cancel_async(nullptr); } },
	{ "once", [] { pthread_once(&once, run_once); } },
	{ "threadexit", [] { static thread_local in_thread_exit x; x.touched = 1; } },
	{ "rawsyscall", [] { sleep_syscall(); } },
	{ "local-static", [] {
		static int value = [] { sleep_read(); return 1; }();
		(void)value;
	} },
#ifndef NO_DLOPEN
	{ "dlopen", [] {
		void *handle = dlopen(PLUGIN, RTLD_LAZY);
		if (!handle) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		held = 1;
		auto entry = reinterpret_cast<void (*)(void (*)())>(dlsym(handle, "plugin_call"));
		entry(sleep_read);
		KEEP();
	} },
	{ "constructor", [] {		/* a library's constructor, called by dlopen() */
		setenv("PLUGIN_BLOCKS", std::to_string(reinterpret_cast<long>(&held)).c_str(), 1);
		dlopen(PLUGIN_CTOR, RTLD_NOW);
	} },
#endif
	/* last, because it keeps a lock that dlopen() needs */
	{ "dl_iterate", [] { dl_iterate_phdr(object, nullptr); KEEP(); } },
};

static int started;

static void play(const scene &s)
{
	prctl(PR_SET_NAME, s.name);
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	s.play();
	KEEP();
}

int main(int argc, char **argv)
{
	const struct timespec tick = { 0, 20000000 };
	std::vector<std::thread> threads;
	int wanted = 0;

	if (pipe(pipe_fd))
		return 1;
	for (const scene &s : scenes) {
		if (argc > 1 && strcmp(argv[1], s.name))
			continue;
		wanted++;
		held = 0;
		threads.emplace_back(play, std::cref(s));
		/* one after the other, with time for each to take its lock */
		do {
			nanosleep(&tick, nullptr);
		} while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < wanted ||
			 ((!strcmp(s.name, "dlopen") || !strcmp(s.name, "constructor")) && !held));
	}
	puts("ready");
	fflush(stdout);
	for (std::thread &t : threads)
		t.join();
	return wanted ? 0 : 1;
}
