/* SPDX-License-Identifier: MIT */
/*
 * headers-test.c - limits of ELF headers: notes that are not aligned or too
 * long, .eh_frame where a segment has memory but no file, mappings that touch a
 * segment
 */
#include <stdio.h>

#include "../../kmod/core/cfi/elf.h"
#include "tap.h"

#define SIZE	0x3000

static u8 file[SIZE];

static int read_file(void *unused, u64 off, void *buf, size_t len)
{
	(void)unused;
	memcpy(buf, file + off, len);
	return 0;
}

static void put(size_t at, u64 value, int size)
{
	memcpy(file + at, &value, size);
}

static void segment(int n, u32 type, u32 flags, u64 offset, u64 vaddr, u64 filesz, u64 memsz)
{
	size_t at = 64 + 56 * n;

	put(at, type, 4);
	put(at + 4, flags, 4);
	put(at + 8, offset, 8);
	put(at + 16, vaddr, 8);
	put(at + 32, filesz, 8);
	put(at + 40, memsz, 8);
	put(at + 48, 4, 8);
}

/* Code at [0, 0x1000) and a note segment at 0x1800; each case adds the rest. */
static void image(void)
{
	memset(file, 0, sizeof(file));
	memcpy(file, "\x7f" "ELF\2\1\1", 7);
	put(16, 3, 2);
	put(18, 62, 2);
	put(20, 1, 4);
	put(32, 64, 8);
	put(54, 56, 2);
	put(56, 3, 2);
	segment(0, 1, 5, 0, 0, 0x2000, 0x4000);
	segment(1, 4, 4, 0x1800, 0x1800, 0x200, 0x200);
}

static enum kunwind_build_error parse(struct kunwind_elf *elf)
{
	return kunwind_elf_parse(read_file, NULL, SIZE, elf);
}

/* Writes a note at @at. Returns where the next one begins. */
static size_t note(size_t at, u32 type, const char *name, u32 desc, u8 fill)
{
	u32 len = strlen(name) + 1;

	put(at, len, 4);
	put(at + 4, desc, 4);
	put(at + 8, type, 4);
	memcpy(file + at + 12, name, len);
	at += 12 + ((len + 3) & ~3U);
	memset(file + at, fill, desc);
	return at + ((desc + 3) & ~3U);
}

static void test_notes(void)
{
	struct kunwind_elf elf;
	size_t at;

	image();
	at = note(0x1800, 1, "GNU", 5, 0x11);
	note(at, 3, "GNU", 20, 0x22);
	parse(&elf);
	tap_ok(elf.build_id_len == 20 && elf.build_id[19] == 0x22,
	       "build-id: found after a note whose description is not aligned");
	image();
	at = note(0x1800, 1, "Longer", 4, 0x11);
	note(at, 3, "GNU", 20, 0x22);
	parse(&elf);
	tap_ok(elf.build_id_len == 20 && elf.build_id[0] == 0x22,
	       "build-id: found after a note whose name is not aligned");
	image();
	note(0x1800, 3, "GNU", KUNWIND_BUILD_ID_MAX, 0x22);
	parse(&elf);
	tap_ok(elf.build_id_len == KUNWIND_BUILD_ID_MAX, "build-id: the greatest length is accepted");
	image();
	note(0x1800, 3, "GNU", KUNWIND_BUILD_ID_MAX + 1, 0x22);
	parse(&elf);
	tap_ok(!elf.build_id_len, "build-id: one byte more than the greatest length is ignored");
	image();
	note(0x1800, 3, "GNV", 20, 0x22);
	parse(&elf);
	tap_ok(!elf.build_id_len, "build-id: a note of the same type from another vendor is ignored");
	image();
	note(0x19e0, 3, "GNU", 20, 0x22);
	put(64 + 56 + 8, 0x19e0, 8);
	put(64 + 56 + 32, 35, 8);
	parse(&elf);
	tap_ok(!elf.build_id_len, "build-id: a note that ends one byte after its segment is ignored");
}

/* .eh_frame_hdr at 0x1c00 says that .eh_frame is at @addr. */
static enum kunwind_build_error place(u32 addr, struct kunwind_elf *elf)
{
	image();
	segment(2, 0x6474e550, 4, 0x1c00, 0x1c00, 12, 12);
	put(0x1c00, 0x00ff0301, 4);	/* version 1; udata4; the number of FDEs as udata4 */
	put(0x1c02, 0x03, 1);
	put(0x1c03, 0xff, 1);
	put(0x1c04, addr, 4);
	return parse(elf);
}

static void test_place(void)
{
	struct kunwind_elf elf;

	tap_ok(!place(0x1d00, &elf) && elf.eh_offset == 0x1d00 && elf.eh_size == 0x300,
	       ".eh_frame ends with its segment's bytes of the file");
	tap_ok(!place(0x1fff, &elf) && elf.eh_size == 1,
	       ".eh_frame at the last byte of its segment has one byte");
	tap_ok(place(0x2000, &elf) == KUNWIND_E_HEADER,
	       ".eh_frame in memory without a file is refused");
	tap_ok(place(0x5000, &elf) == KUNWIND_E_HEADER, ".eh_frame in no segment is refused");
}

static void test_bias(void)
{
	struct kunwind_elf elf = { .nr_loads = 2, .load = {
		{ .vaddr = 0x401800, .offset = 0x1800, .filesz = 0x1800, .memsz = 0x1800, .flags = 5 },
		{ .vaddr = 0x500000, .offset = 0x4000, .filesz = 0x1000, .memsz = 0x1000, .flags = 6 },
	} };
	u64 bias = 0;

	tap_ok(kunwind_elf_bias(&elf, 0x7f0000001000, 0x1000, 0x1000, &bias) &&
	       bias == 0x7f0000001000 - 0x401000,
	       "a mapping that begins before its segment has that segment's bias");
	tap_ok(!kunwind_elf_bias(&elf, 0x7f0000001000, 0x800, 0x1000, &bias),
	       "a mapping that ends where a segment begins does not belong to it");
	tap_ok(kunwind_elf_bias(&elf, 0x7f0000001000, 0x801, 0x1000, &bias),
	       "a mapping that ends one byte after a segment begins belongs to it");
	tap_ok(kunwind_elf_bias(&elf, 0x7f0000001000, 0x1000, 0x2fff, &bias),
	       "a mapping that begins at the last byte of a segment belongs to it");
	tap_ok(!kunwind_elf_bias(&elf, 0x7f0000001000, 0x1000, 0x3000, &bias),
	       "a mapping that begins where a segment ends does not belong to it");
	tap_ok(!kunwind_elf_bias(&elf, 0x7f0000001000, 0x1000, 0x4000, &bias),
	       "a mapping of data has no bias");
}

int main(void)
{
	test_notes();
	test_place();
	test_bias();
	return tap_done();
}
