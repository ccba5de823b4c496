/* SPDX-License-Identifier: MIT */
/*
 * cfi-test.c - hand-made CIEs and FDEs, and the rows that they must become
 *
 * Sources: DWARF 5, 6.4 (instructions), 7.24; LSB 5.0 core generic 10.5, 10.6
 * (encodings, .eh_frame). Hexadecimal bytes stand beside their meaning.
 */
#include "../../kmod/core/cfi/cfi.h"
#include "rows.h"
#include "tap.h"

#define RBX	KUNWIND_REG(KUNWIND_RBX)
#define R12	KUNWIND_REG(KUNWIND_R12)

/* def_cfa rsp+8; offset rip at cfa-8: how every x86-64 CIE begins */
#define USUAL	"0c 07 08 90 01"

struct program_case {
	const char *name;
	const char *cie, *fde;		/* instructions */
	u32 keep;
	const char *rows;
};

/* FDE: [TEXT_LO, +0x100). */
static const struct program_case programs[] = {
	{ "no instructions", USUAL, "", 0, "0 rsp+8 s c-8" },
	{ "nop", USUAL, "00 00 41 00", 0, "0 rsp+8 s c-8" },
	/* advance_loc 1; def_cfa_offset 16 */
	{ "advance_loc, def_cfa_offset", USUAL, "41 0e 10", 0, "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	{ "advance_loc 63", USUAL, "7f 0e 10", 0, "0 rsp+8 s c-8; 3f rsp+16 s c-8" },
	{ "advance_loc1", USUAL, "02 f0 0e 10", 0, "0 rsp+8 s c-8; f0 rsp+16 s c-8" },
	{ "advance_loc2", USUAL, "03 f1 00 0e 10", 0, "0 rsp+8 s c-8; f1 rsp+16 s c-8" },
	{ "advance_loc4", USUAL, "04 f2 00 00 00 0e 10", 0, "0 rsp+8 s c-8; f2 rsp+16 s c-8" },
	{ "advance by nothing", USUAL, "0e 10 40 0e 18 41 02 00 0e 20", 0,
	  "0 rsp+24 s c-8; 1 rsp+32 s c-8" },
	{ "advance to the very end", USUAL, "02 ff 0e 10 41 0e 18", 0,
	  "0 rsp+8 s c-8; ff rsp+16 s c-8" },
	{ "equal rows become one", USUAL, "41 0e 10 41 0e 10 41 86 02 41 86 02 41 0e 08", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8; 3 rsp+16 c-16 c-8; 5 rsp+8 c-16 c-8" },
	/* the usual prologue: push rbp; mov rsp, rbp */
	{ "offset, def_cfa_register", USUAL, "41 0e 10 86 02 43 0d 06 50 0c 07 08", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 c-16 c-8; 4 rbp+16 c-16 c-8; 14 rsp+8 c-16 c-8" },
	{ "offset_extended", USUAL, "41 05 06 03", 0, "0 rsp+8 s c-8; 1 rsp+8 c-24 c-8" },
	{ "offset_extended_sf", USUAL, "41 11 06 02 41 11 06 7e", 0,
	  "0 rsp+8 s c-8; 1 rsp+8 c-16 c-8; 2 rsp+8 c+16 c-8" },
	{ "GNU_negative_offset_extended", USUAL, "41 2f 06 02", 0,
	  "0 rsp+8 s c-8; 1 rsp+8 c+16 c-8" },
	{ "def_cfa", USUAL, "41 0c 0a 00 41 0c 06 80 01", 0,
	  "0 rsp+8 s c-8; 1 r10+0 s c-8; 2 rbp+128 s c-8" },
	{ "def_cfa_sf", USUAL, "41 12 06 7e 41 12 07 02", 0,
	  "0 rsp+8 s c-8; 1 rbp+16 s c-8; 2 rsp-16 s c-8" },
	{ "def_cfa_offset below zero", USUAL, "41 0e f8 ff ff ff ff ff ff ff ff 01", 0,
	  "0 rsp+8 s c-8; 1 rsp-8 s c-8" },
	{ "def_cfa_offset_sf", USUAL, "41 13 7d", 0, "0 rsp+8 s c-8; 1 rsp+24 s c-8" },
	{ "restore", USUAL, "86 02 41 c6", 0, "0 rsp+8 c-16 c-8; 1 rsp+8 s c-8" },
	{ "restore of what the CIE says", USUAL " 86 02", "86 03 41 c6", 0,
	  "0 rsp+8 c-24 c-8; 1 rsp+8 c-16 c-8" },
	{ "restore_extended", USUAL, "86 02 41 06 06", 0, "0 rsp+8 c-16 c-8; 1 rsp+8 s c-8" },
	{ "undefined rbp", USUAL, "41 07 06", 0, "0 rsp+8 s c-8; 1 rsp+8 u c-8" },
	{ "undefined return address", USUAL, "07 10 41 0e 10", 0, "0 end - -" },
	{ "same_value", USUAL, "86 02 41 08 06", 0, "0 rsp+8 c-16 c-8; 1 rsp+8 s c-8" },
	{ "same_value of rsp", USUAL, "41 08 07", 0,
	  "0 rsp+8 s c-8; 1 rsp+8 s c-8 rsp:s" },
	{ "register", USUAL, "41 09 06 03", 0, "0 rsp+8 s c-8; 1 rsp+8 rbx c-8" },
	{ "register of the return address", USUAL, "41 09 10 02", 0,
	  "0 rsp+8 s c-8; 1 rsp+8 s rcx" },
	{ "register: one that is not followed", USUAL, "41 09 06 11", 0,
	  "0 rsp+8 s c-8; 1 rsp+8 u c-8" },
	/* not the end of the stack: it is somewhere */
	{ "register of the return address: one that is not followed", USUAL, "41 09 10 11 41 90 01", 0,
	  "0 rsp+8 s c-8; 1 none - -; 2 rsp+8 s c-8" },
	{ "register: column 256", USUAL, "41 09 06 80 02", 0, "0 rsp+8 s c-8; 1 rsp+8 u c-8" },
	/*
	 * columns of any number: offset, undefined, restore, same_value,
	 * register, expression, val_offset
	 */
	{ "columns above 255", USUAL, "05 80 02 01 07 ac 02 06 80 02 08 ff ff 03 09 80 80 04 03 "
	  "10 80 02 02 77 08 14 ff ff ff ff ff ff ff ff ff 01 02 2f 80 02 01 41 0e 10", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	{ "CFA of a register that is not followed", USUAL, "41 0c 11 08 41 0d 07 41 0d 20 41 12 07 7f", 0,
	  "0 rsp+8 s c-8; 1 none - -; 2 rsp+8 s c-8; 3 none - -; 4 rsp+8 s c-8" },
	{ "CFA of column 2^32 + 7", USUAL, "41 0c 87 80 80 80 10 08 41 12 87 80 80 80 10 7f 41 0d 07", 0,
	  "0 rsp+8 s c-8; 1 none - -; 3 rsp+8 s c-8" },
	{ "CFA of a register that is not followed, remembered", USUAL,
	  "0a 41 0c 11 08 0a 41 0c 07 10 41 0b 41 0b", 0,
	  "0 rsp+8 s c-8; 1 none - -; 2 rsp+16 s c-8; 3 none - -; 4 rsp+8 s c-8" },
	{ "def_cfa_offset without a register", "90 01", "0e 10 41 0c 07 08", 0,
	  "0 none - -; 1 rsp+8 s c-8" },
	{ "def_cfa_register without an offset", "90 01", "0d 06 41 0e 10 13 7d 41 0c 07 08", 0,
	  "0 none - -; 2 rsp+8 s c-8" },
	/* distances above 32 bits: 2^31, 2^34, 2^62, -2^34 */
	{ "rbp too far from the CFA", USUAL,
	  "41 05 06 80 80 80 80 01 41 86 80 80 80 80 08 41 11 06 80 80 80 80 78 41 86 02", 0,
	  "0 rsp+8 s c-8; 1 rsp+8 c-2147483648 c-8; 2 rsp+8 u c-8; 4 rsp+8 c-16 c-8" },
	{ "rbp, distances of 64 bits", USUAL,
	  "41 86 80 80 80 80 80 80 80 80 40 41 14 06 80 80 80 80 80 80 80 80 80 01 41 "
	  "2f 06 80 80 80 80 08 41 86 02", 0,
	  "0 rsp+8 s c-8; 1 rsp+8 u c-8; 4 rsp+8 c-16 c-8" },
	{ "the return address too far from the CFA", USUAL, "41 05 10 81 80 80 80 01 41 90 01", 0,
	  "0 rsp+8 s c-8; 1 none - -; 2 rsp+8 s c-8" },
	/* instructions after the FDE's end have no effect */
	{ "advance past the end", USUAL, "41 0e 10 03 01 01 0e 18 41 0e 20 3f", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	{ "advance past the end of memory", USUAL, "41 0e 10 1d f0 ff fe ff ff ff ff ff 0e 18", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	{ "MIPS_advance_loc8", USUAL, "1d f2 00 00 00 00 00 00 00 0e 10", 0,
	  "0 rsp+8 s c-8; f2 rsp+16 s c-8" },
	/*
	 * no rule after an unreadable instruction; elfutils also keeps earlier
	 * rows
	 */
	{ "unknown instruction", USUAL, "41 0e 10 41 17 0e 08 41 0c 07 08", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8; 2 none - -" },
	{ "unknown instruction at the very end", USUAL, "41 0e 10 02 ff 17", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	{ "restore_state without remember_state", USUAL, "0a 41 0e 10 41 0b 41 0e 10 41 0b 41 0c 07 08",
	  0, "0 rsp+8 s c-8; 1 rsp+16 s c-8; 2 rsp+8 s c-8; 3 rsp+16 s c-8; 4 none - -" },
	{ "set_loc backwards", USUAL, "48 0e 10 01 00 00 00 00 0e 18", 0, "0 rsp+8 s c-8; 8 none - -" },
	{ "operand past the end", USUAL, "41 0e 10 41 86 02 0f 7f 77 08", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8; 2 none - -" },
	{ "CFA offset 2^31", USUAL, "41 0e 10 41 0e 80 80 80 80 08 41 0e 10", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8; 2 none - -" },
	/* an invalid expression makes only its row invalid */
	{ "expressions that leave nothing", USUAL,
	  "41 0f 00 41 0c 07 08 10 10 02 13 13 41 90 01 10 06 02 13 13", 0,
	  "0 rsp+8 s c-8; 1 none - -; 3 rsp+8 u c-8" },
	{ "expression that branches out of itself", USUAL, "41 0f 05 77 00 2f fa ff 41 0c 07 08", 0,
	  "0 rsp+8 s c-8; 1 none - -; 2 rsp+8 s c-8" },
	{ "expressions of registers that are not followed, empty stack", USUAL,
	  "41 10 03 02 13 13 10 31 02 13 13 0e 10", 0, "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	{ "remember and restore, with the CFA", USUAL, "86 02 0d 06 0a 41 0c 07 08 c6 41 0b", 0,
	  "0 rbp+8 c-16 c-8; 1 rsp+8 s c-8; 2 rbp+8 c-16 c-8" },
	{ "remember twice", USUAL, "0a 41 0e 10 0a 41 0e 18 0b 41 0b", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8; 3 rsp+8 s c-8" },
	{ "remember an expression", USUAL, "0f 03 76 78 06 0a 41 0c 07 08 41 0b", 0,
	  "0 exp:767806 s c-8; 1 rsp+8 s c-8; 2 exp:767806 s c-8" },
	{ "remembered and not restored", USUAL, "0a 41 0e 10", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	/* breg6 -8; deref */
	{ "def_cfa_expression, dereference", USUAL, "41 0f 03 76 78 06 86 02", 0,
	  "0 rsp+8 s c-8; 1 exp:767806 c-16 c-8" },
	/* breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
	{ "def_cfa_expression, PLT", USUAL, "0f 0b 77 08 80 00 3f 1a 3b 2a 33 24 22", 0,
	  "0 exp:770880003f1a3b2a332422 s c-8" },
	{ "def_cfa_expression, PLT with another threshold", USUAL,
	  "0f 0b 77 08 80 00 3f 1a 35 2a 33 24 22", 0, "0 exp:770880003f1a352a332422 s c-8" },
	/* breg7 24; deref; plus_uconst 8 */
	{ "def_cfa_expression, any", USUAL, "41 0f 05 77 18 06 23 08 86 02", 0,
	  "0 rsp+8 s c-8; 1 exp:7718062308 c-16 c-8" },
	/* breg7 24; deref; plus_uconst 1024 */
	{ "def_cfa_expression, above a word", USUAL, "41 0f 06 77 18 06 23 80 08 86 02", 0,
	  "0 rsp+8 s c-8; 1 exp:771806238008 c-16 c-8" },
	/* libgcrypt does this; all unwinders remember the offset */
	{ "def_cfa_register after an expression", USUAL, "0e 38 0f 05 77 18 06 23 08 41 0d 06", 0,
	  "0 exp:7718062308 s c-8; 1 rbp+56 s c-8" },
	{ "def_cfa_offset under an expression", USUAL, "0f 02 77 08 41 0e 18 41 0d 06", 0,
	  "0 exp:7708 s c-8; 2 rbp+24 s c-8" },
	/* what GCC emits where it realigns the stack */
	{ "dynamic realignment", USUAL,
	  "45 0c 0a 00 49 10 06 02 76 00 45 0f 03 76 78 06 60 0c 0a 00 44 0c 07 08", 0,
	  "0 rsp+8 s c-8; 5 r10+0 s c-8; e r10+0 exp:7600 c-8; 13 exp:767806 exp:7600 c-8; "
	  "33 r10+0 exp:7600 c-8; 37 rsp+8 exp:7600 c-8" },
	{ "expression of the return address", USUAL, "10 10 02 77 08", 0, "0 rsp+8 s exp:7708" },
	{ "val_expression", USUAL, "16 06 02 77 10", 0, "0 rsp+8 vexp:7710 c-8" },
	{ "val_offset", USUAL, "14 06 02", 0, "0 rsp+8 v-16 c-8" },
	{ "val_offset_sf", USUAL, "15 06 7f", 0, "0 rsp+8 v+8 c-8" },
	{ "val_offset of rsp", USUAL, "14 07 01", 0, "0 rsp+8 s c-8 rsp:v-8" },
	{ "GNU_args_size", USUAL, "41 2e 90 01 0e 10", 0, "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	{ "columns above the return address", USUAL, "05 20 02 0e 10 07 11 09 21 22 10 31 02 70 00",
	  0, "0 rsp+16 s c-8" },
	/* same_value 17; restore 17; restore_extended 32 */
	{ "columns above the return address, same and restored", USUAL,
	  "08 11 d1 06 20 0e 10", 0, "0 rsp+16 s c-8" },
	{ "rbp far from the CFA", USUAL, "11 06 80 80 04 41 11 06 80 20", 0,
	  "0 rsp+8 c-524288 c-8; 1 rsp+8 c-32768 c-8" },
	{ "far CFA", USUAL, "0e ff ff ff ff 07", 0, "0 rsp+2147483647 s c-8" },
	{ "return address elsewhere", USUAL, "90 02", 0, "0 rsp+8 s c-16" },
	{ "return address at the CFA's usual place again", USUAL, "90 02 41 90 01", 0,
	  "0 rsp+8 s c-16; 1 rsp+8 s c-8" },
	{ "return address without a rule", "0c 07 08", "", 0, "0 rsp+8 s s" },
	{ "CFA without a rule", "90 01", "41 0c 07 08", 0, "0 none - -; 1 rsp+8 s c-8" },
	{ "the CIE's rules", USUAL " 86 02 0d 06", "41 0e 20", 0,
	  "0 rbp+8 c-16 c-8; 1 rbp+32 c-16 c-8" },
	{ "callee-saved registers that are not needed", USUAL, "83 02 8c 03 41 0e 10", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	{ "callee-saved registers to keep", USUAL, "41 83 02 8c 03 41 0e 10 41 c3 cc", RBX,
	  "0 rsp+8 s c-8; 1 rsp+8 s c-8 rbx:c-16; 2 rsp+16 s c-8 rbx:c-16; 3 rsp+16 s c-8" },
	/* libnvvm of CUDA 13: restored to a state without a rule */
	{ "restore in a CIE", USUAL " 0c 06 10 83 03 86 02 0c 07 08 c3 06 06", "86 03 41 c6", RBX,
	  "0 rsp+8 c-24 c-8; 1 rsp+8 s c-8" },
	{ "restored after the CIE's restore", USUAL " 86 02 c6 86 04", "86 03 41 c6", 0,
	  "0 rsp+8 c-24 c-8; 1 rsp+8 c-32 c-8" },
	{ "remember and restore in a CIE", USUAL " 0a 0e 18 86 02 0b", "0e 10", 0,
	  "0 rsp+16 s c-8" },
	{ "remembered in a CIE and not restored", USUAL " 0a", "41 0e 10", 0,
	  "0 rsp+8 s c-8; 1 rsp+16 s c-8" },
	/*
	 * legal expressions that are not supported: no rule, later rows are
	 * valid
	 */
	{ "CFA by an address", USUAL, "41 0f 09 03 00 00 00 00 00 00 00 00 41 0c 07 10", 0,
	  "0 rsp+8 s c-8; 1 none - -; 2 rsp+16 s c-8" },
	{ "CFA by a loop", USUAL, "0f 05 77 00 2f fb ff 41 0d 07", 0, "0 none - -; 1 rsp+8 s c-8" },
	{ "CFA by a vendor's operation", USUAL, "41 0f 03 77 00 f0 41 0e 18 41 0d 06", 0,
	  "0 rsp+8 s c-8; 1 none - -; 3 rbp+24 s c-8" },
	{ "CFA by a vector register", USUAL, "41 0f 02 81 00 41 0c 07 08", 0,
	  "0 rsp+8 s c-8; 1 none - -; 2 rsp+8 s c-8" },
	{ "return address by entry_value", USUAL, "41 10 10 03 a3 01 55 41 d0", 0,
	  "0 rsp+8 s c-8; 1 none - -; 2 rsp+8 s c-8" },
	{ "rbp by entry_value", USUAL, "41 16 06 03 a3 01 56 41 c6", 0,
	  "0 rsp+8 s c-8; 1 rsp+8 u c-8; 2 rsp+8 s c-8" },
	{ "a kept register by entry_value", USUAL, "41 10 03 03 a3 01 53", RBX,
	  "0 rsp+8 s c-8; 1 rsp+8 s c-8 rbx:u" },
	{ "a register that is not followed by entry_value", USUAL, "41 10 03 03 a3 01 53 10 31 03 a3 01 61",
	  0, "0 rsp+8 s c-8" },
	{ "an unsupported CFA in a remembered state", USUAL, "0f 03 77 00 f0 0a 41 0c 07 08 41 0b", 0,
	  "0 none - -; 1 rsp+8 s c-8; 2 none - -" },
	{ "unsupported expressions in the CIE", USUAL " 0f 03 77 00 f0 10 10 03 77 00 f0",
	  "41 0c 07 08 41 90 01", 0,
	  "0 none - -; 2 rsp+8 s c-8" },
	{ "an undefined return address with an unsupported CFA", USUAL,
	  "0f 03 77 00 f0 07 10", 0, "0 end - -" },
	{ "two registers to keep", USUAL, "41 83 02 8c 03", RBX | R12,
	  "0 rsp+8 s c-8; 1 rsp+8 s c-8 rbx:c-16 r12:c-24" },
	{ "a kept register that is undefined", USUAL, "41 07 03", RBX, "0 rsp+8 s c-8; 1 rsp+8 s c-8 rbx:u" },
	{ "a kept register with same_value", USUAL, "83 02 41 08 03", RBX,
	  "0 rsp+8 s c-8 rbx:c-16; 1 rsp+8 s c-8" },
	{ "a CFA's register is needed", USUAL, "83 02 41 0c 03 08", 0,
	  "0 rsp+8 s c-8 rbx:c-16; 1 rbx+8 s c-8 rbx:c-16" },
	{ "a register in a CFA's expression is needed", USUAL, "8c 02 41 0f 03 7c 00 06", 0,
	  "0 rsp+8 s c-8 r12:c-16; 1 exp:7c0006 s c-8 r12:c-16" },
	{ "the register that holds rbp is needed, and its source", USUAL,
	  "8d 02 41 09 06 0c 41 09 0c 0d", 0,
	  "0 rsp+8 s c-8 r13:c-16; 1 rsp+8 r12 c-8 r13:c-16; "
	  "2 rsp+8 r12 c-8 r12:r13 r13:c-16" },
};

static void test_programs(void)
{
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct program_case *c = &programs[i];
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		const char *got;
		size_t cie;

		eh.size = 0;
		cie = eh_plain_cie(&eh, c->cie);
		eh_plain_fde(&eh, cie, TEXT_LO, 0x100, c->fde);
		err = eh_build(&eh, c->keep, &table);
		got = err ? kunwind_build_error_name(err) : rows_text(table);
		if (!tap_ok(!strcmp(got, c->rows), "CFI program: %s", c->name))
			printf("# got  %s\n# want %s\n", got, c->rows);
		if (!err)
			kunwind_table_free(table);
	}
}

/*
 * Signal frames keep each register of the CFI, also those that are not
 * followed.
 */
static void test_signal(void)
{
	static const char want[] =
		"0 exp:77a00106 exp:77f800 exp:77a801 signal rax:exp:779001 rbx:s rsp:exp:77a001; "
		"10 rsp+8 s c-8 signal";
	static struct eh eh;
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	const char *got;
	size_t cie;

	eh.size = 0;
	cie = eh_cie(&eh, "zRS", false);
	eh_hex(&eh, "01 1b " USUAL);
	eh_end(&eh);
	/* glibc's __restore_rt, shortened: breg7 N for each register */
	eh_plain_fde(&eh, cie, TEXT_LO, 0x100,
		     "0f 04 77 a0 01 06 10 00 03 77 90 01 10 06 03 77 f8 00 10 07 03 77 a0 01 "
		     "10 10 03 77 a8 01 08 03 50 0c 07 08 c0 c3 c6 c7 d0");
	err = eh_build(&eh, 0, &table);
	got = err ? kunwind_build_error_name(err) : rows_text(table);
	if (!tap_ok(!strcmp(got, want), "signal frame: the full rule lists every register"))
		printf("# got  %s\n# want %s\n", got, want);
	if (!err)
		kunwind_table_free(table);
}

static void test_needed(void)
{
	static struct eh eh;
	struct kunwind_table_stats st;
	struct kunwind_table *table;
	size_t cie;

	eh.size = 0;
	cie = eh_plain_cie(&eh, USUAL);
	eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "41 0c 03 08");
	eh_plain_fde(&eh, cie, TEXT_LO + 0x20, 0x10, "41 0c 00 08 41 0c 0a 08");
	if (!tap_ok(!eh_build(&eh, R12 | KUNWIND_REG(KUNWIND_RAX), &table), "stats: the table is built"))
		return;
	kunwind_table_stats(table, &st);
	tap_ok(st.needed == RBX, "stats: needed holds callee-saved registers only");
	tap_ok(st.keep == (RBX | R12) && kunwind_table_keep(table) == st.keep,
	       "stats: keep holds requested and needed registers");
	tap_ok(st.base == TEXT_LO && st.span == 0x30 && st.nr_fdes == 2 && st.nr_rows == 6 &&
	       st.nr_rules == 5 && st.nr_full == 0, "stats: base, span and counts are those of the FDEs");
	kunwind_table_free(table);
}

/* DW_EH_PE_*: a format and a base, for the FDE's start and length. */
struct encoding_case {
	u8 encoding;
	const char *name;
	int size;		/* bytes; 0: LEB128 */
};

static const struct encoding_case formats[] = {
	{ 0x00, "absptr", 8 }, { 0x01, "uleb128", 0 }, { 0x02, "udata2", 2 },
	{ 0x03, "udata4", 4 }, { 0x04, "udata8", 8 }, { 0x08, "signed", 8 },
	{ 0x09, "sleb128", 0 }, { 0x0a, "sdata2", 2 }, { 0x0b, "sdata4", 4 },
	{ 0x0c, "sdata8", 8 },
};

static const struct {
	u8 encoding;
	const char *name;
} relations[] = {
	{ 0x00, "absolute" }, { 0x10, "pcrel" }, { 0x20, "textrel" }, { 0x30, "datarel" },
};

/* Writes @val in a format, in its shortest form. */
static void encoded(struct eh *eh, const struct encoding_case *f, u64 val)
{
	if (f->size)
		eh_num(eh, val, f->size);
	else if (f->encoding == 0x09)
		eh_sleb(eh, val);
	else
		eh_uleb(eh, val);
}

/*
 * The start is chosen so that the distance fits in 16 bits: a function at
 * 0x10100 would be 0xe1xx away from .eh_frame at 0x2000, too far for sdata2.
 */
static void test_encodings(void)
{
	static struct eh eh;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		for (j = 0; j < ARRAY_SIZE(relations); j++) {
			const struct encoding_case *f = &formats[i];
			struct kunwind_section section = {
				.addr = EH_ADDR, .text_base = 0x5000, .data_base = DATA_BASE,
				.lo = 0x3000, .hi = 0x9000,
			};
			u64 start = 0x6000, place, base = 0;
			struct kunwind_table *table = NULL;
			enum kunwind_build_error err;
			struct kunwind_rule a, b;
			u8 *copy;
			size_t cie;

			eh.size = 0;
			cie = eh_cie(&eh, "zR", false);
			eh_hex(&eh, "01");
			eh_num(&eh, f->encoding | relations[j].encoding, 1);
			eh_hex(&eh, USUAL);
			eh_end(&eh);
			eh_fde(&eh, cie, false);
			place = EH_ADDR + eh.size;
			switch (relations[j].encoding) {
			case 0x10:
				base = place;
				break;
			case 0x20:
				base = section.text_base;
				break;
			case 0x30:
				base = section.data_base;
				break;
			}
			encoded(&eh, f, start - base);
			encoded(&eh, f, 0x123);
			eh_hex(&eh, "00");
			/*
			 * set_loc start + 0x80 in the same encoding;
			 * def_cfa_offset 16
			 */
			eh_hex(&eh, "01");
			if (relations[j].encoding == 0x10)
				base = EH_ADDR + eh.size;
			encoded(&eh, f, start + 0x80 - base);
			eh_hex(&eh, "0e 10");
			eh_end(&eh);

			copy = malloc(eh.size);
			memcpy(copy, eh.data, eh.size);
			section.data = copy;
			section.size = eh.size;
			err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);
			free(copy);
			if (err) {
				tap_ok(false, "pointer encoding: %s %s: %s", f->name, relations[j].name,
				       kunwind_build_error_name(err));
				continue;
			}
			a = kunwind_table_lookup(table, start + 0x7f);
			b = kunwind_table_lookup(table, start + 0x80);
			tap_ok(a.kind == KUNWIND_RULE_CFA && a.off == 8 && b.off == 16 &&
			       !kunwind_table_lookup(table, start - 1).kind &&
			       kunwind_table_lookup(table, start + 0x122).off == 16 &&
			       !kunwind_table_lookup(table, start + 0x123).kind,
			       "pointer encoding: %s %s", f->name, relations[j].name);
			kunwind_table_free(table);
		}
	}
}

/* DW_EH_PE_aligned: an absolute pointer at the next multiple of 8. */
static void test_aligned(void)
{
	static struct eh eh;
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	unsigned int pad;

	for (pad = 0; pad < 8; pad += 4) {
		size_t cie;

		eh.size = 0;
		cie = eh_cie(&eh, "zR", false);
		eh_hex(&eh, "01 50 " USUAL);
		if (pad)
			eh_hex(&eh, "00 00 00 00");
		eh_end(&eh);
		eh_fde(&eh, cie, false);
		while (eh.size % 8)
			eh_num(&eh, 0xee, 1);
		eh_num(&eh, TEXT_LO, 8);
		eh_num(&eh, 0x10, 8);
		eh_hex(&eh, "00");
		eh_end(&eh);
		err = eh_build(&eh, 0, &table);
		tap_ok(!err && !strcmp(rows_text(table), "0 rsp+8 s c-8"),
		       "pointer encoding: aligned, CIE longer by %u bytes: %s",
		       pad, kunwind_build_error_name(err));
		if (!err)
			kunwind_table_free(table);
	}
}

/*
 * FDEs of functions that the linker dropped have a start of zero. They have no
 * effect, even if that address, relocated, is in the code.
 */
static void test_dropped(void)
{
	static const u8 encodings[] = { 0x00, 0x03, 0x0b, 0x0c, 0x1b, 0x1c, 0x2b, 0x3b, 0x50 };
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(encodings); i++) {
		u8 encoding = encodings[i];
		int size = (encoding & 0xf) == 3 || (encoding & 0xf) == 0xb ? 4 : 8;
		struct kunwind_section section = {
			.data = eh.data, .addr = EH_ADDR, .text_base = 0x800,
			.data_base = 0x900, .lo = 0, .hi = 0x9000,
		};
		struct kunwind_table *table = NULL;
		struct kunwind_table_stats st = { 0 };
		enum kunwind_build_error err;
		u64 base[] = { 0, 0, 0x800, 0x900, 0, 0 };
		size_t cie;

		eh.size = 0;
		cie = eh_cie(&eh, "zR", false);
		eh_hex(&eh, "01");
		eh_num(&eh, encoding, 1);
		eh_hex(&eh, USUAL " 00 00 00 00");
		eh_end(&eh);
		eh_fde(&eh, cie, false);
		while (encoding == 0x50 && eh.size % 8)
			eh_num(&eh, 0, 1);
		eh_num(&eh, 0, size);
		eh_num(&eh, 0x4000, size);
		eh_hex(&eh, "00 0e 10");
		eh_end(&eh);
		eh_fde(&eh, cie, false);
		while (encoding == 0x50 && eh.size % 8)
			eh_num(&eh, 0, 1);
		base[1] = EH_ADDR + eh.size;
		eh_num(&eh, 0x3000 - base[encoding >> 4], size);
		eh_num(&eh, 0x10, size);
		eh_hex(&eh, "00");
		eh_end(&eh);
		section.size = eh.size;
		err = kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table);
		if (!err)
			kunwind_table_stats(table, &st);
		tap_ok(!err && st.nr_fdes == 1 && st.base == 0x3000 && st.span == 0x10,
		       "FDE of a dropped function is ignored, encoding 0x%02x: %s", encoding,
		       kunwind_build_error_name(err));
		if (!err)
			kunwind_table_free(table);
	}
}

/*
 * CIE heads: augmentation string, its data, whether FDEs have augmentation
 * data.
 */
struct head_case {
	const char *name;
	const char *head;	/* from the version up to the initial instructions */
	const char *start;	/* of the FDE's body; "" for pcrel sdata4 without more */
	enum kunwind_build_error err;
};

/* TEXT_LO and 0x10 as absptr */
#define ABS	"00 00 01 00 00 00 00 00 10 00 00 00 00 00 00 00"

static const struct head_case heads[] = {
	{ "no augmentation", "01 00 01 78 10", ABS, KUNWIND_OK },
	{ "version 3", "03 00 01 78 10", ABS, KUNWIND_OK },
	{ "version 4", "04 00 08 00 01 78 10", ABS, KUNWIND_OK },
	{ "version 3: return address column is LEB128", "03 00 01 78 90 00", ABS, KUNWIND_OK },
	{ "version 4: address size 4", "04 00 04 00 01 78 10", ABS, KUNWIND_E_VERSION },
	{ "version 4: segment selectors", "04 00 08 02 01 78 10", ABS, KUNWIND_E_VERSION },
	{ "version 2", "02 00 01 78 10", ABS, KUNWIND_E_VERSION },
	{ "version 5", "05 00 01 78 10", ABS, KUNWIND_E_VERSION },
	{ "version 0", "00 00 01 78 10", ABS, KUNWIND_E_VERSION },
	/* "z" alone: addresses are absptr */
	{ "z", "01 7a 00 01 78 10 00", ABS " 00", KUNWIND_OK },
	{ "zR", "01 7a 52 00 01 78 10 01 00", ABS " 00", KUNWIND_OK },
	{ "zR, more data than letters", "01 7a 52 00 01 78 10 03 00 aa bb", ABS " 00", KUNWIND_OK },
	{ "zPLR", "01 7a 50 4c 52 00 01 78 10 07 9b 11 22 33 44 1b 00",
	  ABS " 04 01 02 03 04", KUNWIND_OK },
	{ "zPLR, personality omitted", "01 7a 50 4c 52 00 01 78 10 03 ff ff 00", ABS " 00",
	  KUNWIND_OK },
	{ "zRPL, other order", "01 7a 52 50 4c 00 01 78 10 0b 00 00 88 77 66 55 44 33 22 11 1b",
	  ABS " 00", KUNWIND_OK },
	{ "zP, uleb128", "01 7a 50 00 01 78 10 03 01 80 01", ABS " 00", KUNWIND_OK },
	{ "zRS", "01 7a 52 53 00 01 78 10 01 00", ABS " 00", KUNWIND_OK },
	{ "zRB", "01 7a 52 42 00 01 78 10 01 00", ABS " 00", KUNWIND_OK },
	{ "S without z", "01 53 00 01 78 10", ABS, KUNWIND_OK },
	{ "B and S without z", "01 42 53 00 01 78 10", ABS, KUNWIND_OK },
	{ "eh, GCC 2", "01 65 68 00 aa bb cc dd ee ff 00 11 01 78 10", ABS, KUNWIND_OK },
	{ "eh, no pointer", "01 65 68 00 01 78 10", "", KUNWIND_E_TRUNCATED },
	{ "ehX", "01 65 68 58 00 aa bb cc dd ee ff 00 11 01 78 10", ABS, KUNWIND_E_AUGMENTATION },
	{ "zX", "01 7a 58 00 01 78 10 01 aa", ABS " 00", KUNWIND_OK },
	{ "zRX", "01 7a 52 58 00 01 78 10 03 00 aa bb", ABS " 00", KUNWIND_OK },
	{ "zXLPS", "01 7a 58 4c 50 53 00 01 78 10 00", ABS " 00", KUNWIND_OK },
	{ "zXR", "01 7a 58 52 00 01 78 10 02 aa 00", ABS " 00", KUNWIND_E_AUGMENTATION },
	{ "R without z", "01 52 00 01 78 10 00", ABS, KUNWIND_E_AUGMENTATION },
	{ "armcc+", "01 61 72 6d 63 63 2b 00 01 78 10", ABS, KUNWIND_E_AUGMENTATION },
	{ "zR without data", "01 7a 52 00 01 78 10 00", ABS " 00", KUNWIND_E_TRUNCATED },
	{ "zP: pointer runs out of its data", "01 7a 50 00 01 78 10 03 00 01 02", ABS " 00",
	  KUNWIND_E_TRUNCATED },
	{ "zP: no such encoding", "01 7a 50 00 01 78 10 03 07 01 02", ABS " 00",
	  KUNWIND_E_ENCODING },
	{ "augmentation data past the record", "01 7a 52 00 01 78 10 7f 00", ABS " 00",
	  KUNWIND_E_TRUNCATED },
	{ "augmentation data of 2^63 bytes",
	  "01 7a 52 00 01 78 10 80 80 80 80 80 80 80 80 80 01 00", ABS " 00", KUNWIND_E_TRUNCATED },
	{ "augmentation string without end", "01 7a 52 52 52 52 52 52", "", KUNWIND_E_TRUNCATED },
	/* whatever they are, the CFA does not depend on them */
	{ "code alignment 2^64 - 1", "01 00 ff ff ff ff ff ff ff ff ff 01 78 10", ABS, KUNWIND_OK },
	{ "LEB128 of 11 bytes", "01 00 81 80 80 80 80 80 80 80 80 80 00 78 10", ABS,
	  KUNWIND_E_TRUNCATED },
	{ "encoding: indirect", "01 7a 52 00 01 78 10 01 80", ABS " 00", KUNWIND_E_ENCODING },
	{ "encoding: omit", "01 7a 52 00 01 78 10 01 ff", ABS " 00", KUNWIND_E_ENCODING },
	{ "encoding: funcrel", "01 7a 52 00 01 78 10 01 40", ABS " 00", KUNWIND_E_ENCODING },
	{ "encoding: format 5", "01 7a 52 00 01 78 10 01 05", ABS " 00", KUNWIND_E_ENCODING },
	{ "encoding: relation 6", "01 7a 52 00 01 78 10 01 60", ABS " 00", KUNWIND_E_ENCODING },
	{ "encoding: aligned with a format", "01 7a 52 00 01 78 10 01 53", ABS " 00",
	  KUNWIND_E_ENCODING },
	{ "FDE ends in its start", "01 00 01 78 10", "00 00 01 00", KUNWIND_E_TRUNCATED },
	{ "FDE ends in its length", "01 00 01 78 10", "00 00 01 00 00 00 00 00 10 00 00 00",
	  KUNWIND_E_TRUNCATED },
	{ "FDE's augmentation data past its end", "01 7a 00 01 78 10 00", ABS " 40",
	  KUNWIND_E_TRUNCATED },
	{ "FDE ends before its augmentation data", "01 7a 00 01 78 10 00", ABS,
	  KUNWIND_E_TRUNCATED },
	{ "FDE around the end of memory", "01 00 01 78 10",
	  "00 f0 ff ff ff ff ff ff 00 20 00 00 00 00 00 00", KUNWIND_E_RANGE },
	{ "FDE of 2^64 - 1 bytes", "01 00 01 78 10",
	  "00 00 01 00 00 00 00 00 ff ff ff ff ff ff ff ff", KUNWIND_E_RANGE },
};

static void test_heads(void)
{
	static struct eh eh;
	unsigned int i, wide;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		for (wide = 0; wide < 2; wide++) {
			const struct head_case *c = &heads[i];
			struct kunwind_table *table = NULL;
			enum kunwind_build_error err;
			size_t cie;

			eh.size = 0;
			cie = eh.size;
			eh_begin(&eh, wide);
			eh_num(&eh, 0, wide ? 8 : 4);
			eh_hex(&eh, c->head);
			if (c->err != KUNWIND_E_TRUNCATED || *c->start)
				eh_hex(&eh, USUAL);
			while (c->err == KUNWIND_E_TRUNCATED && !*c->start && eh.size % 4)
				eh_hex(&eh, "52");	/* no nop that ends the string */
			eh_end(&eh);
			eh_fde(&eh, cie, wide);
			eh_hex(&eh, c->start);
			/* what is to end early must not go on */
			if (c->err == KUNWIND_OK)
				eh_hex(&eh, "0e 10");
			eh_end(&eh);
			err = eh_build(&eh, 0, &table);
			tap_ok(err == c->err &&
			       (err || kunwind_table_lookup(table, TEXT_LO).off == 16),
			       "CIE in the %s-bit format: %s: %s", wide ? "64" : "32", c->name,
			       kunwind_build_error_name(err));
			if (!err)
				kunwind_table_free(table);
		}
	}
}

/* The sign of pointers, and the place of aligned ones. */
static void test_numbers(void)
{
	static const struct {
		u8 encoding;
		bool i386;
		const char *hex;
		u64 want;
	} cases[] = {
		{ 0x01, false, "fe 7f 00 00 00 00 00 00", 0x3ffe },
		{ 0x02, false, "fe ff 00 00 00 00 00 00", 0xfffe },
		{ 0x03, false, "fe ff ff ff 00 00 00 00", 0xfffffffe },
		{ 0x09, false, "fe 7f 00 00 00 00 00 00", -2ULL },
		{ 0x0a, false, "fe ff 00 00 00 00 00 00", -2ULL },
		{ 0x0b, false, "fe ff ff ff 00 00 00 00", -2ULL },
		{ 0x0a, true, "fe ff 00 00 00 00 00 00", 0xfffffffe },
		/* the address of the bytes is four above a multiple of eight */
		{ 0x50, false, "01 00 00 00 02 00 00 00 03 00 00 00", 0x300000002 },
		{ 0x50, true, "01 00 00 00 02 00 00 00", 1 },
	};
	static struct eh eh;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_section section = { .data = eh.data, .addr = EH_ADDR + 4,
						   .i386 = cases[i].i386 };
		struct kunwind_bytes b;
		u64 val = 0;

		eh.size = 0;
		eh_hex(&eh, cases[i].hex);
		b = (struct kunwind_bytes){ .at = eh.data, .end = eh.data + eh.size };
		if (!tap_ok(kunwind_pointer_read(&section, &b, cases[i].encoding, 0, &val) &&
			    val == cases[i].want, "pointer encoding %#x, %s-bit code: %s", cases[i].encoding,
			    cases[i].i386 ? "32" : "64", cases[i].hex))
			printf("# %#llx\n", (unsigned long long)val);
	}
}

int main(void)
{
	test_programs();
	test_signal();
	test_needed();
	test_encodings();
	test_aligned();
	test_dropped();
	test_heads();
	test_numbers();
	return tap_done();
}
