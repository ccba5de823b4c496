// SPDX-License-Identifier: MIT
/*
 * chunk.c - a text with registers, mappings and bytes of stacks
 *
 * For tools that have copied a piece of a stack, as BPF programs do. A line is a word and its
 * values, separated by blanks; numbers are hexadecimal, with or without 0x:
 *
 *	kunwind-stack 1				the first line
 *	map 55d0c0001000-55d0c0002000 r-xp 00001000 fe:01 42 /usr/bin/app	of /proc/PID/maps
 *	build-id 5b3f...			of the file in the last map line
 *	thread 1234 NAME			decimal; the lines after it are of this thread
 *	rip 55d0c0001234			registers, rip and rsp at least; fs_base
 *	stack 7ffd3a4000 00112233...		bytes, any number of such lines
 *
 * Other lines, and those that begin with #, are ignored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "report_names.h"

#define MOST_STACK	(4u << 20)	/* bytes of a stack line */

struct chunk {
	struct dump_process *dump;
	const char *text;
	struct dump_module *module;	/* of the last map line; NULL: none */
	struct dump_thread *thread;
};

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

bool dump_read_hex(struct dump_input *input, uint64_t offset, void *buf, size_t len)
{
	uint8_t *to = buf;
	char pair[2];

	for (; len; len--, offset += 2) {
		if (!dump_read(input, offset, pair, 2) || digit(pair[0]) < 0 || digit(pair[1]) < 0)
			return false;
		*to++ = (uint8_t)(digit(pair[0]) << 4 | digit(pair[1]));
	}
	return true;
}

static bool take_map(struct chunk *chunk, const char *values)
{
	struct dump_process *dump = chunk->dump;
	unsigned long start, end, offset;
	char mode[5], path[DUMP_PATH];

	chunk->module = NULL;
	*path = 0;
	if (sscanf(values, "%lx-%lx %4s %lx %*s %*s %4095[^\n]", &start, &end, mode, &offset, path) < 4)
		return dump_fail(dump, "a map line is not as in /proc/PID/maps");
	if (mode[2] == 'x' && !dump_add_mapping(dump, start, end))
		return false;
	if (mode[2] != 'x' || *path != '/' || start >= end)
		return true;
	chunk->module = dump_add_module(dump, path);
	if (!chunk->module)
		return false;
	chunk->module->start = start;
	chunk->module->end = end;
	chunk->module->image = start - offset;
	return true;
}

static bool take_build_id(struct chunk *chunk, const char *values)
{
	size_t len = strspn(values, "0123456789abcdefABCDEF") / 2, i;

	for (i = 0; chunk->module && len <= DUMP_BUILD_ID && i < len; i++)
		chunk->module->build_id[i] = (uint8_t)(digit(values[2 * i]) << 4 | digit(values[2 * i + 1]));
	if (chunk->module && len <= DUMP_BUILD_ID)
		chunk->module->build_id_len = (uint32_t)len;
	return true;
}

static bool take_thread(struct chunk *chunk, const char *values)
{
	chunk->thread = dump_add_thread(chunk->dump);
	if (!chunk->thread)
		return false;
	sscanf(values, "%u %63[^\n]", &chunk->thread->tid, chunk->thread->name);
	return true;
}

static bool take_register(struct chunk *chunk, uint32_t number, const char *values)
{
	const uint32_t needed = 1u << 7 | 1u << 16;
	struct kunwind_registers *regs;

	if (!chunk->thread && !take_thread(chunk, ""))
		return false;
	regs = &chunk->thread->regs;
	regs->r[number] = strtoull(values, NULL, 16);
	regs->valid |= 1u << number;
	chunk->thread->known = (regs->valid & needed) == needed;
	return true;
}

static bool take_stack(struct chunk *chunk, const char *values)
{
	char *end;
	const uint64_t start = strtoull(values, &end, 16);
	size_t len;

	end += strspn(end, " \t");
	len = strspn(end, "0123456789abcdefABCDEF") / 2;
	return dump_add_region(chunk->dump, start, len < MOST_STACK ? len : MOST_STACK,
			       (uint64_t)(end - chunk->text));
}

static bool take_line(struct chunk *chunk, const char *line)
{
	const size_t len = strcspn(line, " \t");
	const char *values = line + len + strspn(line + len, " \t");
	uint32_t i;

	if (len == 3 && !memcmp(line, "map", 3))
		return take_map(chunk, values);
	if (len == 8 && !memcmp(line, "build-id", 8))
		return take_build_id(chunk, values);
	if (len == 6 && !memcmp(line, "thread", 6))
		return take_thread(chunk, values);
	if (len == 5 && !memcmp(line, "stack", 5))
		return take_stack(chunk, values);
	for (i = 0; i < KUNWIND_NR_REGISTERS; i++)
		if (len == strlen(kunwind_report_register[i]) &&
		    !memcmp(line, kunwind_report_register[i], len))
			return take_register(chunk, i, values);
	if (len == 7 && !memcmp(line, "fs_base", 7) && chunk->thread)
		chunk->thread->regs.fs_base = strtoull(values, NULL, 16);
	return true;
}

bool dump_read_chunk(struct dump_process *dump)
{
	char *text = dump_read_text(dump), *rest = text, *line;
	struct chunk chunk = { .dump = dump, .text = text };
	bool ok = text;

	while (ok && (line = strsep(&rest, "\n")))
		ok = take_line(&chunk, line);
	free(text);
	return ok;
}
