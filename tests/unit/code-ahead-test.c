/* SPDX-License-Identifier: MIT */
/*
 * code-ahead-test.c - return addresses by the code ahead, against the CFI of
 * real objects
 *
 * At each instruction of a real object, and after each call, the code ahead
 * must agree with the object's own rule about the return address and the
 * caller's rbp, or report that they are not known. It may be wrong if other
 * code directly follows a call that never returns: in at most 1 % of the places
 * after calls, and nowhere in libc. Then hand-written code.
 */
#include "../../kmod/core/cfi/cfi.h"
#include "../../kmod/core/x86/insn_decode.h"
#include "../../kmod/core/table/table.h"
#include "../../kmod/core/nocfi/code_ahead.h"
#include "../../kmod/core/nocfi/code_analysis.h"
#include "../../kmod/core/walk/mem.h"
#include "eh.h"
#include "object.h"
#include "tap.h"

struct counts {
	u64 right, wrong, unknown;
	u64 other;		/* the object counts from the other register */
	u64 weak;		/* nothing is taken off, or nops were passed: step.c asks for more */
};

struct corpus {
	const struct kunwind_table *table;
	bool i386;
	struct kunwind_mem mem;
	struct counts at, behind, rbp;
};

/* Compares the code ahead of @addr with the rule for @looked_up. */
static void compare(struct corpus *c, u64 addr, u64 looked_up, struct counts *counts)
{
	const struct kunwind_rule rule = kunwind_table_lookup(c->table, looked_up);
	struct kunwind_code code;
	const s32 word = c->i386 ? 4 : 8;
	s32 rbp_at;

	if ((rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_CFA ||
	    (rule.reg != KUNWIND_RSP && rule.reg != KUNWIND_RBP))
		return;
	c->mem.left = KUNWIND_BUDGET;
	if (!kunwind_code_ahead(&c->mem, c->i386, addr, 0, &code)) {
		counts->unknown++;
		return;
	}
	if (code.realigned || (rule.reg == KUNWIND_RBP) != (code.depth < 0)) {
		counts->other++;
		return;
	}
	if (code.unsure || (counts == &c->behind && (!code.depth || (c->i386 && code.depth > 0)))) {
		counts->weak++;
		return;
	}
	if ((code.depth < 0 ? code.frame : code.depth) != rule.off - word) {
		if (counts->wrong++ < 12)
			printf("# %#lx: %s + %d, CFI %d\n", (unsigned long)addr,
			       code.depth < 0 ? "rbp" : "rsp",
			       code.depth < 0 ? code.frame : code.depth, rule.off - word);
		return;
	}
	counts->right++;
	rbp_at = rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3 ? -word - rule.rbp : -1;
	/*
	 * popped already: the saved word is still there, and rbp has its value
	 */
	if (code.rbp_at == rbp_at || (code.rbp_at == -1 && code.depth >= 0 && rbp_at > code.depth))
		c->rbp.right++;
	else if (code.rbp_at == KUNWIND_CODE_RBP_LOST)
		c->rbp.unknown++;
	else if (c->rbp.wrong++ < 12)
		printf("# %#lx: rbp at %d, CFI %d\n", (unsigned long)addr, code.rbp_at, rbp_at);
}

/* In 32-bit code also lea 0(%esi), %esi. */
static bool is_nop(const struct kunwind_insn *insn)
{
	if (!insn->map && insn->op == 0x8d && !insn->disp && !insn->on_rsp)
		return (insn->modrm & 7) == 4 || (insn->modrm >> 3 & 7) == (insn->modrm & 7);
	return insn->map == 1 ? insn->op == 0x1f : !insn->map && insn->op == 0x90;
}

static bool ends(const struct kunwind_insn *insn)
{
	return !insn->map && (insn->op == 0xc3 || insn->op == 0xe9 || insn->op == 0xeb ||
			      (insn->op == 0xff && (insn->modrm >> 3 & 7) == 4));
}

static void function(struct corpus *c, u64 start, u64 end)
{
	struct kunwind_mem mem = c->mem;
	struct kunwind_text text = { .mem = &mem, .i386 = c->i386, .left = ~0U };
	struct kunwind_insn insn;
	bool padding = false;
	u64 at = start;

	mem.left = ~0U;
	for (;;) {
		if (!padding)
			compare(c, at, at, &c->at);
		if (!kunwind_insn_next(&text, at, &insn))
			return;
		at += insn.length;
		padding = ends(&insn) || (padding && is_nop(&insn));
		if (!insn.map && (insn.op == 0xe8 ||
				  (insn.op == 0xff && (insn.modrm >> 3 & 7) == 2)))
			compare(c, at, at - 1, &c->behind);
		if (at >= end)
			return;
	}
}

static void functions(struct corpus *c, const struct object *o)
{
	struct kunwind_record record;
	struct kunwind_cie cie;
	struct kunwind_fde fde;
	size_t offset;

	for (offset = 0;; offset = record.end) {
		if (kunwind_record_read(&o->section, offset, &record) ||
		    record.kind == KUNWIND_RECORD_END)
			break;
		if (record.kind != KUNWIND_RECORD_FDE ||
		    kunwind_cie_read(&o->section, record.cie, &cie) || cie.signal ||
		    kunwind_fde_read(&o->section, &record, &cie, &fde) || !fde.len)
			continue;
		function(c, fde.start, fde.start + fde.len);
	}
}

static u64 of(const char *what, const struct counts *c)
{
	printf("# %s: %lu right, %lu wrong, %lu not known, %lu by the other register, "
	       "%lu weak\n", what,
	       (unsigned long)c->right, (unsigned long)c->wrong, (unsigned long)c->unknown,
	       (unsigned long)c->other, (unsigned long)c->weak);
	return c->right + c->wrong + c->unknown;
}

/*
 * At most @percent percent of the places after calls may have a wrong answer.
 * More than @least_at percent of all instructions must have the right one, and
 * more than @least_behind percent of the places after calls.
 */
static void test_object(const char *path, u32 percent, u32 least_at, u32 least_behind)
{
	struct kunwind_table *table;
	struct corpus c = { };
	struct object o;
	u64 at, behind;

	if (object_open(&o, path))
		return;
	if (kunwind_table_build(&o.section, 0, 1UL << 30, NULL, NULL, &table))
		return;
	object_code(&o, &c.mem);
	c.table = table;
	c.i386 = o.section.i386;
	functions(&c, &o);
	at = of("at instructions", &c.at);
	behind = of("after calls", &c.behind);
	of("rbp", &c.rbp);
	tap_ok(at > 10000 && c.at.wrong * 500 < at && c.at.right * 100 > at * least_at,
	       "code ahead: return addresses at instructions of %s agree with its CFI", path);
	tap_ok(behind > 1000 && c.behind.wrong * 100 <= behind * percent &&
	       c.behind.right * 100 > behind * least_behind,
	       "code ahead: return addresses after calls in %s agree with its CFI", path);
	tap_ok(c.rbp.wrong * 5000 < at, "code ahead: places of the saved rbp in %s agree with its CFI", path);
	kunwind_table_free(table);
	object_close(&o);
}

#define UNSURE	0x1000	/* added to the depth */
#define NO	(-100)		/* nothing is known */
#define LOST	KUNWIND_CODE_RBP_LOST

/* How far the return address is from rsp, or from rbp. */
static const struct ahead_case {
	const char *name, *hex;
	s32 depth, frame, rbp_at;
} cases[] = {
	{ "ret", "c3", 0, -1, -1 },
	{ "rep ret", "f3 c3", 0, -1, -1 },
	{ "bnd ret", "f2 c3", 0, -1, -1 },
	{ "ret and bytes", "c2 10 00", 0, -1, -1 },
	{ "pop %rbx", "5b c3", 8, -1, -1 },
	{ "pop %r12", "41 5c c3", 8, -1, -1 },
	{ "pop %rsp", "5c c3", NO, 0, 0 },
	{ "popf", "9d c3", 8, -1, -1 },
	{ "pop to memory", "8f 00 c3", 8, -1, -1 },
	{ "pop %rbx by 8f /0", "8f c3 c3", 8, -1, -1 },
	{ "pop %rsp by 8f /0", "8f c4 c3", NO, 0, 0 },
	{ "pop %rbp by 8f /0", "8f c5 c3", 8, -1, 8 },
	{ "push and pop", "50 5b 41 54 41 5d c3", 0, -1, -1 },
	{ "push of a byte, of four, and of memory",
	  "6a 01 68 00 00 00 00 ff 33 9c 48 83 c4 20 c3", 0, -1, -1 },
	{ "add to %rsp, one byte", "48 83 c4 18 c3", 24, -1, -1 },
	{ "add to %rsp, four bytes", "48 81 c4 00 01 00 00 c3", 256, -1, -1 },
	{ "sub from %rsp", "48 83 ec 10 48 83 c4 28 c3", 24, -1, -1 },
	{ "sub of less than nothing", "48 83 ec 80 c3", 128, -1, -1 },
	{ "add to %esp", "83 c4 08 c3", NO, 0, 0 },
	{ "add to %r12", "49 83 c4 08 c3", 0, -1, -1 },
	{ "and with %rsp", "48 83 e4 f0 c3", NO, 0, 0 },
	{ "cmp with %rsp", "48 83 fc 08 c3", 0, -1, -1 },
	{ "add of a register to %rsp", "48 01 c4 c3", NO, 0, 0 },
	{ "sub of %rsp from a register", "48 29 e0 c3", 0, -1, -1 },
	{ "lea n(%rsp), %rsp", "48 8d 64 24 20 c3", 32, -1, -1 },
	{ "lea of four bytes", "48 8d a4 24 00 01 00 00 c3", 256, -1, -1 },
	{ "lea (%rsp,%rax), %rsp", "48 8d 24 04 c3", NO, 0, 0 },
	{ "lea n(%rsp,%rbx,8), %rsp", "48 8d 64 dc 20 c3", NO, 0, 0 },
	{ "lea n(%esp), %rsp", "67 48 8d 64 24 20 c3", NO, 0, 0 },
	{ "lea n(%ebp), %rsp; pop %rbp", "67 48 8d 65 f0 5d c3", NO, 0, 0 },
	{ "push2 %rbx, %rbp; pop2 %rbp, %rbx", "62 f4 64 18 ff f5 62 f4 54 18 8f c3 c3", 0, -1, -1 },
	{ "pop2 %rbx, %rbp", "62 f4 64 18 8f c5 c3", 16, -1, 8 },
	{ "pop2 %rbp, %rbx", "62 f4 54 18 8f c3 c3", 16, -1, 16 },
	{ "movq %xmm0, %rsp", "66 48 0f 7e c4 c3", NO, 0, 0 },
	{ "lea n(%r12), %rsp", "49 8d 64 24 20 c3", NO, 0, 0 },
	{ "lea n(%rip), %rsp", "48 8d 25 00 00 00 00 c3", NO, 0, 0 },
	{ "lea n(%rsp), %esp", "8d 64 24 20 c3", NO, 0, 0 },
	{ "lea n(%rsp), %rax", "48 8d 44 24 20 c3", 0, -1, -1 },
	{ "mov %rax, %rsp", "48 89 c4 c3", NO, 0, 0 },
	{ "mov %r12, %rsp", "4c 89 e4 c3", NO, 0, 0 },
	{ "mov %rsp, %r12", "49 89 e4 c3", 0, -1, -1 },
	/* mov %rsp, %r12; and $-16, %rsp; call; mov %r12, %rsp; pop %rbx; ret */
	{ "rsp is copied, aligned, and restored",
	  "49 89 e4 48 83 e4 f0 e8 10 00 00 00 4c 89 e4 5b c3", 8, -1, -1 },
	{ "the same by 8b", "4c 8b e4 48 83 e4 f0 e8 10 00 00 00 49 8b e4 5b c3", 8, -1, -1 },
	{ "rsp is copied to rbx by lea", "48 8d 5c 24 08 48 83 e4 f0 48 89 dc c3", 8, -1, -1 },
	{ "rsp is copied, and restored by lea", "48 89 e3 48 83 e4 f0 48 8d 63 10 c3", 16, -1, -1 },
	{ "rsp is copied, and the copy is written", "49 89 e4 48 83 e4 f0 4d 31 e4 4c 89 e4 c3", NO, 0, 0 },
	{ "rsp is copied, and restored from another register", "49 89 e4 48 83 e4 f0 4c 89 ec c3", NO, 0, 0 },
	{ "rsp is copied to a register that calls do not keep",
	  "49 89 e3 48 83 e4 f0 4c 89 dc c3", NO, 0, 0 },
	{ "mov n(%rsp), %rsp", "48 8b 64 24 08 c3", NO, 0, 0 },
	{ "mov of a number to %rsp", "48 bc 00 00 00 00 00 00 00 00 c3", NO, 0, 0 },
	{ "mov of a number to %r12", "49 bc 00 00 00 00 00 00 00 00 c3", 0, -1, -1 },
	{ "xchg %rsp, %rax", "48 94 c3", NO, 0, 0 },
	{ "xchg %r12, %rax", "49 94 c3", 0, -1, -1 },
	{ "xchg %rsp, %rbx", "48 87 dc c3", NO, 0, 0 },
	{ "cmov to %rsp", "48 0f 44 e0 c3", NO, 0, 0 },

	{ "leave", "c9 c3", NO + 1, 8, 8 },
	{ "alloca'ed stack and leave", "48 29 c4 48 89 e7 c9 c3", NO + 1, 8, 8 },
	{ "mov %rbp, %rsp; pop %rbp", "48 89 ec 5d c3", NO + 1, 8, 8 },
	{ "mov %rbp, %rsp by 8b; pop %rbp", "48 8b e5 5d c3", NO + 1, 8, 8 },
	{ "lea -n(%rbp), %rsp", "48 8d 65 e8 5b 41 5c 41 5d 5d c3", NO + 1, 8, 8 },
	{ "lea (%rbp), %rsp", "48 8d 65 00 5d c3", NO + 1, 8, 8 },
	{ "rsp from rbp, nothing taken off", "48 89 ec c3", NO, 0, 0 },
	{ "rsp from rbp, below it", "48 8d 65 f8 c3", NO, 0, 0 },
	{ "mov %r13, %rsp; pop %rbp", "4c 89 ec 5d c3", NO, 0, 0 },
	{ "a frame pointer made on the way", "55 48 89 e5 48 83 ec 20 c9 c3", 0, -1, -1 },
	{ "a frame pointer made on the way, below a saved word", "55 48 89 e5 c9 5b c3", 8, -1, -1 },
	{ "a frame pointer made by lea", "55 48 8d 2c 24 48 83 ec 20 c9 c3", 0, -1, -1 },
	{ "a frame pointer made by lea n(%rsp)", "55 48 83 ec 10 48 8d 6c 24 10 c9 c3", 0, -1, -1 },
	{ "a frame pointer that is changed, and leave", "48 89 c5 c9 c3", NO, 0, 0 },
	{ "a frame pointer that is added to", "48 83 c5 10 c9 c3", NO, 0, 0 },
	{ "lea n(%rbp), %rbp; leave", "48 8d 6d 10 c9 c3", NO, 0, 0 },
	{ "lea 0(%rbp), %rbp: Mono aligns calls by it", "48 8d 6d 00 48 83 c4 18 c3", 24, -1, -1 },
	{ "lea n(%rip), %rbp; leave", "48 8d 2d 00 00 00 00 c9 c3", NO, 0, 0 },
	{ "mov (%rbp), %rbp; leave", "48 8b 6d 00 c9 c3", NO, 0, 0 },
	{ "cmov to %rbp; leave", "48 0f 44 e8 c9 c3", NO, 0, 0 },
	{ "mov of a number to %ebp; leave", "bd 01 00 00 00 c9 c3", NO, 0, 0 },
	{ "mov of a number to %r13d; leave", "41 bd 01 00 00 00 c9 c3", NO + 1, 8, 8 },
	{ "xchg %rbp, %rax; leave", "48 95 c9 c3", NO, 0, 0 },

	{ "pop %rbp", "5d c3", 8, -1, 8 },
	{ "pop %r13", "41 5d c3", 8, -1, -1 },
	{ "pop of rbx and rbp", "5b 5d c3", 16, -1, 8 },
	{ "pop of rbp and rbx", "5d 5b c3", 16, -1, 16 },
	{ "pop %rbp twice: the last", "5d 5d c3", 16, -1, 8 },
	{ "pop %rbp, and used then", "5d 31 ed c3", 8, -1, LOST },
	{ "rbp is used and not restored", "31 ed c3", 0, -1, LOST },
	{ "rbp pushed and popped", "55 31 ed 5d c3", 0, -1, -1 },
	{ "rbp pushed on the way, and another popped", "55 31 ed 5b c3", 0, -1, LOST },
	{ "rbp popped from a place that was popped before and overwritten", "5b 50 5d c3", 8, -1, LOST },
	{ "rbp popped from where it was pushed, in place of a popped word", "5b 55 31 ed 5d c3", 8, -1, -1 },
	{ "a call with the return address on top of the stack", "ff d0 c3", NO, 0, 0 },
	{ "a call with a word on top of the return address", "ff d0 5b c3", 8, -1, -1 },
	{ "a call in a function that is jumped to", "5b eb 01 06 50 ff d0 58 c3", 8, -1, -1 },
	{ "rbp pushed; its place written anew", "55 5b 53 5d c3", 0, -1, LOST },
	{ "rbp pushed; its place overwritten by mov", "55 48 89 04 24 5d c3", 0, -1, LOST },
	{ "rbp popped from a word that the path did not write", "48 83 ec 08 5d c3", 0, -1, LOST },
	{ "mov n(%rsp), %rbp", "48 8b 6c 24 10 48 83 c4 18 c3", 24, -1, 8 },
	{ "mov (%rsp), %rbp", "48 8b 2c 24 48 83 c4 18 c3", 24, -1, 24 },
	{ "mov n(%rsp), %ebp", "8b 6c 24 10 48 83 c4 18 c3", 24, -1, LOST },
	{ "mov n(%rsp), %r13", "4c 8b 6c 24 10 48 83 c4 18 c3", 24, -1, -1 },
	{ "mov from above the return address", "48 8b 6c 24 20 48 83 c4 18 c3", 24, -1, LOST },
	{ "rbp is saved by mov on the way", "48 89 6c 24 08 31 ed 48 8b 6c 24 08 48 83 c4 18 c3",
	  24, -1, -1 },
	{ "the changed rbp is saved", "55 31 ed 48 83 ec 08 48 89 2c 24 59 5d c3", 0, -1, -1 },
	/*
	 * push %rbp; mov %rsp, %rbp; pop %rbp; jmp 1f; 1: push %rbp; mov ...;
	 * pop %rbp; ret
	 */
	{ "rbp is pushed by the function that is jumped to", "5d eb 02 06 06 55 48 89 e5 5d c3", 8, -1, 8 },

	{ "a jump forwards", "eb 02 06 06 5b c3", 8, -1, -1 },
	{ "a long jump", "e9 02 00 00 00 06 06 5b c3", 8, -1, -1 },
	{ "a jump to the next instruction", "eb 00 5b c3", 8, -1, -1 },
	{ "a jump to itself", "eb fe", NO, 0, 0 },
	{ "a jump out of what can be read", "e9 00 00 00 40", NO, 0, 0 },
	{ "a jump to an address far away", "e9 ff ff ff 7f", NO, 0, 0 },
	{ "jmp *n(%rip)", "5b ff 25 00 00 00 00", 8, -1, -1 },
	{ "bnd jmp *n(%rip)", "5b f2 ff 25 00 00 00 00", 8, -1, -1 },
	{ "jmp *%rax", "5b ff e0", NO, 0, 0 },
	{ "jmp *(%rax)", "5b ff 20", NO, 0, 0 },
	{ "jmp by a table", "ff 24 c5 00 00 00 00", NO, 0, 0 },
	/* je 1f; jmp *%rax; 1: pop; ret */
	{ "jmp *%rax, and another way", "74 02 ff e0 5b c3", 8, -1, -1 },
	{ "jmp *%rax, and another way by a long conditional jump",
	  "0f 84 02 00 00 00 ff e0 5b c3", 8, -1, -1 },
	{ "jmp *%rax, and another way by jrcxz", "e3 02 ff e0 5b c3", 8, -1, -1 },
	{ "the state is that of the jump", "53 74 05 48 83 c4 40 f4 5b 5b c3", 8, -1, -1 },
	{ "the nearest of two places", "74 04 74 03 ff e0 5b 5b c3", 16, -1, -1 },
	{ "the nearest of two places is that of the second jump", "74 05 74 02 ff e0 5b 5b c3", 16, -1, -1 },
	/* 1: dec %ecx; jne 1b; pop; ret */
	{ "a loop", "ff c9 75 fc 5b c3", 8, -1, -1 },
	/* 1: dec %ecx; je 2f; jmp 1b; 2: pop; ret */
	/* je 2f; 1: je 3f; dec %eax; jmp 1b; 2: jmp *%rax; 3: pop; ret */
	{ "the code after a loop comes first", "74 07 74 07 ff c8 eb fa 90 ff e0 5b c3", 8, -1, -1 },
	{ "a loop that a jump leaves", "ff c9 74 02 eb fa 5b c3", 8, -1, -1 },
	{ "a loop that nothing leaves", "ff c9 90 eb fb", NO, 0, 0 },
	{ "a jump backwards for a condition, and no way on", "eb 02 5b c3 74 fc ff e0", NO, 0, 0 },

	{ "call", "e8 10 00 00 00 5b c3", 8, -1, -1 },
	{ "call by a register", "ff d0 5b c3", 8, -1, -1 },
	{ "a far call", "ff 18 5b c3", 8, -1, -1 },
	{ "call and a nop", "e8 10 00 00 00 90 5b c3", UNSURE + 8, -1, -1 },
	{ "call and nops that align", "e8 10 00 00 00 90 90 90 5b c3", NO, 0, 0 },
	{ "call and a long nop that aligns", "e8 10 00 00 00 0f 1f 00 5b c3", NO, 0, 0 },
	{ "call and a long nop that aligns a call",
	  "e8 10 00 00 00 0f 1f 00 e8 10 00 00 00 5b c3", UNSURE + 8, -1, -1 },
	{ "call and a long nop that aligns a jump",
	  "e8 10 00 00 00 0f 1f 00 eb 01 06 5b c3", UNSURE + 8, -1, -1 },
	{ "a jump leads to a place that is not after the nop",
	  "75 09 e8 10 00 00 00 66 90 58 c3 58 58 c3", 16, -1, -1 },
	/* je 1f; jmp 2f; 1: je 3f; ud2; 2: call; xchg %ax, %ax; 3: pop; ret */
	{ "a jump leads after the nop, from another place",
	  "74 02 eb 04 74 09 0f 0b e8 10 00 00 00 66 90 58 c3", 8, -1, -1 },
	{ "a jump leads to the code after the nop", "74 08 53 e8 10 00 00 00 90 90 5b c3", 8, -1, -1 },
	{ "call and a nop, and a conditional jump follows",
	  "e8 10 00 00 00 90 74 01 06 5b c3", UNSURE + 8, -1, -1 },
	{ "call and endbr64", "ff d0 f3 0f 1e fa 5b c3", NO, 0, 0 },
	{ "call and endbr32", "ff d0 f3 0f 1e fb 5b c3", NO, 0, 0 },
	{ "call and rdsspq %rax", "ff d0 f3 48 0f 1e c8 5b c3", 8, -1, -1 },
	{ "call and a nop with the opcode of endbr64", "ff d0 0f 1e fa 5b c3", 8, -1, -1 },
	{ "call and xchg %r8, %rax", "ff d0 49 90 5b c3", 8, -1, -1 },
	{ "two nops", "90 90 5b c3", 8, -1, -1 },
	{ "call, pop and a nop", "ff d0 5b 90 c3", 8, -1, -1 },
	/* je 1f; push; call; 1: pop; ret */
	{ "a call that does not return: a jump after it has another depth",
	  "74 06 53 e8 10 00 00 00 5b c3", 8, -1, -1 },
	{ "a call that returns, and a jump of the same depth", "74 05 e8 10 00 00 00 5b c3", 8, -1, -1 },
	{ "a call of what follows it", "e8 00 00 00 00 5b c3", 0, -1, -1 },
	{ "a call of the nop that follows it", "e8 00 00 00 00 90 5b 5b c3", 8, -1, -1 },
	{ "ud2", "0f 0b 5b c3", NO, 0, 0 },
	{ "ud1", "0f b9 00 5b c3", NO, 0, 0 },
	{ "hlt", "f4 5b c3", NO, 0, 0 },
	{ "int3", "cc 5b c3", NO, 0, 0 },
	{ "int", "cd 80 5b c3", NO, 0, 0 },
	{ "lret", "5b cb", NO, 0, 0 },
	{ "iret", "48 cf", NO, 0, 0 },
	{ "enter", "c8 10 00 00 c9 c3", NO, 0, 0 },
	{ "syscall", "b8 01 00 00 00 0f 05 5b c3", 8, -1, -1 },
	{ "exit", "b8 3c 00 00 00 0f 05 5b c3", NO, 0, 0 },
	{ "exit_group", "b8 e7 00 00 00 0f 05 5b c3", NO, 0, 0 },
	{ "rt_sigreturn", "b8 0f 00 00 00 0f 05 5b c3", NO, 0, 0 },
	{ "rt_sigreturn by a mov of 7 bytes", "48 c7 c0 0f 00 00 00 0f 05 5b c3", NO, 0, 0 },
	{ "exit's number in r8", "41 b8 3c 00 00 00 0f 05 5b c3", 8, -1, -1 },
	{ "exit, and another way", "74 07 b8 3c 00 00 00 0f 05 5b c3", 8, -1, -1 },
	{ "exit's number, and another one", "b8 3c 00 00 00 31 c0 0f 05 5b c3", 8, -1, -1 },

	{ "leave; pop; arguments are taken off; push; ret", "c9 59 49 8d 67 08 51 c3", -1, 8, 8 },
	{ "pop; arguments are taken off; push; ret", "59 48 8d 24 c4 51 c3", 0, -1, -1 },
	{ "pop; add, mov; arguments are taken off; push; ret",
	  "59 48 89 c2 01 c2 48 8d 24 d4 51 c3", 0, -1, -1 },
	{ "pop %r10; arguments are taken off; push; ret", "41 5a 48 8d 24 c4 41 52 c3", 0, -1, -1 },
	{ "another register is pushed", "59 48 8d 24 c4 52 c3", NO, 0, 0 },
	{ "the register is written before", "59 89 d1 48 8d 24 c4 51 c3", NO, 0, 0 },
	{ "rax is written by a constant", "58 48 8d 24 cc 05 01 00 00 00 50 c3", NO, 0, 0 },
	{ "a call is between", "59 48 8d 24 c4 e8 10 00 00 00 51 c3", NO, 0, 0 },
	{ "another word is pushed after the return address", "59 48 8d 24 c4 51 52 c3", NO, 0, 0 },
	/* leave; pop %rdi; mov %r11, %rsp; jmp *%rdi */
	{ "leave; pop; another rsp; a jump through the popped word", "c9 5f 4c 89 dc ff e7", -1, 8, 8 },
	{ "pop; jmp through it", "5f ff e7", 0, -1, -1 },
	{ "pop %r10; jmp through it", "41 5a 41 ff e2", 0, -1, -1 },
	{ "pop; jmp through another register", "5f ff e6", NO, 0, 0 },
	{ "pop; jmp through memory at it", "5f ff 27", NO, 0, 0 },
	{ "pop; the register is written; jmp through it", "5f 31 ff ff e7", NO, 0, 0 },
	{ "pop; a call; jmp through it", "5f e8 10 00 00 00 ff e7", NO, 0, 0 },
	{ "pop; another word is pushed and popped; jmp through that", "5f 50 59 ff e1", NO, 0, 0 },
	{ "push; pop; jmp through it", "50 5f ff e7", NO, 0, 0 },
	/* Mono's trampolines */
	{ "leave; jmp through a register", "c9 41 ff e3", -1, 8, 8 },
	{ "leave; jmp through the stack", "c9 ff 64 24 f0", -1, 8, 8 },
	{ "leave; pop; jmp through a register", "c9 5b ff e0", NO, 0, 0 },
	{ "mov %rbp, %rsp; jmp through a register", "48 89 ec ff e0", NO, 0, 0 },
	{ "pop %rbp; jmp through a register", "5d ff e0", NO, 0, 0 },
	{ "push; ret", "50 c3", 0, -1, -1 },
	{ "push; push; ret", "50 50 c3", NO, 0, 0 },
	{ "the same word is popped, and pushed back", "5a b8 3a 00 00 00 0f 05 52 c3", 0, -1, -1 },
	{ "another word is pushed in place of a popped one", "5a b8 3a 00 00 00 0f 05 53 c3", NO, 0, 0 },
	{ "two words are popped, and the second is pushed back", "5d 5b b8 3a 00 00 00 53 c3", 8, -1, 8 },
	{ "two words are popped, and another one is pushed", "5d 5b 41 53 c3", NO, 0, 0 },
	{ "two words are popped, and two are pushed", "5d 5b 53 55 c3", NO, 0, 0 },
	{ "a word is taken off, and another one is pushed", "48 83 c4 08 53 c3", NO, 0, 0 },
	/* zeros between two sections, and the second one's sub $8, %rsp; add $8, %rsp; ret */
	{ "call, and three zeros", "e8 10 00 00 00 00 00 00 48 83 ec 08 48 83 c4 08 c3", NO, 0, 0 },
	{ "call, and a zero", "e8 10 00 00 00 00 48 83 ec 08 90 48 83 c4 08 c3", NO, 0, 0 },
	{ "call, and a zero, and endbr64", "e8 10 00 00 00 00 f3 0f 1e fa 48 83 c4 08 c3", NO, 0, 0 },
	{ "call, and add %al, (%rbx)", "e8 10 00 00 00 00 03 48 83 c4 08 c3", 8, -1, -1 },
	{ "call, and add %al, 8(%rsp)", "e8 10 00 00 00 00 44 24 08 48 83 c4 10 c3", 16, -1, -1 },
	{ "call, and add %al, n(%rip)", "e8 10 00 00 00 00 05 00 10 00 00 48 83 c4 08 c3", 8, -1, -1 },
	{ "call, and add %al, (%r12)", "e8 10 00 00 00 41 00 04 24 48 83 c4 08 c3", 8, -1, -1 },
	{ "zeros that follow no call", "00 00 48 83 c4 08 c3", 8, -1, -1 },
	/* a retpoline's last instructions */
	{ "mov %rax, (%rsp); ret", "48 89 04 24 c3", 8, -1, -1 },
	{ "mov %r11, (%rsp); ret", "4c 89 1c 24 c3", 8, -1, -1 },
	{ "ret after such a mov", "c3", 0, -1, -1 },
	{ "mov %rax, 8(%rsp); ret", "48 89 44 24 08 c3", 0, -1, -1 },
	{ "mov %rax, 8(%rsp); pop %rbx; ret", "48 89 44 24 08 5b c3", 16, -1, -1 },
	{ "mov of a register's half, and ret", "89 04 24 c3", 0, -1, -1 },
	{ "the return address is below", "48 83 ec 10 c3", NO, 0, 0 },
	{ "depths that are not aligned", "48 83 c4 0c c3", NO, 0, 0 },
	{ "distances from rbp that are not aligned", "48 8d 65 0c c3", NO, 0, 0 },
	{ "a depth that is aligned at the end", "48 83 c4 0c 48 83 c4 04 c3", 16, -1, -1 },
	{ "more than a frame has", "48 81 c4 00 00 00 7f c3", NO, 0, 0 },
	{ "more than a frame has, in steps",
	  "48 81 c4 00 00 00 08 48 81 c4 00 00 00 08 48 81 c4 00 00 00 08 c3",
	  NO, 0, 0 },
	{ "more than a frame has, and back again", "48 81 c4 00 00 00 7f 48 81 ec 00 00 00 7f c3", NO, 0, 0 },
	{ "more than a frame has, by lea", "48 8d a4 24 00 00 00 80 c3", NO, 0, 0 },
	{ "invalid instruction", "06 c3", NO, 0, 0 },
	{ "invalid instruction, and another way past it", "74 01 06 5b c3", 8, -1, -1 },
};

static struct kunwind_mem mem_of(const struct eh *bytes, u32 size)
{
	return (struct kunwind_mem){
		.lo = TEXT_LO, .hi = TEXT_LO + size, .delta = (u64)(uintptr_t)bytes->data - TEXT_LO,
		.left = KUNWIND_BUDGET,
	};
}

/* Bytes after the code are invalid instructions. */
static struct eh *assemble(const char *hex)
{
	static struct eh bytes;

	memset(&bytes, 0, sizeof(bytes));
	memset(bytes.data, 0x06, sizeof(bytes.data));
	eh_hex(&bytes, hex);
	return &bytes;
}

static void test_case(const struct ahead_case *c)
{
	const struct eh *bytes = assemble(c->hex);
	struct kunwind_mem mem = mem_of(bytes, sizeof(bytes->data));
	struct kunwind_code code = { };
	const bool unsure = c->depth >= UNSURE;
	const s32 depth = c->depth == NO + 1 ? -1 : unsure ? c->depth - UNSURE : c->depth;
	const bool found = kunwind_code_ahead(&mem, false, TEXT_LO, 0, &code);

	if (!tap_ok(depth == NO ? !found :
			found && code.depth == depth && code.frame == c->frame &&
			code.rbp_at == c->rbp_at && code.unsure == unsure, "code ahead: %s", c->name))
		printf("# %d: %d, %d, %d%s\n", found, code.depth, code.frame, code.rbp_at,
		       code.unsure ? ", unsure" : "");
}

/* In a called frame, the code ahead begins after the frame's call. */
static void test_called_zeros(void)
{
	const struct eh *bytes = assemble("00 00 48 83 c4 08 c3");
	struct kunwind_mem mem = mem_of(bytes, sizeof(bytes->data));
	struct kunwind_code code = { };

	tap_ok(!kunwind_code_ahead(&mem, false, TEXT_LO, KUNWIND_AHEAD_SKIPS | KUNWIND_AHEAD_CALLED, &code),
	       "code ahead: zeros after the call of a called frame");
}

static bool ahead(struct kunwind_mem *mem, s32 depth)
{
	struct kunwind_code code;

	return kunwind_code_ahead(mem, false, TEXT_LO, 0, &code) && code.depth == depth;
}

/* 40 jumps, of which @which leads to pop, ret at @place, the others to places in between. */
static bool ahead_of_jumps(u32 which, u32 place)
{
	struct eh *bytes = assemble("");
	struct kunwind_mem mem;
	u32 i;

	for (i = 0; i < 40; i++) {
		eh_hex(bytes, "74");
		eh_num(bytes, (i == which ? place : 85 + i) - (2 * i + 2), 1);
	}
	eh_hex(bytes, "ff e0");
	memcpy(bytes->data + place, "\x5b\xc3", 2);
	mem = mem_of(bytes, sizeof(bytes->data));
	return ahead(&mem, 8) && mem.left;
}

static void test_bounds(void)
{
	struct kunwind_mem mem;
	struct eh *bytes;
	u32 i, last, spent, least;

	/*
	 * 40 conditional jumps, each to a place of its own, and an indirect jump after them.
	 * One of the places has an answer: the nearest, or the farthest one.
	 */
	for (last = 0; last < 40; last += 13) {
		bool nearest = ahead_of_jumps(last, 82), farthest = ahead_of_jumps(last + 1, 130);

		tap_ok(nearest && !farthest, "code ahead: the nearest places are kept: jump %u", last);
	}
	bytes = assemble("");
	for (i = 0; i < 40; i++) {
		eh_hex(bytes, "74");
		eh_num(bytes, 78 - 2 * i + 2, 1);
	}
	eh_hex(bytes, "ff e0 5b c3");
	mem = mem_of(bytes, sizeof(bytes->data));
	tap_ok(ahead(&mem, 8), "code ahead: many jumps to one place take one slot");

	/*
	 * 200 loops: an instruction that is read once costs two units and its
	 * reading
	 */
	bytes = assemble("");
	for (i = 0; i < 200; i++)
		eh_hex(bytes, "31 c0 75 fc");	/* a loop each */
	eh_hex(bytes, "5b c3");
	mem = mem_of(bytes, sizeof(bytes->data));
	tap_ok(ahead(&mem, 8) && KUNWIND_BUDGET - mem.left < 3 * 402,
	       "code ahead: a loop is read once, %u units",
	       KUNWIND_BUDGET - mem.left);
	bytes = assemble("");
	for (i = 0; i < 14; i++)
		eh_hex(bytes, "74 03 31 c0 f4");	/* je 1f; xor; hlt; 1: */
	eh_hex(bytes, "eb b8");
	mem = mem_of(bytes, sizeof(bytes->data));
	tap_ok(!ahead(&mem, 8) && KUNWIND_BUDGET - mem.left < 300,
	       "code ahead: each stretch between jumps is read once, %u units", KUNWIND_BUDGET - mem.left);

	bytes = assemble("");
	for (i = 0; i < 2000; i++)
		eh_hex(bytes, "31 c0");
	eh_hex(bytes, "c3");
	mem = mem_of(bytes, sizeof(bytes->data));
	spent = mem.left;
	tap_ok(!ahead(&mem, 0) && spent - mem.left < 3 * 1024,
	       "code ahead: at most 1,024 instructions are read");
	/* each of 1,000 calls is looked for among the jumps */
	bytes = assemble("50");
	for (i = 0; i < 1000; i++)
		eh_hex(bytes, "ff d0");
	eh_hex(bytes, "58 c3");
	mem = mem_of(bytes, sizeof(bytes->data));
	tap_ok(ahead(&mem, 0), "code ahead: code with 1,000 calls is read to its return");
	least = KUNWIND_BUDGET - mem.left;
	bytes = assemble("50");
	for (i = 0; i < 12; i++) {
		eh_hex(bytes, "0f 84");
		eh_num(bytes, 2000 + i, 4);
	}
	for (i = 0; i < 1000; i++)
		eh_hex(bytes, "ff d0");
	eh_hex(bytes, "58 c3");
	mem = mem_of(bytes, sizeof(bytes->data));
	tap_ok(ahead(&mem, 0) && KUNWIND_BUDGET - mem.left > least + 900,
	       "code ahead: calls cost more if there are jumps, %u and %u units",
	       KUNWIND_BUDGET - mem.left, least);

	bytes = assemble("90 90 90 90 90 90 90 90 5b c3");
	mem = mem_of(bytes, sizeof(bytes->data));
	mem.left = 5;
	tap_ok(!ahead(&mem, 8) && !mem.left, "code ahead: nothing is found when the budget is spent");
	mem.left = 0;
	tap_ok(!ahead(&mem, 8) && !mem.left, "code ahead: nothing is found without a budget");
	bytes = assemble("5b 74 20 c3");
	mem = mem_of(bytes, 16);
	tap_ok(ahead(&mem, 8), "code ahead: code is read up to the last readable byte");
	mem.lo += 8;
	tap_ok(!ahead(&mem, 8), "code ahead: nothing is found if the first instruction cannot be read");
	bytes = assemble("74 06 e9 f9 01 00 00 06 5b c3");
	mem = mem_of(bytes, 64);
	tap_ok(ahead(&mem, 8), "code ahead: a way to unreadable code is left out");
}

static void test_realigned(void)
{
	static const struct {
		const char *name, *hex;
		bool found;
		s32 depth, frame, rbp_at;
	} cases[] = {
		{ "add $16, %rsp; pop %rbx; pop %r10; pop %r12; pop %rbp; lea -8(%r10), %rsp; ret",
		  "48 83 c4 10 5b 41 5a 41 5c 5d 49 8d 62 f8 c3", true, 24, -1, 16 },
		{ "lea -24(%rbp), %rsp; pop %rbx; pop %r10; pop %r12; pop %rbp; lea -8(%r10), %rsp; ret",
		  "48 8d 65 e8 5b 41 5a 41 5c 5d 49 8d 62 f8 c3", true, -1, -16, 16 },
		{ "mov -8(%rbp), %r10; leave; lea -8(%r10), %rsp; ret",
		  "4c 8b 55 f8 c9 49 8d 62 f8 c3", true, -1, -8, 8 },
		{ "lea -16(%r10), %rsp", "4c 8b 55 f8 c9 49 8d 62 f0 c3", false, 0, 0, 0 },
		{ "lea -8(%r11), %rsp", "4c 8b 55 f8 c9 49 8d 63 f8 c3", false, 0, 0, 0 },
		{ "a call after r10 was read", "4c 8b 55 f8 ff d0 c9 49 8d 62 f8 c3", false, 0, 0, 0 },
		{ "add $8, %r10", "4c 8b 55 f8 49 83 c2 08 c9 49 8d 62 f8 c3", false, 0, 0, 0 },
		{ "mov $1, %r10", "4c 8b 55 f8 49 c7 c2 01 00 00 00 c9 49 8d 62 f8 c3", false, 0, 0, 0 },
		{ "mov -8(%rbp), %r10d", "44 8b 55 f8 c9 49 8d 62 f8 c3", false, 0, 0, 0 },
		{ "rbp is not restored", "4c 8b 55 f8 49 8d 62 f8 c3", false, 0, 0, 0 },
		{ "r10 was read again, above itself", "4c 8b 55 f8 49 8d 62 f8 41 5a 5d 49 8d 62 f8 c3",
		  false, 0, 0, 0 },
		{ "r10 was pushed on the way", "41 52 41 5a 5d 49 8d 62 f8 c3", false, 0, 0, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct eh *bytes = assemble(cases[i].hex);
		struct kunwind_mem mem = mem_of(bytes, sizeof(bytes->data));
		struct kunwind_code code = { };
		const bool found = kunwind_code_ahead(&mem, false, TEXT_LO, 0, &code);

		tap_ok(found == cases[i].found &&
		       (!found || (code.realigned && code.depth == cases[i].depth &&
				   code.frame == cases[i].frame && code.rbp_at == cases[i].rbp_at)),
		       "code ahead, realigned stack: %s%s", cases[i].name,
		       cases[i].found ? "" : ": no answer");
	}
}

static void test_by_frame(void)
{
	static const struct {
		const char *name, *hex;
		bool found;
	} cases[] = {
		{ "mov 8(%rax), %rsp; pop %rbp; ret", "48 8b 60 08 5d c3", true },
		{ "mov 8(%rax), %rsp; add; pop %rbp; ret", "48 8b 60 08 48 83 c4 10 5d c3", true },
		{ "mov 8(%rax), %rsp; leave; ret", "48 8b 60 08 c9 c3", true },
		{ "mov 8(%rax), %rsp; pop %rbp; pop %rbx; ret", "48 8b 60 08 5d 5b c3", false },
		{ "mov %rax, %rsp; pop %rbp; ret", "48 89 c4 5d c3", false },
		{ "mov %r12, %rsp; mov 16(%rsp), %rbp; add $24, %rsp; ret",
		  "4c 89 e4 48 8b 6c 24 10 48 83 c4 18 c3", true },
		{ "mov %rbx, %rsp; pop %rbp; ret", "48 8b e3 5d c3", true },
		{ "mov %r11, %rsp; pop %rbp; ret", "4c 89 dc 5d c3", false },
		{ "mov %rbp, %rsp; pop %rbp; ret", "48 89 ec 5d c3", false },
		{ "mov 8(%rax), %r12; pop %rbp; ret", "4c 8b 60 08 5d c3", false },
		{ "mov 8(%rax), %esp; pop %rbp; ret", "8b 60 08 5d c3", false },
		{ "pop %rbp; ret", "5d c3", false },
		{ "a return before the switch", "5d c3 48 8b 60 08 5d c3", false },
		{ "mov %rbx, %rsp; mov -8(%rbp), %r10; leave; lea -8(%r10), %rsp; ret",
		  "48 89 dc 4c 8b 55 f8 c9 49 8d 62 f8 c3", false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct eh *bytes = assemble(cases[i].hex);
		struct kunwind_mem mem = mem_of(bytes, sizeof(bytes->data));

		tap_ok(kunwind_code_ahead_by_frame(&mem, TEXT_LO) == cases[i].found,
		       "code ahead, frame pointer on another stack: %s", cases[i].name);
	}
}

int main(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		test_case(&cases[i]);
	test_called_zeros();
	test_bounds();
	test_realigned();
	test_by_frame();
	test_object("/usr/lib/x86_64-linux-gnu/libc.so.6", 0, 90, 70);
	test_object("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 1, 90, 70);
	test_object("/usr/bin/python3.11", 1, 90, 70);
	/*
	 * In 32-bit code rsp is not known after a call, so fewer are found.
	 * (The 32-bit libc is not compared: its CFI is wrong in its string
	 * functions.)
	 */
	test_object("/usr/lib32/libstdc++.so.6", 0, 50, 40);
	return tap_done();
}
