/* SPDX-License-Identifier: MIT */
/*
 * dwarf_op.h - DWARF registers and expressions as text
 */
#ifndef KUNWIND_DWARF_OP_H
#define KUNWIND_DWARF_OP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Name of an x86-64 register by its DWARF number (psABI, figure 3.36); "?" above 16. */
const char *kunwind_dwarf_reg(unsigned int reg);

/*
 * Writes an expression of @len bytes as names and operands, separated by "; ",
 * without the common "DW_OP_": "breg7(rsp)+8; deref". What is cut off or
 * unknown ends it with "?". Source: DWARF 5, 7.7.1.
 */
void kunwind_dwarf_print(FILE *out, const uint8_t *expr, size_t len);

#endif /* KUNWIND_DWARF_OP_H */
