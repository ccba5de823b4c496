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
	{ "after a return, reached by no jump", "55 48 89 e5 c9 c3 90", { -1, -1, 8 } },
	/* push %rbp; mov %rsp, %rbp; jmp over 5 bytes; nop */
	{ "after ud2", "55 48 89 e5 0f 0b 90", { -1, -1, 8 } },
	{ "after a jump, reached by no jump", "55 48 89 e5 eb 05 90", { -1, -1, 8 } },
	/* push %rbp; mov %rsp, %rbp; jmp *%rax; nop */
	{ "after a jump by register", "55 48 89 e5 ff e0 90", { -1, -1, 8 } },
	/* push %rbp; mov %rsp, %rbp; pop %rbp */
	{ "a frame pointer that was popped", "55 48 89 e5 5d", { 0, -1, 8 } },
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
	/* sub $24, %rsp; test; je 1f; mov %rbp, 8(%rsp); ret; 1: nop */
	{ "a jump past the instruction that saves rbp", "48 83 ec 18 85 ff 74 06 48 89 6c 24 08 c3 90",
	  { 24, -1, -1 } },
};

static void test_case(const struct code_case *c)
{
	static struct eh bytes;
	struct kunwind_code code;
	struct kunwind_mem mem;

	bytes.size = 0;
	eh_hex(&bytes, c->hex);
	mem = (struct kunwind_mem){
		.lo = TEXT_LO, .hi = TEXT_LO + sizeof(bytes.data),
		.delta = (u64)(uintptr_t)bytes.data - TEXT_LO, .left = KUNWIND_BUDGET,
	};
	kunwind_code_read(&mem, TEXT_LO, TEXT_LO + bytes.size, &code);
	if (!tap_ok(code.depth == c->want.depth && code.frame == c->want.frame &&
		    code.rbp_at == c->want.rbp_at, "code analysis: %s", c->name))
		printf("# %d, %d, %d\n", code.depth, code.frame, code.rbp_at);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		test_case(&cases[i]);
	test_object("/usr/lib/x86_64-linux-gnu/libc.so.6");
	test_object("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	test_object("/usr/bin/python3.11");
	return tap_done();
}
