/* SPDX-License-Identifier: MIT */
/*
 * wide-test.c - steps by wide rules: what they cost, and which values they give
 */
#include "../../kmod/core/walk/mem.h"
#include "scene.h"

#define FRAMES	400

/* A rule by a long expression: its bytes are charged, and the walk ends when the budget is spent. */
static void test_budget(void)
{
	static const u32 lengths[] = { 2, 60, 200, 250 };
	static u64 deep[FRAMES];
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		/* CFA = rsp + 8, followed by DW_OP_nop */
		char code[16 + 3 * 256] = "", *at = code;
		unsigned long addresses[FRAMES + 1];
		/* besides the rule, a step pays for its lookup and the return address */
		const u32 cost = 1 + lengths[i];
		const u32 most = (KUNWIND_BUDGET - 1) / (cost + KUNWIND_COST_LOOKUP + 1);
		const struct kunwind_wide *wide;
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
		wide = kunwind_table_wide(ranges->range[0].table, rule.off);
		tap_ok(wide && wide->cost == cost, "a CFA by %u bytes of expression costs %u", lengths[i],
		       cost);
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
		if (!tap_ok(most < FRAMES ? reason == KUNWIND_DEPTH && walk.count == 1 + most :
					    reason == KUNWIND_COMPLETE && walk.count == FRAMES,
			    "so a walk has %u steps by it", most < FRAMES ? most : FRAMES - 1))
			printf("# %s, %u addresses\n", kunwind_reason_name(reason), walk.count);
	}
}

static void test_values(void)
{
	/* r12 from r13, r13 from r12: in a signal frame all registers are followed */
	scene();
	OBJECT(0x1000, { 0, 0x100, "S 09 0c 0d 09 0d 0c" }, { 0x100, 0x100, "0c 0c 10" },
	       { 0x200, 0x100, "0c 0d 10" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	regs.r[KUNWIND_R12] = WORD(20);
	regs.r[KUNWIND_R13] = WORD(30);
	stack[0] = CODE(1, 0x110);
	WALK("two registers change places: the first", NO_OBJECT, stack[0], CALLER + 31);
	stack[0] = CODE(1, 0x210);
	WALK("two registers change places: the second", NO_OBJECT, stack[0], CALLER + 21);

	/* rbx undefined; that one is followed says the second function */
	scene();
	OBJECT(0x1000, { 0, 0x100, "0f 03 77 18 96 07 03" }, { 0x100, 0x100, "0c 03 10" },
	       { 0x200, 0x100, "0e 18 07 03" }, { 0x300, 0x100, "0f 03 77 18 96 08 03" });
	regs.r[KUNWIND_RBX] = WORD(20);
	stack[2] = CODE(1, 0x110);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	WALK("an undefined register is not the callee's, wide rule", REG_UNKNOWN, stack[2]);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	WALK("an undefined register is not the callee's, short rule", REG_UNKNOWN, stack[2]);
	regs.r[KUNWIND_RA] = CODE(1, 0x310);
	WALK("a register that is the same is the callee's", NO_OBJECT, stack[2], CALLER + 21);

	/* rsp elsewhere than at the CFA: a value, then in a register */
	scene();
	OBJECT(0x1000, { 0, 0x100, "S 14 07 7e" }, { 0x100, 0x100, "" }, { 0x200, 0x100, "S 09 07 0c" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = CODE(1, 0x110);
	mem.hi = WORD(WORDS);
	regs.r[KUNWIND_RSP] = WORD(0);
	/* val_offset 126 * -8 leads below the stack */
	WALK("the caller's rsp is a value that lies nowhere", UNREADABLE, stack[0]);
	regs.r[KUNWIND_RA] = CODE(1, 0x210);
	regs.r[KUNWIND_R12] = WORD(20);
	WALK("the caller's rsp is in a register", NO_OBJECT, stack[0], CALLER + 20);
}

/* rbp saved 64 KB and a word below the CFA, and rbx, so that the rule is a wide one. */
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
	/* what is cut to 16 bits would be word 1 */
	WALK("an rbp saved far below the CFA is read there", NO_OBJECT, stack[2], CALLER + 31);
}

int main(void)
{
	test_budget();
	test_values();
	test_far();
	return tap_done();
}
