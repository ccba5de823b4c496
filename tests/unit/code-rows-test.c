/* SPDX-License-Identifier: MIT */
/*
 * code-rows-test.c - rows from code: what the rows are, and where there are none
 *
 * The assembler makes the code. "make check" also compares the rows of whole objects with
 * their CFI (code-compare.c).
 */
#include "../../kmod/core/rows/unwind_info.h"
#include "code-rows.h"

CODE(leaf, "mov %rdi, %rax\n ret");
CODE(pushes, "push %rbx\n sub $16, %rsp\n lea 16(%rsp), %rsp\n pop %rbx\n ret");
CODE(framed, "push %rbp\n mov %rsp, %rbp\n sub $0x1000, %rsp\n leave\n ret");
CODE(general_rbp, "push %rbx\n push %rbp\n mov %rdi, %rbp\n pop %rbp\n pop %rbx\n ret");
CODE(stored_rbp, "sub $24, %rsp\n mov %rbp, 8(%rsp)\n xor %ebp, %ebp\n mov 8(%rsp), %rbp\n"
		 "add $24, %rsp\n ret");
CODE(lost_rbp, "mov %rdi, %rbp\n ret");
CODE(realigned, "push %rbp\n mov %rsp, %rbp\n and $-32, %rsp\n push %rax\n leave\n ret");
CODE(realigned_only, "push %rbx\n and $-32, %rsp\n push %rax\n 1: jmp 1b");
CODE(realigned_entry, ".fill 16, 1, 0xcc\n push %rbx\n and $-32, %rsp\n push %rax\n 1: jmp 1b");
CODE(conditional_tail, "push %rbx\n je 1f\n push %rcx\n 1: pop %rbx\n jne 8f\n ret\n .balign 16, 0xcc\n"
     "push %rsi\n pop %rsi\n ret\n .balign 16, 0xcc\n 8: push %rbx\n pop %rbx\n ret\n .balign 16, 0xcc");
CODE(tail, "sub $8, %rsp\n add $8, %rsp\n jmp 7f\n .nops 9\n 7: push %rbx\n pop %rbx\n ret");
CODE(branches, "test %edi, %edi\n je 1f\n push %rbx\n pop %rbx\n ret\n 1: sub $8, %rsp\n add $8, %rsp\n ret");
CODE(contradiction, "push %rax\n test %edi, %edi\n je 1f\n pop %rax\n 1: ret");
CODE(pushed_target, "push %rax\n ret");
CODE(switched, "8: sub $24, %rsp\n lea 1f(%rip), %rax\n jmp *%rax\n 1: nop\n mov %edi, %eax\n"
	       "add $24, %rsp\n ret\n call 8b\n");
CODE(no_return, "push %rbx\n test %edi, %edi\n je 1f\n pop %rbx\n ret\n 1: call 2f\n"
		"sub $40, %rsp\n add $40, %rsp\n ret\n .balign 16, 0x90\n 2: hlt");
CODE(calls, "push %rbx\n call 1f\n mov %rax, %rbx\n call 1f\n pop %rbx\n ret\n .balign 16, 0x90\n 1: ret");
CODE(removes_arguments, "push %rbp\n mov %rsp, %rbp\n push %rax\n call 1f\n push %rax\n pop %rax\n"
			"leave\n ret\n .balign 16, 0xcc\n 1: ret $8");
CODE(variable, "pop %rcx\n sar $29, %rax\n lea (%rsp,%rax,8), %rsp\n push %rcx\n ret\n"
	       ".balign 16, 0xcc\n push %rbx\n 1: jmp 1b");
CODE(changes_popped, "pop %rcx\n add $8, %rcx\n push %rcx\n ret");
CODE(passes_arguments, "push %rbp\n mov %rsp, %rbp\n 1: push (%rsi,%rdi,8)\n dec %rdi\n jg 1b\n"
		       "sub %rax, %rsp\n call *%rax\n mov %rbp, %rsp\n pop %rbp\n pop %r10\n"
		       "lea (%rsp,%rdx,8), %rsp\n push %r10\n ret");
CODE(moves_return, "8: push %rbp\n mov %rsp, %rbp\n sub $32, %rsp\n push (%rbp)\n pop %rbp\n"
		   "add $16, %rsp\n jmp 9f\n .balign 16, 0xcc\n 9: push %rbx\n pop %rbx\n ret\n"
		   "call 8b\n call 9b");
CODE(padded_loop, "8: push %rbp\n mov %rsp, %rbp\n sub $16, %rsp\n jmp 1f\n .balign 16, 0xcc\n"
		  "1: dec %edi\n jne 1b\n leave\n ret\n call 8b");
CODE(jumped_only, "8: push %rbx\n pop %rbx\n ret\n .balign 16, 0xcc\n 9: sub $8, %rsp\n 1: jmp 1b\n"
		  ".balign 16, 0xcc\n sub $24, %rsp\n jmp 9b\n call 8b");
CODE(drops_return, "8: add $8, %rsp\n push %rbp\n mov %rsp, %rbp\n push %rdi\n call *%rax\n pop %rdi\n"
		   "mov %rbp, %rsp\n pop %rbp\n push %rax\n ret\n call 8b");
CODE(replaces_return, "pop %rax\n pop %rbx\n mov %rbx, (%rsp)\n ret");
CODE(joins_lost, "8: test %edi, %edi\n je 1f\n push %rbp\n mov %rsp, %rbp\n call *%rax\n"
		 "mov %rbp, %rsp\n pop %rbp\n 1: push %rax\n xor %eax, %eax\n ret\n call 8b");
CODE(between_pads, ".fill 16, 1, 0xcc\n push %rbx\n 1: jmp 1b\n"
		   ".balign 16, 0xcc\n push %rbx\n push %rbx\n 1: jmp 1b");
CODE(dispatch, "call 8f\n ret\n 8: push %rbx\n mov %rdi, %rbx\n jmp *(%rsi,%rax,8)\n"
	       "mov 8(%rbx), %rax\n jmp *(%rsi,%rax,8)\n mov %rbx, %rax\n pop %rbx\n ret");
CODE(pointer_only, "call 8f\n ret\n .balign 16, 0x90\n 8: push %rbx\n mov %rdi, %rbx\n jmp *(%rsi,%rax,8)\n"
		   ".balign 16, 0x90\n mov (%rdi), %rax\n jmp *(%rsi,%rax,8)");
CODE(data, "8: push %rbx\n pop %rbx\n ret\n .quad 0x0606060606060606, 0x0606060606060606\n .balign 16, 0x90\n"
	   "push %rbx\n push %rbx\n pop %rbx\n pop %rbx\n ret\n call 8b");
CODE(middle, "jmp 1f + 1\n .balign 16, 0x90\n 1: mov $0x12345678, %eax\n ret");
CODE(loop_pushes, "1: push %rax\n dec %edi\n jne 1b\n 2: jmp 2b\n call 1b");
CODE(jump_of_another,
     "push %rbx\n push %rbp\n jmp *(%rdi)\n .balign 16, 0x90\n push %rbx\n 1: push %rcx\n dec %ecx\n"
     "jne 1b\n mov (%rdi), %rbx\n jmp *(%rbx)\n mov (%rbx), %rax\n jmp *(%rax)\n call jump_of_another");
CODE(returns_16, "push %rbx\n pop %rbx\n ret $16");
CODE(high_byte, "push %rbx\n mov $1, %ah\n add %bh, %ah\n sete %ch\n pop %rbx\n ret");
CODE(vectors, "push %rbp\n mov %rsp, %rbp\n addps %xmm4, %xmm5\n"
	      "vaddps %ymm5, %ymm4, %ymm5\n bt %rbp, %rax\n"
	      "cmp %rbp, %rsp\n test %rbp, %rbp\n leave\n ret");
CODE(jumps_back, "push %rbx\n 1: pop %rbx\n ret\n mov %edi, %eax\n jmp 1b");
CODE(other_slot, "push %rbp\n sub $16, %rsp\n mov %rdi, %rbp\n mov (%rsp), %rbp\n"
		 "add $16, %rsp\n pop %rbp\n ret");
CODE(unaligned_pad, ".fill 18, 1, 0xcc\n push %rbx\n 1: jmp 1b");
CODE(get_rip, "call 1f\n 1: pop %rax\n ret");
CODE(swaps, "push %rbx\n xchg %rsp, %rax\n push %rax\n pop %rsp\n pop %rbx\n ret");

static void test_rows(void)
{
	ROWS(leaf, "0:rsp+8", "a leaf");
	ROWS(pushes, "0:rsp+8 1:rsp+16 5:rsp+32 a:rsp+16 b:rsp+8", "push, sub, lea and pop");
	ROWS(framed, "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 c:rsp+8", "a frame pointer");
	ROWS(general_rbp,
	     "0:rsp+8 1:rsp+16 2:rsp+24,-24 6:rsp+16 7:rsp+8",
	     "rbp is saved, and then a general register");
	ROWS(stored_rbp,
	     "0:rsp+8 4:rsp+32 9:rsp+32,-24 10:rsp+32 14:rsp+8",
	     "rbp is stored without a push");
	ROWS(lost_rbp, "0:rsp+8,?", "rbp is written, but not saved");
	ROWS(realigned,
	     "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 a:rsp+8",
	     "rsp is aligned: the frame pointer counts");
	ROWS(realigned_only, "none", "rsp is aligned, and there is no frame pointer");
	ROWS(realigned_entry, "10:rsp+8 11:rsp+16", "the same in a function that is known to begin there");
	ROWS(conditional_tail, "10:rsp+8 11:rsp+16 12:rsp+8 13:- 20:rsp+8 21:rsp+16 22:rsp+8",
	     "a conditional tail call does not take contradictions along");
	ROWS(tail, "0:rsp+8 4:rsp+16 8:rsp+8 a:- 13:rsp+8 14:rsp+16 15:rsp+8", "a tail call");
	ROWS(branches, "0:rsp+8 5:rsp+16 6:rsp+8 b:rsp+16 f:rsp+8", "two ways out");
	ROWS(contradiction, "none", "two ways disagree about rsp: no rows");
	ROWS(pushed_target, "none", "a return to a pushed address: no rows");
	ROWS(switched, "0:rsp+8 4:rsp+32 d:- e:rsp+32 14:rsp+8", "an indirect jump within a function");
	ROWS(no_return,
	     "0:rsp+8 1:rsp+16 6:rsp+8 7:rsp+16 c:rsp+8 10:rsp+48 14:rsp+8 15:- 20:rsp+8",
	     "a call that does not return, before other code");
	ROWS(calls, "0:rsp+8 1:rsp+16 f:rsp+8", "calls that return");
	ROWS(removes_arguments,
	     "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 d:rsp+8 e:- 10:rsp+8",
	     "the called function removes its arguments");
	ROWS(variable,
	     "0:~rsp+8 1:- a:~rsp+8 b:- 10:rsp+8 11:rsp+16",
	     "a return that removes a number of arguments");
	ROWS(changes_popped, "none", "a return address that is changed before it is pushed again");
	ROWS(passes_arguments,
	     "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 15:rsp+8 17:- 1d:~rsp+8",
	     "a loop pushes arguments in a frame by rbp");
	ROWS(moves_return,
	     "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 c:rsp+48,-16 10:rsp+32,-16 12:- 20:rsp+8 21:rsp+16 22:rsp+8",
	     "a tail call with another distance of rsp");
	ROWS(padded_loop,
	     "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 a:- 10:rbp+16,-16 15:rsp+8",
	     "int3 before a loop of the same function");
	ROWS(jumped_only,
	     "0:rsp+8 1:rsp+16 2:rsp+8 3:- 10:rsp+8 14:rsp+16 16:- 20:rsp+8 24:rsp+32",
	     "a function to which only other functions jump");
	ROWS(drops_return,
	     "0:rsp+8 5:rsp+16,-16 8:rbp+16,-16 10:rsp+8",
	     "a function that returns to its caller's caller, or jumps from there");
	ROWS(replaces_return, "none", "a return to an address that was written to the stack");
	ROWS(joins_lost, "none", "rbp restores an rsp that is contradictory: no rows");
	ROWS(between_pads,
	     "10:rsp+8 11:rsp+16 13:- 20:rsp+8 21:rsp+16 22:rsp+24",
	     "functions that never return, between int3");
	ROWS(dispatch, "5:rsp+8 7:rsp+16 18:rsp+8", "an interpreter: each case jumps to the next");
	ROWS(pointer_only,
	     "5:rsp+8 6:- 10:rsp+8 11:rsp+16",
	     "a function that is called by pointer only is no case");
	ROWS(data,
	     "0:rsp+8 1:rsp+16 2:rsp+8 3:- 20:rsp+8 21:rsp+16 22:rsp+24 23:rsp+16 24:rsp+8",
	     "data between functions");
	ROWS(middle, "none", "a jump into an instruction: one of the two is no code");
	ROWS(loop_pushes, "none", "a loop that pushes");
	ROWS(jump_of_another, "0:rsp+8 1:rsp+16 2:rsp+24,-24",
	     "what follows a function's beginning is no case of a jump before it");
	ROWS(returns_16, "0:~rsp+8 1:~rsp+16 2:~rsp+8", "a return with a number");
	ROWS(high_byte,
	     "0:rsp+8,? 1:rsp+16,? 9:rsp+8,?",
	     "a write of ah is none of rsp; one of ch may be one of rbp");
	ROWS(vectors,
	     "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 16:rsp+8",
	     "vector registers have other numbers");
	ROWS(jumps_back, "0:rsp+8 1:rsp+16 2:rsp+8 3:rsp+16", "code from which only a jump leads back");
	ROWS(other_slot, "0:rsp+8 1:rsp+16,-16 5:rsp+32,-16 10:rsp+16,-16 11:rsp+8",
	     "rbp is loaded from another place than where it was saved");
	ROWS(unaligned_pad, "none", "int3 before an address that is no multiple of 16");
	ROWS(get_rip, "0:rsp+8 5:rsp+16 6:rsp+8", "a call to the next instruction is a push");
	ROWS(swaps, "5:rsp+16 6:rsp+8", "rsp from another register");
}

#define FUNCTION 51 /* bytes */
#define NR_FUNCTIONS 12000
#define CALL_AT (FUNCTION - 8)

/*
 * Code that is larger than what is analyzed at once: each function calls the next one. 17
 * instructions, so that no number of them ends at a power of two.
 */
static void test_pieces(void)
{
	static u8 code[NR_FUNCTIONS * FUNCTION];
	const u32 next = FUNCTION - CALL_AT - 5;
	u32 i, j, bad = 0;
	enum kunwind_build_error err;
	struct kunwind_table *table;

	for (i = 0; i < NR_FUNCTIONS; i++) {
		u8 *at = code + i * FUNCTION;

		*at = 0x53; /* push %rbx */
		for (j = 1; j < CALL_AT; j += 3)
			memcpy(at + j, "\x48\x89\xc0", 3); /* mov %rax, %rax */
		at[CALL_AT] = 0xe8;
		memcpy(at + CALL_AT + 1, &next, sizeof(next));
		memcpy(at + CALL_AT + 5, "\xeb\xfe\x90", 3); /* jmp to itself */
	}
	table = table_of(code, sizeof(code), &err);
	if (!table)
		return (void)tap_ok(false, "more code than one piece: a table");
	for (i = 1; i < NR_FUNCTIONS; i++)
		for (j = 0; j <= CALL_AT; j++)
			bad += kunwind_table_lookup(table, AT + i * FUNCTION + j).off != (j ? 16 : 8) &&
			       (!j || j % 3 == 1);
	tap_ok(!bad, "more code than one piece: each function has its rows (%u not)", bad);
	kunwind_table_free(table);
}

static bool stop(void *data)
{
	++*(u32 *)data;
	return true;
}

static void test_abort(void)
{
	u32 calls = 0;
	u8 *data;
	u64 len;

	code_is(leaf, leaf_end - leaf);
	tap_ok(kunwind_code_rows(&gaps, NULL, 0, stop, &calls, &data, &len) == KUNWIND_E_ABORTED &&
	       !data && !len && calls, "abort() stops the analysis, and nothing is returned");
	tap_ok(!kunwind_code_rows(&gaps, (const u8 *)"12345678", 8, NULL, NULL, &data, &len) && len > 8 &&
	       !memcmp(data, "12345678", 8), "the rows follow the bytes of .debug_frame");
	kunwind_free(data);
	free(gaps.code);
}

#define LO 0x1000ULL
#define NR_FDES 4096

/* The gaps of code at LO, 1 MB. Each of @nr FDEs covers @len bytes, @step after the last one. */
static enum kunwind_build_error gaps_of(struct kunwind_elf *elf, u64 len, u64 step, u32 nr)
{
	static u8 data[NR_FDES * 24 + 32];
	struct kunwind_cfi_writer w = { .out = data, .room = sizeof(data) };
	const struct kunwind_written_row row = { .how = KUNWIND_WRITTEN_CFA, .reg = KUNWIND_RSP,
						 .off = 8 };
	const struct kunwind_written_row none = { .how = KUNWIND_WRITTEN_NONE };
	struct kunwind_section section = { .debug = true, .min_fdes = ~0U, .lo = LO, .hi = ~0ULL };
	u32 i;

	w.cie = kunwind_cfi_write_cie(&w, "");
	for (i = 0; i < nr; i++) {
		kunwind_cfi_write_row(&w, LO + i * step, row);
		kunwind_cfi_write_row(&w, LO + i * step + len, none);
	}
	section.data = data;
	section.size = elf->debug_size = w.size;
	memset(&gaps, 0, sizeof(gaps));
	return kunwind_code_gaps_find(elf, &section, NULL, NULL, &gaps);
}

static void test_gaps(void)
{
	struct kunwind_elf elf = {
		.code_lo = LO, .code_hi = LO + (1 << 20), .nr_loads = 1,
		.load[0] = { .vaddr = LO, .offset = 0x200, .filesz = 1 << 20, .flags = 1 },
	};
	u32 i, calls = 0;

	tap_ok(!gaps_of(&elf, 64, 128, 3) && gaps.nr == 3 && gaps.gap[0].start == LO + 64 &&
	       gaps.gap[0].end == LO + 128 && gaps.gap[1].place == 0x200 + 128 + 64 &&
	       gaps.gap[1].before == 64 && gaps.gap[2].end == elf.code_hi &&
	       gaps.bytes == (1 << 20) - 3 * 64, "gaps: between FDEs, and after the last one");
	tap_ok(!gaps_of(&elf, 96, 128, 2) && gaps.nr == 2 && !gaps_of(&elf, 97, 128, 2) && gaps.nr == 1,
	       "gaps: at least 32 bytes that no FDE touches");
	tap_ok(!gaps_of(&elf, 1 << 19, 0, NR_FDES) && !gaps.nr && !gaps.bytes,
	       "gaps: FDEs that cover the same half again and again end the work");
	tap_ok(!gaps_of(&elf, 128, 256, NR_FDES) && gaps.nr == NR_FDES, "gaps: many FDEs");
	elf.nr_loads = 2;
	elf.load[1] = elf.load[0];
	tap_ok(!gaps_of(&elf, 64, 128, 3) && gaps.nr == 3 && gaps.bytes == (1 << 20) - 3 * 64,
	       "gaps: code that two segments have counts once");
	elf.nr_loads = 1;
	elf.code_hi = LO + (40 << 20);
	elf.load[0].filesz = 40 << 20;
	tap_ok(!gaps_of(&elf, 64, 4 << 20, 3) && gaps.nr == 3 && gaps.bytes == 16 << 20 &&
	       gaps.gap[2].end - gaps.gap[2].start == (8 << 20) + 2 * 64,
	       "gaps: of the last one, what 16 MB have room for");
	elf.code_hi = LO + (1 << 20);
	elf.load[0].filesz = 4096 + 8;
	tap_ok(!gaps_of(&elf, 64, 128, 1) && gaps.nr == 1 && gaps.gap[0].end == LO + 4096 + 8,
	       "gaps: a gap ends with the segment's part of the file");
	elf.load[0].flags = 4;
	tap_ok(!gaps_of(&elf, 64, 128, 1) && !gaps.nr, "gaps: only executable segments");
	elf.load[0] = (struct kunwind_elf_load){ .vaddr = -4096ULL, .filesz = 0xfff, .flags = 1 };
	for (i = 0; i < 16; i++) {
		elf.code_lo = -4096ULL + i;
		elf.code_hi = -1ULL - i;
		calls += gaps_of(&elf, 64, 128, 1) || gaps.nr;
	}
	tap_ok(!calls, "gaps: code at the end of all addresses has none");
	elf.code_lo = elf.load[0].vaddr = LO;
	elf.code_hi = LO + (1 << 20);
	memset(&gaps, 0, sizeof(gaps));
	tap_ok(kunwind_code_gaps_find(&elf, &(struct kunwind_section){ .debug = true }, stop, &calls,
				      &gaps) == KUNWIND_E_ABORTED && calls == 1,
	       "gaps: abort() ends the search");
}

int main(void)
{
	test_rows();
	test_pieces();
	test_abort();
	test_gaps();
	return tap_done();
}
