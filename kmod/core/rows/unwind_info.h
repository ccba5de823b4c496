/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * unwind_info.h - all that an ELF file says about unwinding: .eh_frame,
 * .debug_frame, the table of Go's linker, and its code
 *
 * The rows of Go's table take the place of .debug_frame, and the rows from code are added
 * to it. So all code after this file, which checks and compiles CFI, serves them, too.
 */
#ifndef _KUNWIND_UNWIND_INFO_H
#define _KUNWIND_UNWIND_INFO_H

#include "code_gaps.h"

/**
 * kunwind_unwind_info_find() - read an ELF file's headers, and find its
 * unwind information
 *
 * As kunwind_elf_parse(), except that a 64-bit file without CFI is no failure. If elf->go is
 * true after it, elf->debug_size is the size of the rows of Go's table, and elf->debug_offset means nothing.
 */
enum kunwind_build_error __must_check kunwind_unwind_info_find(kunwind_read_fn *read, void *file,
							       u64 file_size,
							       struct kunwind_elf *elf);

/**
 * kunwind_unwind_info_read() - read what kunwind_unwind_info_find() has found
 * @data: room for elf->eh_size + elf->debug_size bytes, in this order; then the
 *	arguments of kunwind_elf_sections()
 *
 * May sleep. Return: KUNWIND_OK, KUNWIND_E_IO or KUNWIND_E_NOMEM.
 */
enum kunwind_build_error __must_check kunwind_unwind_info_read(kunwind_read_fn *read, void *file,
							       const struct kunwind_elf *elf,
							       u8 *data);

/* Charges @bytes of memory. False: there is no room. */
typedef bool kunwind_charge_fn(void *data, size_t bytes);

/**
 * kunwind_unwind_info_read_code() - read the code that no CFI covers
 * @data: what kunwind_unwind_info_read() has read
 * @charge, @abort: may be NULL; @hook_data is the argument of both
 * @gaps: out: to be given to kunwind_unwind_info_add_rows(); NULL if there is no such
 *	code, or if there is no memory for it
 *
 * May sleep. Return: KUNWIND_OK, KUNWIND_E_IO or KUNWIND_E_ABORTED.
 */
enum kunwind_build_error __must_check
kunwind_unwind_info_read_code(kunwind_read_fn *read, void *file, const struct kunwind_elf *elf,
			      const u8 *data, kunwind_charge_fn *charge, kunwind_abort_fn *abort,
			      void *hook_data, struct kunwind_code_gaps **gaps);

/**
 * kunwind_unwind_info_add_rows() - make rows from code
 * @gaps: may be NULL; freed in any case
 * @charge, @abort: as above. @charge is called with the bytes that @data takes then, and
 *	twice those of the rows, for their table
 * @data: in, out: what kunwind_unwind_info_read() has read, in memory that kunwind_free()
 *	can free; replaced if there are such rows. elf->debug_size then counts them, too
 *
 * If there is no memory for the rows, there are none. May sleep. Return: KUNWIND_OK,
 * KUNWIND_E_NO_CFI if there is neither CFI nor a row, KUNWIND_E_ABORTED.
 */
enum kunwind_build_error __must_check
kunwind_unwind_info_add_rows(struct kunwind_elf *elf, struct kunwind_code_gaps *gaps,
			     kunwind_charge_fn *charge, kunwind_abort_fn *abort, void *hook_data,
			     u8 **data);

/**
 * kunwind_unwind_info_code_table() - make a table of rows from code only
 * @gaps: freed in any case
 * @charge, @abort: as above. @charge is called with the most bytes that the table and its
 *	draft take
 * @table: out: for kunwind_table_add_code(); unchanged on failure
 *
 * May sleep. Return: KUNWIND_OK, KUNWIND_E_NO_CFI if there is no row, KUNWIND_E_NOMEM,
 * KUNWIND_E_LIMIT, KUNWIND_E_ABORTED.
 */
enum kunwind_build_error __must_check
kunwind_unwind_info_code_table(const struct kunwind_elf *elf, struct kunwind_code_gaps *gaps,
			       kunwind_charge_fn *charge, kunwind_abort_fn *abort, void *hook_data,
			       struct kunwind_table **table);

/* Frees @gaps without making rows. */
void kunwind_unwind_info_free_code(struct kunwind_code_gaps *gaps);

#endif /* _KUNWIND_UNWIND_INFO_H */
