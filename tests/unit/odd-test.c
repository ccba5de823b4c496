/* SPDX-License-Identifier: MIT */
/*
 * odd-test.c - CFI that is legal and rare: return columns other than 16, many
 * remembered states, alignment factors of any size, FDEs that reach out of the
 * code
 *
 * Source: DWARF 5, 6.4. elfutils reads all of these forms (libdw/cfi.c, cie.c,
 * fde.c), with any number of states and any return column.
 */
#include "rows.h"
#include "tap.h"

/* def_cfa rsp+8; offset rip at cfa-8: how every x86-64 CIE begins */
#define USUAL	"0c 07 08 90 01"

/* CIEs whose return address is in a column other than 16. */
static const struct {
	const char *name;
	const char *cie, *fde;
	u8 column;
	const char *rows;
} columns[] = {
	{ "17, saved at CFA - 8", "0c 07 08 91 01", "41 0e 10 41 91 02", 17,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8; 2 rsp+16 s c-16" },
	{ "17, without a rule", "0c 07 08 90 01", "41 0e 10", 17, "0 none - -" },
	{ "17, with a rule later", "0c 07 08", "41 91 01 41 d1 41 91 01 0a 41 d1 41 0b 41 08 11", 17,
	  "0 none - -; 1 rsp+8 s c-8; 2 none - -; 3 rsp+8 s c-8; 4 none - -; 5 rsp+8 s c-8; 6 none - -" },
	{ "17, rules of column 16 have no effect",
	  "0c 07 08 91 01", "41 07 10 41 90 05 41 d0", 17, "0 rsp+8 s c-8" },
	{ "17, undefined", "0c 07 08 07 11", "", 17, "0 end - -" },
	{ "17, in rcx", "0c 07 08 09 11 02", "", 17, "0 rsp+8 s rcx" },
	/* register 16 is the frame's rip, whatever the return column */
	{ "17, in column 16", "0c 07 08 09 11 10", "", 17, "0 rsp+8 s rip" },
	{ "17, expression", "0c 07 08 10 11 02 77 08", "", 17, "0 rsp+8 s exp:7708" },
	{ "17, an unsupported expression", "0c 07 08 10 11 03 77 00 f0", "41 91 01", 17,
	  "0 none - -; 1 rsp+8 s c-8" },
	{ "200", "0c 07 08 05 c8 01 01", "", 200, "0 rsp+8 s c-8" },
	{ "14, without a rule", "0c 07 08", "41 0e 10", 14, "0 rsp+8 s r14; 1 rsp+16 s r14" },
	{ "14, saved", "0c 07 08", "41 8e 01 41 ce 41 08 0e", 14,
	  "0 rsp+8 s r14; 1 rsp+8 s c-8 r14:c-8; 2 rsp+8 s r14" },
	{ "14, remembered", "0c 07 08", "0a 41 8e 02 0a 41 8e 03 41 0b 41 0b", 14,
	  "0 rsp+8 s r14; 1 rsp+8 s c-16 r14:c-16; 2 rsp+8 s c-24 r14:c-24; "
	  "3 rsp+8 s c-16 r14:c-16; 4 rsp+8 s r14" },
	{ "14, undefined", "0c 07 08", "41 07 0e", 14, "0 rsp+8 s r14; 1 end - -" },
	{ "14, in a vector register", "0c 07 08", "41 09 0e 11", 14, "0 rsp+8 s r14; 1 none - -" },
	{ "0, a caller-saved register", "0c 07 08", "41 80 01", 0, "0 rsp+8 s rax; 1 rsp+8 s c-8 rax:c-8" },
	{ "6", "0c 07 08", "41 86 01", 6, "0 rsp+8 s rbp; 1 rsp+8 c-8 c-8" },
	/* the caller's rsp is not the address of any code */
	{ "7", "0c 07 08", "41 87 01", 7, "0 none - -; 1 rsp+8 s c-8 rsp:c-8" },
};

static void test_columns(void)
{
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		const char *got;
		size_t cie = 0;

		eh.size = 0;
		eh_begin(&eh, false);
		eh_hex(&eh, "00 00 00 00 01 7a 52 00 01 78");
		eh_num(&eh, columns[i].column, 1);
		eh_hex(&eh, "01 1b");
		eh_hex(&eh, columns[i].cie);
		eh_end(&eh);
		eh_plain_fde(&eh, cie, TEXT_LO, 0x100, columns[i].fde);
		err = eh_build(&eh, 0, &table);
		got = err ? kunwind_build_error_name(err) : rows_text(table);
		if (!tap_ok(!strcmp(got, columns[i].rows) &&
			    (columns[i].column != 14 || kunwind_table_keep(table) == KUNWIND_REG(14)),
			    "return address in column %s",
			    columns[i].name))
			printf("# got  %s\n# want %s\n", got, columns[i].rows);
		if (!err)
			kunwind_table_free(table);
	}
}

/*
 * States remembered within each other: each has its own CFA and rbp, and is
 * restored. Beyond the limit, there is no rule, only in this FDE.
 */
static void test_states(void)
{
	static const u32 depths[] = { 16, 17, 20, 100, 1024, 1025 };
	static struct eh eh;
	unsigned int i;
	u32 n, wrong;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		const u32 depth = depths[i];
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		struct kunwind_rule rule = { 0 };
		size_t cie;

		eh.size = 0;
		cie = eh_plain_cie(&eh, USUAL);
		eh_fde(&eh, cie, false);
		eh_num(&eh, TEXT_LO - (EH_ADDR + eh.size), 4);
		eh_num(&eh, 0x1000, 4);
		eh_num(&eh, 0, 1);
		for (n = 1; n <= depth; n++) {
			/* remember_state; advance_loc 1; CFA offset, rbp */
			eh_hex(&eh, "0a 41 0e");
			eh_uleb(&eh, 8 + n);
			eh_hex(&eh, "86");
			eh_uleb(&eh, n);
		}
		for (n = 0; n < depth; n++)
			eh_hex(&eh, "41 0b");
		eh_end(&eh);
		eh_plain_fde(&eh, cie, TEXT_LO + 0x1000, 0x10, "0e 10");
		err = kunwind_table_build(&(struct kunwind_section){
			.data = eh.data, .size = eh.size, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI,
		}, 0, 1 << 20, NULL, NULL, &table);
		wrong = err != 0;
		for (n = 0; !err && n <= 2 * depth; n++) {
			u32 state = n < depth ? n : 2 * depth - n;

			rule = kunwind_table_lookup(table, TEXT_LO + n);
			if (depth > 1024 && n >= 1024)
				wrong += rule.kind != KUNWIND_RULE_NONE;
			else
				wrong += (rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_CFA ||
					 rule.off != (s32)(8 + state) || rule.rbp != -8 * (s32)state;
		}
		if (!err)
			rule = kunwind_table_lookup(table, TEXT_LO + 0x1000);
		tap_ok(!wrong && rule.off == 16, "%u states remembered within each other: %s, %u wrong",
		       depth, kunwind_build_error_name(err), wrong);
		if (!err)
			kunwind_table_free(table);
	}
}

/* Data alignment factors of any size. */
static void test_data_align(void)
{
	/* 2^20, -2^30, -2^63 */
	static const char *const aligns[] = {
		"80 80 c0 00", "80 80 80 80 7c", "80 80 80 80 80 80 80 80 80 7f",
	};
	static const char *const rows[] = {
		"0 none - -; 1 rsp+8 s c+1048576; 2 rsp+8 c+2097152 c+1048576",
		"0 none - -; 1 rsp+8 s c-1073741824; 2 rsp+8 c-2147483648 c-1073741824",
		"0 none - -; 3 rsp+8 s c+0",
	};
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(aligns); i++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		const char *got;

		eh.size = 0;
		eh_begin(&eh, false);
		eh_hex(&eh, "00 00 00 00 01 7a 52 00 01");
		eh_hex(&eh, aligns[i]);
		eh_hex(&eh, "10 01 1b 0c 07 08");
		eh_end(&eh);
		/* rip at column 2^63: none; offset rip 1; rbp 2; rip 0 */
		eh_plain_fde(&eh, 0, TEXT_LO, 0x100,
			     "90 80 80 80 80 80 80 80 80 80 01 41 90 01 41 86 02 41 90 00 c6");
		err = eh_build(&eh, 0, &table);
		got = err ? kunwind_build_error_name(err) : rows_text(table);
		if (!tap_ok(!strncmp(got, rows[i], strlen(rows[i])),
			    "data alignment factor number %u", i))
			printf("# got  %s\n# want %s\n", got, rows[i]);
		if (!err)
			kunwind_table_free(table);
	}
}

/* An FDE that reaches out of the code at either end: rows inside stay. */
static void test_clipped(void)
{
	static const struct {
		const char *name;
		u64 start, len;
		const char *rows;
	} cases[] = {
		{ "below its start", TEXT_LO - 4, 0x10,
		 "0 rsp+24 s c-8; 2 rsp+32 s c-8; 4 rsp+40 s c-8" },
		{ "beyond its end", TEXT_HI - 6, 0x10,
		 "fffa rsp+8 s c-8; fffc rsp+16 s c-8; fffe rsp+24 s c-8" },
		{ "at both ends", TEXT_LO - 2, TEXT_HI - TEXT_LO + 4,
		  "0 rsp+16 s c-8; 2 rsp+24 s c-8; 4 rsp+32 s c-8; 6 rsp+40 s c-8" },
	};
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_table *table = NULL;
		struct kunwind_table_stats st = { 0 };
		enum kunwind_build_error err;
		const char *got;
		size_t cie;

		eh.size = 0;
		cie = eh_plain_cie(&eh, USUAL);
		eh_plain_fde(&eh, cie, cases[i].start, cases[i].len,
			     "42 0e 10 42 0e 18 42 0e 20 42 0e 28");
		err = eh_build(&eh, 0, &table);
		got = err ? kunwind_build_error_name(err) : rows_text(table);
		if (!err)
			kunwind_table_stats(table, &st);
		if (!tap_ok(!strcmp(got, cases[i].rows) && st.base >= TEXT_LO &&
			    st.base + st.span <= TEXT_HI,
			    "FDE that reaches out of the code: %s", cases[i].name))
			printf("# got  %s\n# want %s\n", got, cases[i].rows);
		if (!err)
			kunwind_table_free(table);
	}
}

/* No product may wrap to a small one: 2^63, 2 * 2^63, 2^15 * 2^49. */
static void test_code_align(void)
{
	static const char *const cases[][2] = {
		{ "80 80 80 80 80 80 80 80 80 01", "41 0e 10" },
		{ "80 80 80 80 80 80 80 80 80 01", "42 0e 10" },
		{ "80 80 80 80 80 80 80 01", "03 00 80 0e 10" },
		{ "80 80 80 80 80 80 80 80 80 01", "04 02 00 00 00 0e 10" },
		{ "02", "1d 00 00 00 00 00 00 00 80 0e 10" },
	};
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;

		eh.size = 0;
		eh_begin(&eh, false);
		eh_hex(&eh, "00 00 00 00 01 7a 52 00");
		eh_hex(&eh, cases[i][0]);
		eh_hex(&eh, "78 10 01 1b " USUAL);
		eh_end(&eh);
		eh_plain_fde(&eh, 0, TEXT_LO, 0x100, cases[i][1]);
		err = eh_build(&eh, 0, &table);
		tap_ok(!err && !strcmp(rows_text(table), "0 rsp+8 s c-8"),
		       "a code alignment factor that is too big for its advance, %u: %s", i,
		       kunwind_build_error_name(err));
		if (!err)
			kunwind_table_free(table);
	}
}

/* Factors other than 1 and -8. */
static void test_factors(void)
{
	static struct eh eh;
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	const char *got;
	size_t cie = 0;

	eh.size = 0;
	eh_begin(&eh, false);
	eh_hex(&eh, "00 00 00 00 01 00 04 7c 10 0c 07 08 90 02");
	eh_end(&eh);
	eh_fde(&eh, cie, false);
	eh_num(&eh, TEXT_LO, 8);
	eh_num(&eh, 0x1000, 8);
	/* advance 3, 0x11, 0x101; rbp 4; CFA offset -4 (sf), 16 */
	eh_hex(&eh, "43 86 04 02 11 13 7c 03 01 01 0e 10");
	eh_end(&eh);
	err = eh_build(&eh, 0, &table);
	got = err ? kunwind_build_error_name(err) : rows_text(table);
	if (!tap_ok(!strcmp(got, "0 rsp+8 s c-8; c rsp+8 c-16 c-8; 50 rsp+16 c-16 c-8"),
		    "code alignment 4 and data alignment -4"))
		printf("# got %s\n", got);
	if (!err)
		kunwind_table_free(table);
}

int main(void)
{
	test_columns();
	test_states();
	test_data_align();
	test_clipped();
	test_code_align();
	test_factors();
	return tap_done();
}
