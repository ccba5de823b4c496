/* SPDX-License-Identifier: MIT */
/*
 * dwarf_op.h - print DWARF registers and expressions
 */
#ifndef KUNWIND_DWARF_OP_H
#define KUNWIND_DWARF_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Returns the name of a register in 64-bit or 32-bit code; "?" above 16. @reg
 * is the core's number, which is the DWARF number of x86-64 (psABI, figure
 * 3.36) also in 32-bit code.
 */
const char *kunwind_dwarf_reg(bool i386, unsigned int reg);

/*
 * Writes an expression of @len bytes as names and operands, separated by "; ",
 * without the prefix "DW_OP_": "breg7(rsp)+8; deref". Ends with "?" at the
 * first operation that is unknown or cut off. @i386: the expression numbers
 * registers as the i386 psABI does. Source: DWARF 5, 7.7.1.
 */
void kunwind_dwarf_print(FILE *out, bool i386, const uint8_t *expr, size_t len);

#endif /* KUNWIND_DWARF_OP_H */
