/* SPDX-License-Identifier: MIT */
/*
 * nocfi-method-test.c - single methods for frames without unwind information:
 * which words they take as return addresses in code of a JIT, in gcc's
 * trampolines, on another stack, and at the end of a function
 */
#include "return-scene.h"

/* Proofs for a frame in code of a JIT, which has a mapping of its own. */
static void test_jit(void)
{
	u64 ra;

	begin();
	ranges->nr = 2;
	ranges->range[1] = ranges->range[0];
	ranges->range[0].end = ranges->range[1].start = CODE + 0x2000;
	ranges->range[0].reason = KUNWIND_NO_OBJECT;
	ra = call(0x400, 0x2000);
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_POSSIBLE,
	       "JIT: a call to the first byte after the mapping may have led to the frame");
	ra = call(0x400, 0x1ff8);
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_CONTRADICTED,
	       "JIT: a call to other code in the mapping has not led to the frame");

	/* call 1f; jmp 2f; 1: 16 bytes; 2: the routine's frames are from 1 to 2, both included */
	bytes(0x100, "e8 05 00 00 00 e9 10 00 00 00");
	ra = CODE + 0x105;
	tap_ok(prove(0x10a, STACK, 0, false, WORD(0), ra) == KUNWIND_PROOF_PROVEN &&
	       prove(0x11a, STACK, 0, false, WORD(0), ra) == KUNWIND_PROOF_PROVEN,
	       "JIT: \"call; jmp\" proves frames from the start of the routine after it to its end");
	tap_ok(prove(0x109, STACK, 0, false, WORD(0), ra) == KUNWIND_PROOF_NO_CALL &&
	       prove(0x11b, STACK, 0, false, WORD(0), ra) == KUNWIND_PROOF_NO_CALL,
	       "JIT: \"call; jmp\" does not count as a call of frames outside of the routine");
}

/* A breakpoint may hide a call, which has two to seven bytes. */
static void test_no_call(void)
{
	bool good = true;
	u32 i;

	for (i = 0; i < 8; i++) {
		begin();
		code[0x100 + i] = 0xcc;
		good &= kunwind_proof_no_call(&walk, CODE + 0x108) == (i == 0 || i == 7);
	}
	tap_ok(good, "no call: not certain if a breakpoint is where a call may begin");
}

/*
 * gcc's trampoline for a nested function lies on the stack, so one mapping
 * contains both. A frame in the trampoline is at one of three instructions.
 */
static void test_nested(void)
{
	static const struct {
		const char *hex;
		u32 jump;
	} cases[] = {
		{ "49 bb 00 00 00 00 00 00 00 00 49 ba 00 00 00 00 00 00 00 00 49 ff e3", 20 },
		{ "41 bb 00 00 00 00 49 ba 00 00 00 00 00 00 00 00 49 ff e3", 16 },
	};
	struct kunwind_found how;
	u32 i, at;
	bool good, found;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (at = 0, good = true; at <= cases[i].jump; at++) {
			begin();
			ranges->range[0].start = STACK;
			bytes(0x100, cases[i].hex);
			bytes(0x200, "ff d0");
			stack[0] = CODE + 0x202;
			walk.mem.left = PLENTY;
			walk.regs.r[KUNWIND_RA] = CODE + 0x100 + at;
			found = kunwind_nocfi_step(&walk, true, &how) == KUNWIND_COMPLETE &&
				how.method == KUNWIND_BY_TOP && walk.regs.r[KUNWIND_RA] == CODE + 0x202;
			good &= found == (!at || at == cases[i].jump - 10 || at == cases[i].jump);
		}
		tap_ok(good, "nested: a trampoline with the jump at byte %u, at its three instructions",
		       cases[i].jump);
	}
}

/* Whether one of the instructions in the 16 bytes before reads rsp from memory. */
static void test_took_rsp(void)
{
	static const struct {
		const char *name, *hex;	/* before 0x110 */
		bool took;
	} cases[] = {
		{ "mov (%rsi), %rsp", "48 8b 26", true }, { "mov (%r9), %rsp", "49 8b 21", true },
		{ "mov 56(%rsi), %rsp", "48 8b 66 38", true }, { "mov %rsi, %rsp", "48 8b e6", false },
		{ "mov (%rsi), %r12", "4c 8b 26", false }, { "mov (%rsi), %esp", "8b 26 90", false },
		{ "mov (%rsi), %rbp", "48 8b 2e", false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		bytes(0x110 - (u32)(strlen(cases[i].hex) + 1) / 3, cases[i].hex);
		tap_ok(kunwind_code_took_rsp(&walk.mem, CODE + 0x110) == cases[i].took,
		       "rsp %s: %s", cases[i].took ? "taken" : "not taken", cases[i].name);
	}
}

/* Steps from called frames, by methods that need more than one word. */
static void test_called(void)
{
	struct kunwind_found how;
	enum kunwind_reason reason;
	u64 ra;

	/* another stack: mov 56(%rsi), %rsp; add $24, %rsp; pop %rbp; ret */
	begin();
	bytes(0x100, "c3");
	bytes(0x17a, "48 8b 66 38 48 8b 04 24 48 89 46 38 48 83 c4 18 5d c3");
	stack[0] = WORD(77);
	stack[1] = ra = call(0x200, 0x100);
	walk.regs.r[KUNWIND_RSP] = WORD(4);
	walk.regs.r[KUNWIND_RBP] = WORD(0);
	walk.regs.valid |= KUNWIND_REG(KUNWIND_RBP);
	step(0x17a, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && walk.regs.r[KUNWIND_RA] == ra &&
	       walk.regs.valid & KUNWIND_REG(KUNWIND_RBP) && walk.regs.r[KUNWIND_RBP] == WORD(77),
	       "called: a frame pointer on another stack gives the caller's rbp");

	/* main(), which never returns: sub $8, %rsp; a call; jmp back */
	begin();
	ranges->entry = CODE + 0x40;
	bytes(0x40, "48 8d 3d b9 03 00 00 ff 15 00 00 00 00");
	bytes(0x400, "48 83 ec 08 e8 f7 00 00 00 eb f9");
	bytes(0x500, "c3");
	bytes(0x800, "ff d0");
	stack[1] = CODE + 0x802;
	step(0x409, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && how.method == KUNWIND_BY_ENTRY &&
	       walk.regs.r[KUNWIND_RA] == CODE + 0x802 && walk.regs.r[KUNWIND_RSP] == WORD(2),
	       "called: main() is found by the code at the program's entry point");
	stack[1] = 0;
	stack[0] = CODE + 0x802;
	walk.regs.r[KUNWIND_RSP] = STACK;
	step(0x409, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE, "called: main() without a return address gives no step");
	stack[1] = call(0x600, 0x700);
	walk.regs.r[KUNWIND_RSP] = STACK;
	step(0x409, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE, "called: main() gives no step if the call leads elsewhere");
	ranges->entry = 0;

	/*
	 * A function that never returns, as musl's libc_start_main_stage2(): the code
	 * at the entry point (xor %rbp, %rbp; call) called a function that jumped to it
	 * through a register.
	 */
	begin();
	ranges->entry = CODE + 0x40;
	ranges->entry_sp = WORD(2);
	bytes(0x40, "48 31 ed");
	bytes(0x400, "eb fe");
	bytes(0x600, "ff e0");
	bytes(0x800, "ff d0");
	stack[1] = ra = call(0x43, 0x600);
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && how.method == KUNWIND_BY_NEAREST &&
	       walk.regs.r[KUNWIND_RA] == ra && walk.regs.r[KUNWIND_RSP] == WORD(2),
	       "called: the first word that follows a call is the entry point's return address");
	walk.regs.r[KUNWIND_RSP] = STACK;
	stack[0] = CODE + 0x802;
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE,
	       "called: no step if a word below the entry point's return address follows a call");
	walk.regs.r[KUNWIND_RSP] = STACK;
	stack[0] = 0x9000;
	walk.mem.probe_slot = STACK;
	walk.mem.probe_return = CODE + 0x802;
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE,
	       "called: no step if a probed return address lies below the entry point's return address");
	walk.mem.left = 2;
	tap_ok(kunwind_nocfi_return(&walk, 0x9000, STACK) == CODE + 0x802,
	       "a probed return address is looked up");
	walk.mem.left = 0;
	tap_ok(kunwind_nocfi_return(&walk, 0x9000, STACK) == 0x9000,
	       "no probed return address is looked up once the budget is spent");
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.mem.probe_slot = 0;
	ranges->entry_sp = WORD(40);
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE,
	       "called: no step if the entry point's return address is elsewhere on the stack");
	walk.regs.r[KUNWIND_RSP] = STACK;
	ranges->entry_sp = WORD(2);
	bytes(0x43, "ff d0");
	stack[1] = CODE + 0x45;
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE,
	       "called: no step if the call at the entry point is through a register");
	ranges->entry = ranges->entry_sp = 0;

	/* a JIT's frame pointer; the words below it cannot be read */
	begin();
	ranges->range[0].reason = KUNWIND_NO_OBJECT;
	bytes(0x100, "eb fe");
	bytes(0x800, "ff d0");
	stack[8] = 0;
	stack[9] = CODE + 0x802;
	walk.regs.r[KUNWIND_RBP] = WORD(8);
	walk.regs.valid |= KUNWIND_REG(KUNWIND_RBP);
	step(0x100, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && walk.regs.r[KUNWIND_RA] == CODE + 0x802,
	       "called: a JIT's frame pointer is used if no word below it follows a call");
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.r[KUNWIND_RBP] = WORD(8);
	walk.regs.valid |= KUNWIND_REG(KUNWIND_RBP);
	walk.mem.lo = WORD(2);
	step(0x100, &reason, &how);
	tap_ok(reason != KUNWIND_COMPLETE,
	       "called: a JIT's frame pointer is not used if the words below it cannot be read");
}

/*
 * gcc's frame with a realigned stack: add $8, %rsp; pop %r10; pop %rbp;
 * lea -8(%r10), %rsp; ret. Above the saved rbp is a copy of the return address.
 */
static void test_realigned(void)
{
	struct kunwind_found how;
	enum kunwind_reason reason;

	begin();
	bytes(0x400, "48 83 c4 08 41 5a 5d 49 8d 62 f8 c3");
	bytes(0x800, "ff d0");
	stack[1] = WORD(8);
	stack[2] = 77;
	stack[3] = stack[7] = CODE + 0x802;
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && how.method == KUNWIND_BY_AHEAD &&
	       walk.regs.r[KUNWIND_RA] == CODE + 0x802 && walk.regs.r[KUNWIND_RSP] == WORD(8) &&
	       walk.regs.valid & KUNWIND_REG(KUNWIND_RBP) && walk.regs.r[KUNWIND_RBP] == 77,
	       "realigned: the caller's rsp and rbp are in the frame");
	walk.regs.r[KUNWIND_RSP] = STACK;
	stack[3]++;
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE, "realigned: no step without a copy of the return address");
	walk.regs.r[KUNWIND_RSP] = STACK;
	stack[3]--;
	stack[1] = WORD(4);
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE, "realigned: the copy is not taken for the return address");
	walk.regs.r[KUNWIND_RSP] = STACK;
	stack[1] = WORD(8);
	stack[3] = stack[7] = CODE + 0x900;
	step(0x400, &reason, &how);
	tap_ok(reason == KUNWIND_NO_RULE, "realigned: the return address must follow a call");
}

int main(void)
{
	test_jit();
	test_no_call();
	test_nested();
	test_took_rsp();
	test_called();
	test_realigned();
	return tap_done();
}
