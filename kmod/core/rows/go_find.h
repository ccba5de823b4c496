/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * go_find.h - find .gopclntab inside .data.rel.ro
 */
#ifndef _KUNWIND_GO_FIND_H
#define _KUNWIND_GO_FIND_H

#include "../cfi/elf.h"

/**
 * kunwind_go_find() - find the table if elf->go_inside is true
 * @elf: in: go_addr, go_offset and go_size of .data.rel.ro; out: those of the table and what
 *	follows it, or go_size 0: there is none
 *
 * May sleep. Return: KUNWIND_OK; KUNWIND_E_IO if @read failed; KUNWIND_E_NOMEM.
 */
enum kunwind_build_error __must_check kunwind_go_find(kunwind_read_fn *read, void *file,
						      struct kunwind_elf *elf);

#endif /* _KUNWIND_GO_FIND_H */
