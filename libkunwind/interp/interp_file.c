// SPDX-License-Identifier: MIT
/*
 * interp_file.c - symbols, bytes and FDEs of an ELF file; see interp_file.h
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "interp_file.h"

#define MOST_SECTIONS	1024
#define MOST_SYMBOLS	(32u << 20)	/* bytes, and of their names */
#define CHUNK		1024		/* symbols */

static bool read_all(const struct interp_file *file, uint64_t offset, void *buf, size_t len)
{
	return file->read(file->data, offset, buf, len) == len;
}

static bool read_segments(struct interp_file *file, const Elf64_Ehdr *header)
{
	Elf64_Phdr segment;
	uint32_t i;

	for (i = 0; i < header->e_phnum; i++) {
		if (!read_all(file, header->e_phoff + i * sizeof(segment), &segment, sizeof(segment)))
			return false;
		if (segment.p_type == PT_GNU_EH_FRAME)
			file->eh_frame_hdr = segment.p_vaddr;
		if (segment.p_type != PT_LOAD || file->nr_loads == INTERP_FILE_LOADS)
			continue;
		file->load[file->nr_loads].vaddr = segment.p_vaddr;
		file->load[file->nr_loads].offset = segment.p_offset;
		file->load[file->nr_loads++].size = segment.p_filesz;
	}
	return file->nr_loads;
}

static bool read_sections(struct interp_file *file, const Elf64_Ehdr *header)
{
	Elf64_Shdr section, strings;
	uint32_t i;

	for (i = 0; i < header->e_shnum && i < MOST_SECTIONS; i++) {
		if (!read_all(file, header->e_shoff + i * sizeof(section), &section, sizeof(section)))
			return false;
		if (section.sh_type != SHT_DYNSYM || section.sh_link >= header->e_shnum)
			continue;
		if (!read_all(file, header->e_shoff + section.sh_link * sizeof(strings), &strings,
			      sizeof(strings)))
			return false;
		file->symbols.offset = section.sh_offset;
		file->symbols.size = section.sh_size;
		file->strings.offset = strings.sh_offset;
		file->strings.size = strings.sh_size;
		return strings.sh_type == SHT_STRTAB && section.sh_size <= MOST_SYMBOLS &&
		       strings.sh_size && strings.sh_size <= MOST_SYMBOLS;
	}
	return false;
}

bool interp_file_open(struct interp_file *file, kunwind_read_memory *read, void *data)
{
	Elf64_Ehdr header;

	memset(file, 0, sizeof(*file));
	file->read = read;
	file->data = data;
	return read_all(file, 0, &header, sizeof(header)) && !memcmp(header.e_ident, ELFMAG, SELFMAG) &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64 &&
	       header.e_phentsize == sizeof(Elf64_Phdr) && header.e_shentsize == sizeof(Elf64_Shdr) &&
	       read_segments(file, &header) && read_sections(file, &header);
}

static void take_symbol(struct interp_symbol *symbol, const Elf64_Sym *from, const char *name)
{
	if (from->st_shndx == SHN_UNDEF)
		return;
	for (; symbol->name; symbol++)
		if (!symbol->addr && !strcmp(name, symbol->name)) {
			symbol->addr = from->st_value;
			symbol->size = from->st_size;
		}
}

bool interp_file_symbols(const struct interp_file *file, struct interp_symbol *symbol)
{
	const uint64_t nr = file->symbols.size / sizeof(Elf64_Sym);
	Elf64_Sym *chunk = malloc(CHUNK * sizeof(*chunk));
	char *strings = malloc(file->strings.size + 1);
	bool ok = chunk && strings && read_all(file, file->strings.offset, strings, file->strings.size);
	uint64_t i, k, n;

	for (i = 0; ok && i < nr; i += n) {
		n = nr - i < CHUNK ? nr - i : CHUNK;
		ok = read_all(file, file->symbols.offset + i * sizeof(*chunk), chunk, n * sizeof(*chunk));
		strings[file->strings.size] = 0;
		for (k = 0; ok && k < n; k++)
			if (chunk[k].st_name < file->strings.size)
				take_symbol(symbol, &chunk[k], strings + chunk[k].st_name);
	}
	free(chunk);
	free(strings);
	return ok;
}

bool interp_file_bytes(const struct interp_file *file, uint64_t vaddr, void *buf, size_t len)
{
	uint32_t i;

	for (i = 0; i < file->nr_loads; i++) {
		const uint64_t at = vaddr - file->load[i].vaddr, size = file->load[i].size;

		if (at < size && len <= size - at)
			return read_all(file, file->load[i].offset + at, buf, len);
	}
	return false;
}

/* An entry of the search table: signed distances from the start of .eh_frame_hdr. */
struct search_entry {
	int32_t code, fde;
};

#define TABLE_ENCODING	0x3b		/* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

bool interp_file_fde(const struct interp_file *file, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	const uint64_t base = file->eh_frame_hdr, first = base + 12;
	struct { uint8_t version, frame, count, table; int32_t at; uint32_t nr; } head;
	struct { uint32_t length, cie; int32_t start; uint32_t size; } fde;
	struct search_entry entry;
	uint32_t low = 0, high, middle;

	if (!base || !interp_file_bytes(file, base, &head, sizeof(head)) || head.version != 1 ||
	    head.count != 3 || head.table != TABLE_ENCODING || !head.nr)
		return false;
	for (high = head.nr; high - low > 1;) {
		middle = low + (high - low) / 2;
		if (!interp_file_bytes(file, first + 8ULL * middle, &entry, sizeof(entry)))
			return false;
		if (base + (uint64_t)(int64_t)entry.code <= vaddr)
			low = middle;
		else
			high = middle;
	}
	if (!interp_file_bytes(file, first + 8ULL * low, &entry, sizeof(entry)) ||
	    !interp_file_bytes(file, base + (uint64_t)(int64_t)entry.fde, &fde, sizeof(fde)))
		return false;
	*start = base + (uint64_t)(int64_t)entry.code;
	*end = *start + fde.size;
	/* The usual encoding of addresses in FDEs, pcrel sdata4, if the start is the same by it. */
	return base + (uint64_t)(int64_t)(entry.fde + 8 + (int64_t)fde.start) == *start &&
	       vaddr - *start < fde.size;
}
