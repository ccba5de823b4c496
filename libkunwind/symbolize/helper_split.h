/* SPDX-License-Identifier: MIT */
/*
 * helper_split.h - the other part of a unit whose DWARF is split
 */
#ifndef KUNWIND_HELPER_SPLIT_H
#define KUNWIND_HELPER_SPLIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/*
 * Has libdw read the other part of @skeleton from @fd, which stays the caller's.
 * @die: out, its outermost entry. Once only for each unit: libdw remembers the
 * answer. False: it is not in that file (-1: there is none).
 */
bool kunwind_split_link(Dwarf_CU *skeleton, int fd, Dwarf_Die *die);

#endif /* KUNWIND_HELPER_SPLIT_H */
