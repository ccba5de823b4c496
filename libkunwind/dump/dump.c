// SPDX-License-Identifier: MIT
/*
 * dump.c - what the formats of dumps share: memory, mappings of code, modules; see dump.h
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

#define MOST_TEXT	(64u << 20)	/* bytes */
#include "running.h"

bool dump_fail(struct dump_process *dump, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!*dump->error)
		vsnprintf(dump->error, sizeof(dump->error), format, args);
	va_end(args);
	return false;
}

/* Makes room for one more of @nr things of @size bytes at *@array. */
static bool make_room(struct dump_process *dump, void **array, uint32_t nr, uint32_t *room, size_t size,
		      uint32_t most, const char *what)
{
	uint32_t wanted;
	void *more;

	if (nr < *room)
		return true;
	if (nr >= most)
		return dump_fail(dump, "it has more than %u %s", most, what);
	wanted = *room ? 2 * *room : 16;
	more = realloc(*array, wanted * size);
	if (!more)
		return dump_fail(dump, "out of memory");
	*array = more;
	*room = wanted;
	return true;
}

struct dump_thread *dump_add_thread(struct dump_process *dump)
{
	struct dump_thread *thread;

	if (!make_room(dump, (void **)&dump->thread, dump->nr_threads, &dump->room_threads,
		       sizeof(*dump->thread), DUMP_MOST_THREADS, "threads"))
		return NULL;
	thread = &dump->thread[dump->nr_threads++];
	memset(thread, 0, sizeof(*thread));
	return thread;
}

struct dump_frame *dump_add_frame(struct dump_process *dump)
{
	struct dump_frame *frame;

	if (!make_room(dump, (void **)&dump->frame, dump->nr_frames, &dump->room_frames, sizeof(*dump->frame),
		       DUMP_MOST_FRAMES, "frames"))
		return NULL;
	frame = &dump->frame[dump->nr_frames++];
	memset(frame, 0, sizeof(*frame));
	return frame;
}

struct dump_module *dump_add_module(struct dump_process *dump, const char *path)
{
	static const char deleted[] = " (deleted)";
	struct dump_module *module;
	size_t len = strlen(path);

	if (!make_room(dump, (void **)&dump->module, dump->nr_modules, &dump->room_modules,
		       sizeof(*dump->module), DUMP_MOST_MODULES, "modules"))
		return NULL;
	module = &dump->module[dump->nr_modules];
	memset(module, 0, sizeof(*module));
	module->deleted = len >= sizeof(deleted) && !strcmp(path + len - (sizeof(deleted) - 1), deleted);
	module->path = strndup(path, module->deleted ? len - (sizeof(deleted) - 1) : len);
	if (!module->path) {
		dump_fail(dump, "out of memory");
		return NULL;
	}
	dump->nr_modules++;
	return module;
}

void dump_drop_module(struct dump_process *dump)
{
	struct dump_module *module = &dump->module[--dump->nr_modules];

	free(module->path);
	free(module->package);
}

bool dump_add_mapping(struct dump_process *dump, uint64_t start, uint64_t end)
{
	/* the upper half is the kernel's: the page of vsyscall is not read */
	if (start >= end || end >> 63)
		return true;
	if (!make_room(dump, (void **)&dump->mapping, dump->nr_mappings, &dump->room_mappings,
		       sizeof(*dump->mapping), DUMP_MOST_MAPPINGS, "mappings of code"))
		return false;
	dump->mapping[dump->nr_mappings++] = (struct dump_mapping){ start, end, DUMP_NO_MODULE };
	return true;
}

bool dump_add_region(struct dump_process *dump, uint64_t start, uint64_t size, uint64_t offset)
{
	const uint64_t file = dump_input_size(dump->input);
	uint64_t there = offset >= file ? 0 : file - offset;

	if (!size || start + size < start)
		return true;
	if (there < size) {
		dump->truncated = true;
		dump->missing += size - there;
		size = there;
	}
	if (!size)
		return true;
	if (!make_room(dump, (void **)&dump->region, dump->nr_regions, &dump->room_regions,
		       sizeof(*dump->region), DUMP_MOST_REGIONS, "regions of memory"))
		return false;
	dump->region[dump->nr_regions++] = (struct dump_region){ start, start + size, offset };
	return true;
}

bool dump_add_own(struct dump_process *dump, uint32_t number, uint64_t start, uint64_t size, uint64_t offset)
{
	const uint64_t file = dump_input_size(dump->input);
	struct dump_thread *thread = number < dump->nr_threads ? &dump->thread[number] : NULL;

	if (!thread || start + size < start || offset > file || size > file - offset ||
	    (thread->nr_own && (thread->first_own + thread->nr_own != dump->nr_own ||
				dump->own[dump->nr_own - 1].end > start)))
		return dump_fail(dump, "memory of a thread is not in order");
	if (!make_room(dump, (void **)&dump->own, dump->nr_own, &dump->room_own, sizeof(*dump->own),
		       DUMP_MOST_REGIONS, "regions of threads"))
		return false;
	if (!thread->nr_own++)
		thread->first_own = dump->nr_own;
	dump->own[dump->nr_own++] = (struct dump_region){ start, start + size, offset };
	return true;
}

static int by_start(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_regions(const void *a, const void *b)
{
	return by_start(((const struct dump_region *)a)->start, ((const struct dump_region *)b)->start);
}

static int compare_mappings(const void *a, const void *b)
{
	return by_start(((const struct dump_mapping *)a)->start, ((const struct dump_mapping *)b)->start);
}

static int compare_modules(const void *a, const void *b)
{
	return by_start(((const struct dump_module *)a)->start, ((const struct dump_module *)b)->start);
}

void dump_sort_regions(struct dump_process *dump)
{
	struct dump_region *region = dump->region;
	uint32_t i, nr = 0;

	if (dump->nr_regions)
		qsort(region, dump->nr_regions, sizeof(*region), compare_regions);
	for (i = 0; i < dump->nr_regions; i++) {
		const uint64_t end = nr ? region[nr - 1].end : 0;
		struct dump_region next = region[i];

		if (next.end <= end)
			continue;
		if (next.start < end) {
			next.offset += (end - next.start) * (dump->format == DUMP_CHUNK ? 2 : 1);
			next.start = end;
		}
		region[nr++] = next;
	}
	dump->nr_regions = nr;
}

static void sort_mappings(struct dump_process *dump)
{
	struct dump_mapping *mapping = dump->mapping;
	uint32_t i, nr = 0;

	if (dump->nr_mappings)
		qsort(mapping, dump->nr_mappings, sizeof(*mapping), compare_mappings);
	for (i = 0; i < dump->nr_mappings; i++) {
		struct dump_mapping next = mapping[i];

		if (nr && next.start < mapping[nr - 1].end)
			next.start = mapping[nr - 1].end;
		if (next.start < next.end)
			mapping[nr++] = next;
	}
	dump->nr_mappings = nr;
}

/* Gives each mapping its module. Of modules that overlap, the later one counts. */
static void join(struct dump_process *dump)
{
	uint32_t i;

	if (dump->nr_modules)
		qsort(dump->module, dump->nr_modules, sizeof(*dump->module), compare_modules);
	for (i = 0; i < dump->nr_mappings; i++)
		dump->mapping[i].module = dump_find_module(dump, dump->mapping[i].start);
}

/* The vDSO is no file, but code with unwind information. */
static bool add_vdso(struct dump_process *dump)
{
	const uint64_t at = dump->auxv.vdso;
	struct dump_module *module;
	uint32_t i;

	for (i = 0; at && i < dump->nr_modules; i++)
		if (at - dump->module[i].start < dump->module[i].end - dump->module[i].start)
			return true;
	for (i = 0; at && i < dump->nr_mappings; i++) {
		if (at - dump->mapping[i].start >= dump->mapping[i].end - dump->mapping[i].start)
			continue;
		module = dump_add_module(dump, DUMP_VDSO);
		if (!module)
			return false;
		module->start = module->image = at;
		module->end = dump->mapping[i].end;
		break;
	}
	return true;
}

char *dump_read_text(struct dump_process *dump)
{
	const uint64_t size = dump_input_size(dump->input);
	char *text;

	if (size > MOST_TEXT) {
		dump_fail(dump, "the text is larger than %u MB", MOST_TEXT >> 20);
		return NULL;
	}
	text = malloc(size + 1);
	if (!text) {
		dump_fail(dump, "out of memory");
		return NULL;
	}
	if (!dump_read(dump->input, 0, text, size)) {
		free(text);
		return NULL;
	}
	text[size] = 0;
	return text;
}

static bool read_format(struct dump_process *dump)
{
	uint8_t magic[16] = { 0 };

	if (!dump_input_size(dump->input))
		return dump_fail(dump, "the file is empty");
	dump_read(dump->input, 0, magic, dump_input_size(dump->input) < sizeof(magic) ?
		  dump_input_size(dump->input) : sizeof(magic));
	if (!memcmp(magic, "\177ELF", 4)) {
		dump->format = DUMP_CORE;
		return dump_read_core(dump);
	}
	if (!memcmp(magic, "MDMP", 4)) {
		dump->format = DUMP_MINIDUMP;
		return dump_read_minidump(dump);
	}
	if (!memcmp(magic, "kunwind-stack 1\n", 16)) {
		dump->format = DUMP_CHUNK;
		return dump_read_chunk(dump);
	}
	if (!memcmp(magic, RUNNING_MAGIC, sizeof(magic))) {
		dump->format = DUMP_RUNNING;
		return dump_read_running(dump);
	}
	if (!memcmp(magic, "{\"pid\"", 6)) {
		dump->format = DUMP_REPORT;
		return dump_read_report(dump);
	}
	return dump_fail(dump, "it is no ELF core, no minidump, no report of libkunwind-crash, and no text "
			 "that begins with \"kunwind-stack 1\"");
}

struct dump_process *dump_open(int fd)
{
	struct dump_process *dump = calloc(1, sizeof(*dump));
	uint32_t i;

	if (!dump)
		return NULL;
	dump->input = dump_input_new(fd);
	if (!dump->input) {
		dump_fail(dump, "it cannot be read");
		return dump;
	}
	if (!read_format(dump) || !add_vdso(dump)) {
		dump_fail(dump, "it is damaged");
		return dump;
	}
	dump_sort_regions(dump);
	sort_mappings(dump);
	join(dump);
	for (i = 0; i < dump->nr_modules; i++)
		dump_read_image(dump, &dump->module[i]);
	if (!dump->nr_threads)
		dump_fail(dump, dump->truncated ? "it is truncated, and has no thread" :
						  "it has no thread");
	return dump;
}

void dump_free(struct dump_process *dump)
{
	if (!dump)
		return;
	while (dump->nr_modules)
		dump_drop_module(dump);
	dump_input_free(dump->input);
	free(dump->region);
	free(dump->own);
	free(dump->mapping);
	free(dump->module);
	free(dump->thread);
	free(dump->frame);
	free(dump);
}

static bool read_region(const struct dump_process *dump, const struct dump_region *region, uint64_t addr,
			void *buf, size_t len)
{
	const uint64_t at = addr - region->start;

	return dump->format == DUMP_CHUNK ? dump_read_hex(dump->input, region->offset + 2 * at, buf, len) :
					    dump_read(dump->input, region->offset + at, buf, len);
}

static size_t read_regions(const struct dump_process *dump, const struct dump_region *first, uint32_t nr,
			   uint64_t addr, void *buf, size_t len)
{
	const struct dump_region *region = first;
	uint32_t n = nr;
	size_t done = 0, part;

	if (!n)
		return 0;
	for (; n > 1; n -= n / 2)
		region = region[n / 2].start <= addr ? region + n / 2 : region;
	for (; done < len && region < first + nr; region++) {
		if (addr < region->start || addr >= region->end)
			break;
		part = region->end - addr < len - done ? (size_t)(region->end - addr) : len - done;
		if (!read_region(dump, region, addr, (uint8_t *)buf + done, part))
			break;
		done += part;
		addr += part;
	}
	return done;
}

size_t dump_memory(const struct dump_process *dump, uint64_t addr, void *buf, size_t len)
{
	return read_regions(dump, dump->region, dump->nr_regions, addr, buf, len);
}

size_t dump_thread_memory(const struct dump_process *dump, const struct dump_thread *thread, uint64_t addr,
			  void *buf, size_t len)
{
	const size_t got = read_regions(dump, dump->own + thread->first_own, thread->nr_own, addr, buf, len);

	return got ? got : dump_memory(dump, addr, buf, len);
}

bool dump_string(const struct dump_process *dump, uint64_t addr, char *text, size_t size)
{
	size_t got = dump_memory(dump, addr, text, size);

	return memchr(text, 0, got);
}

bool dump_word(const struct dump_process *dump, uint64_t addr, uint64_t *value)
{
	const size_t len = dump->i386 ? 4 : 8;
	uint8_t bytes[8] = { 0 };

	if (dump_memory(dump, addr, bytes, len) != len)
		return false;
	*value = dump_u64(bytes);
	return true;
}

const struct dump_mapping *dump_find_mapping(const struct dump_process *dump, uint64_t addr)
{
	const struct dump_mapping *mapping = dump->mapping;
	uint32_t n = dump->nr_mappings;

	if (!n)
		return NULL;
	for (; n > 1; n -= n / 2)
		mapping = mapping[n / 2].start <= addr ? mapping + n / 2 : mapping;
	return addr - mapping->start < mapping->end - mapping->start ? mapping : NULL;
}

uint32_t dump_find_module(const struct dump_process *dump, uint64_t addr)
{
	const struct dump_module *module = dump->module;
	uint32_t n = dump->nr_modules;

	if (!n)
		return DUMP_NO_MODULE;
	for (; n > 1; n -= n / 2)
		module = module[n / 2].start <= addr ? module + n / 2 : module;
	return addr - module->start < module->end - module->start ? (uint32_t)(module - dump->module) :
								    DUMP_NO_MODULE;
}
