// SPDX-License-Identifier: MIT
/*
 * ust_preload.c - for LD_PRELOAD: register the context when LTTng-UST starts
 *
 * The program may load LTTng-UST at any time, or never. LTTng-UST creates its threads by
 * pthread_create() before it asks the session daemon which events to record, so the first event
 * has a stack.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "internal.h"

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static bool is_lttng_ust(void *code)
{
	const char *name;
	Dl_info info;

	if (!dladdr(code, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	return !strncmp(name ? name + 1 : info.dli_fname, "liblttng-ust.so.", 16);
}

UST_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
			      void *data)
{
	static create_fn *create;

	if (!ust_unwinder && is_lttng_ust(__builtin_return_address(0)))
		kunwind_ust_register();
	if (!create)
		*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	return create(thread, attr, function, data);
}
