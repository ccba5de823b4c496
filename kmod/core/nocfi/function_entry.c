// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * function_entry.c - find the entry of the function at an address
 *
 * For code without unwind information (step.c), if the code ahead never returns
 * or is too long, and the function was called through a pointer (goroutines,
 * callbacks of Go, main()). If the entry is known, the code from there on says
 * where the return address is (code_analysis.c).
 *
 * The code at the program's entry point passes the address of main() to libc in
 * rdi: lea n(%rip), %rdi, or mov $n, %rdi or %edi, before its first call or
 * unconditional jump. musl's code there first calls a C function, which passes
 * the address in the same way. Therefore one direct call or jump is followed.
 *
 * For other functions, two marks at a multiple of 16 bytes show an entry:
 *   - Nine bytes of int3 or more before it. Linkers (Go's, lld) fill the
 *     space between functions with int3. No instruction is that long and ends
 *     with so many bytes cc, and no execution comes from there. Less padding
 *     may be the end of an instruction.
 *   - Go's comparison of rsp with the end of the goroutine's stack, cmp
 *     0x10(%r14), %rsp. It is the first instruction of most functions of Go
 *     (1.17 or newer), and no other instruction.
 * A breakpoint may have replaced the first byte at the entry.
 *
 * Bounds: MOST_CHUNKS * CHUNK words. Each chunk costs two units of the budget.
 * The search for main() decodes at most MOST_START_INSNS instructions.
 *
 * What it does not do: find the entry of each function. The nearest entry that
 * is found may be of a function before the one at the address. Then
 * code_analysis.c finds the end of that function, and knows nothing after it.
 */
#include "../walk/mem.h"
#include "../x86/insn_effect.h"
#include "function_entry.h"

#define CHUNK		KUNWIND_CHUNK	/* words */
#define MOST_CHUNKS	256		/* 16 KiB of code */
#define ALIGNMENT	16		/* bytes */
#define PADDING		0xccccccccccccccccULL
#define MOST_START_INSNS 32
#define STACK_CHECK	0x10663bU	/* cmp 0x10(%r14), %rsp, without its first byte, 49 */

/* @words: two before the place, and the first one there. */
static bool kunwind_walk_attr is_entry(const u64 *words)
{
	const u8 first = words[2], second = words[2] >> 8;

	if ((first == 0x49 || first == 0xcc) && (u32)words[2] >> 8 == STACK_CHECK)
		return true;
	return words[1] == PADDING && words[0] >> 56 == 0xcc && second != 0xcc;
}

bool kunwind_walk_attr kunwind_code_entry(struct kunwind_mem *mem, u64 lo, u64 at, u64 *entry)
{
	u64 words[CHUNK + 1], top = at & ~(u64)(ALIGNMENT - 1);
	u32 chunks, i;

	if (!kunwind_read_word(mem, top, &words[CHUNK]))
		return false;
	for (chunks = 0; chunks < MOST_CHUNKS && top >= lo + 8 * CHUNK; chunks++) {
		if (!kunwind_pay(mem, CHUNK / 4) ||
		    kunwind_read_words(mem, top - 8 * CHUNK, words, CHUNK) < CHUNK)
			return false;
		for (i = CHUNK; i >= ALIGNMENT / 8; i -= ALIGNMENT / 8)
			if (is_entry(&words[i - 2])) {
				*entry = top - 8 * (CHUNK - i);
				return true;
			}
		words[CHUNK] = words[0];
		top -= 8 * CHUNK;
	}
	return false;
}

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
