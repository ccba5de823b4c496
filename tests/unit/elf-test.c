/* SPDX-License-Identifier: MIT */
/*
 * elf-test.c - ELF headers: a small valid file, then with changed parts; then
 * the same file truncated, and with each byte overwritten, under
 * AddressSanitizer
 *
 * The file (PIE, x86-64), offsets = addresses unless noted:
 *   0x0000 header; 0x0040 program headers
 *   0x0200 note with a build-id         in LOAD R  [0, 0x1000)
 *   0x0400 .eh_frame_hdr  0x0500 .eh_frame, 0x60 bytes
 *   0x0800 dynamic: DT_PLTGOT = 0x3000
 *   0x1000 code, at address 0x2000      in LOAD RX, 0x800 bytes
 *   0x1800 section names; 0x1900 section headers
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../../kmod/core/cfi/elf.h"
#include "tap.h"

#define FILE_SIZE	0x1b00
#define NR_PHDRS	5
#define NR_SHDRS	4

struct image {
	u8 *data;
	u64 size;
	int fail_at;		/* reads until one fails; 0: none does */
	u32 reads;
};

static void put(u8 *at, u64 val, int size)
{
	memcpy(at, &val, size);
}

/* Offsets of fields. */
#define PHDR(n, field)	(0x40 + 56 * (n) + (field))
#define SHDR(n, field)	(0x1900 + 64 * (n) + (field))
enum { P_TYPE = 0, P_FLAGS = 4, P_OFFSET = 8, P_VADDR = 16, P_FILESZ = 32, P_MEMSZ = 40, P_ALIGN = 48 };
enum { S_NAME = 0, S_TYPE = 4, S_FLAGS = 8, S_ADDR = 16, S_OFFSET = 24, S_SIZE = 32 };

static void phdr(u8 *f, int n, u32 type, u32 flags, u64 offset, u64 vaddr, u64 size)
{
	put(f + PHDR(n, P_TYPE), type, 4);
	put(f + PHDR(n, P_FLAGS), flags, 4);
	put(f + PHDR(n, P_OFFSET), offset, 8);
	put(f + PHDR(n, P_VADDR), vaddr, 8);
	put(f + PHDR(n, P_FILESZ), size, 8);
	put(f + PHDR(n, P_MEMSZ), size, 8);
	put(f + PHDR(n, P_ALIGN), 4, 8);
}

static void shdr(u8 *f, int n, u32 name, u32 type, u64 flags, u64 addr, u64 offset, u64 size)
{
	put(f + SHDR(n, S_NAME), name, 4);
	put(f + SHDR(n, S_TYPE), type, 4);
	put(f + SHDR(n, S_FLAGS), flags, 8);
	put(f + SHDR(n, S_ADDR), addr, 8);
	put(f + SHDR(n, S_OFFSET), offset, 8);
	put(f + SHDR(n, S_SIZE), size, 8);
}

static void image_make(u8 *f)
{
	static const char names[] = "\0.text\0.eh_frame\0.shstrtab\0.debug_frame\0.note.go.buildid";

	memset(f, 0, FILE_SIZE);
	memcpy(f, "\x7f" "ELF\2\1\1", 7);
	put(f + 16, 3, 2);		/* ET_DYN */
	put(f + 18, 62, 2);
	put(f + 20, 1, 4);
	put(f + 24, 0x2010, 8);		/* entry */
	put(f + 32, 0x40, 8);
	put(f + 40, 0x1900, 8);
	put(f + 52, 64, 2);
	put(f + 54, 56, 2);
	put(f + 56, NR_PHDRS, 2);
	put(f + 58, 64, 2);
	put(f + 60, NR_SHDRS, 2);
	put(f + 62, 3, 2);
	phdr(f, 0, 1, 4, 0, 0, 0x1000);
	phdr(f, 1, 1, 5, 0x1000, 0x2000, 0x800);
	phdr(f, 2, 4, 4, 0x200, 0x200, 0x38);
	phdr(f, 3, 0x6474e550, 4, 0x400, 0x400, 12);
	phdr(f, 4, 2, 6, 0x800, 0x800, 0x30);
	/* a note of another owner, then the build-id */
	memcpy(f + 0x200, "\4\0\0\0\4\0\0\0\3\0\0\0XYZ\0aaaa", 20);
	memcpy(f + 0x214, "\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0", 16);
	memcpy(f + 0x224, "0123456789abcdefghij", 20);
	/* version 1; pcrel sdata4; no table */
	memcpy(f + 0x400, "\1\x1b\xff\xff", 4);
	put(f + 0x404, 0x500 - 0x404, 4);
	put(f + 0x800, 5, 8);
	put(f + 0x810, 3, 8);
	put(f + 0x818, 0x3000, 8);
	memcpy(f + 0x1800, names, sizeof(names));
	shdr(f, 1, 1, 1, 6, 0x2000, 0x1000, 0x800);
	shdr(f, 2, 7, 1, 2, 0x500, 0x500, 0x60);
	shdr(f, 3, 17, 3, 0, 0, 0x1800, sizeof(names));
}

static int image_read(void *file, u64 off, void *buf, size_t len)
{
	struct image *image = file;

	/* the parser must not read beyond the file */
	if (off > image->size || len > image->size - off)
		abort();
	image->reads++;
	if (image->fail_at && image->reads == (u32)image->fail_at)
		return -5;
	memcpy(buf, image->data + off, len);
	return 0;
}

struct elf_case {
	const char *name;
	struct {
		u32 at;
		int size;
		u64 val;
	} change[4];
	enum kunwind_build_error err;
	u64 eh_addr, eh_size;
};

static const struct elf_case cases[] = {
	{ "good", { { 0 } }, KUNWIND_OK, 0x500, 0x60 },
	{ "ET_EXEC", { { 16, 2, 2 } }, KUNWIND_OK, 0x500, 0x60 },
	{ "bad magic", { { 0, 1, 0x7e } }, KUNWIND_E_NOT_ELF, 0, 0 },
	{ "32 bits", { { 4, 1, 1 } }, KUNWIND_E_NOT_ELF, 0, 0 },
	{ "big-endian", { { 5, 1, 2 } }, KUNWIND_E_NOT_ELF, 0, 0 },
	{ "ELF version 2", { { 6, 1, 2 } }, KUNWIND_E_NOT_ELF, 0, 0 },
	{ "ET_REL", { { 16, 2, 1 } }, KUNWIND_E_NOT_ELF, 0, 0 },
	{ "ET_CORE", { { 16, 2, 4 } }, KUNWIND_E_NOT_ELF, 0, 0 },
	{ "aarch64", { { 18, 2, 183 } }, KUNWIND_E_NOT_ELF, 0, 0 },
	{ "no program headers", { { 56, 2, 0 } }, KUNWIND_E_HEADER, 0, 0 },
	{ "65,535 program headers", { { 56, 2, 0xffff } }, KUNWIND_E_LIMIT, 0, 0 },
	{ "513 program headers", { { 56, 2, 513 } }, KUNWIND_E_LIMIT, 0, 0 },
	{ "program headers of 32 bytes", { { 54, 2, 32 } }, KUNWIND_E_HEADER, 0, 0 },
	{ "program headers past the end", { { 32, 8, FILE_SIZE - 100 } }, KUNWIND_E_TRUNCATED, 0, 0 },
	{ "program headers at 2^64 - 1", { { 32, 8, -1ULL } }, KUNWIND_E_TRUNCATED, 0, 0 },
	{ "no LOAD", { { PHDR(0, P_TYPE), 4, 0 }, { PHDR(1, P_TYPE), 4, 0 } }, KUNWIND_E_HEADER, 0, 0 },
	{ "LOAD past the end", { { PHDR(1, P_FILESZ), 8, 0xb01 }, { PHDR(1, P_MEMSZ), 8, 0xb01 } },
	  KUNWIND_E_TRUNCATED, 0, 0 },
	{ "LOAD with more file than memory", { { PHDR(1, P_MEMSZ), 8, 0x7ff } }, KUNWIND_E_HEADER, 0, 0 },
	{ "LOAD around the end of memory", { { PHDR(1, P_VADDR), 8, -0x1000ULL },
	  { PHDR(1, P_MEMSZ), 8, 0x2000 } }, KUNWIND_E_HEADER, 0, 0 },
	{ "LOAD at file offset 2^64 - 4096", { { PHDR(1, P_OFFSET), 8, -0x1000ULL },
	  { PHDR(1, P_FILESZ), 8, 0x1001 }, { PHDR(1, P_MEMSZ), 8, 0x1001 } }, KUNWIND_E_HEADER, 0, 0 },
	{ "LOAD that cannot be mapped", { { PHDR(1, P_VADDR), 8, 0x2001 } }, KUNWIND_E_HEADER, 0, 0 },
	/*
	 * the note's place in the table of program headers, for a LOAD of .bss
	 */
	{ "LOAD without a file part, offset past the end", { { PHDR(2, P_TYPE), 4, 1 },
	  { PHDR(2, P_FILESZ), 8, 0 }, { PHDR(2, P_OFFSET), 8, 0x123456 } }, KUNWIND_OK, 0x500, 0x60 },
	{ "no section headers: to the end of the segment", { { 40, 8, 0 } }, KUNWIND_OK, 0x500, 0xb00 },
	{ "section headers past the end", { { 40, 8, FILE_SIZE - 64 } }, KUNWIND_OK, 0x500, 0xb00 },
	{ "section headers at 2^64 - 1", { { 40, 8, -1ULL } }, KUNWIND_OK, 0x500, 0xb00 },
	{ "65,535 section headers", { { 60, 2, 0xffff } }, KUNWIND_OK, 0x500, 0xb00 },
	{ "section headers of 32 bytes", { { 58, 2, 32 } }, KUNWIND_OK, 0x500, 0xb00 },
	{ "section at another offset", { { SHDR(2, S_OFFSET), 8, 0x510 } }, KUNWIND_OK, 0x500, 0xb00 },
	{ "section longer than its segment", { { SHDR(2, S_SIZE), 8, 0xb01 } }, KUNWIND_OK, 0x500, 0xb00 },
	{ "section without bytes", { { SHDR(2, S_TYPE), 4, 8 } }, KUNWIND_OK, 0x500, 0xb00 },
	{ "section of another address", { { SHDR(2, S_ADDR), 8, 0x510 } }, KUNWIND_OK, 0x500, 0xb00 },
	/* without PT_GNU_EH_FRAME, by the section's name */
	{ "no .eh_frame_hdr", { { PHDR(3, P_TYPE), 4, 0 } }, KUNWIND_OK, 0x500, 0x60 },
	{ "no .eh_frame_hdr, and no names", { { PHDR(3, P_TYPE), 4, 0 }, { 62, 2, 9 } },
	  KUNWIND_E_NO_CFI, 0, 0 },
	{ "no .eh_frame_hdr, name past the strings", { { PHDR(3, P_TYPE), 4, 0 },
	  { SHDR(2, S_NAME), 4, 0xffffffff } }, KUNWIND_E_NO_CFI, 0, 0 },
	{ "no .eh_frame_hdr, strings past the end", { { PHDR(3, P_TYPE), 4, 0 },
	  { SHDR(3, S_OFFSET), 8, -1ULL } }, KUNWIND_E_NO_CFI, 0, 0 },
	{ "no .eh_frame_hdr, section not mapped", { { PHDR(3, P_TYPE), 4, 0 },
	  { SHDR(2, S_ADDR), 8, 0x9000 } }, KUNWIND_E_NO_CFI, 0, 0 },
	{ "no .eh_frame_hdr and no section headers",
	  { { PHDR(3, P_TYPE), 4, 0 }, { 40, 8, 0 } }, KUNWIND_E_NO_CFI, 0, 0 },
	{ ".eh_frame_hdr, absptr", { { 0x401, 1, 0 }, { 0x404, 8, 0x500 } }, KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr, datarel udata2", { { 0x401, 1, 0x32 }, { 0x404, 8, 0x100 } }, KUNWIND_OK,
	  0x500, 0x60 },
	{ ".eh_frame_hdr omits the address: found by the section",
	  { { 0x401, 1, 0xff } }, KUNWIND_OK, 0x500, 0x60 },
	/*
	 * unusable .eh_frame_hdr: by the section's name; otherwise the reason
	 */
	{ ".eh_frame_hdr of no bytes", { { PHDR(3, P_FILESZ), 8, 0 }, { PHDR(3, P_OFFSET), 8, 0 } },
	  KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr of no bytes, no section", { { PHDR(3, P_FILESZ), 8, 0 }, { 40, 8, 0 } },
	  KUNWIND_E_NO_CFI, 0, 0 },
	{ ".eh_frame_hdr of no bytes, section not mapped", { { PHDR(3, P_FILESZ), 8, 0 },
	  { SHDR(2, S_ADDR), 8, 0x9000 } }, KUNWIND_E_NO_CFI, 0, 0 },
	{ ".eh_frame_hdr of no bytes, section at another offset", { { PHDR(3, P_FILESZ), 8, 0 },
	  { SHDR(2, S_OFFSET), 8, 0x510 } }, KUNWIND_E_NO_CFI, 0, 0 },
	{ ".eh_frame_hdr, indirect", { { 0x401, 1, 0x9b } }, KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr, indirect, no section", { { 0x401, 1, 0x9b }, { 40, 8, 0 } },
	  KUNWIND_E_ENCODING, 0, 0 },
	{ ".eh_frame_hdr, version 2", { { 0x400, 1, 2 } }, KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr, version 2, no section", { { 0x400, 1, 2 }, { 40, 8, 0 } },
	  KUNWIND_E_VERSION, 0, 0 },
	{ ".eh_frame_hdr, 7 bytes", { { PHDR(3, P_FILESZ), 8, 7 } }, KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr, 7 bytes, no section", { { PHDR(3, P_FILESZ), 8, 7 }, { 40, 8, 0 } },
	  KUNWIND_E_TRUNCATED, 0, 0 },
	{ ".eh_frame_hdr, 3 bytes", { { PHDR(3, P_FILESZ), 8, 3 } }, KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr, 3 bytes, no section", { { PHDR(3, P_FILESZ), 8, 3 }, { 40, 8, 0 } },
	  KUNWIND_E_HEADER, 0, 0 },
	{ ".eh_frame_hdr past the end", { { PHDR(3, P_OFFSET), 8, FILE_SIZE - 4 } },
	  KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr past the end, no section", { { PHDR(3, P_OFFSET), 8, FILE_SIZE - 4 },
	  { 40, 8, 0 } }, KUNWIND_E_TRUNCATED, 0, 0 },
	{ ".eh_frame_hdr at 2^64 - 4", { { PHDR(3, P_OFFSET), 8, -4ULL } }, KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr at 2^64 - 4, no section", { { PHDR(3, P_OFFSET), 8, -4ULL }, { 40, 8, 0 } },
	  KUNWIND_E_TRUNCATED, 0, 0 },
	{ ".eh_frame_hdr points nowhere", { { 0x404, 4, 0x8000 } }, KUNWIND_OK, 0x500, 0x60 },
	{ ".eh_frame_hdr points nowhere, no section", { { 0x404, 4, 0x8000 }, { 40, 8, 0 } },
	  KUNWIND_E_HEADER, 0, 0 },
};

/*
 * The first section becomes .debug_frame: [0x600, 0x640). Changes as above,
 * then the sizes that are found of both sections.
 */
static const struct {
	const char *name;
	struct {
		u32 at;
		int size;
		u64 val;
	} change[4];
	enum kunwind_build_error err;
	u64 eh_size, debug_size;
} debug_cases[] = {
	{ "both sections", { { 0 } }, KUNWIND_OK, 0x60, 0x40 },
	{ "without .eh_frame",
	  { { PHDR(3, P_TYPE), 4, 0 }, { SHDR(2, S_NAME), 4, 0 } }, KUNWIND_OK, 0, 0x40 },
	{ "alone, .eh_frame not in the file", { { PHDR(3, P_TYPE), 4, 0 }, { SHDR(2, S_TYPE), 4, 8 } },
	  KUNWIND_OK, 0, 0x40 },
	{ "alone, .eh_frame_hdr of no bytes", { { PHDR(3, P_FILESZ), 8, 0 }, { SHDR(2, S_NAME), 4, 0 } },
	  KUNWIND_OK, 0, 0x40 },
	{ "alone, .eh_frame_hdr points nowhere", { { 0x404, 4, 0x8000 }, { SHDR(2, S_NAME), 4, 0 } },
	  KUNWIND_OK, 0, 0x40 },
	{ "compressed", { { SHDR(1, S_FLAGS), 8, 0x800 } }, KUNWIND_OK, 0x60, 0 },
	{ "compressed and alone", { { SHDR(1, S_FLAGS), 8, 0x800 }, { PHDR(3, P_TYPE), 4, 0 },
	  { SHDR(2, S_NAME), 4, 0 } }, KUNWIND_E_NO_CFI, 0, 0 },
	{ "not in the file", { { SHDR(1, S_TYPE), 4, 8 } }, KUNWIND_OK, 0x60, 0 },
	{ "mapped", { { SHDR(1, S_FLAGS), 8, 2 } }, KUNWIND_OK, 0x60, 0 },
	{ "of no bytes", { { SHDR(1, S_SIZE), 8, 0 } }, KUNWIND_OK, 0x60, 0 },
	{ "past the end", { { SHDR(1, S_SIZE), 8, FILE_SIZE } }, KUNWIND_OK, 0x60, 0 },
	{ "at 2^64 - 16", { { SHDR(1, S_OFFSET), 8, -16ULL } }, KUNWIND_OK, 0x60, 0 },
	{ "two of them: the first", { { SHDR(2, S_NAME), 4, 27 }, { SHDR(2, S_FLAGS), 8, 0 },
	  { SHDR(2, S_OFFSET), 8, 0x700 } }, KUNWIND_OK, 0xb00, 0x40 },
	{ "a name that only begins so", { { 0x1800 + 39, 1, 'X' } }, KUNWIND_OK, 0x60, 0 },
	{ "a name past the strings", { { SHDR(1, S_NAME), 4, 0xfffffff0 } }, KUNWIND_OK, 0x60, 0 },
	{ "a name cut off by the end of the strings", { { SHDR(3, S_SIZE), 8, 39 } }, KUNWIND_OK, 0x60, 0 },
	{ "no names", { { 62, 2, 9 } }, KUNWIND_OK, 0x60, 0 },
	{ "no section headers", { { 40, 8, 0 } }, KUNWIND_OK, 0xb00, 0 },
#define NOTE	{ 60, 2, 5 }, { SHDR(4, S_TYPE), 4, 7 }, { SHDR(4, S_SIZE), 8, 16 }
	{ "with the note of Go's linker", { NOTE, { SHDR(4, S_NAME), 4, 40 } }, KUNWIND_OK, 0x60, 0 },
	{ "with another note", { NOTE, { SHDR(4, S_NAME), 4, 41 } }, KUNWIND_OK, 0x60, 0x40 },
};

static enum kunwind_build_error parse(struct image *image, struct kunwind_elf *elf)
{
	image->reads = 0;
	return kunwind_elf_parse(image_read, image, image->size, elf);
}

static void test_cases(void)
{
	struct image image = { .data = malloc(FILE_SIZE), .size = FILE_SIZE };
	struct kunwind_elf elf;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct elf_case *c = &cases[i];
		enum kunwind_build_error err;

		image_make(image.data);
		for (j = 0; j < ARRAY_SIZE(c->change); j++)
			if (c->change[j].size)
				put(image.data + c->change[j].at, c->change[j].val, c->change[j].size);
		err = parse(&image, &elf);
		if (!tap_ok(err == c->err &&
			    (err || (elf.eh_addr == c->eh_addr && elf.eh_size == c->eh_size &&
				     elf.eh_offset == c->eh_addr)),
			    "%s: %s", c->name, kunwind_build_error_name(err)))
			printf("# .eh_frame at 0x%llx, 0x%llx bytes\n",
			       (unsigned long long)elf.eh_addr, (unsigned long long)elf.eh_size);
		if (i == 0 || err == KUNWIND_E_NO_CFI)
			tap_ok(elf.text_lo == 0x2000 && elf.text_hi == 0x2800 && elf.nr_loads == 2 &&
			       elf.data_base == 0x3000 && elf.entry == 0x2010 &&
			       elf.build_id_len == 20 &&
			       !memcmp(elf.build_id, "0123456789abcdefghij", 20),
			       "%s: all other fields are valid", c->name);
	}
	free(image.data);
}

static void test_debug(void)
{
	struct image image = { .data = malloc(FILE_SIZE), .size = FILE_SIZE };
	struct kunwind_section section[2];
	struct kunwind_elf elf;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(debug_cases); i++) {
		enum kunwind_build_error err;

		image_make(image.data);
		shdr(image.data, 1, 27, 1, 0, 0, 0x600, 0x40);
		for (j = 0; j < ARRAY_SIZE(debug_cases[i].change); j++)
			if (debug_cases[i].change[j].size)
				put(image.data + debug_cases[i].change[j].at,
				    debug_cases[i].change[j].val, debug_cases[i].change[j].size);
		err = parse(&image, &elf);
		tap_ok(err == debug_cases[i].err && elf.eh_size == debug_cases[i].eh_size &&
		       elf.debug_size == debug_cases[i].debug_size &&
		       (!elf.debug_size || elf.debug_offset == 0x600),
		       ".debug_frame, %s: %s", debug_cases[i].name, kunwind_build_error_name(err));
		if (err)
			continue;
		memset(section, 0xee, sizeof(section));
		kunwind_elf_sections(&elf, image.data + 0x500, image.data + 0x600, section);
		tap_ok(section[0].lo == 0x2000 && section[0].entry == 0x2010 &&
		       section[0].debug == !elf.eh_size &&
		       section[0].open_end == (elf.eh_size == 0xb00) &&
		       section[0].size == (elf.eh_size ? elf.eh_size : elf.debug_size),
		       ".debug_frame, %s: the first section is the right one", debug_cases[i].name);
		if (elf.eh_size && elf.debug_size)
			tap_ok(section[0].more == &section[1] && section[1].debug &&
			       section[1].size == 0x40 && section[1].data == image.data + 0x600 &&
			       section[1].entry == 0x2010,
			       ".debug_frame, %s: the second section is .debug_frame", debug_cases[i].name);
	}
	free(image.data);
}

/* How many FDEs must be read before a terminator ends the section. */
static void test_count(void)
{
	static const struct {
		const char *name;
		u8 encoding;
		u64 count;
		bool sections;
		u32 want;
	} cases[] = {
		{ "section headers", 3, 7, true, ~0U },
		{ ".eh_frame_hdr, udata4", 3, 7, false, 7 },
		{ ".eh_frame_hdr, udata8 beyond 32 bits", 4, 1ULL << 40, false, 0xfffffffe },
		{ ".eh_frame_hdr does not count", 0xff, 7, false, 0 },
		{ ".eh_frame_hdr, no such encoding", 7, 7, false, 0 },
	};
	struct image image = { .data = malloc(FILE_SIZE), .size = FILE_SIZE };
	struct kunwind_elf elf;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		image_make(image.data);
		put(image.data + PHDR(3, P_FILESZ), 24, 8);
		put(image.data + 0x402, cases[i].encoding, 1);
		put(image.data + 0x408, cases[i].count, 8);
		if (!cases[i].sections)
			put(image.data + 40, 0, 8);
		tap_ok(!parse(&image, &elf) && elf.eh_fdes == cases[i].want, "FDEs by %s: %u",
		       cases[i].name, elf.eh_fdes);
	}
	free(image.data);
}

/* The search table of .eh_frame_hdr: two entries, directly after the count. */
static void test_search(void)
{
	static const struct {
		const char *name;
		u64 filesz, offset;
		u8 encoding;
		u32 count, want;
	} cases[] = {
		{ "two entries", 28, 0x400, 0x3b, 2, 2 },
		{ "an entry is cut off", 27, 0x400, 0x3b, 2, 0 },
		{ "more entries than 32 bits count", 28, 0x400, 0x3b, ~0U, 0 },
		{ "entries of eight bytes", 28, 0x400, 0x3c, 2, 0 },
		{ "no table", 28, 0x400, 0xff, 2, 0 },
		{ "a segment that reaches out of the file", FILE_SIZE, 0x400, 0x3b, 2, 0 },
	};
	struct image image = { .data = malloc(FILE_SIZE), .size = FILE_SIZE };
	struct kunwind_elf elf;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		image_make(image.data);
		put(image.data + PHDR(3, P_FILESZ), cases[i].filesz, 8);
		put(image.data + PHDR(3, P_OFFSET), cases[i].offset, 8);
		put(image.data + 0x402, 3, 1);
		put(image.data + 0x403, cases[i].encoding, 1);
		put(image.data + 0x408, cases[i].count, 4);
		tap_ok(!parse(&image, &elf) && elf.search_nr == cases[i].want &&
		       (!elf.search_nr || (elf.search_base == 0x400 && elf.search_offset == 0x40c)),
		       "search table: %s: %u", cases[i].name, elf.search_nr);
	}
	free(image.data);
}

/* Misleading notes: no build-id, and no read out of bounds. */
static void test_notes(void)
{
	static const struct {
		const char *name;
		u32 at;
		u64 val;
		u32 len;
	} notes[] = {
		{ "name of 4 GB", 0x200, 0xffffffff, 0 },
		{ "descriptor of 4 GB", 0x204, 0xffffffff, 0 },
		{ "build-id past the segment", PHDR(2, P_FILESZ), 0x37, 0 },
		{ "build-id of 21 bytes", 0x218, 21, 0 },
		{ "build-id of 8 bytes", 0x218, 8, 8 },
		{ "notes past the end of the file", PHDR(2, P_OFFSET), FILE_SIZE, 0 },
	};
	struct image image = { .data = malloc(FILE_SIZE), .size = FILE_SIZE };
	struct kunwind_elf elf;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(notes); i++) {
		image_make(image.data);
		put(image.data + notes[i].at, notes[i].val, 4);
		tap_ok(!parse(&image, &elf) && elf.build_id_len == notes[i].len, "notes: %s",
		       notes[i].name);
	}
	free(image.data);
}

/* The greatest number of LOADs, and one more. */
static void test_loads(void)
{
	struct image image = { .data = calloc(1, 0x4000), .size = 0x4000 };
	struct kunwind_elf elf;
	unsigned int i, nr;

	for (nr = KUNWIND_ELF_MAX_LOADS; nr <= KUNWIND_ELF_MAX_LOADS + 1; nr++) {
		enum kunwind_build_error err;

		image_make(image.data);
		memset(image.data + 0x40, 0, 0x2000);
		put(image.data + 40, 0, 8);
		put(image.data + 32, 0x2000, 8);
		put(image.data + 56, nr, 2);
		for (i = 0; i < nr; i++) {
			u8 *at = image.data + 0x2000 - 0x40;

			phdr(at, i, 1, 5, 0x1000, 0x1000 * i, 16);
		}
		err = parse(&image, &elf);
		tap_ok(err == (nr > KUNWIND_ELF_MAX_LOADS ? KUNWIND_E_LIMIT : KUNWIND_E_NO_CFI),
		       "%u LOADs: %s", nr, kunwind_build_error_name(err));
	}
	free(image.data);
}

static void test_bias(void)
{
	struct image image = { .data = malloc(FILE_SIZE), .size = FILE_SIZE };
	struct kunwind_elf elf;
	u64 bias = 0;

	image_make(image.data);
	put(image.data + PHDR(1, P_OFFSET), 0x1200, 8);
	put(image.data + PHDR(1, P_VADDR), 0x2200, 8);
	put(image.data + PHDR(1, P_FILESZ), 0x600, 8);
	put(image.data + PHDR(1, P_MEMSZ), 0x600, 8);
	if (!tap_ok(!parse(&image, &elf), "bias: the file is valid"))
		return;
	tap_ok(kunwind_elf_bias(&elf, 0x555500001000, 0x1000, 0x1000, &bias) &&
	       bias == 0x5554fffff000, "bias: mapping that begins a page before its segment");
	tap_ok(kunwind_elf_bias(&elf, 0x555500001000, 0x1000, 0x1400, &bias) &&
	       0x555500001000 - bias == 0x2400, "bias: mapping in the middle of its segment");
	tap_ok(!kunwind_elf_bias(&elf, 0x555500001000, 0x1000, 0x2000, &bias),
	       "bias: mapping after the segment");
	tap_ok(!kunwind_elf_bias(&elf, 0x555500001000, 0x1000, 0, &bias), "bias: mapping before the segment");
	tap_ok(!kunwind_elf_bias(&elf, 0x555500001000, 0x1000, -0x1000ULL, &bias),
	       "bias: offset 2^64 - 4096");
	tap_ok(!kunwind_elf_bias(&elf, 0, 0, 0x1000, &bias), "bias: nothing mapped");
	/*
	 * the note's place becomes a second executable LOAD, of the page's
	 * first bytes
	 */
	phdr(image.data, 2, 1, 5, 0x1000, 0x7000, 0x100);
	tap_ok(!parse(&image, &elf) && !kunwind_elf_bias(&elf, 0x1000, 0x1000, 0x1000, &bias),
	       "bias: none if two segments share a page of the file");
	put(image.data + PHDR(2, P_VADDR), 0x2000, 8);
	tap_ok(!parse(&image, &elf) && kunwind_elf_bias(&elf, 0x1000, 0x1000, 0x1000, &bias) &&
	       bias == -0x1000ULL, "bias: two segments that share a page and its address");
	put(image.data + 16, 2, 2);		/* ET_EXEC */
	put(image.data + PHDR(2, P_VADDR), 0x7000, 8);
	tap_ok(!parse(&image, &elf) && kunwind_elf_bias(&elf, 0x7000, 0x1000, 0x1000, &bias) && !bias,
	       "bias: none in a file with fixed addresses, though two segments share a page");
	tap_ok(!kunwind_elf_bias(&elf, 0x8000, 0x1000, 0x1000, &bias),
	       "bias: not known for a file with fixed addresses at another address");
	free(image.data);
}

/*
 * gold's -z text-unlikely-segment: two executable segments in the first page of the
 * file, one page apart in memory. A third segment begins in another page.
 */
static void test_biases(void)
{
	const u64 base = 0x555500000000;
	struct kunwind_elf elf = { .nr_loads = 3, .load = {
		{ .vaddr = 0, .offset = 0, .filesz = 0x908, .memsz = 0x908, .flags = 5 },
		{ .vaddr = 0x1908, .offset = 0x908, .filesz = 0x2c, .memsz = 0x2c, .flags = 5 },
		{ .vaddr = 0x9000, .offset = 0x3000, .filesz = 0x1000, .memsz = 0x1000, .flags = 5 },
	} };
	struct kunwind_elf_biases b;
	u64 bias = 7;

	kunwind_elf_biases(&elf, base, 0x1000, 0, &b);
	tap_ok(b.nr == 2 && b.bias[0] == base && b.bias[1] == base - 0x1000 &&
	       !kunwind_elf_bias(&elf, base, 0x1000, 0, &bias) && bias == 7,
	       "biases: a mapping may be of either of two segments");
	kunwind_elf_biases_narrow(&elf, &b, base + 0x1000, 0x1000, 0);
	tap_ok(b.nr == 1 && b.bias[0] == base, "biases: the other segment's mapping decides");
	kunwind_elf_biases(&elf, base + 0x1000, 0x1000, 0, &b);
	kunwind_elf_biases_narrow(&elf, &b, base, 0x1000, 0);
	tap_ok(b.nr == 1 && b.bias[0] == base, "biases: the first segment's mapping decides");
	kunwind_elf_biases(&elf, base + 0x1000, 0x1000, 0, &b);
	kunwind_elf_biases_narrow(&elf, &b, base + 0x9000, 0x1000, 0x3000);
	tap_ok(b.nr == 1 && b.bias[0] == base, "biases: a segment of its own page decides");
	kunwind_elf_biases(&elf, base, 0x1000, 0, &b);
	kunwind_elf_biases_narrow(&elf, &b, base + 0x900000, 0x1000, 0);
	tap_ok(b.nr == 2, "biases: a mapping of another load of the file decides nothing");
	kunwind_elf_biases_narrow(&elf, &b, base, 0x1000, 0x8000);
	tap_ok(b.nr == 2, "biases: a mapping of no segment decides nothing");
}

/* Each read fails in turn: E_IO. (A name that cannot be read is no name.) */
static void test_io(void)
{
	struct image image = { .data = malloc(FILE_SIZE), .size = FILE_SIZE };
	struct kunwind_elf elf;
	u32 reads, i;
	bool good = true;

	image_make(image.data);
	parse(&image, &elf);
	reads = image.reads;
	for (i = 1; i <= reads; i++) {
		image.fail_at = i;
		good &= parse(&image, &elf) == KUNWIND_E_IO;
	}
	tap_ok(good && reads < 40, "io: returned when any of %u reads fails", reads);
	free(image.data);
}

/* The file cut off at each length; then each byte set to several values. */
static void test_damage(void)
{
	static const u8 vals[] = { 0, 1, 0x7f, 0x80, 0xff };
	u8 *good = malloc(FILE_SIZE);
	struct kunwind_elf elf;
	struct image image = { 0 };
	u32 i, j, ok = 0, refused = 0, inside = 1, most = 0;

	image_make(good);
	for (i = 0; i < FILE_SIZE; i++) {
		image.data = malloc(i + !i);
		image.size = i;
		memcpy(image.data, good, i);
		if (parse(&image, &elf))
			refused++;
		free(image.data);
	}
	tap_ok(refused == FILE_SIZE - (FILE_SIZE - 0x1800), "cut off: refused if shorter than its LOADs");
	image.size = FILE_SIZE;
	image.data = malloc(FILE_SIZE);
	for (i = 0; i < FILE_SIZE; i++) {
		if (i == 0x240)
			i = 0x400;
		for (j = 0; j < sizeof(vals); j++) {
			memcpy(image.data, good, FILE_SIZE);
			image.data[i] = vals[j];
			if (!parse(&image, &elf)) {
				ok++;
				inside &= elf.eh_offset <= FILE_SIZE &&
					  elf.eh_size <= FILE_SIZE - elf.eh_offset;
			}
			most = image.reads > most ? image.reads : most;
		}
	}
	tap_ok(ok && inside && most < 10000, "each byte overwritten: .eh_frame stays in the file");
	free(image.data);
	free(good);
}

/* The vDSO of this process, if there is one. */
static void test_vdso(void)
{
	struct image image = { .data = (u8 *)getauxval(AT_SYSINFO_EHDR) };
	struct kunwind_table_stats st = { 0 };
	struct kunwind_section section[2];
	struct kunwind_table *table;
	struct kunwind_elf elf;
	enum kunwind_build_error err;
	char line[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long lo, hi;

		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &lo, &hi) == 2)
			image.size = hi - lo;
	}
	if (maps)
		fclose(maps);
	if (!image.data || !image.size)
		return;
	err = parse(&image, &elf);
	if (!tap_ok(!err, "vDSO: headers: %s", kunwind_build_error_name(err)))
		return;
	kunwind_elf_sections(&elf, image.data + elf.eh_offset, image.data + elf.debug_offset, section);
	err = kunwind_table_build(section, 0, 1 << 20, NULL, NULL, &table);
	if (!err) {
		kunwind_table_stats(table, &st);
		kunwind_table_free(table);
	}
	tap_ok(!err && st.nr_rows, "vDSO: %u rows: %s", st.nr_rows, kunwind_build_error_name(err));
}

/* Many segments of a kind that is read: the number of reads must stay small. */
static void test_reads(void)
{
	static const struct {
		const char *name;
		u32 type;
	} kinds[] = { { "512 dynamic sections", 2 }, { "512 segments of notes", 4 } };
	const u64 data = 0x2000, phdrs = data + 0x2000, size = phdrs + 512 * 56;
	struct image image = { .size = size };
	struct kunwind_elf elf;
	unsigned int i, j;

	image.data = calloc(1, size);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		image_make(image.data);
		/*
		 * a note without a description, or an entry of the dynamic
		 * section
		 */
		for (j = 0; j < 512; j++)
			memcpy(image.data + data + 16 * j, "\4\0\0\0\0\0\0\0\x9\0\0\0XYZ\0", 16);
		put(image.data + 32, phdrs, 8);
		put(image.data + 56, 512, 2);
		for (j = 0; j < 512; j++) {
			u8 *p = image.data + phdrs + 56 * j;

			put(p + P_TYPE, j ? kinds[i].type : 1, 4);
			put(p + P_FLAGS, 5, 4);
			put(p + P_OFFSET, j ? data : 0, 8);
			put(p + P_VADDR, j ? data : 0, 8);
			put(p + P_FILESZ, 0x2000, 8);
			put(p + P_MEMSZ, 0x2000, 8);
		}
		image.reads = 0;
		(void)!kunwind_elf_parse(image_read, &image, image.size, &elf);
		tap_ok(image.reads < 1000, "%s: %u reads of a file of %llu bytes", kinds[i].name,
		       image.reads, (unsigned long long)size);
	}
	free(image.data);
}

int main(void)
{
	test_vdso();
	test_reads();
	test_cases();
	test_debug();
	test_count();
	test_search();
	test_biases();
	test_notes();
	test_loads();
	test_bias();
	test_io();
	test_damage();
	return tap_done();
}
