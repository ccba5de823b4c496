/* SPDX-License-Identifier: MIT */
/*
 * i386-step-test.c - what a step of the walk of 32-bit code must not do;
 * step-test.c is for 64-bit
 */
#include "../../kmod/core/kunwind_core.h"
#include "eh.h"
#include "tap.h"

#define STACK	0x7000U
#define WORDS	64
#define WORD(n)	(STACK + 4 * (n))
#define CALLER	0x30000U

struct function {
	u32 offset;
	const char *code;
	bool signal;
};

static u32 stack[WORDS + 1];
static struct kunwind_regs regs;
static struct kunwind_mem mem;

static void begin(void)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		stack[i] = CALLER + i;
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		regs.r[i] = WORD(40);
	regs.r[KUNWIND_RSP] = STACK;
	regs.valid = KUNWIND_ALL_REGS;
	mem = (struct kunwind_mem){ .lo = STACK, .hi = STACK + sizeof(stack) - 4,
				    .delta = (u64)(uintptr_t)stack - STACK };
}

/* Where a second object begins; its table is another one. */
#define SECOND	0x800

static struct kunwind_table *build(const struct function *functions, unsigned int nr, bool second)
{
	static struct eh eh;
	struct kunwind_section section = {
		.data = eh.data, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI, .i386 = true,
	};
	struct kunwind_table *table = NULL;
	unsigned int i;

	eh.size = 0;
	for (i = 0; i < nr; i++) {
		size_t cie = eh.size;

		if ((functions[i].offset >= SECOND) != second)
			continue;
		eh_begin(&eh, false);
		eh_hex(&eh, functions[i].signal ?
			    "00 00 00 00 01 53 00 01 7c 08" :
			    "00 00 00 00 01 00 01 7c 08");
		/* CFA = esp + 4, return address below it */
		eh_hex(&eh, "0c 04 04 88 01");
		eh_end(&eh);
		eh_fde(&eh, cie, false);
		eh_num(&eh, TEXT_LO + functions[i].offset, 4);
		eh_num(&eh, 0x100, 4);
		eh_hex(&eh, functions[i].code);
		eh_end(&eh);
	}
	section.size = eh.size;
	return eh.size && !kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table) ? table : NULL;
}

/* Functions of 0x100 bytes at TEXT_LO + offset; ip is at 0x10 of the first. */
static void walk_is(const char *name, const struct function *functions, unsigned int nr,
		    enum kunwind_reason want, u32 count, u32 last)
{
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + 2 * sizeof(ranges->range[0]));
	unsigned long addresses[8] = { 0 };
	struct kunwind_walk walk = { .ranges = ranges, .mem = mem, .regs = regs, .addresses = addresses,
				     .capacity = 8, .i386 = true };
	enum kunwind_reason reason;
	unsigned int i;

	ranges->id = 1;
	for (i = 0; i < 2; i++) {
		struct kunwind_table *table = build(functions, nr, i);

		if (table)
			ranges->range[ranges->nr++] = (struct kunwind_range){
				.start = TEXT_LO + i * SECOND, .end = TEXT_LO + (i + 1) * SECOND,
				.table = table,
			};
	}
	walk.regs.r[KUNWIND_RA] = TEXT_LO + functions[0].offset + 0x10;
	reason = kunwind_walk_i386(&walk);
	if (!tap_ok(reason == want && walk.count == count && addresses[count - 1] == last, "%s", name))
		printf("# %s, %u addresses, the last %#lx\n", kunwind_reason_name(reason), walk.count,
		       walk.count ? addresses[walk.count - 1] : 0);
	for (i = 0; i < ranges->nr; i++)
		kunwind_table_free((struct kunwind_table *)ranges->range[i].table);
	free(ranges);
}

#define WALK(name, want, count, last, ...)					\
	walk_is(name, (const struct function[]){ __VA_ARGS__ },			\
		sizeof((const struct function[]){ __VA_ARGS__ }) / sizeof(struct function), \
		KUNWIND_##want, count, last)
#define AT(offset)	(TEXT_LO + (offset))

int main(void)
{
	begin();
	stack[0] = AT(0x120);
	WALK("a frame and its caller", NO_OBJECT, 3, CALLER + 1, { 0,
								  "", false }, { 0x100, "", false });
	/* ebp is register 5 of the i386 psABI */
	stack[1] = AT(0x120);
	WALK("an undefined ebp does not keep the callee's value", REG_UNKNOWN, 2, AT(0x120),
	     { 0, "0e 08 07 05", false }, { 0x100, "0c 05 08", false });
	begin();
	regs.r[KUNWIND_RBP] = WORD(2);
	stack[3] = AT(0x120);
	WALK("a CFA in ebp", NO_OBJECT, 3, CALLER + 4, { 0, "0c 05 08", false }, { 0x100, "", false });
	regs.r[KUNWIND_RSP] = WORD(8);
	WALK("a CFA below esp", CFA_STUCK, 1, AT(0x10), { 0, "0c 05 08", false });

	/* a signal interrupted the second function at its first byte */
	begin();
	stack[0] = AT(0x200);
	WALK("signal frame: the interrupted address itself is looked up", NO_OBJECT, 3, CALLER + 3,
	     { 0, "", true }, { 0x100, "", false }, { 0x200, "0e 0c", false });
	stack[0] = 0;
	WALK("a signal at address 0 does not end the stack", NO_OBJECT, 2, 0, { 0, "", true });
	WALK("a return address of 0 ends the stack", COMPLETE, 1, AT(0x10), { 0, "", false });
	stack[0] = AT(0x200);
	WALK("return address: the byte before it is looked up", NO_OBJECT, 3, CALLER + 1,
	     { 0, "", false }, { 0x100, "", false }, { 0x200, "0e 0c", false });

	/* ebx is register 3; only the second object's table follows it */
	begin();
	stack[0] = AT(SECOND + 0x20);
	WALK("a table that does not follow ebx leaves it unknown", REG_UNKNOWN, 2, AT(SECOND + 0x20),
	     { 0, "", false }, { SECOND, "0c 03 08", false });

	/* esp + 16 wraps at 2^32, to 8; there is memory there */
	begin();
	regs.r[KUNWIND_RSP] = 0xfffffff8;
	mem.lo = 0;
	mem.hi = 0x80;
	mem.delta = (u64)(uintptr_t)stack;
	WALK("a CFA that wraps at 4 GB ends the walk", CFA_STUCK, 1, AT(0x10), { 0, "0e 10", false });
	/* by a full rule: the return address is in eax */
	regs.r[KUNWIND_RAX] = CALLER;
	WALK("full rule: a CFA that wraps at 4 GB ends the walk", CFA_STUCK, 1, AT(0x10),
	     { 0, "0e 10 09 08 00", false });
	return tap_done();
}
