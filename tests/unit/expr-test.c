/* SPDX-License-Identifier: MIT */
/*
 * expr-test.c - DWARF expressions: which are accepted, and their results
 *
 * Memory is one buffer of 64 bytes at MEM; byte n of it is n. Registers: rsp =
 * MEM, rip = 0x12345678, rbx = 7; rbp is not known. The CFA is 0xcfa.
 */
#include "eh.h"
#include "../../kmod/core/walk/expr_eval.h"
#include "tap.h"

#define MEM	0x7000ULL
#define CFA	0xcfaULL
#define FS	0xf5f5ULL

/* Results of the check: contradictory; or legal, but not supported here. */
#define REFUSED	(-1)
#define UNKNOWN	(-2)

struct expr_case {
	const char *name, *hex;
	bool initial;		/* the CFA is pushed first */
	int want;		/* enum kunwind_reason, REFUSED or UNKNOWN */
	u64 result;
};

static const struct expr_case cases[] = {
	{ "lit0", "30", false, KUNWIND_COMPLETE, 0 },
	{ "lit31", "4f", false, KUNWIND_COMPLETE, 31 },
	{ "const1u", "08 ff", false, KUNWIND_COMPLETE, 255 },
	{ "const1s", "09 ff", false, KUNWIND_COMPLETE, -1ULL },
	{ "const2u", "0a 34 92", false, KUNWIND_COMPLETE, 0x9234 },
	{ "const2s", "0b 34 92", false, KUNWIND_COMPLETE, 0xffffffffffff9234 },
	{ "const4u", "0c 78 56 34 92", false, KUNWIND_COMPLETE, 0x92345678 },
	{ "const4s", "0d 78 56 34 92", false, KUNWIND_COMPLETE, 0xffffffff92345678 },
	{ "const8u", "0e 08 07 06 05 04 03 02 91", false, KUNWIND_COMPLETE, 0x9102030405060708 },
	{ "const8s", "0f 08 07 06 05 04 03 02 91", false, KUNWIND_COMPLETE, 0x9102030405060708 },
	{ "constu", "10 e5 8e 26", false, KUNWIND_COMPLETE, 624485 },
	{ "consts", "11 c0 bb 78", false, KUNWIND_COMPLETE, -123456ULL },
	{ "the CFA", "", true, KUNWIND_COMPLETE, CFA },
	{ "call_frame_cfa", "9c 22", true, KUNWIND_COMPLETE, 2 * CFA },
	{ "call_frame_cfa in the expression of the CFA", "9c", false, REFUSED, 0 },
	{ "reg3", "53", false, KUNWIND_COMPLETE, 7 },
	{ "regx 3", "90 03", false, KUNWIND_COMPLETE, 7 },
	{ "breg3 -8", "73 78", false, KUNWIND_COMPLETE, -1ULL },
	{ "breg16 0", "80 00", false, KUNWIND_COMPLETE, 0x12345678 },
	{ "bregx 3 1", "92 03 01", false, KUNWIND_COMPLETE, 8 },
	{ "breg6, a register that is not known", "76 08", false, KUNWIND_REG_UNKNOWN, 0 },
	{ "reg17", "61", false, UNKNOWN, 0 },
	{ "breg31", "8f 00", false, UNKNOWN, 0 },
	{ "bregx 17", "92 11 00", false, UNKNOWN, 0 },
	{ "bregx 58, the base of fs", "92 3a 78", false, KUNWIND_COMPLETE, FS - 8 },
	{ "regx 58", "90 3a", false, KUNWIND_COMPLETE, FS },
	{ "bregx 59, the base of gs", "92 3b 00", false, UNKNOWN, 0 },
	{ "bregx 2^32 + 3", "92 83 80 80 80 10 00", false, UNKNOWN, 0 },
	{ "deref", "77 08 06", false, KUNWIND_COMPLETE, 0x0f0e0d0c0b0a0908 },
	{ "deref of the last 8 bytes", "77 38 06", false, KUNWIND_COMPLETE, 0x3f3e3d3c3b3a3938 },
	{ "deref across the end", "77 39 06", false, KUNWIND_UNREADABLE, 0 },
	{ "deref below", "77 7f 06", false, KUNWIND_UNREADABLE, 0 },
	{ "deref of 2^64 - 1", "09 ff 06", false, KUNWIND_UNREADABLE, 0 },
	{ "deref_size 1", "77 3f 94 01", false, KUNWIND_COMPLETE, 0x3f },
	{ "deref_size 2", "77 3e 94 02", false, KUNWIND_COMPLETE, 0x3f3e },
	{ "deref_size 4", "77 3c 94 04", false, KUNWIND_COMPLETE, 0x3f3e3d3c },
	{ "deref_size 4, unaligned", "77 06 94 04", false, KUNWIND_COMPLETE, 0x09080706 },
	{ "deref_size 8", "77 01 94 08", false, KUNWIND_COMPLETE, 0x0807060504030201 },
	{ "deref_size 4 across the end", "77 3d 94 04", false, KUNWIND_UNREADABLE, 0 },
	{ "deref_size 3", "77 00 94 03", false, UNKNOWN, 0 },
	{ "deref_size 9", "77 00 94 09", false, REFUSED, 0 },
	{ "deref_size 0", "77 00 94 00", false, REFUSED, 0 },
	{ "dup", "35 12 1e", false, KUNWIND_COMPLETE, 25 },
	{ "drop", "35 36 13", false, KUNWIND_COMPLETE, 5 },
	{ "over", "35 36 14", false, KUNWIND_COMPLETE, 5 },
	{ "pick 2", "35 36 37 15 02", false, KUNWIND_COMPLETE, 5 },
	{ "pick 0", "35 36 37 15 00", false, KUNWIND_COMPLETE, 7 },
	{ "pick 3 of three numbers", "35 36 37 15 03", false, REFUSED, 0 },
	{ "swap", "35 36 16 1c", false, KUNWIND_COMPLETE, 1 },
	{ "rot: the third number", "31 32 33 17 13 13", false, KUNWIND_COMPLETE, 3 },
	{ "rot: the top number", "31 32 33 17", false, KUNWIND_COMPLETE, 2 },
	{ "abs", "09 f6 19", false, KUNWIND_COMPLETE, 10 },
	{ "neg", "35 1f", false, KUNWIND_COMPLETE, -5ULL },
	{ "not", "30 20", false, KUNWIND_COMPLETE, -1ULL },
	{ "and", "3c 3a 1a", false, KUNWIND_COMPLETE, 8 },
	{ "or", "3c 33 21", false, KUNWIND_COMPLETE, 15 },
	{ "xor", "3c 3a 27", false, KUNWIND_COMPLETE, 6 },
	{ "plus", "35 36 22", false, KUNWIND_COMPLETE, 11 },
	{ "minus", "35 36 1c", false, KUNWIND_COMPLETE, -1ULL },
	{ "mul", "35 36 1e", false, KUNWIND_COMPLETE, 30 },
	{ "div, signed", "09 f7 32 1b", false, KUNWIND_COMPLETE, -4ULL },
	{ "div by 0", "35 30 1b", false, KUNWIND_CORRUPT, 0 },
	{ "div of the smallest number by -1", "0f 00 00 00 00 00 00 00 80 09 ff 1b", false,
	  KUNWIND_COMPLETE, 1ULL << 63 },
	{ "mod", "3b 34 1d", false, KUNWIND_COMPLETE, 3 },
	{ "mod by 0", "35 30 1d", false, KUNWIND_CORRUPT, 0 },
	{ "plus_uconst", "35 23 80 01", false, KUNWIND_COMPLETE, 133 },
	{ "shl", "33 34 24", false, KUNWIND_COMPLETE, 48 },
	{ "shl by 64", "33 08 40 24", false, KUNWIND_COMPLETE, 0 },
	{ "shr", "09 ff 08 3c 25", false, KUNWIND_COMPLETE, 15 },
	{ "shr by 2^64 - 1", "35 09 ff 25", false, KUNWIND_COMPLETE, 0 },
	{ "shra", "09 f0 32 26", false, KUNWIND_COMPLETE, -4ULL },
	{ "shra by 200", "09 f0 08 c8 26", false, KUNWIND_COMPLETE, -1ULL },
	{ "eq", "35 35 29", false, KUNWIND_COMPLETE, 1 },
	{ "ne", "35 35 2e", false, KUNWIND_COMPLETE, 0 },
	{ "ge, signed", "30 09 ff 2a", false, KUNWIND_COMPLETE, 1 },
	{ "gt", "35 35 2b", false, KUNWIND_COMPLETE, 0 },
	{ "le", "35 35 2c", false, KUNWIND_COMPLETE, 1 },
	{ "lt, signed", "09 ff 30 2d", false, KUNWIND_COMPLETE, 1 },
	{ "nop", "35 96", false, KUNWIND_COMPLETE, 5 },
	{ "bra taken", "35 31 28 01 00 20", false, KUNWIND_COMPLETE, 5 },
	{ "bra not taken", "35 30 28 01 00 20", false, KUNWIND_COMPLETE, -6ULL },
	{ "skip to the end", "35 2f 00 00", false, KUNWIND_COMPLETE, 5 },
	/* if (rbx) 1 else 2: breg3 0; bra +4; lit2; skip +1; lit1 */
	{ "bra and skip, both arms", "73 00 28 04 00 32 2f 01 00 31", false, KUNWIND_COMPLETE, 1 },
	{ "PLT, at byte 8", "77 08 80 00 3f 1a 3b 2a 33 24 22", false, KUNWIND_COMPLETE, MEM + 8 },
	{ "branch backwards", "35 2f fd ff", false, UNKNOWN, 0 },
	{ "branch to itself", "35 12 28 fc ff", false, UNKNOWN, 0 },
	{ "branch before the beginning", "35 2f fb ff", false, REFUSED, 0 },
	{ "branch past the end", "35 2f 01 00", false, REFUSED, 0 },
	{ "branch into an operand", "35 31 28 01 00 08 96", false, REFUSED, 0 },
	{ "branch to another depth", "35 31 28 01 00 12", false, UNKNOWN, 0 },
	{ "operations that no path reaches", "35 2f 01 00 20", false, UNKNOWN, 0 },
	{ "bra with an empty stack", "28 00 00", false, REFUSED, 0 },
	{ "empty stack at the end", "35 13", false, REFUSED, 0 },
	{ "empty expression", "", false, REFUSED, 0 },
	{ "plus with one number", "35 22", false, REFUSED, 0 },
	{ "rot of two numbers", "35 35 17", false, REFUSED, 0 },
	{ "operand cut off", "0c 01 02 03", false, REFUSED, 0 },
	{ "LEB128 cut off", "10 80", false, REFUSED, 0 },
	{ "LEB128 of more than 64 bits", "10 ff ff ff ff ff ff ff ff ff 02", false, REFUSED, 0 },
	{ "addr", "03 00 00 00 00 00 00 00 00", false, UNKNOWN, 0 },
	{ "fbreg", "91 00", false, UNKNOWN, 0 },
	{ "xderef", "30 30 18", false, UNKNOWN, 0 },
	{ "piece", "30 93 08", false, UNKNOWN, 0 },
	{ "call2", "30 98 00 00", false, UNKNOWN, 0 },
	{ "stack_value", "30 9f", false, UNKNOWN, 0 },
	{ "entry_value", "a3 01 55", false, UNKNOWN, 0 },
	{ "undefined operation", "30 05", false, REFUSED, 0 },
	{ "reg17, then a contradiction", "61 22", false, UNKNOWN, 0 },
	{ "a contradiction, then reg17", "22 61", false, REFUSED, 0 },
	{ "bregx 17 cut off", "92 11", false, REFUSED, 0 },
	{ "GNU_push_tls_address", "30 e0", false, UNKNOWN, 0 },
};

static u8 memory[64] __attribute__((__aligned__(8)));

static struct kunwind_regs regs = {
	.r = { [KUNWIND_RSP] = MEM, [KUNWIND_RA] = 0x12345678, [KUNWIND_RBX] = 7 },
	.valid = KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RBX),
};

static int evaluate(const u8 *expr, u16 len, bool initial, u64 *result)
{
	struct kunwind_mem mem = {
		.lo = MEM, .hi = MEM + sizeof(memory), .delta = (uintptr_t)memory - MEM, .fs = FS,
	};
	u64 cfa = CFA;

	return kunwind_expr_eval(&mem, expr, len, &regs, initial ? &cfa : NULL, false, result);
}

static void test_cases(void)
{
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct expr_case *c = &cases[i];
		struct kunwind_expr_info info;
		u64 result = 0;
		int got = REFUSED;
		u8 *expr;

		eh.size = 0;
		eh_hex(&eh, c->hex);
		expr = malloc(eh.size + !eh.size);
		memcpy(expr, eh.data, eh.size);
		if (!kunwind_expr_check(expr, eh.size, c->initial, false, &info))
			got = info.unknown ? UNKNOWN :
			      evaluate(expr, eh.size, c->initial, &result);
		if (!tap_ok(got == c->want && result == c->result, "%s", c->name))
			printf("# got %d, 0x%llx\n", got, (unsigned long long)result);
		free(expr);
	}
}

static void test_bounds(void)
{
	struct kunwind_expr_info info;
	u8 expr[KUNWIND_EXPR_MAX_LEN + 1];
	u64 result;

	memset(expr, 0x35, sizeof(expr));
	tap_ok(!kunwind_expr_check(expr, 32, false, false, &info) && !info.unknown,
	       "limit: 32 numbers on the stack are accepted");
	tap_ok(!kunwind_expr_check(expr, 33, false, false, &info) && info.unknown,
	       "limit: 33 numbers on the stack are not supported");
	tap_ok(!kunwind_expr_check(expr, 32, true, false, &info) && info.unknown,
	       "limit: 32 numbers above the CFA are not supported");
	tap_ok(evaluate(expr, 33, false, &result) == KUNWIND_CORRUPT,
	       "limit: the evaluator refuses 33 numbers that were not checked");
	memset(expr + 1, 0x96, sizeof(expr) - 1);
	tap_ok(!kunwind_expr_check(expr, 256, false, false, &info) && !info.unknown,
	       "limit: 256 bytes are accepted");
	tap_ok(!kunwind_expr_check(expr, 257, false, false, &info) && info.unknown,
	       "limit: 257 bytes are not supported");
	/* lit5; then 8 or 9 branches to the end, each after a literal */
	{
		u8 bra[1 + 9 * 4];
		int n, i;

		for (n = 8; n <= 9; n++) {
			bra[0] = 0x35;
			for (i = 0; i < n; i++) {
				u8 *p = bra + 1 + 4 * i;

				p[0] = 0x31;
				p[1] = 0x28;
				p[2] = 4 * (n - 1 - i);
				p[3] = 0;
			}
			tap_ok(!kunwind_expr_check(bra, 1 + 4 * n, false, false, &info) &&
			       info.unknown == (n == 9), "limit: %d branches to one place", n);
		}
	}
}

static void test_shapes(void)
{
	static struct eh eh;
	struct kunwind_expr_info info;

	eh_hex(&eh, "76 78 06");
	tap_ok(!kunwind_expr_check(eh.data, eh.size, false, false, &info) &&
	       info.shape == KUNWIND_EXPR_DEREF && info.reg == KUNWIND_RBP && info.off == -8 * 256 &&
	       info.regs == KUNWIND_REG(KUNWIND_RBP), "shape: *(rbp - 8)");
	tap_ok(!kunwind_expr_check(eh.data, eh.size, true, false, &info) &&
	       info.shape == KUNWIND_EXPR_ANY, "shape: none if the CFA is pushed first");
	eh.size = 0;
	eh_hex(&eh, "77 08 80 00 3f 1a 3a 2a 33 24 22");
	tap_ok(!kunwind_expr_check(eh.data, eh.size, false, false, &info) &&
	       info.shape == KUNWIND_EXPR_PLT && info.off == 10 &&
	       info.regs == (KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA)), "shape: PLT with 10");
	eh.data[1] = 16;
	tap_ok(!kunwind_expr_check(eh.data, eh.size, false, false, &info) &&
	       info.shape == KUNWIND_EXPR_ANY, "shape: none for almost a PLT");
}

/* A damaged table may have an expression that was not checked: the evaluator checks the depth, too. */
static void test_unchecked(void)
{
	static const char *const too_few[] = {
		"", "12", "35 14", "15 00", "13", "35 16", "35 35 17", "06", "94 01", "19", "1f", "20",
		"23 01", "28 00 00", "35 22", "35 1b", "9c",
	};
	static struct eh eh;
	unsigned int i;
	u64 result;

	for (i = 0; i < ARRAY_SIZE(too_few); i++) {
		eh.size = 0;
		eh_hex(&eh, too_few[i]);
		tap_ok(evaluate(eh.data, eh.size, false, &result) == KUNWIND_CORRUPT,
		       "not checked: the evaluator refuses \"%s\", which has too few numbers", too_few[i]);
	}
}

/* An accepted expression may evaluate to "corrupt" only by a division. */
static void test_random(void)
{
	u32 accepted = 0, corrupt = 0, i, n;
	u64 x = 88172645463325252ULL;
	bool divides;

	for (i = 0; i < 2000000; i++) {
		struct kunwind_expr_info info;
		u8 expr[8], len;
		u64 result;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(expr, &x, 8);
		len = expr[0] % 8;
		divides = false;
		for (n = 0; n < len; n++) {
			/* most bytes are not operations without operands */
			if (expr[1 + n] & 0x80)
				expr[1 + n] = 0x10 + (expr[1 + n] & 0x3f);
			divides |= expr[1 + n] == 0x1b || expr[1 + n] == 0x1d;
		}
		if (kunwind_expr_check(expr + 1, len, i & 1, false, &info) || info.unknown)
			continue;
		accepted++;
		if (evaluate(expr + 1, len, i & 1, &result) == KUNWIND_CORRUPT && !divides)
			corrupt++;
	}
	tap_ok(accepted > 1000 && !corrupt, "random expressions: %s of the accepted ones is corrupt",
	       corrupt ? "some" : "none");
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(memory); i++)
		memory[i] = i;
	test_cases();
	test_bounds();
	test_shapes();
	test_unchecked();
	test_random();
	return tap_done();
}
