/* SPDX-License-Identifier: MIT */
/*
 * helper_go.h - functions and lines of Go programs from .gopclntab
 */
#ifndef KUNWIND_HELPER_GO_H
#define KUNWIND_HELPER_GO_H

#include <libelf.h>

#include "helper_dwarf.h"

struct kunwind_go_table;

/* @elf stays the caller's. Returns NULL if it has no such table, or one that is not understood. */
struct kunwind_go_table *kunwind_go_table_new(Elf *elf);
void kunwind_go_table_free(struct kunwind_go_table *go);

/*
 * As kunwind_dwarf_functions(). Names and files are valid as long as the table and
 * the ELF file. Inlined functions are known from Go 1.18 on.
 */
unsigned int kunwind_go_table_functions(const struct kunwind_go_table *go, uint64_t addr,
					struct kunwind_dwarf_function *function, unsigned int max);

#endif /* KUNWIND_HELPER_GO_H */
