/* SPDX-License-Identifier: MIT */
/*
 * scene.h - for tests of the walk: objects, a stack, registers, and the
 * expected walk
 *
 * Object n has its code at TEXT_LO + MAP(n). Each word of the stack is a
 * different return address that is in no object, so a test sees which word the
 * walk took.
 */
#ifndef _TEST_SCENE_H
#define _TEST_SCENE_H

#include "../../kmod/core/kunwind_core.h"
#include "eh.h"
#include "tap.h"

#define USUAL	"0c 07 08 90 01"	/* CFA = rsp + 8; return address below it */
#define STACK	0x7000ULL
#define WORDS	64
#define WORD(n)	(STACK + 8 * (n))
#define CALLER	0x30000ULL		/* a return address in no object, +n for word n */
#define MAP(n)	(0x400000ULL * (n))	/* bias of object n: its code lies at TEXT_LO + MAP(n) */
#define CODE(n, offset)	(TEXT_LO + MAP(n) + (offset))

struct function {
	u32 offset, len;
	const char *code;	/* "S" at its start: a signal frame */
};

static struct kunwind_ranges *ranges;
static struct kunwind_rule_cache cache;
static struct kunwind_replay replay;
static u64 stack[WORDS];
static struct kunwind_regs regs;
static struct kunwind_mem mem;
static u32 room;		/* capacity of a walk, in addresses */
static u8 entry;		/* enum kunwind_entry */
static u64 unread[2];		/* where the last walk could not read */

static inline void scene(void)
{
	static u64 id;
	unsigned int i;

	if (!ranges)
		ranges = calloc(1, sizeof(*ranges) + 4 * sizeof(ranges->range[0]));
	memset(&replay, 0, sizeof(replay));
	for (i = 0; i < ranges->nr; i++)
		kunwind_table_free((struct kunwind_table *)ranges->range[i].table);
	ranges->nr = 0;
	ranges->entry_sp = ranges->entry = ranges->interpreter = 0;
	ranges->id = id += 1000;	/* a new scene must not hit the cache of the last */
	for (i = 0; i < WORDS; i++)
		stack[i] = CALLER + i;
	mem = (struct kunwind_mem){ .lo = STACK, .hi = WORD(WORDS), .delta = (u64)(uintptr_t)stack - STACK };
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		regs.r[i] = WORD(40);
	regs.r[KUNWIND_RSP] = STACK;
	regs.valid = KUNWIND_ALL_REGS;
	room = 8;
	entry = KUNWIND_ENTRY_UNKNOWN;
}

/* Adds object number ranges->nr + 1, of @len bytes, mapped as a whole. */
static inline struct kunwind_range *object(const struct function *functions, unsigned int nr, u32 len)
{
	static struct eh eh;
	struct kunwind_range *range = &ranges->range[ranges->nr++];
	struct kunwind_table *table = NULL;
	unsigned int i;

	eh.size = 0;
	for (i = 0; i < nr; i++) {
		const bool signal = functions[i].code[0] == 'S';
		size_t cie = eh_cie(&eh, signal ? "zRS" : "zR", false);

		eh_hex(&eh, "01 1b");
		eh_hex(&eh, USUAL);
		eh_end(&eh);
		eh_plain_fde(&eh, cie, TEXT_LO + functions[i].offset, functions[i].len,
			     functions[i].code + signal);
	}
	if (nr && eh_build(&eh, 0, &table))
		abort();
	*range = (struct kunwind_range){
		.start = CODE(ranges->nr, 0), .end = CODE(ranges->nr, len), .bias = MAP(ranges->nr),
		.table = table, .reason = table ? 0 : KUNWIND_NO_TABLE,
	};
	return range;
}

#define OBJECT(len, ...)						\
	object((const struct function[]){ __VA_ARGS__ },		\
	       sizeof((const struct function[]){ __VA_ARGS__ }) / sizeof(struct function), len)

/* Walks once without a cache, twice with one; all must find @found after ip. */
static inline void walk_is(const char *name, enum kunwind_reason want, unsigned int nr, const u64 *found)
{
	bool good = true;
	unsigned int round, i;

	for (round = 0; round < 3; round++) {
		unsigned long *addresses = malloc(room * sizeof(*addresses));
		struct kunwind_walk walk = {
			.ranges = ranges, .cache = round ? &cache : NULL, .mem = mem, .regs = regs,
			.addresses = addresses, .capacity = room, .entry = entry,
		};
		enum kunwind_reason reason = kunwind_walk(&walk);
		bool same = reason == want && walk.count == 1 + nr;

		for (i = 0; same && i < nr; i++)
			same = addresses[1 + i] == found[i];
		if (!same)
			printf("# round %u: %s, %u addresses, the last %#lx\n", round,
			       kunwind_reason_name(reason), walk.count,
			       walk.count ? addresses[walk.count - 1] : 0);
		good &= same;
		unread[0] = walk.unread[0];
		unread[1] = walk.unread[1];
		free(addresses);
	}
	tap_ok(good, "%s (ends with %s)", name, kunwind_reason_name(want));
}

#define WALK(name, reason, ...)						\
	walk_is(name, KUNWIND_##reason,					\
		sizeof((const u64[]){ 0, ##__VA_ARGS__ }) / 8 - 1,	\
		(const u64[]){ 0, ##__VA_ARGS__ } + 1)

#endif /* _TEST_SCENE_H */
