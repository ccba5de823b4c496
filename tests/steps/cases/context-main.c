// SPDX-License-Identifier: MIT
/*
 * context-main.c - a coroutine by libc's ucontext; a CFA in r12 across a call
 * of qsort()
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <ucontext.h>

void by_r12(void *array, size_t nr, size_t size, int (*compare)(const void *, const void *));

static ucontext_t here, there;

static __attribute__((__noinline__)) int inner(void)
{
	return abs(-3);
}

static void coroutine(void)
{
	inner();
	swapcontext(&there, &here);
	inner();
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b + (inner() & 0);
}

int main(void)
{
	static char stack[65536];
	int numbers[] = { 4, 2, 3, 1 };

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	swapcontext(&here, &there);
	inner();
	swapcontext(&here, &there);
	by_r12(numbers, 4, sizeof(*numbers), compare);
	return 0;
}
