// SPDX-License-Identifier: MIT
/*
 * links.c - the objects of a core that does not list its files
 *
 * Before Linux 3.7, and where the core was cut by a tool, there is no NT_FILE. The objects are
 * then the ELF headers at the beginnings of regions, and their names are those in ld.so's list
 * (struct r_debug and struct link_map of link.h), to which the program's dynamic section
 * points. The vDSO is in no list.
 */
#include <elf.h>
#include <string.h>

#include "dump.h"

#define MOST_LINKS	4096
#define MOST_DYNAMIC	1024
#define MOST_SPAN	(1ULL << 32)	/* of an object's mappings */

/* Whether an ELF object begins at @addr; @end: out, of its segments. */
static bool is_object(const struct dump_process *dump, uint64_t addr, uint64_t *end)
{
	const size_t size = dump->i386 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	uint8_t header[64], segment[56];
	uint64_t phoff, vaddr, memsz, offset, bias = 0;
	bool first = true;
	uint32_t nr, i;

	if (dump_memory(dump, addr, header, sizeof(header)) != sizeof(header) ||
	    memcmp(header, ELFMAG, SELFMAG) ||
	    (dump_u16(header + 16) != ET_DYN && dump_u16(header + 16) != ET_EXEC))
		return false;
	phoff = dump->i386 ? dump_u32(header + 28) : dump_u64(header + 32);
	nr = dump_u16(header + (dump->i386 ? 44 : 56));
	*end = 0;
	for (i = 0; i < nr && i < 128; i++) {
		if (dump_memory(dump, addr + phoff + i * size, segment, size) != size)
			return false;
		if (dump_u32(segment) != PT_LOAD)
			continue;
		offset = dump->i386 ? dump_u32(segment + 4) : dump_u64(segment + 8);
		vaddr = dump->i386 ? dump_u32(segment + 8) : dump_u64(segment + 16);
		memsz = dump->i386 ? dump_u32(segment + 20) : dump_u64(segment + 40);
		if (first)
			bias = addr + offset - vaddr;
		first = false;
		if (bias + vaddr + memsz > *end)
			*end = bias + vaddr + memsz;
	}
	return *end > addr && *end - addr < MOST_SPAN;
}

/* Finds an entry of the dynamic section of the main program. */
static bool find_debug(const struct dump_process *dump, uint64_t *debug)
{
	const size_t size = dump->i386 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	const uint64_t word = dump->i386 ? 4 : 8;
	uint64_t at = 0, bias = 0, tag, i;
	uint8_t segment[56];

	for (i = 0; i < dump->auxv.phnum && i < 128; i++) {
		uint64_t vaddr;

		if (dump_memory(dump, dump->auxv.phdr + i * size, segment, size) != size)
			return false;
		vaddr = dump->i386 ? dump_u32(segment + 8) : dump_u64(segment + 16);
		if (dump_u32(segment) == PT_PHDR)
			bias = dump->auxv.phdr - vaddr;
		if (dump_u32(segment) == PT_DYNAMIC)
			at = bias + vaddr;
	}
	for (i = 0; at && i < MOST_DYNAMIC; i++, at += 2 * word) {
		if (!dump_word(dump, at, &tag) || tag == DT_NULL)
			return false;
		if (tag == DT_DEBUG)
			return dump_word(dump, at + word, debug) && *debug;
	}
	return false;
}

/* Sets the path of the module that holds the dynamic section of a link. */
static bool name_module(struct dump_process *dump, uint64_t dynamic, const char *path)
{
	struct dump_module *named;
	uint32_t i;

	for (i = 0; i < dump->nr_modules; i++) {
		struct dump_module *module = &dump->module[i];

		if (dynamic < module->start || dynamic >= module->end || *module->path)
			continue;
		named = dump_add_module(dump, path);
		if (!named)
			return false;
		/* the array may have moved */
		module = &dump->module[i];
		{
			char *old = module->path;

			module->path = named->path;
			named->path = old;
		}
		dump_drop_module(dump);
		return true;
	}
	return true;
}

static bool name_modules(struct dump_process *dump)
{
	const uint64_t word = dump->i386 ? 4 : 8;
	uint64_t debug, link, name, dynamic;
	char path[DUMP_PATH];
	uint32_t nr;

	if (!find_debug(dump, &debug) || !dump_word(dump, debug + word, &link))
		return true;
	/* l_addr, l_name, l_ld, l_next */
	for (nr = 0; link && nr < MOST_LINKS; nr++) {
		if (!dump_word(dump, link + word, &name) || !dump_word(dump, link + 2 * word, &dynamic))
			return true;
		/* the program itself has no name there */
		if (!dump_string(dump, name, path, sizeof(path)) ||
		    (!*path && !dump_string(dump, dump->auxv.execfn, path, sizeof(path))))
			*path = 0;
		if (*path == '/' && !name_module(dump, dynamic, path))
			return false;
		if (!dump_word(dump, link + 3 * word, &link))
			return true;
	}
	return true;
}

bool dump_read_links(struct dump_process *dump)
{
	uint32_t i;

	for (i = 0; i < dump->nr_regions; i++) {
		const uint64_t start = dump->region[i].start;
		struct dump_module *module;
		uint64_t end;

		if (!is_object(dump, start, &end) || start == dump->auxv.vdso)
			continue;
		module = dump_add_module(dump, "");
		if (!module)
			return false;
		module->start = module->image = start;
		module->end = end;
	}
	return name_modules(dump);
}
