/* SPDX-License-Identifier: MIT */
/*
 * refuse.h - wrappers of what code in a signal handler must not call: allocation, locks, the loader's
 * list, thread-local storage
 *
 * Include it after refuse(), which ends the program while such calls are forbidden. Shared programs
 * with glibc only.
 */
#ifndef REFUSE_H
#define REFUSE_H

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>

#define REFUSE(result, name, parameters, arguments)				\
result name parameters								\
{										\
	static result (*next) parameters;					\
										\
	refuse(#name "\n");							\
	if (!next)								\
		*(void **)&next = dlsym(RTLD_NEXT, #name);			\
	return next arguments;							\
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

void *malloc(size_t size)
{
	refuse("malloc\n");
	return __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	refuse("calloc\n");
	return __libc_calloc(nr, size);
}

void *realloc(void *p, size_t size)
{
	refuse("realloc\n");
	return __libc_realloc(p, size);
}

void free(void *p)
{
	refuse("free\n");
	__libc_free(p);
}

REFUSE(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))
REFUSE(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m))
REFUSE(int, dl_iterate_phdr, (int (*f)(struct dl_phdr_info *, size_t, void *), void *d), (f, d))
REFUSE(void *, __tls_get_addr, (void *index), (index))

#endif /* REFUSE_H */
