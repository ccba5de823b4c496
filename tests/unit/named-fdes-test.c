/* SPDX-License-Identifier: MIT */
/*
 * named-fdes-test.c - of several FDEs for one function, the one that the search
 * table of .eh_frame_hdr names counts
 *
 * The sections are as a tool makes them that rewrites functions in place: for
 * each function an old FDE (CFA = rsp + 16 from its first byte on) and a new one
 * (rsp + 24).
 */
#include "../../kmod/core/cfi/named_fdes.h"
#include "eh.h"
#include "tap.h"

#define HDR	0x1000ULL	/* address of .eh_frame_hdr */
#define STEP	16		/* bytes of a function */

static struct eh eh;
static size_t places[2][2000];	/* of the old and the new FDEs */
static struct {
	s32 start, fde;
} table[2000];
static u32 reads, most_reads;

static int table_read(void *file, u64 off, void *buf, size_t len)
{
	(void)file;
	if (reads++ >= most_reads || off + len > sizeof(table))
		return -1;
	memcpy(buf, (u8 *)table + off, len);
	return 0;
}

/* Makes old FDEs of @nr functions, new ones of the first @again; the table names @which. */
static struct kunwind_elf make(u32 nr, u32 again, int which)
{
	struct kunwind_elf elf;
	u32 i, round;
	size_t cie;

	memset(&eh, 0, sizeof(eh));
	cie = eh_plain_cie(&eh, "0c 07 08 90 01");
	for (round = 0; round < 2; round++)
		for (i = 0; i < (round ? again : nr); i++) {
			places[round][i] = eh.size;
			eh_plain_fde(&eh, cie, TEXT_LO + STEP * i, STEP - round, round ? "0e 18" : "0e 10");
		}
	for (i = 0; i < nr; i++) {
		const u64 fde = EH_ADDR + places[i < again ? which : 0][i];

		table[i].start = TEXT_LO + STEP * i - HDR;
		table[i].fde = fde - HDR;
	}
	reads = 0;
	most_reads = ~0U;
	elf = (struct kunwind_elf){
		.eh_addr = EH_ADDR, .eh_size = eh.size, .eh_fdes = ~0U,
		.search_base = HDR, .search_nr = nr, .text_lo = TEXT_LO, .text_hi = TEXT_HI,
	};
	return elf;
}

/* The offset of the CFA in function @i; 0: no rule. */
static s32 rule(const struct kunwind_elf *elf, u32 i)
{
	struct kunwind_section section[2];
	struct kunwind_table *built = NULL;
	struct kunwind_rule rule = { };

	kunwind_elf_sections(elf, eh.data, NULL, section);
	if (!kunwind_table_build(section, 0, 1 << 20, NULL, NULL, &built)) {
		rule = kunwind_table_lookup(built, TEXT_LO + STEP * i + 1);
		kunwind_table_free(built);
	}
	return rule.kind ? rule.off : 0;
}

static enum kunwind_build_error drop(const struct kunwind_elf *elf)
{
	return kunwind_named_fdes(table_read, NULL, elf, eh.data);
}

int main(void)
{
	struct kunwind_elf elf = make(3, 3, 1);
	u32 i, wrong;

	tap_ok(!rule(&elf, 1), "two FDEs of one function contradict each other");
	tap_ok(!drop(&elf) && rule(&elf, 0) == 24 && rule(&elf, 1) == 24 && rule(&elf, 2) == 24,
	       "the FDE that the table names counts: the new one");
	elf = make(3, 3, 0);
	tap_ok(!drop(&elf) && rule(&elf, 0) == 16 && rule(&elf, 1) == 16 && rule(&elf, 2) == 16,
	       "the FDE that the table names counts: the old one");
	elf = make(3, 2, 1);
	tap_ok(!drop(&elf) && rule(&elf, 1) == 24 && rule(&elf, 2) == 16,
	       "a function with one FDE keeps it");
	elf = make(3, 0, 0);
	tap_ok(!drop(&elf) && !reads, "the table is not read if each function has one FDE");

	elf = make(3, 3, 1);
	table[1].start++;
	tap_ok(!drop(&elf) && rule(&elf, 0) == 24 && !rule(&elf, 1),
	       "FDEs stay if the table has no entry for their start");
	elf = make(3, 2, 1);
	table[2].fde += 4;
	tap_ok(!drop(&elf) && rule(&elf, 2) == 16, "an FDE stays if no record is where the table says");
	elf = make(3, 2, 1);
	table[2].fde = table[1].fde;
	tap_ok(!drop(&elf) && rule(&elf, 2) == 16, "an FDE stays if the table names another function's");
	elf = make(3, 2, 1);
	table[2].fde = -0x7fffffff;
	tap_ok(!drop(&elf) && rule(&elf, 2) == 16, "an FDE stays if the table names an address outside");
	elf = make(3, 3, 1);
	elf.search_nr = 0;
	tap_ok(!drop(&elf) && !reads && !rule(&elf, 1), "FDEs stay without a table");
	elf = make(3, 3, 1);
	most_reads = 0;
	tap_ok(drop(&elf) == KUNWIND_E_IO, "an error of the file is reported");

	/* 1,100 entries: three windows */
	elf = make(1100, 1100, 1);
	wrong = drop(&elf) != KUNWIND_OK;
	for (i = 0; i < 1100; i += i < 500 || (i > 530 && i < 1010) ? 13 : 1)
		wrong += rule(&elf, i) != 24;
	tap_ok(!wrong && reads < 24, "a table of several windows: %u reads", reads);
	elf = make(1100, 1100, 1);
	table[512].start = table[511].start;	/* not sorted, not unique */
	tap_ok(!drop(&elf) && rule(&elf, 0) == 24 && !rule(&elf, 512), "a table that is not sorted");

	return tap_done();
}
