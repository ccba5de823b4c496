/* SPDX-License-Identifier: MIT */
/*
 * code-rows.h - code that the assembler makes, and its rows as text
 *
 * A row is "address:register+offset": the place of the CFA from this address on; "-": none.
 * ",-16" is the place of the caller's rbp below the CFA, ",?" a caller's rbp that is not
 * known. "*register+offset+number": the CFA is number bytes above what this word says. "~": the
 * caller's rsp may be another than the CFA.
 * Addresses count from AT, in hexadecimal digits.
 */
#ifndef _TEST_CODE_ROWS_H
#define _TEST_CODE_ROWS_H

#include "../../kmod/core/rows/cfi_writer.h"
#include "../../kmod/core/rows/code.h"
#include "tap.h"

#define AT 0x10000ULL

/* Code in the test's own data, at a multiple of 16. */
#define CODE(name, text)						\
	asm(".pushsection .rodata\n.balign 16\n" #name ":\n" text "\n"	\
	    #name "_end:\n.popsection");				\
	extern const u8 name[], name##_end[]

static char text[1 << 16], *end;

static int add(void *data, u64 addr, struct kunwind_rule rule)
{
	static const char *const regs[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
					    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };
	const bool deref = (rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_DEREF;

	(void)data;
	end += sprintf(end, "%s%llx:", end == text ? "" : " ", (unsigned long long)(addr - AT));
	if (!rule.kind) {
		end += sprintf(end, "-");
		return 0;
	}
	end += sprintf(end, "%s%s%s%+d%s", rule.reg & KUNWIND_RULE_MOVED ? "~" : "", deref ? "*" : "",
		       regs[rule.reg & 15],
		       deref ? kunwind_deref_off(rule) : rule.off,
		       rule.reg & KUNWIND_RULE_CODE ? "" : "(no code)");
	if (deref)
		end += sprintf(end, "%+d", kunwind_deref_add(rule));
	if ((rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) == KUNWIND_RBP_SAVED)
		end += sprintf(end, ",%d", rule.rbp);
	else if ((rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) == KUNWIND_RBP_UNKNOWN)
		end += sprintf(end, ",?");
	return 0;
}

static struct kunwind_code_gaps gaps;

static u32 hole_at, hole_size; /* bytes that CFI covers */

/* Makes @size bytes at AT the gaps: one, or two with the hole between. gaps.code is to be freed. */
static void code_is(const u8 *bytes, size_t size)
{
	const u32 first = hole_size ? hole_at : size, second = hole_at + hole_size;

	gaps.nr = hole_size ? 2 : 1;
	gaps.bytes = size - hole_size;
	gaps.gap[0] = (struct kunwind_code_gap){ AT, AT + first, 0, 0 };
	gaps.gap[1] = (struct kunwind_code_gap){ AT + second, AT + size, 0, first };
	gaps.code = calloc(1, size + 64);
	memcpy(gaps.code, bytes, first);
	if (hole_size)
		memcpy(gaps.code + first, bytes + second, size - second);
}

/* The table of @size bytes at AT; NULL: there are no rows, or *err. */
static struct kunwind_table *table_of(const u8 *bytes, size_t size, enum kunwind_build_error *err)
{
	struct kunwind_section section = { .debug = true, .min_fdes = ~0U, .lo = AT, .hi = AT + size };
	struct kunwind_table *table = NULL;
	u8 *data;
	u64 len;

	code_is(bytes, size);
	*err = kunwind_code_rows(&gaps, NULL, 0, NULL, NULL, &data, &len);
	free(gaps.code);
	if (*err || !data)
		return NULL;
	section.data = data;
	section.size = len;
	*err = kunwind_table_build(&section, 0, 64 << 20, NULL, NULL, &table);
	kunwind_free(data);
	return table;
}

/* The rows of @size bytes at AT, as text. */
static const char *rows_of(const u8 *bytes, size_t size)
{
	enum kunwind_build_error err;
	struct kunwind_table *table = table_of(bytes, size, &err);

	end = text;
	*text = 0;
	if (err)
		return kunwind_build_error_name(err);
	if (!table)
		return "none";
	kunwind_table_for_each(table, add, NULL);
	kunwind_table_free(table);
	return text;
}

#define ROWS(code, want, name)								\
	do {										\
		const char *got = rows_of(code, code##_end - code);			\
											\
		if (!tap_ok(!strcmp(got, want), "%s", name))				\
			printf("#   got: %s\n#  want: %s\n", got, want);		\
	} while (0)

#endif /* _TEST_CODE_ROWS_H */
