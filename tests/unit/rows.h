/* SPDX-License-Identifier: MIT */
/*
 * rows.h - for tests: a whole table as one line of text
 *
 * "OFF CFA RBP RA; OFF CFA RBP RA REST; ..." in the notation of rule-text.h.
 * OFF is the distance from TEXT_LO in hexadecimal. Each row is also looked up
 * at its last byte; and the byte before the table and the byte after it must
 * have no rule.
 */
#ifndef _TEST_ROWS_H
#define _TEST_ROWS_H

#include "eh.h"
#include "rule-text.h"

struct rows {
	const struct kunwind_table *table;
	char *at;
	char text[1 << 16];
	struct kunwind_rule last;
	bool any, bad;
};

static inline int rows_add(void *data, u64 addr, struct kunwind_rule rule)
{
	static char buf[4096], rest[8192];
	struct rows *rows = data;
	struct kunwind_rule before = kunwind_table_lookup(rows->table, addr - 1);

	if (memcmp(&before, &rows->last, sizeof(before)))
		rows->bad = true;
	rows->last = rule;
	rule_text(rows->table, rule, ' ', buf);
	rule_rest(rows->table, rule, rest);
	rows->at += sprintf(rows->at, "%s%llx %s%s", rows->any ? "; " : "",
			    (unsigned long long)(addr - TEXT_LO), buf, rest);
	rows->any = true;
	return 0;
}

/* Returns static text; it ends with "..." if a lookup contradicts the rows. */
static inline const char *rows_text(const struct kunwind_table *table)
{
	static struct rows rows;
	struct kunwind_table_stats stats;
	struct kunwind_rule last;

	memset(&rows, 0, sizeof(rows));
	rows.table = table;
	rows.at = rows.text;
	kunwind_table_for_each(table, rows_add, &rows);
	kunwind_table_stats(table, &stats);
	last = kunwind_table_lookup(table, stats.base + stats.span - 1);
	if (memcmp(&last, &rows.last, sizeof(last)) ||
	    kunwind_table_lookup(table, stats.base + stats.span).kind ||
	    kunwind_table_lookup(table, stats.base - 1).kind || rows.bad)
		strcpy(rows.at, " ... lookup contradicts the rows");
	return rows.text;
}

#endif /* _TEST_ROWS_H */
