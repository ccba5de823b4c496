/* SPDX-License-Identifier: MIT */
/*
 * i386-test.c - 32-bit code: CFI with its register numbers and four-byte
 * addresses in, rules and callers out
 *
 * The stack is an array of four-byte words. Word n holds a return address
 * CALLER + n unless a case sets it. A rule that took the wrong word, or one of
 * eight bytes, would find another return address.
 */
#include "rows.h"
#include "tap.h"

#define USUAL	"0c 04 04 88 01"	/* CFA esp+4, return address at CFA-4 */
#define STACK	0xff007000U		/* above 2^31: negative as signed numbers */
#define WORDS	64
#define CALLER	0xf7d00000U		/* in no object */
#define CODE	0x8048000U		/* where TEXT_LO is mapped */

static enum kunwind_build_error build(const struct eh *eh, struct kunwind_table **table)
{
	struct kunwind_section section = {
		.data = eh->data, .size = eh->size, .addr = EH_ADDR,
		.text_base = TEXT_BASE, .data_base = DATA_BASE,
		.lo = TEXT_LO, .hi = TEXT_HI, .i386 = true,
	};

	return kunwind_table_build(&section, 0, 1 << 24, NULL, NULL, table);
}

/* Opens a CIE whose return address is column @ra; the caller adds the rest. */
static size_t cie_begin(struct eh *eh, const char *augmentation, u8 ra)
{
	size_t at = eh_cie(eh, augmentation, false);

	eh->data[eh->size - 1] = ra;
	eh->data[eh->size - 2] = 0x7c;		/* data alignment -4 */
	return at;
}

static size_t usual_cie(struct eh *eh, const char *augmentation, const char *code)
{
	size_t at = cie_begin(eh, augmentation, 8);

	eh_hex(eh, "01 1b");
	eh_hex(eh, code);
	eh_end(eh);
	return at;
}

struct rows_case {
	const char *name, *cie, *fde, *rows;
};

static const struct rows_case rows_cases[] = {
	{ "prologue", USUAL, "41 0e 08 85 02 42 0d 05",
	  "0 esp+4 s c-4; 1 esp+8 c-8 c-4; 3 ebp+8 c-8 c-4; 100 none - -" },
	{ "column 16 is not the return address", USUAL, "07 10", "0 esp+4 s c-4; 100 none - -" },
	{ "columns of flags and x87 registers have no effect", USUAL,
	  "89 03 8b 04 07 0c", "0 esp+4 s c-4; 100 none - -" },
	{ "return address undefined", USUAL, "07 08", "0 end - -; 100 none - -" },
	{ "return address in edx", USUAL, "09 08 02", "0 esp+4 s edx; 100 none - -" },
	{ "CFA in ecx", USUAL, "0c 01 00", "0 ecx+0 s c-4; 100 none - -" },
	{ "realigned: CFA = *(ebp - 4)", USUAL, "10 05 02 75 00 0f 03 75 7c 06",
	  "0 exp:757c06 exp:7500 c-4; 100 none - -" },
	{ "number 7 is edi, not esp", USUAL, "0c 07 08", "0 edi+8 s c-4; 100 none - -" },
	/* what GNU ld writes for a PLT; here an expression like any other */
	{ "PLT", USUAL, "0f 0b 74 04 78 00 3f 1a 3b 2a 32 24 22",
	  "0 exp:740478003f1a3b2a322422 s c-4; 100 none - -" },
	{ "a CFA by ebx makes the table follow ebx", USUAL, "41 0e 08 83 02 0c 03 08",
	  "0 esp+4 s c-4; 1 ebx+8 s c-4 ebx:c-8; 100 none - -" },
};

static void test_rows(const struct rows_case *c)
{
	static struct eh eh;
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	size_t cie;

	eh.size = 0;
	cie = usual_cie(&eh, "zR", c->cie);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x100, c->fde);
	eh_plain_fde(&eh, cie, TEXT_LO + 0x200, 1, "");
	err = build(&eh, &table);
	if (!tap_ok(!err && !strncmp(rows_text(table), c->rows, strlen(c->rows)), "rows: %s", c->name))
		printf("# %s %s\n# want %s\n", kunwind_build_error_name(err), err ? "" : rows_text(table),
		       c->rows);
	if (!err)
		kunwind_table_free(table);
}

/*
 * Four-byte addresses, absolute and wrapping; return address columns 16 and 3.
 */
static void test_pointers(void)
{
	static struct eh eh;
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	size_t cie;

	eh.size = 0;
	cie = cie_begin(&eh, "zR", 8);
	eh_hex(&eh, "01 00" USUAL);		/* absptr */
	eh_end(&eh);
	eh_fde(&eh, cie, false);
	eh_num(&eh, TEXT_LO, 4);
	eh_num(&eh, 0x10, 4);
	eh_num(&eh, 0, 1);
	eh_end(&eh);
	err = build(&eh, &table);
	tap_ok(!err && !strncmp(rows_text(table), "0 esp+4 s c-4", 13), "absolute addresses have four bytes");
	if (!err)
		kunwind_table_free(table);

	/* sdata8 above 2^32 wraps to the code's address */
	eh.size = 0;
	cie = cie_begin(&eh, "zR", 8);
	eh_hex(&eh, "01 0c" USUAL);
	eh_end(&eh);
	eh_fde(&eh, cie, false);
	eh_num(&eh, TEXT_LO + (5ULL << 32), 8);
	eh_num(&eh, 0x10, 8);
	eh_num(&eh, 0, 1);
	eh_end(&eh);
	err = build(&eh, &table);
	tap_ok(!err && !strncmp(rows_text(table), "0 esp+4 s c-4", 13), "addresses wrap at 2^32");
	if (!err)
		kunwind_table_free(table);

	eh.size = 0;
	cie = cie_begin(&eh, "zR", 16);
	eh_hex(&eh, "01 1b" USUAL);
	eh_end(&eh);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "");
	err = build(&eh, &table);
	tap_ok(!err && !strcmp(rows_text(table), "0 none - -"),
	       "return address in column 16 without a rule: no rows");
	if (!err)
		kunwind_table_free(table);

	eh.size = 0;
	cie = cie_begin(&eh, "zR", 3);
	eh_hex(&eh, "01 1b" USUAL);
	eh_end(&eh);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "41 83 02");
	err = build(&eh, &table);
	tap_ok(!err && !strcmp(rows_text(table), "0 esp+4 s ebx; 1 esp+4 s c-8 ebx:c-8"),
	       "return address in column 3: ebx");
	if (!err)
		kunwind_table_free(table);
}

struct frame_case {
	const char *name, *cie, *fde;
	int caller;		/* word of the stack with the return address; -1: none */
	enum kunwind_reason reason;
	u32 drop;		/* registers that are not known */
	u32 sp;			/* word that esp points to */
};

static const struct frame_case frame_cases[] = {
	{ "CFA by esp", USUAL, "0e 0c", 2, KUNWIND_NO_OBJECT, 0, 0 },
	{ "esp not a multiple of 8", USUAL, "0e 0c", 3, KUNWIND_NO_OBJECT, 0, 1 },
	{ "the last word of the stack", USUAL, "", 63, KUNWIND_NO_OBJECT, 0, 63 },
	{ "CFA by ebp", USUAL, "0c 05 08", 5, KUNWIND_NO_OBJECT, 0, 0 },
	{ "CFA by ebp, which is unknown", USUAL,
	  "0c 05 08", -1, KUNWIND_REG_UNKNOWN, KUNWIND_REG(KUNWIND_RBP), 0 },
	{ "CFA by *(ebp + 4)", USUAL, "0f 03 75 04 06", 19, KUNWIND_NO_OBJECT, 0, 0 },
	{ "CFA by edi", USUAL, "0c 07 08", 9, KUNWIND_NO_OBJECT, 0, 0 },
	{ "return address in edx", USUAL, "09 08 02", 60, KUNWIND_NO_OBJECT, 0, 0 },
	{ "return address undefined", USUAL, "07 08", -1, KUNWIND_COMPLETE, 0, 0 },
	/* breg4 0; dup; lit0; lt; const1u 24; mul; plus: esp is negative */
	{ "numbers are signed, of 32 bits", USUAL, "0f 09 74 00 12 30 2d 08 18 1e 22", 5,
	  KUNWIND_NO_OBJECT, 0, 0 },
	/* (esp + 2^32 - 1 + 1) + 16 */
	{ "sums wrap at 2^32", USUAL, "0f 0a 74 10 0c ff ff ff ff 22 31 22", 3, KUNWIND_NO_OBJECT, 0, 0 },
	/* esp >> 24 is 255, << 24 gives 0xff000000, + 0x7010 */
	{ "shifts are those of 32-bit numbers", USUAL, "0f 0a 74 00 48 25 48 24 23 90 e0 01", 3,
	  KUNWIND_NO_OBJECT, 0, 0 },
	{ "a CFA below the stack pointer", USUAL, "0f 02 74 78", -1, KUNWIND_CFA_STUCK, 0, 8 },
	{ "CFA above the stack", USUAL, "0e 90 08", -1, KUNWIND_UNREADABLE, 0, 0 },
	/*
	 * all registers by expressions; esp goes back to word 3, eip is word 40
	 */
	{ "signal frame", "0c 04 04", "0f 02 74 04 10 04 02 74 04 10 08 03 74 a0 01", 40,
	  KUNWIND_NO_OBJECT, 0, 0 },
};

/* A walk of a stack of @size bytes at STACK; the caller sets the registers. */
static struct kunwind_walk walk_on(const struct kunwind_ranges *ranges, bool i386, const void *stack,
				   size_t size, unsigned long *addresses, u32 capacity)
{
	return (struct kunwind_walk){
		.ranges = ranges, .i386 = i386, .addresses = addresses, .capacity = capacity,
		.mem = { .lo = STACK, .hi = STACK + size, .delta = (u64)(uintptr_t)stack - STACK },
	};
}

static void test_frame(const struct frame_case *c)
{
	static struct eh eh;
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	bool signal = !strcmp(c->name, "signal frame");
	enum kunwind_reason reason = KUNWIND_CORRUPT;
	struct kunwind_table *table = NULL;
	struct kunwind_walk walk = { 0 };
	unsigned long addresses[4];
	enum kunwind_build_error err;
	u32 stack[WORDS], i;
	size_t cie;
	bool good;

	for (i = 0; i < WORDS; i++)
		stack[i] = CALLER + i;
	stack[5] = c->fde[0] == '0' && c->fde[1] == 'f' && !signal && c->caller == 19 ?
		   STACK + 4 * 20 : stack[5];
	if (signal)
		stack[1] = STACK + 4 * 3;
	eh.size = 0;
	cie = usual_cie(&eh, signal ? "zRS" : "zR", c->cie);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x100, c->fde);
	err = build(&eh, &table);
	ranges->nr = 1;
	ranges->id = 1;
	ranges->range[0] = (struct kunwind_range){
		.start = CODE, .end = CODE + 0x10000, .bias = CODE - TEXT_LO, .table = table,
	};
	if (!err) {
		walk = walk_on(ranges, true, stack, sizeof(stack), addresses,
			       ARRAY_SIZE(addresses));
		/* the high halves have no meaning */
		for (i = 0; i < KUNWIND_NR_REGS; i++)
			walk.regs.r[i] = 0xdead00000000ULL | (STACK + 4 * 50);
		walk.regs.r[KUNWIND_RDX] = CALLER + 60;
		walk.regs.r[KUNWIND_RSP] = STACK + 4 * c->sp;
		walk.regs.r[KUNWIND_RBP] = STACK + 4 * 4;
		walk.regs.r[KUNWIND_RDI] = STACK + 4 * 8;
		walk.regs.r[KUNWIND_RA] = CODE;
		walk.regs.valid = KUNWIND_ALL_REGS & ~c->drop;
		reason = kunwind_walk_i386(&walk);
	}
	good = !err && reason == c->reason && walk.count == 1U + (c->caller >= 0) &&
	       (c->caller < 0 || addresses[1] == CALLER + (u32)c->caller);
	/* where the task may have to read a page (fault_in.c) */
	good &= reason != KUNWIND_UNREADABLE || walk.unread[0] == STACK + 4 * c->sp;
	if (!tap_ok(good, "frame: %s", c->name))
		printf("# %s %s, %u addresses, the last %#lx\n", kunwind_build_error_name(err),
		       kunwind_reason_name(reason), walk.count,
		       walk.count ? addresses[walk.count - 1] : 0);
	if (!err)
		kunwind_table_free(table);
	free(ranges);
}

/*
 * A handler returns to the first byte of its trampoline, whose FDE begins there
 * or one byte before it; as in the vDSO of Linux 7.2:
 *	1ea0 __kernel_sigreturn: pop %eax; ...
 *	CFA=esp+4, "zRS", esp at CFA+28, eip at CFA+56
 */
static void test_handler(u32 before)
{
	static struct eh eh;
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	enum kunwind_reason reason = KUNWIND_CORRUPT;
	struct kunwind_table *table = NULL;
	struct kunwind_walk walk = { 0 };
	unsigned long addresses[4];
	u32 stack[WORDS], i;
	size_t cie;

	for (i = 0; i < WORDS; i++)
		stack[i] = CALLER + i;
	stack[0] = CODE + 0x20;
	stack[2 + 28 / 4] = STACK + 4 * 30;
	eh.size = 0;
	eh_plain_fde(&eh, usual_cie(&eh, "zR", USUAL), TEXT_LO, 0x10, "");
	cie = usual_cie(&eh, "zRS", "0c 04 04 11 08 72 11 04 79");
	eh_plain_fde(&eh, cie, TEXT_LO + 0x20 - before, 0xa + before, "");
	ranges->nr = 1;
	ranges->id = 1;
	if (!build(&eh, &table)) {
		ranges->range[0] = (struct kunwind_range){
			.start = CODE, .end = CODE + 0x10000, .bias = CODE - TEXT_LO, .table = table,
		};
		walk = walk_on(ranges, true, stack, sizeof(stack), addresses,
			       ARRAY_SIZE(addresses));
		walk.regs.r[KUNWIND_RSP] = STACK;
		walk.regs.r[KUNWIND_RA] = CODE;
		walk.regs.valid = KUNWIND_ALL_REGS;
		reason = kunwind_walk_i386(&walk);
		kunwind_table_free(table);
	}
	tap_ok(reason == KUNWIND_NO_OBJECT && walk.count == 3 && addresses[1] == CODE + 0x20 &&
	       addresses[2] == CALLER + 2 + 56 / 4 && walk.regs.r[KUNWIND_RSP] == STACK + 4 * 30,
	       "handler returns to a trampoline whose FDE begins %u bytes before it", before);
	free(ranges);
}

/* Walks of one kind of code must not use tables of the other kind. */
static void test_kinds(void)
{
	static struct eh eh;
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + 2 * sizeof(ranges->range[0]));
	struct kunwind_table *table32 = NULL, *table64 = NULL;
	unsigned long addresses[4], stack[WORDS] = { 0 };
	struct kunwind_walk walk;
	int i, ok = 0;

	eh.size = 0;
	eh_plain_fde(&eh, usual_cie(&eh, "zR", USUAL), TEXT_LO, 0x100, "");
	if (build(&eh, &table32))
		table32 = NULL;
	eh.size = 0;
	eh_plain_fde(&eh, eh_plain_cie(&eh, "0c 07 08 90 01"), TEXT_LO, 0x100, "");
	if (eh_build(&eh, 0, &table64))
		table64 = NULL;
	ranges->nr = 1;
	for (i = 0; table32 && table64 && i < 2; i++) {
		ranges->id = i + 1;
		ranges->range[0] = (struct kunwind_range){
			.start = CODE, .end = CODE + 0x10000, .bias = CODE - TEXT_LO,
			.table = i ? table64 : table32,
		};
		walk = walk_on(ranges, i, stack, sizeof(stack), addresses,
			       ARRAY_SIZE(addresses));
		walk.regs.r[KUNWIND_RSP] = STACK;
		walk.regs.r[KUNWIND_RA] = CODE;
		walk.regs.valid = KUNWIND_ALL_REGS;
		ok += (i ? kunwind_walk_i386(&walk) : kunwind_walk(&walk)) == KUNWIND_NO_RULE &&
		      walk.count == 1;
	}
	tap_ok(ok == 2, "a walk uses no table of the other kind of code (32-bit, 64-bit)");
	/* 64-bit code, which 32-bit code has called */
	ranges->id = 3;
	ranges->nr = 2;
	ranges->range[1] = (struct kunwind_range){
		.start = CODE + 0x10000, .end = CODE + 0x20000, .bias = CODE + 0x10000 - TEXT_LO,
		.table = table32,
	};
	stack[0] = CODE + 0x10010;
	walk = walk_on(ranges, false, stack, sizeof(stack), addresses, ARRAY_SIZE(addresses));
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.r[KUNWIND_RA] = CODE;
	walk.regs.valid = KUNWIND_ALL_REGS;
	tap_ok(kunwind_walk(&walk) == KUNWIND_NO_RULE && walk.count == 2 && addresses[1] == stack[0],
	       "a walk uses no table of 32-bit code for a caller in it");
	kunwind_table_free(table32);
	kunwind_table_free(table64);
	free(ranges);
}

/* Rules up to the third byte; the call before the return address varies. */
static void test_code(void)
{
	static const struct {
		const char *name, *code, *caller;
		bool found, breakpoint;		/* at the third byte of @code */
		/* the caller's; READ: word 1; TOP: any, and the stack is at the end of 4 GB */
		enum { ANY, SAME, LOST, READ, TOP } ebp;
	} cases[] = {
		{ "ebp is not changed", "90 90 5f 5e 5b c3", "e8 7b ff ff ff", true, false, SAME },
		{ "ebp gets another value", "90 90 89 c5 5f 5e 5b c3", "e8 7b ff ff ff", true, false, LOST },
		{ "ebp is read from the stack", "90 90 5f 5d 5b c3", "e8 7b ff ff ff", true, false, READ },
		{ "after int $0x80, where the CFI ends",
		  "cd 80 5f 5e 5b c3", "e8 7b ff ff ff", true, false, ANY },
		{ "after int $0x80, called through a register",
		  "cd 80 5f 5e 5b c3", "90 90 90 ff d0", true, false, ANY },
		{ "a return address that does not follow a call", "cd 80 5f 5e 5b c3", "90 90 90 90 90",
		  false, false, ANY },
		{ "a call of an address without code",
		  "cd 80 5f 5e 5b c3", "e8 00 00 00 40", false, false, ANY },
		{ "pop, inc, dec, call of the next, lds, bound", "90 90 e8 00 00 00 00 58 40 4f c5 00 62 00 "
		  "a1 00 00 00 00 5f 5e 5b c3", "e8 7b ff ff ff", true, false, ANY },
		{ "a return that takes arguments off the stack",
		  "90 90 83 c4 0c c2 08 00", "e8 7b ff ff ff", true, false, ANY },
		{ "inc %esp", "90 90 44 5f 5e 5b c3", "e8 7b ff ff ff", false, false, ANY },
		{ "a breakpoint whose byte is known",
		  "90 90 cc 5e 5b c3", "e8 7b ff ff ff", true, true, ANY },
		{ "a breakpoint whose byte is not known",
		  "90 90 cc 5e 5b c3", "e8 7b ff ff ff", false, false, ANY },
		{ "addresses of 16 bits",
		  "90 90 67 8b 44 24 5f 5e 5b c3", "e8 7b ff ff ff", false, false, ANY },
		{ "exit(), which does not return",
		  "90 90 b8 01 00 00 00 cd 80 5f 5e 5b c3", "e8 7b ff ff ff", false, false, ANY },
		{ "a system call that returns",
		  "90 90 b8 14 00 00 00 cd 80 5f 5e 5b c3", "e8 7b ff ff ff", true, false, ANY },
		{ "after a call, esp is not known",
		  "90 90 ff d0 5f 5e 5b c3", "e8 7b ff ff ff", false, false, ANY },
		{ "after a call, leave gives the return address",
		  "90 90 ff d0 c9 c3", "e8 7b ff ff ff", true, false, ANY },
		{ "a return address above which esp would be 0",
		  "90 90 ff d0 c9 c3", "e8 7b ff ff ff", false, false, TOP },
		{ "after a call, lea from ebp gives the return address",
		  "90 90 ff d0 8d 65 f8 5b 5e 5d c3", "e8 7b ff ff ff", true, false, ANY },
	};
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	static struct eh eh, bytes;
	static u8 text[0x1000];
	struct kunwind_table *table = NULL;
	unsigned int i;

	eh.size = 0;
	/* esp + 16 */
	eh_plain_fde(&eh, usual_cie(&eh, "zR", USUAL), TEXT_LO, 0x40, "0e 10");
	if (build(&eh, &table))
		table = NULL;
	ranges->nr = 1;
	ranges->id = 1;
	ranges->range[0] = (struct kunwind_range){
		.start = CODE, .end = CODE + sizeof(text), .bias = CODE - TEXT_LO, .table = table,
	};
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const u64 at = cases[i].ebp == TOP ? (1ULL << 32) - 16 : STACK;
		u32 stack[WORDS] = { [1] = (u32)at + 20, [2] = (u32)at + 40, [3] = CODE + 0x85 };
		enum kunwind_reason reason;
		unsigned long addresses[4];
		u8 trust[4] = { 0 };
		struct kunwind_walk walk = {
			.ranges = ranges, .i386 = true, .addresses = addresses, .trust = trust,
			.capacity = ARRAY_SIZE(addresses),
			.mem = { .lo = at, .hi = at + sizeof(stack),
				 .delta = (u64)(uintptr_t)stack - at, .code_lo = CODE,
				 .code_hi = CODE + sizeof(text),
				 .code_delta = (u64)(uintptr_t)text - CODE,
				 .original = 0x5f, .original_id = ranges->id,
				 .id = 99 },	/* as the kernel's stack leaves it */
		};

		if (cases[i].breakpoint)
			walk.mem.original_at = CODE + 0x42;
		bytes.size = 0;
		eh_hex(&bytes, cases[i].code);
		memcpy(text + 0x40, bytes.data, bytes.size);
		bytes.size = 0;
		eh_hex(&bytes, cases[i].caller);
		memcpy(text + 0x80, bytes.data, bytes.size);
		walk.regs.r[KUNWIND_RSP] = at;
		walk.regs.r[KUNWIND_RBP] = at + 8;
		walk.regs.r[KUNWIND_RA] = CODE + 0x42;
		walk.regs.valid = KUNWIND_ALL_REGS;
		reason = table ? kunwind_walk_i386(&walk) : KUNWIND_CORRUPT;
		tap_ok(reason == KUNWIND_NO_RULE && walk.count == 1U + cases[i].found &&
		       (!cases[i].found || (addresses[1] == CODE + 0x85 &&
					    trust[1] == KUNWIND_TRUST_CODE)), "no CFI: %s", cases[i].name);
		if (cases[i].ebp && cases[i].ebp != TOP)
			tap_ok(!(walk.regs.valid & KUNWIND_REG(KUNWIND_RBP)) == (cases[i].ebp == LOST) &&
			       (cases[i].ebp == LOST || walk.regs.r[KUNWIND_RBP] ==
				(cases[i].ebp == READ ? stack[1] : at + 8)),
			       "caller's ebp: %s", cases[i].name);
	}
	kunwind_table_free(table);
	free(ranges);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows_cases); i++)
		test_rows(&rows_cases[i]);
	test_pointers();
	for (i = 0; i < ARRAY_SIZE(frame_cases); i++)
		test_frame(&frame_cases[i]);
	test_handler(1);
	test_handler(0);
	test_kinds();
	test_code();
	return tap_done();
}
