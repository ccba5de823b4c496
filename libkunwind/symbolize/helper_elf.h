/* SPDX-License-Identifier: MIT */
/*
 * helper_elf.h - one ELF file, opened for its symbols
 */
#ifndef KUNWIND_HELPER_ELF_H
#define KUNWIND_HELPER_ELF_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct kunwind_elf;

/* What file is in @fd, which stays the caller's. @name: .gnu_debuglink, "" when there is none. */
void kunwind_elf_identify(int fd, struct wire_reply *reply, char *name, size_t size);

/**
 * kunwind_elf_open() - open a file for its symbols
 * @fd: the file; taken, also on failure
 * @debug_fd: the file with its separate debug information, -1 none; taken likewise
 * Return: NULL when it is no usable ELF file.
 */
struct kunwind_elf *kunwind_elf_open(int fd, int debug_fd);
void kunwind_elf_close(struct kunwind_elf *elf);

/* Debug information, @bias is added to its addresses; NULL: none. */
Dwarf *kunwind_elf_dwarf(struct kunwind_elf *elf, uint64_t *bias);

/*
 * The ELF virtual address of what lies at @offset in the file. False: no
 * executable segment holds @offset.
 */
bool kunwind_elf_vaddr(const struct kunwind_elf *elf, uint64_t offset, uint64_t *vaddr);

/*
 * The symbol that holds @addr, with its start in @start; NULL: none. Raw name.
 * @label: it has no size of its own, and reaches to the next one
 */
const char *kunwind_elf_symbol(const struct kunwind_elf *elf, uint64_t addr, uint64_t *start,
			       bool *label);

/* Does the kernel return to @addr from a signal handler? */
bool kunwind_elf_is_trampoline(const struct kunwind_elf *elf, uint64_t addr);

/*
 * Is the function at @addr one that nobody called? Its CFI says so (return
 * address undefined), or it is the file's entry point and has no CFI.
 */
bool kunwind_elf_is_entry(const struct kunwind_elf *elf, uint64_t addr);

#endif /* KUNWIND_HELPER_ELF_H */
