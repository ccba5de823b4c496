/* SPDX-License-Identifier: MIT */
/*
 * crasher.c - a program that crashes in the way that its argument names
 *
 * The functions on the way to the crash are called k_..., so that a list of these names says
 * whether a stack is right (programs.py). None is inlined, and none ends in a jump to the next.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAME	__attribute__((__noinline__, __noclone__))
#define AFTER	__asm__ volatile("" ::: "memory")	/* so that a call is no jump */

static const char *mode;
volatile int zero, k_sink;
static int *volatile null;
static pthread_barrier_t barrier;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

FRAME int k_recurse(int depth)
{
	volatile char room[64];

	room[depth & 63] = 1;
	k_sink += k_recurse(depth + 1) + room[0];
	AFTER;
	return k_sink;
}

FRAME void k_smash(size_t len)
{
	volatile char small[8];
	size_t i;

	for (i = 0; i < len; i++)
		((volatile char *)small)[i] = 0x41;
}

FRAME int k_compare(const void *a, const void *b)
{
	(void)b;
	k_sink = *null + *(const int *)a;
	AFTER;
	return 0;
}

FRAME __attribute__((__noreturn__)) void k_last(void)
{
	abort();
}

FRAME void k_handler(int number)
{
	(void)number;
	k_sink = 2;
	abort();
}

FRAME void k_handled(void)
{
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	struct sigaction action = { .sa_handler = k_handler, .sa_flags = is("altstack") ? SA_ONSTACK : 0 };

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	k_sink = *null;
	AFTER;
}

FRAME void k_child(void)
{
	k_sink = *null;
	AFTER;
}

FRAME void k_variable(int size)
{
	volatile char *room = alloca(size);

	room[0] = 1;
	k_sink = *null + room[0];
	AFTER;
}

FRAME void *k_wait(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	pause();
	AFTER;
	return NULL;
}

/* The linker may write a direct call to address 0, or to data. */
extern void k_absent(void) __attribute__((weak));
int k_data[4] = { 1 };

/* The compiler makes a jump of the call. */
void (*volatile k_pointer)(void);
__attribute__((noinline)) void k_tail(void)
{
	k_pointer();
}

FRAME void k_threads(int nr)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 17);
	pthread_barrier_init(&barrier, NULL, (unsigned int)nr + 1);
	while (nr--)
		pthread_create(&thread, &attr, k_wait, NULL);
	pthread_barrier_wait(&barrier);
	usleep(200000);
	k_sink = *null;
	AFTER;
}

FRAME void *k_thread(void *unused)
{
	(void)unused;
	k_sink = *null;
	AFTER;
	return NULL;
}

FRAME void k_crash(void)
{
	void (*volatile nowhere)(void) = NULL;
	int numbers[] = { 3, 1, 2 };
	pthread_t thread;
	void *volatile twice;
	FILE *file;
	char *p;

	if (is("null"))
		k_sink = *null;
	else if (is("jump0"))
		nowhere();
	else if (is("jump")) {
		nowhere = (void (*)(void))0x414141410000;
		nowhere();
	} else if (is("tail"))
		k_tail();
	else if (is("weak"))
		k_absent();
	else if (is("data"))
		((void (*)(void))k_data)();
	else if (is("overflow"))
		k_recurse(0);
	else if (is("smash"))
		k_smash(4096);
	else if (is("abort"))
		abort();
	else if (is("noreturn"))
		k_last();
	else if (is("free")) {
		twice = malloc(100);
		free(twice);
		free(twice);
	} else if (is("heap")) {
		p = malloc(24);
		memset(p, 0x41, 200);
		free(malloc(3000));
		free(p);
		abort();
	} else if (is("altstack") || is("handler"))
		k_handled();
	else if (is("vfork")) {
		if (!vfork()) {
			k_child();
			_exit(0);
		}
	} else if (is("wait"))
		pause();
	else if (is("variable"))
		k_variable(100);
	else if (is("threads"))
		k_threads(200);
	else if (is("thread")) {
		pthread_create(&thread, NULL, k_thread, NULL);
		pthread_join(thread, NULL);
	} else if (is("qsort"))
		qsort(numbers, 3, sizeof(numbers[0]), k_compare);
	else if (is("strlen"))
		k_sink = (int)strlen((const char *)(long)(8 + zero));
	else if (is("divide"))
		k_sink = 1000 / zero;
	else if (is("trap"))
		__asm__ volatile("int3");
	else if (is("illegal"))
		__asm__ volatile("ud2");
	else if (is("bus")) {
		file = tmpfile();
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
		k_sink = *p;
	} else if (is("printf")) {
		printf("%s\n", (const char *)(long)(8 + zero));
	}
	AFTER;
}

FRAME void k_three(void)
{
	k_crash();
	AFTER;
}

FRAME int k_two(int a)
{
	k_three();
	AFTER;
	return a + k_sink;
}

FRAME int k_one(int a)
{
	return k_two(a + 1) + k_two(a + 2);
}

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "null";
	return k_one(argc) + k_sink;
}
