// SPDX-License-Identifier: MIT
/*
 * unwind-loaded-test.c - walks through plug-ins that are loaded, unloaded and replaced, without
 * and with kunwind_unwinder_refresh()
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "unwind-stack.h"

static struct kunwind_unwinder *unwinder;
static struct kunwind_stack_walk walk;
static const char *kind;
static int seen;
static enum kunwind_reason reason;
static const struct kunwind_module *module;
static bool knows;			/* libc has _dl_find_object() */

typedef void plugin_fn(void (*call)(void));
static plugin_fn *plugin;
static void *handle;
static uint64_t in_plugin, before_plugin;	/* return addresses */

static void walk_here(void)
{
	struct kunwind_stack_frame frame;

	in_plugin = (uint64_t)__builtin_return_address(0);
	seen = 0;
	module = NULL;
	kunwind_walk_begin_here(&walk, unwinder);
	while (seen < 100 && kunwind_walk_next(&walk, &frame)) {
		stack_seen[seen++] = frame.ip;
		if (frame.ip == in_plugin)
			module = frame.module;
	}
	reason = kunwind_walk_reason(&walk);
}

static void __attribute__((__noinline__)) through_plugin(void)
{
	before_plugin = (uint64_t)__builtin_return_address(0);
	plugin(walk_here);
	__asm__ __volatile__("");
}

static void load(const char *name)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len] = 0;
	strcpy(strrchr(path, '/') + 1, name);
	handle = dlopen(path, RTLD_NOW);
	if (!handle) {
		printf("Bail out! %s\n", dlerror());
		exit(1);
	}
	plugin = (plugin_fn *)dlsym(handle, "plugin");
}

/* The stack: walk_here, plugin, through_plugin, its caller, ... */
static bool right(void)
{
	through_plugin();
	if (seen > 4 && stack_seen[1] == in_plugin && stack_seen[3] == before_plugin &&
	    reason == KUNWIND_COMPLETE)
		return true;
	printf("# %d frames, reason %d; %#lx is not %#lx\n", seen, reason, stack_seen[3], before_plugin);
	return false;
}

static void test_plugins(void)
{
	const struct kunwind_module *first;
	int i, failed = 0;
	void *at;

	load("unwind-plugin-24.so");
	tap_ok(right(), "%s: a plug-in that was loaded after the unwinder was made", kind);
	tap_ok(module && module->path && strstr(module->path, "unwind-plugin-24.so") &&
	       module->build_id_len == 20 && !memcmp((void *)module->image, "\177ELF", 4),
	       "%s: its frame has its module", kind);
	first = module;
	at = (void *)plugin;
	tap_ok(right() && module == first, "%s: the same again", kind);
	dlclose(handle);
	load("unwind-plugin-40.so");
	tap_ok((void *)plugin == at, "%s: the next plug-in has the same address", kind);
	tap_ok(right(), "%s: its stack is by its own CFI", kind);
	tap_ok(module && module != first && module->path && strstr(module->path, "unwind-plugin-40.so"),
	       "%s: its frame has its own module", kind);
	tap_ok(first->path && strstr(first->path, "unwind-plugin-24.so"), "%s: the old module stays", kind);
	failed = kunwind_unwinder_refresh(unwinder);
	tap_ok(!failed && right(), "%s: after a refresh", kind);
	dlclose(handle);
	load("unwind-plugin-24.so");
	tap_ok((void *)plugin == at && right(), "%s: a plug-in of the last refresh was replaced", kind);
	for (i = 0; i < 20; i++) {
		dlclose(handle);
		load(i % 2 ? "unwind-plugin-24.so" : "unwind-plugin-40.so");
		failed += !right();
	}
	tap_ok(!failed, "%s: the same 20 times", kind);
	for (i = 0; i < 200; i++) {
		dlclose(handle);
		load(i % 2 ? "unwind-plugin-24.so" : "unwind-plugin-40.so");
		failed += kunwind_unwinder_refresh(unwinder) || !right();
	}
	tap_ok(!failed, "%s: 200 times with a refresh each", kind);
	dlclose(handle);
}

/* No walk has met the first plug-in before the unwinder was made. */
static void test_known(unsigned int flags)
{
	struct kunwind_unwinder *other = unwinder;

	load("unwind-plugin-24.so");
	unwinder = kunwind_unwinder_new(flags, 0);
	tap_ok(right(), "%s: a plug-in that was loaded before the unwinder was made", kind);
	dlclose(handle);
	load("unwind-plugin-40.so");
	tap_ok(right(), "%s: it was replaced", kind);
	dlclose(handle);
	kunwind_unwinder_free(unwinder);
	unwinder = other;
}

static volatile bool stop;

static void *change(void *data)
{
	(void)data;
	while (!stop) {
		char path[PATH_MAX];
		ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

		path[len] = 0;
		strcpy(strrchr(path, '/') + 1, "unwind-plugin-other.so");
		dlclose(dlopen(path, RTLD_NOW));
		kunwind_unwinder_refresh(unwinder);
	}
	return NULL;
}

static void test_meanwhile(void)
{
	pthread_t thread;
	int i, failed = 0;

	stop = false;
	load("unwind-plugin-40.so");
	pthread_create(&thread, NULL, change, NULL);
	for (i = 0; i < 3000; i++)
		failed += !right();
	stop = true;
	pthread_join(thread, NULL);
	tap_ok(!failed, "%s: another thread loads, unloads and refreshes meanwhile (%d failed)", kind,
	       failed);
	dlclose(handle);
}

int main(void)
{
	unsigned int i;

	setvbuf(stdout, NULL, _IONBF, 0);
	knows = dlsym(RTLD_DEFAULT, "_dl_find_object");
	if (!knows) {
		printf("1..0 # SKIP libc has no _dl_find_object()\n");
		return 0;
	}
	for (i = 0; i < 3; i++) {
		kind = unwinders[i].kind;
		unwinder = kunwind_unwinder_new(unwinders[i].flags, 0);
		test_known(unwinders[i].flags);
		test_plugins();
		test_meanwhile();
		kunwind_unwinder_free(unwinder);
	}
	return tap_done();
}
