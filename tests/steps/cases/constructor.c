// SPDX-License-Identifier: MIT
/*
 * constructor.c - a shared library (if LIBRARY is defined) whose constructor
 * raises a signal and makes a thread before the program's entry; otherwise its
 * program
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#ifdef LIBRARY
static volatile int sink;

static void handler(int signal)
{
	sink += signal;
}

static void *work(void *arg)
{
	sink += abs(-3);
	return arg;
}

static __attribute__((__constructor__)) void construct(void)
{
	pthread_t id;

	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	if (!pthread_create(&id, NULL, work, NULL))
		pthread_join(id, NULL);
}

int library(int n)
{
	return abs(n) + sink;
}
#else
int library(int n);

int main(void)
{
	return library(-3) == 1000;
}
#endif
