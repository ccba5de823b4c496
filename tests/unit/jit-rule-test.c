/* SPDX-License-Identifier: MIT */
/*
 * jit-rule-test.c - a cached step from code of a JIT equals the step without a
 * cache
 *
 * A stack is walked with a cache until its rules are used, then something changes:
 * the code, the stack, the address space. The next walk must find what a walk
 * without a cache finds.
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/core/walk/mem.h"
#include "../../kmod/core/x86/code_hash.h"
#include "nocfi-scene.h"

#define INNER	(JIT + 0x40)		/* returns at once */
#define FRAME	(JIT + 0x180)		/* the return address in the frame under test */
#define LEAVES	(JIT + 0x800)		/* where that function ends */
#define CALLER	(PROG + 0x13)		/* after an indirect call */
#define OTHER	(PROG + 0x43)		/* after another one */

static struct kunwind_analysis_cache cache;
static struct kunwind_jit_rules rules;
static u64 space, bp;

struct found {
	unsigned long addresses[MOST];
	u8 trust[MOST];
	u32 count, spent;
	bool ran;		/* a step by jit_run, which keeps no rule */
	u64 sp;
	enum kunwind_reason reason;
};

static struct found walk_with(struct kunwind_analysis_cache *with)
{
	struct found found = { .count = 0 };
	struct kunwind_walk walk = walk_from(INNER, bp, false, found.addresses, found.trust, MOST);

	walk.mem.answers = with;
	walk.mem.space = space;
	found.reason = kunwind_walk(&walk);
	found.count = walk.count;
	found.ran = walk.others && walk.found[KUNWIND_BY_JIT_RUN];
	found.spent = kunwind_budget(&walk) - walk.mem.left;
	return found;
}

static bool same(const struct found *a, const struct found *b)
{
	u32 i;

	for (i = 0; i < min(a->count, b->count); i++)
		if (a->addresses[i] != b->addresses[i] || a->trust[i] != b->trust[i])
			return false;
	return a->reason == b->reason && a->count == b->count;
}

/* What a walk spends that has all answers about code, but no rules. */
static u32 spent_without_rules(void)
{
	u32 spent;

	cache.jit = NULL;
	walk_with(&cache);
	spent = walk_with(&cache).spent;
	cache.jit = &rules;
	return spent;
}

/* Whether a walk with the cache finds what a walk without it finds. */
static bool agrees(void)
{
	const struct found with = walk_with(&cache), without = walk_with(NULL);

	if (same(&with, &without))
		return true;
	printf("# with %u addresses, second %#lx, third %#lx; without %u, %#lx, %#lx\n", with.count,
	       with.addresses[1], with.addresses[2], without.count, without.addresses[1],
	       without.addresses[2]);
	return false;
}

static struct kunwind_jit_rule *rule_at(u64 ip)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rules.rule); i++)
		if (rules.rule[i].ip == ip && rules.rule[i].id)
			return &rules.rule[i];
	return NULL;
}

/* The code: @at, the frame's address, to its return. Fills the cache by @walks walks. */
static void scene(const char *frame, const char *leaves, u32 walks)
{
	clear();
	memset(&cache, 0, sizeof(cache));
	memset(&rules, 0, sizeof(rules));
	cache.jit = &rules;
	space = 1;
	ranges->id = 1;
	bp = 0;
	put_code(&(struct code){ INNER, "c3", 0 });
	put_code(&(struct code){ FRAME - 5, NULL, INNER });
	put_code(&(struct code){ FRAME - 21, "90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90", 0 });
	put_code(&(struct code){ FRAME, frame, 0 });
	put_code(&(struct code){ LEAVES - 16, leaves, 0 });
	put_code(&(struct code){ CALLER - 3, "41 ff d2", 0 });
	put_code(&(struct code){ OTHER - 3, "41 ff d2", 0 });
	stack[0] = FRAME;
	while (walks--)
		walk_with(&cache);
}

/* sub $16 and push have come before; the end is far away, or directly at the frame. */
#define FAR	"e9 6b 06 00 00 06 06 06 06 06 06 06 06 06 06 06"	/* jmp to LEAVES - 16 */
#define NEAR	"90 90 90 90 90 90 90 90 90 48 83 c4 10 5b 90 c3"
#define NOPS	"90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 "
#define RBP	"ff e0 90 90 90 90 90 90 90 90 90 90 90 90 90 90"	/* jmp *%rax */

static void by_rsp(const char *frame, u32 walks)
{
	scene(frame, NEAR, walks);
	stack[4] = CALLER;
	stack[6] = 0;
}

static void by_rbp(u32 walks)
{
	scene(RBP, NEAR, 0);
	bp = AT(3);
	stack[3] = AT(9);
	stack[4] = CALLER;
	stack[6] = 0;
	while (walks--)
		walk_with(&cache);
}

/* scene() walks before the caller's stack is there. */
static void by_rsp_filled(const char *frame)
{
	by_rsp(frame, 0);
	walk_with(&cache);
	walk_with(&cache);
}

static void test_used(void)
{
	struct found first, last;

	by_rsp(FAR, 0);
	first = walk_with(&cache);
	tap_ok(first.reason == KUNWIND_COMPLETE && first.count == 3 && first.addresses[2] == CALLER,
	       "JIT rule: the place is counted from rsp");
	tap_ok(rule_at(FRAME) && !rule_at(FRAME)->confirmed,
	       "JIT rule: after one walk, the place is not confirmed");
	walk_with(&cache);
	tap_ok(rule_at(FRAME) && rule_at(FRAME)->confirmed,
	       "JIT rule: after two walks, the place is confirmed");
	last = walk_with(&cache);
	printf("# units: %u, then %u\n", first.spent, last.spent);
	tap_ok(same(&first, &last) && last.spent + 8 < spent_without_rules(),
	       "JIT rule: a confirmed rule costs less than answers about code");
	by_rbp(2);
	tap_ok(rule_at(FRAME) && rule_at(FRAME)->confirmed && !rule_at(FRAME)->end &&
	       walk_with(&cache).addresses[2] == CALLER,
	       "JIT rule: the place is counted from rbp");
}

/* All bits of the code that the path reads, one at a time. */
static void test_code(void)
{
	static const struct {
		u64 from, to;
	} pieces[] = { { FRAME - 8, FRAME - 5 }, { FRAME, FRAME + 24 }, { LEAVES - 16, LEAVES } };
	u32 i, bit, bad = 0, differ = 0, used = 0;
	u64 at;

	for (i = 0; i < ARRAY_SIZE(pieces); i++)
		for (at = pieces[i].from; at < pieces[i].to; at++)
			for (bit = 0; bit < 8; bit++) {
				struct found before, after;
				u64 hash;

				by_rsp_filled(FAR);
				before = walk_with(NULL);
				hash = rule_at(FRAME)->hash;
				code[at - LIB] ^= 1U << bit;
				differ += !same(&before, (struct found[]){ walk_with(NULL) });
				bad += !agrees();
				/* A step by the methods keeps another hash. */
				after = walk_with(&cache);
				used += after.count > 2 && !after.ran && rule_at(FRAME)->hash == hash;
			}
	printf("# %u stacks differ\n", differ);
	tap_ok(!bad && differ > 50, "JIT rule: a change of the code does not lead to a wrong caller");
	tap_ok(!used, "JIT rule: a change of any bit that decides discards it");
	/* The frame has 8 bytes more. */
	by_rsp_filled(FAR);
	put_code(&(struct code){ LEAVES - 16, "90 90 90 90 90 90 90 90 90 48 83 c4 18 5b 90 c3", 0 });
	stack[5] = OTHER;
	stack[7] = 0;
	tap_ok(agrees() && walk_with(&cache).addresses[2] == OTHER,
	       "JIT rule: other code at the same address has a larger frame");
}

static void test_stack(void)
{
	by_rsp_filled(FAR);
	stack[4] = OTHER;
	tap_ok(agrees() && walk_with(&cache).addresses[2] == OTHER && rule_at(FRAME)->caller == OTHER,
	       "JIT rule: another caller");
	stack[4] = CALLER + 1;
	tap_ok(agrees(), "JIT rule: the word follows no call");
	by_rbp(2);
	put_code(&(struct code){ LIB + 0x10, "41 ff d2", 0 });
	stack[3] = AT(2);
	stack[4] = LIB + 0x13;
	tap_ok(agrees(), "JIT rule: the saved rbp is below rbp");
	by_rbp(2);
	bp = AT(3) + 4;
	tap_ok(agrees(), "JIT rule: rbp is not aligned");
	by_rbp(2);
	bp = AT(0);
	stack[1] = CALLER;
	tap_ok(agrees(), "JIT rule: rbp is below rsp");
	by_rbp(2);
	bp = 0;
	tap_ok(agrees(), "JIT rule: rbp is not known");
}

/* The callee, whose rbp is at word 12, may have moved its return address down by 16 bytes. */
static void test_moved(void)
{
	struct found with, without;

	by_rsp_filled(FAR);
	bp = AT(30);
	put_code(&(struct code){ INNER, "48 83 c4 60 5d c3", 0 });
	stack[0] = 0;
	stack[12] = bp;
	stack[13] = FRAME;
	stack[17] = CALLER;
	stack[19] = 0;
	tap_ok(agrees(), "JIT rule: the callee's rbp is the frame's");
	stack[11] = AT(16);
	tap_ok(agrees() && walk_with(&cache).addresses[2] == CALLER,
	       "JIT rule: the callee is not the interpreter");
	stack[3] = AT(3);
	stack[17] = OTHER;
	stack[19] = CALLER;
	stack[21] = 0;
	walk_with(&cache);
	with = walk_with(&cache);
	without = walk_with(NULL);
	printf("# units: %u, without a rule %u\n", with.spent, without.spent);
	tap_ok(same(&with, &without) && with.addresses[2] == CALLER &&
	       with.spent + 8 < min(without.spent, spent_without_rules()),
	       "JIT rule: the callee has moved its return address");
	/* The rule that is kept now is the same one. */
	by_rsp_filled(FAR);
	stack[4] = OTHER;
	tap_ok(agrees() && walk_with(&cache).addresses[2] == OTHER, "JIT rule: the callee has not moved it");
}

/* The interpreter of OpenJDK: mov -16(%rbp), %rsp; jmp *%rax. No call stands before it. */
#define BACK	(JIT + 0x600)
#define BACK_CODE "48 8b 65 f0 ff e0"

static void test_interpreter(void)
{
	by_rbp(2);
	put_code(&(struct code){ BACK, BACK_CODE, 0 });
	stack[4] = BACK;
	stack[7] = AT(6);
	tap_ok(agrees() && walk_with(&cache).addresses[2] == BACK && rule_at(FRAME)->caller == BACK,
	       "JIT rule: the caller is the interpreter");
	stack[4] = CALLER;
	walk_with(&cache);
	stack[4] = BACK;
	stack[7] = 0;
	tap_ok(agrees(), "JIT rule: the interpreter has not called");
	scene(BACK_CODE, NEAR, 0);
	bp = AT(9);
	stack[7] = AT(1);
	stack[9] = AT(20);
	stack[10] = CALLER;
	stack[12] = 0;
	walk_with(&cache);
	walk_with(&cache);
	tap_ok(rule_at(FRAME) && rule_at(FRAME)->confirmed && rule_at(FRAME)->own_rbp,
	       "JIT rule: the interpreter's rbp is its own");
	stack[9] = 8;
	tap_ok(agrees() && walk_with(&cache).addresses[2] == CALLER,
	       "JIT rule: its caller's rbp is no address");
}

/* Puts the frame's code, 48 83 c4 10 5b c3, at another address, and walks from it. */
static void walk_at(u64 at)
{
	put_code(&(struct code){ at - 5, NULL, INNER });
	put_code(&(struct code){ at, "48 83 c4 10 5b c3", 0 });
	stack[0] = at;
	walk_with(&cache);
	walk_with(&cache);
}

static u32 pair_of(u64 ip)
{
	return (ip * KUNWIND_HASH_FACTOR) >> (64 - KUNWIND_JIT_RULES_BITS) >> 1;
}

/* The instructions that made the frame decide, not a return. */
static void test_hotspot(void)
{
	const u64 entry = FRAME - 0x7c;
	u32 spent, spent_other;

	scene("ff e0", NEAR, 0);
	put_code(&(struct code){ entry, "89 84 24 00 c0 fe ff 55 48 83 ec 10", 0 });
	stack[2] = CALLER;		/* follows a call: rbp is not believed */
	stack[4] = CALLER;
	stack[6] = 0;
	bp = AT(20);
	walk_with(&cache);
	walk_with(&cache);
	tap_ok(walk_with(&cache).addresses[2] == CALLER && rule_at(FRAME) && rule_at(FRAME)->confirmed &&
	       rule_at(FRAME)->method == KUNWIND_BY_JIT_MADE && rule_at(FRAME)->end < 0,
	       "JIT rule: a frame of HotSpot");
	spent = walk_with(&cache).spent;
	stack[4] = OTHER;
	spent_other = walk_with(&cache).spent;
	tap_ok(spent_other <= spent + 4,
	       "JIT rule: another caller of HotSpot's frame, by the rule: %u units, not %u", spent_other,
	       spent);
	tap_ok(agrees() && walk_with(&cache).addresses[2] == OTHER && rule_at(FRAME)->caller == OTHER,
	       "JIT rule: another caller of HotSpot's frame");
	put_code(&(struct code){ entry, "89 84 24 00 c0 fe ff 55 48 83 ec 20", 0 });
	stack[6] = CALLER;
	stack[8] = 0;
	tap_ok(agrees() && walk_with(&cache).addresses[2] == CALLER,
	       "JIT rule: HotSpot has put another function there");
}

/* The caller's call says where it leads. Nothing is gained by reading the code there. */
static void test_callee_unread(void)
{
	u32 indirect, direct;

	by_rsp(FAR, 0);
	indirect = walk_with(NULL).spent;
	put_code(&(struct code){ CALLER - 5, NULL, FRAME - 0x80 });
	direct = walk_with(NULL).spent;
	printf("# %u units, %u with a direct call\n", indirect, direct);
	tap_ok(walk_with(NULL).addresses[2] == CALLER && direct - indirect < 16,
	       "JIT: the function that the caller calls is not read");
}

static void test_places(void)
{
	u64 at[2] = { FRAME, FRAME };
	u32 i;

	for (i = 0; i < 2; i++)
		for (at[i] = i ? at[0] + 16 : FRAME + 64; pair_of(at[i]) != pair_of(FRAME); at[i]++)
			if (at[i] > LEAVES - 32)
				break;
	by_rsp_filled(FAR);
	walk_at(at[0]);
	tap_ok(pair_of(at[0]) == pair_of(FRAME) && rule_at(at[0]) && rule_at(at[0])->confirmed &&
	       rule_at(FRAME) && rule_at(FRAME)->confirmed, "JIT rule: two addresses share two places");
	walk_at(at[1]);
	tap_ok(pair_of(at[1]) == pair_of(FRAME) && rule_at(at[1]) && rule_at(at[1])->confirmed &&
	       rule_at(FRAME) && rule_at(FRAME)->confirmed && !rule_at(at[0]),
	       "JIT rule: the third address takes the second place");
}

static void test_spaces(void)
{
	by_rsp_filled(FAR);
	put_code(&(struct code){ LEAVES - 16, "90 90 90 90 90 90 90 90 90 48 83 c4 10 5b 90 c3", 0 });
	space = 2;
	walk_with(&cache);
	tap_ok(!rule_at(FRAME)->confirmed, "JIT rule: not for another address space");
	by_rsp_filled(FAR);
	ranges->id = 2;
	walk_with(&cache);
	tap_ok(!rule_at(FRAME)->confirmed, "JIT rule: not for another list of ranges");
}

/* The code between the frame and its end, which no hash covers, leads to another end with equal bytes. */
static void test_ends(void)
{
	u32 far;

	scene(FAR, "e9 eb 00 00 00 06 06 06 06 06 06 06 06 06 06 06", 0);
	put_code(&(struct code){ LEAVES + 0xe0, NEAR, 0 });
	put_code(&(struct code){ LEAVES + 0x1e0, NEAR, 0 });
	stack[4] = CALLER;
	stack[6] = 0;
	walk_with(&cache);
	tap_ok(rule_at(FRAME) && rule_at(FRAME)->end && !rule_at(FRAME)->confirmed,
	       "JIT rule: after one walk to an end, the place is not confirmed");
	far = rule_at(FRAME)->end;
	put_code(&(struct code){ LEAVES - 16, "e9 eb 01 00 00", 0 });
	walk_with(&cache);
	tap_ok(rule_at(FRAME) && (u32)rule_at(FRAME)->end == far + 0x100 && !rule_at(FRAME)->confirmed,
	       "JIT rule: another end with equal code does not confirm the place");
	walk_with(&cache);
	tap_ok(rule_at(FRAME)->confirmed, "JIT rule: the same end does");
}

/*
 * rbp may be the frame's own or not: below it is a word that follows a call of @called. The
 * code ahead gives the return address.
 */
static u32 spent_with(u64 called, const char *code)
{
	struct found found;

	scene(NEAR, NEAR, 0);
	put_code(&(struct code){ JIT + 0x900, NULL, called });
	put_code(&(struct code){ called, code, 0 });
	bp = AT(9);
	stack[2] = JIT + 0x905;
	stack[4] = CALLER;
	stack[6] = 0;
	stack[9] = AT(20);
	stack[10] = OTHER;
	found = walk_with(NULL);
	tap_ok(found.count >= 3 && found.addresses[2] == CALLER,
	       "a word below rbp follows a call: code ahead");
	return found.spent;
}

static void test_below(void)
{
	const u32 invalid = spent_with(JIT + 0xa0, "06"), nops = spent_with(JIT + 0xa0, NOPS NOPS NOPS);

	printf("# %u units, %u\n", invalid, nops);
	tap_ok(invalid == nops, "a word below rbp follows a call: the called function is not read");
}

int main(void)
{
	if (!nocfi_begin())
		return 99;
	test_used();
	test_code();
	test_stack();
	test_moved();
	test_interpreter();
	test_hotspot();
	test_callee_unread();
	test_places();
	test_spaces();
	test_ends();
	test_below();
	nocfi_end();
	return tap_done();
}
