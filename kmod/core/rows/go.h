/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * go.h - the rows of Go's functions, from the table that Go's linker writes
 *
 * A Go program has no CFI for its own functions. The section .gopclntab
 * (.data.rel.ro.gopclntab in position-independent programs) has, for each
 * function, the distance from rsp to the return address at each instruction.
 * Go's garbage collector relies on it at run time, and stripping keeps it.
 *
 * Source of the format: golang.org/s/go12symtab, and the linker of each release
 * (cmd/link/internal/ld/pcln.go, runtime/symtab.go).
 */
#ifndef _KUNWIND_GO_H
#define _KUNWIND_GO_H

#include "../cfi/elf.h"

/**
 * kunwind_go_measure() - check .gopclntab, and find out how large its rows are
 * @read: reads from the file @file
 * @elf: in: go_offset, go_size and the other members that kunwind_elf_parse() sets
 * @size: out: bytes that kunwind_go_write() will write
 *
 * May sleep. Reads at most 32 times the section, once .rela.dyn, and 1 MB.
 *
 * Return: KUNWIND_OK; KUNWIND_E_IO if @read failed; KUNWIND_E_NOMEM; another build error if the
 * section is malformed, or its addresses are not known. Then none of its rows is
 * used.
 */
enum kunwind_build_error __must_check kunwind_go_measure(kunwind_read_fn *read, void *file,
							 const struct kunwind_elf *elf, u64 *size);

/**
 * kunwind_go_write() - write the rows as a section .debug_frame
 * @out: @size bytes, as kunwind_go_measure() found
 *
 * May sleep. Reads as much as kunwind_go_measure(). Return: KUNWIND_OK; KUNWIND_E_IO
 * if @read failed, or if the file no longer gives @size bytes.
 */
enum kunwind_build_error __must_check kunwind_go_write(kunwind_read_fn *read, void *file,
						       const struct kunwind_elf *elf, u8 *out,
						       u64 size);

#endif /* _KUNWIND_GO_H */
