/* SPDX-License-Identifier: MIT */
/*
 * code-flow-test.c - what the rows from code take for evidence, and what not: each case
 * has a row that one wrong step would change
 */
#include "../../kmod/core/table/table.h"
#include "code-rows.h"

/* ------------------------------------------------ where functions begin */

CODE(inside_insn, ".byte 0xb8\n 8: push %rbx\n pop %rbx\n ret\n nop\n .balign 16, 0x90\n call 8b\n ret");
CODE(after_data, ".byte 6\n 8: push %rbx\n pop %rbx\n ret\n .balign 16, 0x90\n call 8b\n ret");
CODE(after_hole, "call 8f\n ret\n .balign 16, 0xcc\n 8: .fill 16, 1, 0xcc\n"
		 "push %rbx\n 1: jmp 1b");
CODE(after_nops, "call 1f\n nop\n push %rbx\n 2: jmp 2b\n .balign 16, 0x90\n 1: hlt");
CODE(int3_nop, ".byte 0xcc\n nop\n .byte 0xcc\n .fill 13, 1, 0x90\n push %rbx\n 1: jmp 1b");

static void test_beginnings(void)
{
	ROWS(inside_insn, "1:rsp+8 2:rsp+16 3:rsp+8 4:- 15:rsp+8",
	     "a call into the second byte of an instruction: the instruction is something else");
	ROWS(after_data, "1:rsp+8 2:rsp+16 3:rsp+8 4:- 15:rsp+8", "after data, a target of a call is code");
	hole_at = hole_size = 16;
	ROWS(after_hole, "5:rsp+8", "a call to the end of a gap is none to the next gap");
	hole_size = 0;
	ROWS(after_nops, "10:rsp+8", "a nop after a call is padding: the call may not return");
	ROWS(int3_nop, "none", "one int3, a nop and one int3 are no padding of two int3");
}

/* ----------------------------------------------------------------- rbp */

CODE(pushes_general,
     "8: mov %rbp, %rax\n mov %rdi, %rbp\n push %rbp\n pop %rcx\n mov %rax, %rbp\n ret\n call 8b");
CODE(pushes_twice, "8: push %rbp\n push %rbp\n pop %rcx\n nop\n pop %rbp\n ret\n call 8b");
CODE(at_return_address, "8: mov %rbp, (%rsp)\n xor %ebp, %ebp\n mov (%rsp), %rbp\n ret\n call 8b");
CODE(needs_one_place, "ret\n push %rbp\n nop\n pop %rcx\n pop %rbp\n ret");
CODE(frame_above, "ret\n lea 16(%rsp), %rbp\n nop\n mov %rbp, %rsp\n ret");
CODE(leave_below, "ret\n push %rax\n leave\n ret");

static void test_rbp(void)
{
	ROWS(pushes_general, "0:rsp+8 6:rsp+8,? 7:rsp+16,? 8:rsp+8,?",
	     "a push of a general rbp does not save the caller's");
	ROWS(pushes_twice, "0:rsp+8 1:rsp+16,-16 2:rsp+24,-16 3:rsp+16,-16 5:rsp+8",
	     "the caller's rbp is saved at its first place");
	ROWS(at_return_address, "0:rsp+8 6:rsp+8,? a:rsp+8",
	     "the place of the return address is none of rbp");
	ROWS(needs_one_place, "0:rsp+8 1:rsp+16,? 2:rsp+24,-16 4:rsp+16,-16 5:rsp+8",
	     "backwards: only a store at the place that is loaded saves rbp");
	ROWS(frame_above, "0:rsp+8 1:rsp+24,? 6:rbp+8,?", "backwards: lea gives rsp from rbp");
	ROWS(leave_below, "0:rsp+8 1:rbp+16,-16 3:rsp+8", "backwards: leave gives the place of rbp");
}

/* ----------------------------------------------------------------- rsp */

CODE(unaligned_rsp, "sub $4, %rsp\n nop\n add $4, %rsp\n ret");
CODE(huge, "sub $0x10000000, %rsp\n nop\n add $0x10000000, %rsp\n ret");
CODE(large, "sub $0xffffff0, %rsp\n nop\n add $0xffffff0, %rsp\n ret");
CODE(pops_own, "call 8f\n hlt\n .balign 16, 0x90\n 8: pop %rcx\n push %rdx\n ret\n nop\n ret");
CODE(puts_arguments_below,
     "8: pop %rcx\n push %rax\n push %rdx\n push %rcx\n push %rbp\n mov %rsp, %rbp\n push %rbx\n"
     "call 1f\n test %eax, %eax\n jne 2f\n mov -8(%rbp), %rbx\n leave\n ret $16\n"
     "2: call 1f\n .balign 16, 0x90\n 1: ret\n call 8b");

static void test_rsp(void)
{
	ROWS(unaligned_rsp, "0:rsp+8 4:- 9:rsp+8", "a distance that is no multiple of 8 gives no row");
	ROWS(huge, "none", "a frame of 256 MB gives no rows");
	ROWS(large, "0:rsp+8 7:rsp+268435448 f:rsp+8", "a frame that is a little smaller does");
	ROWS(puts_arguments_below, "0:rsp+8 1:- e:~rbp+16,-16 17:~rsp+8 1a:~rbp+16,-16 1f:- 20:rsp+8",
	     "arguments that are put below the return address do not count");
	ROWS(pops_own, "10:rsp+8 11:- 14:rsp+8", "after a pop of the return address, a return may be a jump");
}

/* -------------------------------------------------------------- trials */

CODE(other_stack, "ret\n .balign 16, 0x90\n push %rbx\n mov %rax, %rsp\n nop\n"
		  "xor %ebp, %ebp\n pop %rbp\n ret");
CODE(pops_in_between, "ret\n .balign 16, 0x90\n pop %rcx\n push %rcx\n push %rbx\n call 1f\n pop %rbx\n ret\n"
		       ".balign 16, 0x90\n 1: ret");
CODE(jumps_away, "push %rbx\n mov %rsi, %rbx\n pop %rbx\n jmp 8f\n .balign 16, 0xcc\n .fill 16, 1, 0xcc\n"
		 "nop\n mov %rax, %rax\n 8: nop\n 1: jmp 1b");
CODE(jumps_to_function,
     "push %rbx\n mov %rsi, %rbx\n pop %rbx\n jmp 8f\n .balign 16, 0xcc\n .fill 16, 1, 0xcc\n"
			"call 8f\n .balign 16, 0x90\n 8: nop\n 1: jmp 1b");
CODE(jumps_with_rbp, "push %rbx\n mov %rdi, %rbp\n pop %rbx\n jmp 8f\n .balign 16, 0xcc\n .fill 16, 1, 0xcc\n"
		     "call 8f\n .balign 16, 0x90\n 8: nop\n 1: jmp 1b");
CODE(sets_what_it_reads, "call 8f\n ret\n 8: push %rbx\n mov %rdi, %rbx\n jmp *(%rsi,%rax,8)\n"
			 "mov %rdi, %rbx\n mov 8(%rbx), %rax\n jmp *(%rsi,%rax,8)\n pop %rbx\n ret");

static void test_trials(void)
{
	ROWS(other_stack, "0:rsp+8 1:- 14:rsp+16 17:rsp+16,? 18:rsp+8,?",
	     "what follows another rsp does not confirm what leads there");
	ROWS(pops_in_between, "0:rsp+8 1:- 18:rsp+16 19:rsp+8 1a:- 20:rsp+8",
	     "code that takes its return address from the stack is no function");
	hole_at = 16;
	hole_size = 16;
	ROWS(jumps_away, "none", "a jump to what is no function confirms nothing");
	ROWS(jumps_to_function, "0:rsp+8 1:rsp+16 5:rsp+8 7:- 30:rsp+8",
	     "a jump to a function is a tail call");
	ROWS(jumps_with_rbp, "30:rsp+8", "a jump with another rbp is no tail call");
	hole_size = 0;
	ROWS(sets_what_it_reads, "5:rsp+8 7:rsp+16 d:- 17:rsp+16 18:rsp+8",
	     "a register that the code has set does not make it a case");
}

/* ------------------------------------------------------ size and memory */

CODE(far, "push %rbx\n .rept 24000\n mov %rax, %rax\n .endr\n pop %rbx\n"
	  ".rept 100\n mov %rax, %rax\n .endr\n push %rbx\n .rept 50\n mov %rax, %rax\n"
	  ".endr\n pop %rbx\n ret");
CODE(dense, "8: .rept 30000\n push %rbx\n pop %rbx\n .endr\n ret\n call 8b");
CODE(half_dense, "8: push %rbx\n pop %rbx\n ret\n .balign 16, 0x90\n call 8b\n call 9f\n ret\n"
		 ".balign 16, 0x90\n 9: .rept 50000\n push %rbx\n pop %rbx\n .endr\n ret");
CODE(grown, ".rept 20000\n push %rbx\n mov %rax, %rax\n pop %rbx\n .endr\n ret");
CODE(two_functions, "mov %edi, %eax\n call 1f\n ret\n .balign 8, 0x90\n 1: ret");

static void test_size(void)
{
	struct kunwind_table_stats stats;
	enum kunwind_build_error err;
	struct kunwind_table *table;
	u32 at, wrong;
	u8 *data;
	u64 len;

	ROWS(far, "0:rsp+8 1:rsp+16 11942:rsp+8 11a6f:rsp+16 11b06:rsp+8", "rows far from each other");
	ROWS(dense, "none", "rows of more than a byte a byte of code and 64 KB: none");
	ROWS(half_dense, "0:rsp+8 1:rsp+16 2:rsp+8 3:- 1a:rsp+8",
	     "if there is no room for rows, those of the code before it are kept");
	code_is(half_dense, half_dense_end - half_dense);
	err = kunwind_code_rows(&gaps, NULL, 0, NULL, NULL, &data, &len);
	tap_ok(!err && len < 1000, "the bytes of a piece without room are not returned");
	kunwind_free(data);
	free(gaps.code);
	/* 120 KB of rows, for which the first room is doubled */
	table = table_of(grown, grown_end - grown, &err);
	for (at = wrong = 0; table && at < (u32)(grown_end - grown); at++)
		wrong += kunwind_table_lookup(table, AT + at).off != (at % 5 ? 16 : 8);
	tap_ok(table && !wrong, "rows for which more room is made: %u bytes have wrong ones", wrong);
	kunwind_table_free(table);
	table = table_of(two_functions, two_functions_end - two_functions, &err);
	if (!tap_ok(table, "two functions: a table"))
		return;
	kunwind_table_stats(table, &stats);
	tap_ok(stats.nr_fdes == 2, "each function has an FDE, so that large tables can be split");
	kunwind_table_free(table);
}

int main(void)
{
	test_beginnings();
	test_rbp();
	test_rsp();
	test_trials();
	test_size();
	return tap_done();
}
