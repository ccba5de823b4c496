// SPDX-License-Identifier: MIT
/*
 * unwinder.c - make, refresh and free an unwinder
 *
 * A snapshot that is no longer published is freed when no walk uses one: walks count
 * themselves (walk.c). A walk that never ends, because a handler has left it by
 * siglongjmp() or its thread was killed, only keeps memory from being freed.
 *
 * After fork(2), the child has the unwinder, without the thread. Its lock may be held by
 * the thread that the child does not have, so the child makes it anew.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "internal.h"

#define MEMORY		(256UL << 20)
#define FLAGS		(KUNWIND_UNWINDER_TABLES | KUNWIND_UNWINDER_THREAD | \
			 KUNWIND_UNWINDER_OTHER | KUNWIND_UNWINDER_GUESS)

extern void *libc_stack_end __asm__("__libc_stack_end") __attribute__((__weak__));

/* The stack pointer at the program's entry; 0: not known. */
static u64 entry_sp(void)
{
	char line[2048], *at = NULL;
	unsigned long start = 0;
	FILE *file = fopen("/proc/self/stat", "re");
	int field;

	if (file && fgets(line, sizeof(line), file))
		at = strrchr(line, ')');
	for (field = 2; at && field < 28; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoul(at, NULL, 10);
	if (file)
		fclose(file);
	return start ?: &libc_stack_end ? (u64)libc_stack_end : 0;
}

/* The kernel puts the program's name and eight zero bytes at the end of the stack. */
static u64 stack_end(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);

	return name ? ((u64)name + strlen(name) + 1 + 8 + 4095) & -4096ULL : 0;
}

/* In a child, the thread is gone. */
static void lock(struct kunwind_unwinder *unwinder)
{
	if (unwinder->pid != getpid()) {
		unwinder->pid = getpid();
		unwinder->has_thread = false;
		unwind_users_forget(&unwinder->users);
		pthread_mutex_init(&unwinder->lock, NULL);
		pthread_cond_init(&unwinder->wake, NULL);
	}
	pthread_mutex_lock(&unwinder->lock);
}

static void free_retired(struct kunwind_unwinder *unwinder)
{
	struct unwind_snapshot *snapshot;

	if (unwinder->retired && !unwind_users_none(&unwinder->users))
		return;
	while ((snapshot = unwinder->retired)) {
		unwinder->retired = snapshot->next;
		unwind_snapshot_free(snapshot);
	}
	unwind_objects_sweep(unwinder);
}

static int refresh(struct kunwind_unwinder *unwinder)
{
	struct unwind_snapshot *snapshot, *old = unwinder->snapshot;

	if (unwind_snapshot_make(unwinder, &snapshot))
		return -ENOMEM;
	__atomic_store_n(&unwinder->snapshot, snapshot, __ATOMIC_SEQ_CST);
	if (old) {
		old->next = unwinder->retired;
		unwinder->retired = old;
	}
	free_retired(unwinder);
	if (unwinder->has_thread)
		pthread_cond_signal(&unwinder->wake);
	else
		unwind_tables_build(unwinder, unwinder->flags &
				    (KUNWIND_UNWINDER_TABLES | KUNWIND_UNWINDER_OTHER));
	return 0;
}

UNWIND_EXPORT int kunwind_unwinder_refresh(struct kunwind_unwinder *unwinder)
{
	int ret;

	lock(unwinder);
	ret = refresh(unwinder);
	pthread_mutex_unlock(&unwinder->lock);
	return ret;
}

UNWIND_EXPORT struct kunwind_unwinder *kunwind_unwinder_new(unsigned int flags, size_t memory)
{
	struct kunwind_unwinder *unwinder;

	if (flags & ~FLAGS || posix_memalign((void **)&unwinder, 64, sizeof(*unwinder)))
		return NULL;
	memset(unwinder, 0, sizeof(*unwinder));
	unwinder->flags = flags;
	unwinder->memory = memory ?: MEMORY;
	unwinder->pid = getpid();
	unwinder->main_hi = unwinder->main_lo = flags & KUNWIND_UNWINDER_OTHER ? 0 : stack_end();
	unwinder->entry_sp = flags & KUNWIND_UNWINDER_OTHER ? 0 : entry_sp();
	unwind_users_init(&unwinder->users);
	pthread_mutex_init(&unwinder->lock, NULL);
	pthread_cond_init(&unwinder->wake, NULL);
	/* Without the thread, walks do without tables, as the program has not asked to wait for them. */
	if (kunwind_unwinder_refresh(unwinder) ||
	    (flags & KUNWIND_UNWINDER_THREAD && !unwind_tables_start(unwinder))) {
		kunwind_unwinder_free(unwinder);
		return NULL;
	}
	return unwinder;
}

static int give(struct kunwind_unwinder *unwinder, const struct unwind_given *wanted, const char *path)
{
	struct unwind_given *given;
	u32 i;

	if (!(unwinder->flags & KUNWIND_UNWINDER_OTHER) || wanted->start >= wanted->end)
		return -EINVAL;
	for (i = 0; i < unwinder->nr_given; i++)
		if (wanted->start < unwinder->given[i].end && unwinder->given[i].start < wanted->end)
			return -EINVAL;
	given = realloc(unwinder->given, (unwinder->nr_given + 1) * sizeof(*given));
	if (!given)
		return -ENOMEM;
	unwinder->given = given;
	given += unwinder->nr_given;
	*given = *wanted;
	given->path = path ? strdup(path) : NULL;
	if (path && !given->path)
		return -ENOMEM;
	unwinder->nr_given++;
	return 0;
}

UNWIND_EXPORT int kunwind_unwinder_map(struct kunwind_unwinder *unwinder, uint64_t start,
				       uint64_t end, uint64_t offset, const char *path)
{
	const struct unwind_given given = { .start = start, .end = end, .offset = offset };

	return give(unwinder, &given, path);
}

UNWIND_EXPORT int kunwind_unwinder_map_image(struct kunwind_unwinder *unwinder, uint64_t start,
					     uint64_t end, const struct kunwind_image *image)
{
	const struct unwind_given given = {
		.start = start, .end = end, .offset = start - image->at, .image = image->at,
		.read = image->read, .data = image->data,
	};

	return image->read ? give(unwinder, &given, image->path) : -EINVAL;
}

UNWIND_EXPORT int kunwind_unwinder_start(struct kunwind_unwinder *unwinder, uint64_t entry,
					 uint64_t interpreter, uint64_t sp)
{
	if (!(unwinder->flags & KUNWIND_UNWINDER_OTHER))
		return -EINVAL;
	unwinder->start.entry = entry;
	unwinder->start.interpreter = interpreter;
	unwinder->start.sp = sp;
	return 0;
}

UNWIND_EXPORT void kunwind_unwinder_free(struct kunwind_unwinder *unwinder)
{
	struct unwind_module *module;

	if (!unwinder)
		return;
	lock(unwinder);
	pthread_mutex_unlock(&unwinder->lock);
	unwind_tables_stop(unwinder);
	unwind_users_forget(&unwinder->users);
	free_retired(unwinder);
	if (unwinder->snapshot)
		unwind_snapshot_free(unwinder->snapshot);
	unwind_objects_sweep(unwinder);
	while ((module = unwinder->modules)) {
		unwinder->modules = module->next;
		free(module);
	}
	while (unwinder->nr_given)
		free(unwinder->given[--unwinder->nr_given].path);
	free(unwinder->given);
	pthread_cond_destroy(&unwinder->wake);
	pthread_mutex_destroy(&unwinder->lock);
	free(unwinder);
}
