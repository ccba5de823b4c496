/* SPDX-License-Identifier: MIT */
/*
 * return-address-test.c - frames for which no table has a rule: how a return
 * address is proved, which registers a signal frame gives, and what each step
 * costs
 */
#include "return-scene.h"

static u32 cost(u32 ip)
{
	struct kunwind_found how;
	enum kunwind_reason reason;

	return step(ip, &reason, &how);
}

static void test_costs(void)
{
	u32 none, some, i;

	begin();
	walk.regs.r[KUNWIND_RSP] = STACK + 4;
	tap_ok(cost(0x100) > 0, "cost: a step is charged, though it finds nothing");
	/* no code and no stack can be read: the step tries one word */
	walk.mem.code_hi = walk.mem.code_lo;
	walk.regs.r[KUNWIND_RBP] = WORD(8);
	walk.regs.valid |= KUNWIND_REG(KUNWIND_RBP);
	some = cost(0x100);
	tap_ok(some >= 4, "cost: a step is charged for more than what it reads, %u for one word", some);
	begin();
	none = cost(0x100);
	tap_ok(none >= 512 / 4, "cost: each word of the stack is charged, %u for 512", none);
	begin();
	/*
	 * words after calls through a register: each may be the return address
	 */
	bytes(0x200, "ff d0");
	none = cost(0x100);
	for (i = 0; i < 100; i++)
		stack[i] = CODE + 0x202;
	some = cost(0x100);
	tap_ok(some >= none + 100, "cost: each word that may be an address takes more, %u for 100",
	       some - none);
	/* words after no call: one word of code is read for each */
	begin();
	none = cost(0x100);
	for (i = 0; i < 100; i++)
		stack[i] = CODE + 0x202;
	some = cost(0x100);
	tap_ok(some >= none + 300,
	       "cost: a word that points into code costs more than the word read there, %u for 100",
	       some - none);
	/* words after calls of a function that begins 4 KB before */
	begin();
	bytes(0, "50 58");
	call(0x2000, 0);
	none = cost(0x800);
	for (i = 0; i < 20; i++)
		stack[100 + i] = call(0x2000, 0);
	some = cost(0x800);
	tap_ok(some >= none + 20 * 0x800 / 16,
	       "cost: code that is read for a word is charged, %u for 20 times 2 KB", some - none);
	/* a frame pointer that proves nothing: the code ahead is read, too */
	begin();
	bytes(0x200, "ff d0");
	walk.regs.r[KUNWIND_RBP] = WORD(8);
	stack[9] = CODE + 0x202;
	some = cost(0x100);
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.r[KUNWIND_RBP] = WORD(8);
	walk.regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) |
			  KUNWIND_REG(KUNWIND_RBP);
	none = cost(0x100);
	tap_ok(none >= 64, "cost: code that is read for a frame pointer is charged, %u", none);
}

static void test_proofs(void)
{
	u64 ra;

	/* push %rbp; nops */
	begin();
	bytes(0x100, "55");
	ra = call(0x200, 0x100);
	tap_ok(prove(0x120, STACK, 0, false, STACK + 8, ra) == KUNWIND_PROOF_PROVEN,
	       "proof: the word at the depth of the code is proven");
	tap_ok(prove(0x120, STACK, 0, false, STACK + 16, ra) == KUNWIND_PROOF_CONTRADICTED,
	       "proof: a word at another depth is contradicted");
	tap_ok(prove(0x80, STACK, 0, false, STACK + 8, ra) == KUNWIND_PROOF_CONTRADICTED,
	       "proof: a call of code after the frame's address is contradicted");
	/* push %rbp; mov %rsp, %rbp; sub %rax, %rsp */
	begin();
	bytes(0x100, "55 48 89 e5 48 29 c4");
	ra = call(0x200, 0x100);
	tap_ok(prove(0x120, STACK, WORD(10), true, WORD(11), ra) == KUNWIND_PROOF_PROVEN,
	       "proof: if the depth is not known, the frame pointer proves the word");
	tap_ok(prove(0x120, STACK, WORD(10), true, WORD(12), ra) == KUNWIND_PROOF_CONTRADICTED,
	       "proof: a word that is not at the frame pointer is contradicted");
	tap_ok(prove(0x120, STACK, WORD(10), false, WORD(11), ra) == KUNWIND_PROOF_NEAR,
	       "proof: a frame pointer that is not known proves nothing");
}

/*
 * A breakpoint (uprobes) is the first byte of the call, or of the trampoline.
 */
static void test_breakpoints(void)
{
	static const struct {
		const char *name, *hex;
		u32 length;
		u64 target;	/* 0: no call; 1: a call, its target is not known */
	} cases[] = {
		{ "a direct call", "cc fb fd ff ff", 5, CODE + 0x100 },
		{ "a direct call to no code", "cc fb fd ff 7f", 5, 0 },
		{ "a call through the GOT", "cc 15 fa 00 00 00", 6, CODE + 0x200 },
		{ "a call through the GOT to no code", "cc 15 02 01 00 00", 6, 0 },
		{ "a call by a register", "cc d0", 2, 0 },
		{ "a call by a register, without a breakpoint", "ff d0", 2, 1 },
	};
	const u64 pointer = CODE + 0x200;
	u64 target, ra;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		bytes(0x300, cases[i].hex);
		ra = CODE + 0x300 + cases[i].length;
		memcpy(code + 0x300 + 6 + 0xfa, &pointer, sizeof(pointer));
		target = 0;
		tap_ok(kunwind_proof_call(&walk, ra, &target) == !!cases[i].target &&
		       target == (cases[i].target > 1 ? cases[i].target : 0),
		       "breakpoint: %s is %srecognized as a call", cases[i].name,
		       cases[i].target ? "" : "not ");
		if (!cases[i].target || strncmp(cases[i].hex, "cc", 2) == 0)
			tap_ok(!kunwind_proof_no_call(&walk, ra),
			       "breakpoint: a call may be hidden: %s", cases[i].name);
	}
	begin();
	tap_ok(kunwind_proof_no_call(&walk, CODE + 0x300),
	       "breakpoint: without one, an address surely follows no call");
	bytes(0x2f8, "cc");
	tap_ok(kunwind_proof_no_call(&walk, CODE + 0x300),
	       "breakpoint: one that is too far from the address hides no call");
	bytes(0x2ff, "cc");
	tap_ok(kunwind_proof_no_call(&walk, CODE + 0x300),
	       "breakpoint: one that is too near to the address hides no call");
	begin();
	bytes(0x100, "cc c7 c0 0f 00 00 00 0f 05");
	bytes(0x200, "cc 0f 00 00 00 0f 05");
	bytes(0x300, "cc 0e 00 00 00 0f 05");
	tap_ok(kunwind_proof_trampoline(&walk, CODE + 0x100) &&
	       kunwind_proof_trampoline(&walk, CODE + 0x200) &&
	       !kunwind_proof_trampoline(&walk, CODE + 0x300),
	       "breakpoint: signal trampolines are recognized");
}

static void test_tails(void)
{
	u64 ra;

	/* each function jumps to the next one; the last: push %rbx */
	begin();
	ra = call(0x400, 0x300);
	bytes(0x300, "31 c0 e9 f9 fe ff ff");		/* to 0x200 */
	bytes(0x200, "31 c0 e9 f9 fe ff ff");		/* to 0x100 */
	bytes(0x100, "53");
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_PROVEN,
	       "tail: two jumps in a row prove the word");
	tap_ok(prove(0x120, STACK, 0, false, WORD(2), ra) != KUNWIND_PROOF_PROVEN,
	       "tail: two jumps in a row do not prove another word");
	/* one more jump, and then a fourth */
	bytes(0x400, "31 c0 e9 f9 fe ff ff");
	ra = call(0x600, 0x400);
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_PROVEN,
	       "tail: three jumps in a row prove the word");
	bytes(0x500, "31 c0 e9 f9 fe ff ff");
	ra = call(0x600, 0x500);
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) != KUNWIND_PROOF_PROVEN,
	       "tail: four jumps in a row are not followed");
	/* a circle */
	begin();
	ra = call(0x400, 0x300);
	bytes(0x300, "31 c0 eb fc");
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_CONTRADICTED,
	       "tail: jumps in a circle are contradicted");
	/* by a register, or a table: to anywhere */
	begin();
	ra = call(0x400, 0x300);
	bytes(0x300, "31 c0 ff e0");
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_POSSIBLE,
	       "tail: a jump by a register makes the word possible");
	bytes(0x300, "ff 24 c5 00 00 00 00");
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_POSSIBLE,
	       "tail: a jump by a table makes the word possible");
	bytes(0x300, "53 ff e0 90 90 90 90");
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_CONTRADICTED,
	       "tail: a jump that leaves a word on the stack is contradicted");
	/* lea n(%rip), %rax; jmp *%rax */
	bytes(0x300, "48 8d 05 f9 fd ff ff ff e0");
	bytes(0x100, "53");
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_PROVEN,
	       "tail: a jump by a register that lea has set proves the word");
	/* two jumps: the first leads to another function, the second here */
	begin();
	ra = call(0x400, 0x300);
	bytes(0x100, "53");
	bytes(0x300, "74 05 e9 f9 fe ff ff e9 f4 fd ff ff");	/* to 0x200; to 0x100 */
	tap_ok(prove(0x120, STACK, 0, false, WORD(1), ra) == KUNWIND_PROOF_PROVEN,
	       "tail: the second of two jumps proves the word");
}

static void test_handlers(void)
{
	struct kunwind_found how;
	enum kunwind_reason reason;

	/* push %rbp; mov %rsp, %rbp; and $-16, %rsp: a handler without CFI */
	begin();
	bytes(0x100, "55 48 89 e5 48 83 e4 f0");
	walk.mem.handler = CODE + 0x100;
	bytes(0x800, "b8 0f 00 00 00 0f 05");
	stack[10] = WORD(50);
	stack[11] = CODE + 0x800;
	stack[12 + 5 + 18] = 0xe033;
	tap_ok(prove(0x120, STACK, 0, false, WORD(11), CODE + 0x800) == KUNWIND_PROOF_HANDLER,
	       "handler: the signal frame of a guest of Xen");
	stack[12 + 5 + 18] = 0x33;
	tap_ok(prove(0x120, STACK, 0, false, WORD(11), CODE + 0x800) == KUNWIND_PROOF_HANDLER,
	       "handler: its return address is a trampoline, with a signal frame above");
	walk.regs.r[KUNWIND_RBP] = WORD(10);
	walk.regs.valid |= KUNWIND_REG(KUNWIND_RBP);
	step(0x120, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && how.method == KUNWIND_BY_RBP_HANDLER &&
	       walk.regs.r[KUNWIND_RA] == CODE + 0x800 && walk.regs.r[KUNWIND_RSP] == WORD(12),
	       "handler: a step by its frame pointer finds the trampoline");
	/*
	 * the frame pointer of a handler that called a function which keeps rbp
	 */
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.r[KUNWIND_RBP] = WORD(10);
	stack[4] = CODE + 0x902;
	bytes(0x900, "ff d0");
	step(0x120, &reason, &how);
	tap_ok(reason != KUNWIND_COMPLETE,
	       "handler: its frame pointer proves nothing above a word that follows a call");
	stack[4] = 0;
	/* sub $88, %rsp */
	bytes(0x100, "48 83 ec 58 90 90 90 90");
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP);
	step(0x120, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && walk.regs.r[KUNWIND_RA] == CODE + 0x800 &&
	       walk.regs.r[KUNWIND_RSP] == WORD(12) &&
	       !(walk.regs.valid & KUNWIND_REG(KUNWIND_RBP)),
	       "handler: a step without a frame pointer finds the trampoline");
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.r[KUNWIND_RBP] = 5;
	walk.regs.valid |= KUNWIND_REG(KUNWIND_RBP);
	step(0x120, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && walk.regs.r[KUNWIND_RSP] == WORD(12) &&
	       !(walk.regs.valid & KUNWIND_REG(KUNWIND_RBP)),
	       "handler: a step finds the trampoline whatever rbp holds");
	/*
	 * what the handler called: above its return address is what was
	 * interrupted
	 */
	walk.regs.r[KUNWIND_RSP] = STACK;
	stack[40] = call(0x900, 0x100);
	step(0x120, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && walk.regs.r[KUNWIND_RSP] == WORD(12),
	       "handler: no word above its return address is used");
	stack[40] = 0;
	/* word 3 follows a call by pointer, so it may be the return address of the frame */
	walk.regs.r[KUNWIND_RSP] = STACK;
	bytes(0x700, "ff d0");
	stack[3] = CODE + 0x702;
	step(0x120, &reason, &how);
	tap_ok(reason != KUNWIND_COMPLETE, "handler: not taken if a word below it may be the return address");
	stack[3] = 0;
	/* the signal frame of a handler that has returned is left on the stack */
	for (walk.mem.handler = 0; walk.mem.handler <= CODE + 0x400; walk.mem.handler += CODE + 0x200) {
		walk.regs.r[KUNWIND_RSP] = STACK;
		step(0x120, &reason, &how);
		tap_ok(reason != KUNWIND_COMPLETE, "handler: the frame is not in it (%#llx)",
		       (unsigned long long)walk.mem.handler);
	}
	bytes(0x100, "48 83 ec 50 90 90 90 90");
	walk.mem.handler = CODE + 0x100;
	walk.regs.r[KUNWIND_RSP] = STACK;
	step(0x120, &reason, &how);
	tap_ok(reason != KUNWIND_COMPLETE, "handler: its code has the return address elsewhere");
	stack[12 + 5 + 18] = 0x23;
	tap_ok(prove(0x120, STACK, 0, false, WORD(11), CODE + 0x800) == KUNWIND_PROOF_NO_CALL,
	       "handler: a trampoline without a signal frame is not its return address");
	stack[12 + 5 + 18] = 0x33;
	code[0x801] = 0x0e;
	tap_ok(prove(0x120, STACK, 0, false, WORD(11), CODE + 0x800) == KUNWIND_PROOF_NO_CALL,
	       "handler: a signal frame without a trampoline does not prove it");
}

/*
 * The instruction is a return; the instruction before it may write the target to
 * the top of the stack. If the target follows a call, the call decides whether
 * the return is a jump.
 */
static void test_wrote_top(void)
{
	static const struct {
		const char *name, *hex;	/* the return is at 0x108 */
		u32 reg, to;		/* where the call before the target leads; 0: not known */
		enum { RETURNS, JUMPS, UNKNOWN } is;
	} cases[] = {
		{ "push %rax; ret", "90 90 90 90 90 90 90 50 c3", KUNWIND_RAX, 0x100, JUMPS },
		{ "push %rcx; ret", "90 90 90 90 90 90 90 51 c3", KUNWIND_RCX, 0x100, JUMPS },
		{ "push %rdi; ret", "90 90 90 90 90 90 90 57 c3", KUNWIND_RDI, 0x100, JUMPS },
		{ "push %r8; ret", "90 90 90 90 90 90 41 50 c3", KUNWIND_R8, 0x100, JUMPS },
		{ "push %r15; ret", "90 90 90 90 90 90 41 57 c3", KUNWIND_R15, 0x100, JUMPS },
		{ "push %rdx; repz ret", "90 90 90 90 90 90 90 52 f3 c3", KUNWIND_RDX, 0x100, JUMPS },
		{ "mov %rax, (%rsp); ret", "90 90 90 90 48 89 04 24 c3", KUNWIND_RAX, 0x200, JUMPS },
		{ "mov %rdi, (%rsp); ret", "90 90 90 90 48 89 3c 24 c3", KUNWIND_RDI, 0x200, JUMPS },
		{ "mov %r11, (%rsp); ret", "90 90 90 90 4c 89 1c 24 c3", KUNWIND_R11, 0x200, JUMPS },
		{ "push %rdx; ret, and a call through a register", "90 90 90 90 90 90 90 52 c3",
		  KUNWIND_RDX, 0, JUMPS },
		{ "mov %rax, (%rsp); ret, and a call through a register", "90 90 90 90 48 89 04 24 c3",
		  KUNWIND_RAX, 0, JUMPS },
		{ "pop %rdx; push %rdx; ret, and a call that leads to the pop", "5a 90 90 90 90 90 90 52 c3",
		  KUNWIND_RDX, 0x100, UNKNOWN },
		{ "push %rax; ret, and a call that leads to the return", "90 90 90 90 90 90 90 50 c3",
		  KUNWIND_RAX, 0x108, RETURNS },
		{ "push %rax; ret, rax has another value", "90 90 90 90 90 90 90 50 c3",
		  KUNWIND_RCX, 0x100, RETURNS },
		{ "mov %rax, (%rsp); ret, rax has another value", "90 90 90 90 48 89 04 24 c3",
		  KUNWIND_RCX, 0x100, RETURNS },
		{ "mov %eax, (%rsp); ret", "90 90 90 90 90 89 04 24 c3", KUNWIND_RAX, 0x100, RETURNS },
		{ "mov (%rsp), %rax; ret", "90 90 90 90 48 8b 04 24 c3", KUNWIND_RAX, 0x100, RETURNS },
		{ "pop %rax; ret", "90 90 90 90 90 90 90 58 c3", KUNWIND_RAX, 0x100, RETURNS },
		{ "push %rax; ret, the word is in r8", "90 90 90 90 90 90 90 50 c3",
		  KUNWIND_R8, 0x100, RETURNS },
	};
	static const char *const names[] = { "no jump", "a jump", "not known" };
	struct kunwind_found how;
	enum kunwind_reason reason;
	u64 there, ra;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		bytes(0x100, cases[i].hex);
		/* where it jumps, or returns, to: pop %rbx; ret */
		there = call(0x300, cases[i].to);
		if (!cases[i].to)
			bytes(0x303, "ff d0");
		bytes(0x305, "5b c3");
		ra = call(0x400, 0x300);
		stack[0] = there;
		stack[2] = ra;
		walk.regs.r[KUNWIND_RA] = CODE + 0x108;
		walk.regs.r[cases[i].reg] = there;
		walk.regs.valid |= KUNWIND_REG(cases[i].reg);
		reason = kunwind_nocfi_step(&walk, true, &how);
		if (!tap_ok(cases[i].is == UNKNOWN ? reason != KUNWIND_COMPLETE :
			    reason == KUNWIND_COMPLETE && how.method == KUNWIND_BY_AHEAD &&
			    walk.regs.r[KUNWIND_RA] == (cases[i].is == JUMPS ? ra : there),
			    "return that is %s: %s", names[cases[i].is], cases[i].name))
			printf("# %d, %#llx\n", reason, (unsigned long long)walk.regs.r[KUNWIND_RA]);
	}
}

static void test_stubs(void)
{
	static const struct {
		const char *name, *stub;
		s32 to;		/* from 0x300 */
	} cases[] = {
		{ "no stub", "55", 0 },
		{ "a short jump forwards", "eb 10", 2 + 0x10 },
		{ "a short jump backwards", "eb f0", 2 - 0x10 },
		{ "a long jump backwards", "e9 00 ff ff ff", 5 - 0x100 },
		{ "endbr64 and a short jump", "f3 0f 1e fa eb 10", 6 + 0x10 },
		{ "bnd and a long jump", "f2 e9 00 01 00 00", 6 + 0x100 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 target = 0, ra;

		begin();
		bytes(0x300, cases[i].stub);
		ra = call(0x600, 0x300);
		tap_ok(kunwind_proof_call(&walk, ra, &target) && target == CODE + 0x300 + cases[i].to,
		       "call target: found through %s", cases[i].name);
	}
}

static void test_steps(void)
{
	struct kunwind_found how;
	enum kunwind_reason reason;
	u64 ra;

	/* word 1 is proven by the function; word 2 by one that runs into it */
	begin();
	bytes(0x80, "50");
	bytes(0x100, "55");
	ra = call(0x200, 0x100);
	stack[1] = ra;
	stack[2] = call(0x300, 0x80);
	step(0x120, &reason, &how);
	tap_ok(reason == KUNWIND_COMPLETE && walk.regs.r[KUNWIND_RA] == ra &&
	       walk.regs.r[KUNWIND_RSP] == WORD(2),
	       "step: the nearest of two proven words is the return address");
	begin();
	bytes(0x100, "55 48 89 e5 48 29 c4");
	ra = call(0x200, 0x100);
	walk.regs.r[KUNWIND_RBP] = WORD(4) + 4;
	walk.regs.valid |= KUNWIND_REG(KUNWIND_RBP);
	memcpy((u8 *)stack + 8 * 4 + 12, &ra, 8);
	step(0x120, &reason, &how);
	tap_ok(reason != KUNWIND_COMPLETE, "step: a frame pointer that is not aligned is not used");

	/*
	 * push %rbp; and $-16, %rsp; ... call; mov 8(%rax), %rsp; pop %rbp; ret
	 */
	begin();
	bytes(0x100, "55 48 83 e4 f0");
	bytes(0x140, "48 8b 60 08 5d c3");
	stack[11] = call(0x200, 0x100);
	stack[10] = WORD(2);
	walk.regs.r[KUNWIND_RBP] = WORD(10);
	walk.regs.valid |= KUNWIND_REG(KUNWIND_RBP);
	step(0x140, &reason, &how);
	tap_ok(reason != KUNWIND_COMPLETE,
	       "step: code that switches stacks does not use a frame pointer on this stack");
}

static void test_signal_frame(void)
{
	static const u8 order[] = {
		KUNWIND_R8, KUNWIND_R9, KUNWIND_R10, KUNWIND_R11, KUNWIND_R12, KUNWIND_R13,
		KUNWIND_R14, KUNWIND_R15, KUNWIND_RDI, KUNWIND_RSI, KUNWIND_RBP, KUNWIND_RBX,
		KUNWIND_RDX, KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RSP, KUNWIND_RA,
	};
	struct kunwind_found how;
	enum kunwind_reason reason;
	bool good = true;
	u32 i;

	/*
	 * struct sigcontext of the kernel, asm/sigcontext.h; mov $15, %rax;
	 * syscall
	 */
	begin();
	bytes(0x100, "48 c7 c0 0f 00 00 00 0f 05");
	for (i = 0; i < ARRAY_SIZE(order); i++)
		stack[5 + i] = 0x1000 + order[i];
	stack[5 + 18] = 0x002b000000000033;
	step(0x100, &reason, &how);
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		good &= walk.regs.r[i] == 0x1000 + i;
	tap_ok(reason == KUNWIND_COMPLETE && how.signal && good &&
	       walk.regs.valid == KUNWIND_ALL_REGS, "signal frame: each register has its own value");
	begin();
	bytes(0x100, "48 c7 c0 0f 00 00 00 0f 05");
	stack[5 + 18] = 0x002b000000000023;
	step(0x100, &reason, &how);
	tap_ok(reason != KUNWIND_COMPLETE, "signal frame: one of 32-bit code is not used");
}

int main(void)
{
	test_costs();
	test_proofs();
	test_breakpoints();
	test_tails();
	test_handlers();
	test_wrote_top();
	test_stubs();
	test_steps();
	test_signal_frame();
	return tap_done();
}
