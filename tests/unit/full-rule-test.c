/* SPDX-License-Identifier: MIT */
/*
 * full-rule-test.c - steps by full rules: their cost, and the values that they
 * compute
 */
#include "../../kmod/core/walk/full_rule.h"
#include "../../kmod/core/walk/mem.h"
#include "scene.h"

#define FRAMES	400

/* A long expression costs its bytes; a spent budget ends the walk. */
static void test_budget(void)
{
	static const u32 lengths[] = { 2, 60, 200, 250 };
	static u64 deep[FRAMES];
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		/* CFA = rsp + 8, followed by DW_OP_nop */
		char code[16 + 3 * 256] = "", *at = code;
		unsigned long addresses[FRAMES + 1];
		/* and each step pays for lookup and return address */
		const u32 cost = 1 + lengths[i];
		/* Two reads of code fail in each walk, because there is none. */
		const u32 most = (KUNWIND_BUDGET - 2 * (1 + KUNWIND_COST_FAULT)) /
				 (cost + KUNWIND_COST_LOOKUP + 1);
		const struct kunwind_full_rule *full;
		struct kunwind_rule rule;
		struct kunwind_walk walk;
		enum kunwind_reason reason;

		at += sprintf(at, "0f %02x", lengths[i] & 0x7f);
		if (lengths[i] > 0x7f) {
			at = code;
			at += sprintf(at, "0f %02x 01", (lengths[i] & 0x7f) | 0x80);
		}
		at += sprintf(at, "77 08");
		for (k = 2; k < lengths[i]; k++)
			at += sprintf(at, "96");
		scene();
		object(&(struct function){ 0, 0x100, code }, 1, 0x1000);
		rule = kunwind_table_lookup(ranges->range[0].table, TEXT_LO);
		full = kunwind_table_full_rule(ranges->range[0].table, rule.off);
		tap_ok(full && full->cost == cost,
		       "full rule: a CFA by an expression of %u bytes costs %u units",
		       lengths[i], cost);
		for (k = 0; k < FRAMES; k++)
			deep[k] = CODE(1, 0x10);
		deep[FRAMES - 1] = 0;
		walk = (struct kunwind_walk){
			.ranges = ranges, .cache = &cache, .regs = regs,
			.mem = { .lo = STACK, .hi = STACK + sizeof(deep),
				 .delta = (u64)(uintptr_t)deep - STACK },
			.addresses = addresses, .capacity = ARRAY_SIZE(addresses),
		};
		walk.regs.r[KUNWIND_RA] = CODE(1, 0x10);
		reason = kunwind_walk(&walk);
		if (!tap_ok(most < FRAMES ? reason == KUNWIND_BUDGET_SPENT && walk.count == 1 + most :
					    reason == KUNWIND_COMPLETE && walk.count == FRAMES,
			    "full rule: the budget pays for %u steps by it",
			    most < FRAMES ? most : FRAMES - 1))
			printf("# %s, %u addresses\n", kunwind_reason_name(reason), walk.count);
		tap_ok(!walk.others, "full rule: its frames count as found by CFI");
	}
}

/* If the budget ends within a full rule, the stack ends there, with that reason. */
static void test_any_budget(void)
{
	u32 budget, wrong = 0, least = 0;

	scene();
	OBJECT(0x1000, { 0, 0x100, "0f 03 77 18 96 83 02" }, { 0x100, 0x100, "0f 03 73 08 96" });
	stack[1] = WORD(10);
	stack[2] = CODE(1, 0x110);
	stack[10] = 0;
	for (budget = 1; budget < 60 + KUNWIND_COST_FAULT; budget++) {
		unsigned long addresses[8];
		struct kunwind_walk walk = { .ranges = ranges, .mem = mem, .regs = regs,
					     .addresses = addresses, .capacity = 8, .budget = budget };
		enum kunwind_reason reason;

		walk.regs.r[KUNWIND_RA] = CODE(1, 0x10);
		reason = kunwind_walk(&walk);
		if (reason == KUNWIND_COMPLETE && walk.count == 2)
			least = least ? least : budget;
		else
			wrong += reason != KUNWIND_BUDGET_SPENT || least;
	}
	tap_ok(!wrong && least, "full rule: with a budget below %u, the reason is the budget", least);
}

static void test_values(void)
{
	/* r12 from r13 and r13 from r12; a signal frame restores all */
	scene();
	OBJECT(0x1000, { 0, 0x100, "S 09 0c 0d 09 0d 0c" }, { 0x100, 0x100, "0c 0c 10" },
	       { 0x200, 0x100, "0c 0d 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	regs.r[KUNWIND_R12] = WORD(20);
	regs.r[KUNWIND_R13] = WORD(30);
	stack[0] = CODE(1, 0x110);
	WALK("swapped r12 and r13: r12 has the value of r13", NO_OBJECT, stack[0], CALLER + 31);
	stack[0] = CODE(1, 0x210);
	WALK("swapped r12 and r13: r13 has the value of r12", NO_OBJECT, stack[0], CALLER + 21);

	/* rbx undefined; the second function makes the table follow rbx */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0f 03 77 18 96 07 03" }, { 0x100, 0x100, "0c 03 10" },
	       { 0x200, 0x100, "0e 18 07 03" }, { 0x300, 0x100, "0f 03 77 18 96 08 03" });
	regs.r[KUNWIND_RBX] = WORD(20);
	stack[2] = CODE(1, 0x110);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	WALK("full rule: an undefined register does not keep the callee's value", REG_UNKNOWN, stack[2]);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	WALK("short rule: an undefined register does not keep the callee's value", REG_UNKNOWN, stack[2]);
	regs.r[KUNWIND_RA] = CODE(1, 0x310);
	WALK("a register with rule same_value has the callee's value", NO_OBJECT, stack[2], CALLER + 21);

	/* r12 by rule same_value, r13 from r12; a signal frame restores all */
	scene();
	OBJECT(0x1000, { 0, 0x100, "S 09 0d 0c 08 0c" }, { 0x100, 0x100, "0c 0c 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	regs.r[KUNWIND_R12] = WORD(20);
	stack[0] = CODE(1, 0x110);
	WALK("a register with rule same_value after a signal frame", NO_OBJECT, stack[0], CALLER + 21);
	regs.valid &= ~KUNWIND_REG(KUNWIND_R12);
	WALK("a register with rule same_value is unknown if the callee's is unknown", REG_UNKNOWN, stack[0]);

	/* rbp stays known without the table; rbx is saved in the return address's word */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0f 03 77 18 96" }, { 0x100, 0x100, "0c 06 10" },
	       { 0x200, 0x100, "0e 18 83 01" }, { 0x300, 0x100, "0c 03 10" });
	regs.r[KUNWIND_RBP] = WORD(20);
	stack[2] = CODE(1, 0x110);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	WALK("full rule: rbp has the callee's value", NO_OBJECT, stack[2], CALLER + 21);
	stack[2] = CODE(1, 0x310);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	WALK("a register saved in the return address's word is read there", UNREADABLE, stack[2]);

	/* the caller's rsp is a value, not the CFA; then in a register */
	scene();
	OBJECT(0x1000, { 0, 0x100,
			"S 14 07 7e" }, { 0x100, 0x100, "" }, { 0x200, 0x100, "S 09 07 0c" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = CODE(1, 0x110);
	mem.hi = WORD(WORDS);
	regs.r[KUNWIND_RSP] = WORD(0);
	/* val_offset 126 * -8 leads below the stack */
	WALK("caller's rsp by val_offset, outside the stack: unreadable", UNREADABLE, stack[0]);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	regs.r[KUNWIND_R12] = WORD(20);
	WALK("caller's rsp in another register", NO_OBJECT, stack[0], CALLER + 20);
}

/* What is missing decides why the stack ends, and only that. */
static void test_missing(void)
{
	scene();
	OBJECT(0x1000, { 0, 0x100, "10 10 03 77 80 08" }, { 0x100, 0x100, "S 10 07 03 77 80 08" },
	       { 0x200, 0x100, "S 07 07" }, { 0x300, 0x100, "0e 18 83 02 07 07" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	WALK("full rule: a return address that cannot be read", UNREADABLE);
	regs.r[KUNWIND_RA] = CODE(1, 0x110);
	WALK("full rule: a stack pointer that cannot be read is unknown", REG_UNKNOWN);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	WALK("full rule: an undefined stack pointer", REG_UNKNOWN);
	regs.r[KUNWIND_RA] = CODE(1, 0x310);
	WALK("full rule of a function that saves rbx: an undefined stack pointer", REG_UNKNOWN);

	/* No table follows r10; the caller's stack was realigned, its CFA is r10. */
	scene();
	OBJECT(0x1000, { 0, 0x100, "S 08 0a" }, { 0x100, 0x100, "0c 0a 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	regs.r[KUNWIND_R10] = WORD(20);
	stack[0] = CODE(1, 0x110);
	WALK("signal frame: r10 with rule same_value, which no table follows", NO_OBJECT, stack[0],
	     CALLER + 21);
	regs.valid &= ~KUNWIND_REG(KUNWIND_R10);
	WALK("signal frame: an unknown r10 with rule same_value", REG_UNKNOWN, stack[0]);
}

/* The expressions of one row have at most KUNWIND_ROW_MAX_EXPR bytes, 512. */
static void test_longest(void)
{
	static char code[4096];
	u32 more, i, where;
	char *at;

	for (more = 0; more < 2; more++) {
		at = code + sprintf(code, "0f 80 02 77 18");	/* CFA = rsp + 24, 256 bytes */
		for (i = 2; i < 256; i++)
			at += sprintf(at, "96");
		at += sprintf(at, "10 10 80 02 77 10");		/* return address at rsp + 16 */
		for (i = 2; i < 256; i++)
			at += sprintf(at, "96");
		if (more)
			sprintf(at, "16 06 01 30");		/* rbp = 0 */
		scene();
		object(&(struct function){ 0, 0x100, code }, 1, 0x1000);
		regs.r[KUNWIND_RA] = CODE(1, 0x10);
		where = kunwind_table_lookup(ranges->range[0].table, TEXT_LO).kind & KUNWIND_RULE_KIND;
		tap_ok(where == (more ? KUNWIND_RULE_NONE : KUNWIND_RULE_FULL),
		       "full rule: expressions of %u bytes have %s", 512 + more, more ? "no rule" : "a rule");
		if (more)
			WALK("full rule: the stack ends at a row with too long expressions", NO_RULE);
		else
			WALK("full rule: a step by the longest expressions", NO_OBJECT, CALLER + 2);
	}
	/* The CFA is not known, the return address is by an expression. */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0f 02 61 96 10 10 02 77 00" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	WALK("no rule: a CFA from an unknown register, a return address by an expression", NO_RULE);
}

/*
 * The CIE saves rbx; only the second FDE, far into the section, makes the build follow it.
 * The sweep that is then repeated must not use what the first one kept of the CIE.
 */
static void test_again(void)
{
	struct kunwind_table *table = NULL;
	static struct eh eh;
	size_t cie;
	u32 i;

	cie = eh_cie(&eh, "zR", false);
	eh_hex(&eh, "01 1b 0c 07 10 90 01 83 02");
	eh_end(&eh);
	for (i = 0; i < 40; i++)
		eh_plain_fde(&eh, cie, TEXT_LO + 16 * i, 16, i < 30 ? "" : "0c 03 10");
	if (!tap_ok(!eh_build(&eh, 0, &table), "a CIE that saves rbx: the table is built"))
		return;
	scene();
	OBJECT(0x1000, { 0, 0x1000, "" });
	kunwind_table_free((struct kunwind_table *)ranges->range[0].table);
	ranges->range[0].table = table;
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = WORD(20);
	stack[1] = CODE(1, 16 * 30 + 8);
	WALK("a CIE that saves rbx: its value reaches a caller whose CFA needs it", NO_OBJECT, stack[1],
	     CALLER + 21);
}

/* The full rule of a damaged table: numbers of registers that do not exist. */
static void test_damaged(void)
{
	struct kunwind_full_rule_entry *entry;
	struct kunwind_rule rule, compact;
	struct kunwind_range *range;
	u64 after;
	u32 reg;

	scene();
	range = OBJECT(0x1000, { 0, 0x100, "0e 18 83 02" }, { 0x100, 0x100, "0c 03 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	rule = kunwind_table_lookup(range->table, TEXT_LO);
	entry = (struct kunwind_full_rule_entry *)(kunwind_table_full_rule(range->table, rule.off) + 1);
	if (!tap_ok(rule.kind == KUNWIND_RULE_FULL && entry[1].reg == KUNWIND_RBX &&
		    kunwind_full_rule_compact(range->table, rule.off, &compact, &after),
		    "damaged rule: before, a short rule is equivalent"))
		return;
	for (reg = KUNWIND_NR_REGS; reg <= 32 + KUNWIND_RBX; reg += 32 + KUNWIND_RBX - KUNWIND_NR_REGS) {
		entry[1].reg = reg;
		ranges->id++;
		tap_ok(!kunwind_full_rule_compact(range->table, rule.off, &compact, &after),
		       "damaged rule: register %u is not in a short rule", reg);
		WALK("damaged rule: the stack ends", CORRUPT);
	}
	entry[1].reg = KUNWIND_RBX;
	entry[0].source = KUNWIND_NR_REGS;
	ranges->id++;
	WALK("damaged rule: the CFA is in a register that does not exist", CORRUPT);
}

/* rbp is saved 64 KB and a word below the CFA; rbx makes it a full rule. */
static void test_far(void)
{
	u64 far[2] = { WORD(30), WORD(30) };

	scene();
	OBJECT(0x1000, { 0, 0x100, "0e 18 83 02 11 06 82 80 01" }, { 0x100, 0x100, "0c 06 10" },
	       { 0x200, 0x100, "0c 03 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[2] = CODE(1, 0x110);
	stack[1] = WORD(20);
	regs.r[KUNWIND_RSP] = WORD(0);
	mem.code_lo = WORD(3) - 8 * 0x4002;
	mem.code_hi = mem.code_lo + sizeof(far);
	mem.code_delta = (u64)(uintptr_t)far - mem.code_lo;
	/* an offset cut to 16 bits would be that of word 1 */
	WALK("an rbp saved far below the CFA is read there", NO_OBJECT, stack[2], CALLER + 31);
}

/*
 * A function that realigns its stack, with gcc's rows: the CFA is in r10, then rsp + 8; rbp
 * is saved at *(rbp), also after it was popped. The CFA of its caller is in rbp.
 */
static void realigned(u32 sp, u32 cfa, u32 rbp)
{
	scene();
	OBJECT(0x1000, { 0, 0x100, "0c 0a 00 10 06 02 76 00 45 0c 07 08" }, { 0x100, 0x100, "0c 06 10" },
	       { 0x200, 0x100, "" });
	regs.r[KUNWIND_RA] = CODE(1, 0);
	regs.r[KUNWIND_RSP] = WORD(sp);
	regs.r[10] = WORD(cfa);
	regs.r[KUNWIND_RBP] = WORD(rbp);
	stack[cfa - 1] = CODE(1, 0x110);
	stack[rbp] = WORD(50);
}

static void test_realigned(void)
{
	const u64 ret = CODE(1, 0x110);

	realigned(30, 36, 32);
	WALK("realigned stack, rbp leads into the frame: its value is on the stack", NO_OBJECT, ret,
	     CALLER + 51);
	realigned(30, 36, 14);
	WALK("realigned stack, rbp leads into the red zone: its value is on the stack", NO_OBJECT, ret,
	     CALLER + 51);
	realigned(30, 36, 40);
	WALK("realigned stack, rbp leads above the frame: it was restored", NO_OBJECT, ret, CALLER + 41);
	realigned(30, 36, 36);
	WALK("realigned stack, rbp is the CFA: it was restored", NO_OBJECT, ret, CALLER + 37);
	realigned(30, 36, 13);
	WALK("realigned stack, rbp leads below the red zone: it was restored", NO_OBJECT, ret, CALLER + 14);
	realigned(60, 36, 32);
	WALK("realigned stack, rsp on another stack: rbp is on the stack", NO_OBJECT, ret, CALLER + 51);
	realigned(60, 36, 62);
	WALK("realigned stack, all on another stack: rbp is on the stack", NO_OBJECT, ret, CALLER + 51);
	realigned(30, 31, 20);
	regs.r[KUNWIND_RA] = CODE(1, 5);
	WALK("realigned stack, empty frame: rbp was restored", NO_OBJECT, ret, CALLER + 21);
	realigned(36, 36, 19);
	WALK("realigned stack, the CFA is rsp: rbp is on the stack", NO_OBJECT, ret, CALLER + 51);
	/* rbx, which the table follows, is at *(rbp) */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0e 08 10 03 02 76 00" }, { 0x100, 0x100, "0c 03 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0);
	regs.r[KUNWIND_RBP] = WORD(40);
	regs.r[KUNWIND_RBX] = WORD(20);
	stack[0] = ret;
	WALK("realigned stack, rbx was restored: it is the callee's", NO_OBJECT, ret, CALLER + 21);
	regs.valid &= ~KUNWIND_REG(KUNWIND_RBX);
	WALK("realigned stack, rbx was restored, and is unknown", REG_UNKNOWN, ret);
	/* a signal trampoline on another stack: rbp is at *(rsp + 80), the CFA is rsp + 16 */
	scene();
	OBJECT(0x1000, { 0, 0x100, "S 0e 10 10 06 03 77 d0 00" }, { 0x100, 0x100, "0c 06 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0);
	regs.r[KUNWIND_RBP] = WORD(40);
	stack[1] = ret;
	stack[10] = WORD(50);
	WALK("signal trampoline, registers above the CFA: rbp is on the stack", NO_OBJECT, ret, CALLER + 51);
	/* CODE(1, 0x200) was called by the function, which does not say what it has popped */
	realigned(30, 36, 40);
	regs.r[KUNWIND_RA] = CODE(1, 0x200);
	regs.r[KUNWIND_RSP] = WORD(29);
	stack[29] = CODE(1, 4);
	regs.r[10] = WORD(36);
	WALK("realigned stack, called frame: its CFA is not known", REG_UNKNOWN, stack[29]);
	scene();
	OBJECT(0x1000, { 0, 0x100, "0e 10 10 06 02 76 00" }, { 0x100, 0x100, "0c 06 10" },
	       { 0x200, 0x100, "" });
	regs.r[KUNWIND_RA] = CODE(1, 0x200);
	regs.r[KUNWIND_RBP] = WORD(40);
	stack[0] = CODE(1, 0x10);
	stack[2] = ret;
	stack[40] = WORD(50);
	WALK("realigned stack, called frame: rbp is on the stack", NO_OBJECT, stack[0], ret, CALLER + 51);
}

int main(void)
{
	test_realigned();
	test_budget();
	test_any_budget();
	test_values();
	test_missing();
	test_longest();
	test_again();
	test_damaged();
	test_far();
	return tap_done();
}
