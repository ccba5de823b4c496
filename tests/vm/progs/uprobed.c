// SPDX-License-Identifier: MIT
/*
 * uprobed.c - functions without CFI, called directly and by pointer, for
 * t-uprobes
 *
 * Built with -fno-asynchronous-unwind-tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline, noclone)) int leaf(int n)
{
	__asm__ volatile("" : : : "rbx", "r12", "memory");
	return n * 3 + 1;
}

__attribute__((noinline, noclone)) int through(int (*f)(int), int n)
{
	int got = f(n);

	__asm__ volatile("" : "+r"(got));
	return got + 1;
}

__attribute__((noinline, noclone)) int outer(int n)
{
	int got = through(leaf, n);

	__asm__ volatile("" : "+r"(got));
	return got + 2;
}

int main(int argc, char **argv)
{
	const struct timespec wait = { .tv_nsec = 2000000 };
	int i, sum = 0, rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (i = 0; i < rounds; i++) {
		sum += outer(i);
		nanosleep(&wait, NULL);
	}
	printf("%d\n", sum);
	return 0;
}
