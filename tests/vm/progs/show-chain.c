// SPDX-License-Identifier: MIT
/*
 * show-chain.c - a known call chain down to a system call, for t-show.sh and
 * others
 *
 *   _start ... main -> fct_a -> fct_b -> fct_c -> gettid(2)
 *
 * With an argument the program waits for a line of standard input before the
 * chain, and for another line after it.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#define FUNCTION static int __attribute__((noinline, noclone))

/* after a call: prevents a tail call */
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
