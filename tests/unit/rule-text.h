/* SPDX-License-Identifier: MIT */
/*
 * rule-text.h - a rule as text, in the notation of readelf's frames-interp
 *
 *   CFA   rsp+8, or exp:HEX (the expression's bytes)
 *   rbp   s same, u unknown, c-16 *(CFA-16), v+0 CFA+0, a register's name,
 *         exp:HEX *(expression), vexp:HEX expression
 *   ra    as for rbp
 * "none - -" where no row covers the address, "end - -" where the return
 * address is undefined. rule_rest() writes the other registers of a full rule.
 */
#ifndef _TEST_RULE_TEXT_H
#define _TEST_RULE_TEXT_H

#include <stdio.h>

#include "../../kmod/core/cfi/expr.h"
#include "../../kmod/core/x86/i386.h"
#include "../../kmod/core/kunwind_core.h"

static const char *const reg_names[KUNWIND_NR_REGS] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
	"r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

static const char *const reg_names_i386[KUNWIND_NR_REGS] = {
	"eax", "edx", "ecx", "ebx", "esi", "edi", "ebp", "esp", "-", "-", "-", "-", "-", "-", "-", "-",
	"eip",
};

static inline const char *reg_name(const struct kunwind_table *table, u32 reg)
{
	return (table && kunwind_table_i386(table) ? reg_names_i386 : reg_names)[reg];
}

/* Returns the DWARF number of a register of enum kunwind_reg. */
static inline u32 reg_number(bool i386, u32 reg)
{
	u32 number = 0;

	if (!i386)
		return reg;
	while (kunwind_i386_reg(number) != reg)
		number++;
	return number;
}

static inline int hex_print(char *out, const u8 *bytes, size_t len)
{
	char *p = out;

	while (len--)
		p += sprintf(p, "%02x", *bytes++);
	return p - out;
}

/* Writes a signed LEB128 number in its shortest form. Returns its length. */
static inline int sleb_write(u8 *out, s64 val)
{
	int n = 0;

	for (;;) {
		u8 byte = val & 0x7f;

		val >>= 7;
		if ((val == 0 && !(byte & 0x40)) || (val == -1 && (byte & 0x40))) {
			out[n++] = byte;
			return n;
		}
		out[n++] = byte | 0x80;
	}
}

static inline char *entry_text(const struct kunwind_table *table,
			       const struct kunwind_full_rule_entry *e, bool cfa, char *p)
{
	const u8 *expr;
	u16 len;

	switch (e->how) {
	case KUNWIND_HOW_UNDEFINED:
		return p + sprintf(p, "u");
	case KUNWIND_HOW_SAME:
		return p + sprintf(p, "s");
	case KUNWIND_HOW_AT_CFA:
		return p + sprintf(p, "c%+d", e->off);
	case KUNWIND_HOW_CFA:
		return p + sprintf(p, "v%+d", e->off);
	case KUNWIND_HOW_REG:
		if (cfa)
			return p + sprintf(p, "%s%+d", reg_name(table, e->source), e->off);
		return p + sprintf(p, "%s", reg_name(table, e->source));
	case KUNWIND_HOW_AT_EXPR:
	case KUNWIND_HOW_EXPR:
		p += sprintf(p, e->how == KUNWIND_HOW_EXPR && !cfa ? "vexp:" : "exp:");
		expr = kunwind_table_expr(table, e->off, &len);
		if (!expr)
			return p + sprintf(p, "BAD");
		return p + hex_print(p, expr, len);
	}
	return p + sprintf(p, "BAD");
}

static inline const struct kunwind_full_rule_entry *full_rule_find(const struct kunwind_full_rule *full,
							      u8 reg)
{
	const struct kunwind_full_rule_entry *e = (const void *)(full + 1);
	u32 i;

	for (i = 1; i < full->nr; i++)
		if (e[i].reg == reg)
			return &e[i];
	return NULL;
}

/* Writes CFA, rbp and ra, separated by @sep, to @buf (4 KB). */
static inline void rule_text(const struct kunwind_table *table, struct kunwind_rule rule,
			     char sep, char *buf)
{
	static const struct kunwind_full_rule_entry same = { .how = KUNWIND_HOW_SAME };
	const bool i386 = table && kunwind_table_i386(table);
	const struct kunwind_full_rule_entry ra_std = { .how = KUNWIND_HOW_AT_CFA, .off = i386 ? -4 : -8 };
	const struct kunwind_full_rule_entry *e;
	const struct kunwind_full_rule *full;
	u8 expr[16];
	char *p = buf;
	int n, i = 0;

	switch (rule.kind & KUNWIND_RULE_KIND) {
	case KUNWIND_RULE_NONE:
		sprintf(buf, "none%c-%c-", sep, sep);
		return;
	case KUNWIND_RULE_END:
		sprintf(buf, "end%c-%c-", sep, sep);
		return;
	case KUNWIND_RULE_CFA:
		p += sprintf(p, "%s%+d", reg_name(table, rule.reg), rule.off);
		break;
	case KUNWIND_RULE_DEREF:
		expr[0] = KUNWIND_OP_BREG0 + reg_number(i386, rule.reg);
		n = 1 + sleb_write(expr + 1, kunwind_deref_off(rule));
		expr[n++] = KUNWIND_OP_DEREF;
		if (kunwind_deref_add(rule)) {
			expr[n++] = KUNWIND_OP_PLUS_UCONST;
			do
				expr[n++] = (kunwind_deref_add(rule) >> 7 * i & 0x7f) |
					    (!i && kunwind_deref_add(rule) > 0x7f) << 7;
			while (!i++ && kunwind_deref_add(rule) > 0x7f);
		}
		p += sprintf(p, "exp:");
		p += hex_print(p, expr, n);
		break;
	case KUNWIND_RULE_PLT:
		p += sprintf(p, "exp:770880003f1a%02x2a332422", KUNWIND_OP_LIT0 + rule.off);
		break;
	case KUNWIND_RULE_FULL:
		full = kunwind_table_full_rule(table, rule.off);
		if (!full) {
			sprintf(buf, "BAD");
			return;
		}
		p = entry_text(table, (const void *)(full + 1), true, p);
		*p++ = sep;
		e = full_rule_find(full, KUNWIND_RBP);
		p = entry_text(table, e ? e : &same, false, p);
		*p++ = sep;
		e = full_rule_find(full, KUNWIND_RA);
		entry_text(table, e ? e : &ra_std, false, p);
		return;
	default:
		sprintf(buf, "BAD");
		return;
	}
	*p++ = sep;
	switch (rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) {
	case KUNWIND_RBP_SAME:
		p += sprintf(p, "s");
		break;
	case KUNWIND_RBP_SAVED:
		p += sprintf(p, "c%+d", rule.rbp);
		break;
	case KUNWIND_RBP_UNKNOWN:
		p += sprintf(p, "u");
		break;
	default:
		p += sprintf(p, "BAD");
	}
	sprintf(p, "%cc%d", sep, ra_std.off);
}

/* Writes "[ signal]", and " REG:RULE" for other registers, to @buf (8 KB). */
static inline void rule_rest(const struct kunwind_table *table, struct kunwind_rule rule, char *buf)
{
	const struct kunwind_full_rule_entry *e;
	const struct kunwind_full_rule *full;
	char *p = buf;
	u32 i;

	*p = 0;
	if (rule.kind & KUNWIND_RULE_SIGNAL)
		p += sprintf(p, " signal");
	if ((rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_FULL)
		return;
	full = kunwind_table_full_rule(table, rule.off);
	if (!full)
		return;
	e = (const void *)(full + 1);
	for (i = 1; i < full->nr; i++) {
		if (e[i].reg == KUNWIND_RBP || e[i].reg == KUNWIND_RA)
			continue;
		p += sprintf(p, " %s:", reg_name(table, e[i].reg));
		p = entry_text(table, &e[i], false, p);
	}
}

#endif /* _TEST_RULE_TEXT_H */
