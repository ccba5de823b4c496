// SPDX-License-Identifier: MIT
/* text.c - see text.h */
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "../unit/rule-text.h"
#include "../../kmod/core/cfi/bytes.h"
#include "text.h"

/* Returns the size of an operation's operand in bytes, if it is fixed; otherwise 0. */
static size_t operand_size(u8 atom)
{
	switch (atom) {
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_pick: case DW_OP_deref_size:
		return 1;
	case DW_OP_const2u: case DW_OP_const2s: case DW_OP_bra: case DW_OP_skip:
		return 2;
	case DW_OP_const4u: case DW_OP_const4s:
		return 4;
	case DW_OP_const8u: case DW_OP_const8s: case DW_OP_addr:
		return 8;
	}
	return 0;
}

/* Writes the bytes of libdw's operation @op in hexadecimal. */
static char *op_text(char *p, const Dwarf_Op *op)
{
	u8 bytes[32];
	size_t n = 0;
	const size_t size = operand_size(op->atom);
	u64 val;

	bytes[n++] = op->atom;
	switch (op->atom) {
	case DW_OP_constu: case DW_OP_plus_uconst: case DW_OP_regx: case DW_OP_bregx:
	case DW_OP_piece:
		for (val = op->number; val > 0x7f; val >>= 7)
			bytes[n++] = val | 0x80;
		bytes[n++] = val;
		if (op->atom == DW_OP_bregx)
			n += sleb_write(bytes + n, op->number2);
		break;
	case DW_OP_consts: case DW_OP_breg0 ... DW_OP_breg31: case DW_OP_fbreg:
		n += sleb_write(bytes + n, op->number);
		break;
	}
	memcpy(bytes + n, &op->number, size);
	return p + hex_print(p, bytes, n + size);
}

static char *ops_text(char *p, const Dwarf_Op *ops, size_t n)
{
	while (n--)
		p = op_text(p, ops++);
	*p = 0;
	return p;
}

static const u8 *leb_end(const u8 *p, const u8 *end)
{
	while (p < end && *p & 0x80)
		p++;
	return p < end ? p + 1 : end;
}

/* Copies the operation at @p to @out, each number in as few bytes as possible. */
static const u8 *op_shorten(const u8 *p, const u8 *end, u8 **out)
{
	struct kunwind_bytes b;
	Dwarf_Op op = { .atom = *p++ };
	const u8 *after = p;
	char hex[128], *h;
	unsigned int byte;
	const size_t fixed = operand_size(op.atom);

	b = (struct kunwind_bytes){ .at = p, .end = end };
	switch (op.atom) {
	case DW_OP_constu: case DW_OP_plus_uconst: case DW_OP_regx: case DW_OP_bregx:
		op.number = kunwind_bytes_uleb(&b);
		after = leb_end(p, end);
		if (op.atom == DW_OP_bregx) {
			op.number2 = kunwind_bytes_sleb(&b);
			after = leb_end(after, end);
		}
		break;
	case DW_OP_consts: case DW_OP_breg0 ... DW_OP_breg31:
		op.number = kunwind_bytes_sleb(&b);
		after = leb_end(p, end);
		break;
	}
	if (fixed && fixed <= (size_t)(end - p)) {
		memcpy(&op.number, p, fixed);
		after = p + fixed;
	}
	*op_text(hex, &op) = 0;
	for (h = hex; sscanf(h, "%2x", &byte) == 1; h += 2)
		*(*out)++ = byte;
	return after;
}

void exprs_shorten(char *text)
{
	while ((text = strstr(text, "exp:"))) {
		u8 bytes[4096], shorter[4096], *out = shorter;
		char hex[2 * sizeof(shorter) + 1];
		const u8 *p = bytes;
		size_t n = 0, len;
		unsigned int byte;

		text += 4;
		for (len = strspn(text, "0123456789abcdef"); 2 * n < len; n++) {
			sscanf(text + 2 * n, "%2x", &byte);
			bytes[n] = byte;
		}
		while (p < bytes + n)
			p = op_shorten(p, bytes + n, &out);
		n = hex_print(hex, shorter, out - shorter);
		memmove(text + n, text + len, strlen(text + len) + 1);
		memcpy(text, hex, n);
	}
}

/* Returns the name of a register by its number in CFI; NULL: it is not followed. */
static const char *name_of(bool i386, u64 number)
{
	u64 reg = kunwind_reg_of(i386, number);

	return reg >= KUNWIND_NR_REGS ? NULL : i386 ? reg_names_i386[reg] : reg_names[reg];
}

bool cfa_text(bool i386, Dwarf_Frame *frame, char *buf)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return false;
	if (n == 1 && ops[0].atom == DW_OP_bregx && name_of(i386, ops[0].number))
		sprintf(buf, "%s%+d", name_of(i386, ops[0].number), (int)ops[0].number2);
	else
		ops_text(stpcpy(buf, "exp:"), ops, n);
	return true;
}

void column_text(bool i386, Dwarf_Frame *frame, int column, char *buf)
{
	Dwarf_Op mem[3], *ops;
	bool value;
	size_t n;
	s64 off;

	if (dwarf_frame_register(frame, column, mem, &ops, &n)) {
		sprintf(buf, "?%s", dwarf_errmsg(-1));
		return;
	}
	if (!n) {
		strcpy(buf, ops ? "u" : "s");
		return;
	}
	value = ops[n - 1].atom == DW_OP_stack_value;
	n -= value;
	if (n == 1 && ops[0].atom == DW_OP_regx) {
		strcpy(buf, name_of(i386, ops[0].number) ? name_of(i386, ops[0].number) : "u");
		return;
	}
	if (ops == mem && ops[0].atom == DW_OP_call_frame_cfa) {
		off = n > 1 ? (s64)ops[1].number : 0;
		sprintf(buf, "%c%+lld", value ? 'v' : 'c', (long long)off);
		return;
	}
	/* an expression; libdw puts the push of the CFA before it */
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		ops++;
		n--;
	}
	ops_text(stpcpy(buf, value ? "vexp:" : "exp:"), ops, n);
}

void reg_text(bool i386, Dwarf_Frame *frame, int reg, char *buf)
{
	column_text(i386, frame, reg_number(i386, reg), buf);
}

void return_text(bool i386, Dwarf_Frame *frame, int column, char *buf)
{
	column_text(i386, frame, column, buf);
	if (column == (int)reg_number(i386, KUNWIND_RA))
		return;
	/* libdw has one result for "undefined" and for "no rule given" */
	if (!strcmp(buf, "u"))
		strcpy(buf, "?");
	if (!strcmp(buf, "s") && name_of(i386, column))
		strcpy(buf, name_of(i386, column));
}

void ours_text(const struct kunwind_table *table, struct kunwind_rule rule, int reg, char *buf)
{
	const struct kunwind_full_rule_entry *e = NULL;
	const struct kunwind_full_rule *wide;

	if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL) {
		wide = kunwind_table_full_rule(table, rule.off);
		e = wide ? full_rule_find(wide, reg) : NULL;
	}
	if (e)
		*entry_text(table, e, false, buf) = 0;
	else
		strcpy(buf, reg == KUNWIND_RSP ? "v+0" : "s");
}
