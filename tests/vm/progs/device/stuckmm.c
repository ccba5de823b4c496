// SPDX-License-Identifier: MIT
/*
 * stuckmm.c - a process whose mmap_lock stays locked for writing
 *
 *	stuckmm FILE
 *		FILE is on "stuckfs ... direct", whose reads get no answer
 *
 * One thread of a child reads from a mapping of FILE. Its page fault waits for
 * the file system with the page locked, but without mmap_lock. A second thread
 * maps FILE again. For a file that is opened for direct I/O, mmap() drops the
 * page cache, so this thread waits for that page, with mmap_lock held for
 * writing. Only an answer of the file system ends that wait, SIGKILL does not.
 *
 * Prints "stuck PID" when the second thread waits, and "free" when both threads
 * go on. The child lives until it is killed; the parent waits for it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
	volatile pid_t reader, mapper;	/* thread ids */
	volatile int go;		/* the mapper may map now */
	volatile int done;		/* threads whose wait has ended */
} *shared;

static int file;

static void *map_file(void)
{
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
}

static void *read_page(void *page)
{
	shared->reader = syscall(SYS_gettid);
	(void)*(volatile char *)page;
	__sync_fetch_and_add(&shared->done, 1);
	return NULL;
}

static void *map_again(void *unused)
{
	shared->mapper = syscall(SYS_gettid);
	while (!shared->go)
		usleep(1000);
	map_file();
	__sync_fetch_and_add(&shared->done, 1);
	return unused;
}

static void child(void)
{
	pthread_t reader, mapper;
	void *page = map_file();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (page == MAP_FAILED || pthread_create(&mapper, NULL, map_again, NULL) ||
	    pthread_create(&reader, NULL, read_page, page))
		exit(1);
	for (;;)
		pause();
}

/* Waits until thread @tid is in one of @states. */
static void await_state(pid_t pid, volatile pid_t *tid, const char *states)
{
	char path[64], text[256], *state;
	FILE *stat;

	for (;; usleep(1000)) {
		if (!*tid)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, *tid);
		stat = fopen(path, "r");
		if (!stat)
			exit(1);
		state = fgets(text, sizeof(text), stat) ? strrchr(text, ')') : NULL;
		fclose(stat);
		if (state && strchr(states, state[2]))
			return;
	}
}

int main(int argc, char **argv)
{
	pid_t pid;

	file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (file < 0 || shared == MAP_FAILED)
		return 2;
	pid = fork();
	if (!pid)
		child();
	/* The mapper is in usleep() before "go": state D is its mmap(). */
	await_state(pid, &shared->reader, "SD");
	await_state(pid, &shared->mapper, "S");
	shared->go = 1;
	await_state(pid, &shared->mapper, "D");
	printf("stuck %d\n", pid);
	fflush(stdout);
	while (shared->done < 2)
		usleep(10000);
	puts("free");
	fflush(stdout);
	waitpid(pid, NULL, 0);
	return 0;
}
