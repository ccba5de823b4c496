// SPDX-License-Identifier: MIT
/*
 * plugin.c - a library for dlopen(): a function that calls back, and (with
 * -DCONSTRUCTOR) a constructor that sleeps
 */
#include <stdlib.h>
#include <time.h>

static __attribute__((noinline)) void between(void (*callback)(void))
{
	volatile long pad[11] = { 0 };

	callback();
	pad[3] = 1;
	(void)pad;
}

void plugin_call(void (*callback)(void));
void plugin_call(void (*callback)(void))
{
	between(callback);
	__asm__ volatile("" ::: "memory");
}

#ifdef CONSTRUCTOR
static __attribute__((constructor)) void blocks(void)
{
	const struct timespec forever = { 100000, 0 };

	const char *began = getenv("PLUGIN_BLOCKS");

	/* the address of a flag in the program that loads this */
	if (began) {
		*(volatile int *)strtol(began, NULL, 10) = 1;
		nanosleep(&forever, NULL);
	}
	__asm__ volatile("" ::: "memory");
}
#endif
