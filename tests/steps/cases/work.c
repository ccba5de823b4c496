// SPDX-License-Identifier: MIT
/*
 * work.c - one program that is built in many ways: a few calls of each kind
 *
 * PLT, callbacks from libc, recursion, large and variable frames, aligned frames, tail
 * calls, jump tables, variable arguments, longjmp, a signal on this stack and on another,
 * a thread (unless NO_THREAD), vector registers that are spilled.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef NO_THREAD
#include <pthread.h>
#endif

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static jmp_buf back;

static NOINLINE int leaf(int x)
{
	return x * 3 + sink;
}

static NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return leaf(a + b) + leaf(c + d) + leaf(e + f) + leaf(g + h);
}

static NOINLINE int deep(int n)
{
	return n ? deep(n - 1) + leaf(n) : many(1, 2, 3, 4, 5, 6, 7, 8);
}

static NOINLINE int large(int n)
{
	volatile char room[9000];

	room[n] = n;
	room[sizeof(room) - 1 - n] = n;
	return leaf(room[n]) + deep(1);
}

static NOINLINE int variable(int n)
{
	char *room = alloca(n * 17);

	memset(room, n, n * 17);
	return leaf(room[n]) + deep(1);
}

static NOINLINE int aligned(int n)
{
	volatile char room[64] __attribute__((__aligned__(64)));

	room[0] = n;
	return leaf(room[0]) + variable(n);
}

static NOINLINE int tail(int n)
{
	return n & 1 ? many(n, 1, 1, 1, 1, 1, 1, 1) : leaf(n);
}

static NOINLINE int table(int n)
{
	switch (n) {
	case 0: return leaf(1);
	case 1: return deep(1);
	case 2: return tail(3);
	case 3: return large(3);
	case 4: return variable(9);
	case 5: return aligned(3);
	case 6: return leaf(77);
	}
	return 0;
}

static NOINLINE int sum(int n, ...)
{
	va_list list;
	int all = 0;

	va_start(list, n);
	while (n--)
		all += leaf(va_arg(list, int));
	va_end(list);
	return all;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b + (leaf(0) & 0);
}

static void handler(int signal)
{
	sink += leaf(signal) & 1;
}

static NOINLINE void jump(int n)
{
	if (n)
		jump(n - 1);
	longjmp(back, 1);
}

static NOINLINE double real(double x, double y)
{
	return x * y + leaf((int)x) + x / y;
}

#ifndef NO_THREAD
static void *thread(void *arg)
{
	sink += deep(2);
	return arg;
}
#endif

int main(int argc, char **argv)
{
	int numbers[] = { 5, 3, 9, 1 }, i, (*volatile pointer)(int) = table;
	static char other[32768];
	const stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };
	struct sigaction action = { .sa_handler = handler };

	for (i = 0; i < 7; i++)
		sink += pointer(i);
	sink += sum(3, 1, argc, 3) + (int)real(argc, 2);
	qsort(numbers, 4, sizeof(*numbers), compare);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaltstack(&stack, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	if (!setjmp(back))
		jump(3);
#ifndef NO_THREAD
	{
		pthread_t id;

		if (!pthread_create(&id, NULL, thread, NULL))
			pthread_join(id, NULL);
	}
#endif
	printf("%d %s\n", sink & numbers[0], argv[0] ? "" : "-");
	return 0;
}
