/* SPDX-License-Identifier: MIT */
/*
 * helper_dwarf.h - inlined functions and lines from debug information
 */
#ifndef KUNWIND_HELPER_DWARF_H
#define KUNWIND_HELPER_DWARF_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct kunwind_dwarf;

struct kunwind_dwarf_function {
	const char *name;	/* raw; NULL: has none */
	const char *file;	/* NULL: not known */
	int line, column;	/* 0: not known */
	uint64_t offset;	/* of the address, from the entry of the function */
	bool inlined;
};

/* @dwarf stays the caller's; @bias is what its addresses lack. NULL: out of memory. */
struct kunwind_dwarf *kunwind_dwarf_new(Dwarf *dwarf, uint64_t bias);
void kunwind_dwarf_free(struct kunwind_dwarf *dwarf);

/* The other part of a unit whose DWARF is split, as the unit names it. */
struct kunwind_dwarf_split {
	const char *dir;	/* NULL: none */
	const char *name;	/* of a file, or a path, from @dir on where it is not absolute */
};

/* Would an answer about @addr gain by a file that was not given yet? Then @split says which. */
bool kunwind_dwarf_wants(struct kunwind_dwarf *dwarf, uint64_t addr,
			 struct kunwind_dwarf_split *split);

/*
 * The file that the unit at @addr wants, -1: there is none. @lent: -1, or @fd is a
 * package (a .dwp file), and the unit goes there: kunwind_dwp_extract(). Both stay
 * the caller's.
 */
void kunwind_dwarf_give(struct kunwind_dwarf *dwarf, uint64_t addr, int fd, int lent);

/**
 * kunwind_dwarf_functions() - the functions that hold an address
 * @function: out, innermost inlined first, the function itself last; its strings
 *            live as long as the debug information
 * Return: how many, 0: none known; at most @max, those farther out are kept.
 * One function without a name has the line only.
 */
unsigned int kunwind_dwarf_functions(struct kunwind_dwarf *dwarf, uint64_t addr,
				     struct kunwind_dwarf_function *function, unsigned int max);

#endif /* KUNWIND_HELPER_DWARF_H */
