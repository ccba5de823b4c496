// SPDX-License-Identifier: MIT
/*
 * text_hash.c - what a minidump has in place of the build-id of a file that has none
 *
 * Breakpad's writer then folds the first page of the section .text into 16 bytes by exclusive
 * or (common/linux/file_id.cc).
 */
#include <elf.h>
#include <string.h>

#include "dump.h"

#define PAGE	4096

struct elf_file {
	kunwind_read_memory *read;
	void *data;
	bool wide;
	uint64_t sections, names, names_size;
	uint32_t nr;
};

static bool get(const struct elf_file *file, uint64_t offset, void *buf, size_t len)
{
	return file->read(file->data, offset, buf, len) == len;
}

/* Reads a section header. */
static bool get_section(const struct elf_file *file, uint32_t number, uint32_t *name, uint64_t *offset,
			uint64_t *size)
{
	const size_t entry = file->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint8_t bytes[sizeof(Elf64_Shdr)];

	if (!get(file, file->sections + (uint64_t)number * entry, bytes, entry))
		return false;
	*name = dump_u32(bytes);
	*offset = file->wide ? dump_u64(bytes + 24) : dump_u32(bytes + 16);
	*size = file->wide ? dump_u64(bytes + 32) : dump_u32(bytes + 20);
	return true;
}

static bool open_file(struct elf_file *file)
{
	uint8_t header[sizeof(Elf64_Ehdr)];
	uint32_t unused;

	if (!get(file, 0, header, sizeof(header)) || memcmp(header, ELFMAG, SELFMAG))
		return false;
	file->wide = header[EI_CLASS] == ELFCLASS64;
	file->sections = file->wide ? dump_u64(header + 40) : dump_u32(header + 32);
	file->nr = dump_u16(header + (file->wide ? 60 : 48));
	return get_section(file, dump_u16(header + (file->wide ? 62 : 50)), &unused, &file->names,
			   &file->names_size);
}

bool dump_text_hash(kunwind_read_memory *read, void *data, uint8_t hash[DUMP_TEXT_HASH])
{
	struct elf_file file = { .read = read, .data = data };
	uint8_t text[PAGE], name[6];
	uint64_t offset, size;
	uint32_t at, i, k;

	if (!open_file(&file))
		return false;
	for (i = 0; i < file.nr; i++) {
		if (!get_section(&file, i, &at, &offset, &size))
			return false;
		if (at < file.names_size && get(&file, file.names + at, name, sizeof(name)) &&
		    !memcmp(name, ".text", sizeof(name)))
			break;
	}
	if (i == file.nr)
		return false;
	/* whole steps of the hash, also beyond the section's end */
	size = size < PAGE ? (size + DUMP_TEXT_HASH - 1) & ~(DUMP_TEXT_HASH - 1ULL) : PAGE;
	if (!get(&file, offset, text, size))
		return false;
	memset(hash, 0, DUMP_TEXT_HASH);
	for (k = 0; k < size; k++)
		hash[k % DUMP_TEXT_HASH] ^= text[k];
	return true;
}
