/* SPDX-License-Identifier: MIT */
/*
 * unwind-snapshot-test.c - what an unwinder knows of the program and of what is loaded; mappings
 * that the caller gives; its thread
 *
 * The members of the unwinder are compared with auxv, /proc and dl_iterate_phdr(3).
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind-stack.h"
#include "internal.h"

#define PAGE	4096UL

static struct kunwind_unwinder *unwinder;

static char *beside(const char *name)
{
	static char path[2][PATH_MAX];
	static int turn;
	char *to = path[turn ^= 1];
	ssize_t len = readlink("/proc/self/exe", to, PATH_MAX - 1);

	to[len] = 0;
	strcpy(strrchr(to, '/') + 1, name);
	return to;
}

static const struct kunwind_range *range_at(uint64_t addr)
{
	const struct kunwind_ranges *ranges = &unwinder->snapshot->ranges;
	uint32_t i;

	for (i = 0; i < ranges->nr; i++)
		if (addr - ranges->range[i].start < ranges->range[i].end - ranges->range[i].start)
			return &ranges->range[i];
	return NULL;
}

static const struct unwind_object *object_at(uint64_t addr)
{
	const struct kunwind_range *range = range_at(addr);

	return range ? unwinder->snapshot->info[range - unwinder->snapshot->ranges.range].object : NULL;
}

/* The end of the line "[stack]". */
static uint64_t end_of_stack(void)
{
	unsigned long start, end, found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4500];

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			found = end;
	fclose(maps);
	return found;
}

static void test_program(int argc)
{
	const struct kunwind_ranges *ranges;

	unwinder = kunwind_unwinder_new(0, 0);
	ranges = &unwinder->snapshot->ranges;
	tap_ok(ranges->entry == getauxval(AT_ENTRY) && ranges->interpreter == getauxval(AT_BASE),
	       "program: its entry point and its interpreter");
	tap_ok(ranges->entry_sp && *(long *)ranges->entry_sp == argc &&
	       !((char **)ranges->entry_sp)[argc + 1], "program: the stack pointer at its start");
	tap_ok(unwinder->main_hi == end_of_stack() && unwinder->main_lo == unwinder->main_hi,
	       "program: the end of its stack");
	tap_ok(unwinder->memory == 256 << 20, "program: tables may take 256 MB");
	kunwind_unwinder_free(unwinder);
}

static void test_order(void)
{
	const struct kunwind_ranges *ranges;
	uint32_t i, wrong = 0;

	unwinder = kunwind_unwinder_new(0, 0);
	ranges = &unwinder->snapshot->ranges;
	for (i = 0; i < ranges->nr; i++)
		wrong += ranges->range[i].start >= ranges->range[i].end ||
			 (i && ranges->range[i - 1].end > ranges->range[i].start) ||
			 (ranges->range[i].start | ranges->range[i].end) % PAGE;
	tap_ok(ranges->nr > 3 && !wrong && ranges->id, "mappings: in order, whole pages, none twice");
	kunwind_unwinder_free(unwinder);
}

static void test_loose(void)
{
	const uint64_t stay[] = { (uint64_t)test_loose, (uint64_t)&getauxval, getauxval(AT_BASE),
				  getauxval(AT_SYSINFO_EHDR) };
	void *handle[2] = { dlopen(beside("unwind-plugin-24.so"), RTLD_NOW),
			    dlopen(beside("unwind-plugin-other.so"), RTLD_NOW) };
	const struct unwind_snapshot *snapshot;
	unsigned int i, kept = 0, loose = 0, within = 0;
	uint64_t code[2];

	unwinder = kunwind_unwinder_new(0, 0);
	snapshot = unwinder->snapshot;
	for (i = 0; i < unwinder->snapshot->ranges.nr; i++) {
		const struct unwind_object *object = snapshot->info[i].object;
		unsigned int n;

		for (n = 0; n < 4; n++)
			kept += object && object->image && !object->loaded.at &&
				(object->image == stay[n] || object == object_at(stay[n]));
		if (!object || !object->loaded.at)
			continue;
		loose++;
		within += snapshot->ranges.range[i].start - snapshot->loose_lo < snapshot->loose_span &&
			  snapshot->ranges.range[i].end - 1 - snapshot->loose_lo < snapshot->loose_span;
	}
	tap_ok(kept == 4, "objects: the program, libc, ld.so and the vDSO stay (%u)", kept);
	if (!dlsym(RTLD_DEFAULT, "_dl_find_object")) {
		printf("# libc has no _dl_find_object()\n");
		kunwind_unwinder_free(unwinder);
		return;
	}
	for (i = 0; i < 2; i++)
		code[i] = (uint64_t)dlsym(handle[i], "plugin");
	tap_ok(loose == 2 && object_at(code[0])->loaded.at && object_at(code[1])->loaded.at,
	       "objects: the two plug-ins may be unloaded (%u)", loose);
	tap_ok(within == 2, "objects: both are where such objects are");
	tap_ok(object_at(code[0])->by_fde && range_at(code[0])->table == &object_at(code[0])->by_fde->table,
	       "objects: a plug-in is unwound by its search table");
	dlclose(handle[0]);
	dlclose(handle[1]);
	kunwind_unwinder_refresh(unwinder);
	tap_ok(!unwinder->snapshot->loose_span && !object_at(code[0]),
	       "objects: none may be unloaded any more");
	kunwind_unwinder_free(unwinder);
}

static size_t read_none(void *data, uint64_t addr, void *buf, size_t len)
{
	(void)data, (void)addr, (void)buf, (void)len;
	return 0;
}

static void test_given(void)
{
	const uint64_t at = 0x100000;
	struct kunwind_image image = { .at = at, .read = read_none };

	unwinder = kunwind_unwinder_new(0, 0);
	tap_ok(kunwind_unwinder_map(unwinder, at, at + PAGE, 0, NULL) == -EINVAL,
	       "given: an unwinder of this process takes none");
	kunwind_unwinder_free(unwinder);
	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER, 0);
	tap_ok(!unwinder->main_hi && !unwinder->entry_sp && !unwinder->snapshot->ranges.nr &&
	       !unwinder->snapshot->ranges.entry && !unwinder->snapshot->ranges.interpreter,
	       "given: at first, nothing is known");
	tap_ok(kunwind_unwinder_map(unwinder, at, at, 0, NULL) == -EINVAL &&
	       kunwind_unwinder_map(unwinder, at + 1, at, 0, NULL) == -EINVAL, "given: no empty one");
	tap_ok(!kunwind_unwinder_map(unwinder, at, at + 2 * PAGE, 0x3000, NULL) &&
	       !unwinder->snapshot->ranges.nr,
	       "given: a mapping waits for a refresh");
	tap_ok(kunwind_unwinder_map(unwinder, at - PAGE, at + 1, 0, NULL) == -EINVAL &&
	       kunwind_unwinder_map(unwinder, at + 2 * PAGE - 1, at + 3 * PAGE, 0, NULL) == -EINVAL &&
	       kunwind_unwinder_map(unwinder, at - PAGE, at + 9 * PAGE, 0, NULL) == -EINVAL &&
	       kunwind_unwinder_map(unwinder, at + 1, at + 2, 0, NULL) == -EINVAL,
	       "given: none that overlaps another");
	tap_ok(!kunwind_unwinder_map(unwinder, at - PAGE, at, 0, NULL) &&
	       !kunwind_unwinder_map(unwinder, at + 2 * PAGE, at + 3 * PAGE, 0, NULL),
	       "given: those beside it");
	tap_ok(!kunwind_unwinder_start(unwinder, 11, 22, 33) && !unwinder->snapshot->ranges.entry,
	       "start: it waits for a refresh");
	kunwind_unwinder_refresh(unwinder);
	tap_ok(unwinder->snapshot->ranges.entry == 11 && unwinder->snapshot->ranges.interpreter == 22 &&
	       unwinder->snapshot->ranges.entry_sp == 33, "start: entry point, interpreter, stack pointer");
	tap_ok(unwinder->snapshot->ranges.nr == 3 && range_at(at - PAGE)->start == at - PAGE &&
	       range_at(at)->start == at && range_at(at)->reason == KUNWIND_NO_OBJECT,
	       "given: after a refresh, three, in order, of no object");
	kunwind_unwinder_free(unwinder);

	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER, 0);
	kunwind_unwinder_map_image(unwinder, at, at + PAGE, &image);
	kunwind_unwinder_map_image(unwinder, at + PAGE, at + 2 * PAGE, &image);
	image.data = &image;
	kunwind_unwinder_map_image(unwinder, at + 2 * PAGE, at + 3 * PAGE, &image);
	image.at = at + 3 * PAGE;
	kunwind_unwinder_map_image(unwinder, at + 3 * PAGE, at + 4 * PAGE, &image);
	kunwind_unwinder_refresh(unwinder);
	tap_ok(object_at(at) && object_at(at) == object_at(at + PAGE),
	       "images: two mappings of one file are one object");
	tap_ok(object_at(at) != object_at(at + 2 * PAGE), "images: other data is another file");
	tap_ok(object_at(at + 2 * PAGE) != object_at(at + 3 * PAGE), "images: so is another place");
	tap_ok(range_at(at)->reason == KUNWIND_NOT_READY, "images: they are not ready");
	kunwind_unwinder_free(unwinder);
}

/* Files of another process: one of which the place is known, others. */
static void test_files(void)
{
	char *plugin = strdup(beside("unwind-plugin-24.so"));
	const uint64_t at = 0x7f0000000000;
	uint32_t i, code = 0;
	int fd = open(plugin, O_RDONLY);
	ElfW(Ehdr) header;
	ElfW(Phdr) load[4];
	uint32_t nr = 0;

	if (read(fd, &header, sizeof(header)) != sizeof(header))
		abort();
	for (i = 0; i < header.e_phnum && nr < 4; i++) {
		if (pread(fd, &load[nr], sizeof(*load), header.e_phoff + i * sizeof(*load)) != sizeof(*load))
			abort();
		if (load[nr].p_type == PT_LOAD) {
			code = load[nr].p_flags & PF_X ? nr : code;
			nr++;
		}
	}
	close(fd);
	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER, 0);
	kunwind_unwinder_map(unwinder, at + load[code].p_vaddr, at + load[code].p_vaddr + PAGE,
			     load[code].p_offset, plugin);
	kunwind_unwinder_map(unwinder, at - 4 * PAGE, at - 3 * PAGE, 0, "/dev/null");
	kunwind_unwinder_map(unwinder, at - 3 * PAGE, at - 2 * PAGE, 0, "/nowhere");
	kunwind_unwinder_refresh(unwinder);
	tap_ok(range_at(at + load[code].p_vaddr)->bias == at && range_at(at + load[code].p_vaddr)->table &&
	       range_at(at + load[code].p_vaddr)->reason == KUNWIND_NO_TABLE,
	       "files: one has its bias and a table");
	tap_ok(range_at(at - 4 * PAGE)->reason == KUNWIND_NO_OBJECT && !range_at(at - 4 * PAGE)->table &&
	       range_at(at - 3 * PAGE)->reason == KUNWIND_NO_OBJECT,
	       "files: a device, and none, have neither");
	kunwind_unwinder_free(unwinder);
	free(plugin);
}

/* Whether the thread has built a whole table for code at @addr, soon. */
static bool has_table(uint64_t addr)
{
	const struct kunwind_table *table = NULL;
	int i;

	for (i = 0; i < 2000; i++) {
		table = range_at(addr) ? __atomic_load_n(&range_at(addr)->table, __ATOMIC_ACQUIRE) : NULL;
		if (table && table->bytes)
			return true;
		usleep(2000);
	}
	return false;
}

/* Waits until the thread has tried all objects, and waits itself. */
static void let_it_finish(void)
{
	const struct unwind_object *object;
	int i;

	for (i = 0; i < 2000; i++) {
		pthread_mutex_lock(&unwinder->lock);
		for (object = unwinder->objects; object && object->tried; object = object->next)
			;
		pthread_mutex_unlock(&unwinder->lock);
		if (!object)
			break;
		usleep(2000);
	}
	usleep(50000);
}

static void test_thread(void)
{
	void *handle;
	int status;
	pid_t child;

	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_THREAD, 0);
	tap_ok(has_table((uint64_t)&getauxval), "thread: it builds the tables");
	let_it_finish();
	handle = dlopen(beside("unwind-plugin-24.so"), RTLD_NOW);
	kunwind_unwinder_refresh(unwinder);
	tap_ok(has_table((uint64_t)dlsym(handle, "plugin")), "thread: after a refresh, those that are new");
	dlclose(handle);
	handle = dlopen(beside("unwind-plugin-other.so"), RTLD_NOW);
	child = fork();
	if (!child) {
		alarm(30);
		if (kunwind_unwinder_refresh(unwinder) || unwinder->has_thread)
			_exit(1);
		kunwind_unwinder_free(unwinder);
		_exit(0);
	}
	waitpid(child, &status, 0);
	tap_ok(!status, "thread: a forked child, which does not have it, refreshes and frees the unwinder");
	dlclose(handle);
	kunwind_unwinder_free(unwinder);
}

int main(int argc, char **argv)
{
	(void)argv;
	alarm(60);
	setvbuf(stdout, NULL, _IONBF, 0);
	test_program(argc);
	test_order();
	test_loose();
	test_given();
	test_files();
	test_thread();
	return tap_done();
}
