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
	const char *name;	/* raw; NULL: none */
	const char *file;	/* NULL: not known */
	int line, column;	/* 0: not known */
	uint64_t offset;	/* of the address, from the function's entry; 0 if inlined */
	bool inlined;
};

/*
 * @dwarf stays the caller's. @bias: to be added to its addresses. Returns NULL
 * when out of memory.
 */
struct kunwind_dwarf *kunwind_dwarf_new(Dwarf *dwarf, uint64_t bias);
void kunwind_dwarf_free(struct kunwind_dwarf *dwarf);

/* The other part of a unit whose DWARF is split, as the unit names it. */
struct kunwind_dwarf_split {
	const char *dir;	/* NULL: none */
	const char *name;	/* path of the file; may be relative to @dir */
};

/*
 * Would an answer about @addr be better with a file that the helper has not got
 * yet? If so, @split says which file.
 */
bool kunwind_dwarf_wants(struct kunwind_dwarf *dwarf, uint64_t addr,
			 struct kunwind_dwarf_split *split);

/*
 * Passes the file that the unit at @addr wants. @fd: -1: there is none. @lent:
 * -1; or @fd is a package (a .dwp file), and kunwind_dwp_extract() writes the
 * unit to @lent. Both stay the caller's.
 */
void kunwind_dwarf_give(struct kunwind_dwarf *dwarf, uint64_t addr, int fd, int lent);

/**
 * kunwind_dwarf_functions() - the functions that hold an address
 * @function: out, innermost inlined first, the function itself last; its
 *            strings are valid as long as the debug information
 * Return: their number, 0 if none is known. If there are more than @max, the
 * innermost are left out. A single function without a name has only the line.
 */
unsigned int kunwind_dwarf_functions(struct kunwind_dwarf *dwarf, uint64_t addr,
				     struct kunwind_dwarf_function *function, unsigned int max);

#endif /* KUNWIND_HELPER_DWARF_H */
