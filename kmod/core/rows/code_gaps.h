/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code_gaps.h - the code of an ELF file that no CFI covers
 */
#ifndef _KUNWIND_CODE_GAPS_H
#define _KUNWIND_CODE_GAPS_H

#include "../cfi/elf.h"

#define KUNWIND_GAPS_MOST	4096

struct kunwind_code_gap {
	u64 start, end; /* ELF virtual addresses */
	u64 place; /* of its first byte in the file */
	u32 before; /* bytes of the gaps before this one */
};

struct kunwind_code_gaps {
	u32 nr;
	u32 bytes; /* of all */
	u8 *code; /* the bytes of all, then zeros; NULL: not read */
	struct kunwind_code_gap gap[KUNWIND_GAPS_MOST]; /* ascending */
};

/**
 * kunwind_code_gaps_find() - find the code without CFI
 * @section: of kunwind_elf_sections()
 * @abort: may be NULL; @abort_data is its argument
 * @gaps: out; zeroed memory
 *
 * Looks from the first to the last executable section, or in all executable segments if
 * the file has no section headers. A gap begins and ends where FDEs or the code do.
 * Shorter ones than 32 bytes are left out; and what is beyond
 * KUNWIND_GAPS_MOST gaps or 16 MB. If the FDEs overlap in a way that no linker makes,
 * there are no gaps.
 *
 * Task context; may sleep. Time is linear in the sections and in the code. Memory:
 * kunwind_code_gaps_memory(), @gaps included. Return: KUNWIND_OK, KUNWIND_E_NOMEM or
 * KUNWIND_E_ABORTED.
 */
enum kunwind_build_error __must_check
kunwind_code_gaps_find(const struct kunwind_elf *elf, const struct kunwind_section *section,
		       kunwind_abort_fn *abort, void *abort_data, struct kunwind_code_gaps *gaps);

size_t kunwind_code_gaps_memory(const struct kunwind_elf *elf);

/* The power of two from @size on: an allocator gives no more for it. */
static inline size_t kunwind_code_power(size_t size)
{
	size_t power = 1;

	while (power < size)
		power *= 2;
	return power;
}

/**
 * kunwind_code_gaps_read() - read the code of all gaps
 * @gaps: in, out: sets code, to be freed with kunwind_free()
 *
 * Task context; may sleep. Return: KUNWIND_OK, KUNWIND_E_NOMEM or KUNWIND_E_IO.
 */
enum kunwind_build_error __must_check kunwind_code_gaps_read(kunwind_read_fn *read, void *file,
							     struct kunwind_code_gaps *gaps);

#endif /* _KUNWIND_CODE_GAPS_H */
