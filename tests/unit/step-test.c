/* SPDX-License-Identifier: MIT */
/*
 * step-test.c - what a step of the walk must not do: use a range, a rule or a
 * register of another frame
 *
 * Each scene has objects of a few functions, a stack of numbered words,
 * registers, and the range, rule or register that a wrong step would use. A
 * wrong step finds another address.
 */
#include "../../kmod/core/nocfi/return_address.h"
#include "scene.h"

static void test_ranges(void)
{
	/* the table covers more than the mapping */
	scene();
	OBJECT(0x80, { 0, 0x200, "" });
	regs.r[KUNWIND_RA] = CODE(1, 0);
	WALK("the first byte of a range belongs to it", NO_OBJECT, CALLER);
	regs.r[KUNWIND_RA] = CODE(1, 0x7f);
	WALK("the last byte of a range belongs to it", NO_OBJECT, CALLER);
	regs.r[KUNWIND_RA] = CODE(1, 0x80);
	WALK("the byte after a range does not belong to it", NO_OBJECT);
	regs.r[KUNWIND_RA] = CODE(1, 0x40);
	stack[0] = CODE(1, 0x80);
	WALK("a call may be the last instruction of a range", NO_OBJECT, stack[0], CALLER + 1);
	stack[0] = CODE(1, 0x81);
	WALK("caller: the byte after the callee's range does not belong to the range", NO_OBJECT, stack[0]);
	ranges->range[0].dead = 1;
	ranges->id++;
	WALK("a range that was replaced is not used", NOT_READY);

	scene();
	OBJECT(0x1000, { 0, 0x100, "" });
	OBJECT(0x1000, { 0, 0x100, "0e 18" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = CODE(2, 0x10);
	WALK("each range has its own table", NO_OBJECT, stack[0], CALLER + 3);
	ranges->range[1].dead = 1;
	ranges->id++;
	WALK("a caller's range that was replaced is not used", NOT_READY, stack[0]);
}

/* Without CFI, the first frame needs the entry point and its stack pointer. */
static void test_entry(void)
{
	scene();
	object(NULL, 0, 0x1000);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	ranges->entry_sp = WORD(20);
	regs.r[KUNWIND_RSP] = WORD(20);
	WALK("no CFI: the first stack pointer at other code does not end the stack", NO_TABLE);
	ranges->entry = CODE(1, 0x10);
	ranges->id++;
	WALK("no CFI: the entry point at the first stack pointer ends the stack", COMPLETE);
	regs.r[KUNWIND_RSP] = WORD(21);
	WALK("no CFI: the entry point above the first stack pointer", NO_TABLE);
	regs.r[KUNWIND_RSP] = WORD(19);
	WALK("no CFI: the entry point below the first stack pointer", NO_TABLE);
	ranges->entry_sp = 0;
	ranges->id++;
	WALK("no CFI: the entry point without a known first stack pointer", NO_TABLE);

	/* after the code that a table covers */
	scene();
	OBJECT(0x1000, { 0, 0x10, "" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	regs.r[KUNWIND_RSP] = ranges->entry_sp = WORD(20);
	ranges->entry = CODE(1, 0x10);
	WALK("no CFI: the entry point in an object with CFI for other code", COMPLETE);
}

static void test_lower(void)
{
	u64 circle[29];
	u32 i;

	scene();
	OBJECT(0x1000,
	       { 0x000, 0x100, "" },
	       { 0x100, 0x100, "0c 06 10 86 02" },		/* by rbp, which is saved */
	       { 0x200, 0x100, "0c 06 10" },			/* by rbp */
	       { 0x300, 0x100, "0f 03 77 70 96" },		/* rsp - 16, by an expression */
	       { 0x400, 0x100, "0e 00" },			/* rsp + 0 */
	       { 0x500, 0x100, "0f 03 77 00 96" });		/* rsp + 0, by an expression */
	regs.r[KUNWIND_RSP] = WORD(8);
	regs.r[KUNWIND_RBP] = WORD(2);
	regs.r[KUNWIND_RA] = CODE(1, 0x110);
	WALK("a CFA below the stack pointer, by rbp which is saved", NO_OBJECT, CALLER + 3);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	WALK("a CFA below the stack pointer, by rbp", NO_OBJECT, CALLER + 3);
	regs.r[KUNWIND_RA] = CODE(1, 0x310);
	WALK("a CFA below the stack pointer, by a full rule", NO_OBJECT, CALLER + 5);

	/* only the innermost frame may have nothing on its stack */
	regs.r[KUNWIND_RBP] = WORD(6);
	regs.r[KUNWIND_RA] = CODE(1, 0x110);
	WALK("a CFA at the stack pointer, innermost, by rbp which is saved", NO_OBJECT, CALLER + 7);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	WALK("a CFA at the stack pointer, innermost, by rbp", NO_OBJECT, CALLER + 7);
	regs.r[KUNWIND_RA] = CODE(1, 0x410);
	WALK("a CFA at the stack pointer, innermost, by rsp", NO_OBJECT, CALLER + 7);
	regs.r[KUNWIND_RA] = CODE(1, 0x510);
	WALK("a CFA at the stack pointer, innermost, by a full rule", NO_OBJECT, CALLER + 7);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	regs.r[KUNWIND_RBP] = WORD(7);
	stack[8] = CODE(1, 0x110);
	WALK("a CFA at the stack pointer, of a caller, by rbp which is saved", CFA_STUCK, stack[8]);
	stack[8] = CODE(1, 0x210);
	WALK("a CFA at the stack pointer, of a caller, by rbp", CFA_STUCK, stack[8]);
	stack[8] = CODE(1, 0x410);
	WALK("a CFA at the stack pointer, of a caller, by rsp", CFA_STUCK, stack[8]);
	stack[8] = CODE(1, 0x510);
	WALK("a CFA at the stack pointer, of a caller, by a full rule", CFA_STUCK, stack[8]);

	/* two frames that lead to each other */
	scene();
	OBJECT(0x1000, { 0x000, 0x100, "" }, { 0x100, 0x100, "0e 20" },
	       { 0x200, 0x100, "0f 03 77 60 96" });		/* rsp - 32 */
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = CODE(1, 0x110);
	stack[4] = CODE(1, 0x210);
	room = 30;
	WALK("two frames in a circle", CFA_STUCK, CODE(1, 0x110), CODE(1, 0x210),
	     CODE(1, 0x110), CODE(1, 0x210));
	/* each on a new stack below; then back to the first by rbp */
	scene();
	OBJECT(0x1000, { 0x000, 0x100, "" }, { 0x100, 0x100, "0c 06 10 86 02" });
	regs.r[KUNWIND_RA] = CODE(1, 0x110);
	regs.r[KUNWIND_RSP] = regs.r[KUNWIND_RBP] = WORD(50);
	for (i = 5; i <= 50; i += 5) {
		stack[i] = WORD(i - 5);
		stack[i + 1] = CODE(1, 0x110);
	}
	stack[0] = 0;
	stack[1] = CALLER;
	room = 30;
	WALK("ten stacks, each below the one before", NO_OBJECT, stack[6], stack[6], stack[6], stack[6],
	     stack[6], stack[6], stack[6], stack[6], stack[6], stack[6], CALLER);
	stack[0] = WORD(50);
	stack[1] = stack[6];
	room = 64;
	for (i = 0; i < ARRAY_SIZE(circle); i++)
		circle[i] = stack[6];
	walk_is("ten stacks in a circle", KUNWIND_CFA_STUCK, ARRAY_SIZE(circle), circle);
}

/* A call in the first function returns to @code + 0x200. */
static void signal_frame(const u8 *code, u64 size)
{
	mem.code_lo = CODE(1, 0);
	mem.code_hi = CODE(1, size);
	mem.code_delta = (u64)(uintptr_t)code - CODE(1, 0);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = CODE(1, 0x200);
	/*
	 * struct ucontext at word 1: struct sigcontext's rsp, rip and segments
	 */
	stack[1 + 5 + 15] = WORD(40);
	stack[1 + 5 + 16] = CODE(1, 0x300);
	stack[1 + 5 + 18] = 0x33;
	stack[41] = CALLER + 41;
}

/* A signal's trampoline without CFI, directly after a function with CFI. */
static void test_trampoline_behind(void)
{
	static u8 code[0x400];
	static const u8 bytes[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const u8 shorter[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05, 0x90, 0x90 };

	scene();
	OBJECT(0x400, { 0x000, 0x100, "" }, { 0x100, 0x100, "0e 18" }, { 0x300, 0x100, "0e 10" });
	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x200, bytes, sizeof(bytes));
	signal_frame(code, sizeof(code));
	WALK("trampoline directly after a function with CFI", NO_OBJECT, stack[0], CODE(1, 0x300),
	     CALLER + 41);
	memcpy(code + 0x200, shorter, sizeof(shorter));
	WALK("trampoline with a 32-bit mov, directly after a function with CFI",
	     NO_OBJECT, stack[0], CODE(1, 0x300), CALLER + 41);
	memcpy(code + 0x200, bytes, sizeof(bytes));
	stack[1 + 5 + 18] = 0x23;
	WALK("trampoline without a signal frame: the function's rule is used",
	     NO_OBJECT, stack[0], CALLER + 3);
	stack[1 + 5 + 18] = 0x33;
	WALK("trampoline with a signal frame again: the function's rule was not cached",
	     NO_OBJECT, stack[0], CODE(1, 0x300), CALLER + 41);
	code[0x201] = 0xc6;
	WALK("other code with a signal frame: the function's rule is used", NO_OBJECT, stack[0], CALLER + 3);
	code[0x201] = 0xc7;
	regs.r[KUNWIND_RA] = CODE(1, 0x150);
	stack[2] = CALLER + 2;
	WALK("a frame of the function before the trampoline", NO_OBJECT, CALLER + 2);

	/* return address undefined: nothing calls this function */
	scene();
	OBJECT(0x400, { 0x000, 0x100, "" }, { 0x100, 0x100, "07 10" }, { 0x300, 0x100, "0e 10" });
	signal_frame(code, sizeof(code));
	WALK("trampoline directly after a function that nothing calls", NO_OBJECT, stack[0],
	     CODE(1, 0x300), CALLER + 41);
	stack[1 + 5 + 18] = 0x23;
	WALK("trampoline after a function that nothing calls, without a signal frame", COMPLETE, stack[0]);

	/* CFA rsp + 8, return address far above it; second function by rbx */
	scene();
	OBJECT(0x400, { 0x000, 0x100, "10 10 03 77 80 02" }, { 0x100, 0x100, "0c 03 10" });
	mem.code_lo = CODE(1, 0);
	mem.code_hi = CODE(1, sizeof(code));
	mem.code_delta = (u64)(uintptr_t)code - CODE(1, 0);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[32] = CODE(1, 0x200);
	stack[1 + 5 + 18] = 0x33;
	mem.lo = WORD(12);
	WALK("signal frame that is partly unreadable", UNREADABLE, stack[32]);
}

/* A walk whose budget ends at a trampoline: no step by the function's rule. */
static void test_trampoline_budget(void)
{
	static u8 code[0x400];
	static const u8 bytes[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const u64 found[] = { CODE(1, 0x10), CODE(1, 0x200), CODE(1, 0x300), CALLER + 41 };
	u32 budget, i, bad = 0, most = 0;

	scene();
	OBJECT(0x400, { 0x000, 0x100, "" }, { 0x100, 0x100, "0e 18" }, { 0x300, 0x100, "0e 10" });
	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x200, bytes, sizeof(bytes));
	signal_frame(code, sizeof(code));
	for (budget = 1; budget < 100; budget++) {
		unsigned long addresses[8];
		struct kunwind_walk walk = { .ranges = ranges, .mem = mem, .regs = regs,
					     .addresses = addresses, .capacity = 8, .budget = budget };

		kunwind_walk(&walk);
		for (i = 0; i < walk.count; i++)
			bad += i >= ARRAY_SIZE(found) || addresses[i] != found[i];
		most = max(most, walk.count);
	}
	tap_ok(!bad && most == ARRAY_SIZE(found),
	       "any budget that ends at a trampoline: the addresses before it are found, and no others");
}

/* A system call that does not return is a function's last instruction. */
static void test_after_syscall(void)
{
	static u8 code[0x400];
	u32 last;

	for (last = 0; last < 2; last++) {
		scene();
		OBJECT(0x400, { 0x000, 0x100, last ? "07 10" : "" }, { 0x100, 0x100, "0e 18" },
		       { 0x200, 0x100, "10 06 02 77 00" });
		memset(code, 0x90, sizeof(code));
		memcpy(code + 0xfe, "\x0f\x05", 2);
		memcpy(code + 0x2fe, "\x0f\x05", 2);
		mem.code_lo = CODE(1, 0);
		mem.code_hi = CODE(1, sizeof(code));
		mem.code_delta = (u64)(uintptr_t)code - CODE(1, 0);
		regs.r[KUNWIND_RA] = CODE(1, 0x100);
		WALK("an interrupt after another function's system call: the rule of the address",
		     NO_OBJECT, CALLER + 2);
		regs.r[KUNWIND_RCX] = CODE(1, 0x100);
		if (last)
			WALK("a system call at the end of a thread's first function", COMPLETE);
		else
			WALK("a system call at the end of a function: that function's rule",
			     NO_OBJECT, CALLER);
		regs.valid &= ~KUNWIND_REG(KUNWIND_RCX);
		WALK("after a system call, rcx is not known: the rule of the address", NO_OBJECT, CALLER + 2);
		entry = KUNWIND_ENTRY_SYSCALL;
		if (last)
			WALK("a system call, by the kernel's word, at the end of a thread's first function",
			     COMPLETE);
		else
			WALK("a system call, by the kernel's word: the rule of the call", NO_OBJECT, CALLER);
		regs.valid = KUNWIND_ALL_REGS;
		entry = KUNWIND_ENTRY_OTHER;
		WALK("no system call, by the kernel's word, but rcx is the address",
		     NO_OBJECT, CALLER + 2);
		entry = KUNWIND_ENTRY_UNKNOWN;
		code[0xff] = 0x04;
		WALK("rcx is the address, but no system call precedes it", NO_OBJECT, CALLER + 2);
	}
	/* a full rule, and no function after it */
	regs.r[KUNWIND_RA] = regs.r[KUNWIND_RCX] = CODE(1, 0x300);
	WALK("a system call at the end of the last function", NO_OBJECT, CALLER);
}

/* Code of nops, with a system call that ends at @end. */
static void put_syscall(u32 end)
{
	static u8 code[0x400];

	memset(code, 0x90, sizeof(code));
	memcpy(code + end - 2, "\x0f\x05", 2);
	mem.code_lo = CODE(1, 0);
	mem.code_hi = CODE(1, sizeof(code));
	mem.code_delta = (u64)(uintptr_t)code - CODE(1, 0);
}

/* A system call is the last instruction of the first function. */
static void syscall_at_end(const char *second)
{
	scene();
	OBJECT(0x300, { 0x000, 0x100, "" }, { 0x100, 0x100, second }, { 0x200, 0x100, "S" });
	put_syscall(0x100);
}

/* If the code after a system call tests the result, the call returns: that address's own rule is used. */
static void test_after_syscall_result(void)
{
	static const struct {
		const char *name, *code;
		bool tests;
	} cases[] = {
		{ "cmp $n, %rax", "\x48\x3d\x01\xf0", true },
		{ "cmp $n, %eax", "\x3d\x01\xf0\xff", true },
		{ "test %rax, %rax", "\x48\x85\xc0\x90", true },
		{ "test %eax, %eax", "\x85\xc0\x90\x90", true },
		{ "test %rcx, %rcx", "\x48\x85\xc9\x90", false },
		{ "test %ecx, %ecx", "\x85\xc9\x90\x90", false },
	};
	char name[100];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		syscall_at_end("0e 18");
		memcpy((u8 *)(uintptr_t)(CODE(1, 0x100) + mem.code_delta), cases[i].code, 4);
		regs.r[KUNWIND_RA] = regs.r[KUNWIND_RCX] = CODE(1, 0x100);
		snprintf(name, sizeof(name), "after a system call: %s", cases[i].name);
		WALK(name, NO_OBJECT, cases[i].tests ? CALLER + 2 : CALLER);
	}
}

/* The rules of a system call and of the address after it differ in one part. */
static void test_after_syscall_parts(void)
{
	scene();
	OBJECT(0x400, { 0x000, 0x100, "0e 18 86 02" }, { 0x100, 0x100, "0e 18 86 03" },
	       { 0x200, 0x100, "0c 06 10" });
	put_syscall(0x100);
	stack[2] = CODE(1, 0x210);
	stack[1] = WORD(10);
	stack[0] = WORD(20);
	regs.r[KUNWIND_RA] = regs.r[KUNWIND_RCX] = CODE(1, 0x100);
	WALK("after a system call: the rules differ in the place of rbp", NO_OBJECT, stack[2], CALLER + 11);

	/* one says nothing of rbp, the other that it is unknown */
	scene();
	OBJECT(0x400, { 0x000, 0x100, "0e 18" }, { 0x100, 0x100, "0e 18 07 06" },
	       { 0x200, 0x100, "0c 06 10" });
	put_syscall(0x100);
	stack[2] = CODE(1, 0x210);
	regs.r[KUNWIND_RBP] = WORD(10);
	regs.r[KUNWIND_RA] = regs.r[KUNWIND_RCX] = CODE(1, 0x100);
	WALK("after a system call: the rules differ only in what they say of rbp", NO_OBJECT, stack[2],
	     CALLER + 11);

	/* the mapping ends with the system call */
	scene();
	OBJECT(0x300, { 0x000, 0x200, "" }, { 0x200, 0x100, "10 06 02 77 00" });
	put_syscall(0x300);
	regs.r[KUNWIND_RA] = regs.r[KUNWIND_RCX] = CODE(1, 0x300);
	WALK("a system call at the end of a mapping: the rule of the call", NO_OBJECT, CALLER);
}

static void test_after_syscall_budget(void)
{
	u32 budget, complete = 0;

	syscall_at_end("07 10");
	regs.r[KUNWIND_RA] = regs.r[KUNWIND_RCX] = CODE(1, 0x100);
	for (budget = 1; budget < 40; budget++) {
		unsigned long addresses[8];
		struct kunwind_walk walk = { .ranges = ranges, .cache = &cache, .mem = mem, .regs = regs,
					     .addresses = addresses, .capacity = 8, .budget = budget };

		complete += kunwind_walk(&walk) == KUNWIND_COMPLETE;
	}
	tap_ok(!complete, "any budget that ends after a system call: no complete stack");
	WALK("the budget suffices: the rule of the system call", NO_OBJECT, CALLER);

	syscall_at_end("0e 18");
	regs.r[KUNWIND_RA] = CODE(1, 0x250);
	stack[0] = CODE(1, 0x100);
	entry = KUNWIND_ENTRY_SYSCALL;
	WALK("a signal interrupted a frame after another function's system call: the rule of the address",
	     NO_OBJECT, stack[0], CALLER + 3);
}

static void test_minus_one(void)
{
	scene();
	OBJECT(0x1000,
	       { 0x000, 0x100, "" },
	       { 0x100, 0x100, "0e 18" },
	       { 0x200, 0x100, "S" },			/* a signal frame, short */
	       { 0x300, 0x100, "S 10 06 02 77 00" });	/* and full: rbp by an expression */
	regs.r[KUNWIND_RA] = CODE(1, 0x50);
	stack[0] = CODE(1, 0x100);
	WALK("return address after a function's last call: that function's rule is used", NO_OBJECT,
	     stack[0], CALLER + 1);
	regs.r[KUNWIND_RA] = CODE(1, 0x250);
	WALK("short rule of a signal frame: the interrupted address itself is looked up", NO_OBJECT,
	     stack[0], CALLER + 3);
	regs.r[KUNWIND_RA] = CODE(1, 0x350);
	WALK("full rule of a signal frame: the interrupted address itself is looked up", NO_OBJECT,
	     stack[0], CALLER + 3);
	/* a call through a null pointer */
	stack[0] = 0;
	WALK("a signal at address 0 does not end the stack, full rule", NO_OBJECT, 0);
	regs.r[KUNWIND_RA] = CODE(1, 0x250);
	WALK("a signal at address 0 does not end the stack, short rule", NO_OBJECT, 0);
	room = 1;
	WALK("a signal at address 0, no room for it", BUFFER_FULL);
	room = 8;
	regs.r[KUNWIND_RA] = CODE(1, 0x50);
	WALK("a return address of 0 ends the stack", COMPLETE);
}

/* A trampoline runs inside a function whose CFI covers it. */
static void test_trampoline_inside(void)
{
	static u8 code[0x400];
	static const u8 bytes[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const u8 shorter[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const u32 at[] = { 0, 7, 9 }, at_shorter[] = { 0, 5, 7 };
	const u32 word = WORD(1) % 16 ? 2 : 1;
	u32 i;

	scene();
	OBJECT(0x400, { 0x000, 0x100, "" }, { 0x100, 0x100, "0e 18" }, { 0x300, 0x100, "0e 10" });
	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x120, bytes, sizeof(bytes));
	memcpy(code + 0x160, shorter, sizeof(shorter));
	signal_frame(code, sizeof(code));
	/* the kernel aligns the signal frame */
	stack[word + 5 + 15] = WORD(40);
	stack[word + 5 + 16] = CODE(1, 0x300);
	stack[word + 5 + 18] = 0x33;
	regs.r[KUNWIND_RSP] = WORD(word);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		regs.r[KUNWIND_RA] = CODE(1, 0x120) + at[i];
		WALK("instruction of a trampoline inside a function", NO_OBJECT, CODE(1, 0x300), CALLER + 41);
		regs.r[KUNWIND_RA] = CODE(1, 0x160) + at_shorter[i];
		WALK("instruction of a trampoline with a 32-bit mov", NO_OBJECT, CODE(1, 0x300), CALLER + 41);
	}
	stack[word + 2] = CALLER + 3;
	regs.r[KUNWIND_RA] = CODE(1, 0x150);
	WALK("instruction of that function outside of the trampoline", NO_OBJECT, CALLER + 3);
	/* words that look like a signal frame, at an address where the kernel puts none */
	stack[word + 1 + 5 + 15] = WORD(40);
	stack[word + 1 + 5 + 16] = CODE(1, 0x300);
	stack[word + 1 + 5 + 18] = 0x33;
	stack[word + 3] = CALLER + 4;
	regs.r[KUNWIND_RSP] = WORD(word + 1);
	regs.r[KUNWIND_RA] = CODE(1, 0x127);
	WALK("before a trampoline's system call, rsp is not aligned: no signal frame", NO_OBJECT, CALLER + 4);
}

/*
 * At the entry of rt_sigreturn, the program counter is after the trampoline's
 * last instruction, where no FDE need be. Other functions' rules do not count
 * there.
 */
static void test_trampoline_end(void)
{
	static const char *const codes[] = { "S 10 06 02 77 00", "10 06 02 77 00", "S" };
	static const char *const names[] = {
		"after a signal trampoline's last instruction, its rule is found",
		"after another function's last instruction, a full rule is not found",
		"after a signal frame's last instruction, a short rule is not found",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		scene();
		OBJECT(0x1000, { 0x000, 0x100, "0e 18" }, { 0x100, 0x10, codes[i] });
		stack[0] = CODE(1, 0x10);
		regs.r[KUNWIND_RA] = CODE(1, 0x110);
		if (i)
			WALK(names[i], NO_RULE);
		else
			WALK(names[i], NO_OBJECT, stack[0], CALLER + 3);
	}
}

/* A handler on an alternate stack above the interrupted one. */
static void test_signal_stack(void)
{
	scene();
	OBJECT(0x1000, { 0, 0x100, "S 16 07 02 7c 00" }, { 0x100, 0x100, "0e 18" },
	       { 0x200, 0x100, "S 83 02" });
	regs.r[KUNWIND_RSP] = WORD(40);
	regs.r[KUNWIND_R12] = WORD(4);
	regs.r[KUNWIND_RA] = CODE(1, 0x50);
	stack[40] = CODE(1, 0x100);
	WALK("signal frame: the interrupted stack may lie below the handler's", NO_OBJECT, stack[40],
	     CALLER + 6);
	/* a rule that could be a short one if it were not a signal frame's */
	regs.r[KUNWIND_RSP] = WORD(10);
	stack[10] = CODE(1, 0x100);
	regs.r[KUNWIND_RA] = CODE(1, 0x250);
	WALK("signal frame that saves a register at a usual place: still a signal frame", NO_OBJECT,
	     stack[10], CALLER + 13);
}

static void test_room(void)
{
	scene();
	OBJECT(0x1000, { 0, 0x100, "" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = CODE(1, 0x20);
	stack[1] = CODE(1, 0x30);
	stack[2] = 0;
	WALK("a stack that ends with zero", COMPLETE, stack[0], stack[1]);
	room = 3;
	WALK("a stack that fills the capacity exactly", COMPLETE, stack[0], stack[1]);
	room = 2;
	WALK("a stack with one address more than the capacity", BUFFER_FULL, stack[0]);
	room = 1;
	WALK("a capacity of one address", BUFFER_FULL);
	room = 8;
	stack[2] = 1ULL << 60;
	WALK("a return address outside user memory", BAD_ADDRESS, stack[0], stack[1]);
	room = 3;
	WALK("a return address outside user memory, at the capacity", BAD_ADDRESS, stack[0], stack[1]);
}

/* The caller's CFA is in a register that the callee's table does not follow. */
static void test_registers(void)
{
	static const struct {
		const char *name, *code;
	} callees[] = {
		{ "by rsp", "0e 08" },
		{ "by rsp, rbp saved", "0e 18 86 02" },
		{ "by rbp", "0c 06 10" },
		{ "by rbp, which is saved", "0c 06 10 86 02" },
		{ "by r15", "0c 0f 10" },
		{ "by a full rule", "0f 03 77 18 96" },
	};
	unsigned int i;
	char name[100];

	for (i = 0; i < ARRAY_SIZE(callees); i++) {
		unsigned int word;

		scene();
		object(&(struct function){ 0, 0x100, callees[i].code }, 1, 0x1000);
		OBJECT(0x1000, { 0, 0x100, "0c 03 10" });	/* by rbx */
		regs.r[KUNWIND_RA] = CODE(1, 0x10);
		regs.r[KUNWIND_RBP] = WORD(4);
		for (word = 0; word < 30; word++)
			stack[word] = CODE(2, 0x10);
		snprintf(name, sizeof(name), "a table that does not follow rbx leaves it unknown: %s",
			 callees[i].name);
		regs.r[KUNWIND_R15] = WORD(4);
		WALK(name, REG_UNKNOWN, CODE(2, 0x10));
	}

	/* rbp undefined, then needed */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0e 18 07 06" }, { 0x100, 0x100, "0c 06 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[2] = CODE(1, 0x110);
	WALK("an undefined rbp does not keep the callee's value", REG_UNKNOWN, stack[2]);

	/* saved where nothing can be read */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0e 18 86 03" }, { 0x100, 0x100, "0f 03 76 10 96" },
	       { 0x200, 0x100, "0c 06 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[2] = CODE(1, 0x110);
	mem.lo = WORD(1);
	WALK("full rule: a saved rbp that cannot be read does not keep the callee's value",
	     REG_UNKNOWN, stack[2]);
	stack[2] = CODE(1, 0x210);
	WALK("short rule: a saved rbp that cannot be read does not keep the callee's value",
	     UNREADABLE, stack[2]);
	tap_ok(unread[0] == WORD(3) && unread[1] == WORD(0),
	       "unreadable rbp: the walk reports its stack pointer and the place of rbp");

	/*
	 * a saved register that cannot be read, though the return address can
	 */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0e 18 83 03" }, { 0x100, 0x100, "0c 03 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[2] = CODE(1, 0x110);
	stack[0] = WORD(20);
	WALK("a register saved on the stack has the caller's value", NO_OBJECT, stack[2], CALLER + 21);
	mem.lo = WORD(1);
	WALK("a saved register that cannot be read does not keep the callee's value", REG_UNKNOWN, stack[2]);

	/* a rule that needs an unknown register */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0c 03 10" }, { 0x100, 0x100, "0c 03 10 10 06 02 77 00" },
	       { 0x200, 0x100, "0f 03 73 10 96" }, { 0x300, 0x100, "09 10 03" });
	regs.valid &= ~KUNWIND_REG(KUNWIND_RBX);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	WALK("unknown register: CFA by a short rule", REG_UNKNOWN);
	regs.r[KUNWIND_RA] = CODE(1, 0x110);
	WALK("unknown register: CFA by a full rule", REG_UNKNOWN);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	WALK("unknown register: CFA by an expression", REG_UNKNOWN);
	regs.r[KUNWIND_RA] = CODE(1, 0x310);
	WALK("unknown register: return address", REG_UNKNOWN);
	scene();
	OBJECT(0x1000, { 0, 0x100, "0c 06 10 86 02" }, { 0x100, 0x100, "0c 06 10" });
	regs.r[KUNWIND_RBP] = WORD(4);
	regs.valid &= ~KUNWIND_REG(KUNWIND_RBP);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	WALK("unknown rbp: CFA by rbp, which is saved", REG_UNKNOWN);
	regs.r[KUNWIND_RA] = CODE(1, 0x110);
	WALK("unknown rbp: CFA by rbp", REG_UNKNOWN);
}

/* Without room, or without rip or rsp, there is no walk; of what the last one found, nothing stays. */
static void test_no_walk(void)
{
	static const u32 needed[] = { KUNWIND_RSP, KUNWIND_RA };
	unsigned long address = 0;
	enum kunwind_reason reason;
	u32 i;

	for (i = 0; i <= ARRAY_SIZE(needed); i++) {
		struct kunwind_walk walk;

		scene();
		OBJECT(0x1000, { 0, 0x100, "" });
		regs.r[KUNWIND_RA] = CODE(1, 0x10);
		walk = (struct kunwind_walk){ .ranges = ranges, .mem = mem, .regs = regs, .count = 3,
					      .addresses = &address, .capacity = i < ARRAY_SIZE(needed) };
		if (i < ARRAY_SIZE(needed))
			walk.regs.valid &= ~KUNWIND_REG(needed[i]);
		reason = kunwind_walk(&walk);
		tap_ok(reason == (walk.capacity ? KUNWIND_REG_UNKNOWN : KUNWIND_BUFFER_FULL) &&
		       !walk.count && !address && !walk.others, "no walk: %s",
		       i == 0 ? "rsp is not known" : i == 1 ? "rip is not known" : "there is no room");
	}
}

/* Equal addresses, other mappings: the cache distinguishes them by id. */
static void test_id(void)
{
	struct kunwind_range first, second;

	scene();
	first = *OBJECT(0x1000, { 0, 0x100, "0e 18" });
	second = *OBJECT(0x1000, { 0, 0x100, "0e 30" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	WALK("cache: the first table's rule", NO_OBJECT, CALLER + 2);
	ranges->range[0].table = second.table;
	ranges->range[1].table = first.table;
	ranges->id += 1000000;
	WALK("cache: another table at the same address: its own rule", NO_OBJECT, CALLER + 5);
	ranges->range[0].table = first.table;
	ranges->range[1].table = second.table;
	ranges->id -= 1000000;
	WALK("cache: the first table again: the first table's rule", NO_OBJECT, CALLER + 2);
}

int main(void)
{
	test_ranges();
	test_entry();
	test_lower();
	test_trampoline_behind();
	test_trampoline_inside();
	test_trampoline_budget();
	test_after_syscall();
	test_after_syscall_result();
	test_after_syscall_parts();
	test_after_syscall_budget();
	test_minus_one();
	test_trampoline_end();
	test_signal_stack();
	test_room();
	test_registers();
	test_id();
	test_no_walk();
	return tap_done();
}
