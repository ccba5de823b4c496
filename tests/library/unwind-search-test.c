/* SPDX-License-Identifier: MIT */
/*
 * unwind-search-test.c - which FDE of a search table is read for an address, and what becomes of
 * the rule that it gives
 *
 * The FDEs are the test's: FDE n covers [BASE + 16 n, BASE + 16 n + 16).
 */
#include "../../libkunwind/unwind/fde_find.c"
#include "../unit/tap.h"

#define BASE	0x400000ULL
#define FDES	40

static u32 asked, table_asked;
static size_t offset;			/* of the last FDE */
static const struct kunwind_fde_rule *room;
static enum kunwind_build_error answer;
static u8 kind;

enum kunwind_build_error
kunwind_fde_rule(const struct kunwind_section *section, size_t at, u64 addr, u32 keep,
		 struct kunwind_fde_rule *own, struct kunwind_rule *rule)
{
	asked++;
	offset = at;
	room = own;
	if (section->addr != BASE - 0x10000 || keep != KUNWIND_SAVED_REGS || !addr)
		return KUNWIND_E_IO;
	rule->kind = kind;
	return answer;
}

struct kunwind_rule kunwind_table_lookup(const struct kunwind_table *table, u64 addr)
{
	(void)table, (void)addr;
	return (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
}

enum kunwind_reason kunwind_table_find_elsewhere(const struct kunwind_table **table, u64 addr,
						 struct kunwind_rule *rule)
{
	(void)addr;
	table_asked += (*table)->bytes == 5;
	rule->kind = 42;
	return KUNWIND_BUDGET_SPENT;
}

static struct {
	s32 code, fde;
} search[FDES];
static struct unwind_by_fde by = {
	.section = { .addr = BASE - 0x10000, .size = 0x8000 },
	.search = (const u8 *)search, .search_base = BASE,
};
static struct unwind_memory memory;
static struct kunwind_mem mem = { .memory = &memory };
static struct kunwind_rule rule;
static const struct kunwind_table *table;

static int find(u64 addr)
{
	asked = 0;
	offset = ~0UL;
	table = &by.table;
	rule.kind = 77;
	return kunwind_unwind_find(&mem, &table, addr, &rule);
}

/* Whether FDE @n is read, and no other. */
static bool reads(u64 addr, u32 n)
{
	return find(addr) == KUNWIND_COMPLETE && asked == 1 && offset == 0x100 + 32 * n;
}

static void test_search(void)
{
	u32 nr, i, wrong = 0;

	answer = KUNWIND_OK;
	kind = KUNWIND_RULE_NONE;
	for (nr = 1; nr <= FDES; nr++) {
		by.search_nr = nr;
		for (i = 0; i < nr; i++)
			wrong += !reads(BASE + 16 * i, i) || !reads(BASE + 16 * i + 15, i);
		wrong += !reads(BASE - 1, 0) || !reads(BASE + 16 * nr + 100, nr - 1);
	}
	tap_ok(!wrong, "of 1 to %d FDEs, the one is read that begins at the address or before it", FDES);
}

static void test_place(void)
{
	by.search_nr = FDES;
	search[7].fde = -0x10000;
	tap_ok(find(BASE + 7 * 16) == KUNWIND_COMPLETE && asked == 1 && offset == 0,
	       "the first FDE of the section");
	search[7].fde = -0x10001;
	tap_ok(find(BASE + 7 * 16) == KUNWIND_COMPLETE && !asked && rule.kind == KUNWIND_RULE_NONE,
	       "a place before the section: nothing is read, there is no rule");
	search[7].fde = 0x8000 - 0x10000 - 1;
	tap_ok(find(BASE + 7 * 16) == KUNWIND_COMPLETE && asked == 1 && offset == 0x7fff, "its last byte");
	search[7].fde = 0x8000 - 0x10000;
	tap_ok(find(BASE + 7 * 16) == KUNWIND_COMPLETE && !asked && rule.kind == KUNWIND_RULE_NONE,
	       "a place after the section: nothing is read");
}

static void test_answers(void)
{
	const struct kunwind_fde_rule *first;
	struct kunwind_table other = { .bytes = 5 };

	answer = KUNWIND_E_LIMIT;
	tap_ok(find(BASE) == KUNWIND_MEMORY_LIMIT, "an FDE that needs more memory than there is says so");
	answer = KUNWIND_E_CIE;
	tap_ok(find(BASE) == KUNWIND_COMPLETE && rule.kind == KUNWIND_RULE_NONE && table == &by.table,
	       "a corrupt FDE has no rule");
	answer = KUNWIND_OK;
	kind = KUNWIND_RULE_NONE + 1;
	memory.rule_turn = 0;
	tap_ok(find(BASE) == KUNWIND_COMPLETE && rule.kind == kind && table == &by.table && !memory.rule_turn,
	       "a short rule is of the object's table");
	kind = KUNWIND_RULE_FULL;
	find(BASE);
	first = room;
	tap_ok(room == &memory.rule[0] && table == &room->table, "a full rule has a table of its own");
	find(BASE);
	tap_ok(room == &memory.rule[1] && table == &room->table, "the next one has another one");
	find(BASE);
	tap_ok(room == first, "the third one takes the first one's place");
	memory.rule_turn = 255;
	find(BASE);
	find(BASE);
	tap_ok(room == &memory.rule[0], "the turn may overflow");
	table = &other;
	tap_ok(kunwind_unwind_find(&mem, &table, BASE, &rule) == KUNWIND_BUDGET_SPENT && table_asked == 1 &&
	       rule.kind == 42, "a whole table is asked itself");
}

int main(void)
{
	s32 i;

	for (i = 0; i < FDES; i++) {
		search[i].code = 16 * i;
		search[i].fde = -0x10000 + 0x100 + 32 * i;
	}
	test_search();
	test_place();
	test_answers();
	return tap_done();
}
