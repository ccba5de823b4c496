// SPDX-License-Identifier: MIT
/*
 * state-test.c - what libkunwind-symbolize answers after a rare event: more objects
 * than the helper has open, a helper that was lost, a full cache, an answer that was
 * cut, options that the caller has freed
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

enum { NR_FILES = KUNWIND_MAX_OPEN + 44 };

static int count, failed;
static char dir[] = "/tmp/kunwind-state-XXXXXX";
static uint64_t address;	/* of the function in each file */

static void check(bool good, const char *name)
{
	printf("%sok %d - state: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

static const char *path_of(int i)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%d", dir, i);
	return path;
}

/* Makes files that differ in the name of their function: f0000, f0001 ... */
static bool make_files(void)
{
	char command[400], name[16];
	static char image[1 << 16];
	size_t size;
	FILE *f;
	int i;

	snprintf(command, sizeof(command), "cd %s && echo 'void f9999(void) { }' >f.c && "
		 "gcc -shared -nostdlib -Wl,--build-id=none f.c -o f.so && "
		 "nm f.so | sed -n 's/ T f9999$//p'", dir);
	f = popen(command, "r");
	if (!f || fscanf(f, "%lx", &address) != 1 || pclose(f))
		return false;
	snprintf(command, sizeof(command), "%s/f.so", dir);
	f = fopen(command, "r");
	size = f ? fread(image, 1, sizeof(image), f) : 0;
	if (!size || fclose(f))
		return false;
	for (i = 0; i < NR_FILES; i++) {
		char *at = image;

		snprintf(name, sizeof(name), "f%04d", i);
		while ((at = memmem(at, size - (size_t)(at - image), i ? "f" : "f9999", i ? 1 : 5))) {
			if (at[1] >= '0' && at[1] <= '9' && !at[5])
				memcpy(at, name, 5);
			at++;
		}
		f = fopen(path_of(i), "w");
		if (!f || fwrite(image, 1, size, f) != size || fclose(f))
			return false;
	}
	return true;
}

static struct kunwind_symbolizer_object *object_of(struct kunwind_symbolizer *symbolizer, int i)
{
	struct stat st;

	return stat(path_of(i), &st) ? NULL :
	       kunwind_symbolizer_object(symbolizer, path_of(i), "", st.st_ino);
}

static bool is_named(const struct kunwind_frame *frame, int i)
{
	const struct kunwind_function *function = kunwind_frame_function(frame);
	char name[16];

	snprintf(name, sizeof(name), "f%04d", i);
	if (function && function->name && !strcmp(function->name, name) && !frame->why)
		return true;
	printf("# %s: %s (%s)\n", name, function && function->name ? function->name : "no name",
	       frame->why ? frame->why : "");
	return false;
}

/* Asks the helper about each file from @first on, without the cache. */
static bool all_named(struct kunwind_symbolizer *symbolizer, int first, int last)
{
	struct kunwind_frame frame;
	bool good = true;
	int i;

	kunwind_cache_clear(symbolizer->cache);
	for (i = first; i < last; i++) {
		kunwind_object_resolve(object_of(symbolizer, i), address + 1, true, &frame);
		good &= is_named(&frame, i);
	}
	return good;
}

static void test_slots(struct kunwind_symbolizer *symbolizer)
{
	uint64_t opened;

	check(all_named(symbolizer, 0, NR_FILES),
	      "more objects than the helper has open: each has its own name");
	check(all_named(symbolizer, 0, NR_FILES), "objects that were closed are opened again");
	opened = symbolizer->stats.opened;
	check(all_named(symbolizer, NR_FILES - KUNWIND_MAX_OPEN, NR_FILES) &&
	      symbolizer->stats.opened == opened, "the objects that were used last are still open");
	check(all_named(symbolizer, 0, 1) && symbolizer->stats.opened == opened + 1 &&
	      all_named(symbolizer, NR_FILES - KUNWIND_MAX_OPEN + 1, NR_FILES) &&
	      symbolizer->stats.opened == opened + 1,
	      "another object takes the place of the one that was used least recently");
	/* the one that is next to be closed is used; then two others are opened */
	all_named(symbolizer, 0, 1);
	all_named(symbolizer, NR_FILES - KUNWIND_MAX_OPEN + 1, NR_FILES - KUNWIND_MAX_OPEN + 2);
	all_named(symbolizer, 1, 3);
	opened = symbolizer->stats.opened;
	check(all_named(symbolizer, 0, 1) &&
	      all_named(symbolizer, NR_FILES - KUNWIND_MAX_OPEN + 1, NR_FILES - KUNWIND_MAX_OPEN + 2) &&
	      symbolizer->stats.opened == opened, "a later use of an object keeps it open");
}

static void test_loss(struct kunwind_symbolizer *symbolizer)
{
	uint64_t opened, lost = symbolizer->helper.lost;

	kill(symbolizer->helper.child.pid, SIGKILL);
	kunwind_cache_clear(symbolizer->cache);
	/* the helper died in the question about this one, which loses its DWARF for it */
	kunwind_object_why(object_of(symbolizer, 0));
	kunwind_object_address(object_of(symbolizer, 0), 0, &(uint64_t){ 0 });
	check(symbolizer->helper.lost == lost + 1, "a helper that died is counted as lost");
	/* objects that the lost helper had open, before others take their numbers */
	check(all_named(symbolizer, NR_FILES - 20, NR_FILES),
	      "after the loss of the helper, its objects are named");
	opened = symbolizer->stats.opened;
	check(all_named(symbolizer, 1, NR_FILES - 20) && symbolizer->stats.opened == opened + NR_FILES - 21,
	      "after the loss of the helper, all objects are opened again, and named");
	kill(symbolizer->helper.opener.child.pid, SIGKILL);
	check(all_named(symbolizer, 1, 20), "after the loss of the opener, objects are named");
}

/* One stack through more objects than are open, which are asked about in advance. */
static void test_stack(struct kunwind_symbolizer *symbolizer)
{
	static uint64_t addresses[NR_FILES];
	static struct kunwind_frame frames[NR_FILES];
	struct kunwind_history *history = kunwind_history_new(symbolizer);
	const struct kunwind_who who = { .pid = 5, .time = 10 };
	bool good = true;
	struct stat st;
	int i;

	kunwind_cache_clear(symbolizer->cache);
	for (i = 1; i < NR_FILES; i++) {
		const uint64_t start = (uint64_t)(i + 1) << 20;

		if (stat(path_of(i), &st))
			abort();
		kunwind_history_map(history, 1, &(struct kunwind_mapping){
			.pid = 5, .start = start, .end = start + 0x10000, .bias = start, .inode = st.st_ino,
			.path = path_of(i), .build_id = "" });
		addresses[i] = start + address + 1;
	}
	good = kunwind_history_stack(history, &who, addresses + 1, NR_FILES - 1, frames + 1);
	for (i = 1; i < NR_FILES; i++)
		good &= is_named(&frames[i], i);
	check(good, "a stack through more objects than are open: each frame has its own name");
	kunwind_history_free(history);
}

static const struct kunwind_frame *keep(struct kunwind_cache *cache, uint64_t at, const char *name,
					unsigned int functions)
{
	const struct kunwind_function function = { .name = name };
	const struct kunwind_frame frame = { .object_address = at };
	struct kunwind_answer *answer = kunwind_answer_begin(cache);

	while (functions--)
		kunwind_answer_add(answer, &function);
	return kunwind_answer_keep(cache, &frame, true);
}

static void test_cache(void)
{
	struct kunwind_cache *cache = kunwind_cache_new();
	char *name = calloc(1, 1 << 20);
	const struct kunwind_frame *cut, *next;
	uint64_t i;

	memset(name, 'n', (1 << 20) - 1);
	for (i = 0; !kunwind_cache_full(cache) && i < 1 << 20; i++)
		keep(cache, i, "f", 1);
	check(i == 1 << 18, "the cache is full after 262,144 answers");
	kunwind_cache_clear(cache);
	check(!kunwind_cache_full(cache) && !kunwind_cache_find(cache, NULL, 5, true), "a clear empties it");
	for (i = 0; !kunwind_cache_full(cache) && i < 1000; i++)
		keep(cache, i, name, 1);
	check(i >= 100 && i <= 128, "the cache is full after 128 MB");
	kunwind_cache_clear(cache);
	for (i = 0; !kunwind_cache_full(cache) && i < 100; i++)
		keep(cache, i, name, 1);
	check(i == 100, "after a clear, it takes as much again");
	cut = keep(cache, 5000, "f", WIRE_FUNCTIONS + 1);
	next = keep(cache, 5001, "f", 1);
	check(cut->why && !strcmp(cut->why, KUNWIND_WHY_CUT) && !next->why && next->nr_functions == 1,
	      "an answer after one that was cut is whole");
	kunwind_cache_free(cache);
	free(name);
}

static void test_options(void)
{
	char *helper = strdup("/nonexistent"), *kallsyms = strdup("/proc/kallsyms"), *maps = strdup("/tmp");
	char *one = strdup("/one"), **dirs = calloc(2, sizeof(*dirs));
	struct kunwind_symbolizer_options *options = calloc(1, sizeof(*options));
	struct kunwind_symbolizer *symbolizer;

	dirs[0] = one;
	*options = (struct kunwind_symbolizer_options){ .size = sizeof(*options), .helper = helper,
		.kallsyms = kallsyms, .perf_map_dir = maps, .debug_dirs = (const char *const *)dirs };
	symbolizer = kunwind_symbolizer_new(options);
	free(helper);
	free(kallsyms);
	free(maps);
	free(one);
	free(dirs);
	free(options);
	check(!strcmp(symbolizer->helper.program, "/nonexistent") &&
	      !strcmp(symbolizer->options.kallsyms, "/proc/kallsyms") &&
	      !strcmp(symbolizer->options.perf_map_dir, "/tmp") &&
	      !strcmp(symbolizer->options.debug_dirs[0], "/one") && !symbolizer->options.debug_dirs[1],
	      "options that the caller has freed are copied");
	check(symbolizer->options.time_limit_ms == 10000 && symbolizer->helper.time_limit_ms == 10000 &&
	      symbolizer->helper.opener.time_limit_ms == 10000 && symbolizer->helper.memory_limit_mb == 4096,
	      "limits have their defaults, of the helper and the opener, too");
	kunwind_symbolizer_free(symbolizer);
}

/* A text that ends where the memory for it does. */
static void test_text(void)
{
	static const size_t sizes[] = { 65535, 65536, 65537, 131072 };
	const char *module, *name;
	bool good = true;
	uint64_t start;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const char *path = path_of(NR_FILES);
		struct kunwind_list *list;
		FILE *f = fopen(path, "w");
		long at;

		for (at = 0; f && (size_t)at + 30 < sizes[i]; at = ftell(f))
			fprintf(f, "%lx 8 name%ld\n", 0x1000 + at, at);
		fprintf(f, "100000 8 ");
		while (f && (size_t)ftell(f) < sizes[i])
			fputc('z', f);
		fclose(f);
		list = kunwind_list_read(path, true);
		name = list ? kunwind_list_find(list, 0x100007, &start, &module) : NULL;
		good &= name && name[strspn(name, "z")] == '\0' && *name;
		kunwind_list_free(list);
		unlink(path);
	}
	check(good, "a list of functions is read to its last byte, for each size");
}

int main(void)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
	char command[64];

	if (!mkdtemp(dir))
		return 1;
	if (make_files()) {
		test_slots(symbolizer);
		test_loss(symbolizer);
		test_stack(symbolizer);
	} else {
		check(false, "gcc and nm make the files of the test");
	}
	test_cache();
	test_options();
	test_text();
	kunwind_symbolizer_free(symbolizer);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		return 1;
	printf("1..%d\n", count);
	return failed != 0;
}
