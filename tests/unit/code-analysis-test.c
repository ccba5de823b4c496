/* SPDX-License-Identifier: MIT */
/*
 * code-analysis-test.c - the stack depth that is read from code, against the
 * CFI of real objects
 *
 * Where an object's rule is CFA = rsp + n, the depth from the function's start
 * to that address must be n - 8, or not known. The same holds for rbp where it
 * is the frame pointer. Hand-written code covers loops, jumps and saved
 * registers.
 */
#include "../../kmod/core/cfi/cfi.h"
#include "../../kmod/core/nocfi/code_analysis.h"
#include "../../kmod/core/nocfi/exact_frame.h"
#include "../../kmod/core/walk/mem.h"
#include "eh.h"
#include "object.h"
#include "tap.h"

struct function {
	u64 start, end;
};

struct counts {
	const struct function *functions;
	u32 nr, at;
	struct kunwind_mem mem;
	bool entry;		/* at its start, the function has nothing on the stack */
	struct {
		u64 right, wrong, unknown;
	} rsp, rbp;
};

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static u32 functions_list(const struct object *o, struct function *functions, u32 most)
{
	struct kunwind_record record;
	struct kunwind_cie cie;
	struct kunwind_fde fde;
	size_t offset;
	u32 nr = 0;

	for (offset = 0; nr < most; offset = record.end) {
		if (kunwind_record_read(&o->section, offset, &record) ||
		    record.kind == KUNWIND_RECORD_END)
			break;
		if (record.kind != KUNWIND_RECORD_FDE ||
		    kunwind_cie_read(&o->section, record.cie, &cie) || cie.signal ||
		    kunwind_fde_read(&o->section, &record, &cie, &fde) || !fde.len)
			continue;
		functions[nr++] = (struct function){ fde.start, fde.start + fde.len };
	}
	qsort(functions, nr, sizeof(functions[0]), by_start);
	return nr;
}

static int row(void *data, u64 addr, struct kunwind_rule rule)
{
	const bool framed = rule.reg == KUNWIND_RBP;
	struct counts *c = data;
	struct kunwind_code code;
	s32 depth;

	while (c->at < c->nr && c->functions[c->at].end <= addr) {
		c->at++;
		c->entry = false;
	}
	/* Cold parts of functions and PLTs start with a used stack. */
	if (c->at < c->nr && addr == c->functions[c->at].start)
		c->entry = rule.off == 8 && rule.reg == KUNWIND_RSP;
	if (!c->entry || c->at == c->nr || addr < c->functions[c->at].start ||
	    (rule.reg != KUNWIND_RSP && !framed) ||
	    (rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_CFA)
		return 0;
	c->mem.left = KUNWIND_BUDGET;
	kunwind_code_read(&c->mem, c->functions[c->at].start, addr, &code);
	depth = framed ? code.frame : code.depth;
	if (depth < 0)
		(framed ? &c->rbp : &c->rsp)->unknown++;
	else if (depth == rule.off - 8)
		(framed ? &c->rbp : &c->rsp)->right++;
	else if ((framed ? &c->rbp : &c->rsp)->wrong++ < 5)
		printf("# %#lx in %#lx: %s + %d, CFI %d\n", (unsigned long)addr,
		       (unsigned long)c->functions[c->at].start, framed ? "rbp" : "rsp", depth,
		       rule.off - 8);
	return 0;
}

static void test_object(const char *path)
{
	const u32 most = 200000;
	struct kunwind_table *table;
	struct function *functions;
	struct counts c = { };
	struct object o;
	u64 all, framed;

	if (object_open(&o, path))
		return;
	functions = calloc(most, sizeof(*functions));
	if (kunwind_table_build(&o.section, 0, 1UL << 30, NULL, NULL, &table))
		return;
	object_code(&o, &c.mem);
	c.functions = functions;
	c.nr = functions_list(&o, functions, most);
	kunwind_table_for_each(table, row, &c);
	all = c.rsp.right + c.rsp.wrong + c.rsp.unknown;
	framed = c.rbp.right + c.rbp.wrong + c.rbp.unknown;
	printf("# %lu rows: %lu right, %lu wrong, %lu not known; by rbp %lu: %lu, %lu, %lu\n",
	       (unsigned long)all, (unsigned long)c.rsp.right, (unsigned long)c.rsp.wrong,
	       (unsigned long)c.rsp.unknown, (unsigned long)framed, (unsigned long)c.rbp.right,
	       (unsigned long)c.rbp.wrong, (unsigned long)c.rbp.unknown);
	/* a few are wrong: those after calls that do not return */
	tap_ok(all > 1000 && c.rsp.wrong * 500 < all && c.rsp.right * 100 > all * 80,
	       "code analysis: stack depths in %s agree with its CFI", path);
	tap_ok(!framed || (c.rbp.wrong * 500 < framed && c.rbp.right * 100 > framed * 70),
	       "code analysis: frame pointers in %s agree with its CFI", path);
	kunwind_table_free(table);
	free(functions);
	object_close(&o);
}

/* What is known after all of the code. */
static const struct code_case {
	const char *name, *hex;
	struct {
		s32 depth, frame, rbp_at;	/* of struct kunwind_code */
	} want;
} cases[] = {
	/* push %rax; 1: dec %ecx; jne 1b */
	{ "a loop that leaves rsp alone", "50 ff c9 75 fc", { 8, -1, -1 } },
	/* 1: push %rax; pop %rax; dec %ecx; jne 1b */
	{ "a loop that pushes and pops", "50 58 ff c9 75 fa", { 0, -1, -1 } },
	/* 1: push %rax; dec %ecx; jne 1b */
	{ "a loop that pushes", "50 ff c9 75 fb", { -1, -1, -1 } },
	/*
	 * push %rbp; mov %rsp, %rbp; jmp 2f; 1: push %rax; 2: dec %ecx; jne 1b;
	 * push %rax
	 */
	{ "a loop that pushes, entered in its middle, after a frame pointer",
	  "55 48 89 e5 eb 01 50 ff c9 75 fb 50", { -1, 8, 8 } },
	/* ..., mov %rbp, %rsp */
	{ "a loop that pushes, then mov %rbp, %rsp",
	  "55 48 89 e5 eb 01 50 ff c9 75 fb 50 48 89 ec", { 8, 8, 8 } },
	/*
	 * push %rbp; mov %rsp, %rbp; 1: push %rax; dec %ecx; jne 1b; lea
	 * -8(%rbp), %rsp
	 */
	{ "a loop that pushes, then lea -8(%rbp), %rsp",
	  "55 48 89 e5 50 ff c9 75 fb 48 8d 65 f8", { 16, 8, 8 } },
	/* test %edi, %edi; je 2f; 1: push %rax; dec %ecx; jne 1b; 2: */
	{ "a jump past a loop that pushes", "85 ff 74 05 50 ff c9 75 fb", { -1, -1, -1 } },
	/* jmp 2f; 1: test %eax, %eax; jne 3f; pop; ret; 3: 2: dec; jne 1b */
	{ "a loop with a return", "53 eb 06 85 c0 75 02 5b c3 ff c9 75 f6", { 8, -1, -1 } },
	/* push %rbp; mov %rsp, %rbp; lea 0(%rbp), %rbp; and $-16, %rsp */
	{ "lea 0(%rbp), %rbp", "55 48 89 e5 48 8d 6d 00 48 83 e4 f0", { -1, 8, 8 } },
	/* the same with lea 8(%rbp), %rbp */
	{ "lea 8(%rbp), %rbp", "55 48 89 e5 48 8d 6d 08 48 83 e4 f0", { -1, -1, 8 } },
	/* push %rbp; mov %rsp, %rbp; and $-16, %rsp */
	{ "a realigned stack", "55 48 89 e5 48 83 e4 f0", { -1, 8, 8 } },
	/* ..., cmp %rax, %rbp */
	{ "a comparison with rbp", "55 48 89 e5 48 83 e4 f0 48 39 c5", { -1, 8, 8 } },
	/* ..., mov %rax, %rbp */
	{ "rbp used for something else", "55 48 89 e5 48 83 e4 f0 48 89 c5", { -1, -1, 8 } },
	/* ..., mov %rax, %r13 */
	{ "r13 used for something else", "55 48 89 e5 48 83 e4 f0 49 89 c5", { -1, 8, 8 } },
	/* ..., cmove %rax, %rbp */
	{ "rbp changed by cmove", "55 48 89 e5 48 83 e4 f0 48 0f 44 e8", { -1, -1, 8 } },
	/*
	 * push %rbp; mov %rsp, %rbp; test %edi, %edi; je 1f; leave; ret; 1: and
	 * $-16, %rsp
	 */
	{ "after a branch with leave", "55 48 89 e5 85 ff 74 02 c9 c3 48 83 e4 f0", { -1, 8, 8 } },
	/* push %rbp; mov %rsp, %rbp; leave; ret; nop */
	{ "after a return, reached by no jump", "55 48 89 e5 c9 c3 90", { -1, -1, -1 } },
	/* push %rbp; mov %rsp, %rbp; jmp over 5 bytes; nop */
	{ "after ud2", "55 48 89 e5 0f 0b 90", { -1, -1, 8 } },
	{ "after a jump, reached by no jump", "55 48 89 e5 eb 05 90", { -1, -1, 8 } },
	/* push %rbp; mov %rsp, %rbp; jmp *%rax; nop */
	{ "after a jump by register", "55 48 89 e5 ff e0 90", { -1, -1, 8 } },
	/* push %rbp; mov %rsp, %rbp; pop %rbp */
	{ "a frame pointer that was popped", "55 48 89 e5 5d", { 0, -1, -1 } },
	/* sub $24, %rsp; mov %rbp, 8(%rsp); xor %ebp, %ebp */
	{ "rbp saved by mov", "48 83 ec 18 48 89 6c 24 08 31 ed", { 24, -1, 16 } },
	/* ..., mov 8(%rsp), %rbp */
	{ "rbp saved and restored by mov",
	  "48 83 ec 18 48 89 6c 24 08 31 ed 48 8b 6c 24 08", { 24, -1, -1 } },
	/* ..., mov 16(%rsp), %rbp */
	{ "rbp loaded from another word than the saved one",
	  "48 83 ec 18 48 89 6c 24 08 48 8b 6c 24 10", { 24, -1, 16 } },
	/*
	 * sub $24, %rsp; mov %rbp, 8(%r12); mov %r13, 8(%rsp); mov %rbp,
	 * 8(%rsp,%r12)
	 */
	{ "rbp stored elsewhere, another register stored",
	  "48 83 ec 18 49 89 6c 24 08 4c 89 6c 24 08 4a 89 6c 24 08", { 24, -1, -1 } },
	{ "mov 8(%rdi), %rbp without saving it", "48 8b 6f 08", { 0, -1, KUNWIND_CODE_RBP_LOST } },
	{ "mov 8(%rdi), %rbp; push %rbp", "48 8b 6f 08 55", { 8, -1, KUNWIND_CODE_RBP_LOST } },
	{ "mov $1, %ebp without saving rbp", "bd 01 00 00 00", { 0, -1, KUNWIND_CODE_RBP_LOST } },
	{ "xchg %rbp, %rax", "48 95", { 0, -1, KUNWIND_CODE_RBP_LOST } },
	{ "xchg %r13, %rax", "49 95", { 0, -1, -1 } },
	{ "cmove %rax, %rbp without saving rbp", "48 0f 44 e8", { 0, -1, KUNWIND_CODE_RBP_LOST } },
	{ "push %rax; push %rax; pop %rbp", "50 50 5d", { 8, -1, KUNWIND_CODE_RBP_LOST } },
	{ "mov %rsp, %rbp without saving rbp", "48 89 e5", { 0, 0, KUNWIND_CODE_RBP_LOST } },
	/* sub $0x7fffffff, %rsp; push %rax */
	{ "sub to more than a stack has", "48 81 ec ff ff ff 7f 50", { -1, -1, -1 } },
	/* push %rax; add $-0x80000000, %rsp */
	{ "add to more than a stack has", "50 48 81 c4 00 00 00 80", { -1, -1, -1 } },
	/* push %rax; lea -0x80000000(%rsp), %rsp */
	{ "lea from rsp to more than a stack has", "50 48 8d a4 24 00 00 00 80", { -1, -1, -1 } },
	/* push %rbp; mov %rsp, %rbp; lea -0x80000000(%rbp), %rsp */
	{ "lea from rbp to more than a stack has", "55 48 89 e5 48 8d a5 00 00 00 80", { -1, 8, 8 } },
	/* push %rax; mov %rbp, -0x80000000(%rsp) */
	{ "rbp saved far below", "50 48 89 ac 24 00 00 00 80", { 8, -1, -1 } },
	/* sub $64, %rsp; lea */
	{ "lea 8(%rsp), %rsp", "48 83 ec 40 48 8d 64 24 08", { 56, -1, -1 } },
	{ "lea (%rsp), %rsp", "48 83 ec 40 48 8d 24 24", { 64, -1, -1 } },
	{ "lea 8(%rsp,%rbx,8), %rsp", "48 83 ec 40 48 8d 64 dc 08", { -1, -1, -1 } },
	{ "lea -8(%rax,%rbx,8), %rsp", "48 83 ec 40 48 8d 64 d8 f8", { -1, -1, -1 } },
	{ "lea 8(%r12), %rsp", "48 83 ec 40 49 8d 64 24 08", { -1, -1, -1 } },
	{ "lea 8(%rsp,%r12,8), %rsp", "48 83 ec 40 4a 8d 64 e4 08", { -1, -1, -1 } },
	{ "lea 8(%esp), %rsp", "48 83 ec 40 67 48 8d 64 24 08", { -1, -1, -1 } },
	{ "lea 8(%rsp), %esp", "48 83 ec 40 8d 64 24 08", { -1, -1, -1 } },
	{ "sub $8, %esp", "48 83 ec 40 83 ec 08", { -1, -1, -1 } },
	/* push %rbp; mov %rsp, %rbp; push %rax; lea */
	{ "lea -4(%rbp), %rsp", "55 48 89 e5 50 48 8d 65 f8", { 16, 8, 8 } },
	{ "lea -4(%rbp,%rax), %rsp", "55 48 89 e5 50 48 8d 64 05 f8", { -1, 8, 8 } },
	{ "lea -4(%ebp), %rsp", "55 48 89 e5 50 67 48 8d 65 f8", { -1, 8, 8 } },
	{ "mov %ebp, %esp", "55 48 89 e5 50 89 ec", { -1, 8, 8 } },
	{ "movq %xmm0, %rsp", "48 83 ec 40 66 48 0f 7e c4", { -1, -1, -1 } },
	{ "mov $0, %esp", "50 bc 00 00 00 00", { -1, -1, -1 } },
	{ "mov $0, %r12d", "50 41 bc 00 00 00 00", { 8, -1, -1 } },
	{ "pop %rsp by 8f /0", "50 8f c4", { -1, -1, -1 } },
	{ "pop %rbp by 8f /0", "50 50 8f c5", { 8, -1, KUNWIND_CODE_RBP_LOST } },
	{ "enter", "c8 10 00 00", { -1, -1, KUNWIND_CODE_RBP_LOST } },
	{ "andn %rax, %rcx, %rbp without saving rbp", "c4 e2 f0 f2 e8", { 0, -1, KUNWIND_CODE_RBP_LOST } },
	{ "push2 %rax, %rbp", "62 f4 7c 18 ff f5", { 16, -1, 16 } },
	{ "push2 %rbp, %rax", "62 f4 54 18 ff f0", { 16, -1, 8 } },
	{ "pop2 %rax, %rbx", "48 83 ec 40 62 f4 7c 18 8f c3", { 48, -1, -1 } },
	{ "pop2 %rax, %rbp", "48 83 ec 40 62 f4 7c 18 8f c5", { 48, -1, KUNWIND_CODE_RBP_LOST } },
	{ "push %r16, push %r21 (REX2)", "d5 10 50 d5 10 55", { 16, -1, -1 } },
	{ "sub $8, %rsp, %rsp (APX)", "62 f4 dc 18 83 ec 08", { -1, -1, -1 } },
	{ "after ud1", "55 48 89 e5 0f b9 c0 90", { -1, -1, 8 } },
	/* sub $24, %rsp; test; je 1f; mov %rbp, 8(%rsp); ret; 1: nop */
	{ "a jump past the instruction that saves rbp", "48 83 ec 18 85 ff 74 06 48 89 6c 24 08 c3 90",
	  { 24, -1, -1 } },
};

static struct eh bytes;

/* Memory with this code at TEXT_LO, and with nops after it. */
static struct kunwind_mem mem_of(const char *hex)
{
	bytes.size = 0;
	memset(bytes.data, 0x90, 64);
	eh_hex(&bytes, hex);
	return (struct kunwind_mem){
		.lo = TEXT_LO, .hi = TEXT_LO + sizeof(bytes.data),
		.delta = (u64)(uintptr_t)bytes.data - TEXT_LO, .left = KUNWIND_BUDGET,
	};
}

static void test_case(const struct code_case *c)
{
	struct kunwind_mem mem = mem_of(c->hex);
	struct kunwind_code code;

	kunwind_code_read(&mem, TEXT_LO, TEXT_LO + bytes.size, &code);
	if (!tap_ok(code.depth == c->want.depth && code.frame == c->want.frame &&
		    code.rbp_at == c->want.rbp_at, "code analysis: %s", c->name))
		printf("# %d, %d, %d\n", code.depth, code.frame, code.rbp_at);
}

/* Where a thread continues after a system call that returned 0, by the code before and after. */
static void test_after_zero(void)
{
	static const struct {
		const char *name, *hex;	/* the eight bytes before, then the code */
		u64 want;		/* from the code's address */
	} zeros[] = {
		{ "test %rax, %rax; je", "90 90 90 90 90 90 0f 05 48 85 c0 74 03", 8 },
		{ "test %eax, %eax; je", "90 90 90 90 90 90 0f 05 85 c0 74 03", 7 },
		{ "cmp $1, %eax; je", "90 90 90 90 90 90 0f 05 83 f8 01 74 03", 0 },
		{ "test %rcx, %rcx; je", "90 90 90 90 90 90 0f 05 48 85 c9 74 03", 0 },
		{ "no system call before", "90 90 90 90 90 90 0f 04 85 c0 74 03", 0 },
		{ "je after test %rax, %rax", "90 90 90 0f 05 48 85 c0 74 03", 5 },
		{ "je after test %eax, %eax", "90 90 90 90 0f 05 85 c0 74 03", 5 },
		{ "je after cmp $0, %rax", "90 90 0f 05 48 83 f8 00 74 03", 5 },
		{ "je after cmp $0, %eax", "90 90 90 0f 05 83 f8 00 74 03", 5 },
		{ "je after cmp $1, %eax", "90 90 90 0f 05 83 f8 01 74 03", 0 },
		{ "je after test %eax, %eax; jl", "90 90 0f 05 85 c0 7c 10 74 03", 5 },
		{ "je after cmp $0, %eax; js", "90 0f 05 83 f8 00 78 10 74 03", 5 },
		{ "je after test %eax, %eax; jg", "90 90 0f 05 85 c0 7f 10 74 03", 0 },
	};
	/* jae, je, jbe, jns, jge and jle jump if the result is 0; jne does not; others are not followed */
	static const u8 want[16] = { [3] = 8, [4] = 8, [5] = 5, [6] = 8, [9] = 8, [13] = 8, [14] = 8 };
	char hex[64], name[64];
	struct kunwind_mem mem;
	u64 behind, found;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(zeros) + ARRAY_SIZE(want); i++) {
		const bool one = i < ARRAY_SIZE(zeros);
		const u32 condition = one ? 0 : i - (u32)ARRAY_SIZE(zeros);

		/* test %rax, %rax; a jump over three bytes */
		snprintf(hex, sizeof(hex), "90 90 90 90 90 90 0f 05 48 85 c0 7%x 03",
			 condition);
		snprintf(name, sizeof(name), one ? "%s" : "%sa jump by condition %u",
			 one ? zeros[i].name : "", condition);
		mem = mem_of(one ? zeros[i].hex : hex);
		memcpy(&behind, bytes.data, sizeof(behind));
		found = kunwind_code_after_zero(&mem, behind, TEXT_LO + 8) - TEXT_LO - 8;
		if (!one && !want[condition])
			found = found > 3;	/* at most the test, not the jump */
		if (!tap_ok(found == (one ? zeros[i].want : want[condition]),
			    "code analysis, after the result 0: %s", name))
			printf("# %lu\n", (unsigned long)found);
	}
}

/* Whether a register keeps its value until the code pushes it. */
static void test_keeps(void)
{
	static const struct {
		const char *name, *hex;
		u32 reg;
		bool keeps, returns;
	} pushes[] = {
		{ "push %rdx; ret", "52 c3", 2, true, true },
		{ "push %rdx; nop; ret", "52 90 c3", 2, true, false },
		{ "push %rdx; ret, asked about r10", "52 c3", 10, false, true },
		{ "push %r10; ret", "41 52 c3", 10, true, true },
		{ "push %r10; ret, asked about rdx", "41 52 c3", 2, false, true },
		{ "push $1; ret", "6a 01 c3", 2, false, true },
		{ "syscall; push %rdx; ret", "0f 05 52 c3", 2, true, true },
		{ "syscall; push %rax; ret", "0f 05 50 c3", 0, false, true },
		{ "syscall; push %rcx; ret", "0f 05 51 c3", 1, false, true },
		{ "syscall; push %r11; ret", "0f 05 41 53 c3", 11, false, true },
		{ "syscall; push %rbx; ret", "0f 05 53 c3", 3, true, true },
		{ "mov $1, %edx; push %rdx; ret", "ba 01 00 00 00 52 c3", 2, false, true },
		{ "mov $1, %r10d; push %rdx; ret", "41 ba 01 00 00 00 52 c3", 2, true, true },
		{ "xchg %rdx, %rax; push %rdx; ret", "48 92 52 c3", 2, false, true },
		{ "pop %rdx; push %rdx; ret", "5a 52 c3", 2, false, true },
		{ "a call; push %rdx; ret", "e8 10 00 00 00 52 c3", 2, false, true },
		{ "a jump; push %rdx; ret", "74 00 52 c3", 2, false, true },
	};
	struct kunwind_mem mem;
	bool keeps, returns;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pushes); i++) {
		mem = mem_of(pushes[i].hex);
		keeps = kunwind_code_keeps(&mem, TEXT_LO, pushes[i].reg, &returns);
		if (!tap_ok(keeps == pushes[i].keeps && returns == pushes[i].returns,
			    "code analysis, the register of a push: %s", pushes[i].name))
			printf("# %d, %d\n", keeps, returns);
	}
}

/* The target of a tail call through a register that lea has set. */
static void test_constants(void)
{
	static const struct {
		const char *name, *hex;
		u64 want;	/* from the code's address; or KUNWIND_CODE_ANYWHERE */
	} tails[] = {
		{ "lea 16(%rip), %rax; jmp *%rax", "48 8d 05 10 00 00 00 ff e0", 23 },
		{ "lea 16(%rip), %r10; jmp *%r10", "4c 8d 15 10 00 00 00 41 ff e2", 23 },
		{ "lea 16(%rip), %r10; jmp *%rdx", "4c 8d 15 10 00 00 00 ff e2", KUNWIND_CODE_ANYWHERE },
		{ "lea 16(%rip), %rax; jmp *%rcx", "48 8d 05 10 00 00 00 ff e1", KUNWIND_CODE_ANYWHERE },
		{ "lea 16(%rip), %rax; mov %rcx, %rax; jmp *%rax", "48 8d 05 10 00 00 00 48 89 c8 ff e0",
		  KUNWIND_CODE_ANYWHERE },
		{ "push %rcx; lea 16(%rip), %rax; pop %rax; jmp *%rax", "51 48 8d 05 10 00 00 00 58 ff e0",
		  KUNWIND_CODE_ANYWHERE },
		{ "push %rcx; lea 16(%rip), %rax; pop %rcx; jmp *%rax",
		  "51 48 8d 05 10 00 00 00 59 ff e0", 24 },
		{ "lea 16(%rip), %rax; jmp *(%rax)", "48 8d 05 10 00 00 00 ff 20", KUNWIND_CODE_ANYWHERE },
	};
	struct kunwind_mem mem;
	u64 found, want;
	u32 i, left;

	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		mem = mem_of(tails[i].hex);
		left = 64;
		found = kunwind_code_tail(&mem, TEXT_LO, TEXT_LO, TEXT_LO + 64, &left);
		want = tails[i].want == KUNWIND_CODE_ANYWHERE ? tails[i].want : TEXT_LO + tails[i].want;
		if (!tap_ok(found == want, "code analysis, a tail call: %s", tails[i].name))
			printf("# %#lx\n", (unsigned long)found);
	}
}

/* The code before a call, and the page before it, which cannot be read. */
static void test_unreadable(void)
{
	struct kunwind_mem mem = mem_of("50 90 90 e8 00 00 00 00");
	u64 word;
	u32 spent;

	kunwind_code_skipped(&mem, TEXT_LO + 8);
	spent = KUNWIND_BUDGET - mem.left;
	/* reading 8 bytes, then 4 instructions and their effects, and reading their bytes twice */
	tap_ok(spent >= KUNWIND_COST_FAULT && spent <= 2 + KUNWIND_COST_FAULT + 5 + 2,
	       "skipped code: a page that cannot be read is tried once (%u units)", spent);
	mem.left = KUNWIND_BUDGET;
	tap_ok(!kunwind_read_word(&mem, TEXT_LO - 8, &word) &&
	       mem.left == KUNWIND_BUDGET - 1 - KUNWIND_COST_FAULT,
	       "a word that cannot be read costs a page fault");
	mem.left = KUNWIND_COST_FAULT;
	tap_ok(!kunwind_read_word(&mem, TEXT_LO - 8, &word) && !mem.left,
	       "a page fault that the budget does not pay for spends it");
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		test_case(&cases[i]);
	test_after_zero();
	test_keeps();
	test_constants();
	test_unreadable();
	test_object("/usr/lib/x86_64-linux-gnu/libc.so.6");
	test_object("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	test_object("/usr/bin/python3.11");
	return tap_done();
}
