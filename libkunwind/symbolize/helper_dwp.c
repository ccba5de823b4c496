// SPDX-License-Identifier: MIT
/*
 * helper_dwp.c - copy one unit of a package of split DWARF to a .dwo file
 *
 * A .dwp file holds the sections of many .dwo files one after another, an index
 * by unit id of where the parts of each unit begin (DWARF 5 section 7.3.5;
 * before it, GNU's version 2), and the strings of all. libdw before 0.191
 * cannot read it; later versions look for it by a path, which this process may
 * not open. Therefore the parts of one unit are laid out as an ELF file again,
 * in memory that the library lends: the sections that functions and lines need,
 * and only this unit's strings.
 *
 * Cost: the bytes of one unit, in the lent file. Type units and 64-bit DWARF
 * are not read: such a unit has only lines.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper_split.h"

enum part { INFO, ABBREV, LINE, STR_OFFSETS, RNGLISTS, STR, NR_PARTS };

/* The number of each section in the index, by the index's version; 0: none. */
static const struct {
	const char *name;
	uint32_t v2, v5;
} parts[NR_PARTS] = {
	[INFO] = { ".debug_info.dwo", 1, 1 },
	[ABBREV] = { ".debug_abbrev.dwo", 3, 3 },
	[LINE] = { ".debug_line.dwo", 4, 4 },
	[STR_OFFSETS] = { ".debug_str_offsets.dwo", 6, 6 },
	[RNGLISTS] = { ".debug_rnglists.dwo", 0, 8 },
	[STR] = { ".debug_str.dwo", 0, 0 },
};

struct bytes {
	const unsigned char *at;
	size_t size;
};

struct package {
	struct bytes index, section[NR_PARTS];
	unsigned int version;
};

/* The file under construction. */
struct image {
	unsigned char *at;
	size_t size, used;
	bool full;
};

static uint32_t u32(struct bytes from, size_t offset)
{
	uint32_t value = 0;

	if (offset <= from.size && from.size - offset >= sizeof(value))
		memcpy(&value, from.at + offset, sizeof(value));
	return value;
}

static struct bytes section_data(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data;

	if (shdr->sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
		return (struct bytes){ 0 };
	data = elf_rawdata(scn, NULL);
	return data && data->d_buf ? (struct bytes){ data->d_buf, data->d_size } : (struct bytes){ 0 };
}

static void read_sections(Elf *elf, struct package *package)
{
	Elf_Scn *scn = NULL;
	size_t names, i;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr mem, *shdr = gelf_getshdr(scn, &mem);
		const char *name = shdr ? elf_strptr(elf, names, shdr->sh_name) : NULL;

		if (!name || shdr->sh_type == SHT_NOBITS)
			continue;
		if (!strcmp(name, ".debug_cu_index"))
			package->index = section_data(scn, shdr);
		for (i = 0; i < NR_PARTS; i++) {
			if (!strcmp(name, parts[i].name))
				package->section[i] = section_data(scn, shdr);
		}
	}
}

/* The unit's row, 0: none. Open addressing; empty slots have id and row 0. */
static uint32_t find_row(struct bytes index, uint64_t id, uint32_t slots, uint32_t units)
{
	uint64_t mask = slots - 1, slot = id & mask, step = ((id >> 32) & mask) | 1, found;
	uint32_t i, row;

	for (i = 0; i < slots; i++, slot = (slot + step) & mask) {
		memcpy(&found, index.at + 16 + slot * 8, sizeof(found));
		row = u32(index, 16 + (size_t)slots * 8 + slot * 4);
		if (found == id && row && row <= units)
			return row;
		if (!found && !row)
			return 0;
	}
	return 0;
}

/* Finds the unit's parts in the package. False: not there, or a bad index. */
static bool find_parts(struct package *package, uint64_t id, struct bytes *part)
{
	struct bytes index = package->index;
	uint32_t columns = u32(index, 4), units = u32(index, 8), slots = u32(index, 12), row, i, j;
	size_t ids = 16 + (size_t)slots * 12;
	size_t cells = (size_t)columns * units * 4;

	/* version 2 is a u32, version 5 a u16 and padding */
	package->version = u32(index, 0) == 2 ? 2 : u32(index, 0) & 0xffff;
	if ((package->version != 2 && package->version != 5) || columns > 16 || units > slots ||
	    !slots || slots & (slots - 1) || index.size < ids ||
	    index.size - ids < (size_t)columns * 4 + 2 * cells)
		return false;
	row = find_row(index, id, slots, units);
	if (!row)
		return false;
	for (i = 0; i < columns; i++) {
		uint32_t number = u32(index, ids + i * 4);
		size_t cell = ids + (size_t)columns * 4 + ((size_t)(row - 1) * columns + i) * 4;
		uint32_t offset = u32(index, cell), size = u32(index, cell + cells);

		for (j = 0; j < NR_PARTS; j++) {
			if (!number || number != (package->version == 2 ? parts[j].v2 : parts[j].v5))
				continue;
			if (offset > package->section[j].size ||
			    size > package->section[j].size - offset)
				return false;
			part[j] = (struct bytes){ package->section[j].at + offset, size };
		}
	}
	return part[INFO].size && part[ABBREV].size;
}

static void put(struct image *image, const void *bytes, size_t size)
{
	if (image->full || size > image->size - image->used) {
		image->full = true;
		return;
	}
	if (size)
		memcpy(image->at + image->used, bytes, size);
	image->used += size;
}

/* Writes the unit's table of string offsets, and its strings as a section. */
static void put_strings(struct image *image, const struct package *package, struct bytes table,
			Elf64_Shdr *offsets, Elf64_Shdr *strings)
{
	size_t head = package->version == 5 && table.size >= 8 ? 8 : 0, nr = (table.size - head) / 4, i;
	struct bytes all = package->section[STR];
	unsigned char *to;

	offsets->sh_offset = image->used;
	put(image, table.at, head + nr * 4);
	offsets->sh_size = head + nr * 4;
	strings->sh_offset = image->used;
	put(image, "", 1);
	if (image->full)
		return;
	to = image->at + offsets->sh_offset + head;
	for (i = 0; i < nr; i++) {
		uint32_t from = u32(table, head + i * 4), here = 0;
		const void *end = from < all.size ? memchr(all.at + from, '\0', all.size - from) : NULL;

		if (end) {
			here = (uint32_t)(image->used - strings->sh_offset);
			put(image, all.at + from, (size_t)((const unsigned char *)end - all.at) - from + 1);
		}
		memcpy(to + i * 4, &here, sizeof(here));
	}
	strings->sh_size = image->used - strings->sh_offset;
}

static void lay_out(struct image *image, const struct package *package, const struct bytes *part)
{
	Elf64_Ehdr ehdr = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
					 EV_CURRENT },
			    .e_type = ET_REL, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(ehdr), .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = NR_PARTS + 2, .e_shstrndx = NR_PARTS + 1 };
	Elf64_Shdr shdr[NR_PARTS + 2] = { 0 }, *names = &shdr[NR_PARTS + 1];
	static const char zeros[8];
	int i;

	put(image, &ehdr, sizeof(ehdr));
	for (i = 0; i < NR_PARTS; i++) {
		shdr[i + 1].sh_type = SHT_PROGBITS;
		shdr[i + 1].sh_addralign = 1;
		if (i == STR_OFFSETS) {
			put_strings(image, package, part[i], &shdr[i + 1], &shdr[STR + 1]);
		} else if (i != STR) {
			shdr[i + 1].sh_offset = image->used;
			shdr[i + 1].sh_size = part[i].size;
			put(image, part[i].at, part[i].size);
		}
	}
	names->sh_type = SHT_STRTAB;
	names->sh_addralign = 1;
	names->sh_offset = image->used;
	put(image, "", 1);
	for (i = 0; i < NR_PARTS; i++) {
		shdr[i + 1].sh_name = (Elf64_Word)(image->used - names->sh_offset);
		put(image, parts[i].name, strlen(parts[i].name) + 1);
	}
	names->sh_size = image->used - names->sh_offset;
	put(image, zeros, -image->used & 7);
	ehdr.e_shoff = image->used;
	put(image, shdr, sizeof(shdr));
	if (!image->full)
		memcpy(image->at, &ehdr, sizeof(ehdr));
}

bool kunwind_dwp_extract(int dwp, uint64_t id, int lent)
{
	struct package package = { 0 };
	struct bytes part[NR_PARTS] = { 0 };
	struct image image = { 0 };
	struct stat st;
	bool ok = false;
	Elf *elf;

	if (fstat(lent, &st) || st.st_size <= 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(dwp, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return false;
	read_sections(elf, &package);
	image.size = (size_t)st.st_size;
	if (find_parts(&package, id, part)) {
		image.at = mmap(NULL, image.size, PROT_READ | PROT_WRITE, MAP_SHARED, lent, 0);
		if (image.at != MAP_FAILED) {
			lay_out(&image, &package, part);
			munmap(image.at, image.size);
			/* libdw maps the whole file: cut off unused bytes */
			ok = !image.full && !ftruncate(lent, (off_t)image.used);
		}
	}
	elf_end(elf);
	return ok;
}
