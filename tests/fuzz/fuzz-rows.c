/* SPDX-License-Identifier: MIT */
/*
 * Property: if the builder accepts .eh_frame, a lookup finds the rule that
 * slow.c, which shares no code with the builder, finds in the bytes. Compared
 * are the first byte of each row and the byte before, the bytes at both ends of
 * each FDE, and addresses throughout each FDE. Where slow.c finds an expression
 * that is not evaluated (expr.h), the table has "none", or "u" for rbp and
 * other registers.
 */
#include "../../kmod/core/table/build.h"
#include "../unit/rule-text.h"
#include "fuzz.h"
#include "slow.h"

struct check {
	const struct slow_section *section;
	const struct kunwind_table *table;
	u32 keep, left;
	bool disputed;
	u32 nr_fdes;
	u64 fdes[512][2];
};

static bool i386_now;	/* the table is of 32-bit code */

/*
 * Whether the value at @text, up to a space, is an expression that is not
 * evaluated.
 */
static bool value_unknown(const char *text, bool cfa)
{
	struct kunwind_expr_info info;
	static u8 expr[8192];
	unsigned int byte;
	size_t len = 0;

	if (*text == 'v' && !cfa)
		text++;
	if (strncmp(text, "exp:", 4))
		return false;
	for (text += 4; sscanf(text, "%2x", &byte) == 1 && *text != ' '; text += 2)
		expr[len++] = byte;
	return kunwind_expr_check(expr, len, !cfa, i386_now, &info) || info.unknown;
}

/* Whether the expressions of a rule are together longer than a row's may be. */
static bool too_long(const char *text)
{
	size_t len = 0;

	while ((text = strstr(text, "exp:"))) {
		text += 4;
		len += strspn(text, "0123456789abcdef") / 2;
	}
	return len > KUNWIND_ROW_MAX_EXPR;
}

/*
 * Replaces expressions that are not evaluated in slow.c's text, as a table
 * does.
 */
static void unknown_drop(char *text)
{
	char *rbp = strchr(text, ' '), *ra = rbp ? strchr(rbp + 1, ' ') : NULL, *p, *end;

	if (value_unknown(text, true) || (ra && value_unknown(ra + 1, false))) {
		strcpy(text, "none - -");
		return;
	}
	for (p = rbp; p; p = strchr(p + 1, ' ')) {
		char *value = p + 1, *colon = strchr(value, ':');

		end = strchr(value, ' ');
		/*
		 * "exp:...", "vexp:..."; after the return address "REG:exp:..."
		 */
		if (p > ra && colon && (!end || colon < end))
			value = colon + 1;
		if (!value_unknown(value, false))
			continue;
		end = end ? end : value + strlen(value);
		*value = 'u';
		memmove(value + 1, end, strlen(end) + 1);
	}
}

static void address_check(struct check *c, u64 addr)
{
	static char ours[16384], theirs[16384];
	struct kunwind_rule rule;

	if (!c->left)
		return;
	c->left--;
	rule = kunwind_table_lookup(c->table, addr);
	rule_text(c->table, rule, ' ', ours);
	rule_rest(c->table, rule, ours + strlen(ours));
	slow_rule_text(c->section, addr, c->keep, theirs);
	if (strstr(theirs, "exp:"))
		unknown_drop(theirs);
	if (too_long(theirs))
		strcpy(theirs, "none - -");
	property(!strcmp(ours, theirs) || (c->disputed && !rule.kind),
		 "rule at %llx: the table has \"%s\", slow.c finds \"%s\"",
		 (unsigned long long)addr, ours, theirs);
}

static int row_check(void *data, u64 addr, struct kunwind_rule rule)
{
	(void)rule;
	address_check(data, addr);
	address_check(data, addr - 1);
	return 0;
}

static void fde_check(void *data, u64 start, u64 end)
{
	u64 i, step = (end - start) / 64 + 1;

	address_check(data, start - 1);
	address_check(data, end);
	address_check(data, end - 1);
	for (i = start; i < end && i - start < 64; i++)
		address_check(data, i);
	for (i = start; i < end; i += step)
		address_check(data, i);
}

/*
 * Sets check->disputed if FDEs overlap (unless one starts earlier and contains
 * the other), nest too deeply, or are too many to compare. Then the table may
 * have no rule where slow.c finds one; tests/unit/section-test.c tests where
 * the table has one.
 */
static void disputed_check(void *data, u64 start, u64 end)
{
	struct check *c = data;
	u32 i, around = 0;

	start = max(start, c->section->lo);
	end = min(end, c->section->hi);
	for (i = 0; i < c->nr_fdes; i++) {
		u64 s = c->fdes[i][0], e = c->fdes[i][1];
		bool outer = s < start && e >= end, inner = start < s && end >= e;

		c->disputed |= s < end && e > start && !outer && !inner;
		around += outer;
	}
	c->disputed |= around >= KUNWIND_MAX_NESTED || c->nr_fdes == ARRAY_SIZE(c->fdes);
	if (c->nr_fdes < ARRAY_SIZE(c->fdes)) {
		c->fdes[c->nr_fdes][0] = start;
		c->fdes[c->nr_fdes++][1] = end;
	}
}

static void rows(const u8 *data, size_t size, bool i386)
{
	struct kunwind_table_stats stats;
	struct kunwind_section section[2];
	struct slow_section slow[2];
	struct kunwind_table *table;
	static struct check check;
	u32 keep = fuzz_keep(*data) & kunwind_saved_regs(i386);
	unsigned int i;

	i386_now = i386;
	fuzz_section(*data, i386, data + 1, size - 1, section);
	if (kunwind_table_build(section, fuzz_keep(*data), 1 << 20, NULL, NULL, &table))
		return;
	kunwind_table_stats(table, &stats);
	property((stats.needed & ~stats.keep) == 0 && (keep & ~stats.keep) == 0 && stats.i386 == i386,
		 "table keeps registers %x, not all of those requested or needed", stats.keep);
	for (i = 0; i < 2; i++)
		slow[i] = (struct slow_section){
			.data = section[i].data, .size = section[i].size, .addr = section[i].addr,
			.text_base = section[i].text_base, .data_base = section[i].data_base,
			.lo = section[i].lo, .hi = section[i].hi,
			.whole = section[i].min_fdes, .debug = section[i].debug,
			.more = section[i].more ? &slow[1] : NULL, .i386 = i386,
		};
	check = (struct check){
		.section = slow, .table = table, .keep = stats.keep,
		.left = section[0].more ? 300 : 3000,
	};
	slow_fdes(&slow[0], disputed_check, &check);
	if (section[0].more)
		slow_fdes(&slow[1], disputed_check, &check);
	kunwind_table_for_each(table, row_check, &check);
	slow_fdes(&slow[0], fde_check, &check);
	if (section[0].more)
		slow_fdes(&slow[1], fde_check, &check);
	kunwind_table_free(table);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	return fuzz_both(data, size, rows);
}
