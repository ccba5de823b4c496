// SPDX-License-Identifier: MIT
/*
 * running.c - read what kunwind stack has written about a process; see running.h
 *
 * A user may give such a file to kunwind stackwalk, so it is checked as any other format.
 */
#include <stdlib.h>
#include <string.h>

#include "running.h"

struct running {
	struct dump_process *dump;
	struct running_header header;
	uint64_t at;		/* offset of what comes next */
	uint8_t auxv[RUNNING_AUXV];
};

static bool take(struct running *running, void *buf, size_t len)
{
	if (!dump_read(running->dump->input, running->at, buf, len))
		return dump_fail(running->dump, "it ends too early");
	running->at += len;
	return true;
}

/* All code must be known before a file becomes a module, so the mappings are read twice. */
static bool take_mappings(struct running *running, bool files)
{
	char path[DUMP_PATH], last[DUMP_PATH];
	struct running_mapping mapping;
	bool has_last = false;
	uint32_t i;

	for (i = 0; i < running->header.nr_mappings; i++) {
		if (!take(running, &mapping, sizeof(mapping)))
			return false;
		if (mapping.path_len > sizeof(path))
			return dump_fail(running->dump, "a path is too long");
		if (!take(running, path, mapping.path_len))
			return false;
		if (!files && mapping.is_code &&
		    !dump_add_mapping(running->dump, mapping.start, mapping.end))
			return false;
		if (!files || !mapping.path_len || mapping.start >= mapping.end)
			continue;
		path[mapping.path_len - 1] = 0;
		if (!dump_add_file(running->dump, has_last ? last : NULL, path, mapping.start, mapping.end,
				   mapping.offset))
			return false;
		memcpy(last, path, mapping.path_len);
		has_last = true;
	}
	return !files || dump_end_file(running->dump, has_last ? last : NULL);
}

static bool take_threads(struct running *running)
{
	const uint32_t needed = 1u << 7 | 1u << 16;	/* rsp, rip */
	struct running_thread from;
	struct dump_thread *thread;
	uint32_t i;

	for (i = 0; i < running->header.nr_threads; i++) {
		if (!take(running, &from, sizeof(from)))
			return false;
		thread = dump_add_thread(running->dump);
		if (!thread)
			return false;
		thread->tid = from.tid;
		thread->known = from.known && (from.regs.valid & needed) == needed;
		thread->regs = from.regs;
		memcpy(thread->name, from.name, sizeof(thread->name));
		thread->name[sizeof(thread->name) - 1] = 0;
	}
	return true;
}

static bool take_regions(struct running *running)
{
	struct running_region region;
	uint32_t i;

	for (i = 0; i < running->header.nr_regions; i++) {
		if (!take(running, &region, sizeof(region)) ||
		    !(region.thread ? dump_add_own(running->dump, region.thread - 1, region.start,
						   region.len, running->at) :
				      dump_add_region(running->dump, region.start, region.len, running->at)))
			return false;
		if (region.len > dump_input_size(running->dump->input) - running->at)
			return true;	/* truncated, as dump_add_region() has noted */
		running->at += region.len;
	}
	return true;
}

static bool take_all(struct running *running)
{
	struct running_header *header = &running->header;
	struct dump_process *dump = running->dump;
	uint64_t mappings;

	if (!take(running, header, sizeof(*header)))
		return false;
	if (header->auxv_len > sizeof(running->auxv))
		return dump_fail(dump, "its auxiliary vector is too long");
	dump->i386 = header->i386;
	dump->pid = header->pid;
	memcpy(dump->command, header->command, sizeof(dump->command));
	dump->command[sizeof(dump->command) - 1] = 0;
	if (!take(running, running->auxv, header->auxv_len))
		return false;
	dump_take_auxv(dump, running->auxv, header->auxv_len);
	mappings = running->at;
	if (!take_mappings(running, false))
		return false;
	running->at = mappings;
	if (!take_mappings(running, true) || !take_threads(running) || !take_regions(running))
		return false;
	dump_sort_regions(dump);
	dump_find_start(dump, running->auxv, header->auxv_len);
	return true;
}

bool dump_read_running(struct dump_process *dump)
{
	struct running *running = calloc(1, sizeof(*running));
	bool ok;

	if (!running)
		return dump_fail(dump, "out of memory");
	running->dump = dump;
	ok = take_all(running);
	free(running);
	return ok;
}
