// SPDX-License-Identifier: MIT
/*
 * helper_elf.c - one ELF file, opened for its symbols
 *
 * elfutils' libdwfl reads the symbols from .symtab, .dynsym, .gnu_debugdata, or
 * a separate file that the library has found. They are copied once into an
 * array sorted by address, because libdwfl's own look-up by address reads the
 * whole table every time.
 *
 * Memory: 40 bytes for each entry of the symbol table, besides the mapped file.
 */
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper_elf.h"
#include "helper_go.h"
#include "helper_plt.h"

#define SIZED	16u		/* in a rank: a function, not a label */

struct sym {
	uint64_t start, end;
	const char *name;	/* belongs to dwfl */
	unsigned int rank;	/* among symbols of the same start, higher is better */
};

struct kunwind_helper_elf {
	Dwfl *dwfl;
	Dwfl_Module *module;
	int debug_fd;		/* until libdwfl asks for it */
	uint64_t entry;
	struct sym *sym;	/* by start, then rank */
	uint64_t *reach;	/* highest end of sym[0..i] */
	size_t nr;
	/* table of .eh_frame_hdr: pairs of offsets, of a function and of its FDE */
	bool starts_read;
	const char *starts;	/* NULL: there is none; belongs to libelf */
	uint64_t starts_base;
	size_t nr_starts;
	bool go_read, plt_read;
	struct kunwind_plt *plt;	/* NULL: there is none */
	struct kunwind_go_table *go;	/* NULL: there is none */
};

/* Gives libdwfl the file that the library has found, once. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *modname,
			  Dwarf_Addr base, const char *file_name, const char *debuglink_file,
			  GElf_Word debuglink_crc, char **debuginfo_file_name)
{
	struct kunwind_helper_elf *elf = *userdata;
	int fd = elf ? elf->debug_fd : -1;

	(void)module, (void)modname, (void)base, (void)file_name;
	(void)debuglink_file, (void)debuglink_crc;
	*debuginfo_file_name = NULL;
	if (elf)
		elf->debug_fd = -1;
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* Prefers global names to weak, weak to local, "name" to its alias "__name". */
static unsigned int symbol_rank(const GElf_Sym *sym, const char *name)
{
	static const unsigned int by_bind[] = {
		[STB_LOCAL] = 1, [STB_GLOBAL] = 3, [STB_WEAK] = 2, };
	unsigned int bind = GELF_ST_BIND(sym->st_info), underscores = 0;

	while (underscores < 3 && name[underscores] == '_')
		underscores++;
	return (bind < 3 ? by_bind[bind] : 1) * 4 + 3 - underscores;
}

static int compare(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Returns the end of the executable section of a label; 0: there is none. */
static uint64_t label_limit(Elf *elf, GElf_Word shndx, uint64_t value)
{
	GElf_Shdr mem, *shdr = gelf_getshdr(elf_getscn(elf, shndx), &mem);

	if (!shdr || !(shdr->sh_flags & SHF_EXECINSTR) ||
	    value - shdr->sh_addr >= shdr->sh_size)
		return 0;
	return shdr->sh_addr + shdr->sh_size;
}

/*
 * Labels have no size: each ends at the next symbol. A label that starts inside
 * a function is left out.
 */
static void settle(struct kunwind_helper_elf *elf)
{
	uint64_t reach = 0;
	size_t i, nr = 0;

	qsort(elf->sym, elf->nr, sizeof(*elf->sym), compare);
	for (i = 0; i < elf->nr; i++) {
		struct sym sym = elf->sym[i];
		bool label = !(sym.rank & SIZED);
		size_t next = i + 1;

		if (label && sym.start < reach)
			continue;
		if (label) {
			while (next < elf->nr && elf->sym[next].start == sym.start)
				next++;
			if (next < elf->nr && elf->sym[next].start < sym.end)
				sym.end = elf->sym[next].start;
		} else if (sym.end > reach) {
			reach = sym.end;
		}
		elf->sym[nr++] = sym;
	}
	elf->nr = nr;
	reach = 0;
	for (i = 0; i < nr; i++) {
		if (elf->sym[i].end > reach)
			reach = elf->sym[i].end;
		elf->reach[i] = reach;
	}
}

static bool load_symbols(struct kunwind_helper_elf *elf)
{
	int i, nr = dwfl_module_getsymtab(elf->module);

	if (nr <= 0)
		return true;
	elf->sym = malloc((size_t)nr * sizeof(*elf->sym));
	elf->reach = malloc((size_t)nr * sizeof(*elf->reach));
	if (!elf->sym || !elf->reach)
		return false;
	for (i = 0; i < nr; i++) {
		struct sym *out = &elf->sym[elf->nr];
		GElf_Sym sym;
		GElf_Addr value;
		GElf_Word shndx;
		Dwarf_Addr bias;
		Elf *from;
		const char *name = dwfl_module_getsym_info(elf->module, i, &sym, &value, &shndx,
							   &from, &bias);
		unsigned int type;

		if (!name || !*name || sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS)
			continue;
		type = GELF_ST_TYPE(sym.st_info);
		if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
			continue;
		out->start = value;
		out->name = name;
		out->rank = symbol_rank(&sym, name);
		if (sym.st_size && type != STT_NOTYPE) {
			out->end = value + sym.st_size;
			out->rank |= SIZED;
		} else {
			out->end = label_limit(from, shndx, sym.st_value);
			if (!out->end)
				continue;
			out->end += value - sym.st_value;
		}
		if (out->end > out->start)
			elf->nr++;
	}
	settle(elf);
	return true;
}

static bool holds_section(Elf *elf, size_t names, const char *wanted, GElf_Word type)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr mem, *shdr = gelf_getshdr(scn, &mem);
		const char *name = shdr ? elf_strptr(elf, names, shdr->sh_name) : NULL;

		if (!shdr || shdr->sh_type == SHT_NOBITS)
			continue;
		if (type ? shdr->sh_type == type : name && !strcmp(name, wanted))
			return true;
	}
	return false;
}

static bool holds_code(Elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr mem, *shdr = gelf_getshdr(scn, &mem);

		if (shdr && shdr->sh_flags & SHF_EXECINSTR && shdr->sh_type == SHT_PROGBITS)
			return true;
	}
	return false;
}

void kunwind_elf_identify(int fd, struct wire_reply *reply, char *name, size_t size)
{
	const char *link;
	const void *id;
	ssize_t len;
	size_t names;
	GElf_Word crc;
	Elf *elf;

	elf_version(EV_CURRENT);
	*name = '\0';
	reply->status = WIRE_NOT_ELF;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return;
	}
	reply->status = WIRE_OK;
	len = dwelf_elf_gnu_build_id(elf, &id);
	if (len > 0 && len <= WIRE_ID) {
		memcpy(reply->id, id, (size_t)len);
		reply->id_len = (uint32_t)len;
	}
	link = dwelf_elf_gnu_debuglink(elf, &crc);
	if (link && strlen(link) < size) {
		strcpy(name, link);
		reply->link_crc = crc;
	}
	if (!elf_getshdrstrndx(elf, &names)) {
		if (holds_section(elf, names, NULL, SHT_SYMTAB))
			reply->flags |= WIRE_HOLDS_SYMTAB;
		if (holds_section(elf, names, ".debug_info", 0) ||
		    holds_section(elf, names, ".zdebug_info", 0))
			reply->flags |= WIRE_HOLDS_DWARF;
	}
	if (holds_code(elf))
		reply->flags |= WIRE_HOLDS_CODE;
	elf_end(elf);
}

bool kunwind_elf_is_packed(int fd)
{
	bool packed = false;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (!packed && (scn = elf_nextscn(elf, scn)))
		packed = gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_COMPRESSED &&
			 elf_compress(scn, 0, 0) < 0;
	elf_end(elf);
	return packed;
}

struct kunwind_helper_elf *kunwind_elf_open(int fd, int debug_fd)
{
	struct kunwind_helper_elf *elf = calloc(1, sizeof(*elf));
	GElf_Ehdr ehdr;
	GElf_Addr bias;
	void **userdata;
	Elf *main;

	elf_version(EV_CURRENT);
	if (!elf)
		goto close_fd;
	elf->debug_fd = -1;
	elf->dwfl = dwfl_begin(&callbacks);
	if (!elf->dwfl)
		goto close_fd;
	/* reported at 0: addresses are ELF virtual addresses */
	elf->module = dwfl_report_elf(elf->dwfl, "object", "object", fd, 0, true);
	if (!elf->module)
		goto close_fd;
	elf->debug_fd = debug_fd;
	dwfl_module_info(elf->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = elf;
	dwfl_report_end(elf->dwfl, NULL, NULL);
	main = dwfl_module_getelf(elf->module, &bias);
	if (!main || bias || !gelf_getehdr(main, &ehdr) || !load_symbols(elf)) {
		kunwind_elf_close(elf);
		return NULL;
	}
	elf->entry = ehdr.e_entry;
	return elf;
close_fd:
	close(fd);
	if (debug_fd >= 0)
		close(debug_fd);
	kunwind_elf_close(elf);
	return NULL;
}

void kunwind_elf_close(struct kunwind_helper_elf *elf)
{
	if (!elf)
		return;
	free(elf->sym);
	free(elf->reach);
	kunwind_go_table_free(elf->go);
	kunwind_plt_free(elf->plt);
	dwfl_end(elf->dwfl);
	if (elf->debug_fd >= 0)
		close(elf->debug_fd);
	free(elf);
}

Dwarf *kunwind_elf_dwarf(struct kunwind_helper_elf *elf, uint64_t *bias)
{
	Dwarf_Addr dwarf_bias;
	Dwarf *dwarf = dwfl_module_getdwarf(elf->module, &dwarf_bias);

	*bias = dwarf_bias;
	return dwarf;
}

/* Searches backwards, from the last symbol that starts at or before @addr. */
const char *kunwind_elf_symbol(const struct kunwind_helper_elf *elf, uint64_t addr, uint64_t *start,
			       bool *label)
{
	size_t lo = 0, hi = elf->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (elf->sym[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0 && elf->reach[lo] > addr) {
		if (addr < elf->sym[lo].end) {
			*start = elf->sym[lo].start;
			*label = !(elf->sym[lo].rank & SIZED);
			return elf->sym[lo].name;
		}
	}
	return NULL;
}

const char *kunwind_elf_stub(struct kunwind_helper_elf *elf, uint64_t addr, uint64_t *start)
{
	GElf_Addr bias;
	Elf *main = dwfl_module_getelf(elf->module, &bias);

	if (!elf->plt_read)
		elf->plt = main ? kunwind_plt_new(main) : NULL;
	elf->plt_read = true;
	return elf->plt ? kunwind_plt_name(elf->plt, addr, start) : NULL;
}

unsigned int kunwind_elf_go(struct kunwind_helper_elf *elf, uint64_t addr,
			    struct kunwind_dwarf_function *function, unsigned int max)
{
	GElf_Addr bias;
	Elf *main = dwfl_module_getelf(elf->module, &bias);

	if (!elf->go_read)
		elf->go = main ? kunwind_go_table_new(main) : NULL;
	elf->go_read = true;
	return elf->go ? kunwind_go_table_functions(elf->go, addr, function, max) : 0;
}

bool kunwind_elf_vaddr(const struct kunwind_helper_elf *elf, uint64_t offset, uint64_t *vaddr)
{
	GElf_Addr bias;
	Elf *main = dwfl_module_getelf(elf->module, &bias);
	size_t i, nr;

	if (!main || elf_getphdrnum(main, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		GElf_Phdr mem, *phdr = gelf_getphdr(main, (int)i, &mem);

		/* segments are mapped by whole pages */
		if (phdr && phdr->p_type == PT_LOAD && phdr->p_flags & PF_X &&
		    offset >= (phdr->p_offset & ~4095ull) &&
		    offset < phdr->p_offset + phdr->p_filesz) {
			*vaddr = offset - phdr->p_offset + phdr->p_vaddr;
			return true;
		}
	}
	return false;
}

/* Returns @len bytes of the file's image at ELF virtual address @addr; NULL: not there. */
static const void *image(const struct kunwind_helper_elf *elf, uint64_t addr, size_t len)
{
	GElf_Addr bias;
	Elf *main = dwfl_module_getelf(elf->module, &bias);
	size_t i, nr;

	if (!main || elf_getphdrnum(main, &nr))
		return NULL;
	for (i = 0; i < nr; i++) {
		GElf_Phdr mem, *phdr = gelf_getphdr(main, (int)i, &mem);
		Elf_Data *data;

		if (!phdr || phdr->p_type != PT_LOAD || addr - phdr->p_vaddr >= phdr->p_filesz ||
		    phdr->p_filesz - (addr - phdr->p_vaddr) < len)
			continue;
		data = elf_getdata_rawchunk(main, (int64_t)(phdr->p_offset + addr - phdr->p_vaddr),
					    len, ELF_T_BYTE);
		return data ? data->d_buf : NULL;
	}
	return NULL;
}

bool kunwind_elf_is_trampoline(const struct kunwind_helper_elf *elf, uint64_t addr)
{
	/* mov $__NR_rt_sigreturn,%rax; syscall: debuggers look for it, too */
	static const unsigned char code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const void *bytes = image(elf, addr, sizeof(code));

	return bytes && !memcmp(bytes, code, sizeof(code));
}

/*
 * Finds the sorted table of functions' starts in .eh_frame_hdr (LSB 5, section
 * 10.6.2). Linkers write it in one form, and only that is read: 4-byte offsets
 * from the section.
 */
static void read_starts(struct kunwind_helper_elf *elf)
{
	GElf_Addr bias;
	Elf *main = dwfl_module_getelf(elf->module, &bias);
	const uint8_t *header;
	uint32_t count;
	size_t i, nr;

	elf->starts_read = true;
	if (!main || elf_getphdrnum(main, &nr))
		return;
	for (i = 0; i < nr; i++) {
		GElf_Phdr mem, *phdr = gelf_getphdr(main, (int)i, &mem);

		if (!phdr || phdr->p_type != PT_GNU_EH_FRAME)
			continue;
		header = image(elf, phdr->p_vaddr, 12);
		/* version; .eh_frame: pcrel|sdata4; count: udata4; table: datarel|sdata4 */
		if (!header || memcmp(header, "\x01\x1b\x03\x3b", 4))
			return;
		memcpy(&count, header + 8, sizeof(count));
		elf->starts_base = phdr->p_vaddr;
		elf->nr_starts = count;
		elf->starts = image(elf, phdr->p_vaddr + 12, (size_t)count * 8);
		return;
	}
}

static uint64_t start_of(const struct kunwind_helper_elf *elf, size_t i)
{
	int32_t offset;

	memcpy(&offset, elf->starts + i * 8, sizeof(offset));
	return elf->starts_base + (uint64_t)(int64_t)offset;
}

bool kunwind_elf_function(struct kunwind_helper_elf *elf, uint64_t addr, uint64_t *start)
{
	size_t lo = 0, hi;
	Dwarf_Frame *frame;
	GElf_Addr bias;

	/* the table has no ends of functions: libdw looks whether an FDE holds @addr */
	if (dwarf_cfi_addrframe(dwfl_module_eh_cfi(elf->module, &bias), addr, &frame))
		return false;
	free(frame);
	if (!elf->starts_read)
		read_starts(elf);
	hi = elf->starts ? elf->nr_starts : 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (start_of(elf, mid) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*start = start_of(elf, lo - 1);
	return true;
}

/* 1: CFI leaves the return address undefined; 0: it does not; -1: no CFI. */
static int outermost_by_cfi(Dwarf_CFI *cfi, uint64_t addr)
{
	Dwarf_Frame *frame;
	Dwarf_Op mem[3], *ops;
	size_t nr;
	int outermost = 0;

	if (!cfi || dwarf_cfi_addrframe(cfi, addr, &frame))
		return -1;
	/*
	 * Register 16 is the return address. libdw returns "undefined" as no
	 * operations, with ops not NULL.
	 */
	if (!dwarf_frame_register(frame, 16, mem, &ops, &nr))
		outermost = !nr && ops;
	free(frame);
	return outermost;
}

bool kunwind_elf_is_entry(const struct kunwind_helper_elf *elf, uint64_t addr)
{
	GElf_Addr bias;
	int outermost = outermost_by_cfi(dwfl_module_eh_cfi(elf->module, &bias), addr);

	if (outermost < 0)
		outermost = outermost_by_cfi(dwfl_module_dwarf_cfi(elf->module, &bias), addr);
	if (outermost >= 0)
		return outermost;
	/* no CFI: _start of crt1.o and of ld.so are shorter than this */
	return elf->entry && addr - elf->entry < 64;
}
