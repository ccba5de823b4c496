/* SPDX-License-Identifier: MIT */
/*
 * helper_split.h - the other part of a unit whose DWARF is split
 */
#ifndef KUNWIND_HELPER_SPLIT_H
#define KUNWIND_HELPER_SPLIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Makes libdw read the other part of @skeleton from @fd, which stays the
 * caller's; -1: there is no file. @die: out, its outermost entry. Call this
 * only once for each unit, because libdw remembers the result. False: the part
 * is not in that file.
 */
bool kunwind_split_link(Dwarf_CU *skeleton, int fd, Dwarf_Die *die);

/*
 * Writes the unit @id of the package @dwp (a .dwp file) to @lent, as a .dwo
 * file. @lent is a memory file of the largest size allowed, and is cut to the
 * size of the .dwo file. False: there is no such unit, or it did not fit.
 */
bool kunwind_dwp_extract(int dwp, uint64_t id, int lent);

#endif /* KUNWIND_HELPER_SPLIT_H */
