/* SPDX-License-Identifier: MIT */
/*
 * text.h - write libdw's rules and ours in the notation of ../unit/rule-text.h
 *
 * @buf has 8,192 bytes, which is enough for the longest expressions of real objects.
 */
#ifndef KUNWIND_CORPUS_TEXT_H
#define KUNWIND_CORPUS_TEXT_H

#include <elfutils/libdw.h>

#include "../../kmod/core/table/table.h"

/* Writes libdw's CFA. Returns false if it has none. */
bool cfa_text(bool i386, Dwarf_Frame *frame, char *buf);
/* Writes libdw's rule for a register: "u" also if libdw does not know it. */
void reg_text(bool i386, Dwarf_Frame *frame, int reg, char *buf);
/* The same for a column, by its DWARF number, or of the return address. "?": not known. */
void column_text(bool i386, Dwarf_Frame *frame, int column, char *buf);
void return_text(bool i386, Dwarf_Frame *frame, int column, char *buf);
/* Writes our rule for a register other than rbp and the return address. */
void ours_text(const struct kunwind_table *table, struct kunwind_rule rule, int reg, char *buf);

/*
 * Assemblers pad the numbers of expressions with zeros. libdw returns the numbers
 * without them, and our text has the bytes of the file. This removes the padding.
 */
void exprs_shorten(char *text);

#endif
