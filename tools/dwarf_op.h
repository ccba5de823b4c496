/* SPDX-License-Identifier: MIT */
/*
 * dwarf_op.h - DWARF registers and expressions as text
 */
#ifndef KUNWIND_DWARF_OP_H
#define KUNWIND_DWARF_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Name of a register by the core's number, which is the DWARF number of x86-64
 * (psABI, figure 3.36), as 64-bit or 32-bit code has it; "?" above 16.
 */
const char *kunwind_dwarf_reg(bool i386, unsigned int reg);

/*
 * Writes an expression of @len bytes as names and operands, separated by "; ",
 * without the common "DW_OP_": "breg7(rsp)+8; deref". What is cut off or
 * unknown ends it with "?". Source: DWARF 5, 7.7.1. @i386: its registers' numbers are
 * those of the i386 psABI.
 */
void kunwind_dwarf_print(FILE *out, bool i386, const uint8_t *expr, size_t len);

#endif /* KUNWIND_DWARF_OP_H */
