/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * elf.h - find .eh_frame and .debug_frame in an ELF file, from its headers alone
 *
 * Source of the format: System V gABI (chapters 4 and 5), LSB 5.0 core generic
 * 10.6 (.eh_frame, .eh_frame_hdr). x86-64 and i386, little-endian, ET_EXEC and ET_DYN.
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
 * struct kunwind_elf - what the unwinder wants to know of an ELF file
 * @eh_addr: ELF virtual address of .eh_frame
 * @eh_offset: its place in the file, bytes
 * @eh_size: its size, bytes; without section headers: to the end of its
 *	segment's file part (the terminator, or what is no record, ends it earlier); 0: there is none
 * @eh_fdes: FDEs that are in it before a terminator ends it: all that
 *	.eh_frame_hdr counts; ~0 where the size is exact
 * @debug_offset, @debug_size: .debug_frame's; size 0: there is none, or it is compressed
 * @text_lo, @text_hi: span of all executable PT_LOADs, virtual addresses
 */
struct kunwind_elf {
	u64 eh_addr, eh_offset, eh_size;
	u64 debug_offset, debug_size;
	u32 eh_fdes;
	u64 text_lo, text_hi;
	u64 text_base, data_base;	/* of DW_EH_PE_textrel (0 if none) and datarel (DT_PLTGOT / hdr) */
	u64 entry;			/* e_entry */
	bool i386;			/* ELF-32 */
	u32 nr_loads;
	struct kunwind_elf_load load[KUNWIND_ELF_MAX_LOADS];
	u32 build_id_len;
	u8 build_id[KUNWIND_BUILD_ID_MAX];
};

/*
 * Reads @len bytes at file offset @off into @buf; returns 0, or non-zero when
 * they are not there or cannot be read. May sleep.
 */
typedef int kunwind_read_fn(void *file, u64 off, void *buf, size_t len);

/**
 * kunwind_elf_parse() - read and check an ELF file's headers
 * @read: reads from the file (or image) @file of @file_size bytes
 * May sleep if @read does. Bounded: at most KUNWIND_ELF_MAX_LOADS segments, a
 * bounded number of program and section headers, notes of bounded length.
 * Return: KUNWIND_OK; KUNWIND_E_NO_CFI (neither section is there, all else is valid); or the refusal.
 */
enum kunwind_refusal __must_check
kunwind_elf_parse(kunwind_read_fn *read, void *file, u64 file_size, struct kunwind_elf *elf);

/**
 * kunwind_elf_sections() - what kunwind_table_build() wants
 * @eh, @debug: their bytes, as many as their sizes say
 * Fills section[0], to be built from, and where both are there section[1].
 */
void kunwind_elf_sections(const struct kunwind_elf *elf, const u8 *eh, const u8 *debug,
			  struct kunwind_section section[2]);

/**
 * kunwind_elf_bias() - bias of a mapping of this file
 * @start: first address of the mapping, @offset: its file offset in bytes
 * Return: true and *bias (address - bias = ELF virtual address) when an
 * executable PT_LOAD covers that part of the file, and no other that would
 * give another bias.
 */
bool kunwind_elf_bias(const struct kunwind_elf *elf, u64 start, u64 len, u64 offset, u64 *bias);

#endif /* _KUNWIND_ELF_H */
