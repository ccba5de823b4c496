/* SPDX-License-Identifier: MIT */
/*
 * forms-test.c - each form of a rule: where the return address, rbp and the other
 * callee-saved registers of the caller are, and whether a walk through it is noted
 *
 * The function under test returns to a function whose CFA comes from one register,
 * so the next address shows that register's value. The walk takes the rule without
 * a cache, then to a cache, then from it.
 */
#include "scene.h"
#include "../../kmod/core/walk/mem.h"

#define REGISTERS	6
static const u32 registers[REGISTERS] = { KUNWIND_RBP, KUNWIND_RBX, KUNWIND_R12,
					  KUNWIND_R13, KUNWIND_R14, KUNWIND_R15 };

/* What the caller has in a register. */
#define SAME		-1	/* what the function has */
#define UNKNOWN		-2
#define AT(n)		(n)	/* the stack's word n */

struct form {
	const char *name, *code;
	u32 cfa;		/* the register that the CFA comes from */
	u32 ra;			/* the word of the return address */
	s32 after[REGISTERS];
	bool noted;		/* a complete walk through it is noted */
};

#define ALL_SAME	{ SAME, SAME, SAME, SAME, SAME, SAME }

static const struct form forms[] = {
	{ "rsp", "0e 18", KUNWIND_RSP, 2, ALL_SAME, true },
	{ "rsp, rbp saved", "0e 18 86 03", KUNWIND_RSP, 2, { AT(0), SAME, SAME, SAME, SAME, SAME }, true },
	{ "rsp, rbp unknown", "0e 18 07 06", KUNWIND_RSP, 2,
	  { UNKNOWN, SAME, SAME, SAME, SAME, SAME }, true },
	{ "rsp, rbx unknown", "0e 18 07 03", KUNWIND_RSP, 2,
	  { SAME, UNKNOWN, SAME, SAME, SAME, SAME }, true },
	{ "rsp, rbx saved", "0e 18 83 02", KUNWIND_RSP, 2, { SAME, AT(1), SAME, SAME, SAME, SAME }, true },
	{ "rsp, rbx and rbp saved", "0e 20 86 02 83 03", KUNWIND_RSP, 3,
	  { AT(2), AT(1), SAME, SAME, SAME, SAME }, true },
	{ "rsp, r12 and r15 saved", "0e 20 8c 02 8f 03", KUNWIND_RSP, 3,
	  { SAME, SAME, AT(2), SAME, SAME, AT(1) }, true },
	{ "rsp, all saved", "0e 38 86 02 83 03 8c 04 8d 05 8e 06 8f 07", KUNWIND_RSP, 6,
	  { AT(5), AT(4), AT(3), AT(2), AT(1), AT(0) }, true },
	{ "rsp, all saved, rbp unknown", "0e 38 07 06 83 03 8c 04 8d 05 8e 06 8f 07", KUNWIND_RSP, 6,
	  { UNKNOWN, AT(4), AT(3), AT(2), AT(1), AT(0) }, true },
	{ "rsp, the farthest place of a short rule", "0e 48 83 08", KUNWIND_RSP, 8,
	  { SAME, AT(1), SAME, SAME, SAME, SAME }, true },
	{ "rsp, a place beyond it", "0e 50 83 09", KUNWIND_RSP, 9,
	  { SAME, AT(1), SAME, SAME, SAME, SAME }, false },
	{ "rbp", "0c 06 10", KUNWIND_RBP, 11, ALL_SAME, true },
	{ "rbp, rbp saved", "0c 06 10 86 02", KUNWIND_RBP, 11,
	  { AT(10), SAME, SAME, SAME, SAME, SAME }, true },
	{ "rbp, rbp unknown", "0c 06 10 07 06", KUNWIND_RBP, 11,
	  { UNKNOWN, SAME, SAME, SAME, SAME, SAME }, true },
	{ "rbp, all saved", "0c 06 10 86 02 83 03 8c 04 8d 05 8e 06 8f 07", KUNWIND_RBP, 11,
	  { AT(10), AT(9), AT(8), AT(7), AT(6), AT(5) }, true },
	{ "rbx", "0c 03 10", KUNWIND_RBX, 14, ALL_SAME, false },
	{ "rbx, rbp saved", "0c 03 10 86 02", KUNWIND_RBX, 14,
	  { AT(13), SAME, SAME, SAME, SAME, SAME }, false },
	{ "rbx, rbp unknown", "0c 03 10 07 06", KUNWIND_RBX, 14,
	  { UNKNOWN, SAME, SAME, SAME, SAME, SAME }, false },
	{ "rbx, all saved", "0c 03 10 86 02 83 03 8c 04 8d 05 8e 06 8f 07", KUNWIND_RBX, 14,
	  { AT(13), AT(12), AT(11), AT(10), AT(9), AT(8) }, false },
	{ "a word of the stack", "0f 03 76 78 06", KUNWIND_RBP, 29, ALL_SAME, false },
	{ "a word of the stack, rbp saved", "0f 03 76 78 06 86 03", KUNWIND_RBP, 29,
	  { AT(27), SAME, SAME, SAME, SAME, SAME }, false },
	{ "above a word of the stack", "0f 05 76 78 06 23 08", KUNWIND_RBP, 30, ALL_SAME, false },
	{ "above a word of the stack, rbp saved", "0f 05 76 78 06 23 38 86 09", KUNWIND_RBP, 36,
	  { AT(28), SAME, SAME, SAME, SAME, SAME }, false },
	{ "PLT, before the push", "0f 0b 77 08 80 00 3f 1a 3b 2a 33 24 22", KUNWIND_RSP, 0, ALL_SAME, true },
	{ "PLT, after the push", "0f 0b 77 08 80 00 3f 1a 30 2a 33 24 22", KUNWIND_RSP, 1, ALL_SAME, true },
};

/* The functions: under test; and for each register one whose CFA it is. */
static void begin(const char *code)
{
	unsigned int i;

	scene();
	OBJECT(0x1000, { 0x000, 0x100, code }, { 0x100, 0x100, "0c 06 20" }, { 0x200, 0x100, "0c 03 20" },
	       { 0x300, 0x100, "0c 0c 20" }, { 0x400, 0x100, "0c 0d 20" }, { 0x500, 0x100, "0c 0e 20" },
	       { 0x600, 0x100, "0c 0f 20" }, { 0x700, 0x100, "07 10" });
	for (i = 0; i < WORDS; i++)
		stack[i] = WORD(30 + i % 32);
	regs.r[KUNWIND_RBP] = WORD(10);
	for (i = 1; i < REGISTERS; i++)
		regs.r[registers[i]] = WORD(12 + i);
	stack[9] = WORD(30);		/* the CFA of "a word of the stack" */
}

/* The caller's value of register @n; 0: not known. The function may not know its own value. */
static u64 value_after(const struct form *form, u32 n)
{
	s32 after = form->after[n];

	if (after == SAME && (regs.valid & KUNWIND_REG(registers[n])))
		return regs.r[registers[n]];
	return after >= 0 ? stack[after] : 0;
}

static bool leads_to(const struct form *form, u32 n, bool *noted)
{
	const bool full = strstr(form->name, "beyond");
	unsigned long addresses[8];
	const u64 value = value_after(form, n);
	bool good = true;
	u32 round;

	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[form->ra] = CODE(1, 0x110 + 0x100 * n);
	if (value)
		stack[(value + 24 - STACK) / 8] = CODE(1, 0x710);
	*noted = false;
	for (round = 0; round < 4; round++) {
		struct kunwind_walk walk = {
			.ranges = ranges, .cache = round ? &cache : NULL, .replay = round ? &replay : NULL,
			.mem = mem, .regs = regs, .addresses = addresses, .capacity = 8,
		};
		enum kunwind_reason reason = kunwind_walk(&walk);

		if (value)
			good &= reason == KUNWIND_COMPLETE && walk.count == 3 &&
				addresses[1] == stack[form->ra] && addresses[2] == CODE(1, 0x710);
		else
			good &= reason == KUNWIND_REG_UNKNOWN && walk.count == 2;
		if (!good)
			printf("# round %u, register %u: %s, %u addresses, the last %lx\n", round,
			       registers[n], kunwind_reason_name(reason), walk.count,
			       addresses[walk.count - 1]);
		/* Only the rules that the cache does not have are paid for. */
		if (round >= 2 && !full && value && walk.mem.left != KUNWIND_BUDGET) {
			printf("# round %u, register %u: the cache does not have a rule\n", round,
			       registers[n]);
			good = false;
		}
		*noted = replay.id != 0;
	}
	return good;
}

/* A note is made exactly for the forms whose inputs it holds, if rbp is the last frame's. */
static void test_form(const struct form *form)
{
	bool good = true, noted;
	u32 n;

	for (n = 0; n < REGISTERS; n++) {
		begin(form->code);
		good &= leads_to(form, n, &noted);
		if (value_after(form, n))
			good &= noted == (form->noted && n == 0);
		if (value_after(form, n) && noted != (form->noted && n == 0))
			printf("# register %u: %snoted\n", registers[n], noted ? "" : "not ");
	}
	tap_ok(good, "CFA by %s: the caller's registers, without a cache, and to and from it", form->name);

	good = true;
	for (n = 0; n < REGISTERS; n++) {
		begin(form->code);
		if (registers[n] == form->cfa)
			continue;
		regs.valid &= ~KUNWIND_REG(registers[n]);
		good &= leads_to(form, n, &noted);
	}
	tap_ok(good, "CFA by %s: a register that the function itself does not know", form->name);
}

/* Where reads fail: the frame's stack pointer, and the last place of rbp. */
static const struct {
	const char *name, *code;
	u32 count;
	s32 sp, bp;		/* words; -1: not reported */
	u64 unread;		/* word that cannot be read: the stack ends before it */
} unreadable[] = {
	{ "the return address, by rsp", "0e 28", 1, 0, -1, 4 },
	{ "the return address, by rbp", "0c 06 10", 1, 0, -1, 11 },
	{ "the CFA", "0f 03 76 78 06", 1, 0, -1, 9 },
	{ "the return address, by rbx", "0c 03 10", 1, 0, -1, 14 },
	{ "a saved rbp that the next frame needs", "0e 28 86 03 ", 2, 5, 3, 0 },
};

static void test_unreadable(void)
{
	unsigned long addresses[8];
	u32 i, round;

	for (i = 0; i < ARRAY_SIZE(unreadable); i++) {
		bool good = true;

		begin(unreadable[i].code);
		regs.r[KUNWIND_RA] = CODE(1, 0x10);
		stack[4] = CODE(1, 0x110);
		stack[2] = 0x100;		/* the saved rbp: no address of the stack */
		if (unreadable[i].unread)
			mem.hi = WORD(unreadable[i].unread);
		for (round = 0; round < 3; round++) {
			struct kunwind_walk walk = {
				.ranges = ranges, .cache = round ? &cache : NULL, .mem = mem,
				.regs = regs, .addresses = addresses, .capacity = 8,
			};
			enum kunwind_reason reason = kunwind_walk(&walk);
			u64 sp = WORD(unreadable[i].sp);

			good &= reason == KUNWIND_UNREADABLE && walk.count == unreadable[i].count &&
				walk.unread[0] == sp && !!walk.unread[1] == (unreadable[i].bp >= 0);
			if (!good)
				printf("# round %u: %s, %u addresses, unread %llx %llx\n", round,
				       kunwind_reason_name(reason), walk.count,
				       (unsigned long long)walk.unread[0],
				       (unsigned long long)walk.unread[1]);
		}
		tap_ok(good, "cannot be read: %s", unreadable[i].name);
	}
}

int main(void)
{
	u32 i;

	test_unreadable();

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		test_form(&forms[i]);
	return tap_done();
}
