// SPDX-License-Identifier: MIT
/*
 * helper_go.c - functions and lines of Go programs from .gopclntab
 *
 * Go's run-time system prints tracebacks by this section, so stripped programs have it, too.
 * For each function it has a name, and lists (pcfile, pcln) of address ranges, each with the
 * number of a file or of a line. From Go 1.18 on, a third list has the innermost
 * inlined function of each range. The tree of inlined functions is in another section. Its
 * address is in runtime.firstmoduledata, which begins with the address of .gopclntab.
 *
 * Layout of the section, by its magic:
 *
 *   fffffffb	Go 1.2	offsets from the section's start; the table of files follows the
 *			table of functions
 *   fffffffa	Go 1.16	parts for names, compilation units, files and lists
 *   fffffff0	Go 1.18	addresses relative to the start of Go's text
 *   fffffff1	Go 1.20	the number of a function's first line
 *
 * All offsets are checked: a damaged section gives other names, or none. An answer takes a binary
 * search, and reads at most three lists for each inlined function. No memory besides the
 * mapped file. Sources: golang.org/s/go12symtab; Go, src/runtime/symtab.go, symtabinl.go.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "helper_go.h"

#define MAGIC_2		0xfffffffbu
#define MAGIC_16	0xfffffffau
#define MAGIC_18	0xfffffff0u
#define MAGIC_20	0xfffffff1u

#define PCDATA_INLINED	2
#define FUNCDATA_INLINED 3
#define NOTHING		0xffffffffu	/* an offset */

struct go_bytes {
	const char *at;
	size_t size;
};

struct kunwind_go_table {
	struct go_bytes all, names, files, lists;
	uint32_t magic;
	uint64_t nr;			/* functions */
	uint64_t units;			/* place of the files' offsets, by unit (1.16) */
	uint64_t table, functions;	/* places in the section */
	uint64_t text;			/* what entries are relative to */
	uint64_t inlined;		/* address that trees of inlined functions are relative to; 0 */
	Elf *elf;
};

static uint64_t number(struct go_bytes b, uint64_t at, unsigned int size)
{
	uint64_t val = 0;

	if (at <= b.size && size <= b.size - at)
		memcpy(&val, b.at + at, size);
	return val;
}

/* Returns the string at @at, or NULL if it does not end within the bytes. */
static const char *string(struct go_bytes b, uint64_t at)
{
	return at < b.size && memchr(b.at + at, 0, b.size - at) ? b.at + at : NULL;
}

static bool newer(const struct kunwind_go_table *go)
{
	return go->magic == MAGIC_18 || go->magic == MAGIC_20;
}

/* ---------------------------------------------------------------- functions */

static uint64_t entry(const struct kunwind_go_table *go, uint64_t i)
{
	if (newer(go))
		return go->text + number(go->all, go->table + i * 8, 4);
	return number(go->all, go->table + i * 16, 8);
}

struct go_function {
	uint64_t entry, at;		/* at: struct _func, after its entry */
	uint32_t nr_pcdata, unit;
	uint64_t pcdata, funcdata;	/* places of the offsets in the section */
};

static bool find(const struct kunwind_go_table *go, uint64_t addr, struct go_function *f)
{
	const unsigned int word = newer(go) ? 4 : 8;
	uint64_t low = 0, high = go->nr, at;

	if (addr < entry(go, 0) || addr >= entry(go, go->nr))
		return false;
	while (high - low > 1) {
		const uint64_t mid = low + (high - low) / 2;

		if (entry(go, mid) <= addr)
			low = mid;
		else
			high = mid;
	}
	f->entry = entry(go, low);
	at = number(go->all, go->table + (2 * low + 1) * word, word);
	/* An FDE of zeros would otherwise be at the section's start. */
	if (addr < f->entry || at > go->all.size)
		return false;
	f->at = go->functions + at + word;
	f->nr_pcdata = (uint32_t)number(go->all, f->at + 24, 4);
	f->unit = (uint32_t)number(go->all, f->at + 28, 4);
	f->pcdata = f->at + 32 + (go->magic == MAGIC_20 ? 4 : 0) + 4;
	f->funcdata = f->pcdata + 4 * (uint64_t)f->nr_pcdata;
	return true;
}

/* Reads an unsigned number of up to 32 bits. */
static bool varint(struct go_bytes b, uint64_t *at, uint32_t *val)
{
	unsigned int shift;

	*val = 0;
	for (shift = 0; shift < 32; shift += 7) {
		uint8_t byte;

		if (*at >= b.size)
			return false;
		byte = (uint8_t)b.at[(*at)++];
		*val |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* The value for @addr in the list at @at; -1: there is none. */
static int32_t value(const struct kunwind_go_table *go, uint64_t at, uint64_t start, uint64_t addr)
{
	uint32_t val = (uint32_t)-1, change, span;
	bool begun = false;

	if (!at)
		return -1;
	while (varint(go->lists, &at, &change) && (change || !begun) &&
	       varint(go->lists, &at, &span)) {
		begun = true;
		val += change & 1 ? ~(change >> 1) : change >> 1;
		start += span;
		if (addr < start)
			return (int32_t)val;
	}
	return -1;
}

static const char *file_name(const struct kunwind_go_table *go, const struct go_function *f,
			     int32_t file)
{
	uint64_t offset;

	if (file < 0)
		return NULL;
	if (go->magic == MAGIC_2)
		offset = number(go->files, 4 * (uint64_t)file, 4);
	else
		offset = number(go->all, go->units + 4 * ((uint64_t)f->unit + (uint64_t)file), 4);
	if (!offset && go->magic == MAGIC_2)
		return NULL;
	return offset == NOTHING ? NULL : string(go->magic == MAGIC_2 ? go->all : go->files, offset);
}

/* ---------------------------------------------------------------- inlined functions */

/* Returns @len bytes of the file's image at ELF virtual address @addr. */
static struct go_bytes image(Elf *elf, uint64_t addr, size_t len)
{
	size_t i, nr;

	if (elf_getphdrnum(elf, &nr))
		return (struct go_bytes){ NULL, 0 };
	for (i = 0; i < nr; i++) {
		GElf_Phdr mem, *phdr = gelf_getphdr(elf, (int)i, &mem);
		Elf_Data *data;

		if (!phdr || phdr->p_type != PT_LOAD || addr < phdr->p_vaddr ||
		    addr - phdr->p_vaddr >= phdr->p_filesz ||
		    phdr->p_filesz - (addr - phdr->p_vaddr) < len)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)(phdr->p_offset + addr - phdr->p_vaddr),
					    len, ELF_T_BYTE);
		if (data && data->d_buf)
			return (struct go_bytes){ data->d_buf, len };
	}
	return (struct go_bytes){ NULL, 0 };
}

/* A call that was inlined. */
struct call {
	const char *name;
	uint32_t parent;	/* place of the call, from the function's entry on */
};

static bool call_get(const struct kunwind_go_table *go, const struct go_function *f, int32_t i,
		     struct call *call)
{
	const unsigned int size = go->magic == MAGIC_20 ? 16 : 20;
	const uint64_t tree = number(go->all, f->funcdata + 4 * FUNCDATA_INLINED, 4);
	struct go_bytes b;

	if (tree == NOTHING)
		return false;
	b = image(go->elf, go->inlined + tree + (uint64_t)i * size, size);
	if (!b.at)
		return false;
	call->name = string(go->names, number(b, size == 16 ? 4 : 12, 4));
	call->parent = (uint32_t)number(b, size == 16 ? 8 : 16, 4);
	return call->name;
}

/* The index of the innermost inlined function at @addr; -1: none. */
static int32_t inlined_at(const struct kunwind_go_table *go, const struct go_function *f, uint64_t addr)
{
	const unsigned int nr_funcdata = (unsigned int)number(go->all, f->pcdata - 1, 1);

	if (!go->inlined || f->nr_pcdata <= PCDATA_INLINED || nr_funcdata <= FUNCDATA_INLINED)
		return -1;
	return value(go, number(go->all, f->pcdata + 4 * PCDATA_INLINED, 4), f->entry, addr);
}

unsigned int kunwind_go_table_functions(const struct kunwind_go_table *go, uint64_t addr,
					struct kunwind_dwarf_function *function, unsigned int max)
{
	struct go_function f;
	uint64_t at = addr;
	unsigned int nr = 0;
	const char *name;

	if (!max || !find(go, addr, &f))
		return 0;
	name = string(go->names, number(go->all, f.at, 4));
	if (!name)
		return 0;
	for (;;) {
		const int32_t i = nr + 1 < max ? inlined_at(go, &f, at) : -1;
		const int32_t line = value(go, number(go->all, f.at + 20, 4), f.entry, at);
		struct kunwind_dwarf_function *out = &function[nr++];
		struct call call;

		memset(out, 0, sizeof(*out));
		out->file = file_name(go, &f, value(go, number(go->all, f.at + 16, 4), f.entry, at));
		out->line = line > 0 ? line : 0;
		if (i < 0 || !call_get(go, &f, i, &call)) {
			out->name = name;
			out->offset = addr - f.entry;
			return nr;
		}
		out->name = call.name;
		out->inlined = true;
		at = f.entry + call.parent;
	}
}

/* ---------------------------------------------------------------- the sections */

static bool section_named(Elf *elf, const char *name, const char *other, GElf_Shdr *shdr, Elf_Scn **found)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *is = gelf_getshdr(scn, shdr) ? elf_strptr(elf, names, shdr->sh_name) : NULL;

		if (is && shdr->sh_type != SHT_NOBITS && (!strcmp(is, name) || !strcmp(is, other))) {
			*found = scn;
			return true;
		}
	}
	return false;
}

/* What a relocation writes to the word at @addr, relative to the load address; or 0. */
static uint64_t relocated(Elf *elf, uint64_t addr)
{
	GElf_Shdr shdr;
	Elf_Data *data;
	Elf_Scn *scn;
	size_t low = 0, i;

	if (!section_named(elf, ".rela.dyn", ".rela.dyn", &shdr, &scn) || shdr.sh_type != SHT_RELA)
		return 0;
	data = elf_getdata(scn, NULL);
	for (i = low; data && i < data->d_size / sizeof(Elf64_Rela); i++) {
		GElf_Rela rela;

		if (gelf_getrela(data, (int)i, &rela) && rela.r_offset == addr &&
		    GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			return (uint64_t)rela.r_addend;
	}
	return 0;
}

static struct go_bytes part(struct go_bytes all, uint64_t offset)
{
	if (offset > all.size)
		offset = all.size;
	return (struct go_bytes){ all.at + offset, all.size - offset };
}

/* Whether the function at the entry point is Go's, with this start of text. */
static bool starts_there(const struct kunwind_go_table *go, uint64_t start)
{
	struct go_function f;
	const char *name;

	if (!find(go, start, &f) || f.entry != start)
		return false;
	name = string(go->names, number(go->all, f.at, 4));
	return name && !strncmp(name, "_rt0_amd64", 10);
}

/* As in kmod/core/rows/go.c: by the header, by a relocation, or by the entry point. */
static bool find_text(struct kunwind_go_table *go, uint64_t addr)
{
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	Elf_Scn *scn;
	uint64_t text = relocated(go->elf, addr + 24);

	go->text = text ? text : number(go->all, 24, 8);
	if (go->text)
		return true;
	if (!gelf_getehdr(go->elf, &ehdr) || !section_named(go->elf, ".text", ".text", &shdr, &scn))
		return false;
	go->text = shdr.sh_addr;
	return starts_there(go, ehdr.e_entry);
}

/*
 * Finds the start of the trees of inlined functions in runtime.firstmoduledata (gofunc). The words
 * before it must be as expected: the number of functions, the section's parts, its
 * start and end of text, and the start of the read-only data.
 */
static void find_inlined(struct kunwind_go_table *go, uint64_t addr)
{
	const unsigned int gofunc = go->magic == MAGIC_20 ? 40 : 38;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(go->elf, scn))) {
		struct go_bytes b;
		uint64_t at;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_PROGBITS ||
		    !(shdr.sh_flags & SHF_WRITE))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		b = (struct go_bytes){ data->d_buf, data->d_size };
		for (at = 0; at + 8 * (gofunc + 1) <= b.size; at += 8) {
			const uint64_t rodata = number(b, at + 8 * (gofunc - 1), 8);
			const uint64_t found = number(b, at + 8 * gofunc, 8);

			if (number(b, at, 8) != addr ||
			    number(b, at + 8, 8) != addr + number(go->all, 32, 8) ||
			    number(b, at + 8 * 20, 8) != entry(go, 0) || !rodata || found < rodata)
				continue;
			go->inlined = found;
			return;
		}
	}
}

/*
 * Finds the table inside .data.rel.ro, where the C linker puts it, as kmod/core/rows/go_find.c does.
 * Changes *all and *addr from the section's to those of the table.
 */
static bool find_inside(struct go_bytes *all, uint64_t *addr)
{
	uint64_t at;
	unsigned int i;

	for (at = -*addr & 31; at + 72 <= all->size; at += 32) {
		const uint64_t size = all->size - at, head = number(*all, at, 8);
		uint64_t last = number(*all, at + 32, 8);
		bool is = (head == 0x0801000000000000 + MAGIC_18 || head == 0x0801000000000000 + MAGIC_20) &&
			  last >= 72 && last <= 128;

		for (i = 5; is && i < 9; i++) {
			const uint64_t next = number(*all, at + 8 * i, 8);

			is = next >= last && next <= size;
			last = next;
		}
		if (is) {
			*all = part(*all, at);
			*addr += at;
			return true;
		}
	}
	return false;
}

struct kunwind_go_table *kunwind_go_table_new(Elf *elf)
{
	struct kunwind_go_table *go;
	unsigned int word, nr_words, i;
	uint64_t words[8] = { 0 }, addr;
	bool inside = false;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	Elf_Data *data;
	Elf_Scn *scn;

	if (!gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_X86_64)
		return NULL;
	if (!section_named(elf, ".gopclntab", ".data.rel.ro.gopclntab", &shdr, &scn)) {
		inside = section_named(elf, ".note.go.buildid", "", &shdr, &scn) &&
			 section_named(elf, ".data.rel.ro", "", &shdr, &scn);
		if (!inside)
			return NULL;
	}
	addr = shdr.sh_addr;
	data = elf_rawdata(scn, NULL);
	go = calloc(1, sizeof(*go));
	if (!data || !data->d_buf || !go) {
		free(go);
		return NULL;
	}
	go->elf = elf;
	go->all = (struct go_bytes){ data->d_buf, data->d_size };
	if (inside && !find_inside(&go->all, &addr))
		goto none;
	go->magic = (uint32_t)number(go->all, 0, 4);
	if (number(go->all, 4, 4) != 0x08010000 ||
	    (go->magic != MAGIC_2 && go->magic != MAGIC_16 && !newer(go)))
		goto none;
	nr_words = go->magic == MAGIC_2 ? 1 : go->magic == MAGIC_16 ? 7 : 8;
	for (i = 0; i < nr_words; i++) {
		words[i] = number(go->all, 8 + 8 * i, 8);
		if (words[i] > go->all.size && !(nr_words == 8 && i == 2))
			goto none;
	}
	go->nr = words[0];
	word = newer(go) ? 4 : 8;
	if (go->magic == MAGIC_2) {
		go->table = 16;
		go->names = go->lists = go->all;
		/* after the table: the end of the last function, and the place of the files */
		go->files = part(go->all, number(go->all, 16 + go->nr * 16 + 8, 4));
	} else {
		const uint64_t *offsets = words + (nr_words == 8 ? 3 : 2);

		go->names = part(go->all, offsets[0]);
		go->units = offsets[1];
		go->files = part(go->all, offsets[2]);
		go->lists = part(go->all, offsets[3]);
		go->table = go->functions = offsets[4];
	}
	if (!go->nr || go->nr >= (go->all.size - (go->table < go->all.size ? go->table : go->all.size)) /
				 (2 * word))
		goto none;
	if (newer(go)) {
		if (!find_text(go, addr))
			goto none;
		find_inlined(go, addr);
	}
	return go;
none:
	free(go);
	return NULL;
}

void kunwind_go_table_free(struct kunwind_go_table *go)
{
	free(go);
}
