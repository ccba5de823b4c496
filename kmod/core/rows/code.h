/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code.h - rows for code without CFI, from its instructions
 *
 * C code without unwind tables, hand-written assembler, V8's builtins. docs/unwinding.md
 * ("Rows from code") says when the rows are right.
 */
#ifndef _KUNWIND_CODE_H
#define _KUNWIND_CODE_H

#include "code_gaps.h"

/**
 * kunwind_code_rows() - make rows for the code that no CFI covers
 * @gaps: in; the code was read
 * @debug, @debug_size: bytes of .debug_frame
 * @abort: may be NULL; @abort_data is its argument
 * @data, @size: out: the bytes of .debug_frame, followed by the rows as more records of
 *	it, which have augmentation K; to be freed with kunwind_free(). NULL and 0 if no
 *	row was made
 *
 * 64-bit code only. Task context; may sleep. Time is linear in gaps->bytes. Memory:
 * kunwind_code_rows_memory().
 *
 * Return: KUNWIND_OK, KUNWIND_E_NOMEM, KUNWIND_E_ABORTED.
 */
enum kunwind_build_error __must_check
kunwind_code_rows(const struct kunwind_code_gaps *gaps, const u8 *debug, u64 debug_size,
		  kunwind_abort_fn *abort, void *abort_data, u8 **data, u64 *size);

/*
 * Bytes that kunwind_code_gaps_read() and kunwind_code_rows() take, what the latter returns
 * included.
 */
size_t kunwind_code_rows_memory(const struct kunwind_code_gaps *gaps, u64 debug_size);

#endif /* _KUNWIND_CODE_H */
