/* SPDX-License-Identifier: MIT */
/*
 * code-trust-test.c - frames with a row from code, whose return address follows no call
 *
 * In the library of nocfi-scene.h, all of function F has the row CFA = rsp + 16, and code around
 * LIB + 0x200, which calls F, has the row CFA = rsp + 16. At BY_WORD, the CFA is *(rsp + 8) + 8.
 */
#include "nocfi-scene.h"
#include "../../kmod/core/rows/cfi_writer.h"

#define FIBER	(LIB + 0x401)	/* where make_fcontext() lets a fiber return */
#define RESTORER (LIB + 0x500)
#define BY_WORD	(LIB + 0x320)

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
};

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

	w.cie = kunwind_cfi_write_cie(&w, "K");
	kunwind_cfi_write_row(&w, F, in_f);
	kunwind_cfi_write_row(&w, BY_WORD, by_word);
	kunwind_cfi_write_row(&w, BY_WORD + 0x10, none);
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
	kunwind_table_free(code_table);
	nocfi_end();
	return tap_done();
}
