/* SPDX-License-Identifier: MIT */
/*
 * unwind-alloc-test.c - each allocation of an unwinder fails in turn: all is as before, nothing is
 * lost, and the next call succeeds
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "unwind-stack.h"
#include "counted-memory.h"

#define DEPTH	30

static struct kunwind_unwinder *unwinder;
static struct kunwind_stack_walk walk;
static bool complete;

static void walk_here(void)
{
	int nr;

	kunwind_walk_begin_here(&walk, unwinder);
	nr = stack_walk(&walk);
	complete = stack_right(nr, 2, DEPTH) && kunwind_walk_reason(&walk) == KUNWIND_COMPLETE;
}

static bool walks(void)
{
	deeper(DEPTH, walk_here);
	return complete;
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static char plugin[PATH_MAX];

static void find_plugin(void)
{
	ssize_t len = readlink("/proc/self/exe", plugin, sizeof(plugin) - 1);

	plugin[len] = 0;
	strcpy(strrchr(plugin, '/') + 1, "unwind-plugin-24.so");
}

/* Each function says whether what it has called did as documented. */
static bool made(unsigned int flags)
{
	unwinder = kunwind_unwinder_new(flags, 0);
	counted_fail_at = 0;
	kunwind_unwinder_free(unwinder);
	return true;
}

/* With an object more than before. */
static bool refreshed(unsigned int flags)
{
	const long fail_at = counted_fail_at;
	void *handle;
	bool good;
	int error;

	counted_fail_at = 0;
	unwinder = kunwind_unwinder_new(flags, 0);
	handle = dlopen(plugin, RTLD_NOW);
	counted_calls = 0;
	counted_fail_at = fail_at;
	error = kunwind_unwinder_refresh(unwinder);
	counted_fail_at = 0;
	good = (!error || error == -ENOMEM) && walks() && !kunwind_unwinder_refresh(unwinder) && walks();
	dlclose(handle);
	good &= !kunwind_unwinder_refresh(unwinder) && walks();
	kunwind_unwinder_free(unwinder);
	return good;
}

/* Of another process: by its files. */
static bool mapped(unsigned int flags)
{
	const long fail_at = counted_fail_at;
	int error, again;
	bool good;

	counted_fail_at = 0;
	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER | flags, 0);
	counted_calls = 0;
	counted_fail_at = fail_at;
	error = kunwind_unwinder_map(unwinder, 0x10000, 0x20000, 0, plugin);
	again = kunwind_unwinder_map(unwinder, 0x10000, 0x20000, 0, plugin);
	good = error ? error == -ENOMEM && !again : again == -EINVAL;
	error = kunwind_unwinder_map(unwinder, 0x20000, 0x30000, 0, NULL);
	good &= !error || error == -ENOMEM;
	error = kunwind_unwinder_refresh(unwinder);
	good &= !error || error == -ENOMEM;
	counted_fail_at = 0;
	good &= !kunwind_unwinder_refresh(unwinder);
	kunwind_unwinder_free(unwinder);
	return good;
}

static size_t read_file(void *data, uint64_t offset, void *buf, size_t len)
{
	const ssize_t got = pread(*(int *)data, buf, len, offset);

	return got < 0 ? 0 : got;
}

static size_t read_none(void *data, uint64_t addr, void *buf, size_t len)
{
	(void)data, (void)addr, (void)buf, (void)len;
	return 0;
}

/* By a function that reads the file when the walk meets it. */
static bool met(unsigned int flags)
{
	struct kunwind_registers regs = { .valid = 1 << 7 | 1 << 16 };
	int fd = open(plugin, O_RDONLY), error, n;
	const struct kunwind_image image = { .at = 0x10000, .path = "image", .read = read_file, .data = &fd };
	struct kunwind_stack_frame frame;

	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER | flags, 0);
	if (unwinder) {
		error = kunwind_unwinder_map_image(unwinder, 0x10000, 0x20000, &image);
		error |= kunwind_unwinder_refresh(unwinder);
		regs.r[7] = 0x50000;
		regs.r[16] = 0x11001;
		kunwind_walk_begin_regs(&walk, unwinder, &regs, read_none, NULL);
		for (n = 0; n < 5 && kunwind_walk_next(&walk, &frame); n++)
			;
		if (n != 1 || (!error && frame.module->path == NULL))
			return false;
	}
	counted_fail_at = 0;
	kunwind_unwinder_free(unwinder);
	close(fd);
	return true;
}

#define MOST	2000
static void each(const char *name, bool (*call)(unsigned int flags), unsigned int flags)
{
	const int fds = descriptors();
	long at, lost = 0, calls = 0;
	int wrong = 0, left = 0;

	for (at = 1; at <= MOST; at++) {
		const long before = counted_live;

		counted_calls = 0;
		counted_fail_at = at;
		wrong += !call(flags);
		lost += counted_live - before;
		left += descriptors() - fds;
		/* The last one had all that it has asked for. */
		if (counted_calls < at)
			break;
		calls++;
	}
	counted_fail_at = 0;
	tap_ok(calls > 2 && !wrong,
	       "%s: each of %ld allocations fails, and all is as before (%d wrong)", name,
	       calls, wrong);
	tap_ok(!lost && !left, "%s: no memory and no file is left (%ld, %d)", name, lost, left);
}

int main(void)
{
	alarm(60);
	setvbuf(stdout, NULL, _IONBF, 0);
	find_plugin();
	each("new", made, 0);
	each("new, with tables", made, KUNWIND_UNWINDER_TABLES);
	each("new, with a thread", made, KUNWIND_UNWINDER_THREAD);
	each("refresh", refreshed, 0);
	each("refresh, with tables", refreshed, KUNWIND_UNWINDER_TABLES);
	each("files", mapped, 0);
	each("files, with a thread", mapped, KUNWIND_UNWINDER_THREAD);
	each("images", met, 0);
	return tap_done();
}
