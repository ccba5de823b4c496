// SPDX-License-Identifier: MIT
/*
 * helper_plt.c - names for the stubs by which an ELF file calls functions of others
 *
 * A stub of .plt, .plt.sec or .plt.got jumps to the address in a slot of the GOT, and a
 * relocation names the function for the slot. Where indirect branches are tracked, stubs in
 * .plt only push the number of the relocation (x86-64 psABI, section 5.2 and the chapter on CET).
 * Stubs have no symbols.
 *
 * Memory: 16 bytes for each relocation that names a function.
 */
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "helper_plt.h"

enum { NR_SECTIONS = 4, STUB = 16 };

struct got_slot {
	uint64_t addr;		/* in the GOT */
	const char *name;	/* belongs to libelf */
};

struct kunwind_plt {
	bool is_64;
	struct section {
		uint64_t start, end, stub;	/* stub: size of one */
		const uint8_t *code;
	} section[NR_SECTIONS];
	unsigned int nr_sections;
	uint64_t got;		/* i386: what ebx holds */
	struct got_slot *slot;	/* the first ones are those of .rela.plt, in its order */
	size_t nr, cap, nr_jumps;
	const struct got_slot **sorted;	/* by address */
	char *name;		/* of the last answer */
};

static void add_section(struct kunwind_plt *plt, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_rawdata(scn, NULL);

	if (plt->nr_sections == NR_SECTIONS || !data || !data->d_buf || data->d_size < shdr->sh_size)
		return;
	plt->section[plt->nr_sections++] = (struct section){
		.start = shdr->sh_addr, .end = shdr->sh_addr + shdr->sh_size, .code = data->d_buf,
		.stub = shdr->sh_entsize == 8 ? 8 : STUB,
	};
}

static const char *symbol_name(Elf *elf, const GElf_Shdr *symbols, Elf_Data *table, size_t number)
{
	GElf_Sym sym;

	return table && gelf_getsym(table, (int)number, &sym) ?
	       elf_strptr(elf, symbols->sh_link, sym.st_name) : NULL;
}

/* Adds the slots of a relocation section: R_X86_64_GLOB_DAT and _JUMP_SLOT, and R_386_..., are 6 and 7. */
static void add_slots(struct kunwind_plt *plt, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Scn *linked = elf_getscn(elf, shdr->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL), *table = linked ? elf_getdata(linked, NULL) : NULL;
	GElf_Shdr symbols;
	GElf_Rela rela;
	GElf_Rel rel;
	int i;

	if (!data || !linked || !gelf_getshdr(linked, &symbols))
		return;
	for (i = 0; shdr->sh_type == SHT_RELA ? gelf_getrela(data, i, &rela) != NULL :
	     gelf_getrel(data, i, &rel) != NULL; i++) {
		const uint64_t info = shdr->sh_type == SHT_RELA ? rela.r_info : rel.r_info;
		const bool named = GELF_R_TYPE(info) == 6 || GELF_R_TYPE(info) == 7;

		if (!named && plt->nr_jumps)
			continue;
		if (!kunwind_reserve((void **)&plt->slot, plt->nr, &plt->cap, sizeof(*plt->slot)))
			return;
		plt->slot[plt->nr++] = (struct got_slot){
			shdr->sh_type == SHT_RELA ? rela.r_offset : rel.r_offset,
			named ? symbol_name(elf, &symbols, table, GELF_R_SYM(info)) : NULL };
	}
}

/* Takes the section @scn: @jumps: only .rela.plt; else all but it. */
static void take_section(struct kunwind_plt *plt, Elf *elf, Elf_Scn *scn, const char *name, bool jumps)
{
	GElf_Shdr shdr;

	if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC))
		return;
	if (shdr.sh_type == SHT_RELA || shdr.sh_type == SHT_REL) {
		if (jumps == (!strcmp(name, ".rela.plt") || !strcmp(name, ".rel.plt")))
			add_slots(plt, elf, scn, &shdr);
	} else if (jumps && !strncmp(name, ".plt", 4) && shdr.sh_flags & SHF_EXECINSTR) {
		add_section(plt, scn, &shdr);
	} else if (!strcmp(name, ".got.plt") || (!plt->got && !strcmp(name, ".got"))) {
		plt->got = shdr.sh_addr;
	}
}

/* Of slots with one address, the first one counts. */
static int by_address(const void *left, const void *right)
{
	const struct got_slot *a = *(const struct got_slot *const *)left;
	const struct got_slot *b = *(const struct got_slot *const *)right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Without memory, stubs have no names. */
static void sort_slots(struct kunwind_plt *plt)
{
	size_t i;

	plt->sorted = calloc(plt->nr + 1, sizeof(*plt->sorted));
	for (i = 0; plt->sorted && i < plt->nr; i++)
		plt->sorted[i] = &plt->slot[i];
	if (plt->sorted)
		qsort(plt->sorted, plt->nr, sizeof(*plt->sorted), by_address);
}

struct kunwind_plt *kunwind_plt_new(Elf *elf)
{
	struct kunwind_plt *plt = calloc(1, sizeof(*plt));
	GElf_Shdr shdr;
	Elf_Scn *scn;
	size_t names;
	int jumps;

	if (!plt || elf_getshdrstrndx(elf, &names)) {
		free(plt);
		return NULL;
	}
	plt->is_64 = gelf_getclass(elf) == ELFCLASS64;
	for (jumps = 1; jumps >= 0; jumps--) {
		for (scn = NULL; (scn = elf_nextscn(elf, scn));) {
			const char *name = gelf_getshdr(scn, &shdr) ?
					   elf_strptr(elf, names, shdr.sh_name) : NULL;

			if (name)
				take_section(plt, elf, scn, name, jumps);
		}
		if (jumps)
			plt->nr_jumps = plt->nr;
	}
	sort_slots(plt);
	return plt;
}

void kunwind_plt_free(struct kunwind_plt *plt)
{
	if (!plt)
		return;
	free(plt->sorted);
	free(plt->slot);
	free(plt->name);
	free(plt);
}

static const char *name_of(const struct kunwind_plt *plt, uint64_t addr)
{
	size_t first = 0, end = plt->sorted ? plt->nr : 0, middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (plt->sorted[middle]->addr < addr)
			first = middle + 1;
		else
			end = middle;
	}
	return plt->sorted && first < plt->nr && plt->sorted[first]->addr == addr ?
	       plt->sorted[first]->name : NULL;
}

static uint32_t word(const uint8_t *code)
{
	uint32_t value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/* Returns the name of the function that a stub jumps to; NULL: the code is another. */
static const char *target(const struct kunwind_plt *plt, const uint8_t *code, uint64_t size,
			  uint64_t addr)
{
	/* endbr64, endbr32 */
	const uint64_t skip = size == STUB && word(code) << 8 == 0x1e0ff300u ? 4 : 0;
	uint64_t i = skip;

	if (code[i] == 0xf2)	/* bnd */
		i++;
	if (code[i] == 0xff && code[i + 1] == 0x25 && i + 6 <= size)	/* jmp *slot(%rip), jmp *slot */
		return name_of(plt, plt->is_64 ? addr + i + 6 + (uint64_t)(int32_t)word(code + i + 2) :
				    word(code + i + 2));
	if (!plt->is_64 && code[i] == 0xff && code[i + 1] == 0xa3 && i + 6 <= size)	/* jmp *slot(%ebx) */
		return name_of(plt, (uint32_t)(plt->got + word(code + i + 2)));
	if (code[skip] == 0x68 && size == STUB) {	/* push; i386: the offset of the relocation */
		i = plt->is_64 ? word(code + skip + 1) : word(code + skip + 1) / 8;
		return i < plt->nr_jumps ? plt->slot[i].name : NULL;
	}
	return NULL;
}

const char *kunwind_plt_name(struct kunwind_plt *plt, uint64_t addr, uint64_t *start)
{
	const struct section *section;
	const char *name;
	uint64_t offset;

	for (section = plt->section; section < plt->section + plt->nr_sections; section++) {
		if (addr < section->start || addr >= section->end)
			continue;
		offset = (addr - section->start) / section->stub * section->stub;
		if (section->end - section->start - offset < section->stub)
			return NULL;
		*start = section->start + offset;
		name = target(plt, section->code + offset, section->stub, *start);
		free(plt->name);
		plt->name = NULL;
		return name && asprintf(&plt->name, "%s@plt", name) > 0 ? plt->name : NULL;
	}
	return NULL;
}
