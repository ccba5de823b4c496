// SPDX-License-Identifier: MIT
/*
 * deliver.c - two signals delivered at once to the same handler
 */
#define _GNU_SOURCE
#include <signal.h>

#define NOINLINE __attribute__((__noinline__))

static volatile int sink;

static NOINLINE int leaf(int n)
{
	return n + sink;
}

static void inner(int signal)
{
	sink += leaf(signal) & 1;
}

static NOINLINE int both(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return leaf(5);
}

int main(void)
{
	signal(SIGUSR1, inner);
	signal(SIGUSR2, inner);
	return both() == 1000;
}
