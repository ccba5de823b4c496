// SPDX-License-Identifier: MIT
/*
 * crash.c - set up reports of crashes
 *
 * All memory that a report needs is mapped here, with pages without access around it.
 */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define PAGE		4096UL
#define STACK		(64UL << 10)	/* of the report: a walk needs 8 KB */
#define DEADLINE_MS	2000
#define MOST_FRAMES	1000

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

struct crash_state crash_state;

static size_t pages(size_t size)
{
	return (size + PAGE - 1) & -PAGE;
}

/* Takes @size bytes of the mapping at *@at, and leaves a page without access after them. */
static char *take(char **at, size_t size)
{
	char *part = *at;

	*at += size + PAGE;
	return mprotect(part, size, PROT_READ | PROT_WRITE) ? NULL : part;
}

static int map_memory(void)
{
	const size_t report = pages(crash_report_size()), all = 3 * STACK + report + 7 * PAGE;
	char *memory = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at, *stack, *helper;

	if (memory == MAP_FAILED)
		return -ENOMEM;
	at = memory + PAGE;
	stack = take(&at, STACK);
	helper = take(&at, STACK);
	crash_state.nested = take(&at, STACK);
	crash_state.report = (struct crash_report *)take(&at, report);
	crash_state.owner = (u64 *)take(&at, PAGE);
	if (!stack || !helper || !crash_state.nested || !crash_state.report || !crash_state.owner) {
		munmap(memory, all);
		return -ENOMEM;
	}
	crash_state.stack_top = stack + STACK;
	crash_state.helper_top = helper + STACK;
	crash_state.nested_size = STACK;
	/* Refused before Linux 4.14: then no child that is forked during a report can report. */
	madvise(crash_state.owner, PAGE, MADV_WIPEONFORK);
	return 0;
}

static int take_options(const struct kunwind_crash_options *options)
{
	if (options->size != sizeof(*options) ||
	    options->flags & ~(KUNWIND_CRASH_GUESS | KUNWIND_CRASH_ALONE))
		return -EINVAL;
	if (options->path && (!*options->path || strlen(options->path) >= sizeof(crash_state.path)))
		return -EINVAL;
	if (options->path)
		strcpy(crash_state.path, options->path);
	if (options->receiver && strlen(options->receiver) >= sizeof(crash_state.receiver))
		return -EINVAL;
	if (options->receiver)
		strcpy(crash_state.receiver, options->receiver);
	crash_state.fd = options->fd;
	crash_state.alone = options->flags & KUNWIND_CRASH_ALONE;
	crash_state.deadline_ms = options->deadline_ms ?: DEADLINE_MS;
	crash_state.most_frames = options->most_frames ?: MOST_FRAMES;
	return 0;
}

/* As the kernel names the process in /proc/PID/comm. */
static void take_command(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN), *slash = path ? strrchr(path, '/') : NULL;

	if (path)
		strncpy(crash_state.command, slash ? slash + 1 : path, sizeof(crash_state.command) - 1);
}

CRASH_EXPORT int kunwind_crash_init(const struct kunwind_crash_options *options)
{
	const unsigned int guess = options->flags & KUNWIND_CRASH_GUESS ? KUNWIND_UNWINDER_GUESS : 0;
	int ret;

	if (crash_state.ready)
		return -EALREADY;
	ret = take_options(options) ?: map_memory() ?: crash_stacks_init();
	if (ret)
		return ret;
	take_command();
	crash_state.pid = getpid();
	crash_state.unwinder = kunwind_unwinder_new(guess, 0);
	if (!crash_state.unwinder)
		return -ENOMEM;
	crash_state.ready = true;
	ret = kunwind_crash_thread() ?: crash_handlers_install();
	crash_state.ready = !ret;
	return ret;
}

CRASH_EXPORT int kunwind_crash_refresh(void)
{
	return crash_state.ready ? kunwind_unwinder_refresh(crash_state.unwinder) : -EINVAL;
}
