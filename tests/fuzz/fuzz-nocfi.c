/* SPDX-License-Identifier: MIT */
/*
 * Property: a walk through code without rules (step.c, and return_address.c,
 * code_analysis.c and insn_decode.c, which it calls), for any
 * code and any stack:
 *  - reads nothing outside the memory that it was given
 *  - ends with a reason, within its capacity and in bounded time (libFuzzer's
 *    -timeout)
 *  - finds equal addresses with equal trust without a cache, with an empty
 *    cache, with the cache that it filled, with the note of the last walk, and
 *    with the analysis cache that the last walk filled, even if a byte of the
 *    code has changed since.
 * Walks with rules for code of JITs (jit_rule.c) may find more, so their addresses
 * are not compared.
 *
 * Input: a byte of options (the enum below); a byte that selects the mappings;
 * a number each for rip, rsp, rbp and a return probe; CALLS pairs of numbers (a
 * call from the first to the second is written into the code); a byte with the
 * number of words on the stack, and a number for each word; then pieces of
 * code: two bytes of offset, one of length, the bytes. The other bytes of the
 * code are no valid instructions. A number has two bytes. Its low two bits
 * select the kind: a small number, an address on the stack, an address in the
 * code, an address after one of the calls.
 */
#include "../unit/eh.h"
#include "found.h"

#define STACK		0x7ffd00000000ULL
#define CODE		0x555500000000ULL
#define CODE_MAX	0x1000U
#define PARTS		3
#define CAPACITY	64
#define CALLS		6

enum { NO_SCAN = 1, NO_RBP = 2, I386 = 4, SIGNAL_FRAME = 8, PROBE = 16 };

struct memory {
	u8 *stack, *code;
	size_t stack_size, code_size;
	u64 base, code_base;		/* their addresses in the process */
	u64 calls[CALLS];		/* return addresses of the calls */
	u64 probe_slot, probe_return;
};

static u64 word(const struct memory *m, u32 number)
{
	u64 n = number >> 2;

	switch (number & 3) {
	case 0:
		return n & 0x2000 ? n * 0x9e3779b97f4a7c15ULL : n;
	case 1:
		return m->base + n - 64;
	case 2:
		return m->code_base + n;
	}
	return m->calls[n % CALLS] + (n / CALLS < 8 ? 0 : n / CALLS - 8);
}

/*
 * Three functions: a CFA of rsp + 16; a CFA of rbp + 16; one that saves rbp and
 * rbx. The rest has no rule.
 */
static struct kunwind_table *table_of_part(void)
{
	static struct kunwind_table *table;
	static struct eh eh;
	size_t cie;

	if (table)
		return table;
	cie = eh_plain_cie(&eh, "0c 07 08 90 01");
	eh_plain_fde(&eh, cie, TEXT_LO, 0x80, "0e 10");
	eh_plain_fde(&eh, cie, TEXT_LO + 0x80, 0x80, "0c 06 10 86 02");
	eh_plain_fde(&eh, cie, TEXT_LO + 0x100, 0x40, "0e 20 86 02 83 03");
	if (eh_build(&eh, fuzz_keep(0x1f), &table))
		abort();
	return table;
}

static struct kunwind_ranges *ranges_of(const struct memory *m, u8 how)
{
	static const u32 reasons[] = { KUNWIND_NO_OBJECT, KUNWIND_NO_TABLE, KUNWIND_NO_RULE,
				       KUNWIND_NOT_READY };
	static const u32 starts[] = { 0, 0x600, 0xb00, CODE_MAX };
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + PARTS * sizeof(ranges->range[0]));
	u32 i;

	ranges->id = 1;
	for (i = 0; i < PARTS; i++, how >>= 2)
		ranges->range[ranges->nr++] = (struct kunwind_range){
			.start = m->code_base + starts[i], .end = m->code_base + starts[i + 1],
			.reason = reasons[how & 3],
		};
	/* Only the last range can have a table. */
	if (ranges->range[PARTS - 1].reason == KUNWIND_NO_OBJECT) {
		ranges->range[PARTS - 1].table = table_of_part();
		ranges->range[PARTS - 1].bias = ranges->range[PARTS - 1].start - TEXT_LO;
	}
	return ranges;
}

static void walk(const struct memory *m, const struct kunwind_regs *regs, u8 how,
		 const struct kunwind_ranges *ranges, struct kunwind_rule_cache *cache,
		 struct kunwind_replay *replay, struct kunwind_analysis_cache *analysis_cache,
		 struct found *found)
{
	struct kunwind_walk walk = {
		.ranges = ranges, .cache = cache, .replay = replay, .regs = *regs,
		.guess = !(how & NO_SCAN), .i386 = how & I386,
		.mem = { .lo = m->base, .hi = m->base + m->stack_size,
			 .delta = (uintptr_t)m->stack - m->base, .code_lo = m->code_base,
			 .code_hi = m->code_base + m->code_size,
			 .code_delta = (uintptr_t)m->code - m->code_base,
			 .probe_slot = m->probe_slot, .probe_return = m->probe_return,
			 .answers = analysis_cache },
		.addresses = found->addresses, .trust = found->trust, .capacity = CAPACITY,
	};
	u32 uncounted[KUNWIND_NR_TRUSTS] = { 0 }, i;

	found_take(&walk, found);
	property(walk.count >= 1, "walk has no address, reason %d", found->reason);
	for (i = 0; i < walk.count; i++)
		property(found->trust[i] < KUNWIND_NR_TRUSTS && (!(how & NO_SCAN) ||
								 found->trust[i] != KUNWIND_TRUST_SCAN),
			 "trust %u is invalid, or a guess that was not asked for", found->trust[i]);
	for (i = 1; i < walk.count; i++)
		uncounted[found->trust[i]]++;
	for (i = 0; walk.others && i < KUNWIND_NR_METHODS; i++)
		uncounted[kunwind_method_trust(i)] -= walk.found[i];
	for (i = KUNWIND_TRUST_CFI + 1; i < KUNWIND_NR_TRUSTS; i++)
		property(!uncounted[i], "%d addresses of trust %u are not counted", (s32)uncounted[i], i);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct found none, cold, warm, noted, taken, kept, known;
	static struct kunwind_analysis_cache analysis_cache, with_rules;
	static struct kunwind_jit_rules rules;
	static struct kunwind_replay replay;
	static struct kunwind_rule_cache cache;
	struct fuzz_input in = { data, data + size };
	struct kunwind_regs regs = { .valid = 0 };
	struct kunwind_ranges *ranges;
	u32 from[CALLS], to[CALLS], i, how, mapped, ip, sp, bp, probe;
	struct memory m;

	how = fuzz_number(&in, 1);
	mapped = fuzz_number(&in, 1);
	m.base = how & I386 ? (u32)STACK + 0x10000 : STACK;
	m.code_base = how & I386 ? (u32)CODE + 0x80000 : CODE;
	ip = fuzz_number(&in, 2);
	sp = fuzz_number(&in, 2);
	bp = fuzz_number(&in, 2);
	probe = fuzz_number(&in, 2);
	for (i = 0; i < CALLS; i++) {
		from[i] = fuzz_number(&in, 2);
		to[i] = fuzz_number(&in, 2);
		m.calls[i] = m.code_base + from[i] % CODE_MAX + 5;
	}
	m.stack_size = 8 * (1 + fuzz_number(&in, 1));
	m.stack = malloc(m.stack_size);
	for (i = 0; i < m.stack_size / 8; i++) {
		u64 val = word(&m, fuzz_number(&in, 2));

		memcpy(m.stack + 8 * i, &val, 8);
	}
	m.code_size = CODE_MAX;
	m.code = malloc(m.code_size);
	memset(m.code, 0x06, m.code_size);
	while (in.at < in.end) {
		u32 at = fuzz_number(&in, 2) % CODE_MAX, len = fuzz_number(&in, 1);

		len = min(min(len, CODE_MAX - at), (u32)(in.end - in.at));
		memcpy(m.code + at, in.at, len);
		in.at += len;
	}
	for (i = 0; i < CALLS; i++) {
		const u32 at = from[i] % CODE_MAX;
		const s32 distance = to[i] % CODE_MAX - (at + 5);

		if (!to[i] || at + 5 > CODE_MAX)
			continue;
		m.code[at] = 0xe8;
		memcpy(m.code + at + 1, &distance, 4);
	}
	regs.r[KUNWIND_RA] = word(&m, ip);
	regs.r[KUNWIND_RSP] = word(&m, sp);
	regs.r[KUNWIND_RBP] = word(&m, bp);
	regs.valid = KUNWIND_ALL_REGS;
	if (how & NO_RBP)
		regs.valid &= ~KUNWIND_REG(KUNWIND_RBP);
	if (how & SIGNAL_FRAME && m.stack_size > 8 * 23) {	/* the code segment in struct sigcontext */
		m.stack[8 * 23] = 0x33;
		m.stack[8 * 23 + 1] = 0;
	}
	m.probe_slot = how & PROBE ? regs.r[KUNWIND_RSP] + 8 * (probe >> 12) : 1;
	m.probe_return = word(&m, probe);

	ranges = ranges_of(&m, mapped);
	memset(&cache, 0, sizeof(cache));
	replay.id = 0;
	walk(&m, &regs, how, ranges, NULL, NULL, NULL, &none);
	walk(&m, &regs, how, ranges, &cache, NULL, NULL, &cold);
	walk(&m, &regs, how, ranges, &cache, NULL, NULL, &warm);
	walk(&m, &regs, how, ranges, &cache, &replay, NULL, &noted);
	walk(&m, &regs, how, ranges, &cache, &replay, NULL, &taken);
	found_compare(&none, &cold, "with an empty cache");
	found_compare(&none, &warm, "with its own cache");
	found_compare(&none, &noted, "that is noted");
	found_compare(&none, &taken, "with a note");
	memset(&analysis_cache, 0, sizeof(analysis_cache));
	walk(&m, &regs, how, ranges, NULL, NULL, &analysis_cache, &kept);
	walk(&m, &regs, how, ranges, NULL, NULL, &analysis_cache, &known);
	found_compare(&none, &kept, "that fills the analysis cache");
	found_compare(&none, &known, "with a filled analysis cache");
	memset(&with_rules, 0, sizeof(with_rules));
	memset(&rules, 0, sizeof(rules));
	with_rules.jit = &rules;
	for (i = 0; i < 3; i++)
		walk(&m, &regs, how, ranges, NULL, NULL, &with_rules, &taken);
	m.code[(from[0] ^ probe) % CODE_MAX] ^= 1 + mapped;
	walk(&m, &regs, how, ranges, NULL, NULL, NULL, &none);
	walk(&m, &regs, how, ranges, NULL, NULL, &analysis_cache, &known);
	found_compare(&none, &known, "with a filled analysis cache, after the code changed,");
	walk(&m, &regs, how, ranges, NULL, NULL, &with_rules, &taken);
	free(ranges);
	free(m.stack);
	free(m.code);
	return 0;
}
