/* SPDX-License-Identifier: MIT */
/*
 * thunk-test.c - the first frame of a walk in gcc's thunks for returns and jumps
 *
 * The thunk for returns ends with lea 8(%rsp), %rsp; ret. Its CFI does not count
 * the lea. The thunk for jumps writes the target over the top word; there, the CFI
 * is right.
 */
#include "scene.h"

#define LEA	"\x48\x8d\x64\x24\x08"

int main(void)
{
	static u8 bytes[0x400];
	static const struct {
		const char *name, *code, *cfi;
		u32 at;
		bool returns;
	} cases[] = {
		{ "lea 8(%rsp), %rsp; ret: the ret", LEA "\xc3\x90\x90", "0e 10", 5, true },
		{ "lea 8(%rsp), %rsp; ret: the lea", LEA "\xc3\x90\x90", "0e 10", 0, false },
		{ "lea 8(%rsp), %rsp; pop", LEA "\x58\xc3\x90", "0e 10", 5, false },
		{ "lea 8(%rsp), %rsp; ret with right CFI", LEA "\xc3\x90\x90", "0e 08", 5, true },
		{ "lea 8(%rsp), %rsp; ret in a frame by rbp", LEA "\xc3\x90\x90", "0c 06 10", 5, false },
		{ "mov %rax, (%rsp); ret", "\x90\x48\x89\x04\x24\xc3\x90\x90", "0e 10", 5, false },
		{ "lea 16(%rsp), %rsp; ret", "\x48\x8d\x64\x24\x10\xc3\x90\x90", "0e 10", 5, false },
	};
	char name[100];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		scene();
		OBJECT(0x300, { 0x000, 0x200, cases[i].cfi });
		memcpy(bytes + 0x100, cases[i].code, 8);
		mem.code_lo = CODE(1, 0);
		mem.code_hi = CODE(1, sizeof(bytes));
		mem.code_delta = (u64)(uintptr_t)bytes - CODE(1, 0);
		regs.r[KUNWIND_RA] = CODE(1, 0x100 + cases[i].at);
		regs.r[KUNWIND_RBP] = STACK;
		snprintf(name, sizeof(name), "thunks: %s", cases[i].name);
		WALK(name, NO_OBJECT, cases[i].returns ? CALLER : CALLER + 1);
	}
	return tap_done();
}
