/* SPDX-License-Identifier: MIT */
/*
 * frame-test.c - one frame by hand: CFI, registers and a stack in, the caller
 * out
 *
 * Each register has a value with which a rule that took the wrong register
 * would find another return address, or none.
 */
#include "../../kmod/core/table/table.h"
#include "eh.h"
#include "tap.h"

#define USUAL	"0c 07 08 90 01"
#define STACK	0x7000ULL	/* stack pointer of the innermost frame */
#define WORDS	64
#define BIAS	0x400000ULL	/* the object's code lies at TEXT_LO + BIAS */
#define CALLER	0x30000ULL	/* a return address in no object, +n for word n */

struct frame_case {
	const char *name;
	const char *cie, *fde;	/* instructions */
	u32 ip;			/* offset of the instruction in the function */
	u32 drop;		/* registers that are not known */
	int caller;		/* word of the stack with the return address; -1: none */
	enum kunwind_reason reason;
};

static const struct frame_case cases[] = {
	{ "CFA by rsp", USUAL, "0e 18", 0, 0, 2, KUNWIND_NO_OBJECT },
	{ "CFA by rbp", USUAL, "0c 06 10", 0, 0, 5, KUNWIND_NO_OBJECT },
	{ "CFA by rbp, which is unknown", USUAL, "0c 06 10", 0, KUNWIND_REG(KUNWIND_RBP), -1,
	  KUNWIND_REG_UNKNOWN },
	{ "CFA by r15", USUAL, "0c 0f 10", 0, 0, 9, KUNWIND_NO_OBJECT },
	/* breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
	{ "PLT, before the push", USUAL, "0f 0b 77 08 80 00 3f 1a 3b 2a 33 24 22", 4, 0, 0,
	  KUNWIND_NO_OBJECT },
	{ "PLT, after the push", USUAL, "0f 0b 77 08 80 00 3f 1a 3b 2a 33 24 22", 11, 0, 1,
	  KUNWIND_NO_OBJECT },
	{ "PLT, rax unknown", USUAL, "0f 0b 77 08 80 00 3f 1a 3b 2a 33 24 22", 11,
	  KUNWIND_REG(KUNWIND_RAX), 1, KUNWIND_NO_OBJECT },
	/* rip is far from the stack; rax, register 16 - 16, is not */
	{ "CFA by the instruction pointer", USUAL, "0c 10 08", 0, 0, -1, KUNWIND_UNREADABLE },
	{ "CFA read by the instruction pointer", USUAL, "0f 03 80 00 06", 0, 0, -1,
	  KUNWIND_UNREADABLE },
	{ "return address undefined", "0c 07 08", "07 10", 0, 0, -1, KUNWIND_COMPLETE },
	{ "return address in a register", USUAL, "09 10 02", 0, 0, 20, KUNWIND_NO_OBJECT },
	/* a walk would find this frame's own address again and again */
	{ "no rule for the return address", "0c 07 08", "", 0, 0, -1, KUNWIND_REG_UNKNOWN },
	{ "return address has the rule same_value", USUAL, "08 10", 0, 0, -1, KUNWIND_REG_UNKNOWN },
};

/* Rules that no builder makes; they overwrite a table's rules. */
static const struct kunwind_rule damaged[] = {
	{ .kind = KUNWIND_RULE_CFA, .reg = 2 * KUNWIND_RA, .off = 24 },
	{ .kind = KUNWIND_RULE_CFA, .reg = 64 + KUNWIND_RSP, .off = 24 },
	{ .kind = KUNWIND_RULE_FULL + 1, .reg = KUNWIND_RSP, .off = 24 },
};

static void test_frame(const struct frame_case *c, const struct kunwind_rule *damage, bool cached)
{
	static struct kunwind_rule_cache cache;
	static u64 id;
	static struct eh eh;
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	unsigned long addresses[4];
	struct kunwind_table *table = NULL;
	enum kunwind_reason reason = KUNWIND_CORRUPT;
	enum kunwind_build_error err;
	u64 stack[WORDS];
	unsigned int i, round;
	struct kunwind_walk walk;
	size_t cie;
	bool good;

	for (i = 0; i < WORDS; i++)
		stack[i] = CALLER + i;
	eh.size = 0;
	cie = eh_plain_cie(&eh, c->cie);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x100, c->fde);
	err = eh_build(&eh, 0, &table);
	for (i = 0; !err && damage && i < table->nr_rules; i++)
		((struct kunwind_rule *)table->rules)[i] = *damage;
	ranges->nr = 1;
	ranges->id = ++id;
	ranges->range[0] = (struct kunwind_range){
		.start = TEXT_LO + BIAS, .end = TEXT_HI + BIAS, .bias = BIAS, .table = table,
	};
	for (round = 0; !err && round < 2; round++) {
		walk = (struct kunwind_walk){
			.ranges = ranges, .cache = cached ? &cache : NULL,
			.mem = { .lo = STACK, .hi = STACK + sizeof(stack),
				 .delta = (u64)(uintptr_t)stack - STACK },
			.addresses = addresses, .capacity = ARRAY_SIZE(addresses),
		};
		/* the others point high into the stack */
		for (i = 0; i < KUNWIND_NR_REGS; i++)
			walk.regs.r[i] = STACK + 8 * 40;
		walk.regs.r[KUNWIND_RCX] = CALLER + 20;
		walk.regs.r[KUNWIND_RSP] = STACK;
		walk.regs.r[KUNWIND_RBP] = STACK + 8 * 4;
		walk.regs.r[KUNWIND_R15] = STACK + 8 * 8;
		walk.regs.r[KUNWIND_RA] = TEXT_LO + BIAS + c->ip;
		walk.regs.valid = KUNWIND_ALL_REGS & ~c->drop;
		reason = kunwind_walk(&walk);
	}
	good = !err && reason == c->reason && walk.count == 1U + (c->caller >= 0) &&
	       (c->caller < 0 || addresses[1] == CALLER + c->caller);
	if (!tap_ok(good, "frame, %s: %s", cached ? "cached" : "not cached", c->name))
		printf("# %s %s, %u addresses, the last %#lx\n", kunwind_build_error_name(err),
		       kunwind_reason_name(reason), err ? 0 : walk.count,
		       err || !walk.count ? 0 : addresses[walk.count - 1]);
	if (!err)
		kunwind_table_free(table);
	free(ranges);
}

/* Further instructions of the inner frame; its CFA is word 20. */
static const struct inner {
	const char *name, *code;
} inners[] = {
	{ "", "0e a0 01" },
	{ ", rbp saved", "0e a0 01 86 0a" },
	{ ", rbp undefined", "0e a0 01 07 06" },
	{ ", CFA by rbp", "0c 06 80 01" },
	{ ", CFA by rbp, which is saved", "0c 06 80 01 86 0a" },
};

/*
 * Two frames: the inner one saves the register that has the outer one's CFA.
 * The outer one's return address is word 50, near where the register points.
 */
static void test_saved(unsigned int reg, const struct inner *says, unsigned int place, bool lost,
		       bool cached)
{
	static struct kunwind_rule_cache cache;
	static u64 id = 1000;
	static struct eh eh;
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	struct kunwind_table *table = NULL;
	enum kunwind_reason reason = KUNWIND_CORRUPT;
	enum kunwind_build_error err;
	unsigned long addresses[4];
	char inner[64], outer[32];
	struct kunwind_walk walk = { };
	unsigned int i, round, want = lost ? 2 : 3;
	u64 stack[WORDS];
	size_t cie;

	for (i = 0; i < WORDS; i++)
		stack[i] = CALLER + i;
	/* CFA at word 20: return address at 19 */
	stack[19] = TEXT_LO + BIAS + 0x180;
	stack[19 - place] = STACK + 8 * 49;
	snprintf(inner, sizeof(inner), "%s %02x %02x", says->code, 0x80 | reg, place + 1);
	if (lost)
		snprintf(inner, sizeof(inner), "%s 07 %02x", says->code, reg);
	snprintf(outer, sizeof(outer), "0c %02x 10", reg);
	eh.size = 0;
	cie = eh_plain_cie(&eh, USUAL);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x100, inner);
	eh_plain_fde(&eh, cie, TEXT_LO + 0x100, 0x100, outer);
	err = eh_build(&eh, 0, &table);
	ranges->nr = 1;
	ranges->id = ++id;
	ranges->range[0] = (struct kunwind_range){
		.start = TEXT_LO + BIAS, .end = TEXT_HI + BIAS, .bias = BIAS, .table = table,
	};
	for (round = 0; !err && round < 2; round++) {
		walk = (struct kunwind_walk){
			.ranges = ranges, .cache = cached ? &cache : NULL,
			.mem = { .lo = STACK, .hi = STACK + sizeof(stack),
				 .delta = (u64)(uintptr_t)stack - STACK },
			.addresses = addresses, .capacity = ARRAY_SIZE(addresses),
		};
		for (i = 0; i < KUNWIND_NR_REGS; i++)
			walk.regs.r[i] = STACK + 8 * 40;
		walk.regs.r[KUNWIND_RSP] = STACK;
		walk.regs.r[KUNWIND_RBP] = STACK + 8 * 4;
		walk.regs.r[KUNWIND_RA] = TEXT_LO + BIAS;
		walk.regs.valid = KUNWIND_ALL_REGS;
		reason = kunwind_walk(&walk);
	}
	if (!tap_ok(!err && walk.count == want &&
		    reason == (lost ? KUNWIND_REG_UNKNOWN : KUNWIND_NO_OBJECT) &&
		    (lost || addresses[2] == CALLER + 50),
		    "frame, %s: CFA in register %u, which the callee %s %u%s",
		    cached ? "cached" : "not cached", reg, lost ? "lost" : "saved at", place,
		    says->name))
		printf("# %s %s, %u addresses\n", kunwind_build_error_name(err),
		       kunwind_reason_name(reason), walk.count);
	if (!err)
		kunwind_table_free(table);
	free(ranges);
}

int main(void)
{
	static const unsigned int saved[] = {
		KUNWIND_RBX, KUNWIND_R12, KUNWIND_R13, KUNWIND_R14, KUNWIND_R15,
	};
	unsigned int i, k, place;

	for (i = 0; i < 2 * ARRAY_SIZE(cases); i++)
		test_frame(&cases[i / 2], NULL, i % 2);
	for (i = 0; i < 2 * ARRAY_SIZE(damaged); i++) {
		char name[64];

		snprintf(name, sizeof(name), "rule of kind %u, register %u", damaged[i / 2].kind,
			 damaged[i / 2].reg);
		test_frame(&(struct frame_case){ name, USUAL, "0e 18", 0, 0, -1, KUNWIND_CORRUPT },
			   &damaged[i / 2], i % 2);
	}
	for (i = 0; i < 2 * ARRAY_SIZE(saved); i++)
		for (k = 0; k < ARRAY_SIZE(inners); k++) {
			/* the last place is too far for the cache's word */
			for (place = 1; place <= 8; place++)
				test_saved(saved[i / 2], &inners[k], place, false, i % 2);
			test_saved(saved[i / 2], &inners[k], 1, true, i % 2);
		}
	return tap_done();
}
