// SPDX-License-Identifier: MIT
/*
 * stack.c - alternate signal stacks for threads
 *
 * A mapping with a page without access below. It has room for the kernel's signal frame, which
 * depends on the processor, for the handler, for a handler that was there before, and for handlers of the
 * program that ask for an alternate stack (SA_ONSTACK) and had none before. A destructor of thread-specific
 * data frees it.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "internal.h"

#define PAGE		4096UL
#define ROOM		(64UL << 10)	/* besides the signal frame; memory only when it is used */

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ	51
#endif

static pthread_key_t key;

static size_t stack_size(void)
{
	return (getauxval(AT_MINSIGSTKSZ) + ROOM + PAGE - 1) & -PAGE;
}

void *crash_stack_new(void)
{
	const size_t size = PAGE + stack_size();
	void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
			   -1, 0);

	if (stack == MAP_FAILED)
		return NULL;
	if (!mprotect(stack, PAGE, PROT_NONE))
		return (char *)stack + PAGE;
	munmap(stack, size);
	return NULL;
}

void crash_stack_free(void *stack)
{
	munmap((char *)stack - PAGE, PAGE + stack_size());
}

/* The end of a thread. */
static void on_end(void *stack)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t present;

	if (!sigaltstack(NULL, &present) && present.ss_sp == stack)
		sigaltstack(&none, NULL);
	crash_stack_free(stack);
}

/* If the thread has an alternate stack, it stays, and @stack is freed. */
void crash_stack_use(void *stack)
{
	const stack_t wanted = { .ss_sp = stack, .ss_size = stack_size() };
	stack_t present;

	if (sigaltstack(NULL, &present) || !(present.ss_flags & SS_DISABLE) ||
	    pthread_setspecific(key, stack)) {
		crash_stack_free(stack);
		return;
	}
	sigaltstack(&wanted, NULL);
}

int crash_stacks_init(void)
{
	return -pthread_key_create(&key, on_end);
}

CRASH_EXPORT int kunwind_crash_thread(void)
{
	void *stack;

	if (!crash_state.ready)
		return -EINVAL;
	stack = crash_stack_new();
	if (!stack)
		return -ENOMEM;
	crash_stack_use(stack);
	return 0;
}
