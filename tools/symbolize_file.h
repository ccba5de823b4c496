/* SPDX-License-Identifier: MIT */
/*
 * symbolize_file.h - one ELF file, opened for its symbols
 */
#ifndef KUNWIND_SYMBOLIZE_FILE_H
#define KUNWIND_SYMBOLIZE_FILE_H

#include "symbolize.h"

struct kunwind_elf;

/**
 * kunwind_elf_open() - open a file whose identity is proved
 * As kunwind_symbolizer_file(). @state: out. Return: NULL unless @state is OK.
 */
struct kunwind_elf *kunwind_elf_open(const char *path, const char *build_id, uint64_t inode,
				     enum kunwind_symfile_state *state);
void kunwind_elf_close(struct kunwind_elf *elf);

/* As kunwind_symfile_vaddr(). */
bool kunwind_elf_vaddr(const struct kunwind_elf *elf, uint64_t offset, uint64_t *vaddr);

/* The symbol that holds @addr, with its start in @start; NULL: none. Raw name. */
const char *kunwind_elf_symbol(const struct kunwind_elf *elf, uint64_t addr, uint64_t *start);

/* Does the kernel return to @addr from a signal handler? */
bool kunwind_elf_is_trampoline(const struct kunwind_elf *elf, uint64_t addr);

/*
 * Is the function at @addr one that nobody called? Its CFI says so (return
 * address undefined), or it is the file's entry point and has no CFI.
 */
bool kunwind_elf_is_entry(const struct kunwind_elf *elf, uint64_t addr);

#endif /* KUNWIND_SYMBOLIZE_FILE_H */
