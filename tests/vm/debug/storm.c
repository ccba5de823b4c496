// SPDX-License-Identifier: MIT
/*
 * storm.c - make many kinds of work for kunwind at once, on a kernel with
 * checkers
 *
 *	storm MODE [SECONDS [ARGUMENT...]]
 *
 * Only the form of the returned stacks is checked; the kernel's log decides
 * whether a test passed. Each mode runs for SECONDS in a process that has
 * registered itself and its children. The status is 0 if the ABI allows the
 * result of each call.
 *
 *	fork      children that exit, die by signals, vfork and exec; threads that end
 *	map       threads map, protect, move and unmap code at shared addresses
 *	dlopen    loads and unloads the libraries ARGUMENT...
 *	walk      deep stacks, and signal handlers on an alternate stack
 *	register  registers, unregisters itself, its children, PIDs ARGUMENT...
 *	fuzz      any ioctl with any argument
 *	fail      repeats each call while its Nth allocation fails, for N from 1
 *		  until the call has no Nth one; only some N if SECONDS is not 0
 *	failfork  the same for fork(); for manual tests only, because the kernel
 *		  warns with a trace when it cannot allocate the child's stack
 *	run       registers itself and execs the program ARGUMENT...
 *	apart     the mode that follows (fork, map, dlopen or walk), without the
 *		  device: "kunwind system-wide" registers the process, and the module
 *		  may be unloaded
 *	leaf      takes one call stack and exits; the other modes exec this
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../kmod/uapi/kunwind.h"

#define NOINLINE	__attribute__((noinline, noclone))

static int device = -1;
static bool apart;
static time_t end_time;
static volatile int failures;

static void complain(const char *what, long got, int error)
{
	fprintf(stderr, "storm: %s: %ld (%s)\n", what, got, strerror(error));
	failures++;
}

static void open_device(void)
{
	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0) {
		perror(KUNWIND_DEVICE);
		exit(2);
	}
}

static bool more(void)
{
	return time(NULL) < end_time && failures < 20;
}

/* Returns 0 or the errno. @pid 0 is this process. */
static int process_call(unsigned long call, pid_t pid, unsigned int flags)
{
	struct kunwind_process process = { .size = sizeof(process), .flags = flags, .mem_fd = -1 };
	char path[64];
	int error;

	if (pid) {
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		process.mem_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (process.mem_fd < 0)
			return ESRCH;
	}
	error = ioctl(device, call, &process) ? errno : 0;
	if (process.mem_fd >= 0)
		close(process.mem_fd);
	if (!error && call == KUNWIND_IOC_REGISTER && process.nr_ready > process.nr_maps)
		complain("more maps ready than there are", process.nr_ready, 0);
	return error;
}

static int callstack(unsigned int capacity)
{
	static __thread uint64_t addresses[KUNWIND_MAX_FRAMES];
	struct kunwind_callstack stack = {
		.size = sizeof(stack),
		.addresses = (uintptr_t)addresses,
		.capacity = capacity,
	};

	if (apart)
		return ENOENT;
	if (ioctl(device, KUNWIND_IOC_CALLSTACK, &stack))
		return errno;
	if (!stack.count || stack.count > capacity || stack.reason >= KUNWIND_NR_REASONS)
		complain("shape of a stack", stack.count, 0);
	return 0;
}

static void one_stack(void)
{
	/* not rand(): code that a signal interrupts may hold its lock */
	static __thread unsigned int seed;
	int error = callstack(1 + rand_r(&seed) % KUNWIND_MAX_FRAMES);

	if (error && error != ENOENT && error != EOPNOTSUPP && error != ENOMEM)
		complain("callstack", -1, error);
	syscall(SYS_getppid);
}

static NOINLINE int deep(int n)
{
	volatile char room[64];

	room[n % 64] = 0;
	if (n <= 0)
		one_stack();
	else
		deep(n - 1);
	__asm__ volatile("" ::: "memory");
	return room[n % 64];
}

static void *short_thread(void *unused)
{
	deep(rand() % 50);
	return unused;
}

static void *wait_thread(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* A thread of the process dies by a signal, while other threads wait. */
static void die(int number)
{
	pthread_t thread;

	signal(number, SIG_DFL);
	pthread_create(&thread, NULL, wait_thread, NULL);
	pthread_create(&thread, NULL, wait_thread, NULL);
	if (number == SIGTERM)
		kill(getpid(), number);		/* any thread may take it */
	else
		raise(number);
	pause();
}

static void storm_fork(void)
{
	while (more()) {
		pthread_t threads[4];
		static int kind;	/* a register could be lost in vfork() */
		int i;

		kind = rand() % 6;
		for (i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, short_thread, NULL))
				break;
		pid_t pid = kind == 1 ? vfork() : fork();
		if (!pid) {
			if (kind == 0)
				_exit(0);
			if (kind == 2)
				raise(SIGKILL);
			if (kind == 3)
				deep(30);
			if (kind > 3)
				die(kind == 4 ? SIGABRT : SIGTERM);
			execl("/proc/self/exe", "storm", apart ? "apart" : "leaf", "leaf", NULL);
			_exit(3);
		}
		while (i--)
			pthread_join(threads[i], NULL);
		if (pid > 0 && waitpid(pid, NULL, 0) != pid)
			complain("waitpid", -1, errno);
	}
}

/* The addresses at which all threads of "map" change mappings. */
#define ARENA_PAGES	256
static char *arena;
static int code_file;

static void *map_thread(void *arg)
{
	unsigned int seed = (uintptr_t)arg;

	while (more()) {
		size_t page = rand_r(&seed) % ARENA_PAGES, n = 1 + rand_r(&seed) % 8;
		char *at = arena + page * 4096;

		if (page + n > ARENA_PAGES)
			n = ARENA_PAGES - page;
		switch (rand_r(&seed) % 8) {
		case 0:
		case 1:
			mmap(at, n * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			     code_file, (rand_r(&seed) % 4) * 4096);
			break;
		case 2:
			mmap(at, n * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
			break;
		case 3:
			mprotect(at, n * 4096, PROT_READ);
			break;
		case 4:
			mprotect(at, n * 4096, PROT_READ | PROT_EXEC);
			break;
		case 5:
			munmap(at, n * 4096);
			break;
		case 6:
			mremap(at, n * 4096, n * 4096, MREMAP_MAYMOVE | MREMAP_FIXED,
			       arena + (rand_r(&seed) % (ARENA_PAGES - n)) * 4096);
			break;
		default:
			deep(rand_r(&seed) % 20);
		}
	}
	return NULL;
}

static void storm_map(void)
{
	pthread_t threads[4];
	uintptr_t i;

	code_file = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY);
	arena = mmap(NULL, ARENA_PAGES * 4096, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (code_file < 0 || arena == MAP_FAILED) {
		complain("arena", -1, errno);
		return;
	}
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, map_thread, (void *)(i + 1));
	while (more()) {
		pid_t pid = fork();

		if (!pid) {
			deep(5);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		usleep(1000);
	}
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void storm_dlopen(int count, char **libraries)
{
	while (more()) {
		void *handle = dlopen(libraries[rand() % count], RTLD_NOW | RTLD_LOCAL);

		if (!handle) {
			complain(dlerror(), -1, 0);
			return;
		}
		deep(3);
		dlclose(handle);
		deep(3);
	}
}

/* Armed again only by the handler, so that slow machines do other work, too. */
static void arm_timer(void)
{
	struct itimerval timer = { .it_value.tv_usec = 20000 };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_signal(int number)
{
	deep(number == SIGUSR2 ? 40 : 2);
	if (number == SIGALRM)
		arm_timer();
}

static void storm_walk(void)
{
	static char alternate[65536];
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	arm_timer();
	while (more()) {
		deep(rand() % 3000);
		raise(SIGUSR2);
	}
}

static void storm_register(int count, char **pids)
{
	while (more()) {
		pid_t pid = 0;
		int error;

		if (count && rand() % 2)
			pid = atoi(pids[rand() % count]);
		error = process_call(rand() % 2 ? KUNWIND_IOC_REGISTER : KUNWIND_IOC_UNREGISTER, pid,
				     0);
		if (error && error != ESRCH && error != ENOENT && error != EBADF && error != ENOMEM)
			complain("register or unregister", -1, error);
		one_stack();
		if (rand() % 16 == 0) {
			pid = fork();
			if (!pid) {
				process_call(KUNWIND_IOC_REGISTER, getppid(), KUNWIND_REGISTER_CHILDREN);
				deep(4);
				_exit(0);
			}
			process_call(KUNWIND_IOC_REGISTER, pid, 0);
			waitpid(pid, NULL, 0);
		}
	}
}

static void storm_fuzz(void)
{
	static uint64_t good[4096];
	uint64_t argument[16];
	size_t i;

	while (more()) {
		unsigned int call = _IOC(rand() % 4, KUNWIND_IOC_MAGIC, 0xdf + rand() % 7, rand() % 512);
		void *pointer = argument;

		for (i = 0; i < 16; i++) {
			static const uint64_t odd[] = {
				0, 1, 8, 64, 4095, 4096, 4097, 0x7fffffffffff, 0x800000000000, ~0ULL,
				0xffffffff, 0x80000000, 0xffffffff81000000,
			};
			int kind = rand() % 4;

			argument[i] = kind == 0 ? (uintptr_t)good :
				      kind == 1 ? (uint64_t)rand() << 32 | rand() :
						  odd[rand() % (sizeof(odd) / sizeof(*odd))];
		}
		/* size and flags, then mem_fd */
		argument[0] = rand() % 8 ? 8U * (rand() % 16) : (unsigned int)rand();
		argument[0] |= rand() % 4 ? 0 : (uint64_t)rand() << 32;
		if (rand() % 4 == 0)
			argument[1] = (unsigned int)(device - rand() % 3);
		if (rand() % 16 == 0)
			pointer = (void *)(uintptr_t)argument[3];
		ioctl(device, call, pointer);
		ioctl(device, KUNWIND_IOC_REGISTER + (rand() % 4 << 16), pointer);
	}
}

/*
 * Calls @call while its first allocation fails, then its second, and so on,
 * until none fails. @sparse: only for some of the allocations, fewer and fewer
 * of them.
 */
static int fail_each(const char *what, int (*call)(void), bool sparse)
{
	int fd = open("/proc/self/fail-nth", O_RDWR), n;
	char text[16];

	if (fd < 0) {
		complain("fail-nth", -1, errno);
		return -1;
	}
	for (n = 1; n < 20000; n += sparse ? 1 + n / 8 : 1) {
		int length = snprintf(text, sizeof(text), "%d", n), error;

		if (pwrite(fd, text, length, 0) != length) {
			complain("fail-nth", n, errno);
			break;
		}
		error = call();
		length = pread(fd, text, sizeof(text) - 1, 0);
		text[length > 0 ? length : 0] = '\0';
		pwrite(fd, "0", 1, 0);
		if (error && error != ENOMEM && error != EFAULT && error != ENOENT && error != ESRCH)
			complain(what, n, error);
		if (atoi(text))
			break;
	}
	printf("%s: %d allocations, %s failed once\n", what, n - 1, sparse ? "some" : "each");
	close(fd);
	return n < 20000 ? 0 : -1;
}

static int fail_register(void)
{
	int error = process_call(KUNWIND_IOC_REGISTER, 0, KUNWIND_REGISTER_CHILDREN);

	callstack(100);
	return error;
}

static int fail_register_anew(void)
{
	process_call(KUNWIND_IOC_UNREGISTER, 0, 0);
	return fail_register();
}

static int fail_open(void)
{
	int fd = open(KUNWIND_DEVICE, O_RDWR);
	char text[4096];

	if (fd < 0)
		return errno;
	while (read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
	return 0;
}

static int fail_mmap(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, code_file, 0);

	if (at == MAP_FAILED)
		return errno;
	callstack(100);
	munmap(at, 4096);
	return 0;
}

static int fail_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		callstack(100);
		_exit(0);
	}
	if (pid < 0)
		return errno == EAGAIN ? ENOMEM : errno;
	waitpid(pid, NULL, 0);
	return 0;
}

static void storm_fail(bool sparse)
{
	int failed = 0;

	code_file = open("/proc/self/exe", O_RDONLY);
	failed |= fail_each("register anew", fail_register_anew, sparse);
	failed |= fail_each("register again", fail_register, sparse);
	failed |= fail_each("status", fail_open, sparse);
	failed |= fail_each("mmap", fail_mmap, sparse);
	if (failed)
		failures++;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const struct rlimit no_core = { 0, 0 };
	int seconds = argc > 2 ? atoi(argv[2]) : 5, error, tries = 1000;

	srand(getpid());
	setrlimit(RLIMIT_CORE, &no_core);
	if (!strcmp(mode, "apart") && argc > 2) {
		apart = true;
		mode = (++argv)[1];
		argc--;
		seconds = argc > 2 ? atoi(argv[2]) : 5;
	}
	end_time = time(NULL) + seconds;
	if (!apart)
		open_device();
	if (!strcmp(mode, "leaf")) {
		deep(10);
		return failures != 0;
	}
	/* If allocations fail at random, one of the next calls succeeds. */
	do
		error = apart ? 0 : process_call(KUNWIND_IOC_REGISTER, 0, KUNWIND_REGISTER_CHILDREN);
	while (error == ENOMEM && tries--);
	if (error) {
		complain("register", -1, error);
		return 1;
	}
	if (!strcmp(mode, "run") && argc > 2) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		return 127;
	}
	if (!strcmp(mode, "fork"))
		storm_fork();
	else if (!strcmp(mode, "map"))
		storm_map();
	else if (!strcmp(mode, "dlopen") && argc > 3)
		storm_dlopen(argc - 3, argv + 3);
	else if (!strcmp(mode, "walk"))
		storm_walk();
	else if (!strcmp(mode, "register"))
		storm_register(argc > 3 ? argc - 3 : 0, argv + 3);
	else if (!strcmp(mode, "fuzz"))
		storm_fuzz();
	else if (!strcmp(mode, "fail"))
		storm_fail(seconds);
	else if (!strcmp(mode, "failfork"))
		failures += fail_each("fork", fail_fork, seconds) != 0;
	else {
		fprintf(stderr, "storm: see the head of its source\n");
		return 2;
	}
	return failures != 0;
}
