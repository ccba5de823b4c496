// SPDX-License-Identifier: MIT
/*
 * worker.c - count the iterations of a loop that is traced
 *
 *	worker [map] MODE SECONDS [FILE]
 *
 * MODE says what kunwind's walk of the stack meets:
 *	plain		nothing special
 *	code FILE	the loop's calls go through code that is mapped from
 *			FILE, the function of called.c
 *	dead FILE	the same; a second thread changes that mapping
 *	blind		a caller's frame is in pages that cannot be read
 * An iteration makes system calls, allocations in the kernel and page faults.
 * With "map" before MODE the program prints a line after it has mapped and
 * called FILE once, and waits for SIGUSR1. At the end it prints "ITERATIONS
 * NANOSECONDS", the second of which is the processor time of the process.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096UL
#define NOINLINE	__attribute__((noinline, noclone))

static volatile int go_on = 1;
static long limit_ns, turns;
static char *page, *code;
static int (*called)(int (*)(void));

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static long clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static NOINLINE int turn(void)
{
	int fds[2];

	if (madvise(page, PAGE, MADV_DONTNEED))
		die("madvise");
	*(volatile char *)page = 1;
	syscall(SYS_getppid);
	if (pipe(fds) || write(fds[1], page, 1) != 1 || read(fds[0], page, 1) != 1)
		die("pipe");
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static NOINLINE void loop(void)
{
	const long end = clock_ns(CLOCK_MONOTONIC) + limit_ns;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		if (called)
			called(turn);
		else
			turn();
		turns++;
	}
	go_on = 0;
}

static off_t text_of(int fd)
{
	const Elf64_Ehdr *ehdr;
	const Elf64_Phdr *phdr;
	char head[4096];
	int i;

	if (pread(fd, head, sizeof(head), 0) < (ssize_t)sizeof(*ehdr))
		die("read");
	ehdr = (const void *)head;
	phdr = (const void *)(head + ehdr->e_phoff);
	for (i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && (phdr[i].p_flags & PF_X))
			return phdr[i].p_offset;
	exit(2);
}

static void *change(void *arg)
{
	/* mprotect() makes the range dead for walks until it is read again. */
	while (go_on) {
		if (mprotect(code, PAGE, PROT_READ | PROT_EXEC))
			die("mprotect");
		usleep(100);
	}
	return arg;
}

/*
 * Runs the loop on a stack whose upper half, from the loop's caller on, cannot
 * be read. The frame of this function is on another stack; the compiler does
 * not know that rsp changes.
 */
static NOINLINE void on_blind_stack(void)
{
	char *room = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	char *top = room + 32 * PAGE;

	if (room == MAP_FAILED)
		die("mmap");
	if (mprotect(top, 32 * PAGE, PROT_NONE))
		die("mprotect");
	asm volatile("movq %%rsp, %%rbx\n\t"
		     "movq %0, %%rsp\n\t"
		     "call *%1\n\t"
		     "movq %%rbx, %%rsp"
		     : : "r"(top), "r"(loop)
		     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void on_signal(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	int wait = 0, i = 1;
	pthread_t changer;
	sigset_t set, old;
	const char *mode;
	int fd;

	if (argc > i && !strcmp(argv[i], "map")) {
		wait = 1;
		i++;
	}
	if (argc < i + 2)
		return 2;
	mode = argv[i];
	limit_ns = atof(argv[i + 1]) * 1e9;
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		die("mmap");
	if (argc > i + 2) {
		fd = open(argv[i + 2], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die(argv[i + 2]);
		code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, text_of(fd));
		if (code == MAP_FAILED)
			die("mmap");
		called = (void *)code;
		called(turn);
		/* Other pages leave the page cache, so kunwind has to read. */
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	sigaction(SIGUSR1, &action, NULL);
	if (wait) {
		puts("mapped");
		fflush(stdout);
		sigsuspend(&old);
	}
	if (!strcmp(mode, "dead") && pthread_create(&changer, NULL, change, NULL))
		die("pthread_create");
	if (!strcmp(mode, "blind"))
		on_blind_stack();
	else
		loop();
	if (!strcmp(mode, "dead"))
		pthread_join(changer, NULL);
	printf("%ld %ld\n", turns, clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
