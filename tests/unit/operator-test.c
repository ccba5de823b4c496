/* SPDX-License-Identifier: MIT */
/*
 * operator-test.c - each operator of DWARF expressions at the limits of its
 * operands, in 64-bit code and in 32-bit code (DWARF 5, 2.5.1.4 says which
 * operators are signed)
 */
#include "../../kmod/core/walk/expr_eval.h"
#include "tap.h"

#define MIN64	0x8000000000000000ULL
#define FAILS	0xfa115fa115fa115ULL	/* the evaluation fails */

static const struct {
	const char *name;
	u8 op;
	u64 a, b;
	u64 want, want32;	/* in 32-bit code, the operands are the low halves */
} cases[] = {
	{ "and", KUNWIND_OP_AND, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0x0f000f000f000f00, 0x0f000f00 },
	{ "or", KUNWIND_OP_OR, 0xf0, 0x0f, 0xff, 0xff },
	{ "xor", KUNWIND_OP_XOR, ~0ULL, 0x0f, ~0x0fULL, 0xfffffff0 },
	{ "plus, wraps", KUNWIND_OP_PLUS, ~0ULL, 2, 1, 1 },
	{ "plus, wraps at 2^32", KUNWIND_OP_PLUS, 0xffffffff, 2, 0x100000001, 1 },
	{ "minus", KUNWIND_OP_MINUS, 3, 5, -2ULL, 0xfffffffe },
	{ "mul", KUNWIND_OP_MUL, 0x100000000, 3, 0x300000000, 0 },
	{ "mul of negative numbers", KUNWIND_OP_MUL, -3ULL, -5ULL, 15, 15 },
	{ "div", KUNWIND_OP_DIV, 7, 2, 3, 3 },
	{ "div of a negative number", KUNWIND_OP_DIV, -7ULL, 2, -3ULL, 0xfffffffd },
	{ "div by a negative number", KUNWIND_OP_DIV, 7, -2ULL, -3ULL, 0xfffffffd },
	{ "div of the smallest by -1", KUNWIND_OP_DIV, MIN64, ~0ULL, MIN64, 0 },
	{ "div of the smallest of 32 bits by -1", KUNWIND_OP_DIV, 0x80000000, ~0ULL, -0x80000000ULL,
	  0x80000000 },
	{ "div by zero", KUNWIND_OP_DIV, 7, 0, FAILS, FAILS },
	{ "mod", KUNWIND_OP_MOD, 7, 4, 3, 3 },
	{ "mod is unsigned", KUNWIND_OP_MOD, -1ULL, 10, 5, 5 },
	{ "mod by a number above the sign bit", KUNWIND_OP_MOD, 7, -2ULL, 7, 7 },
	{ "mod by minus one", KUNWIND_OP_MOD, 7, -1ULL, 7, 7 },
	{ "mod by zero", KUNWIND_OP_MOD, 7, 0, FAILS, FAILS },
	{ "shl", KUNWIND_OP_SHL, 3, 33, 0x600000000, 0 },
	{ "shl by 31", KUNWIND_OP_SHL, 3, 31, 0x180000000, 0x80000000 },
	{ "shl by 63", KUNWIND_OP_SHL, 3, 63, MIN64, 0 },
	{ "shl by 64", KUNWIND_OP_SHL, 3, 64, 0, 0 },
	{ "shl by 65", KUNWIND_OP_SHL, 3, 65, 0, 0 },
	{ "shl by a negative number", KUNWIND_OP_SHL, 3, -1ULL, 0, 0 },
	{ "shr", KUNWIND_OP_SHR, 0xf0, 4, 0xf, 0xf },
	{ "shr is unsigned", KUNWIND_OP_SHR, -16ULL, 4, 0x0fffffffffffffff, 0x0fffffff },
	{ "shr by 63", KUNWIND_OP_SHR, MIN64, 63, 1, 0 },
	{ "shr by 64", KUNWIND_OP_SHR, -1ULL, 64, 0, 0 },
	{ "shra", KUNWIND_OP_SHRA, 0xf0, 4, 0xf, 0xf },
	{ "shra keeps the sign", KUNWIND_OP_SHRA, -16ULL, 3, -2ULL, 0xfffffffe },
	{ "shra by 64 keeps the sign", KUNWIND_OP_SHRA, -16ULL, 64, -1ULL, 0xffffffff },
	{ "shra by 1000", KUNWIND_OP_SHRA, 16, 1000, 0, 0 },
	{ "eq", KUNWIND_OP_EQ, 5, 5, 1, 1 },
	{ "eq of different numbers", KUNWIND_OP_EQ, 5, 6, 0, 0 },
	{ "eq of equal low halves", KUNWIND_OP_EQ, 0x100000005, 5, 0, 1 },
	{ "ne", KUNWIND_OP_NE, 5, 6, 1, 1 },
	{ "ne of equal numbers", KUNWIND_OP_NE, 5, 5, 0, 0 },
	{ "ge", KUNWIND_OP_GE, 5, 5, 1, 1 },
	{ "ge is signed", KUNWIND_OP_GE, -1ULL, 1, 0, 0 },
	{ "gt", KUNWIND_OP_GT, 5, 5, 0, 0 },
	{ "gt is signed", KUNWIND_OP_GT, 1, -1ULL, 1, 1 },
	{ "le", KUNWIND_OP_LE, 5, 5, 1, 1 },
	{ "le is signed", KUNWIND_OP_LE, -1ULL, 1, 1, 1 },
	{ "lt", KUNWIND_OP_LT, 5, 5, 0, 0 },
	{ "lt is signed", KUNWIND_OP_LT, -1ULL, 1, 1, 1 },
	{ "lt of a number with bit 31 set", KUNWIND_OP_LT, 0x80000000, 1, 0, 1 },
};

static u64 evaluate(u8 op, u64 a, u64 b, bool i386)
{
	u8 expr[19] = { KUNWIND_OP_CONST8U };
	struct kunwind_mem mem = { };
	struct kunwind_regs regs = { };
	u64 result;

	memcpy(expr + 1, &a, 8);
	expr[9] = KUNWIND_OP_CONST8U;
	memcpy(expr + 10, &b, 8);
	expr[18] = op;
	return kunwind_expr_eval(&mem, expr, sizeof(expr), &regs, NULL, i386, &result) ==
	       KUNWIND_COMPLETE ? result : FAILS;
}

/* Evaluates an expression in hexadecimal. Returns its result, or FAILS. */
static u64 runs(const char *hex, bool i386)
{
	struct kunwind_mem mem = { };
	struct kunwind_regs regs = { };
	u8 expr[64];
	size_t len = 0;
	u64 result;

	for (; *hex; hex += 2 + (hex[2] == ' '))
		sscanf(hex, "%2hhx", &expr[len++]);
	return kunwind_expr_eval(&mem, expr, len, &regs, NULL, i386, &result) == KUNWIND_COMPLETE ?
	       result : FAILS;
}

/* The check of the expression must report this shape and offset. */
static void shape_is(const char *name, const char *hex, bool initial, bool i386, u8 shape, s32 off)
{
	struct kunwind_expr_info info;
	u8 expr[64];
	size_t len = 0;

	for (; *hex; hex += 2 + (hex[2] == ' '))
		sscanf(hex, "%2hhx", &expr[len++]);
	tap_ok(!kunwind_expr_check(expr, len, initial, i386, &info) && !info.unknown &&
	       info.shape == shape && (shape == KUNWIND_EXPR_ANY || info.off == off),
	       "shape: %s", name);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 got = evaluate(cases[i].op, cases[i].a, cases[i].b, false);
		u64 got32 = evaluate(cases[i].op, cases[i].a, cases[i].b, true);

		if (!tap_ok(got == cases[i].want && got32 == cases[i].want32,
			    "operator: %s", cases[i].name))
			printf("# %#llx, and in 32-bit code %#llx\n", (unsigned long long)got,
			       (unsigned long long)got32);
	}
	/* 2^16 * 2^16 is 0 in 32 bits; pick of a number below the stack */
	tap_ok(runs("0c 00 00 01 00 12 1e 30 29", false) == 0 &&
	       runs("0c 00 00 01 00 12 1e 30 29", true) == 1,
	       "a product on the stack has 32 bits in 32-bit code");
	tap_ok(runs("31 15 01", false) == FAILS && runs("31 15 00", false) == 1,
	       "pick below the bottom of the stack fails");
	tap_ok(runs("31 14", false) == FAILS && runs("31 16", false) == FAILS &&
	       runs("31 32 17", false) == FAILS,
	       "over, swap and rot with too few numbers fail");
	tap_ok(runs("32 33 14", false) == 2 && runs("31 32 33 17", false) == 2 &&
	       runs("32 33 16", false) == 2,
	       "over, rot and swap move the right numbers");
	shape_is("deref", "76 78 06", false, false, KUNWIND_EXPR_DEREF, -8 * 256);
	shape_is("deref with the greatest offset", "76 ff ff ff 03 06", false, false,
		 KUNWIND_EXPR_DEREF, 0x7fffff00);
	shape_is("deref with the least offset", "76 80 80 80 7c 06", false, false,
		 KUNWIND_EXPR_DEREF, -0x7fffffff - 1);
	shape_is("deref with an offset that is too small has no shape",
		 "76 ff ff ff 7b 06", false, false, KUNWIND_EXPR_ANY, 0);
	shape_is("deref with an offset that is too great has no shape",
		 "76 80 80 80 04 06", false, false, KUNWIND_EXPR_ANY, 0);
	shape_is("deref and another operator have no shape",
		 "76 78 06 96", false, false, KUNWIND_EXPR_ANY, 0);
	shape_is("deref and an addition", "76 78 06 23 f8 0f", false, false,
		 KUNWIND_EXPR_DEREF, -8 * 256 + 255);
	shape_is("deref and a number that is too great",
		 "76 78 06 23 80 10", false, false, KUNWIND_EXPR_ANY, 0);
	shape_is("deref and a number that is no multiple of a word",
		 "76 78 06 23 0c", false, false, KUNWIND_EXPR_ANY, 0);
	shape_is("deref and two additions", "76 78 06 23 08 23 08", false, false, KUNWIND_EXPR_ANY, 0);
	shape_is("deref and an addition in 32-bit code",
		 "75 78 06 23 08", false, true, KUNWIND_EXPR_ANY, 0);
	shape_is("PLT", "77 08 80 00 3f 1a 3b 2a 33 24 22", false, false, KUNWIND_EXPR_PLT, 11);
	return tap_done();
}
