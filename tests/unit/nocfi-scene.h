/* SPDX-License-Identifier: MIT */
/*
 * nocfi-scene.h - hand-made code and a hand-made stack for tests of frames
 * without unwind information
 *
 * There are three mappings: a library without a table, code of a JIT, and a
 * program whose only function has a CFA of rsp + 16. Code bytes that a case
 * does not set are no valid instruction. Stack words that a case does not set
 * are not the address of any code.
 */
#ifndef _TEST_NOCFI_SCENE_H
#define _TEST_NOCFI_SCENE_H

#include "eh.h"
#include "tap.h"

#define LIB	0x10000ULL
#define JIT	0x20000ULL
#define PROG	0x30000ULL
#define CODE_END 0x40000ULL
#define MAPPED	0x2000ULL	/* bytes of each mapping */
#define STACK	0x7000ULL
#define WORDS	640
#define AT(n)	(STACK + 8 * (n))
#define NOWHERE	0x90000ULL	/* mapped, but in no range */
#define MOST	6

struct code {
	u64 at;
	const char *hex;	/* NULL: a direct call (e8) */
	u64 target;		/* of that call */
};

struct word {
	unsigned int n;
	u64 value;
};

struct nocfi_case {
	const char *name;
	u64 ip, bp;		/* bp 0: not known */
	struct code code[6];
	struct word stack[8];
	bool no_guess;
	u64 probe_slot, probe_return;
	u64 handler;		/* of all signals */
	bool zero;		/* rax is 0 */
	u64 rdx;		/* 0: not known */
	u64 found[MOST];
	u8 trust[MOST];
	enum kunwind_reason reason;
};

#define REGS	KUNWIND_TRUST_REGISTERS
#define CFI	KUNWIND_TRUST_CFI
#define PROBE	KUNWIND_TRUST_URETPROBE
#define SIGNAL	KUNWIND_TRUST_SIGNAL
#define CODE	KUNWIND_TRUST_CODE
#define FP	KUNWIND_TRUST_FP
#define SCAN	KUNWIND_TRUST_SCAN
#define F	(LIB + 0x100)		/* a function; IN_F is an address in it */
#define IN_F	(LIB + 0x180)
#define CALL_F	{ LIB + 0x200, NULL, F }
#define RET_F	(LIB + 0x205)
/* From word 5 on, struct ucontext contains struct sigcontext. */
#define UCONTEXT(n)	(5 + (n))

static struct kunwind_table *table;
static struct kunwind_ranges *ranges;
static u8 code[CODE_END - LIB + 8];
static u64 stack[WORDS];

static void put(u64 at, const void *bytes, size_t len)
{
	memcpy(code + (at - LIB), bytes, len);
}

static void put_code(const struct code *c)
{
	static struct eh bytes;
	s32 distance = c->target - (c->at + 5);

	bytes.size = 0;
	if (c->hex) {
		eh_hex(&bytes, c->hex);
	} else {
		eh_num(&bytes, 0xe8, 1);
		eh_num(&bytes, distance, 4);
	}
	put(c->at, bytes.data, bytes.size);
}

static void clear(void)
{
	unsigned int i;

	memset(code, 0x06, sizeof(code));
	for (i = 0; i < WORDS; i++)
		stack[i] = 0x1111;
}

static struct kunwind_walk walk_from(u64 ip, u64 bp, bool with_guess, unsigned long *addresses,
				     u8 *trust, u32 capacity)
{
	struct kunwind_walk walk = {
		.ranges = ranges, .addresses = addresses, .trust = trust, .capacity = capacity,
		.guess = with_guess,
		.mem = { .lo = STACK, .hi = STACK + sizeof(stack),
			 .delta = (u64)(uintptr_t)stack - STACK, .code_lo = LIB,
			 .code_hi = CODE_END, .code_delta = (u64)(uintptr_t)code - LIB },
	};

	walk.regs.r[KUNWIND_RA] = ip;
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.r[KUNWIND_RBP] = bp;
	walk.regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) |
			  (bp ? KUNWIND_REG(KUNWIND_RBP) : 0);
	memset(trust, CFI, capacity);
	trust[0] = REGS;
	return walk;
}

/* Whether walk->found counts each address that CFI did not find once, by its trust. */
static bool counted_once(const struct kunwind_walk *walk)
{
	u32 count[KUNWIND_NR_TRUSTS] = { 0 }, i;
	bool good = true;

	for (i = 1; i < walk->count; i++)
		count[walk->trust[i]]++;
	for (i = 0; walk->others && i < KUNWIND_NR_METHODS; i++)
		count[kunwind_method_trust(i)] -= walk->found[i];
	for (i = 0; i < KUNWIND_NR_TRUSTS; i++)
		good &= i == REGS ? -count[i] <= 1 : i == CFI || !count[i];
	return good;
}

static u32 decided[KUNWIND_NR_METHODS];	/* steps in all cases, by method */

static inline void test_case(const struct nocfi_case *c)
{
	unsigned long addresses[MOST];
	enum kunwind_reason reason;
	struct kunwind_walk walk;
	u8 trust[MOST];
	unsigned int i, want;
	bool good;

	clear();
	for (i = 0; i < ARRAY_SIZE(c->code) && c->code[i].at; i++)
		put_code(&c->code[i]);
	for (i = 0; i < ARRAY_SIZE(c->stack); i++)
		if (c->stack[i].n || c->stack[i].value || !i)
			stack[c->stack[i].n] = c->stack[i].value;
	walk = walk_from(c->ip, c->bp, !c->no_guess, addresses, trust, MOST);
	walk.mem.handler = c->handler;
	if (c->zero)
		walk.regs.valid |= KUNWIND_REG(KUNWIND_RAX);
	if (c->rdx)
		walk.regs.valid |= KUNWIND_REG(KUNWIND_RDX);
	walk.regs.r[KUNWIND_RDX] = c->rdx;
	walk.mem.probe_slot = c->probe_slot;
	walk.mem.probe_return = c->probe_return;
	reason = kunwind_walk(&walk);
	for (i = 0; walk.others && i < KUNWIND_NR_METHODS; i++)
		decided[i] += walk.found[i];
	for (want = MOST; want > 1 && !c->found[want - 1]; want--)
		;
	good = reason == c->reason && walk.count == want;
	for (i = 0; good && i < want; i++)
		good = addresses[i] == c->found[i] && trust[i] == c->trust[i];
	good = tap_ok(good, "no CFI: %s", c->name);
	if (tap_ok(counted_once(&walk), "no CFI: each frame is counted once: %s", c->name) && good)
		return;
	printf("# %s, wanted %s\n", kunwind_reason_name(reason), kunwind_reason_name(c->reason));
	for (i = 0; i < walk.count; i++)
		printf("# %#lx %s\n", addresses[i], kunwind_trust_name(trust[i]));
}

/* Makes the three mappings. Returns false if there is no memory. */
static bool nocfi_begin(void)
{
	static struct eh eh;
	const size_t cie = eh_plain_cie(&eh, "0c 07 08 90 01");

	eh_plain_fde(&eh, cie, TEXT_LO, MAPPED, "0e 10");
	if (eh_build(&eh, 0, &table))
		return false;
	ranges = calloc(1, sizeof(*ranges) + 3 * sizeof(ranges->range[0]));
	if (!ranges)
		return false;
	ranges->id = 1;
	ranges->nr = 3;
	ranges->range[0] = (struct kunwind_range){
		.start = LIB, .end = LIB + MAPPED, .reason = KUNWIND_NO_TABLE };
	ranges->range[1] = (struct kunwind_range){
		.start = JIT, .end = JIT + MAPPED, .reason = KUNWIND_NO_OBJECT };
	ranges->range[2] = (struct kunwind_range){
		.start = PROG, .end = PROG + MAPPED, .bias = PROG - TEXT_LO, .table = table };
	return true;
}

static void nocfi_end(void)
{
	kunwind_table_free(table);
	free(ranges);
}

/* Tests the cases, and then what @more tests (may be NULL). Returns the exit status. */
static inline int nocfi_test(const struct nocfi_case *cases, u32 nr, void (*more)(void))
{
	u32 i;

	if (!nocfi_begin())
		return 99;
	for (i = 0; i < nr; i++)
		test_case(&cases[i]);
	if (more)
		more();
	nocfi_end();
	return tap_done();
}

#endif /* _TEST_NOCFI_SCENE_H */
