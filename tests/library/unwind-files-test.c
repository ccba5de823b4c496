/* SPDX-License-Identifier: MIT */
/*
 * unwind-files-test.c - a table is built from a loaded object's file only if the file is still the
 * one that was loaded, and from memory if not
 *
 * The two plug-ins have the same addresses, segments and search table; the size of a frame and the
 * build-id differ (unwind-plugin.c).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unwind-stack.h"

static struct kunwind_unwinder *unwinder;
static struct kunwind_stack_walk walk;
static enum kunwind_reason reason;
static int seen;
static uint8_t worst;			/* trust */
static uint64_t in_plugin, before_plugin;

typedef void plugin_fn(void (*call)(void));
static plugin_fn *plugin;

static void walk_here(void)
{
	struct kunwind_stack_frame frame;

	in_plugin = (uint64_t)__builtin_return_address(0);
	kunwind_walk_begin_here(&walk, unwinder);
	for (seen = worst = 0; seen < 100 && kunwind_walk_next(&walk, &frame); seen++) {
		stack_seen[seen] = frame.ip;
		worst = frame.trust > worst ? frame.trust : worst;
	}
	reason = kunwind_walk_reason(&walk);
}

static void __attribute__((__noinline__)) through_plugin(void)
{
	before_plugin = (uint64_t)__builtin_return_address(0);
	plugin(walk_here);
	__asm__ __volatile__("");
}

/* The stack: walk_here, plugin, through_plugin, its caller, ... */
static bool right(void)
{
	through_plugin();
	return seen > 4 && stack_seen[1] == in_plugin && stack_seen[3] == before_plugin &&
	       reason == KUNWIND_COMPLETE && worst <= KUNWIND_TRUST_CFI;
}

static char dir[PATH_MAX];

static void copy(const char *name, const char *to)
{
	char path[2 * PATH_MAX], bytes[65536];
	int from, fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	from = open(path, O_RDONLY);
	if (from < 0 || fd < 0)
		abort();
	while ((len = read(from, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, len) != len)
			abort();
	close(from);
	close(fd);
}

static char loaded[PATH_MAX], other[PATH_MAX];

static void nothing(void) { }
static void another(void) { copy("unwind-plugin-40.so", other); rename(other, loaded); }
static void same_again(void) { copy("unwind-plugin-24.so", other); rename(other, loaded); }
static void more(void) { copy("unwind-plugin-other.so", other); rename(other, loaded); }
static void none(void) { unlink(loaded); }
static void fifo(void) { unlink(loaded); if (mkfifo(loaded, 0600)) abort(); }
static void part(void)
{
	copy("unwind-plugin-24.so", other);
	if (truncate(other, 100) || rename(other, loaded))
		abort();
}
static void program(void) { unlink(loaded); if (symlink("/proc/self/exe", loaded)) abort(); }

static void try(const char *what, void (*replace)(void), unsigned int flags)
{
	void *handle;
	int i;

	copy("unwind-plugin-24.so", loaded);
	handle = dlopen(loaded, RTLD_NOW);
	plugin = (plugin_fn *)dlsym(handle, "plugin");
	replace();
	unwinder = kunwind_unwinder_new(flags, 0);
	/* The thread may not have the table at first. */
	for (i = 0; i < (flags & KUNWIND_UNWINDER_THREAD ? 50 : 1); i++) {
		if (!right())
			break;
		usleep(flags & KUNWIND_UNWINDER_THREAD ? 2000 : 0);
	}
	tap_ok(i, "%s%s: the stack is that of the loaded one", what,
	       flags & KUNWIND_UNWINDER_THREAD ? ", by a thread" : "");
	kunwind_unwinder_free(unwinder);
	dlclose(handle);
	unlink(loaded);
}

int main(void)
{
	static char place[] = "/tmp/kunwind-files-XXXXXX";
	static const struct {
		const char *what;
		void (*replace)(void);
	} cases[] = {
		{ "the file that was loaded", nothing },
		{ "the same file anew", same_again },
		{ "a file with another build-id", another },
		{ "a file with other segments", more },
		{ "no file", none },
		{ "a pipe", fifo },
		{ "a part of the file", part },
		{ "another program", program },
	};
	ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	unsigned int i;

	alarm(60);
	setvbuf(stdout, NULL, _IONBF, 0);
	dir[len] = 0;
	*strrchr(dir, '/') = 0;
	if (!mkdtemp(place))
		abort();
	snprintf(loaded, sizeof(loaded), "%s/plugin.so", place);
	snprintf(other, sizeof(other), "%s/other.so", place);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		try(cases[i].what, cases[i].replace, KUNWIND_UNWINDER_TABLES);
		try(cases[i].what, cases[i].replace, KUNWIND_UNWINDER_THREAD);
	}
	rmdir(place);
	return tap_done();
}
