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
 * Has libdw read the other part of @skeleton from @fd, which stays the caller's.
 * @die: out, its outermost entry. Once only for each unit: libdw remembers the
 * answer. False: it is not in that file (-1: there is none).
 */
bool kunwind_split_link(Dwarf_CU *skeleton, int fd, Dwarf_Die *die);

/*
 * The unit @id of the package @dwp (a .dwp file) becomes a .dwo file, in @lent: a file
 * in memory as large as that may get, which is cut to its size. False: there is no
 * such unit, or it did not fit.
 */
bool kunwind_dwp_extract(int dwp, uint64_t id, int lent);

#endif /* KUNWIND_HELPER_SPLIT_H */
