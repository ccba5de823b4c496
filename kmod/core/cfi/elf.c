// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * elf.c - find .eh_frame and .debug_frame in an ELF file; see elf.h
 *
 * Reads the file header, the program headers, at most 24 bytes of
 * .eh_frame_hdr, the notes, the dynamic section, and, if they exist, the
 * section headers and some of their names. For sections that are mapped, the
 * parser trusts only the program headers: a section header has to agree with
 * them. The headers of a 32-bit file are converted to those of a 64-bit file as
 * they are read.
 *
 * Uses 1 KB of stack and does not allocate. The file's size bounds the number
 * of reads: two for each section header, one for each program header, and some
 * 200 more, even if many segments have notes or claim to be the dynamic section
 * (only the first one is read).
 *
 * Not supported: big-endian and relocatable files, x32, files with more than
 * MAX_PHDRS program headers (PN_XNUM), a compressed .debug_frame. The
 * .debug_frame that Go's linker writes is ignored (section_go()); go.c reads its
 * own table.
 */
#include "elf.h"
#include "cfi.h"
#include "../x86/i386.h"

#define MAX_PHDRS	512
#define MAX_SHDRS	4096	/* more: all section headers are ignored */
#define MAX_NOTES	64	/* in all segments together */
#define MAX_DYNAMIC	512	/* entries */
#define DYNAMIC_READ	256	/* bytes of one read */

/* gABI: the structures of an ELF-64 file that this parser uses. */
struct file_header {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct segment {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};

struct section {
	u32 name, type;
	u64 flags, addr, offset, size;
	u32 link, info;
	u64 addralign, entsize;
};

/* The same structures of a 32-bit file. */
struct file_header_32 {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u32 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct segment_32 {
	u32 type;
	u32 offset, vaddr, paddr, filesz, memsz;
	u32 flags, align;
};

struct section_32 {
	u32 name, type;
	u32 flags, addr, offset, size;
	u32 link, info;
	u32 addralign, entsize;
};

struct note {
	u32 namesz, descsz, type;
	u8 name[4];
};

enum {
	CLASS_32 = 1, CLASS_64 = 2, DATA_LSB = 1, VERSION_CURRENT = 1,
	TYPE_EXEC = 2, TYPE_DYN = 3, MACHINE_386 = 3, MACHINE_X86_64 = 62,
	SEGMENT_LOAD = 1, SEGMENT_DYNAMIC = 2, SEGMENT_NOTE = 4,
	SEGMENT_EH_FRAME = 0x6474e550,
	FLAG_X = 1,
	SECTION_PROGBITS = 1, SECTION_RELA = 4, SECTION_NOTE = 7, SECTION_NOBITS = 8,
	SECTION_ALLOC = 2, SECTION_EXECINSTR = 4, SECTION_COMPRESSED = 0x800,
	NOTE_BUILD_ID = 3,
	DYNAMIC_PLTGOT = 3,
};

struct parser {
	kunwind_read_fn *read;
	void *file;
	u64 size;
	struct kunwind_elf *elf;
	struct file_header header;
	struct segment eh_hdr;		/* type 0: none */
	unsigned int nr_notes;		/* read so far */
	bool dynamic;			/* PT_DYNAMIC was read */
};

static enum kunwind_build_error get(const struct parser *p, u64 off, void *buf, size_t len)
{
	if (off > p->size || len > p->size - off)
		return KUNWIND_E_TRUNCATED;
	return p->read(p->file, off, buf, len) ? KUNWIND_E_IO : KUNWIND_OK;
}

/* Reads the file header. ident[4], the class, is at the same place in both. */
static enum kunwind_build_error header_get(struct parser *p)
{
	struct file_header *h = &p->header;
	struct file_header_32 h32;
	enum kunwind_build_error err;

	err = get(p, 0, &h32, sizeof(h32));
	if (err)
		return err;
	p->elf->i386 = h32.ident[4] == CLASS_32;
	if (!p->elf->i386)
		return get(p, 0, h, sizeof(*h));
	*h = (struct file_header){
		.type = h32.type, .machine = h32.machine, .version = h32.version,
		.entry = h32.entry, .phoff = h32.phoff, .shoff = h32.shoff,
		.phentsize = h32.phentsize, .phnum = h32.phnum,
		.shentsize = h32.shentsize, .shnum = h32.shnum, .shstrndx = h32.shstrndx,
	};
	memcpy(h->ident, h32.ident, sizeof(h->ident));
	return KUNWIND_OK;
}

static enum kunwind_build_error segment_get(const struct parser *p, unsigned int i, struct segment *s)
{
	struct segment_32 s32;
	enum kunwind_build_error err;

	if (p->header.phoff > p->size)
		return KUNWIND_E_TRUNCATED;
	if (!p->elf->i386)
		return get(p, p->header.phoff + i * sizeof(*s), s, sizeof(*s));
	err = get(p, p->header.phoff + i * sizeof(s32), &s32, sizeof(s32));
	if (!err)
		*s = (struct segment){
			.type = s32.type, .flags = s32.flags, .offset = s32.offset,
			.vaddr = s32.vaddr, .filesz = s32.filesz, .memsz = s32.memsz,
			.align = s32.align,
		};
	return err;
}

static enum kunwind_build_error section_get(const struct parser *p, unsigned int i, struct section *s)
{
	struct section_32 s32;
	enum kunwind_build_error err;

	if (!p->elf->i386)
		return get(p, p->header.shoff + i * sizeof(*s), s, sizeof(*s));
	err = get(p, p->header.shoff + i * sizeof(s32), &s32, sizeof(s32));
	if (!err)
		*s = (struct section){
			.name = s32.name, .type = s32.type, .flags = s32.flags,
			.addr = s32.addr, .offset = s32.offset, .size = s32.size,
		};
	return err;
}

static enum kunwind_build_error header_read(struct parser *p)
{
	static const u8 magic[] = { 0x7f, 'E', 'L', 'F' };
	struct file_header *h = &p->header;
	enum kunwind_build_error err = header_get(p);
	bool i386 = p->elf->i386;

	if (err)
		return err == KUNWIND_E_TRUNCATED ? KUNWIND_E_NOT_ELF : err;
	if (memcmp(h->ident, magic, sizeof(magic)) || h->ident[4] != (i386 ? CLASS_32 : CLASS_64) ||
	    h->ident[5] != DATA_LSB || h->ident[6] != VERSION_CURRENT ||
	    h->machine != (i386 ? MACHINE_386 : MACHINE_X86_64) ||
	    h->version != VERSION_CURRENT || (h->type != TYPE_EXEC && h->type != TYPE_DYN))
		return KUNWIND_E_NOT_ELF;
	if (h->phentsize != (i386 ? sizeof(struct segment_32) : sizeof(struct segment)) ||
	    !h->phnum)
		return KUNWIND_E_HEADER;
	if (h->phnum > MAX_PHDRS)
		return KUNWIND_E_LIMIT;
	p->elf->fixed = h->type == TYPE_EXEC;
	p->elf->entry = h->entry;
	return KUNWIND_OK;
}

static enum kunwind_build_error load_add(struct parser *p, const struct segment *s)
{
	struct kunwind_elf *elf = p->elf;

	if (!s->memsz)
		return KUNWIND_OK;
	if (s->filesz > s->memsz || s->memsz > ~s->vaddr || s->filesz > ~s->offset)
		return KUNWIND_E_HEADER;
	/* the kernel can map a segment only if both are equal within a page */
	if (s->filesz && ((s->vaddr ^ s->offset) & KUNWIND_PAGE_MASK))
		return KUNWIND_E_HEADER;
	/* without bytes in the file, the offset means nothing */
	if (s->filesz && s->offset + s->filesz > p->size)
		return KUNWIND_E_TRUNCATED;
	if (elf->nr_loads == KUNWIND_ELF_MAX_LOADS)
		return KUNWIND_E_LIMIT;
	elf->load[elf->nr_loads++] = (struct kunwind_elf_load){
		.vaddr = s->vaddr, .offset = s->offset, .filesz = s->filesz,
		.memsz = s->memsz, .flags = s->flags,
	};
	if (s->flags & FLAG_X) {
		elf->text_lo = min(elf->text_lo, s->vaddr);
		elf->text_hi = max(elf->text_hi, s->vaddr + s->memsz);
	}
	return KUNWIND_OK;
}

/*
 * Finds the build-id if this segment has it. An invalid note ends the search
 * without an error, because unwinding does not need the build-id.
 */
static enum kunwind_build_error notes_read(struct parser *p, const struct segment *s)
{
	u64 align = s->align == 8 ? 8 : 4, at = 0;
	struct kunwind_elf *elf = p->elf;

	for (; p->nr_notes < MAX_NOTES && !elf->build_id_len; p->nr_notes++) {
		struct note note;
		enum kunwind_build_error err;
		u64 desc;

		if (at >= s->filesz || s->filesz - at < sizeof(note) || s->offset > ~s->filesz)
			break;
		err = get(p, s->offset + at, &note, sizeof(note));
		if (err)
			return err == KUNWIND_E_IO ? err : KUNWIND_OK;
		desc = (12 + (u64)note.namesz + align - 1) & -align;
		if (note.type == NOTE_BUILD_ID && note.namesz == 4 &&
		    !memcmp(note.name, "GNU", 4) && note.descsz <= KUNWIND_BUILD_ID_MAX &&
		    note.descsz <= s->filesz - at - sizeof(note)) {
			err = get(p, s->offset + at + desc, elf->build_id, note.descsz);
			if (err)
				return err == KUNWIND_E_IO ? err : KUNWIND_OK;
			elf->build_id_len = note.descsz;
		}
		at += (desc + note.descsz + align - 1) & -align;
	}
	return KUNWIND_OK;
}

/* Finds the base of DW_EH_PE_datarel: DT_PLTGOT, as in GCC's unwinder. */
static enum kunwind_build_error dynamic_read(struct parser *p, const struct segment *s)
{
	const size_t word = kunwind_word(p->elf->i386);
	u8 bytes[DYNAMIC_READ];
	u64 size, at;

	if (p->dynamic || s->offset > p->size)
		return KUNWIND_OK;
	p->dynamic = true;
	size = min(min(s->filesz, p->size - s->offset), (u64)2 * word * MAX_DYNAMIC);
	size -= size % (2 * word);
	for (at = 0; at < size; at += 2 * word) {
		const u8 *entry = bytes + at % sizeof(bytes);
		u64 tag = 0, value = 0;

		if (entry == bytes &&
		    get(p, s->offset + at, bytes, min(size - at, (u64)sizeof(bytes))))
			return KUNWIND_E_IO;
		memcpy(&tag, entry, word);
		memcpy(&value, entry + word, word);
		if (!tag)
			break;
		if (tag == DYNAMIC_PLTGOT)
			p->elf->data_base = value;
	}
	return KUNWIND_OK;
}

static enum kunwind_build_error segments_read(struct parser *p)
{
	unsigned int i;

	for (i = 0; i < p->header.phnum; i++) {
		struct segment s;
		enum kunwind_build_error err;

		err = segment_get(p, i, &s);
		if (err)
			return err;
		switch (s.type) {
		case SEGMENT_LOAD:
			err = load_add(p, &s);
			break;
		case SEGMENT_EH_FRAME:
			p->eh_hdr = s;
			break;
		case SEGMENT_NOTE:
			err = notes_read(p, &s);
			break;
		case SEGMENT_DYNAMIC:
			err = dynamic_read(p, &s);
			break;
		}
		if (err)
			return err;
	}
	return p->elf->nr_loads ? KUNWIND_OK : KUNWIND_E_HEADER;
}

const struct kunwind_elf_load *kunwind_elf_load_find(const struct kunwind_elf *elf, u64 vaddr)
{
	unsigned int i;

	for (i = 0; i < elf->nr_loads; i++)
		if (vaddr - elf->load[i].vaddr < elf->load[i].filesz)
			return &elf->load[i];
	return NULL;
}

/* Sets place and largest possible size of .eh_frame from eh_addr. */
static bool eh_place(struct kunwind_elf *elf)
{
	const struct kunwind_elf_load *load = kunwind_elf_load_find(elf, elf->eh_addr);

	if (!load)
		return false;
	elf->eh_offset = load->offset + (elf->eh_addr - load->vaddr);
	elf->eh_size = load->filesz - (elf->eh_addr - load->vaddr);
	return true;
}

#define SEARCH_ENCODING	0x3b	/* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

static void search_place(struct parser *p, u8 encoding, u64 at, u64 count)
{
	const struct segment *s = &p->eh_hdr;

	if (encoding != SEARCH_ENCODING || count > (s->filesz - at) / 8 || s->offset > p->size ||
	    s->filesz > p->size - s->offset)
		return;
	p->elf->search_base = s->vaddr;
	p->elf->search_offset = s->offset + at;
	p->elf->search_nr = min(count, 0xfffffffeULL);
}

/*
 * Reads .eh_frame_hdr (LSB 5.0 core generic, 10.6.2): the version, three
 * encodings, the address of .eh_frame, and the number of its FDEs. Only
 * named_fdes.c uses the search table that follows. objcopy can remove this section; its segment
 * then stays and is empty.
 */
static enum kunwind_build_error eh_hdr_read(struct parser *p)
{
	u8 buf[4 + 2 * 10] = { 0 };
	struct kunwind_section section = {
		.data = buf, .size = sizeof(buf),
		.addr = p->eh_hdr.vaddr, .data_base = p->eh_hdr.vaddr,
		.i386 = p->elf->i386,
	};
	struct kunwind_bytes b = { .at = buf + 4, .end = buf + sizeof(buf) };
	u64 size = min(p->eh_hdr.filesz, (u64)sizeof(buf));
	enum kunwind_build_error err;
	u64 count;

	if (!size)
		return KUNWIND_E_NO_CFI;
	if (size < 4 + 2)
		return KUNWIND_E_HEADER;
	err = get(p, p->eh_hdr.offset, buf, size);
	if (err)
		return err;
	b.end = buf + size;
	if (buf[0] != 1)
		return KUNWIND_E_VERSION;
	if (buf[1] == KUNWIND_PE_OMIT)
		return KUNWIND_E_NO_CFI;
	if (!kunwind_pointer_read(&section, &b, buf[1], 0, &p->elf->eh_addr))
		return KUNWIND_E_ENCODING;
	if (b.bad)
		return KUNWIND_E_TRUNCATED;
	if (kunwind_pointer_read(&section, &b, buf[2], 0, &count) && !b.bad) {
		p->elf->eh_fdes = min(count, 0xfffffffeULL);
		search_place(p, buf[3], b.at - buf, count);
	}
	return eh_place(p->elf) ? KUNWIND_OK : KUNWIND_E_HEADER;
}

/* The beginning of a section's name, which is long enough to tell those that matter apart. */
struct section_name {
	u32 len;
	char text[24];
};

/* The name in the file ends with a NUL, too. */
#define NAME_IS(name, want)	((name)->len >= sizeof(want) && !memcmp((name)->text, want, sizeof(want)))

/* Reads the name at @off of the string table. It is empty if it cannot be read. */
static enum kunwind_build_error name_get(const struct parser *p, const struct section *names,
					 u32 off, struct section_name *name)
{
	enum kunwind_build_error err;

	memset(name, 0, sizeof(*name));
	if (off >= names->size || names->offset > ~names->size)
		return KUNWIND_OK;
	name->len = min(names->size - off, (u64)sizeof(name->text));
	err = get(p, names->offset + off, name->text, name->len);
	if (err)
		name->len = 0;
	return err == KUNWIND_E_IO ? err : KUNWIND_OK;
}

/*
 * Takes the exact size of .eh_frame from its section header if the address is
 * known (*known); otherwise finds the header by its name and takes the address,
 * too. Ignores a header that contradicts the program headers.
 */
static void section_eh(struct parser *p, const struct section *s, const struct section_name *name,
		       bool *known)
{
	struct kunwind_elf *elf = p->elf;

	if (*known ? s->addr != elf->eh_addr : !NAME_IS(name, ".eh_frame"))
		return;
	elf->eh_addr = s->addr;
	if (eh_place(elf) && s->offset == elf->eh_offset && s->size <= elf->eh_size) {
		elf->eh_size = s->size;
		elf->eh_fdes = ~0U;
		*known = true;
	}
}

/* Whether the section is in the file. */
static bool section_present(const struct parser *p, const struct section *s)
{
	return s->type != SECTION_NOBITS && s->offset <= p->size && s->size <= p->size - s->offset;
}

/*
 * Go's linker writes .gopclntab, and a note with its build ID. The CFA in its
 * .debug_frame is always rsp plus a number of bytes, which is wrong where a
 * function has switched stacks, so that section is not used.
 */
static void section_go(struct parser *p, const struct section *s, const struct section_name *name,
		       bool *go)
{
	struct kunwind_elf *elf = p->elf;

	bool own;

	if (s->type == SECTION_NOTE) {
		*go |= NAME_IS(name, ".note.go.buildid");
		return;
	}
	if ((elf->go_size && !elf->go_inside) || s->type != SECTION_PROGBITS ||
	    !(s->flags & SECTION_ALLOC))
		return;
	own = NAME_IS(name, ".gopclntab") || NAME_IS(name, ".data.rel.ro.gopclntab");
	/* The C linker joins sections whose names begin so. The note comes before it. */
	if (!own && !(*go && NAME_IS(name, ".data.rel.ro")))
		return;
	elf->go_addr = s->addr;
	elf->go_offset = s->offset;
	elf->go_size = s->size;
	elf->go_inside = !own;
	*go |= own;
}

static void section_other(struct parser *p, const struct section *s,
			  const struct section_name *name)
{
	struct kunwind_elf *elf = p->elf;

	if (s->type == SECTION_RELA && NAME_IS(name, ".rela.dyn")) {
		elf->rela_offset = s->offset;
		elf->rela_size = s->size;
	} else if (s->type == SECTION_PROGBITS && NAME_IS(name, ".text")) {
		elf->text_section = s->addr;
	} else if (s->type == SECTION_PROGBITS && !elf->debug_size &&
		   !(s->flags & (SECTION_ALLOC | SECTION_COMPRESSED)) &&
		   NAME_IS(name, ".debug_frame")) {
		elf->debug_offset = s->offset;
		elf->debug_size = s->size;
	}
}

static void section_code(struct kunwind_elf *elf, const struct section *s)
{
	if (!(s->flags & SECTION_ALLOC) || !(s->flags & SECTION_EXECINSTR) || s->size > ~s->addr)
		return;
	elf->code_lo = min(elf->code_lo, s->addr);
	elf->code_hi = max(elf->code_hi, s->addr + s->size);
}

/* The span of executable sections must lie in executable segments. */
static void code_span(struct kunwind_elf *elf)
{
	if (elf->code_hi) {
		elf->code_lo = max(elf->code_lo, elf->text_lo);
		elf->code_hi = min(elf->code_hi, elf->text_hi);
	} else {
		elf->code_lo = elf->text_lo;
		elf->code_hi = elf->text_hi;
	}
}

/* Reads the section headers. Ignores all if place or number is invalid. */
static enum kunwind_build_error sections_read(struct parser *p, bool *known)
{
	const struct file_header *h = &p->header;
	const size_t size = p->elf->i386 ? sizeof(struct section_32) : sizeof(struct section);
	struct section s, names = { 0 };
	struct section_name name;
	enum kunwind_build_error err;
	bool exact = false, go = false;
	unsigned int i;

	if (!h->shoff || h->shentsize != size || h->shnum > MAX_SHDRS ||
	    h->shoff > p->size || h->shnum * size > p->size - h->shoff)
		return KUNWIND_OK;
	if (h->shstrndx < h->shnum) {
		err = section_get(p, h->shstrndx, &names);
		if (err)
			return err;
	}
	for (i = 0; i < h->shnum; i++) {
		err = section_get(p, i, &s);
		if (err)
			return err;
		if (!s.size)
			continue;
		err = name_get(p, &names, s.name, &name);
		if (err)
			return err;
		if ((s.flags & SECTION_ALLOC) && s.type != SECTION_NOBITS && s.type != SECTION_NOTE &&
		    !exact) {
			section_eh(p, &s, &name, known);
			exact = *known && p->elf->eh_fdes == ~0U;
		}
		if (!section_present(p, &s))
			continue;
		section_code(p->elf, &s);
		section_go(p, &s, &name, &go);
		section_other(p, &s, &name);
	}
	if (go)
		p->elf->debug_size = 0;
	return KUNWIND_OK;
}

enum kunwind_build_error
kunwind_elf_parse(kunwind_read_fn *read, void *file, u64 file_size, struct kunwind_elf *elf)
{
	struct parser p = { .read = read, .file = file, .size = file_size, .elf = elf };
	enum kunwind_build_error err, unusable = KUNWIND_E_NO_CFI;
	bool known = false;

	memset(elf, 0, sizeof(*elf));
	elf->text_lo = elf->code_lo = ~0ULL;
	err = header_read(&p);
	if (!err)
		err = segments_read(&p);
	if (elf->text_lo > elf->text_hi)
		elf->text_lo = elf->text_hi;
	if (err)
		return err;
	if (p.eh_hdr.type) {
		err = eh_hdr_read(&p);
		if (err == KUNWIND_E_IO)
			return err;
		/* Go on: a section header may still describe .eh_frame. */
		unusable = err;
		known = !err;
	}
	err = sections_read(&p, &known);
	if (err)
		return err;
	code_span(elf);
	if (!known) {
		elf->eh_addr = 0;
		elf->eh_offset = 0;
		elf->eh_size = 0;
	}
	return known || elf->debug_size ? KUNWIND_OK : unusable;
}

void kunwind_elf_sections(const struct kunwind_elf *elf, const u8 *eh, const u8 *debug,
			  struct kunwind_section section[2])
{
	struct kunwind_section *more = section;

	section[0] = (struct kunwind_section){ .data = eh };
	if (elf->eh_size) {
		section[0] = (struct kunwind_section){
			.data = eh, .size = elf->eh_size, .addr = elf->eh_addr,
			.text_base = elf->text_base, .data_base = elf->data_base,
			.lo = elf->text_lo, .hi = elf->text_hi, .min_fdes = elf->eh_fdes,
			.open_end = elf->eh_fdes != ~0U, .entry = elf->entry, .i386 = elf->i386,
		};
		if (!elf->debug_size)
			return;
		more = &section[1];
		section[0].more = more;
	}
	*more = (struct kunwind_section){
		.data = debug, .size = elf->debug_size, .debug = true, .min_fdes = ~0U,
		.lo = elf->text_lo, .hi = elf->text_hi, .entry = elf->entry, .i386 = elf->i386,
	};
}
