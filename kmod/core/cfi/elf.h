/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * elf.h - find .eh_frame and .debug_frame in an ELF file by its headers
 *
 * Supports x86-64 and i386 files, little-endian, ET_EXEC and ET_DYN.
 *
 * Source of the format: System V gABI (chapters 4 and 5), LSB 5.0 core generic
 * 10.6 (.eh_frame, .eh_frame_hdr).
 */
#ifndef _KUNWIND_ELF_H
#define _KUNWIND_ELF_H

#include "../kunwind_core.h"

#define KUNWIND_ELF_MAX_LOADS	32
#define KUNWIND_BUILD_ID_MAX	20

/* One PT_LOAD. */
struct kunwind_elf_load {
	u64 vaddr, offset, filesz, memsz;
	u32 flags;			/* PF_* */
};

/**
 * struct kunwind_elf - the facts about an ELF file that the unwinder needs
 * @eh_addr: ELF virtual address of .eh_frame
 * @eh_offset: its place in the file, bytes
 * @eh_size: its size, bytes; 0: there is none. Without section headers: up to
 *	the end of its segment's part of the file, though the terminator, or
 *	bytes that are no record, may end it earlier
 * @eh_fdes: a terminator ends .eh_frame only after this many FDEs: the number
 *	in .eh_frame_hdr, or 0; ~0 if @eh_size is exact
 * @search_base, @search_offset, @search_nr: address of .eh_frame_hdr; place in the
 *	file and number of entries of its search table, if the entries are pairs of
 *	signed distances of four bytes from that address; else the number is 0
 * @debug_offset, @debug_size: of .debug_frame; size 0: there is none, or it is
 *	compressed
 * @go_addr, @go_offset, @go_size: of .gopclntab, which Go's linker writes; size
 *	0: there is none
 * @go_inside: .gopclntab may be inside this section, .data.rel.ro of a Go program
 * @go: set by kunwind_unwind_info_find() (rows/unwind_info.h)
 * @text_section: ELF virtual address of .text; 0: not known
 * @rela_offset, @rela_size: of .rela.dyn, if the file has .gopclntab
 * @text_lo, @text_hi: span of all executable PT_LOADs, ELF virtual addresses
 * @code_lo, @code_hi: within it, the span of all executable sections; without
 *	section headers: the same
 * @text_base, @data_base: bases of DW_EH_PE_textrel (always 0) and of datarel
 *	(DT_PLTGOT, or 0)
 */
struct kunwind_elf {
	u64 eh_addr, eh_offset, eh_size;
	u64 search_base, search_offset;
	u64 debug_offset, debug_size;
	u64 go_addr, go_offset, go_size;
	u64 text_section;
	u64 rela_offset, rela_size;
	bool go, go_inside;
	bool fixed;			/* ET_EXEC: the bias is 0 */
	u32 eh_fdes, search_nr;
	u64 text_lo, text_hi;
	u64 code_lo, code_hi;
	u64 text_base, data_base;
	u64 entry;			/* e_entry */
	bool i386;			/* ELF-32 */
	u32 nr_loads;
	struct kunwind_elf_load load[KUNWIND_ELF_MAX_LOADS];
	u32 build_id_len;
	u8 build_id[KUNWIND_BUILD_ID_MAX];
};

/*
 * Reads @len bytes at file offset @off into @buf. Returns 0, or non-zero if the
 * bytes do not exist or cannot be read. May sleep.
 */
typedef int kunwind_read_fn(void *file, u64 off, void *buf, size_t len);

/**
 * kunwind_elf_parse() - read and check an ELF file's headers
 * @read: reads from the file (or image) @file of @file_size bytes
 *
 * Sleeps only if @read does. Bounded: at most KUNWIND_ELF_MAX_LOADS segments,
 * 512 program headers, 4096 section headers and 64 notes.
 *
 * Return: KUNWIND_OK; KUNWIND_E_NO_CFI if the file is valid but has neither
 * section; or another build error.
 */
enum kunwind_build_error __must_check
kunwind_elf_parse(kunwind_read_fn *read, void *file, u64 file_size, struct kunwind_elf *elf);

/**
 * kunwind_elf_sections() - describe the sections for kunwind_table_build()
 * @eh, @debug: the sections' bytes, elf->eh_size and elf->debug_size of them
 *
 * Fills section[0], which the caller passes to the builder. If the file has
 * both sections, section[0] is .eh_frame and refers to section[1],
 * .debug_frame.
 */
void kunwind_elf_sections(const struct kunwind_elf *elf, const u8 *eh, const u8 *debug,
			  struct kunwind_section section[2]);

/* The biases that mappings of a file may have. */
struct kunwind_elf_biases {
	u32 nr;
	u64 bias[KUNWIND_ELF_MAX_LOADS];
};

/**
 * kunwind_elf_biases() - find the biases that a mapping of this file may have
 * @start: first address of the mapping
 * @len: its length, bytes
 * @offset: its file offset, bytes
 * @biases: out: address - bias = ELF virtual address; one for each executable
 *	PT_LOAD that covers that part of the file, without those that are equal
 */
void kunwind_elf_biases(const struct kunwind_elf *elf, u64 start, u64 len, u64 offset,
			struct kunwind_elf_biases *biases);

/**
 * kunwind_elf_biases_narrow() - leave out biases that another executable mapping
 * of the same file in the same process cannot have
 *
 * If it can have none of them, it belongs to another load of the file, and all
 * stay. If one bias is left after all mappings of the file, it is the right one.
 */
void kunwind_elf_biases_narrow(const struct kunwind_elf *elf, struct kunwind_elf_biases *biases,
			       u64 start, u64 len, u64 offset);

/* Whether the mapping has one possible bias, *bias, without regard to others; else *bias stays. */
static inline bool kunwind_elf_bias(const struct kunwind_elf *elf, u64 start, u64 len, u64 offset,
				    u64 *bias)
{
	struct kunwind_elf_biases biases;

	kunwind_elf_biases(elf, start, len, offset, &biases);
	if (biases.nr != 1)
		return false;
	*bias = biases.bias[0];
	return true;
}

/* Returns the segment whose part of the file holds @vaddr, or NULL. */
const struct kunwind_elf_load *kunwind_elf_load_find(const struct kunwind_elf *elf, u64 vaddr);

#endif /* _KUNWIND_ELF_H */
