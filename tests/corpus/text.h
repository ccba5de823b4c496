/* SPDX-License-Identifier: MIT */
/*
 * text.h - rules of libdw's and of ours in one notation, that of ../unit/rule-text.h
 *
 * @buf: 8,192 bytes, which the longest expressions of real objects do not take.
 */
#ifndef KUNWIND_CORPUS_TEXT_H
#define KUNWIND_CORPUS_TEXT_H

#include <elfutils/libdw.h>

#include "../../kmod/core/table/table.h"

/* libdw's CFA; false: it has none. */
bool cfa_text(bool i386, Dwarf_Frame *frame, char *buf);
/* libdw's rule for a register; "u" also where it cannot say. */
void reg_text(bool i386, Dwarf_Frame *frame, int reg, char *buf);
/* The same for a column, by its DWARF number; and for the return column. "?": not known. */
void column_text(bool i386, Dwarf_Frame *frame, int column, char *buf);
void return_text(bool i386, Dwarf_Frame *frame, int column, char *buf);
/* Our rule for a register other than rbp and the return address. */
void ours_text(const struct kunwind_table *table, struct kunwind_rule rule, int reg, char *buf);

/*
 * Assemblers pad numbers of expressions with leading zeros; what libdw gives has
 * lost them. Takes them out of our text, whose bytes are the file's.
 */
void exprs_shorten(char *text);

#endif
