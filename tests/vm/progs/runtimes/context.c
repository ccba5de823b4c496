/* SPDX-License-Identifier: MIT */
/*
 * context.c - open files in a coroutine of makecontext(3), on its own stack
 */
#include <ucontext.h>

#include "record.h"

static ucontext_t outside, inside;
static int number;

static __attribute__((__noinline__)) void recurse(int left)
{
	RECORD_ENTER();
	if (left)
		recurse(left - 1);
	else
		record_open("context", number);
	RECORD_LEAVE();
}

static void coroutine(void)
{
	RECORD_ENTER();
	recurse(20);
	RECORD_LEAVE();
}

int main(void)
{
	static char stack[1 << 16], buf[1 << 16];
	FILE *maps = fopen("/proc/self/maps", "r");

	for (number = 0; number < 100; number++) {
		getcontext(&inside);
		inside.uc_stack.ss_sp = stack;
		inside.uc_stack.ss_size = sizeof(stack);
		inside.uc_link = &outside;
		makecontext(&inside, coroutine, 0);
		swapcontext(&outside, &inside);
	}
	fwrite(buf, 1, fread(buf, 1, sizeof(buf), maps), stdout);
	return 0;
}
