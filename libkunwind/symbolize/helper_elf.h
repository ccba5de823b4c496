/* SPDX-License-Identifier: MIT */
/*
 * helper_elf.h - one ELF file, opened for its symbols
 */
#ifndef KUNWIND_HELPER_ELF_H
#define KUNWIND_HELPER_ELF_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "helper_dwarf.h"
#include "wire.h"

struct kunwind_helper_elf;

/*
 * Reports what file @fd is; @fd stays the caller's. @name: out: .gnu_debuglink,
 * "" if there is none.
 */
void kunwind_elf_identify(int fd, struct wire_reply *reply, char *name, size_t size);

/* Returns whether file @fd has debug information that libelf cannot decompress. */
bool kunwind_elf_is_packed(int fd);

/**
 * kunwind_elf_open() - open a file for its symbols
 * @fd: the file; the function takes it over, also on failure
 * @debug_fd: the file with its debug information, or -1; taken over, too
 * Return: NULL if it is not a usable ELF file.
 */
struct kunwind_helper_elf *kunwind_elf_open(int fd, int debug_fd);
void kunwind_elf_close(struct kunwind_helper_elf *elf);

/*
 * Returns the debug information, NULL if there is none. @bias: out, to be added
 * to its addresses.
 */
Dwarf *kunwind_elf_dwarf(struct kunwind_helper_elf *elf, uint64_t *bias);

/*
 * Finds the ELF virtual address of what is at @offset in the file. False: no
 * executable segment holds @offset.
 */
bool kunwind_elf_vaddr(const struct kunwind_helper_elf *elf, uint64_t offset, uint64_t *vaddr);

/*
 * Returns the raw name of the symbol that holds @addr, NULL if there is none.
 * @start: out. @label: out, the symbol has no size of its own, and reaches to
 * the next one.
 */
const char *kunwind_elf_symbol(const struct kunwind_helper_elf *elf, uint64_t addr, uint64_t *start,
			       bool *label);

/* The same for the stubs of .plt, which have no symbols: "memcmp@plt"; valid until the next call. */
const char *kunwind_elf_stub(struct kunwind_helper_elf *elf, uint64_t addr, uint64_t *start);

/* As kunwind_dwarf_functions(), from the table of Go's linker (helper_go.h). */
unsigned int kunwind_elf_go(struct kunwind_helper_elf *elf, uint64_t addr,
			    struct kunwind_dwarf_function *function, unsigned int max);

/*
 * Finds the start of the function that holds @addr, symbol or not, by the FDEs of
 * .eh_frame. False: no FDE holds @addr, or the file has no table of them.
 */
bool kunwind_elf_function(struct kunwind_helper_elf *elf, uint64_t addr, uint64_t *start);

/* Does the kernel return to @addr from a signal handler? */
bool kunwind_elf_is_trampoline(const struct kunwind_helper_elf *elf, uint64_t addr);

/*
 * Is the function at @addr one that nobody called? This is so if its CFI leaves
 * the return address undefined, or if it is at the file's entry point and has
 * no CFI.
 */
bool kunwind_elf_is_entry(const struct kunwind_helper_elf *elf, uint64_t addr);

#endif /* KUNWIND_HELPER_ELF_H */
