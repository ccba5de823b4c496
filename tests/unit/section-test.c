/* SPDX-License-Identifier: MIT */
/*
 * section-test.c - how FDEs overlap, and where a section ends
 *
 * FDEs beside, within and across each other; records of .debug_frame, alone and
 * together with .eh_frame; terminators; CIEs that are not understood.
 */
#include "../../kmod/core/table/build.h"
#include "rows.h"
#include "tap.h"

/* def_cfa rsp+8; offset rip at cfa-8: how every x86-64 CIE begins */
#define USUAL	"0c 07 08 90 01"

/*
 * Positions of FDEs: "START LEN CFA-OFFSET" each, in the order of the section.
 */
struct layout_case {
	const char *name;
	const char *fdes;
	const char *rows;	/* CFA offsets only: "START OFFSET", "-" where none; or a build error */
};

static const struct layout_case layouts[] = {
	{ "one FDE", "0 10 8", "0 8" },
	{ "adjacent", "0 10 8, 10 10 16", "0 8; 10 16" },
	{ "adjacent and equal", "0 10 8, 10 10 8", "0 8" },
	{ "a gap", "0 10 8, 20 10 8", "0 8; 10 -; 20 8" },
	{ "a wide gap", "0 10 8, 2000 10 8", "0 8; 10 -; 2000 8" },
	{ "a far gap", "0 10 8, fff0 10 16", "0 8; 10 -; fff0 16" },
	{ "descending", "40 10 24, 20 10 16, 0 10 8", "0 8; 10 -; 20 16; 30 -; 40 24" },
	{ "shuffled", "20 10 16, 0 10 8, 40 10 24, 30 10 32", "0 8; 10 -; 20 16; 30 32; 40 24" },
	{ "empty FDEs have no effect", "10 0 16, 0 20 8, 18 0 32", "0 8" },
	{ "equal duplicates", "0 10 8, 0 10 8", "0 8" },
	{ "many equal duplicates", "0 10 8, 0 10 8, 0 10 8, 0 10 8, 0 10 8, 0 10 8, 0 10 8, 0 10 8, "
	  "0 10 8, 0 10 8, 0 10 8, 0 10 8", "0 8" },
	{ "equal duplicates with another FDE between them", "0 10 8, 20 10 16, 0 10 8", "0 8; 10 -; 20 16" },
	{ "equal duplicates around another", "0 20 8, 10 8 16, 0 20 8", "0 8; 10 16; 18 8" },
	{ "equal duplicates within another", "0 20 8, 10 8 16, 10 8 16", "0 8; 10 16; 18 8" },
	{ "same range, different rules", "0 10 8, 0 10 16", "overlap" },
	{ "same range, the third different", "0 10 8, 0 10 8, 0 10 16", "overlap" },
	{ "same start, the longer last", "0 10 8, 0 20 16", "0 -; 10 16" },
	{ "same start, the shorter last", "0 20 8, 0 10 16", "0 -; 10 8" },
	{ "same start and rules, another length", "0 20 8, 0 10 8", "0 -; 10 8" },
	{ "one FDE inside another", "0 40 8, 10 10 16", "0 8; 10 16; 20 8" },
	{ "two FDEs inside another", "0 40 8, 10 8 16, 20 8 24", "0 8; 10 16; 18 8; 20 24; 28 8" },
	{ "nested twice", "0 40 8, 10 20 16, 18 8 24", "0 8; 10 16; 18 24; 20 16; 30 8" },
	{ "inside, to the same end", "0 40 8, 10 30 16", "0 8; 10 16" },
	{ "two inside, to the same end", "0 40 8, 10 30 16, 20 20 24", "0 8; 10 16; 20 24" },
	{ "inside, the last byte", "0 40 8, 3f 1 16, 40 10 24", "0 8; 3f 16; 40 24" },
	{ "staggered", "0 20 8, 10 20 16", "0 8; 10 -; 20 16" },
	{ "staggered by a byte", "0 20 8, 1f 2 16", "0 8; 1f -; 20 16" },
	{ "staggered, with equal rules", "0 20 8, 10 20 8", "0 8; 10 -; 20 8" },
	{ "staggered, backwards", "10 20 16, 0 20 8", "0 8; 10 -; 20 16" },
	{ "staggered within a third", "0 40 8, 10 10 16, 18 18 24", "0 8; 10 16; 18 -; 20 24; 30 8" },
	{ "staggered, out of an inner one", "0 40 8, 10 20 16, 20 30 24", "0 8; 10 16; 20 -; 40 24" },
	{ "a contradiction beside a good one", "0 10 8, 0 10 16, 10 10 24", "0 -; 10 24" },
	{ "three of one range, the last as the second", "0 10 8, 0 10 16, 0 10 16, 10 10 24", "0 -; 10 24" },
	{ "equal duplicates, and a shorter one with the same start", "0 40 8, 0 10 16, 0 40 8, 40 10 24",
	  "0 -; 40 24" },
	{ "staggered three times", "0 20 8, 10 20 16, 18 20 24, 40 10 8", "0 8; 10 -; 30 24; 38 -; 40 8" },
	{ "one inside a range with a contradiction", "0 20 8, 0 30 16, 8 8 24",
	  "0 -; 8 24; 10 -; 20 16" },
	{ "one as long as a range with a contradiction", "0 40 8, 10 40 16, 20 20 24",
	  "0 8; 10 -; 20 24; 40 16" },
	{ "an empty one before an end", "0 20 8, 10 0 16, 20 10 24", "0 8; 20 24" },
};

/* FDEs of a CIE with an unknown augmentation have no rule; all others have. */
static void test_unknown(void)
{
	static const char *const cies[] = {
		"01 7a 58 52 00 01 78 10 05 aa bb cc dd 1b", "01 52 00 01 78 10 1b",
		"01 65 68 58 00 00 00 00 00 00 00 00 00 01 78 10", "01 61 00",
	};
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cies); i++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		const char *got;
		size_t cie;

		eh.size = 0;
		eh_begin(&eh, false);
		eh_num(&eh, 0, 4);
		eh_hex(&eh, cies[i]);
		eh_end(&eh);
		eh_fde(&eh, 0, false);
		eh_hex(&eh, "00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00 3f 3f 3f 3f");
		eh_end(&eh);
		eh_fde(&eh, 0, false);
		eh_hex(&eh, "40 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00");
		eh_end(&eh);
		cie = eh_plain_cie(&eh, USUAL);
		eh_plain_fde(&eh, cie, TEXT_LO + 0x10, 0x10, "0e 10");
		eh_plain_fde(&eh, cie, TEXT_LO + 0x30, 0x10, "0e 10");
		err = eh_build(&eh, 0, &table);
		got = err ? kunwind_build_error_name(err) : rows_text(table);
		if (!tap_ok(!strcmp(got, "10 rsp+16 s c-8; 20 none - -; 30 rsp+16 s c-8"),
			    "unknown augmentation %u: no rule there, other FDEs keep theirs", i))
			printf("# got  %s\n", got);
		if (!err)
			kunwind_table_free(table);
	}
}

/* Two FDEs of one range with a CIE each; equal if the CIEs' contents are. */
static void test_duplicates(void)
{
	static const struct {
		const char *name, *augmentation;	/* of the second CIE */
		u8 ra;
		const char *second;
		enum kunwind_build_error err;
	} cases[] = {
		{ "equal CIEs", "zR", 16, USUAL, KUNWIND_OK },
		{ "CIEs with different rules", "zR", 16, "0c 07 10 90 01", KUNWIND_E_OVERLAP },
		{ "CIEs of different lengths", "zR", 16, USUAL " 00 00 00 00", KUNWIND_E_OVERLAP },
		/* four times S, so that both CIEs end with equally many nops */
		{ "one CIE of signal frames", "zRSSSS", 16, USUAL, KUNWIND_E_OVERLAP },
		{ "CIEs with different return address columns", "zR", 6, USUAL, KUNWIND_E_OVERLAP },
	};
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		size_t cie;

		eh.size = 0;
		cie = eh_plain_cie(&eh, USUAL);
		eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "41 0e 10");
		cie = eh_cie(&eh, cases[i].augmentation, false);
		eh.data[eh.size - 1] = cases[i].ra;
		eh_hex(&eh, "01 1b");
		eh_hex(&eh, cases[i].second);
		eh_end(&eh);
		eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "41 0e 10");
		err = eh_build(&eh, 0, &table);
		tap_ok(err == cases[i].err, "duplicate FDEs, %s: %s", cases[i].name,
		       kunwind_build_error_name(err));
		if (!err)
			kunwind_table_free(table);
	}
}

/*
 * Writes a CIE of .debug_frame; debug_fde() writes an FDE of the CIE at @cie.
 */
static size_t debug_cie(struct eh *eh, bool wide, const char *head)
{
	size_t at = eh->size;

	eh_begin(eh, wide);
	eh_num(eh, -1ULL, wide ? 8 : 4);
	eh_hex(eh, head);
	eh_hex(eh, USUAL);
	eh_end(eh);
	return at;
}

static void debug_fde(struct eh *eh, bool wide, u64 cie, u64 start, u64 len, const char *code)
{
	eh_begin(eh, wide);
	eh_num(eh, cie, wide ? 8 : 4);
	eh_num(eh, start, 8);
	eh_num(eh, len, 8);
	eh_hex(eh, code);
	eh_end(eh);
}

/* What is left of a build's memory after it has given all back. */
static size_t memory_left(const struct kunwind_section *section, bool reads)
{
	struct kunwind_build *b = calloc(1, sizeof(*b));
	size_t left;

	if (!kunwind_build_init(b, section, 0, 1 << 20, NULL, NULL) && reads)
		(void)!kunwind_fde_list_read(&b->fdes, 1 << 20);
	kunwind_build_exit(b);
	left = b->budget.memory;
	free(b);
	return left;
}

static u32 kept;	/* builds that have not given back as much as they took */

/* Builds from both sections (or NULL). Returns the rows, or the build error. */
static const char *sections_build(const struct eh *eh, const struct eh *debug)
{
	struct kunwind_section section[2] = {
		{ .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI },
		{ .debug = true, .min_fdes = ~0U, .lo = TEXT_LO, .hi = TEXT_HI },
	};
	u8 *copy[2] = { NULL, NULL };
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	const char *text;

	if (eh) {
		copy[0] = malloc(eh->size + !eh->size);
		memcpy(copy[0], eh->data, eh->size);
		section[0].data = copy[0];
		section[0].size = eh->size;
		section[0].more = debug ? &section[1] : NULL;
	}
	if (debug) {
		copy[1] = malloc(debug->size + !debug->size);
		memcpy(copy[1], debug->data, debug->size);
		section[1].data = copy[1];
		section[1].size = debug->size;
	}
	err = kunwind_table_build(&section[!eh], 0, 1 << 20, NULL, NULL, &table);
	kept += memory_left(&section[!eh], true) != memory_left(&section[!eh], false);
	free(copy[0]);
	free(copy[1]);
	text = err ? kunwind_build_error_name(err) : rows_text(table);
	if (!err)
		kunwind_table_free(table);
	return text;
}

static void rows_are(const char *name, const char *got, const char *want)
{
	if (!tap_ok(!strcmp(got, want), "%s", name))
		printf("# got  %s\n# want %s\n", got, want);
}

static void test_debug_frame(void)
{
	static const char *const heads[] = {
		"01 00 01 78 10", "03 00 01 78 10", "04 00 08 00 01 78 10",
	};
	static struct eh eh;
	unsigned int i, wide;
	char name[64];
	size_t cie;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		for (wide = 0; wide < 2; wide++) {
			eh.size = 0;
			eh_hex(&eh, "00 00 00 00 00 00 00 00");
			cie = debug_cie(&eh, wide, heads[i]);
			debug_fde(&eh, wide, cie, TEXT_LO + 0x20, 0x10, "41 0e 10");
			debug_fde(&eh, wide, cie, TEXT_LO, 0x20, "0e 10");
			sprintf(name, ".debug_frame, %u bit, CIE version %c", wide ? 64 : 32,
				heads[i][1]);
			rows_are(name, sections_build(NULL, &eh),
				 "0 rsp+16 s c-8; 20 rsp+8 s c-8; 21 rsp+16 s c-8");
		}
	}
	eh.size = 0;
	debug_fde(&eh, false, 24 + 4, TEXT_LO, 0x20, "0e 10 00 00");
	debug_cie(&eh, false, heads[0]);
	rows_are(".debug_frame: a CIE after its FDE", sections_build(NULL, &eh), "0 rsp+16 s c-8");
	eh.size = 0;
	cie = debug_cie(&eh, false, "01 53 00 01 78 10");
	debug_fde(&eh, false, cie, TEXT_LO, 0x20, "");
	rows_are(".debug_frame: a signal frame", sections_build(NULL, &eh), "0 rsp+8 s c-8 signal");
	/* functions that GNU ld and LLVM's linker dropped */
	eh.size = 0;
	cie = debug_cie(&eh, false, heads[0]);
	debug_fde(&eh, false, cie, 0, TEXT_LO + 0x20, "");
	debug_fde(&eh, false, cie, -1ULL, 0x20, "");
	debug_fde(&eh, false, cie, TEXT_LO + 0x10, 0x20, "");
	rows_are(".debug_frame: dropped functions", sections_build(NULL, &eh), "10 rsp+8 s c-8");
	eh.size = 0;
	cie = debug_cie(&eh, false, heads[0]);
	debug_fde(&eh, false, 4, TEXT_LO, 0x20, "");
	rows_are(".debug_frame: a CIE pointer into a CIE", sections_build(NULL, &eh), "cie");
	eh.size = 0;
	cie = debug_cie(&eh, false, heads[0]);
	debug_fde(&eh, false, 0xfffffffe, TEXT_LO, 0x20, "");
	rows_are(".debug_frame: a CIE pointer past the end", sections_build(NULL, &eh), "cie");
	eh.size = 0;
	cie = debug_cie(&eh, true, heads[0]);
	debug_fde(&eh, true, -2ULL, TEXT_LO, 0x20, "");
	rows_are(".debug_frame: a CIE pointer of 2^64 - 2", sections_build(NULL, &eh), "cie");
	eh.size = 0;
	rows_are(".debug_frame: empty section", sections_build(NULL, &eh), "no_cfi");
}

/* Reads the next of "START LEN CFA-OFFSET, ...". Returns false at the end. */
static bool fde_next(const char **p, unsigned int *start, unsigned int *len, unsigned int *off)
{
	if (!*p || sscanf(*p, "%x %x %u", start, len, off) != 3)
		return false;
	*p = strchr(*p, ',');
	if (*p)
		(*p)++;
	return true;
}

/* Both sections; where they overlap, .eh_frame counts. */
static void test_both(void)
{
	static const struct {
		const char *name, *eh, *debug, *rows;
	} cases[] = {
		{ "side by side", "10 10 8, 30 10 8", "0 10 16, 40 10 16",
		  "0 rsp+16 s c-8; 10 rsp+8 s c-8; 20 none - -; 30 rsp+8 s c-8; 40 rsp+16 s c-8" },
		{ "equal ranges", "0 10 8, 20 10 8", "0 10 16, 20 10 16",
		  "0 rsp+8 s c-8; 10 none - -; 20 rsp+8 s c-8" },
		{ "between", "0 10 8, 20 10 8", "10 10 16",
		  "0 rsp+8 s c-8; 10 rsp+16 s c-8; 20 rsp+8 s c-8" },
		{ "around", "10 10 8", "0 40 16", "10 rsp+8 s c-8" },
		{ "within", "0 40 8", "10 10 16, 20 8 16", "0 rsp+8 s c-8" },
		{ "after an inner FDE", "0 40 8, 10 8 24", "20 8 16",
		  "0 rsp+8 s c-8; 10 rsp+24 s c-8; 18 rsp+8 s c-8" },
		{ "across a start", "10 10 8", "8 10 16", "10 rsp+8 s c-8" },
		{ "across an end", "10 10 8", "1f 10 16", "10 rsp+8 s c-8" },
		{ "out of order", "20 10 8, 0 10 8", "30 10 16, 10 10 16",
		  "0 rsp+8 s c-8; 10 rsp+16 s c-8; 20 rsp+8 s c-8; 30 rsp+16 s c-8" },
		{ "no FDE in .eh_frame", "", "30 10 16, 10 10 16",
		  "10 rsp+16 s c-8; 20 none - -; 30 rsp+16 s c-8" },
		{ "no FDE in .debug_frame", "0 10 8", "", "0 rsp+8 s c-8" },
		{ "a contradiction in .debug_frame", "0 10 8", "30 10 16, 38 10 16",
		  "0 rsp+8 s c-8; 10 none - -; 30 rsp+16 s c-8; 38 none - -; 40 rsp+16 s c-8" },
		{ "a contradiction under an FDE of .eh_frame", "0 10 8", "0 8 16, 0 10 16", "0 rsp+8 s c-8" },
	};
	static struct eh eh, debug;
	unsigned int i, start, len, off;
	const char *p;
	char text[64];
	size_t cie;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		eh.size = 0;
		cie = eh_plain_cie(&eh, USUAL);
		p = cases[i].eh;
		while (fde_next(&p, &start, &len, &off)) {
			sprintf(text, "0e %02x", off);
			eh_plain_fde(&eh, cie, TEXT_LO + start, len, text);
		}
		debug.size = 0;
		cie = debug_cie(&debug, false, "01 00 01 78 10");
		p = cases[i].debug;
		while (fde_next(&p, &start, &len, &off)) {
			sprintf(text, "0e %02x", off);
			debug_fde(&debug, false, cie, TEXT_LO + start, len, text);
		}
		sprintf(text, "both sections: %s", cases[i].name);
		rows_are(text, sections_build(&eh, &debug), cases[i].rows);
	}
}

/* Three FDEs in descending order. The sort needs all 32 bits of their offsets. */
static void test_far(void)
{
	static const u32 far[] = { 0x80000000, 0x400000, 0 };
	static struct eh eh;
	struct kunwind_section section = { .data = eh.data, .addr = EH_ADDR, .lo = TEXT_LO,
					   .hi = TEXT_LO + 0x90000000, .min_fdes = ~0U };
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	unsigned int i;
	bool good;
	size_t cie;

	eh.size = 0;
	cie = eh_cie(&eh, "zR", false);
	eh_hex(&eh, "01 1c");			/* pcrel sdata8 */
	eh_hex(&eh, USUAL);
	eh_end(&eh);
	for (i = 0; i < ARRAY_SIZE(far); i++) {
		eh_fde(&eh, cie, false);
		eh_num(&eh, TEXT_LO + far[i] - (EH_ADDR + eh.size), 8);
		eh_num(&eh, 0x10, 8);
		eh_hex(&eh, i == 0 ? "00 0e 10" : i == 1 ? "00 0e 18" : "00 0e 20");
		eh_end(&eh);
	}
	section.size = eh.size;
	err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);
	for (i = 0, good = !err; good && i < ARRAY_SIZE(far); i++)
		good = kunwind_table_lookup(table, TEXT_LO + far[i]).off == 16 + 8 * (int)i &&
		       !kunwind_table_lookup(table, TEXT_LO + far[i] + 0x10).kind;
	tap_ok(good, "FDEs far from each other, in descending order: %s", kunwind_build_error_name(err));
	if (!err)
		kunwind_table_free(table);
}

/* Terminators in the middle; the size is exact, or FDEs are counted. */
static void test_terminators(void)
{
	static const struct {
		const char *name;
		u32 min_fdes;
		const char *middle, *end, *rows;
	} cases[] = {
		{ "skipped", ~0U, "00 00 00 00", "", "0 rsp+16 s c-8; 10 rsp+24 s c-8" },
		{ "several", ~0U, "00 00 00 00 00 00 00 00 00 00 00 00", "00 00 00 00 00 00 00 00",
		  "0 rsp+16 s c-8; 10 rsp+24 s c-8" },
		{ "invalid record after one", ~0U, "00 00 00 00", "00 00 00 00 ff 00 00 00", "truncated" },
		{ "one FDE counted", 1, "00 00 00 00", "ff 00 00 00", "0 rsp+16 s c-8" },
		{ "two FDEs counted", 2, "00 00 00 00", "00 00 00 00 ff 00 00 00",
		  "0 rsp+16 s c-8; 10 rsp+24 s c-8" },
		{ "three FDEs counted", 3, "00 00 00 00", "00 00 00 00 ff 00 00 00", "truncated" },
		{ "three FDEs counted, section ends", 3, "00 00 00 00", "00 00 00 00",
		  "0 rsp+16 s c-8; 10 rsp+24 s c-8" },
	};
	static struct eh eh;
	unsigned int i;
	size_t cie;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_section section = {
			.data = eh.data, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI,
			.min_fdes = cases[i].min_fdes,
		};
		struct kunwind_table *table;
		enum kunwind_build_error err;
		char name[64];

		eh.size = 0;
		cie = eh_plain_cie(&eh, USUAL);
		eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "0e 10");
		eh_hex(&eh, cases[i].middle);
		eh_plain_fde(&eh, cie, TEXT_LO + 0x10, 0x10, "0e 18");
		eh_hex(&eh, cases[i].end);
		section.size = eh.size;
		err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);
		sprintf(name, "terminators: %s", cases[i].name);
		rows_are(name, err ? kunwind_build_error_name(err) : rows_text(table), cases[i].rows);
		if (!err)
			kunwind_table_free(table);
	}
}

struct layout_out {
	char text[1024], *at;
};

static int layout_row(void *data, u64 addr, struct kunwind_rule rule)
{
	struct layout_out *out = data;

	out->at += sprintf(out->at, "%s%llx ", out->at == out->text ? "" : "; ",
			   (unsigned long long)(addr - TEXT_LO));
	if (rule.kind == KUNWIND_RULE_NONE)
		out->at += sprintf(out->at, "-");
	else
		out->at += sprintf(out->at, "%d", rule.off);
	return 0;
}

static void test_layouts(void)
{
	static struct eh eh;
	unsigned int i, terminated;

	for (i = 0; i < 2 * ARRAY_SIZE(layouts); i++) {
		const struct layout_case *c = &layouts[i / 2];
		unsigned int start, len, off;
		struct layout_out out = { .at = out.text };
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		const char *p = c->fdes, *got;
		size_t cie;

		terminated = i % 2;
		eh.size = 0;
		cie = eh_plain_cie(&eh, USUAL);
		while (sscanf(p, "%x %x %d", &start, &len, &off) == 3) {
			char code[16];

			sprintf(code, "0e %02x", off);
			eh_plain_fde(&eh, cie, TEXT_LO + start, len, code);
			p = strchr(p, ',');
			if (!p)
				break;
			p++;
		}
		/*
		 * bytes after the terminator have no effect, even invalid ones
		 */
		if (terminated)
			eh_hex(&eh, "00 00 00 00 ff 00 00 00 12 34");
		err = eh_build(&eh, 0, &table);
		if (!err) {
			kunwind_table_for_each(table, layout_row, &out);
			kunwind_table_free(table);
		}
		got = err ? kunwind_build_error_name(err) : out.text;
		if (!tap_ok(!strcmp(got, c->rows), "FDEs, %s terminator: %s",
			    terminated ? "with" : "without", c->name))
			printf("# got  %s\n# want %s\n", got, c->rows);
	}
}
int main(void)
{
	test_layouts();
	test_duplicates();
	test_far();
	test_unknown();
	test_terminators();
	test_debug_frame();
	test_both();
	tap_ok(!kept, "memory: a build gives back as much of its budget as it took");
	return tap_done();
}
