/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * function_entry.h - the entry of the function at an address (function_entry.c)
 *
 * 64-bit code only. Any context, NMI included. The caller must have no window
 * open.
 */
#ifndef _KUNWIND_FUNCTION_ENTRY_H
#define _KUNWIND_FUNCTION_ENTRY_H

#include "../kunwind_core.h"

/**
 * kunwind_code_entry() - find the nearest place at or before @at that is surely
 * an entry
 * @lo: the search ends there
 * @at: an address of code
 * @entry: out: the place. It is the entry of the function at @at, or of one
 *	before it
 */
bool kunwind_code_entry(struct kunwind_mem *mem, u64 lo, u64 at, u64 *entry);

/**
 * kunwind_code_main() - find the entry of the program's main()
 * @start: the program's entry point
 * @entry: out: the address that the code there passes to libc, in rdi
 */
bool kunwind_code_main(struct kunwind_mem *mem, u64 start, u64 *entry);

#endif /* _KUNWIND_FUNCTION_ENTRY_H */
