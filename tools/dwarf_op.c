// SPDX-License-Identifier: MIT
/*
 * dwarf_op.c - print DWARF registers and expressions, for people and scripts
 *
 * A table has the name of each operation and the form of its operand, except
 * for the numbered families (lit0 to lit31, reg, breg). It has only the
 * operations that the unwinder's core accepts, because no unwind table has
 * others.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "dwarf_op.h"
#include "x86/i386.h"

/*
 * Forms of operands: a digit is the size in bytes, s: signed; u, l: unsigned,
 * signed LEB128; J: two bytes, the signed distance of a branch.
 */
static const struct op {
	uint8_t code;
	const char *name;
	const char *form;
} ops[] = {
	{ 0x06, "deref", "" },		{ 0x08, "const1u", "1" },	{ 0x09, "const1s", "1s" },
	{ 0x0a, "const2u", "2" },	{ 0x0b, "const2s", "2s" },	{ 0x0c, "const4u", "4" },
	{ 0x0d, "const4s", "4s" },	{ 0x0e, "const8u", "8" },	{ 0x0f, "const8s", "8s" },
	{ 0x10, "constu", "u" },	{ 0x11, "consts", "l" },	{ 0x12, "dup", "" },
	{ 0x13, "drop", "" },		{ 0x14, "over", "" },		{ 0x15, "pick", "1" },
	{ 0x16, "swap", "" },		{ 0x17, "rot", "" },		{ 0x19, "abs", "" },
	{ 0x1a, "and", "" },		{ 0x1b, "div", "" },		{ 0x1c, "minus", "" },
	{ 0x1d, "mod", "" },		{ 0x1e, "mul", "" },		{ 0x1f, "neg", "" },
	{ 0x20, "not", "" },		{ 0x21, "or", "" },		{ 0x22, "plus", "" },
	{ 0x23, "plus_uconst", "u" },	{ 0x24, "shl", "" },		{ 0x25, "shr", "" },
	{ 0x26, "shra", "" },		{ 0x27, "xor", "" },		{ 0x28, "bra", "J" },
	{ 0x29, "eq", "" },		{ 0x2a, "ge", "" },		{ 0x2b, "gt", "" },
	{ 0x2c, "le", "" },		{ 0x2d, "lt", "" },		{ 0x2e, "ne", "" },
	{ 0x2f, "skip", "J" },		{ 0x90, "regx", "u" },		{ 0x94, "deref_size", "1" },
	{ 0x96, "nop", "" },		{ 0x9c, "call_frame_cfa", "" },
};

struct op_cursor {
	const uint8_t *at, *end;
	bool bad;
};

/* Reads an operand of @size bytes. Sets c->bad if it is cut off. */
static uint64_t fixed(struct op_cursor *c, unsigned int size, bool is_signed)
{
	uint64_t value = 0;

	if (size > 8 || (size_t)(c->end - c->at) < size) {
		c->bad = true;
		return 0;
	}
	memcpy(&value, c->at, size);
	c->at += size;
	if (is_signed && size < 8 && value >> (8 * size - 1))
		value |= ~0ULL << (8 * size);
	return value;
}

static uint64_t leb128(struct op_cursor *c, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)fixed(c, 1, false);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->bad);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~0ULL << shift;
	return value;
}

/* 32-bit code has the first eight registers and ra. */
const char *kunwind_dwarf_reg(bool i386, unsigned int reg)
{
	static const char *const name[] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra",
	};
	static const char *const name32[] = {
		"eax", "edx", "ecx", "ebx", "esi", "edi", "ebp", "esp",
	};

	if (reg >= sizeof(name) / sizeof(name[0]))
		return "?";
	return i386 && reg < sizeof(name32) / sizeof(name32[0]) ? name32[reg] : name[reg];
}

/* Returns the name of a register by its number in an expression. */
static const char *operand_reg(bool i386, uint64_t number)
{
	if (number == KUNWIND_FS_BASE && !i386)
		return "fs.base";
	return kunwind_dwarf_reg(i386, (unsigned int)kunwind_reg_of(i386, number > 99 ? 99 : number));
}

static void print_op(FILE *out, const struct op *op, struct op_cursor *c)
{
	int64_t value;

	fputs(op->name, out);
	switch (op->form[0]) {
	case '\0':
		return;
	case 'u':
		fprintf(out, " %" PRIu64, leb128(c, false));
		return;
	case 'l':
		fprintf(out, " %" PRId64, (int64_t)leb128(c, true));
		return;
	case 'J':
		fprintf(out, " %+d", (int)fixed(c, 2, true));
		return;
	default:
		value = (int64_t)fixed(c, (unsigned int)(op->form[0] - '0'), op->form[1] == 's');
		if (op->form[1] == 's')
			fprintf(out, " %" PRId64, value);
		else
			fprintf(out, " %" PRIu64, (uint64_t)value);
	}
}

void kunwind_dwarf_print(FILE *out, bool i386, const uint8_t *expr, size_t len)
{
	struct op_cursor c = { expr, expr + len, false };
	const char *separator = "";
	uint64_t reg;
	size_t i;

	while (c.at < c.end && !c.bad) {
		uint8_t code = *c.at++;

		fputs(separator, out);
		separator = "; ";
		if (code >= 0x30 && code <= 0x4f) {
			fprintf(out, "lit%d", code - 0x30);
			continue;
		}
		if (code >= 0x50 && code <= 0x6f) {
			fprintf(out, "reg%d(%s)", code - 0x50, operand_reg(i386, code - 0x50));
			continue;
		}
		if ((code >= 0x70 && code <= 0x8f) || code == 0x92) {
			reg = code == 0x92 ? leb128(&c, false) : (uint64_t)code - 0x70;
			fprintf(out, "breg%" PRIu64 "(%s)%+" PRId64, reg,
				operand_reg(i386, reg),
				(int64_t)leb128(&c, true));
			continue;
		}
		for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
			if (ops[i].code == code)
				break;
		if (i == sizeof(ops) / sizeof(ops[0]))
			c.bad = true;
		else
			print_op(out, &ops[i], &c);
	}
	if (c.bad)
		fputs("?", out);
}
