/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * main_entry.h - the entry of the program's main() (main_entry.c)
 *
 * 64-bit code only. Any context, NMI included. The caller must have no window
 * open.
 */
#ifndef _KUNWIND_MAIN_ENTRY_H
#define _KUNWIND_MAIN_ENTRY_H

#include "../kunwind_core.h"

/**
 * kunwind_code_main() - find the entry of the program's main()
 * @start: the program's entry point
 * @entry: out: the address that the code there passes to libc, in rdi
 */
bool kunwind_code_main(struct kunwind_mem *mem, u64 start, u64 *entry);

#endif /* _KUNWIND_MAIN_ENTRY_H */
