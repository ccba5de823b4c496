// SPDX-License-Identifier: MIT
/*
 * wrappers.c - functions of run-time libraries, between the program and the kernel
 *
 * A function is a wrapper if its file is a run-time library, or, in a static
 * program, if its name is one of such a library: glibc, musl, libstdc++, libc++,
 * Rust's std and parking_lot, Go's runtime. Some names say whether a wait in futex(2)
 * is one for a lock. "syscall" says that it is not known: libstdc++, Rust and
 * hand-made locks call it alike.
 *
 * Memory: one byte for each different frame, because names are compared only once.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "wrappers.h"

/* Files, without their directories. */
static const char *const objects[] = {
	"libc.so*", "libc-2*", "libpthread*", "ld-linux*", "ld-musl*", "libgcc_s*", "libstdc++*", "libc++*",
	"libstd-*",
};

/* The first pattern that matches counts. */
static const struct name {
	const char *pattern;
	enum wrapper kind;
} names[] = {
	{ "syscall", WRAPPER_SYSCALL },
	/* glibc and musl, with the underscores of other names of the same function */
	{ "*pthread_mutex_*lock", WRAPPER_LOCK },
	{ "*pthread_mutex_*lock_full", WRAPPER_LOCK },
	{ "*pthread_rwlock_*lock", WRAPPER_RWLOCK },
	{ "*pthread_rwlock_*lock_full*", WRAPPER_RWLOCK },
	{ "*pthread_once", WRAPPER_LOCK },
	{ "*pthread_cond_*wait*", WRAPPER_COND },		/* stripped, it has no more names */
	{ "*pthread_barrier_wait", WRAPPER_NO_LOCK },
	{ "*pthread_*join*", WRAPPER_NO_LOCK },
	{ "sem_*wait*", WRAPPER_NO_LOCK },
	{ "__sem_*wait*", WRAPPER_NO_LOCK },
	{ "__new_sem_*wait*", WRAPPER_NO_LOCK },
	{ "*cxa_guard_acquire", WRAPPER_LOCK },
	/* libstdc++, libc++ */
	{ "std::*latch::*", WRAPPER_NO_LOCK },
	{ "std::*barrier*::*", WRAPPER_NO_LOCK },
	{ "std::*semaphore*::*", WRAPPER_NO_LOCK },
	{ "std::*atomic_wait*", WRAPPER_NO_LOCK },
	{ "std::*atomic*::wait*", WRAPPER_NO_LOCK },
	{ "std::*__platform_wait*", WRAPPER_NO_LOCK },
	{ "std::*__waiter*", WRAPPER_NO_LOCK },
	/* Rust */
	{ "std::*::Mutex::lock*", WRAPPER_LOCK },
	{ "std::*::RwLock::read*", WRAPPER_READ },
	{ "std::*::RwLock::write*", WRAPPER_WRITE },
	{ "std::*::Once::call*", WRAPPER_LOCK },
	{ "std::*::Condvar::wait*", WRAPPER_NO_LOCK },
	{ "std::*::Parker::park*", WRAPPER_NO_LOCK },
	/* the same in the v0 mangling: "<std::sys::sync::mutex::futex::Mutex>::lock_contended" */
	{ "<std::*::Mutex>::lock*", WRAPPER_LOCK },
	{ "<std::*::RwLock>::read*", WRAPPER_READ },
	{ "<std::*::RwLock>::write*", WRAPPER_WRITE },
	{ "<std::*::Once>::call*", WRAPPER_LOCK },
	{ "<std::*::Condvar>::wait*", WRAPPER_NO_LOCK },
	{ "<std::*::Parker>::park*", WRAPPER_NO_LOCK },
	/* the same, where no demangler was there at build time */
	{ "_RNv*_5Mutex14lock_contended", WRAPPER_LOCK },
	{ "_RNv*_6RwLock14read_contended", WRAPPER_READ },
	{ "_RNv*_6RwLock15write_contended", WRAPPER_WRITE },
	{ "_RNv*_4Once4call", WRAPPER_LOCK },
	{ "_RNv*_7Condvar4wait*", WRAPPER_NO_LOCK },
	/* any of these */
	{ "pthread_*", WRAPPER_PLAIN }, { "__pthread_*", WRAPPER_PLAIN }, { "___pthread_*", WRAPPER_PLAIN },
	{ "lll_*", WRAPPER_PLAIN }, { "__lll_*", WRAPPER_PLAIN }, { "__GI_*", WRAPPER_PLAIN },
	{ "futex_*", WRAPPER_PLAIN }, { "__futex_*", WRAPPER_PLAIN }, { "sem_*", WRAPPER_PLAIN },
	{ "__gthread_*", WRAPPER_PLAIN }, { "__gthrw_*", WRAPPER_PLAIN }, { "__cxa_*", WRAPPER_PLAIN },
	{ "std::*", WRAPPER_PLAIN }, { "core::*", WRAPPER_PLAIN }, { "alloc::*", WRAPPER_PLAIN },
	{ "<std::*", WRAPPER_PLAIN }, { "<core::*", WRAPPER_PLAIN }, { "<alloc::*", WRAPPER_PLAIN },
	{ "parking_lot*::*", WRAPPER_PLAIN }, { "lock_api::*", WRAPPER_PLAIN },
	{ "runtime.*", WRAPPER_PLAIN }, { "runtime/*", WRAPPER_PLAIN }, { "sync.*", WRAPPER_PLAIN },
	{ "sync/*", WRAPPER_PLAIN }, { "internal/*", WRAPPER_PLAIN }, { "syscall.*", WRAPPER_PLAIN },
};

void wrappers_free(struct wrappers *wrappers)
{
	kunwind_patterns_free(&wrappers->more);
	free(wrappers->kind);
}

/*
 * Returns the name without the type that demangled templates of C++ return. The
 * type ends at the last blank outside of brackets, before the arguments.
 */
static const char *without_type(const char *name)
{
	const char *at, *begin = name;
	int depth = 0;

	for (at = name; *at; at++) {
		if (!depth && !strncmp(at, "operator", strlen("operator")))
			break;
		if (*at == '(' && !depth && at != begin && strncmp(at, "(anonymous", strlen("(anonymous")))
			break;
		depth += strchr("<({[", *at) != NULL;
		depth -= strchr(">)}]", *at) != NULL && (at == name || at[-1] != '-');
		if (*at == ' ' && !depth)
			begin = at + 1;
	}
	return begin;
}

static bool is_library(const char *object)
{
	size_t i;

	for (i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
		if (!fnmatch(objects[i], object, 0))
			return true;
	}
	return false;
}

static enum wrapper kind_of(struct wrappers *wrappers, const char *name, const char *object)
{
	const bool library = is_library(object = kunwind_tool_base_name(object));
	size_t i;

	name = without_type(name);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		/* In a static program, the function that waits for the mutex has a name, too. */
		if (!fnmatch(names[i].pattern, name, 0))
			return names[i].kind == WRAPPER_COND && !library ? WRAPPER_NO_LOCK : names[i].kind;
	}
	if (library)
		return WRAPPER_PLAIN;
	return wrappers->more.nr && (kunwind_patterns_select(&wrappers->more, name) ||
				     kunwind_patterns_select(&wrappers->more, object)) ?
	       WRAPPER_PLAIN : WRAPPER_NONE;
}

static enum wrapper kind(struct wrappers *wrappers, const struct calls *calls, uint32_t node)
{
	uint32_t frame = calls->node[node].frame;

	if (frame >= wrappers->nr) {
		uint32_t old = wrappers->nr;

		wrappers->nr = frame * 2 + 64;
		wrappers->kind = needed(realloc(wrappers->kind, wrappers->nr));
		memset(wrappers->kind + old, WRAPPER_UNKNOWN, wrappers->nr - old);
	}
	if (wrappers->kind[frame] == WRAPPER_UNKNOWN)
		wrappers->kind[frame] = kind_of(wrappers, calls_name(calls, node),
						calls_object(calls, node));
	return (enum wrapper)wrappers->kind[frame];
}

enum wrapper wrappers_wait(struct wrappers *wrappers, const struct calls *calls, uint32_t node)
{
	enum wrapper found = WRAPPER_UNKNOWN, now;

	for (; node != CALLS_ROOT && calls_frame(calls, node)->kind == FRAME_FUNCTION;
	     node = calls->node[node].parent) {
		if (calls_frame(calls, node)->kernel)
			continue;
		now = kind(wrappers, calls, node);
		if (now > WRAPPER_SYSCALL)
			return now;
		if (found != WRAPPER_SYSCALL)
			found = now;
		if (now == WRAPPER_NONE)
			break;
	}
	return found;
}

struct wrappers_place wrappers_place(struct wrappers *wrappers, const struct calls *calls, uint32_t node)
{
	struct wrappers_place place = { CALLS_ROOT, CALLS_ROOT };

	for (; node != CALLS_ROOT && calls_frame(calls, node)->kind == FRAME_FUNCTION;
	     node = calls->node[node].parent) {
		if (calls_frame(calls, node)->kernel)
			continue;
		if (kind(wrappers, calls, node) == WRAPPER_NONE) {
			place.caller = node;
			break;
		}
		place.function = node;
	}
	return place;
}
