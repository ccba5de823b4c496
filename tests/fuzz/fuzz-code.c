/* SPDX-License-Identifier: MIT */
/*
 * Property: for any bytes of code, the rows have at most a byte for each byte of code
 * and 64 KB; the builder reads them without an error, within the code; and each rule
 * counts from rsp or rbp, at least a word, and has the bit of rules from code.
 */
#include "../../kmod/core/rows/code.h"
#include "../../kmod/core/x86/insn_decode.h"
#include "fuzz.h"

static int check(void *data, u64 addr, struct kunwind_rule rule)
{
	const u8 reg = rule.reg & ~KUNWIND_RULE_FLAGS;

	(void)data;
	if (!rule.kind)
		return 0;
	property((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_CFA && rule.reg & KUNWIND_RULE_CODE &&
		 (reg == KUNWIND_RSP || reg == KUNWIND_RBP) && rule.off >= 8 && !(rule.off & 7),
		 "%llx: kind %x, register %u, %d bytes", (unsigned long long)addr, rule.kind, rule.reg,
		 rule.off);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct kunwind_code_gaps *gaps;
	struct kunwind_section section;
	struct kunwind_table *table;
	enum kunwind_build_error err;
	u64 len;
	u8 *out;

	if (!size || size > FUZZ_MAX)
		return 0;
	gaps = kunwind_alloc(sizeof(*gaps));
	gaps->nr = 1;
	gaps->bytes = size;
	gaps->gap[0] = (struct kunwind_code_gap){ FUZZ_TEXT, FUZZ_TEXT + size, 0, 0 };
	gaps->code = kunwind_alloc(size + 8 * KUNWIND_TEXT_BEHIND);
	memcpy(gaps->code, data, size);
	err = kunwind_code_rows(gaps, NULL, 0, NULL, NULL, &out, &len);
	property(!err, "the analysis fails: %u", err);
	if (out) {
		property(len <= size + (64 << 10), "%llu bytes of rows for %zu",
			 (unsigned long long)len, size);
		section = (struct kunwind_section){
			.data = out, .size = len, .debug = true, .min_fdes = ~0U, .strict = true,
			.lo = FUZZ_TEXT, .hi = FUZZ_TEXT + size,
		};
		err = kunwind_table_build(&section, 0, 1 << 24, NULL, NULL, &table);
		property(!err, "the builder refuses the rows: %u", err);
		kunwind_table_for_each(table, check, NULL);
		kunwind_table_free(table);
		kunwind_free(out);
	}
	kunwind_free(gaps->code);
	kunwind_free(gaps);
	return 0;
}
