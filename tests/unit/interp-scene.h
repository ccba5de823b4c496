/* SPDX-License-Identifier: MIT */
/*
 * interp-scene.h - for tests of interpreters' lists: a memory, a native stack, descriptions
 */
#ifndef _TEST_INTERP_SCENE_H
#define _TEST_INTERP_SCENE_H

#include "../../kmod/core/interp/interp_walk.h"
#include "../../kmod/core/walk/mem.h"
#include "tap.h"

/* The memory: some words for the thread's root, then for nodes, then the native stack. */
#define BASE		0x100000ULL
#define WORDS		8192
#define OBJECT		(BASE + 0x100)		/* the object's first byte in memory */
#define ROOT		(BASE + 0x400)		/* where the base of fs points */
#define NODE(n)		(BASE + 0x1000 + 0x80 * (u64)(n))
#define CODE(n)		(BASE + 0x6000 + 0x80 * (u64)(n))
#define STACK		(BASE + 0x8000)
#define FRAME(n)	(STACK + 0x100 * (u64)(n))	/* stack pointer of native frame n */

/* The eval loop's code, ELF virtual addresses; and an address in it, and one elsewhere. */
#define BIAS		(OBJECT)
#define LOOP		0x2000
#define COLD		0x1000
#define IN_LOOP		(BIAS + LOOP + 0x80)
#define ELSEWHERE	(BIAS + 0x8000)

#define NATIVES		32
#define MOST		64

static u64 words[WORDS];
static struct kunwind_mem memory;
static struct kunwind_interp_desc desc;
static struct kunwind_interp interp;
static unsigned long native[NATIVES];
static u64 native_sp[NATIVES];
static struct kunwind_interp_frame found[MOST];
static struct kunwind_interp_walk walk;

static inline void put(u64 addr, u64 value)
{
	memcpy((u8 *)words + (addr - BASE), &value, sizeof(value));
}

static inline void put_bytes(u64 addr, const void *from, size_t size)
{
	memcpy((u8 *)words + (addr - BASE), from, size);
}

/* A key of 4 bytes at the object's byte 0x20; the root is the key's slot of 16 bytes from fs on. */
static inline void describe(void)
{
	desc = (struct kunwind_interp_desc){
		.size = sizeof(desc), .nr_ranges = 2, .nr_steps = 5, .nr_tests = 1, .nr_checks = 2,
		.anchor = KUNWIND_INTERP_AT_END, .id = 0, .next = 8, .id_mask = ~0ULL,
		.position = { .off = 56, .width = 8 },
		.range = { { .start = COLD, .end = COLD + 0x40 }, { .start = LOOP, .end = LOOP + 0x100 } },
		.step = {
			{ .op = KUNWIND_INTERP_OBJECT, .arg = 0x20 },
			{ .op = KUNWIND_INTERP_KEY, .width = 4, .limit = 32, .arg = 0 },
			{ .op = KUNWIND_INTERP_FS, .arg = 0x10 },
			{ .op = KUNWIND_INTERP_INDEX, .arg = 16 },
			{ .op = KUNWIND_INTERP_LOAD, .width = 8, .arg = 8 },
		},
		.test = { { .value = { .off = 70, .width = 1 }, .verdict = KUNWIND_INTERP_BEYOND,
			    .mask = 0xff, .equals = 3 } },
		.check = { { .off = 68, .width = 4, .base = KUNWIND_INTERP_ID },
			   { .off = 92, .width = 4, .base = KUNWIND_INTERP_ID } },
	};
}

/* The same with outer nodes: head at 8, next at 16; the last node of a group has 1 in byte 68. */
static inline void describe_outer(void)
{
	describe();
	desc.flags = KUNWIND_INTERP_HAS_OUTER | KUNWIND_INTERP_HAS_CHAIN;
	desc.outer_head = 8;
	desc.outer_next = 16;
	desc.anchor = KUNWIND_INTERP_AT_OUTER;
	desc.id = 32;
	desc.next = 48;
	desc.test[0] = (struct kunwind_interp_test){ .value = { .off = 68, .width = 1 },
						     .verdict = KUNWIND_INTERP_LAST, .mask = 0xff,
						     .equals = 1 };
}

static inline void root(u64 node)
{
	put(OBJECT + 0x20, 5 | 0xffffffffULL << 32);
	put(ROOT + 0x10 + 16 * 5 + 8, node);
}

/* @nr native frames, of which those in the string are in the eval loop: "..L.L" */
static inline void natives(const char *text)
{
	u32 i;

	for (i = 0; text[i]; i++) {
		native[i] = text[i] == 'L' ? IN_LOOP : ELSEWHERE + i;
		native_sp[i] = FRAME(i);
	}
	walk.nr = i;
}

static inline void scene(void)
{
	memset(words, 0, sizeof(words));
	memory = (struct kunwind_mem){ .lo = BASE, .hi = BASE + sizeof(words),
				       .delta = (uintptr_t)words - BASE, .left = KUNWIND_BUDGET,
				       .fs = ROOT };
	walk = (struct kunwind_interp_walk){ .interp = &interp, .bias = BIAS, .mem = &memory,
					     .addresses = native, .sp = native_sp, .complete = true,
					     .frames = found, .capacity = MOST };
	memset(found, 0xa5, sizeof(found));
	describe();
	natives(".L..L.");
}

static inline enum kunwind_interp_reason run(void)
{
	if (kunwind_interp_check(&desc, &interp))
		abort();
	return kunwind_interp_walk(&walk);
}

#endif /* _TEST_INTERP_SCENE_H */
