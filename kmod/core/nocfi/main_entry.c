// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * main_entry.c - find the entry of the program's main()
 *
 * For code without unwind information (step.c). libc calls main() through a pointer, and main()
 * may never return. The code at the program's entry point passes the address of main() to libc
 * in rdi: lea n(%rip), %rdi, or mov $n, %rdi or %edi, before its first call or unconditional
 * jump. musl's code there first calls a C function, which passes the address in the same way.
 * Therefore one direct call or jump is followed.
 *
 * Bounds: MOST_START_INSNS instructions.
 */
#include "../x86/insn_effect.h"
#include "main_entry.h"

#define MOST_START_INSNS 32

/* Whether the instruction, which ends at @end, puts an address into rdi. */
static bool kunwind_walk_attr sets_rdi(const struct kunwind_insn *insn, u64 end, u64 *address)
{
	if (insn->map || insn->reg_high || insn->rm_high)
		return false;
	if (insn->op == 0x8d && insn->wide && insn->modrm == 0x3d)	/* lea n(%rip), %rdi */
		*address = end + (s64)insn->disp;
	else if (insn->op == 0xc7 && insn->modrm == 0xc7)		/* mov $n, %rdi */
		*address = insn->wide ? (u64)(s64)insn->imm : (u32)insn->imm;
	else if (insn->op == 0xbf && !insn->wide)			/* mov $n, %edi */
		*address = (u32)insn->imm;
	else
		return false;
	return true;
}

bool kunwind_walk_attr kunwind_code_main(struct kunwind_mem *mem, u64 start, u64 *entry)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_START_INSNS };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	bool set = false, followed = false;
	u64 at = start;

	while (at && kunwind_insn_next_effect(&text, at, &insn, &e)) {
		at += insn.length;
		set |= sets_rdi(&insn, at, entry);
		if (e.flow == KUNWIND_FLOW_NEXT || e.flow == KUNWIND_FLOW_BRANCH)
			continue;
		if (set || followed || !(e.direct || e.flow == KUNWIND_FLOW_JUMP))
			return set;
		followed = true;
		at += e.distance;
		text.read = text.used = 0;
	}
	return false;
}
