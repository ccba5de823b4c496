// SPDX-License-Identifier: MIT
/*
 * spawn-i386.c - a 32-bit program that starts other programs
 *
 * It prints its PID, the start and the end of its code, and the return address
 * of each function of its call chain. posix_spawn() calls glibc's clone(),
 * which has no CFI after its system call. The Makefile also builds this program
 * without CFI.
 */
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define DEPTH	8
#define TIMES	20

extern const char __executable_start[], etext[];
static void *chain[DEPTH + 1];

static NOINLINE int spawns(int left)
{
	char *const argv[] = { "true", NULL }, *const env[] = { NULL };
	int status = -1;
	pid_t pid;

	chain[left] = __builtin_return_address(0);
	if (left)
		return spawns(left - 1) | (chain[left] == NULL);
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, env))
		return 1;
	return waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	int i, failed = 0;

	for (i = 0; i < TIMES; i++)
		failed |= spawns(DEPTH);
	printf("%d\n%p\n%p\n", getpid(), (void *)__executable_start, (void *)etext);
	for (i = 0; i <= DEPTH; i++)
		printf("%p\n", chain[i]);
	return failed;
}
