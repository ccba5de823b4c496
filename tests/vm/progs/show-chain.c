// SPDX-License-Identifier: MIT
/*
 * show-chain.c - one known chain of calls above a system call, for t-show.sh
 *
 *   _start ... main -> fct_a -> fct_b -> fct_c -> gettid(2)
 *
 * With an argument: first waits for a line of standard input, then for another
 * behind the call.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#define FUNCTION static int __attribute__((noinline, noclone))

/* Keeps what follows a call behind it: no tail calls. */
#define BARRIER() __asm__ volatile("" ::: "memory")

FUNCTION fct_c(int n)
{
	int tid = gettid();

	BARRIER();
	return tid + n;
}

FUNCTION fct_b(int n)
{
	int r = fct_c(n + 1);

	BARRIER();
	return r + n;
}

FUNCTION fct_a(int n)
{
	int r = fct_b(n + 1);

	BARRIER();
	return r + n;
}

int main(int argc, char **argv)
{
	int r;

	(void)argv;
	if (argc > 1)
		getchar();
	r = fct_a(argc);
	if (argc > 1)
		getchar();
	return r == 0;
}
