// SPDX-License-Identifier: MIT
/*
 * minidump.c - minidumps of x86-64 Linux, of Breakpad and of Crashpad
 *
 * A minidump is a list of streams. Threads have registers and a piece of their stack; modules
 * have their place, their name and their build-id; further streams have pieces of memory, and
 * Breakpad's copies of files in /proc. Names and layouts: minidumpapiset.h of Windows, and
 * google_breakpad/common/minidump_format.h for the streams of Linux.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "report_names.h"

enum {
	THREADS = 3, MODULES = 4, MEMORY = 5, EXCEPTION = 6, SYSTEM = 7, MEMORY_64 = 9, MISC = 15,
	THREAD_NAMES = 24, LINUX_STATUS = 0x47670004, LINUX_AUXV = 0x47670008, LINUX_MAPS = 0x47670009,
};

#define MOST_STREAMS	512
#define MODULE_SIZE	108		/* the largest entry of a list */
#define CONTEXT_SIZE	1232		/* of CONTEXT, AMD64 */
#define CPU_AMD64	9
#define OS_LINUX	0x8201
#define OS_ANDROID	0x8203
#define NOT_A_CRASH	0xffffffffU	/* the program asked for the dump */
#define SIGNATURE_ELF	0x4270454c	/* "BpEL": a build-id follows */
#define MOST_TEXT	(16u << 20)	/* bytes of a copy of /proc/PID/maps */

struct stream {
	uint32_t type, size, at;
};

struct minidump {
	struct dump_process *dump;
	struct stream stream[MOST_STREAMS];
	uint32_t nr;
};

static const struct stream *find(const struct minidump *minidump, uint32_t type)
{
	uint32_t i;

	for (i = 0; i < minidump->nr; i++)
		if (minidump->stream[i].type == type)
			return &minidump->stream[i];
	return NULL;
}

static bool cut(struct dump_process *dump)
{
	dump->truncated = true;
	return true;
}

/* Reads a string of UTF-16; what is not ASCII becomes '?'. */
static bool read_string(struct dump_process *dump, uint32_t at, char *text, size_t size)
{
	uint8_t head[4], unit[2];
	uint32_t i, nr;

	if (!dump_read(dump->input, at, head, sizeof(head)))
		return false;
	nr = dump_u32(head) / 2;
	if (nr >= size)
		nr = (uint32_t)size - 1;
	for (i = 0; i < nr; i++) {
		if (!dump_read(dump->input, at + 4ULL + 2ULL * i, unit, sizeof(unit)))
			return false;
		text[i] = (char)(dump_u16(unit) < 128 ? dump_u16(unit) : '?');
	}
	text[nr] = 0;
	return true;
}

static bool read_context(struct dump_process *dump, uint32_t size, uint32_t at, struct dump_thread *thread)
{
	/* in the order of DWARF: the context has rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15 rip */
	static const uint8_t place[KUNWIND_NR_REGISTERS] = { 0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13,
							     14, 15, 16 };
	uint8_t registers[KUNWIND_NR_REGISTERS * 8];
	uint32_t i;

	if (size < CONTEXT_SIZE || !dump_read(dump->input, at + 120ULL, registers, sizeof(registers)))
		return false;
	thread->regs = (struct kunwind_registers){ .valid = (1u << KUNWIND_NR_REGISTERS) - 1 };
	for (i = 0; i < KUNWIND_NR_REGISTERS; i++)
		thread->regs.r[i] = dump_u64(registers + place[i] * 8);
	thread->known = true;
	return true;
}

/* Reads the number at the head of a list, whose entries begin 4 or 8 bytes after it. */
static bool read_list(struct minidump *minidump, uint32_t type, uint32_t entry, uint32_t *nr, uint64_t *at)
{
	const struct stream *stream = find(minidump, type);
	uint8_t head[4];

	*nr = 0;
	if (!stream || stream->size < 4)
		return true;
	if (!dump_read(minidump->dump->input, stream->at, head, sizeof(head)))
		return cut(minidump->dump);
	*nr = dump_u32(head);
	if (*nr > (stream->size - 4) / entry)
		*nr = (stream->size - 4) / entry;
	/* some writers align the entries */
	*at = stream->at + (stream->size - 4 == (uint64_t)*nr * entry + 4 ? 8ULL : 4ULL);
	return true;
}

/* Calls @fn for each entry of a list, of @size bytes. Returns false if it does. */
static bool each_entry(struct minidump *minidump, uint32_t type, uint32_t size,
		       bool (*fn)(struct dump_process *dump, const uint8_t *entry))
{
	struct dump_process *dump = minidump->dump;
	uint8_t bytes[MODULE_SIZE];
	uint64_t at;
	uint32_t nr, i;

	read_list(minidump, type, size, &nr, &at);
	for (i = 0; i < nr; i++) {
		if (!dump_read(dump->input, at + (uint64_t)i * size, bytes, size))
			return cut(dump);
		if (!fn(dump, bytes))
			return false;
	}
	return true;
}

static bool take_thread(struct dump_process *dump, const uint8_t *entry)
{
	struct dump_thread *thread = dump_add_thread(dump);

	if (!thread)
		return false;
	thread->tid = dump_u32(entry);
	if (!read_context(dump, dump_u32(entry + 40), dump_u32(entry + 44), thread))
		cut(dump);
	return dump_add_region(dump, dump_u64(entry + 24), dump_u32(entry + 32), dump_u32(entry + 36));
}

static bool read_names(struct minidump *minidump)
{
	struct dump_process *dump = minidump->dump;
	uint8_t bytes[12];
	uint64_t at;
	uint32_t nr, i, k;

	read_list(minidump, THREAD_NAMES, sizeof(bytes), &nr, &at);
	nr = nr < DUMP_MOST_THREADS ? nr : DUMP_MOST_THREADS;
	for (i = 0; i < nr; i++) {
		if (!dump_read(dump->input, at + (uint64_t)i * sizeof(bytes), bytes, sizeof(bytes)))
			return cut(dump);
		/* both lists have the same order */
		k = i < dump->nr_threads && dump->thread[i].tid == dump_u32(bytes) ? i : 0;
		for (; k < dump->nr_threads && dump->thread[k].tid != dump_u32(bytes); k++)
			if (nr > 4096)
				return true;
		if (k < dump->nr_threads)
			read_string(dump, dump_u32(bytes + 4), dump->thread[k].name, DUMP_NAME);
	}
	return true;
}

static void read_code_view(struct dump_process *dump, struct dump_module *module, uint32_t size, uint32_t at)
{
	uint8_t bytes[4 + DUMP_BUILD_ID];

	if (size <= 4 || size > sizeof(bytes) || !dump_read(dump->input, at, bytes, size) ||
	    dump_u32(bytes) != SIGNATURE_ELF)
		return;
	module->build_id_len = size - 4;
	memcpy(module->build_id, bytes + 4, size - 4);
}

static bool take_module(struct dump_process *dump, const uint8_t *entry)
{
	struct dump_module *module;
	char path[DUMP_PATH];

	if (!read_string(dump, dump_u32(entry + 20), path, sizeof(path)))
		*path = 0;
	/* Breakpad's name of the vDSO */
	module = dump_add_module(dump, strcmp(path, "linux-gate.so") ? path : DUMP_VDSO);
	if (!module)
		return false;
	module->start = module->image = dump_u64(entry);
	module->end = module->start + dump_u32(entry + 8);
	if (module->end < module->start)
		module->end = module->start;
	read_code_view(dump, module, dump_u32(entry + 76), dump_u32(entry + 80));
	return true;
}

static bool take_memory(struct dump_process *dump, const uint8_t *entry)
{
	return dump_add_region(dump, dump_u64(entry), dump_u32(entry + 8), dump_u32(entry + 12));
}

/* The pieces of this list follow each other in the file. */
static bool read_memory_64(struct minidump *minidump)
{
	struct dump_process *dump = minidump->dump;
	const struct stream *stream = find(minidump, MEMORY_64);
	uint8_t bytes[16];
	uint64_t at, from, left;

	if (!stream || stream->size < 16)
		return true;
	if (!dump_read(dump->input, stream->at, bytes, sizeof(bytes)))
		return cut(dump);
	left = dump_u64(bytes);
	from = dump_u64(bytes + 8);
	left = left < (stream->size - 16) / 16 ? left : (stream->size - 16) / 16;
	for (at = stream->at + 16ULL; left; left--, at += 16) {
		if (!dump_read(dump->input, at, bytes, sizeof(bytes)))
			return cut(dump);
		if (!dump_add_region(dump, dump_u64(bytes), dump_u64(bytes + 8), from))
			return false;
		from += dump_u64(bytes + 8);
	}
	return true;
}

static bool read_exception(struct minidump *minidump)
{
	const struct stream *stream = find(minidump, EXCEPTION);
	struct dump_process *dump = minidump->dump;
	uint8_t bytes[168];
	uint32_t i;

	if (!stream || stream->size < sizeof(bytes))
		return true;
	if (!dump_read(dump->input, stream->at, bytes, sizeof(bytes)))
		return cut(dump);
	for (i = 0; i < dump->nr_threads; i++) {
		if (dump->thread[i].tid != dump_u32(bytes))
			continue;
		dump->crash.thread = i;
		dump->crash.has_thread = true;
		/* the list has the registers at the time of the dump */
		read_context(dump, dump_u32(bytes + 160), dump_u32(bytes + 164), &dump->thread[i]);
		break;
	}
	if (dump_u32(bytes + 8) == NOT_A_CRASH || dump_u32(bytes + 8) > 64)
		return true;
	dump->crash.signal = dump_u32(bytes + 8);
	dump->crash.code = (int32_t)dump_u32(bytes + 12);
	dump->crash.has_code = true;
	dump->crash.address = dump_u64(bytes + 24);
	dump->crash.has_address = kunwind_signal_has_address(dump->crash.signal, dump->crash.code);
	return true;
}

static bool read_system(struct minidump *minidump)
{
	const struct stream *stream = find(minidump, SYSTEM);
	struct dump_process *dump = minidump->dump;
	uint8_t bytes[24];

	if (!stream || !dump_read(dump->input, stream->at, bytes, sizeof(bytes)))
		return true;
	if (dump_u16(bytes) != CPU_AMD64)
		return dump_fail(dump, "it is a minidump of another processor than x86-64");
	if (dump_u32(bytes + 20) != OS_LINUX && dump_u32(bytes + 20) != OS_ANDROID)
		return dump_fail(dump, "it is a minidump of another system than Linux");
	return true;
}

/* Returns the content of a stream as a text; NULL: there is none. */
static char *read_text(struct minidump *minidump, uint32_t type)
{
	const struct stream *stream = find(minidump, type);
	char *text;

	if (!stream || stream->size > MOST_TEXT)
		return NULL;
	text = malloc(stream->size + 1ULL);
	if (text && !dump_read(minidump->dump->input, stream->at, text, stream->size)) {
		free(text);
		return NULL;
	}
	if (text)
		text[stream->size] = 0;
	return text;
}

static void read_process(struct minidump *minidump)
{
	const struct stream *stream = find(minidump, LINUX_AUXV), *misc = find(minidump, MISC);
	char *status = read_text(minidump, LINUX_STATUS), *at;
	struct dump_process *dump = minidump->dump;
	uint8_t auxv[2048], bytes[12];

	if (misc && dump_read(dump->input, misc->at, bytes, sizeof(bytes)) && dump_u32(bytes + 4) & 1)
		dump->pid = (int32_t)dump_u32(bytes + 8);
	if (status) {
		sscanf(status, "Name: %63[^\n]", dump->command);
		at = strstr(status, "\nPid:");
		if (at)
			dump->pid = atoi(at + 5);
	}
	free(status);
	if (!stream || stream->size > sizeof(auxv) || !dump_read(dump->input, stream->at, auxv, stream->size))
		return;
	dump_take_auxv(dump, auxv, stream->size);
	dump_sort_regions(dump);
	dump_find_start(dump, auxv, stream->size);
}

/* Without a copy of /proc/PID/maps, all of a module counts as code. */
static bool read_mappings(struct minidump *minidump)
{
	char *maps = read_text(minidump, LINUX_MAPS), *line, *next;
	struct dump_process *dump = minidump->dump;
	unsigned long start, end;
	bool ok = true;
	char mode[5];
	uint32_t i;

	for (line = maps; ok && line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) == 3 && mode[2] == 'x')
			ok = dump_add_mapping(dump, start, end);
	}
	for (i = 0; ok && !maps && i < dump->nr_modules; i++)
		ok = dump_add_mapping(dump, dump->module[i].start, dump->module[i].end);
	free(maps);
	return ok;
}

static bool read_streams(struct minidump *minidump)
{
	struct dump_process *dump = minidump->dump;
	uint8_t bytes[32], entry[12];
	uint64_t at;
	uint32_t i, nr;

	if (!dump_read(dump->input, 0, bytes, sizeof(bytes)))
		return dump_fail(dump, "its header is truncated");
	if (dump_u16(bytes + 4) != 0xa793)
		return dump_fail(dump, "its version of minidumps is not known");
	nr = dump_u32(bytes + 8);
	at = dump_u32(bytes + 12);
	nr = nr < MOST_STREAMS ? nr : MOST_STREAMS;
	for (i = 0; i < nr; i++) {
		struct stream *stream = &minidump->stream[minidump->nr];

		if (!dump_read(dump->input, at + (uint64_t)i * sizeof(entry), entry, sizeof(entry)))
			return cut(dump);
		*stream = (struct stream){ dump_u32(entry), dump_u32(entry + 4), dump_u32(entry + 8) };
		if (stream->type)
			minidump->nr++;
	}
	return true;
}

bool dump_read_minidump(struct dump_process *dump)
{
	struct minidump *minidump = calloc(1, sizeof(*minidump));
	bool ok;

	if (!minidump)
		return dump_fail(dump, "out of memory");
	minidump->dump = dump;
	ok = read_streams(minidump) && read_system(minidump) &&
	     each_entry(minidump, THREADS, 48, take_thread) && read_names(minidump) &&
	     each_entry(minidump, MODULES, MODULE_SIZE, take_module) &&
	     each_entry(minidump, MEMORY, 16, take_memory) && read_memory_64(minidump) &&
	     read_exception(minidump) && read_mappings(minidump);
	if (ok)
		read_process(minidump);
	free(minidump);
	return ok;
}
