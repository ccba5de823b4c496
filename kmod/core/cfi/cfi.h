/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cfi.h - records of .eh_frame and .debug_frame: CIEs and FDEs
 *
 * Reads one record at a time and checks it as it stands; keeps nothing. What
 * the CFI programs in the records say is program.h's. Source of the format:
 * DWARF 5, 6.4.1, 7.4, 7.24; LSB 5.0 core generic 10.5 (pointer encodings) and
 * 10.6 (.eh_frame); the augmentations B (aarch64), P, L, R, S, z as GCC and
 * LLVM emit them.
 *
 * Does not take: indirect addresses, and FDEs whose start is relative to their
 * own start (funcrel).
 */
#ifndef _KUNWIND_CFI_H
#define _KUNWIND_CFI_H

#include "bytes.h"
#include "../kunwind_core.h"

/* Initial instructions of a CIE: real ones take some 10 bytes. */
#define KUNWIND_CIE_MAX_CODE	1024

/* No product of a code alignment factor and 16 bits overflows, and one is beyond all code. */
#define KUNWIND_MAX_CODE_ALIGN	(1ULL << 47)

/*
 * A whole CIE. It may be read once for each of its FDEs, so whoever writes one
 * with megabytes of augmentation must not make that quadratic.
 */
#define KUNWIND_CIE_MAX		(KUNWIND_CIE_MAX_CODE + 256)

/* DW_EH_PE_*: low four bits the format, the next three what it is relative to. */
#define KUNWIND_PE_OMIT		0xff
#define KUNWIND_PE_INDIRECT	0x80

struct kunwind_cie {
	size_t size;			/* bytes of its record */
	u64 code_align;
	s64 data_align;
	u64 ra;				/* column of the return address */
	bool odd_ra;			/* it is not the usual one */
	const u8 *code, *code_end;	/* initial instructions */
	u8 encoding;			/* of the addresses in its FDEs */
	bool sized;			/* z: its FDEs have a length-prefixed augmentation */
	bool signal;			/* S */
};

struct kunwind_fde {
	u64 start, len;			/* covers [start, start + len), ELF virtual addresses */
	const u8 *code, *code_end;	/* instructions */
};

enum kunwind_record_kind {
	KUNWIND_RECORD_CIE,
	KUNWIND_RECORD_FDE,
	KUNWIND_RECORD_ZERO,		/* a length of zero: a terminator, mostly */
	KUNWIND_RECORD_END,		/* of the section */
};

/* A record's outline: its length and what it is. Offsets in the section, bytes. */
struct kunwind_record {
	u8 kind;			/* enum kunwind_record_kind */
	size_t begin, body, end;	/* of the record; behind the CIE pointer; behind all */
	size_t cie;			/* FDE: where its CIE begins */
};

/**
 * kunwind_record_read() - outline of the record at @offset
 * A terminator need not be the end: where an object with one is linked in the
 * midst, readelf reads on behind it, and GCC's unwinder finds what is there by
 * .eh_frame_hdr. The CIE pointer is not followed, only computed.
 */
enum kunwind_refusal __must_check
kunwind_record_read(const struct kunwind_section *section, size_t offset,
		    struct kunwind_record *record);

/* Parses the CIE that begins at @offset. cie->size is valid also if that fails. */
enum kunwind_refusal __must_check
kunwind_cie_read(const struct kunwind_section *section, size_t offset, struct kunwind_cie *cie);

/*
 * Parses the FDE of outline @record, whose CIE is @cie. One of a function that
 * the linker dropped gets a length of 0.
 */
enum kunwind_refusal __must_check
kunwind_fde_read(const struct kunwind_section *section, const struct kunwind_record *record,
		 const struct kunwind_cie *cie, struct kunwind_fde *fde);

/**
 * kunwind_pointer_read() - an encoded pointer
 * @func: what DW_EH_PE_funcrel is relative to
 * @b must lie in the section (pcrel and aligned need its place). Sets *val, or
 * makes @b bad at the end of its bytes.
 * Return: false when @encoding is none that exists or one that cannot be
 * resolved here (indirect).
 */
bool __must_check kunwind_pointer_read(const struct kunwind_section *section,
				       struct kunwind_bytes *b, u8 encoding, u64 func, u64 *val);

#endif /* _KUNWIND_CFI_H */
