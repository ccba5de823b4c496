// SPDX-License-Identifier: MIT
/*
 * preload.c - for LD_PRELOAD: options from the environment, alternate stacks for all threads
 *
 * KUNWIND_CRASH_PATH, _RECEIVER, _FD, _DEADLINE, _FRAMES, _GUESS and _ALONE are the options; see
 * kunwind_crash_init(3). Threads that pthread_create() starts get an alternate stack before they
 * run.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* At the lower end of the new thread's alternate stack, until it runs. */
struct start {
	void *(*function)(void *data);
	void *data;
};

static void *on_start(void *stack)
{
	const struct start start = *(const struct start *)stack;

	crash_stack_use(stack);
	return start.function(start.data);
}

CRASH_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
				void *data)
{
	static create_fn *create;
	struct start *start = crash_state.ready ? crash_stack_new() : NULL;
	int error;

	if (!create)
		*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	if (!start)
		return create(thread, attr, function, data);
	*start = (struct start){ function, data };
	error = create(thread, attr, on_start, start);
	if (error)
		crash_stack_free(start);
	return error;
}

static u32 number(const char *name, u32 otherwise)
{
	const char *text = secure_getenv(name);

	return text && *text ? (u32)strtoul(text, NULL, 10) : otherwise;
}

static __attribute__((__constructor__)) void begin(void)
{
	const struct kunwind_crash_options options = {
		.size = sizeof(options),
		.flags = (number("KUNWIND_CRASH_GUESS", 0) ? KUNWIND_CRASH_GUESS : 0) |
			 (number("KUNWIND_CRASH_ALONE", 0) ? KUNWIND_CRASH_ALONE : 0),
		.fd = (int)number("KUNWIND_CRASH_FD", 2),
		.deadline_ms = number("KUNWIND_CRASH_DEADLINE", 0),
		.most_frames = number("KUNWIND_CRASH_FRAMES", 0),
		.path = secure_getenv("KUNWIND_CRASH_PATH"),
		.receiver = secure_getenv("KUNWIND_CRASH_RECEIVER"),
	};

	kunwind_crash_init(&options);
}
