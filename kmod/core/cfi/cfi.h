/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cfi.h - parse the records of .eh_frame and .debug_frame: CIEs and FDEs
 *
 * Each function parses and checks one record or pointer, and keeps no state.
 * cfi_program.h runs the CFI programs of the records. The functions neither
 * sleep nor allocate.
 *
 * Source of the format: DWARF 5, 6.4.1, 7.4, 7.24; LSB 5.0 core generic 10.5
 * (pointer encodings) and 10.6 (.eh_frame); the augmentations B (aarch64), P,
 * L, R, S, z as GCC and LLVM emit them, and eh of GCC 2.
 *
 * Not supported: indirect addresses; FDEs whose start is relative to their own
 * start (funcrel).
 */
#ifndef _KUNWIND_CFI_H
#define _KUNWIND_CFI_H

#include "bytes.h"
#include "../kunwind_core.h"

/* Most bytes of a CIE's initial instructions. Real CIEs have some 10. */
#define KUNWIND_CIE_MAX_CODE	1024

/*
 * Larger code alignment factors count as this one. Its product with a 16-bit
 * number does not overflow, and a step of this size leads beyond all code of an
 * object.
 */
#define KUNWIND_MAX_CODE_ALIGN	(1ULL << 47)

/*
 * Most bytes of a CIE after its ID. A CIE may be read once for each of its
 * FDEs: without this limit, a CIE with megabytes of augmentation data would
 * make the time of a build quadratic.
 */
#define KUNWIND_CIE_MAX		(KUNWIND_CIE_MAX_CODE + 256)

/* DW_EH_PE_*: the low four bits are the format, the next three the base. */
#define KUNWIND_PE_OMIT		0xff
#define KUNWIND_PE_INDIRECT	0x80

struct kunwind_cie {
	size_t size;			/* bytes of its record */
	u64 code_align;
	s64 data_align;
	u64 ra;				/* column of the return address */
	bool odd_ra;			/* @ra is not the usual column */
	const u8 *code, *code_end;	/* initial instructions */
	u8 encoding;			/* DW_EH_PE_* of the addresses in its FDEs */
	bool sized;			/* z: its FDEs have length-prefixed augmentation data */
	bool signal;			/* S: its FDEs are of signal frames */
	bool from_code;		/* K: its FDEs were made from code (rows/code.h) */
	bool moved;		/* M: of functions that may have moved their return address */
};

struct kunwind_fde {
	u64 start, len;			/* covers [start, start + len), ELF virtual addresses */
	const u8 *code, *code_end;	/* instructions */
};

enum kunwind_record_kind {
	KUNWIND_RECORD_CIE,
	KUNWIND_RECORD_FDE,
	KUNWIND_RECORD_ZERO,		/* a length of zero: usually the terminator */
	KUNWIND_RECORD_END,		/* end of the section */
};

/*
 * Position and kind of a record. Offsets in the section, in bytes. A
 * KUNWIND_RECORD_ZERO has neither @body nor @cie, a KUNWIND_RECORD_END has only
 * @begin.
 */
struct kunwind_record {
	u8 kind;			/* enum kunwind_record_kind */
	size_t begin, body, end;	/* start; after the CIE ID; end */
	size_t cie;			/* where its CIE begins; of a CIE: @begin */
};

/**
 * kunwind_record_read() - find position and kind of the record at @offset
 *
 * A terminator need not be the end of the section: a linker may have placed an
 * object with a terminator in the middle. readelf reads on after it, and GCC's
 * unwinder finds the FDEs after it by .eh_frame_hdr. This function computes the
 * CIE's offset, but does not check what is there.
 *
 * Return: KUNWIND_OK and *record, or KUNWIND_E_TRUNCATED.
 */
enum kunwind_build_error __must_check
kunwind_record_read(const struct kunwind_section *section, size_t offset,
		    struct kunwind_record *record);

/*
 * Parses the CIE that begins at @offset. After a failure cie->size is valid,
 * too: bytes of the record, or 0 if no CIE of acceptable size is there.
 */
enum kunwind_build_error __must_check
kunwind_cie_read(const struct kunwind_section *section, size_t offset, struct kunwind_cie *cie);

/*
 * Parses the FDE at @record, whose CIE is @cie. The FDE of a function that the
 * linker dropped gets a length of 0.
 */
enum kunwind_build_error __must_check
kunwind_fde_read(const struct kunwind_section *section, const struct kunwind_record *record,
		 const struct kunwind_cie *cie, struct kunwind_fde *fde);

/**
 * kunwind_pointer_read() - read an encoded pointer (LSB 5.0 core generic, 10.5)
 * @func: base for DW_EH_PE_funcrel
 *
 * @b must lie in the section, because DW_EH_PE_pcrel and aligned depend on its
 * place. Sets *val. If the bytes end early, @b becomes bad.
 *
 * Return: false if @encoding does not exist or cannot be resolved here (omit,
 * indirect).
 */
bool __must_check kunwind_pointer_read(const struct kunwind_section *section,
				       struct kunwind_bytes *b, u8 encoding, u64 func, u64 *val);

#endif /* _KUNWIND_CFI_H */
