/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * unwind_info.h - all that an ELF file says about unwinding: .eh_frame,
 * .debug_frame, and the table of Go's linker
 *
 * The rows of Go's table take the place of .debug_frame. So all code after this
 * file, which checks and compiles CFI, serves them, too.
 */
#ifndef _KUNWIND_UNWIND_INFO_H
#define _KUNWIND_UNWIND_INFO_H

#include "../cfi/elf.h"

/**
 * kunwind_unwind_info_find() - read an ELF file's headers, and find its
 * unwind information
 *
 * As kunwind_elf_parse(). If elf->go is true after it, elf->debug_size is the
 * size of the rows of Go's table, and elf->debug_offset means nothing.
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

#endif /* _KUNWIND_UNWIND_INFO_H */
