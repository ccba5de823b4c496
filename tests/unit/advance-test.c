/* SPDX-License-Identifier: MIT */
/*
 * advance-test.c - hand-written CFI with forms that are rare in real objects:
 * code alignment factors, pointers of two bytes, pointers that lie below their
 * base, LEB128 numbers of ten bytes
 */
#include "rows.h"
#include "tap.h"

#define USUAL	"0c 07 08 90 01"

static void rows_are(const char *name, const struct eh *eh, const char *want)
{
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err = eh_build(eh, 0, &table);
	const char *got = err ? kunwind_build_error_name(err) : rows_text(table);

	if (!tap_ok(!strcmp(got, want), "%s", name))
		printf("# got %s\n", got);
	if (!err)
		kunwind_table_free(table);
}

/* Each instruction that advances the location, by 0x11 units of 4 bytes. */
static void test_advance(void)
{
	static const struct {
		const char *name, *code, *rows;
	} cases[] = {
		{ "advance_loc", "51 0e 10", "0 rsp+8 s c-8; 44 rsp+16 s c-8" },
		{ "advance_loc1", "02 11 0e 10", "0 rsp+8 s c-8; 44 rsp+16 s c-8" },
		{ "advance_loc2", "03 11 01 0e 10", "0 rsp+8 s c-8; 444 rsp+16 s c-8" },
		{ "advance_loc4", "04 11 01 00 00 0e 10", "0 rsp+8 s c-8; 444 rsp+16 s c-8" },
		{ "MIPS_advance_loc8", "1d 11 01 00 00 00 00 00 00 0e 10",
		  "0 rsp+8 s c-8; 444 rsp+16 s c-8" },
		{ "advance_loc2 past the end", "03 01 04 0e 10", "0 rsp+8 s c-8" },
		{ "advance_loc4 past the end", "04 01 04 00 00 0e 10", "0 rsp+8 s c-8" },
		/* the product has more than 32 bits */
		{ "advance_loc4 around 4 GB", "04 04 00 00 40 0e 10", "0 rsp+8 s c-8" },
	};
	static struct eh eh;
	unsigned int i;
	char name[80];

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		eh.size = 0;
		eh_begin(&eh, false);
		/* version 1, "", code alignment 4, data alignment -8, ra 16 */
		eh_hex(&eh, "00 00 00 00 01 00 04 78 10" USUAL);
		eh_end(&eh);
		eh_fde(&eh, 0, false);
		eh_num(&eh, TEXT_LO, 8);
		eh_num(&eh, 0x1000, 8);
		eh_hex(&eh, cases[i].code);
		eh_end(&eh);
		snprintf(name, sizeof(name), "code alignment 4: %s", cases[i].name);
		rows_are(name, &eh, cases[i].rows);
	}
}

/* A CIE whose first bytes are @head, and an FDE at TEXT_LO. */
static void head_is(const char *name, const char *head, const char *want)
{
	static struct eh eh;

	eh.size = 0;
	eh_begin(&eh, false);
	eh_hex(&eh, head);
	eh_hex(&eh, USUAL);
	eh_end(&eh);
	eh_fde(&eh, 0, false);
	eh_num(&eh, TEXT_LO, 8);
	eh_num(&eh, 0x1000, 8);
	eh_end(&eh);
	rows_are(name, &eh, want);
}

static void test_heads(void)
{
	head_is("code alignment 65536", "00 00 00 00 01 00 80 80 04 78 10", "0 rsp+8 s c-8");
	head_is("code alignment 65537", "00 00 00 00 01 00 81 80 04 78 10", "0 rsp+8 s c-8");
	head_is("data alignment 65537", "00 00 00 00 01 00 01 81 80 04 10",
		"0 rsp+8 s c+65537");
	head_is("data alignment -65537", "00 00 00 00 01 00 01 ff ff 7b 10",
		"0 rsp+8 s c-65537");
	/* 1 in ten bytes; then numbers that do not fit in 64 bits */
	head_is("a LEB128 number of ten bytes", "00 00 00 00 01 00 81 80 80 80 80 80 80 80 80 00 78 10",
		"0 rsp+8 s c-8");
	head_is("a LEB128 number of 65 bits", "00 00 00 00 01 00 81 80 80 80 80 80 80 80 80 02 78 10",
		"truncated");
	head_is("a signed LEB128 number of 65 bits",
		"00 00 00 00 01 00 01 f8 ff ff ff ff ff ff ff ff 01 10", "truncated");
	head_is("a signed LEB128 number of ten bytes",
		"00 00 00 00 01 00 01 f8 ff ff ff ff ff ff ff ff 7f 10", "0 rsp+8 s c-8");
}

/* The FDE's start is encoded as a negative distance from a base above it. */
static void encoding_is(const char *name, u8 encoding, u64 base, int size)
{
	static struct eh eh;
	size_t cie;

	eh.size = 0;
	cie = eh_cie(&eh, "zR", false);
	eh_num(&eh, 1, 1);
	eh_num(&eh, encoding, 1);
	eh_hex(&eh, USUAL);
	eh_end(&eh);
	eh_fde(&eh, cie, false);
	eh_num(&eh, TEXT_LO - base, size);
	eh_num(&eh, 0x100, size);
	eh_num(&eh, 0, 1);
	eh_end(&eh);
	/* the bases lie above the code */
	{
		u8 *copy = malloc(eh.size);
		struct kunwind_section section = {
			.data = copy, .size = eh.size, .addr = EH_ADDR, .text_base = base,
			.data_base = base, .lo = TEXT_LO, .hi = TEXT_HI,
		};
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;

		memcpy(copy, eh.data, eh.size);
		err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);
		free(copy);
		if (!tap_ok(!err && !strcmp(rows_text(table), "0 rsp+8 s c-8"),
			    "an FDE's start below its base: %s", name))
			printf("# %s\n", err ? kunwind_build_error_name(err) : rows_text(table));
		if (!err)
			kunwind_table_free(table);
	}
}

/* An absolute address aligned to eight bytes, at each place in the section. */
static void test_aligned(void)
{
	static struct eh eh;
	unsigned int letters;
	size_t cie;

	for (letters = 0; letters < 8; letters++) {
		unsigned int i;
		char name[80];

		eh.size = 0;
		cie = eh_cie(&eh, "zR", false);
		eh_hex(&eh, "01 50");
		eh_hex(&eh, USUAL);
		for (i = 0; i < letters; i++)
			eh_hex(&eh, "00 00 00 00");
		eh_end(&eh);
		eh_fde(&eh, cie, false);
		while (eh.size % 8)
			eh_num(&eh, 0, 1);
		eh_num(&eh, TEXT_LO, 8);
		eh_num(&eh, 0x100, 8);
		eh_num(&eh, 0, 1);
		eh_end(&eh);
		snprintf(name, sizeof(name), "aligned addresses: CIE longer by %u words", letters);
		rows_are(name, &eh, "0 rsp+8 s c-8");
	}
}

/* After an aligned personality routine and its padding, parsing must go on. */
static void test_personality(void)
{
	static struct eh eh;
	unsigned int before;
	size_t cie, at, pad;
	char name[80];

	for (before = 0; before < 8; before++) {
		eh.size = 0;
		eh_begin(&eh, false);
		eh_hex(&eh, "00 00 00 00 01");
		eh_bytes(&eh, "z", 1);
		/* the letter B has no data */
		eh_bytes(&eh, "BBBBBBBB", before);
		eh_bytes(&eh, "PR", 3);
		eh_hex(&eh, "01 78 10");
		at = eh.size + 2;
		pad = -(EH_ADDR + at) & 7;
		eh_num(&eh, 1 + pad + 8 + 1, 1);
		eh_num(&eh, 0x50, 1);
		eh_bytes(&eh, "\x1b\x1b\x1b\x1b\x1b\x1b\x1b", pad);
		eh_num(&eh, 0x1234, 8);
		eh_num(&eh, 0, 1);
		eh_hex(&eh, USUAL);
		eh_end(&eh);
		cie = 0;
		eh_fde(&eh, cie, false);
		eh_num(&eh, TEXT_LO, 8);
		eh_num(&eh, 0x100, 8);
		eh_num(&eh, 0, 1);
		eh_end(&eh);
		snprintf(name, sizeof(name),
			 "an aligned personality routine after %zu bytes of padding",
			 pad);
		rows_are(name, &eh, "0 rsp+8 s c-8");
	}
}

int main(void)
{
	test_advance();
	test_personality();
	test_heads();
	encoding_is("textrel sdata2", 0x2a, TEXT_LO + 0x1000, 2);
	encoding_is("textrel sdata4", 0x2b, TEXT_LO + 0x1000, 4);
	encoding_is("textrel sdata8", 0x2c, TEXT_LO + 0x1000, 8);
	encoding_is("datarel sdata2", 0x3a, TEXT_LO + 0x1000, 2);
	encoding_is("datarel sdata4", 0x3b, TEXT_LO + 0x1000, 4);
	test_aligned();
	return tap_done();
}
