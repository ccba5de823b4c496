// SPDX-License-Identifier: MIT
/*
 * shares.c - programs of t-shares.sh
 *
 *	shares map FILE...
 *		registers itself, maps the files' code, waits for the end of its
 *		input
 *	shares idle NR FILE DIR
 *		registers itself, copies FILE NR times into DIR, maps and unmaps
 *		each copy's code
 *	shares dirty NR DIR
 *		makes NR children named "dirty", each with a dirty shared
 *		mapping of one of DIR/0 to DIR/NR-1, until the end of its input
 *	shares moves NR FILE
 *		a registered child has NR threads; ptrace stops each at the exit
 *		of an mremap() that fails. After a line of input the child maps
 *		FILE's code; at the end of the input the threads go on
 */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../../kmod/uapi/kunwind.h"

#define MOST_THREADS	1000
/* The destination of the mremap() calls contains all code of the process. */
#define PLACE		((void *)0x20000000)
#define PLACE_SIZE	0x7fffd0000000UL
#define NOTHING		((void *)0x10000)

static int device;

static void enroll(void)
{
	struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };

	device = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, KUNWIND_IOC_REGISTER, &process))
		err(2, "registration");
}

static void *map_code(const char *path)
{
	int i, fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t text = -1;
	Elf64_Phdr segment;
	Elf64_Ehdr elf;
	void *page;

	if (fd < 0)
		err(2, "%s", path);
	/* Reads of other files may hang: they are mapped from their start. */
	if (strstr(path, ".so") && pread(fd, &elf, sizeof(elf), 0) == sizeof(elf))
		for (i = 0; i < elf.e_phnum; i++)
			if (pread(fd, &segment, sizeof(segment), elf.e_phoff + i * sizeof(segment)) ==
			    sizeof(segment) && segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
				text = segment.p_offset & -4096L;
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, text < 0 ? 0 : text);
	if (page == MAP_FAILED)
		err(2, "%s", path);
	close(fd);
	return page;
}

static bool line_of_input(void)
{
	char byte = 0;

	fflush(stdout);
	while (byte != '\n')
		if (read(0, &byte, 1) <= 0)
			return false;
	return true;
}

static void map(char **paths)
{
	enroll();
	while (*paths)
		map_code(*paths++);
	puts("mapped");
	while (line_of_input())
		;
}

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0644);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) || sendfile(out, in, NULL, st.st_size) != st.st_size)
		err(2, "%s", to);
	close(in);
	close(out);
}

static void idle(int nr, const char *file, const char *dir)
{
	char path[4096];
	int i;

	enroll();
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%d.so", dir, i);
		copy(file, path);
		munmap(map_code(path), 4096);
	}
}

static void dirty(int nr, const char *dir)
{
	char path[4096], *page;
	int i, fd, ready[2];

	if (nr > MOST_THREADS || pipe(ready))
		err(2, "pipe");
	for (i = 0; i < nr; i++) {
		if (fork())
			continue;
		/* the child ends with its parent, or earlier */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "dirty");
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		fd = open(path, O_RDWR);
		page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (page == MAP_FAILED)
			err(2, "%s", path);
		*(volatile char *)page = 1;
		if (write(ready[1], "", 1) != 1)
			err(2, "pipe");
		for (;;)
			pause();
	}
	for (i = 0; i < nr; i++)
		if (read(ready[0], path, 1) != 1)
			err(2, "pipe");
	puts("mapped");
	while (line_of_input())
		;
}

static struct shared {
	volatile bool go, mapped, end;
	unsigned int frames, by_table;	/* of the stack taken during the mremap() calls */
} *shared;

static void *moves(void *nothing)
{
	if (mremap(NOTHING, 4096, PLACE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, PLACE) != MAP_FAILED ||
	    errno != EFAULT)
		err(2, "mremap");
	return nothing;
}

/* Takes a stack. Returns the reason; *by_table: number of frames by tables. */
static unsigned int stack_reason(unsigned int *frames, unsigned int *by_table)
{
	__u64 addresses[64];
	__u8 trust[64];
	struct kunwind_callstack stack = {
		.size = sizeof(stack), .capacity = 64, .addresses = (unsigned long)addresses,
		.trust = (unsigned long)trust,
	};
	unsigned int i;

	if (ioctl(device, KUNWIND_IOC_CALLSTACK, &stack))
		err(2, "KUNWIND_IOC_CALLSTACK");
	*frames = stack.count;
	*by_table = 0;
	for (i = 0; i < stack.count; i++)
		*by_table += trust[i] == KUNWIND_TRUST_CFI;
	return stack.reason;
}

static void child(int nr, const char *path)
{
	pthread_t threads[MOST_THREADS];
	unsigned int reason, frames, by_table;
	pthread_attr_t attr;
	int i;

	enroll();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < nr; i++)
		if (pthread_create(&threads[i], &attr, moves, NULL))
			errx(2, "thread");
	while (!shared->go)
		usleep(1000);
	map_code(path);
	stack_reason(&frames, &by_table);
	shared->frames = frames;
	shared->by_table = by_table;
	shared->mapped = true;
	while (!shared->end)
		usleep(1000);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	reason = stack_reason(&frames, &by_table);
	printf("reason %u, %s\n", reason, by_table ? "by tables" : "without tables");
	fflush(stdout);
	_exit(0);
}

static bool at_end_of_mremap(pid_t thread)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, thread, NULL, &regs))
		err(2, "PTRACE_GETREGS");
	return regs.orig_rax == SYS_mremap && (long)regs.rax != -ENOSYS;
}

static void trace(int nr, const char *path)
{
	pid_t held[MOST_THREADS], pid, thread;
	int status, nr_held = 0;

	pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			err(2, "PTRACE_TRACEME");
		raise(SIGSTOP);
		child(nr, path);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL))
		err(2, "ptrace");
	while (nr_held < nr) {
		thread = waitpid(-1, &status, __WALL);
		if (thread < 0 || !WIFSTOPPED(status))
			errx(2, "the process ended");
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) && at_end_of_mremap(thread))
			held[nr_held++] = thread;
		else
			ptrace(thread == pid ? PTRACE_CONT : PTRACE_SYSCALL, thread, NULL, NULL);
	}
	puts("held");
	line_of_input();
	shared->go = true;
	while (!shared->mapped)
		usleep(1000);
	printf("mapped, %u of %u frames by tables\n", shared->by_table, shared->frames);
	while (line_of_input())
		;
	while (nr_held)
		ptrace(PTRACE_DETACH, held[--nr_held], NULL, NULL);
	shared->end = true;
	while (waitpid(pid, &status, __WALL) == pid && !WIFEXITED(status) && !WIFSIGNALED(status))
		ptrace(PTRACE_CONT, pid, NULL, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "map") && argc > 2) {
		map(argv + 2);
	} else if (!strcmp(what, "idle") && argc == 5) {
		idle(atoi(argv[2]), argv[3], argv[4]);
	} else if (!strcmp(what, "dirty") && argc == 4) {
		dirty(atoi(argv[2]), argv[3]);
	} else if (!strcmp(what, "moves") && argc == 4 && atoi(argv[2]) <= MOST_THREADS) {
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED)
			err(2, "mmap");
		trace(atoi(argv[2]), argv[3]);
	} else {
		return 2;
	}
	return 0;
}
