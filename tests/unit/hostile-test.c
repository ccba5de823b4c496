/* SPDX-License-Identifier: MIT */
/*
 * hostile-test.c - hostile .eh_frame: the build error, and linear time for large
 * input
 *
 * Time is counted in calls of the builder's abort function, one for every 4096
 * rows or records. No clock is read, so the result does not vary.
 */
#include <time.h>

#include "rows.h"
#include "tap.h"

#define USUAL	"0c 07 08 90 01"

struct hostile_case {
	const char *name;
	const char *cie, *fde;		/* instructions */
	enum kunwind_build_error err;
};

/*
 * One FDE whose first row cannot be read. cfi-test.c has other rows and FDEs.
 */
static const struct hostile_case programs[] = {
	{ "advance in a CIE", USUAL " 41", "", KUNWIND_E_OPCODE },
	{ "advance_loc4 in a CIE", USUAL " 04 00 00 00 00", "", KUNWIND_E_OPCODE },
	{ "set_loc in a CIE", USUAL " 01 00 00 00 00", "", KUNWIND_E_OPCODE },
	{ "restore_state in a CIE", USUAL " 0b", "", KUNWIND_E_STATE_STACK },
	{ "restore_state without remember_state", USUAL, "0b", KUNWIND_E_STATE_STACK },
	{ "one restore_state too many", USUAL, "0a 0b 0b", KUNWIND_E_STATE_STACK },
	{ "CFA offset 2^31", USUAL, "0e 80 80 80 80 08", KUNWIND_E_OPERAND },
	{ "CFA offset 2^63", USUAL, "0e 80 80 80 80 80 80 80 80 80 01", KUNWIND_E_OPERAND },
	{ "CFA offset of more than 64 bits", USUAL, "0e ff ff ff ff ff ff ff ff ff 7f",
	  KUNWIND_E_OPERAND },
	{ "def_cfa_offset_sf 2^28 * -8 - 8", USUAL, "13 81 80 80 80 01", KUNWIND_E_OPERAND },
	{ "def_cfa offset 2^31", USUAL, "0c 07 80 80 80 80 08", KUNWIND_E_OPERAND },
	{ "def_cfa_sf offset -2^31 - 8", USUAL, "12 07 81 80 80 80 01", KUNWIND_E_OPERAND },
	{ "advance_loc8 cut off", USUAL, "1d 00 00", KUNWIND_E_OPERAND },
	{ "expression past the end", USUAL, "0f 40 77 08", KUNWIND_E_OPERAND },
	{ "expression of 2^63 bytes", USUAL, "0f 80 80 80 80 80 80 80 80 80 01 77",
	  KUNWIND_E_OPERAND },
};

static void report(bool good, const char *name, enum kunwind_build_error err)
{
	tap_ok(good, "%s: %s", name, kunwind_build_error_name(err));
}

/* Builds an FDE's program and expects a build error. */
static void expect(const char *name, const char *cie_code, const char *code,
		   enum kunwind_build_error want)
{
	static struct eh eh;
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	size_t cie;

	eh.size = 0;
	cie = eh_plain_cie(&eh, cie_code);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x100, code);
	err = eh_build(&eh, 0, &table);
	if (!err)
		kunwind_table_free(table);
	report(err == want, name, err);
}

static void test_programs(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(programs); i++)
		expect(programs[i].name, programs[i].cie, programs[i].fde, programs[i].err);
	for (i = 0x17; i < 0x40; i++) {
		char name[32], code[8];

		if (i == 0x1d || i == 0x2e || i == 0x2f)
			continue;
		sprintf(name, "opcode 0x%x", i);
		sprintf(code, "%02x", i);
		expect(name, USUAL, code, KUNWIND_E_OPCODE);
	}
}

/*
 * Registers with an expression of 200 nops each: two are fine, a row with three
 * has no rule.
 */
static void test_expressions(void)
{
	static const char *const ops[] = { " 41 10 06 c8 01", " 41 10 07 c8 01", " 41 10 10 c8 01" };
	char code[3 * (15 + 3 * 200) + 10], *p = code;
	struct kunwind_table *table;
	static struct eh eh;
	unsigned int i, j;
	size_t cie;
	u8 kinds[5];

	for (i = 0; i < 3; i++) {
		p = stpcpy(p, ops[i]);
		for (j = 0; j < 200; j++)
			p = stpcpy(p, " 96");
	}
	strcpy(p, " 41 d0");
	eh.size = 0;
	cie = eh_plain_cie(&eh, USUAL);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x100, code + 1);
	if (!tap_ok(!eh_build(&eh, 0, &table), "expressions of 200 bytes: the table is built"))
		return;
	for (i = 0; i < 5; i++)
		kinds[i] = kunwind_table_lookup(table, TEXT_LO + i).kind & KUNWIND_RULE_KIND;
	tap_ok(kinds[0] == KUNWIND_RULE_CFA && kinds[1] == KUNWIND_RULE_FULL &&
	       kinds[2] == KUNWIND_RULE_FULL && kinds[3] == KUNWIND_RULE_NONE &&
	       kinds[4] == KUNWIND_RULE_FULL, "a row with 600 bytes of expressions has no rule");
	kunwind_table_free(table);
}

/*
 * Each instruction cut off in its operands, at the very end of the section. An
 * object of which no row can be read is refused.
 */
static void test_cut(void)
{
	static const char *const ops[] = {
		"01 00 00 01 00", "02 01", "03 01 00", "04 01 00 00 00", "05 06 01", "06 06",
		"07 06", "08 06", "09 06 03", "0c 07 08", "0d 06", "0e 10", "0f 02 77 08",
		"10 06 02 77 08", "11 06 01", "12 07 01", "13 01", "14 06 01", "15 06 01",
		"16 06 02 77 08", "2e 01", "2f 06 01", "86 01",
	};
	static struct eh eh;
	unsigned int i, n;
	bool good = true;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		unsigned int len = (strlen(ops[i]) + 1) / 3;

		for (n = 1; n < len; n++) {
			struct kunwind_table *table = NULL;
			enum kunwind_build_error err;
			size_t cie, rest;
			char code[32];

			eh.size = 0;
			cie = eh_plain_cie(&eh, USUAL);
			eh_fde(&eh, cie, false);
			eh_num(&eh, TEXT_LO - (EH_ADDR + eh.size), 4);
			eh_num(&eh, 0x100, 4);
			eh_num(&eh, 0, 1);
			strcpy(code, ops[i]);
			code[3 * n - 1] = 0;
			/* nops in front, so that nothing has to fill the end */
			for (rest = eh.size + n; rest % 4; rest++)
				eh_num(&eh, 0, 1);
			eh_hex(&eh, code);
			eh_end(&eh);
			err = eh_build(&eh, 0, &table);
			if (!err)
				kunwind_table_free(table);
			if (err != KUNWIND_E_OPERAND) {
				printf("# %s cut to %u bytes: %s\n", ops[i], n,
				       kunwind_build_error_name(err));
				good = false;
			}
		}
	}
	tap_ok(good, "every instruction cut off in its operands: operand");
}

/* States that one FDE remembers are not there for the next one. */
static void test_remembered(void)
{
	static const struct {
		const char *name, *second, *rows;
	} cases[] = {
		{ "12 states remembered in each of two FDEs", "0a 0a 0a 0a 0a 0a 0a 0a 0a 0a 0a 0a",
		  "0 rsp+8 s c-8" },
		{ "a state remembered in another FDE restored", "0b",
		  "0 rsp+8 s c-8; 10 none - -" },
	};
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		size_t cie;

		eh.size = 0;
		cie = eh_plain_cie(&eh, USUAL);
		eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "0a 0a 0a 0a 0a 0a 0a 0a 0a 0a 0a 0a");
		eh_plain_fde(&eh, cie, TEXT_LO + 0x10, 0x10, cases[i].second);
		err = eh_build(&eh, 0, &table);
		report(!err && !strcmp(rows_text(table), cases[i].rows), cases[i].name, err);
		if (!err)
			kunwind_table_free(table);
	}
}

/* One of three FDEs cannot be read; the others can. */
static void test_beside(void)
{
	static const struct {
		const char *name, *bytes;	/* of the second FDE, from its CIE pointer on */
		enum kunwind_build_error strict;
	} cases[] = {
		{ "a CIE pointer before the section", "00 01 00 00", KUNWIND_E_CIE },
		{ "a CIE pointer of 4 GB - 1", "ff ff ff ff", KUNWIND_E_CIE },
		{ "a CIE pointer into a CIE", "28 00 00 00", KUNWIND_E_CIE },
		{ "a CIE pointer to the FDE itself", "04 00 00 00", KUNWIND_E_CIE },
		{ "no bytes", "30 00 00 00", KUNWIND_E_TRUNCATED },
		{ "a start cut off", "30 00 00 00 00 00 01 00", KUNWIND_E_TRUNCATED },
		{ "2^64 - 1 bytes", "30 00 00 00 10 00 01 00 00 00 00 00 ff ff ff ff ff ff ff ff",
		  KUNWIND_E_RANGE },
		{ "an unknown instruction",
		  "30 00 00 00 10 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00 17 00 00 00",
		  KUNWIND_E_OPCODE },
		/* these may have rows, but strict mode refuses most */
		{ "a function that begins before the code",
		  "30 00 00 00 ff ff 00 00 00 00 00 00 01 00 00 00 00 00 00 00", KUNWIND_OK },
		{ "a function that reaches into the code",
		  "30 00 00 00 ff ff 00 00 00 00 00 00 11 00 00 00 00 00 00 00", KUNWIND_E_RANGE },
		{ "a function that reaches out of the code",
		  "30 00 00 00 ff ff 01 00 00 00 00 00 02 00 00 00 00 00 00 00", KUNWIND_E_RANGE },
		{ "a function that contradicts another",
		  "30 00 00 00 00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00 0e 18 00 00",
		  KUNWIND_E_OVERLAP },
	};
	static struct eh eh;
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_section section = {
			.data = eh.data, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI,
		};
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;

		eh.size = 0;
		eh_begin(&eh, false);
		eh_hex(&eh, "00 00 00 00 01 00 01 78 10 " USUAL);
		eh_end(&eh);
		for (n = 0; n < 3; n++) {
			if (n == 1) {
				eh_begin(&eh, false);
				eh_hex(&eh, cases[i].bytes);
			} else {
				eh_fde(&eh, 0, false);
				eh_num(&eh, TEXT_LO + 0x10 * n, 8);
				eh_num(&eh, 0x10, 8);
			}
			eh_end(&eh);
		}
		section.size = eh.size;
		section.strict = false;
		err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);
		if (i < 8)
			report(!err && !strcmp(rows_text(table),
					       "0 rsp+8 s c-8; 10 none - -; 20 rsp+8 s c-8"),
			       cases[i].name, err);
		if (!err)
			kunwind_table_free(table);
		section.strict = true;
		err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);
		tap_ok(err == cases[i].strict, "strict: %s: %s", cases[i].name,
		       kunwind_build_error_name(err));
		if (!err)
			kunwind_table_free(table);
	}
}

/*
 * A section without a known end ends at the first non-record after @min_fdes
 * FDEs.
 */
static void test_open_end(void)
{
	static const char *const ends[] = {
		"ff 00 00 00", "f0 ff ff ff 00 00 00 00", "03 00 00 00 00 00 00 00", "10 00",
	};
	static struct eh eh;
	unsigned int i, open, min_fdes;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		bool good = true;

		for (open = 0; open < 2; open++) {
			for (min_fdes = 0; min_fdes < 4; min_fdes++) {
				struct kunwind_section section = {
					.data = eh.data, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI,
					.open_end = open, .min_fdes = min_fdes,
				};
				struct kunwind_table *table = NULL;
				enum kunwind_build_error err;
				size_t cie;

				eh.size = 0;
				cie = eh_plain_cie(&eh, USUAL);
				eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "");
				eh_plain_fde(&eh, cie, TEXT_LO + 0x10, 0x10, "0e 10");
				eh_hex(&eh, ends[i]);
				section.size = eh.size;
				err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);
				good &= err == (open && min_fdes <= 2 ? KUNWIND_OK : KUNWIND_E_TRUNCATED);
				if (!err) {
					good &= kunwind_table_lookup(table, TEXT_LO + 0x10).off == 16;
					kunwind_table_free(table);
				}
			}
		}
		tap_ok(good, "bytes that are no record end a section of unknown size: %s", ends[i]);
	}
}

struct section_case {
	const char *name;
	const char *bytes;
	enum kunwind_build_error err;
};

/* A good CIE of 20 bytes at 0 */
#define CIE	"10 00 00 00 00 00 00 00 01 00 01 78 10 0c 07 08 90 01 00 00 "

static const struct section_case sections[] = {
	{ "an empty section", "", KUNWIND_E_NO_CFI },
	{ "a terminator", "00 00 00 00", KUNWIND_E_NO_CFI },
	{ "a CIE only", CIE, KUNWIND_E_NO_CFI },
	{ "one byte", "10", KUNWIND_E_TRUNCATED },
	{ "a length only", "10 00 00 00", KUNWIND_E_TRUNCATED },
	{ "a length of 3", "03 00 00 00 00 00 00 00", KUNWIND_E_TRUNCATED },
	{ "a length past the end", CIE "10 00 00 00 18 00 00 00 00", KUNWIND_E_TRUNCATED },
	{ "a length of 4 GB - 17", "ef ff ff ff 00 00 00 00", KUNWIND_E_TRUNCATED },
	{ "a reserved length", "f0 ff ff ff 00 00 00 00", KUNWIND_E_TRUNCATED },
	{ "a 64-bit length cut off", "ff ff ff ff 10 00 00", KUNWIND_E_TRUNCATED },
	{ "a 64-bit length of 2^64 - 1", "ff ff ff ff ff ff ff ff ff ff ff ff 00 00 00 00",
	  KUNWIND_E_TRUNCATED },
	{ "a 64-bit length around the end of memory",
	  "ff ff ff ff f4 ff ff ff ff ff ff ff 00 00 00 00 00 00 00 00", KUNWIND_E_TRUNCATED },
	{ "a CIE pointer before the section", CIE "14 00 00 00 19 00 00 00 "
	  "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00", KUNWIND_E_CIE },
	{ "a CIE pointer of 4 GB - 1", CIE "14 00 00 00 ff ff ff ff "
	  "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00", KUNWIND_E_CIE },
	{ "a CIE pointer into a CIE", CIE "14 00 00 00 14 00 00 00 "
	  "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00", KUNWIND_E_CIE },
	{ "a CIE pointer to the FDE itself", CIE "14 00 00 00 04 00 00 00 "
	  "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00", KUNWIND_E_CIE },
	{ "a CIE pointer to another FDE", CIE "14 00 00 00 18 00 00 00 "
	  "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00 "
	  "14 00 00 00 1c 00 00 00 10 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00",
	  KUNWIND_OK },
	{ "an FDE of a CIE cut off", "14 00 00 00 14 00 00 00 "
	  "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00", KUNWIND_E_CIE },
	{ "an FDE of no bytes", CIE "04 00 00 00 18 00 00 00", KUNWIND_E_TRUNCATED },
	{ "a good FDE before a bad record", CIE "14 00 00 00 18 00 00 00 "
	  "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00 ff 00 00 00", KUNWIND_E_TRUNCATED },
	{ "a good FDE before an FDE that leaves the code", CIE "14 00 00 00 18 00 00 00 "
	  "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00 "
	  "14 00 00 00 30 00 00 00 f8 ff 01 00 00 00 00 00 10 00 00 00 00 00 00 00",
	  KUNWIND_OK },
	{ "only an FDE beyond the code", CIE "14 00 00 00 18 00 00 00 "
	  "00 00 02 00 00 00 00 00 10 00 00 00 00 00 00 00", KUNWIND_E_NO_CFI },
	{ "only an FDE below the code", CIE "14 00 00 00 18 00 00 00 "
	  "f0 ff 00 00 00 00 00 00 10 00 00 00 00 00 00 00", KUNWIND_E_NO_CFI },
	{ "an FDE beyond the code before a good one", CIE "14 00 00 00 18 00 00 00 "
	  "00 00 09 00 00 00 00 00 10 00 00 00 00 00 00 00 "
	  "14 00 00 00 30 00 00 00 00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00", KUNWIND_OK },
	{ "only an FDE that covers nothing", CIE "14 00 00 00 18 00 00 00 "
	  "00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00", KUNWIND_E_NO_CFI },
};

static void test_sections(void)
{
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;

		eh.size = 0;
		eh_hex(&eh, sections[i].bytes);
		err = eh_build(&eh, 0, &table);
		if (!err)
			kunwind_table_free(table);
		report(err == sections[i].err, sections[i].name, err);
	}
}

/* A section larger than struct eh holds, in memory of its own. */
struct big {
	u8 *data;
	size_t size, room;
	u64 hi;
	u32 ticks, stop_at;
};

static void big_init(struct big *big, size_t room)
{
	*big = (struct big){ .data = malloc(room), .room = room, .hi = TEXT_HI };
}

static void big_bytes(struct big *big, const void *bytes, size_t len)
{
	if (len > big->room - big->size)
		abort();
	memcpy(big->data + big->size, bytes, len);
	big->size += len;
}

/* A CIE with absptr addresses, the usual rules, and @len more bytes @op. */
static void big_cie(struct big *big, u32 len, u8 op)
{
	static const u8 head[] = { 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 };
	u32 size = (sizeof(head) + len + 3) & ~3U;

	big_bytes(big, &size, 4);
	big_bytes(big, head, sizeof(head));
	memset(big->data + big->size, op, size - sizeof(head));
	big->size += size - sizeof(head);
}

/* @code of @len bytes, a multiple of 4. */
static void big_fde(struct big *big, u32 cie, u64 start, u64 len, const u8 *code, u32 code_len)
{
	u32 size = 4 + 16 + code_len, pointer = big->size + 4 - cie;

	big_bytes(big, &size, 4);
	big_bytes(big, &pointer, 4);
	big_bytes(big, &start, 8);
	big_bytes(big, &len, 8);
	big_bytes(big, code, code_len);
}

static bool big_tick(void *data)
{
	struct big *big = data;

	return ++big->ticks == big->stop_at;
}

/* Builds, frees, and sets *stats to the table's figures. */
static enum kunwind_build_error big_build(struct big *big, size_t limit,
				      struct kunwind_table_stats *stats)
{
	struct kunwind_section section = {
		.data = big->data, .size = big->size, .addr = EH_ADDR, .lo = TEXT_LO, .hi = big->hi,
	};
	struct kunwind_table *table;
	enum kunwind_build_error err = kunwind_table_build(&section, 0, limit, big_tick, big, &table);

	memset(stats, 0, sizeof(*stats));
	if (!err) {
		kunwind_table_stats(table, stats);
		kunwind_table_free(table);
	}
	free(big->data);
	return err;
}

static void test_big(void)
{
	u8 code[4096];
	struct kunwind_table_stats st;
	enum kunwind_build_error err;
	struct big big;
	clock_t t0;
	u32 i;

	big_init(&big, 1 << 16);
	big_cie(&big, 2000, 0);
	big_fde(&big, 0, TEXT_LO, 16, code, 0);
	err = big_build(&big, 1 << 20, &st);
	report(err == KUNWIND_E_CIE, "a CIE with 2000 bytes of instructions", err);

	/* augmentation: "z" and 200,000 times "S", which takes no data */
	big_init(&big, 1 << 20);
	{
		u32 size = 4 + 1 + 1 + 200000 + 1 + 4 + 5 + 4, zero = 0;
		u8 *letters = malloc(200000);

		memset(letters, 'S', 200000);
		big_bytes(&big, &size, 4);
		big_bytes(&big, &zero, 4);
		big_bytes(&big, "\1z", 2);
		big_bytes(&big, letters, 200000);
		big_bytes(&big, "\0\1\x78\x10\0\x0c\7\x8\x90\1\0\0\0", 14);
		free(letters);
	}
	big_fde(&big, 0, TEXT_LO, 16, (const u8 *)"\0\0\0", 4);
	err = big_build(&big, 1 << 20, &st);
	report(err == KUNWIND_E_CIE, "a CIE with 200,000 letters of augmentation", err);

	/* 100,000 FDEs of one long CIE; and, in turn, of 65 of them */
	t0 = clock();
	big_init(&big, 8 << 20);
	big.hi = TEXT_LO + 0x1000000;
	for (i = 0; i < 65; i++)
		big_cie(&big, 1000, 0);
	for (i = 0; i < 100000; i++)
		big_fde(&big, (i % 65) * (big.size ? 1020 : 0), TEXT_LO + 16 * i, 16, code, 0);
	err = big_build(&big, 1 << 26, &st);
	tap_ok(!err && st.nr_fdes == 100000 && st.nr_rows == 1 && big.ticks < 1000 &&
	       clock() - t0 < 60 * CLOCKS_PER_SEC,
	       "100,000 FDEs of 65 long CIEs: %s, %u rows", kunwind_build_error_name(err), st.nr_rows);

	/* an FDE around many others, which would be run again after each */
	big_init(&big, 8 << 20);
	big.hi = TEXT_LO + 0x1000000;
	memset(code, 0x41, sizeof(code));
	big_cie(&big, 0, 0);
	big_fde(&big, 0, TEXT_LO, 0x1000000, code, sizeof(code));
	for (i = 0; i < 100000; i++)
		big_fde(&big, 0, TEXT_LO + 32 + 64 * i, 16, code, 0);
	err = big_build(&big, 1 << 26, &st);
	tap_ok(err == KUNWIND_E_LIMIT && big.ticks < 20000,
	       "one FDE around 100,000: %s", kunwind_build_error_name(err));

	/* nested like an onion */
	big_init(&big, 8 << 20);
	big_cie(&big, 0, 0);
	for (i = 0; i < 1000; i++)
		big_fde(&big, 0, TEXT_LO + 2 * i, 0x8000 - 4 * i, code, 0);
	err = big_build(&big, 1 << 26, &st);
	tap_ok(!err && st.nr_fdes == 1000 && st.nr_rows == 3,
	       "1000 FDEs, each within the one before: %s, %u rows", kunwind_build_error_name(err),
	       st.nr_rows);

	/* one range many times: linear time, one FDE counts */
	big_init(&big, 8 << 20);
	big_cie(&big, 0, 0);
	for (i = 0; i < 100000; i++)
		big_fde(&big, 0, TEXT_LO, 0x8000, code, 0);
	err = big_build(&big, 1 << 26, &st);
	tap_ok(!err && st.nr_rows == 1 && big.ticks < 1000, "100,000 FDEs of one range: %s",
	       kunwind_build_error_name(err));

	/* a program of more than 1 MB */
	big_init(&big, 2 << 20);
	big_cie(&big, 0, 0);
	{
		u8 *nops = calloc(1, (1 << 20) + 4);

		big_fde(&big, 0, TEXT_LO, 16, nops, (1 << 20) + 4);
		free(nops);
	}
	err = big_build(&big, 1 << 26, &st);
	report(err == KUNWIND_E_OPERAND, "a program of 1 MB", err);

	/*
	 * 8 MB of instructions without a row: the abort function is still
	 * called
	 */
	big_init(&big, 9 << 20);
	big_cie(&big, 0, 0);
	{
		u8 *nops = calloc(1, 1 << 20);

		for (i = 0; i < 8; i++)
			big_fde(&big, 0, TEXT_LO + 16 * i, 16, nops, 1 << 20);
		free(nops);
	}
	err = big_build(&big, 1 << 26, &st);
	tap_ok(!err && st.nr_rows == 1 && big.ticks >= 8, "8 programs of 1 MB without a row: %s",
	       kunwind_build_error_name(err));

	/* a row for each byte: exceeds the limit on the table's size */
	big_init(&big, 8 << 20);
	big.hi = TEXT_LO + 0x1000000;
	big_cie(&big, 0, 0);
	for (i = 0; i < sizeof(code); i += 8)
		memcpy(code + i, "\x41\x0e\x10\x00\x41\x0e\x18\x00", 8);
	for (i = 0; i < 1500; i++)
		big_fde(&big, 0, TEXT_LO + 1024 * i, 1024, code, sizeof(code));
	big.stop_at = 0;
	err = big_build(&big, 1 << 20, &st);
	report(err == KUNWIND_E_LIMIT, "1.5 million rows, a limit of 1 MB", err);

	/* more distinct rules than a table numbers */
	big_init(&big, 8 << 20);
	big.hi = TEXT_LO + 0x1000000;
	big_cie(&big, 0, 0);
	for (i = 0; i < 70000; i++) {
		u8 rule[8] = { 0x0e, 0x80 | (i & 0x7f), 0x80 | (i >> 7 & 0x7f), i >> 14 };

		big_fde(&big, 0, TEXT_LO + 16 * i, 16, rule, 8);
	}
	err = big_build(&big, 1 << 26, &st);
	tap_ok(!err && st.nr_rules == 65536 && st.nr_rows == 65536,
	       "70,000 rules: 65,535 are kept: %s, %u rules, %u rows",
	       kunwind_build_error_name(err), st.nr_rules, st.nr_rows);

	/* addresses more than 4 GB apart */
	big_init(&big, 1 << 16);
	big.hi = ~0ULL;
	big_cie(&big, 0, 0);
	big_fde(&big, 0, TEXT_LO, 16, code, 0);
	big_fde(&big, 0, TEXT_LO + (1ULL << 32), 16, code, 0);
	err = big_build(&big, 1 << 20, &st);
	tap_ok(!err && st.nr_fdes == 1 && st.span == 16, "a span of 4 GB: only FDEs within reach count: %s",
	       kunwind_build_error_name(err));

	/* aborted at the first check, and in the middle of the rows */
	for (i = 1; i < 40; i += 29) {
		u32 j;

		big_init(&big, 8 << 20);
		big.hi = TEXT_LO + 0x1000000;
		big.stop_at = i;
		big_cie(&big, 0, 0);
		for (j = 0; j < 50000; j++)
			big_fde(&big, 0, TEXT_LO + 32 * j, 16, code, 0);
		err = big_build(&big, 1 << 26, &st);
		tap_ok(err == KUNWIND_E_ABORTED && big.ticks == i, "aborted at check %u: %s", i,
		       kunwind_build_error_name(err));
	}
}

/* A section of 4 GB is refused without a read of its bytes. */
static void test_huge(void)
{
	struct kunwind_section section = { .size = 1ULL << 32, .hi = 0x1000 };
	struct kunwind_table *table;
	enum kunwind_build_error err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);

	report(err == KUNWIND_E_LIMIT, "a section of 4 GB", err);
}

int main(void)
{
	test_programs();
	test_expressions();
	test_cut();
	test_remembered();
	test_beside();
	test_open_end();
	test_sections();
	test_big();
	test_huge();
	return tap_done();
}
