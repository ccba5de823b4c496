/* SPDX-License-Identifier: MIT */
/*
 * code-trust-test.c - frames with a row from code, whose return address follows no call
 *
 * In the library of nocfi-scene.h, all of function F has the row CFA = rsp + 16, and code around
 * LIB + 0x200, which calls F, has the row CFA = rsp + 16. At BY_WORD, the CFA is *(rsp + 8) + 8. At
 * MOVED, it is rsp + 16, and the caller's rsp is doubtful; at BY_RBP, it is rbp + 16.
 */
#include "nocfi-scene.h"
#include "../../kmod/core/rows/cfi_writer.h"
#include "../../kmod/core/walk/mem.h"

#define FIBER	(LIB + 0x401)	/* where make_fcontext() lets a fiber return */
#define RESTORER (LIB + 0x500)
#define BY_WORD	(LIB + 0x320)
#define MOVED	(LIB + 0x340)
#define BY_RBP	(LIB + 0x360)
#define NO_ROW	(LIB + 0x380)
#define CALLS(from, to) { (from), NULL, (to) }
#define RET(from) ((from) + 5)	/* where such a call returns to */

static const struct nocfi_case cases[] = {
	{ "a return address that follows a call", IN_F, 0, { CALL_F }, { { 1, RET_F }, { 3, 0 } },
	  .no_guess = true, .found = { IN_F, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_RULE },
	{ "a word that follows no call", IN_F, 0, { CALL_F }, { { 1, RET_F + 1 } }, .no_guess = true,
	  .found = { IN_F }, .trust = { REGS }, .reason = KUNWIND_NO_RULE },
	{ "a 0, which a wrong row may find", IN_F, 0, { CALL_F }, { { 1, 0 } }, .no_guess = true,
	  .found = { IN_F }, .trust = { REGS }, .reason = KUNWIND_NO_RULE },
	{ "the uretprobe trampoline", IN_F, 0, { CALL_F }, { { 1, NOWHERE }, { 3, 0 } },
	  .no_guess = true, .probe_slot = AT(1), .probe_return = RET_F,
	  .found = { IN_F, RET_F }, .trust = { REGS, PROBE }, .reason = KUNWIND_NO_RULE },
	{ "the uretprobe trampoline, where the old rsp is in memory", BY_WORD, 0, { CALL_F },
	  { { 1, AT(4) }, { 4, NOWHERE }, { 6, 0 } },
	  .no_guess = true, .probe_slot = AT(4), .probe_return = RET_F,
	  .found = { BY_WORD, RET_F }, .trust = { REGS, PROBE }, .reason = KUNWIND_NO_RULE },
	{ "the uretprobe trampoline, and a caller whose row counts from rbp", IN_F, AT(10),
	  { CALLS(BY_RBP, F), CALL_F }, { { 1, NOWHERE }, { 11, RET_F } },
	  .no_guess = true, .probe_slot = AT(1), .probe_return = RET(BY_RBP),
	  .found = { IN_F, RET(BY_RBP), RET_F }, .trust = { REGS, PROBE, CODE },
	  .reason = KUNWIND_NO_RULE },
	{ "the uretprobe trampoline in a slot that the kernel's list does not have", IN_F, 0, { CALL_F },
	  { { 1, NOWHERE }, { 3, 0 } }, .no_guess = true, .probe_slot = AT(2), .probe_return = RET_F,
	  .found = { IN_F }, .trust = { REGS }, .reason = KUNWIND_NO_RULE },
	{ "the uretprobe trampoline, in a called frame", IN_F, 0, { CALL_F, { IN_F - 5, NULL, F } },
	  { { 1, IN_F }, { 3, NOWHERE }, { 5, 0 } }, .no_guess = true,
	  .probe_slot = AT(3), .probe_return = RET_F,
	  .found = { IN_F, IN_F, RET_F }, .trust = { REGS, CODE, PROBE }, .reason = KUNWIND_NO_RULE },
	{ "what make_fcontext() has planted", IN_F, 0,
	  { CALL_F, { FIBER - 1, "c3 48 31 ff e8 00 01 00 00 f4", 0 } }, { { 1, FIBER } },
	  .found = { IN_F, FIBER }, .trust = { REGS, CODE }, .reason = KUNWIND_COMPLETE },
	{ "a signal trampoline", IN_F, 0,
	  { CALL_F, { RESTORER, "48 c7 c0 0f 00 00 00 0f 05", 0 } }, { { 1, RESTORER },
	  { 2 + UCONTEXT(16), IN_F + 1 }, { 2 + UCONTEXT(15), AT(200) }, { 2 + UCONTEXT(18), 0x33 },
	  { 201, RET_F }, { 203, 0 } }, .no_guess = true,
	  .found = { IN_F, RESTORER, IN_F + 1, RET_F }, .trust = { REGS, CODE, SIGNAL, CODE },
	  .reason = KUNWIND_NO_RULE },
	{ "a signal trampoline without a signal frame", IN_F, 0,
	  { CALL_F, { RESTORER, "48 c7 c0 0f 00 00 00 0f 05", 0 } }, { { 1, RESTORER } },
	  .no_guess = true, .found = { IN_F }, .trust = { REGS }, .reason = KUNWIND_NO_RULE },
	{ "a breakpoint on the call", IN_F, 0, { CALL_F, { LIB + 0x200, "cc", 0 } },
	  { { 1, RET_F }, { 3, 0 } }, .no_guess = true,
	  .found = { IN_F, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_RULE },
	{ "a doubtful rsp, and a caller whose CFI counts from rsp", MOVED, 0, { CALLS(PROG, MOVED) },
	  { { 1, RET(PROG) }, { 3, RET_F } }, .found = { MOVED, RET(PROG) }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_RULE },
	{ "a doubtful rsp, and a caller whose row counts from rsp", MOVED, 0, { CALL_F },
	  { { 1, RET_F }, { 3, RET_F } }, .found = { MOVED, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_RULE },
	{ "a doubtful rsp, and a caller without CFI", MOVED, 0,
	  { CALLS(NO_ROW, MOVED), { NO_ROW + 5, "5b c3", 0 }, CALL_F }, { { 1, RET(NO_ROW) }, { 3, RET_F } },
	  .found = { MOVED, RET(NO_ROW) }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_RULE },
	{ "a doubtful rsp, and a caller without CFI whose code leaves the frame at rbp", MOVED, AT(10),
	  { CALLS(NO_ROW, MOVED), { NO_ROW + 5, "c9 c3", 0 }, CALL_F },
	  { { 1, RET(NO_ROW) }, { 11, RET_F }, { 13, RET_F } },
	  .no_guess = true, .found = { MOVED, RET(NO_ROW), RET_F, RET_F },
	  .trust = { REGS, CODE, CODE, CODE }, .reason = KUNWIND_NO_RULE },
	{ "a doubtful rsp, and a caller without CFI whose code ahead leads nowhere", MOVED, AT(10),
	  { CALLS(NO_ROW, MOVED), { NO_ROW + 5, "ff e0", 0 }, CALLS(PROG, NO_ROW) },
	  { { 1, RET(NO_ROW) }, { 10, AT(20) }, { 11, RET(PROG) }, { 13, RET_F } },
	  .found = { MOVED, RET(NO_ROW) }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_RULE },
	{ "a doubtful rsp, and a caller in code of a JIT", MOVED, AT(10), { CALLS(JIT, MOVED), CALL_F },
	  { { 1, RET(JIT) }, { 10, AT(20) }, { 11, RET_F } }, .no_guess = true,
	  .found = { MOVED, RET(JIT), RET_F }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_RULE },
	{ "after a caller whose row counts from rbp, rsp is certain", MOVED, AT(10),
	  { CALLS(BY_RBP, MOVED), CALL_F }, { { 1, RET(BY_RBP) }, { 11, RET_F }, { 13, RET_F } },
	  .no_guess = true, .found = { MOVED, RET(BY_RBP), RET_F, RET_F },
	  .trust = { REGS, CODE, CODE, CODE }, .reason = KUNWIND_NO_RULE },
	{ "a doubtful rsp, and the uretprobe trampoline", MOVED, 0, { CALLS(PROG, MOVED) },
	  { { 1, NOWHERE }, { 3, RET_F } }, .probe_slot = AT(1), .probe_return = RET(PROG),
	  .found = { MOVED, RET(PROG) }, .trust = { REGS, PROBE }, .reason = KUNWIND_NO_RULE },
	{ "a doubtful rsp, and a breakpoint on the call", MOVED, 0,
	  { CALLS(PROG, MOVED), { PROG, "cc", 0 } }, { { 1, RET(PROG) }, { 3, RET_F } },
	  .found = { MOVED, RET(PROG) }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_RULE },
	{ "a row that leads to its own frame", BY_RBP, AT(10), { CALLS(BY_RBP, BY_RBP) },
	  { { 11, RET(BY_RBP) } }, .no_guess = true, .found = { BY_RBP, RET(BY_RBP) },
	  .trust = { REGS, CODE }, .reason = KUNWIND_CFA_STUCK },
	{ "without a row, a return that removes words", NO_ROW, 0,
	  { CALLS(PROG, NO_ROW), { NO_ROW, "5b c2 10 00", 0 } }, { { 1, RET(PROG) }, { 3, RET_F } },
	  .found = { NO_ROW, RET(PROG) }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_RULE },
	{ "without a row, a return address that is pushed elsewhere", NO_ROW, 0,
	  { CALLS(PROG, NO_ROW), { NO_ROW, "59 48 83 c4 10 51 c3", 0 } },
	  { { 0, RET(PROG) }, { 2, RET_F } },
	  .found = { NO_ROW, RET(PROG) }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_RULE },
	{ "without a row, a return address that is pushed where it was", NO_ROW, 0,
	  { CALLS(PROG, NO_ROW), { NO_ROW, "59 51 c3", 0 }, CALL_F }, { { 0, RET(PROG) }, { 2, RET_F } },
	  .no_guess = true, .found = { NO_ROW, RET(PROG), RET_F }, .trust = { REGS, CODE, CFI },
	  .reason = KUNWIND_NO_RULE },
	{ "a return of a JIT's code that removes words", JIT, 0,
	  { CALLS(PROG, JIT), { JIT, "5b c2 10 00", 0 }, CALL_F }, { { 1, RET(PROG) }, { 3, RET_F } },
	  .no_guess = true, .found = { JIT, RET(PROG), RET_F }, .trust = { REGS, CODE, CFI },
	  .reason = KUNWIND_NO_RULE },
};

/* A caller whose rule is in the cache. */
static void test_cached(void)
{
	static const struct code call = CALLS(PROG, MOVED);
	struct kunwind_rule_cache *cache = calloc(1, sizeof(*cache));
	unsigned long addresses[MOST];
	struct kunwind_walk walk;
	u8 trust[MOST];
	u32 count[2], i;

	clear();
	put_code(&call);
	stack[1] = RET(PROG);
	for (i = 0; i < 2; i++) {
		walk = walk_from(i ? MOVED : IN_F, 0, false, addresses, trust, MOST);
		walk.cache = cache;
		(void)kunwind_walk(&walk);
		count[i] = walk.count;
	}
	tap_ok(count[0] == 3 && count[1] == 2, "a doubtful rsp, and a caller whose rule is in the cache");
	free(cache);
}

/* What a walk of @room addresses spends when the cache has all its rules. */
static u32 spent_cached(u64 ip, u64 bp, u32 room)
{
	struct kunwind_rule_cache *cache = calloc(1, sizeof(*cache));
	unsigned long addresses[MOST];
	struct kunwind_walk walk;
	u8 trust[MOST];
	u32 i;

	for (i = 0; i < 3; i++) {
		walk = walk_from(ip, bp, false, addresses, trust, room);
		walk.cache = cache;
		(void)kunwind_walk(&walk);
	}
	free(cache);
	return walk.count == room ? KUNWIND_BUDGET - walk.mem.left : ~0U;
}

/* Frames whose rules are in the cache cost no budget: each return address is checked once. */
static void test_cost(void)
{
	static const struct code call_f = CALL_F, no_row = CALLS(NO_ROW, F);
	static const struct code leaves = { NO_ROW + 5, "c9 c3", 0 }, call = CALLS(PROG, NO_ROW);

	clear();
	put_code(&call_f);
	/* also the word that shows that there is no more room */
	stack[1] = stack[3] = stack[5] = stack[7] = RET_F;
	tap_ok(!spent_cached(IN_F, 0, 4), "frames by cached rows from code cost nothing");
	stack[11] = stack[13] = RET_F;
	tap_ok(!spent_cached(BY_RBP, AT(10), 2),
	       "a frame by a cached row from code that counts from rbp costs nothing");
	stack[1] = AT(20);
	stack[20] = stack[22] = RET_F;
	tap_ok(!spent_cached(BY_WORD, 0, 2),
	       "a frame by a cached row from code that reads the CFA costs nothing");
	/* NO_ROW leaves its frame, at rbp; then frames with CFI. */
	put_code(&no_row);
	put_code(&leaves);
	put_code(&call);
	stack[10] = AT(30);
	stack[1] = RET(NO_ROW);
	stack[11] = RET(PROG);
	stack[13] = stack[15] = stack[17] = RET(PROG);
	tap_ok(spent_cached(IN_F, AT(10), 3) &&
	       spent_cached(IN_F, AT(10), 3) == spent_cached(IN_F, AT(10), 5),
	       "frames by cached rules after a step without CFI cost nothing");
}

static struct kunwind_table *code_table;

static bool rows_begin(void)
{
	static const struct kunwind_written_row none = { .how = KUNWIND_WRITTEN_NONE };
	static u8 out[4096];
	struct kunwind_cfi_writer w = { .out = out, .room = sizeof(out) };
	struct kunwind_section section = { .debug = true, .min_fdes = ~0U, .lo = LIB, .hi = LIB + MAPPED };
	const struct kunwind_written_row in_f = { .how = KUNWIND_WRITTEN_CFA, .reg = KUNWIND_RSP, .off = 16 };
	const struct kunwind_written_row by_word = { .how = KUNWIND_WRITTEN_DEREF, .reg = KUNWIND_RSP,
						     .off = 8, .add = 8 };
	const struct kunwind_written_row by_rbp = { .how = KUNWIND_WRITTEN_CFA, .reg = KUNWIND_RBP,
						    .off = 16 };

	w.cie = kunwind_cfi_write_cie(&w, "K");
	kunwind_cfi_write_row(&w, F, in_f);
	kunwind_cfi_write_row(&w, BY_WORD, by_word);
	kunwind_cfi_write_row(&w, BY_WORD + 0x10, none);
	kunwind_cfi_write_row(&w, BY_RBP, by_rbp);
	kunwind_cfi_write_row(&w, BY_RBP + 0x10, none);
	w.cie = kunwind_cfi_write_cie(&w, "KM");
	kunwind_cfi_write_row(&w, MOVED, in_f);
	kunwind_cfi_write_row(&w, MOVED + 0x10, none);
	section.data = out;
	section.size = w.size;
	return !kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &code_table);
}

int main(void)
{
	u32 i;

	if (!tap_ok(nocfi_begin() && rows_begin(), "the tables are built"))
		return tap_done();
	ranges->range[0] = (struct kunwind_range){ .start = LIB, .end = LIB + MAPPED, .table = code_table };
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		test_case(&cases[i]);
	test_cached();
	test_cost();
	kunwind_table_free(code_table);
	nocfi_end();
	return tap_done();
}
