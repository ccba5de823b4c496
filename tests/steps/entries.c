// SPDX-License-Identifier: MIT
/*
 * entries.c - find each function's first instruction, for breakpoints
 *
 * By libelf (symbols) and libdw (FDEs of .eh_frame). PLTs are left out, because
 * a PLT has one FDE and is not a function.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>

#include "entries.h"

struct list {
	u64 *at;
	size_t nr, room;
};

static void add(struct list *list, u64 at)
{
	if (list->nr == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->at = realloc(list->at, list->room * sizeof(*list->at));
	}
	list->at[list->nr++] = at;
}

static bool in_code(Elf *elf, u64 addr)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return true;
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR &&
		    addr - header.sh_addr < header.sh_size) {
			const char *name = elf_strptr(elf, names, header.sh_name);

			return !name || strncmp(name, ".plt", 4);
		}
	return false;
}

static void add_symbols(Elf_Scn *scn, const GElf_Shdr *header, struct list *list)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym symbol;
	size_t i;

	for (i = 0; data && header->sh_entsize && i < header->sh_size / header->sh_entsize; i++)
		if (gelf_getsym(data, i, &symbol) && symbol.st_shndx != SHN_UNDEF &&
		    GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
			add(list, symbol.st_value);
}

static void add_fdes(Elf *elf, Elf_Scn *scn, struct list *list)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	GElf_Shdr header;
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	Dwarf_CFI_Entry entry;
	Dwarf_Off off = 0, next;

	if (!data || !cfi || !gelf_getshdr(scn, &header))
		return;
	/*
	 * Pointers have four bytes and are relative to their own place, as in
	 * all linkers' output.
	 */
	for (; !dwarf_next_cfi(ident, data, true, off, &next, &entry) && next != (Dwarf_Off)-1;
	     off = next) {
		const u8 *start;
		s32 from;

		if (entry.CIE_id == DW_CIE_ID_64)
			continue;
		start = entry.fde.start;
		memcpy(&from, start, sizeof(from));
		from += (s64)(header.sh_addr + (start - (const u8 *)data->d_buf));
		if (in_code(elf, (u32)from))
			add(list, (u32)from);
	}
	dwarf_cfi_end(cfi);
}

static int by_address(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void entries_read(struct target_object *object)
{
	struct list list = { 0 };
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;
	Elf *elf;

	if (object->entries_read)
		return;
	object->entries_read = true;
	elf_version(EV_CURRENT);
	elf = elf_begin(object->fd, ELF_C_READ_MMAP, NULL);
	if (elf && !elf_getshdrstrndx(elf, &names)) {
		while ((scn = elf_nextscn(elf, scn))) {
			const char *name;

			if (!gelf_getshdr(scn, &header))
				continue;
			name = elf_strptr(elf, names, header.sh_name);
			if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
				add_symbols(scn, &header, &list);
			else if (name && !strcmp(name, ".eh_frame"))
				add_fdes(elf, scn, &list);
		}
		qsort(list.at, list.nr, sizeof(*list.at), by_address);
	}
	elf_end(elf);
	object->nr_entries = list.nr;
	object->entries = list.at;
}

/* Returns the number of entries before @addr. */
static size_t nr_before(const struct target_object *object, u64 addr)
{
	size_t lo = 0, hi = object->nr_entries, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (object->entries[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool entries_before(struct target_object *object, u64 addr, u64 *entry)
{
	size_t nr;

	entries_read(object);
	nr = nr_before(object, addr + 1);
	if (!nr)
		return false;
	*entry = object->entries[nr - 1];
	return true;
}

void entries_patch(void *data, u64 addr, u8 *page)
{
	const struct target_mapping *mapping = target_find(data, addr);
	struct target_object *object = mapping ? mapping->object : NULL;
	size_t i;

	if (!object)
		return;
	entries_read(object);
	for (i = nr_before(object, addr - mapping->bias);
	     i < object->nr_entries && object->entries[i] + mapping->bias - addr < MEMORY_PAGE; i++)
		page[object->entries[i] + mapping->bias - addr] = 0xcc;
}
