/* SPDX-License-Identifier: MIT */
/*
 * go-switch-test.c - rows of Go's assembler while it runs on another stack: the value of
 * each expression in a made thread
 *
 * Memory begins at MEM. The code of runtime.morestack and its callers is there, too. The
 * structures have the offsets of Go 1.19.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/core/rows/go_switch.h"
#include "../../kmod/core/walk/expr_eval.h"
#include "tap.h"

#define MEM	0x7000ULL
#define FS	(MEM + 0x100)	/* base of fs; g is at -8 */
#define GOT	(MEM + 0x80)	/* -8 as a word */
#define G0	(MEM + 0x200)
#define M	(MEM + 0x300)
#define CURG	(MEM + 0x400)
#define OLD	(MEM + 0x600)	/* the goroutine's rsp */
#define RSP	(MEM + 0x700)	/* the thread's own */
#define CODE	(MEM + 0x800)	/* of runtime.morestack */
#define CALLER	(MEM + 0xc00)	/* calls it */

static u8 memory[0x1000] __attribute__((__aligned__(8)));

static void set(u64 at, u64 val)
{
	memcpy(memory + (at - MEM), &val, sizeof(val));
}

static void fill(void)
{
	memset(memory, 0, sizeof(memory));
	set(FS - 8, G0);
	set(GOT, -8ULL);
	set(G0 + 48, M);
	set(M, G0);
	set(M + 192, CURG);
	set(CURG + 8, OLD + 0x40);	/* stack.hi */
	set(CURG + 56, OLD);
	set(CURG + 64, CALLER + 5);
	set(CURG + 104, 0xb9);
	set(RSP, MEM + 0x500);
	set(RSP + 8, 0x50);
	set(RSP + 40, 0x20);
	set(RSP + 48, CURG);
}

static u32 code_of(u8 *code, const char *hex)
{
	unsigned int byte;
	u32 len = 0;

	for (; *hex; hex++)
		if (*hex != ' ' && sscanf(hex, "%2x", &byte) == 1)
			code[len++] = byte, hex++;
	return len;
}

/* Evaluates an expression at @rip, as the walk does. Returns a name of the result, or a number. */
static const char *value(const struct kunwind_written_expr *e, u64 rip, bool initial)
{
	static char texts[3][32], *text;
	static unsigned int turn;
	struct kunwind_mem mem = {
		.lo = MEM, .hi = MEM + sizeof(memory), .delta = (uintptr_t)memory - MEM, .fs = FS,
	};
	struct kunwind_regs regs = { .valid = KUNWIND_ALL_REGS };
	struct kunwind_expr_info info;
	u64 cfa = 0xcfa, result = 0;
	enum kunwind_reason reason;
	u32 i;

	text = texts[turn++ % 3];
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		regs.r[i] = 0x1000 + i;
	regs.r[KUNWIND_RSP] = RSP;
	regs.r[KUNWIND_RBP] = 0xb0;
	regs.r[KUNWIND_RAX] = CURG;
	regs.r[KUNWIND_RA] = rip;
	if (!e->len)
		return "-";
	if (kunwind_expr_check(e->bytes, e->len, initial, false, &info) || info.unknown)
		return "refused";
	if (info.regs & KUNWIND_SAVED_REGS)
		return "a register that a call keeps";
	reason = kunwind_expr_eval(&mem, e->bytes, e->len, &regs, initial ? &cfa : NULL, false, &result);
	if (reason == KUNWIND_COMPLETE && result >= OLD && result < OLD + 256)
		snprintf(text, 32, "old+%d", (int)(result - OLD));
	else if (reason == KUNWIND_COMPLETE)
		snprintf(text, 32, "%llx", (unsigned long long)result);
	else
		snprintf(text, 32, "%s", kunwind_reason_name(reason));
	return text;
}

struct switch_case {
	const char *what, *code;
	const char *cfa, *rbp;	/* cfa NULL: no row */
	u8 how;			/* of rbp, without an expression */
};

/* "call" is call *%rdi: ff d7 */
static const struct switch_case cases[] = {
	{ "runtime.systemstack, at its call",
	  "ffd7 64488b0425f8ffffff 488b5830 488b83c0000000 6448890425f8ffffff 488b6038 48c7403800000000 c3",
	  "old+8", "-", KUNWIND_RBP_SAME },
	{ "the same, which also restores rbp (Go 1.21)",
	  "ffd7 64488b0425f8ffffff 488b5830 488b83c0000000 6448890425f8ffffff 488b6038 488b6868"
	  "48c7403800000000 48c7406800000000 c3", "old+8", "b9", 0 },
	{ "the same in a shared library: the offset of g is in the global offset table",
	  /* GOT is at CODE - 0x780; the mov ends at byte 9 */
	  "ffd7 488b0d77f8ffff 64488b01 488b5830 488b83c0000000 488b6038 c3", "old+8", "-",
	  KUNWIND_RBP_SAME },
	{ "the same in a program: the C linker has put that offset into the code",
	  "ffd7 48c7c1f8ffffff 64488b01 488b5830 488b83c0000000 488b6038 c3", "old+8", "-",
	  KUNWIND_RBP_SAME },
	{ "an offset of 32 bits", "ffd7 c7c1f8ffffff 64488b01 488b5830 488b83c0000000 488b6038 c3",
	  NULL, NULL, 0 },
	{ "after its call, with m->curg in a register", "488b6038 c3", "old+8", "-", KUNWIND_RBP_SAME },
	{ "asmcgocall, at its call",
	  "ffd0 64488b0c25f8ffffff 488b7c2430 488b7708 482b742428 6448893c25f8ffffff 4889f4 89442418 c3",
	  "old+40", "-", KUNWIND_RBP_SAME },
	{ "asmcgocall on the thread's stack", "ffd0 488b742428 4889f4 89442418 c3", "28", "-",
	  KUNWIND_RBP_SAME },
	{ "asmcgocall, before it saved g", "48897c2430 ffd0 488b7c2430 4889fc c3", NULL, NULL, 0 },
	{ "half of a word was stored on the way", "897c2434 ffd0 488b7c2430 4889fc c3", NULL, NULL, 0 },
	{ "the next word was stored on the way", "48897c2438 ffd0 488b642408 c3", "58", "-",
	  KUNWIND_RBP_SAME },
	{ "the return address was stored on the way",
	  "488b642408 48897c2400 c3", NULL, NULL, 0 },
	{ "and -16", "488d6424f8 4883e4f0 488b6c2410 488b642418 c3", "58", "7500", 0 },
	{ "no switch: a call that does not return", "ffd7 ffd7 c3", NULL, NULL, 0 },
	{ "no switch: add", "ffd7 4883c408 c3", NULL, NULL, 0 },
	{ "no switch: lea", "ffd7 488d642408 c3", NULL, NULL, 0 },
	{ "a branch", "ffd7 7402 488b6038 c3", NULL, NULL, 0 },
	{ "a jump", "ffd7 488b6038 ffe7", NULL, NULL, 0 },
	{ "a register that the call may have changed", "ffd7 488b6038 c3", NULL, NULL, 0 },
	{ "half of a register", "ffd7 8b4008 8b6008 c3", NULL, NULL, 0 },
	{ "an index", "488b24c8 c3", NULL, NULL, 0 },
	{ "an absolute address", "488b2425f8ffff00 c3", NULL, NULL, 0 },
	{ "an instruction that is not known", "ffd7 0f0b 488b6038 c3", NULL, NULL, 0 },
	{ "cut off", "ffd7 488b60", NULL, NULL, 0 },
	{ "a store to an unknown address", "ffd7 48893e 488b642408 c3", NULL, NULL, 0 },
	{ "pop", "488b642408 5d c3", "60", "unreadable", 0 },
	{ "more than 24 instructions",
	  "ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7ffd7"
	  "488b642408 c3", NULL, NULL, 0 },
};

static void test_switches(void)
{
	static struct kunwind_go_switch s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct switch_case *c = &cases[i];
		struct kunwind_written_row row;
		const u32 len = code_of(memory + (CODE - MEM), c->code);
		u8 *code = malloc(len);
		const char *cfa, *rbp;
		u32 ahead;

		memcpy(code, memory + (CODE - MEM), len);
		for (ahead = 0; ahead < 3; ahead += 2) {
			const bool is = kunwind_go_switch_row(&s, code, len, ahead, &row);

			fill();
			if (!tap_ok(is == !!c->cfa, "%s: %s", c->what, c->cfa ? "a row" : "no row") || !is)
				continue;
			cfa = value(&row.exprs->cfa, CODE + ahead, false);
			rbp = value(&row.exprs->rbp, CODE + ahead, true);
			if (!tap_ok(!strcmp(cfa, c->cfa) && !strcmp(rbp, c->rbp) && row.rbp == c->how &&
				    !row.exprs->ra.len, "%s: CFA %s, rbp %s", c->what, c->cfa, c->rbp))
				printf("# %s, %s %u\n", cfa, rbp, row.rbp);
		}
		free(code);
	}
}

/* mov g, %rbx; mov 48(%rbx), %rbx; mov %rbp, 104(%rsi); mov 56(%rbx), %rsp; call (at 21 and 23) */
#define MORESTACK	"64488b1c25f8ffffff 488b5b30 48896e68 488b6338 e800000000"
#define RELAXED		"48c7c3f8ffffff 64488b1b 488b5b30 48896e68 488b6338 e800000000"
#define SHARED		"488b0d79f8ffff 64488b19 488b5b30 48896e68 488b6338 e800000000"

static void test_morestack(void)
{
	static const struct {
		const char *what, *code, *call;	/* what is before the goroutine's pc */
		u64 curg;
		u32 at;
		const char *cfa, *ra, *rbp;
	} morestack[] = {
		{ "a goroutine", MORESTACK, "e8fbfbffff", CURG, 21, "old+0", "7c05", "b9" },
		{ "it called runtime.morestack_noctxt", MORESTACK, "e89bfcffff", CURG, 21, "old+0",
		  "7c05", "b9" },
		{ "in a shared library", SHARED, "e8fbfbffff", CURG, 23, "old+0", "7c05", "b9" },
		{ "in a program that the C linker has linked", RELAXED, "e8fbfbffff", CURG, 23, "old+0",
		  "7c05", "b9" },
		{ "the thread has left the goroutine", MORESTACK, "e8fbfbffff", 0, 21, "7708", "0", "0" },
		{ "another goroutine: pc follows a call of another function", MORESTACK, "e800000000",
		  CURG, 21, "old+0", "unreadable", "b9" },
		{ "another goroutine: pc follows a call of a function before", MORESTACK, "e8f0fbffff",
		  CURG, 21, "old+0", "unreadable", "b9" },
		{ "another goroutine: pc follows a jump", MORESTACK, "e9fbfbffff",
		  CURG, 21, "old+0", "unreadable", "b9" },
	};
	struct kunwind_go_offsets offsets = { .known = true, .m = 48, .curg = 192, .sp = 56 };
	static struct kunwind_go_switch s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(morestack); i++) {
		struct kunwind_written_row row;
		const char *cfa, *ra, *rbp;
		u8 code[64];
		const u32 len = code_of(code, morestack[i].code);
		u32 ahead;

		for (ahead = 0; ahead <= 5; ahead += 5) {
			const u64 rip = CODE + morestack[i].at + ahead;

			if (!tap_ok(kunwind_go_morestack_row(&s, code, len, morestack[i].at, ahead, &offsets,
							     &row), "runtime.morestack: %s: a row",
				    morestack[i].what))
				continue;
			fill();
			set(M + 192, morestack[i].curg);
			code_of(memory + (CALLER - MEM), morestack[i].call);
			cfa = value(&row.exprs->cfa, rip, false);
			ra = value(&row.exprs->ra, rip, true);
			rbp = value(&row.exprs->rbp, rip, true);
			if (!tap_ok(!strcmp(cfa, morestack[i].cfa) && !strcmp(ra, morestack[i].ra) &&
				    !strcmp(rbp, morestack[i].rbp), "%s: CFA %s, address %s, rbp %s",
				    morestack[i].what, morestack[i].cfa, morestack[i].ra, morestack[i].rbp))
				printf("# %s %s %s\n", cfa, ra, rbp);
		}
	}
	offsets.known = false;
	{
		struct kunwind_written_row row;
		u8 code[64];
		const u32 len = code_of(code, MORESTACK);

		tap_ok(!kunwind_go_morestack_row(&s, code, len, 21, 0, &offsets, &row),
		   "runtime.morestack: no row without runtime.systemstack");
	}
}

/* The offsets are those of runtime.systemstack's code, and of no other chain. */
static void test_offsets(void)
{
	struct kunwind_go_offsets offsets = { };
	static struct kunwind_go_switch s;
	struct kunwind_written_row row;
	u8 code[128];
	u32 len = code_of(code, cases[6].code);

	tap_ok(kunwind_go_switch_row(&s, code, len, 0, &row), "asmcgocall: a row");
	kunwind_go_switch_offsets(&s, &offsets);
	tap_ok(!offsets.known, "asmcgocall's code has no chain of g, m and curg");
	len = code_of(code, cases[2].code);
	tap_ok(kunwind_go_switch_row(&s, code, len, 0, &row), "runtime.systemstack: a row");
	kunwind_go_switch_offsets(&s, &offsets);
	tap_ok(offsets.known && offsets.m == 48 && offsets.curg == 192 && offsets.sp == 56,
	   "runtime.systemstack's code has the offsets");
}

/* Any bytes: an expression that the walk accepts, or none. */
static void test_any(void)
{
	static struct kunwind_go_switch s;
	const struct kunwind_go_offsets offsets = { .known = true, .m = -1, .curg = 0x7fffffff, .sp = -9 };
	u32 i, j, rows = 0, bad = 0;
	u8 code[128];

	srand(1);
	for (i = 0; i < 200000; i++) {
		struct kunwind_written_row row;
		u32 len = code_of(code, cases[(u32)rand() % ARRAY_SIZE(cases)].code);
		u8 *exact;

		for (j = (u32)rand() % 4; j; j--)
			code[(u32)rand() % len] = rand();
		len -= (u32)rand() % 2;
		exact = malloc(len);
		memcpy(exact, code, len);
		fill();
		if (kunwind_go_switch_row(&s, exact, len, 2, &row)) {
			rows++;
			bad += !strcmp(value(&row.exprs->cfa, CODE, false), "refused");
			bad += !strcmp(value(&row.exprs->rbp, CODE, true), "refused");
		}
		if (kunwind_go_morestack_row(&s, exact, len, (u32)rand() % len, 5, &offsets, &row)) {
			rows++;
			bad += !strcmp(value(&row.exprs->ra, CODE, true), "refused");
		}
		free(exact);
	}
	tap_ok(rows > 1000 && !bad, "damaged code: %u rows, all expressions are accepted", rows);
}

int main(void)
{
	test_switches();
	test_morestack();
	test_offsets();
	test_any();
	return tap_done();
}
