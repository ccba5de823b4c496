/* SPDX-License-Identifier: MIT */
/*
 * nocfi-nowhere-test.c - frames whose address has no code (nocfi-scene.h): after a call through
 * a null pointer, of a missing function, or of data; and frames whose stack cannot be read
 */
#include "nocfi-scene.h"

static const struct nocfi_case cases[] = {
	{ "a direct call of a weak function that is not there", 0, AT(4), { { LIB + 0x200, NULL, 0 } },
	  { { 0, RET_F } }, .no_guess = true, .found = { 0, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a direct call of data", NOWHERE + 8, AT(4), { { LIB + 0x200, NULL, NOWHERE + 8 } },
	  { { 0, RET_F } }, .no_guess = true, .found = { NOWHERE + 8, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a null pointer, to which the called function jumps", 0, AT(4),
	  { CALL_F, { F, "48 8b 47 08 be 03 00 00 00 ff e0", 0 } }, { { 0, RET_F } }, .no_guess = true,
	  .found = { 0, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "data, to which the called function jumps on one of its ways", NOWHERE + 8, AT(4),
	  { CALL_F, { F, "85 ff 74 03 ff 67 08 31 c0 c3", 0 } }, { { 0, RET_F } }, .no_guess = true,
	  .found = { NOWHERE + 8, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a null pointer, to which a function jumps after two direct jumps", 0, AT(4),
	  { CALL_F, { F, "31 c0 e9 19 00 00 00", 0 }, { F + 0x20, "31 d2 e9 19 00 00 00", 0 },
	    { F + 0x40, "ff 67 08", 0 } },
	  { { 0, RET_F } }, .no_guess = true, .found = { 0, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a null pointer, the called function jumps through a pointer with a word on its stack", 0, AT(4),
	  { CALL_F, { F, "50 ff 67 08", 0 } }, { { 0, RET_F } }, .no_guess = true, .found = { 0 },
	  .reason = KUNWIND_NO_OBJECT },
	{ "a null pointer, the called function returns", 0, AT(4),
	  { CALL_F, { F, "85 ff 74 01 90 31 c0 c3", 0 } }, { { 0, RET_F } }, .no_guess = true, .found = { 0 },
	  .reason = KUNWIND_NO_OBJECT },
	{ "an address without code, a direct call of another one", NOWHERE + 8, AT(4),
	  { { LIB + 0x200, NULL, NOWHERE } }, { { 0, RET_F } }, .no_guess = true, .found = { NOWHERE + 8 },
	  .reason = KUNWIND_NO_OBJECT },
	{ "an address without code, no call", NOWHERE, AT(4), { CALL_F }, { { 0, RET_F + 1 } },
	  .found = { NOWHERE }, .reason = KUNWIND_NO_OBJECT },
	{ "an address in no code, above the return address of a call to elsewhere", 0, 0,
	  { { LIB + 0x200, NULL, LIB + 0x300 } }, { { 0, LIB + 0x205 } },
	  .no_guess = true, .found = { 0 }, .reason = KUNWIND_NO_OBJECT },
};

/* One frame at @ip, with the stack pointer @sp: why the walk ends there. */
static enum kunwind_reason ends(u64 ip, u64 sp)
{
	unsigned long addresses[MOST];
	struct kunwind_walk walk;
	u8 trust[MOST];

	clear();
	walk = walk_from(ip, 0, false, addresses, trust, MOST);
	walk.regs.r[KUNWIND_RSP] = sp;
	return kunwind_walk(&walk);
}

static void test_absent_stack(void)
{
	static const struct { const char *name; u64 ip; enum kunwind_reason reason; } frames[] = {
		{ "of a file without a table", IN_F, KUNWIND_NO_TABLE },
		{ "of a JIT", JIT + 0x180, KUNWIND_NO_OBJECT },
		{ "in no code", NOWHERE, KUNWIND_NO_OBJECT },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		tap_ok(ends(frames[i].ip, STACK) == frames[i].reason, "a frame %s: nothing is found",
		       frames[i].name);
		tap_ok(ends(frames[i].ip, STACK - 8) == KUNWIND_UNREADABLE,
		       "a frame %s: the stack is absent", frames[i].name);
		tap_ok(ends(frames[i].ip, AT(WORDS) - 8) == frames[i].reason,
		       "a frame %s: only the last word of the stack is there", frames[i].name);
	}
}

int main(void)
{
	return nocfi_test(cases, ARRAY_SIZE(cases), test_absent_stack);
}
