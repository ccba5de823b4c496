/* SPDX-License-Identifier: MIT */
/*
 * code-aligned-test.c - rows where code aligns rsp and keeps the old one in a register or in
 * memory (rows/code_aligned.c)
 */
#include "../../kmod/core/table/table.h"
#include "../../kmod/core/rows/code_aligned.h"
#include "code-rows.h"

#define ALIGN "mov %rsp, %rax\n and $-32, %rsp\n"
#define TWO "8: push %rbp\n push %r13\n"
/* A call of the function, and then another function. */
#define END "call 8b\n .balign 16, 0xcc\n .fill 16, 1, 0xcc\n ret"

/* ------------------------------------------------------------ in a word */

/* libjpeg-turbo, libvpx, dav1d, gcc, OpenSSL */
CODE(kept, "8: push %rbp\n mov %rsp, %rax\n sub $4, %rsp\n and $-32, %rsp\n mov %rax, (%rsp)\n"
	   "mov %rsp, %rbp\n lea -64(%rbp), %rsp\n push %r10\n mulps (%rsp), %xmm0\n pop %r10\n"
	   "mov %rbp, %rsp\n pop %rsp\n pop %rbp\n ret\n" END);
CODE(by_pointer, "push %rbp\n mov %rsp, %rax\n sub $4, %rsp\n and $-32, %rsp\n mov %rax, (%rsp)\n"
		 "mov %rsp, %rbp\n lea -64(%rbp), %rsp\n mov %rbp, %rsp\n pop %rsp\n pop %rbp\n ret");
CODE(pushed, "8: " ALIGN "lea -8(%rsp), %rsp\n push %rax\n sub $64, %rsp\n add $64, %rsp\n pop %rsp\n"
	     "ret\n" END);
CODE(inside, "8: push %r13\n mov %rsp, %r13\n and $-64, %rsp\n sub $0x100, %rsp\n mov %r13, 0xc0(%rsp)\n"
	     "mov (%rdi), %r13\n call 1f\n mov 0xc0(%rsp), %rsp\n pop %r13\n ret\n"
	     ".balign 16, 0x90\n 1: ret\n" END);
CODE(above, "8: mov %rsp, %rax\n push %rbx\n sub $48, %rsp\n and $-64, %rsp\n mov %rax, 16(%rsp)\n"
	    "xor %eax, %eax\n mov 16(%rsp), %rsi\n mov -8(%rsi), %rbx\n lea (%rsi), %rsp\n ret\n" END);
CODE(drap, "8: lea 8(%rsp), %r10\n and $-32, %rsp\n push -8(%r10)\n push %rbp\n"
	     "mov %rsp, %rbp\n push %r10\n"
	   "sub $64, %rsp\n nop\n add $64, %rsp\n pop %r10\n pop %rbp\n lea -8(%r10), %rsp\n ret\n" END);
CODE(drap_by_rbp, "8: lea 8(%rsp), %r10\n and $-32, %rsp\n push -8(%r10)\n push %rbp\n mov %rsp, %rbp\n"
		  "push %r10\n sub %rcx, %rsp\n nop\n mov -8(%rbp), %r10\n leave\n lea -8(%r10), %rsp\n"
		  "ret\n" END);
CODE(moved_rsp, "8: push %rbp\n " ALIGN "mov %rax, (%rsp)\n mov %rsp, %rbp\n sub %rcx, %rsp\n"
	     "mov %rbp, %rsp\n"
		"pop %rsp\n pop %rbp\n ret\n" END);
CODE(two_ends, "8: " ALIGN "push %rax\n test %edi, %edi\n je 2f\n pop %rsp\n ret\n"
	     "2: inc %eax\n pop %rsp\n ret\n" END);
CODE(far, "8: sub $0x7f0, %rsp\n" ALIGN "push %rax\n nop\n pop %rsp\n add $0x7f0, %rsp\n ret\n" END);
CODE(too_far, "8: sub $0x7f8, %rsp\n" ALIGN "push %rax\n nop\n pop %rsp\n add $0x7f8, %rsp\n ret\n" END);
CODE(odd, "8: sub $12, %rsp\n" ALIGN "push %rax\n nop\n pop %rsp\n add $12, %rsp\n ret\n" END);

/* A sum of distances, at the limits of what is kept. */
static void test_sums(void)
{
	static const struct { s32 base; s64 change; s32 sum; } sums[] = {
		{ 8, 16, 24 }, { 0, -8, -8 }, { UNKNOWN, 8, UNKNOWN }, { LOST, 8, LOST }, { SAME, 8, SAME },
		{ VARIES, 8, VARIES },
		{ 0, KUNWIND_FLOW_MOST - 1, KUNWIND_FLOW_MOST - 1 }, { 0, KUNWIND_FLOW_MOST, LOST },
		{ 8, KUNWIND_FLOW_MOST - 8, LOST }, { 8, KUNWIND_FLOW_MOST - 9, KUNWIND_FLOW_MOST - 1 },
		{ 0, 1 - KUNWIND_FLOW_MOST, 1 - KUNWIND_FLOW_MOST }, { 0, -KUNWIND_FLOW_MOST, LOST },
		{ 0, 1LL << 40, LOST }, { 0, -(1LL << 40), LOST },
		{ ALIGNED, 8, ALIGNED + 8 }, { ALIGNED + 8, -16, ALIGNED - 8 },
		{ ALIGNED + 8, KUNWIND_FLOW_MOST - 9, ALIGNED + KUNWIND_FLOW_MOST - 1 },
		{ ALIGNED + 8, KUNWIND_FLOW_MOST - 8, LOST },
		{ ALIGNED, 1 - KUNWIND_FLOW_MOST, ALIGNED + 1 - KUNWIND_FLOW_MOST },
		{ ALIGNED, -KUNWIND_FLOW_MOST, LOST },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sums); i++)
		tap_ok(moved(sums[i].base, sums[i].change) == sums[i].sum, "sum of the distances %d and %lld",
		       sums[i].base, (long long)sums[i].change);
}

static void test_words(void)
{
	ROWS(kept,
	     "0:rsp+8 1:rsp+16,-16 8:rax+16,-16 10:*rsp+0+16,-16 13:*rbp+0+16,-16 23:rsp+16,-16 "
	     "24:rsp+8 25:- 40:rsp+8",
	     "libjpeg-turbo's form: the old rsp in a word");
	ROWS(by_pointer,
	     "0:rsp+8 1:rsp+16,-16 8:rax+16,-16 10:*rsp+0+16,-16 13:*rbp+0+16,-16 1b:rsp+16,-16 "
	     "1c:rsp+8",
	     "the same in a function that is called by pointer only");
	ROWS(pushed,
	     "0:rsp+8 7:rax+8 d:*rsp+0+8 11:*rsp+64+8 15:*rsp+0+8 16:rsp+8 17:- 30:rsp+8",
	     "libvpx's form: the old rsp is pushed");
	ROWS(inside,
	     "0:rsp+8 2:rsp+16 9:r13+16 18:*rsp+192+16 28:rsp+16 2a:rsp+8 2b:- 30:rsp+8 31:- 50:rsp+8",
	     "dav1d's form: an old rsp in the middle of the frame, across a call");
	ROWS(above,
	     "0:rsp+8 4:rsp+16 8:rsp+64 c:rax+8 11:*rsp+16+8 18:- 1f:rsp+8 20:- 40:rsp+8",
	     "OpenSSL's form");
	ROWS(drap,
	     "0:rsp+8 9:r10+0 11:r10+0,? 13:*rbp-8+0,? 1e:- 23:rsp+8 24:- 40:rsp+8",
	     "gcc's form: the CFA itself in a word, which pop loads");
	ROWS(drap_by_rbp,
	     "0:rsp+8 9:r10+0 11:r10+0,? 13:*rbp-8+0,? 1b:- 20:rsp+8 21:- 40:rsp+8",
	     "the same with a distance of rsp that is not known: the word is found by rbp");
	ROWS(moved_rsp,
	     "0:rsp+8 1:rsp+16,-16 8:rax+16,-16 c:*rsp+0+16,-16 f:*rbp+0+16,-16 16:rsp+16,-16 "
	     "17:rsp+8 18:- 30:rsp+8",
	     "the same with the old rsp");
	ROWS(two_ends,
	     "0:rsp+8 7:rax+8 8:*rsp+0+8 d:rsp+8 e:*rsp+0+8 11:rsp+8 12:- 30:rsp+8",
	     "two ends that load the word");
	ROWS(far,
	     "0:rsp+8 7:rsp+2040 e:rax+2040 f:*rsp+0+2040 11:rsp+2040 18:rsp+8 19:- 30:rsp+8",
	     "an old rsp at the farthest place from the CFA for a rule");
	ROWS(too_far,
	     "0:rsp+8 7:rsp+2048 e:- 11:rsp+2048 18:rsp+8 19:- 30:rsp+8",
	     "an old rsp that is too far has no rows");
	ROWS(odd,
	     "0:rsp+8 4:- 12:rsp+8 13:- 30:rsp+8",
	     "an old rsp at no multiple of 8 has no rows");
}

/* What the code does not load, it may have overwritten. */
CODE(not_loaded, "8: " ALIGN "push %rax\n nop\n 1: jmp 1b\n" END);
CODE(loads_other, "8: push %rbp\n " ALIGN "push %rax\n push %rcx\n xor %eax, %eax\n"
	     "mov (%rsp), %rsp\n pop %rbp\n ret\n" END);
CODE(wrong_end, "8: push %rbp\n " ALIGN "push %rax\n nop\n pop %rsp\n ret\n" END);
CODE(wrong_end_by_pointer, "push %rbp\n " ALIGN "push %rax\n nop\n pop %rsp\n ret");
CODE(one_end, "8: " ALIGN "push %rax\n test %edi, %edi\n je 2f\n pop %rsp\n ret\n"
	     "2: movq $0, (%rsp)\n jmp 2b\n" END);
CODE(half, "8: " ALIGN "sub $16, %rsp\n mov %eax, (%rsp)\n xor %eax, %eax\n mov (%rsp), %rsp\n ret\n" END);
CODE(other, "8: " ALIGN "sub $16, %rsp\n mov %rcx, (%rsp)\n xor %eax, %eax\n mov (%rsp), %rsp\n ret\n" END);
CODE(segment, "8: " ALIGN "mov %rax, %fs:(%rsp)\n xor %eax, %eax\n mov (%rsp), %rsp\n ret\n" END);
CODE(aligned_twice, "8: " ALIGN "push %rax\n xor %eax, %eax\n and $-64, %rsp\n push %rcx\n"
	     "nop\n pop %rsp\n ret\n" END);
CODE(rbp_twice, "8: push %rbp\n " ALIGN "push %rax\n mov %rsp, %rbp\n pop %rsp\n" ALIGN "sub $16, %rsp\n"
		"mov %rax, (%rsp)\n nop\n mov (%rsp), %rsp\n pop %rbp\n ret\n" END);
CODE(slot_twice, "8: mov %rsp, %r9\n and $-32, %rsp\n push %rbp\n xor %ebp, %ebp\n"
	     "and $-64, %rsp\n sub $8, %rsp\n"
		 "pop %rbp\n mov %r9, %rsp\n nop\n ret\n" END);
CODE(other_way, "8: " ALIGN "3: push %rax\n nop\n pop %rsp\n ret\n push %rbx\n" ALIGN "jmp 3b\n" END);
CODE(no_copy, "8: and $-32, %rsp\n 3: inc %eax\n mov %r10, %rsp\n ret\n push %rbx\n"
	     "and $-32, %rsp\n jmp 3b\n" END);
CODE(two_copies, "8: test %edi, %edi\n je 2f\n push %rbx\n" ALIGN "jmp 3f\n 2:" ALIGN
		 "3: push %rax\n nop\n pop %rsp\n ret\n" END);
CODE(one_aligned, "8: test %edi, %edi\n je 2f\n" ALIGN "2: push %rax\n nop\n pop %rsp\n ret\n" END);

static void test_doubts(void)
{
	ROWS(not_loaded,
	     "0:rsp+8 7:rax+8 8:- 20:rsp+8",
	     "no instruction loads the word");
	ROWS(loads_other,
	     "0:rsp+8 1:rsp+16,-16 8:rax+16,-16 9:- 10:rsp+16,-16 11:rsp+8 12:- 30:rsp+8",
	     "rsp is loaded from another word");
	ROWS(wrong_end,
	     "0:rsp+8 1:rsp+16,-16 8:- 30:rsp+8",
	     "the return address is not where the old rsp is: no row by the old rsp");
	ROWS(wrong_end_by_pointer,
	     "b:rsp+8",
	     "the same where nothing calls the function: only its end");
	ROWS(one_end,
	     "0:rsp+8 7:rax+8 8:*rsp+0+8 d:rsp+8 e:- 30:rsp+8",
	     "only one of two ends loads the word");
	ROWS(half,
	     "0:rsp+8 7:rax+8 10:- 14:rsp+8 15:- 30:rsp+8",
	     "half of the copy is stored");
	ROWS(other,
	     "0:rsp+8 7:rax+8 11:- 15:rsp+8 16:- 30:rsp+8",
	     "another register is stored");
	ROWS(segment,
	     "0:rsp+8 7:rax+8 e:- 12:rsp+8 13:- 30:rsp+8",
	     "the copy is stored in another segment");
	ROWS(aligned_twice,
	     "0:rsp+8 7:rax+8 8:- 11:rsp+8 12:- 30:rsp+8",
	     "rsp is aligned again");
	ROWS(rbp_twice,
	     "0:rsp+8 1:rsp+16,-16 8:rax+16,-16 9:*rsp+0+16,-16 c:*rbp+0+16,-16 d:rsp+16,-16 "
	     "14:rax+16,-16 1c:*rsp+0+16,-16 21:rsp+16,-16 22:rsp+8 23:- 40:rsp+8",
	     "a frame pointer of an earlier alignment does not count");
	ROWS(slot_twice,
	     "0:rsp+8 7:r9+8 a:r9+8,? e:- 16:rsp+8,? 18:- 30:rsp+8",
	     "nor does the place of rbp");
	ROWS(other_way,
	     "0:rsp+8 7:rax+8 8:*rsp+0+8 a:rsp+8 b:- 30:rsp+8",
	     "code that nothing leads to, with another old rsp, changes no rows");
	ROWS(no_copy,
	     "0:rsp+8 4:- 9:rsp+8 a:- 30:rsp+8",
	     "nor does the aligned rsp alone confirm it");
	ROWS(two_copies,
	     "0:rsp+8 5:rsp+16 c:rax+16 e:rsp+8 15:- 30:rsp+8",
	     "two ways with different copies");
	ROWS(one_aligned,
	     "e:rsp+8 f:- 30:rsp+8",
	     "only one of two ways aligns rsp");
}

/* -------------------------------------------------------- in a register */

/* x86inc, x265 */
CODE(held, TWO "mov %rsp, %r13\n and $-64, %rsp\n sub $0x100, %rsp\n vmovaps %ymm0, (%rsp)\n"
	     "mov (%rdi), %rax\n"
	       "2: dec %rax\n mul %rcx\n jne 2b\n call 1f\n mov %r13, %rsp\n pop %r13\n pop %rbp\n ret\n"
	       ".balign 16, 0x90\n 1: ret\n" END);
CODE(held_by_pointer, "mov %rsp, %r9\n sub $0x100, %rsp\n and $-64, %rsp\n 1: dec %rdi\n"
	     "jne 1b\n mov %r9, %rsp\n ret");
CODE(held_above, "8: lea 8(%rsp), %r10\n and $-64, %rsp\n nop\n lea -8(%r10), %rsp\n ret\n" END);
CODE(reg_written, "8: mov %rsp, %r9\n and $-64, %rsp\n nop\n add $8, %r9\n mov %r9, %rsp\n ret\n" END);
CODE(reg_written_before, "8: mov %rsp, %r9\n add $8, %r9\n and $-64, %rsp\n nop\n"
	     "mov %r9, %rsp\n ret\n" END);
CODE(reg_written_once, "8: mov %rsp, %r9\n and $-64, %rsp\n test %edi, %edi\n je 1f\n"
	     "mov %rdi, %r9\n 1: nop\n"
		       "mov %r9, %rsp\n ret\n" END);
CODE(reg_xchg, "8: mov %rsp, %r8\n and $-64, %rsp\n nop\n xchg %r8, %rax\n nop\n"
	     "mov %r8, %rsp\n ret\n" END);
CODE(reg_implied, "8: mov %rsp, %rax\n and $-64, %rsp\n nop\n mul %rcx\n nop\n mov %rax, %rsp\n ret\n" END);
CODE(reg_byte, "8: mov %rsp, %rax\n and $-64, %rsp\n nop\n mov $1, %ah\n nop\n mov %rax, %rsp\n ret\n" END);
CODE(reg_called, "8: mov %rsp, %r9\n and $-64, %rsp\n nop\n call 9f\n inc %eax\n"
	     "mov %r9, %rsp\n ret\n call 8b\n"
		 ".balign 16, 0x90\n 9: ret");
CODE(reg_other, "8: push %rbx\n mov %rsp, %r9\n and $-64, %rsp\n nop\n mov %r10, %rsp\n ret\n" END);
CODE(reg_second, "8: mov %rsp, %r9\n and $-64, %rsp\n mov %rsp, %r10\n and $-128, %rsp\n nop\n"
	     "mov %r9, %rsp\n ret\n" END);
CODE(jumped_between, "8: mov %rsp, %r9\n 1: and $-64, %rsp\n nop\n mov %r9, %rsp\n ret\n call 8b\n jmp 1b");
CODE(frame, "8: push %rbp\n mov %rsp, %rbp\n and $-32, %rsp\n sub $64, %rsp\n leave\n ret\n" END);

static void test_registers(void)
{
	ROWS(held,
	     "0:rsp+8 1:rsp+16,-16 3:rsp+24,-16 a:r13+24,-16 29:rsp+24,-16 2b:rsp+16,-16 2c:rsp+8 "
	     "2d:- 30:rsp+8 31:- 50:rsp+8",
	     "dav1d's form: the old rsp in a callee-saved register, through a loop and a call");
	ROWS(held_by_pointer,
	     "0:rsp+8 a:rsp+264 e:r9+8 16:rsp+8",
	     "x265's form, in a function that is called by pointer only");
	ROWS(held_above,
	     "0:rsp+8 9:r10+0 e:rsp+8 f:- 30:rsp+8",
	     "the CFA itself in a register");
	ROWS(reg_written,
	     "0:rsp+8 7:r9+8 c:- f:rsp+8 10:- 30:rsp+8",
	     "the register is written");
	ROWS(reg_written_before,
	     "0:rsp+8 b:- f:rsp+8 10:- 30:rsp+8",
	     "it is written before rsp is aligned");
	ROWS(reg_written_once,
	     "0:rsp+8 7:r9+8 e:- 12:rsp+8 13:- 30:rsp+8",
	     "it is written on one of two ways");
	ROWS(reg_xchg,
	     "0:rsp+8 7:r8+8 a:- e:rsp+8 f:- 30:rsp+8",
	     "it is written by xchg with rax, in the short form");
	ROWS(reg_implied,
	     "0:rsp+8 7:rax+8 b:- f:rsp+8 10:- 30:rsp+8",
	     "it is written by an instruction that does not name it");
	ROWS(reg_byte,
	     "0:rsp+8 7:rax+8 a:- e:rsp+8 f:- 30:rsp+8",
	     "its second byte is written");
	ROWS(reg_called,
	     "0:rsp+8 7:r9+8 d:- 12:rsp+8 13:- 20:rsp+8",
	     "a call may change it");
	ROWS(reg_other,
	     "0:rsp+8 1:rsp+16 8:r9+16 c:rsp+8 d:- 30:rsp+8",
	     "rsp is restored from another register");
	ROWS(reg_second,
	     "0:rsp+8 7:r9+8 e:- 12:rsp+8 13:- 30:rsp+8",
	     "rsp is aligned again, with another copy");
	ROWS(jumped_between,
	     "0:rsp+8 7:- b:rsp+8 c:- 11:rsp+8",
	     "a jump leads between the copy and the alignment");
	ROWS(frame,
	     "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 d:rsp+8 e:- 30:rsp+8",
	     "with a frame pointer, nothing else is needed");
}

/* ---------------------------------------------- code that aligns nothing */

CODE(plain, "push %rbx\n sub $16, %rsp\n lea 8(%rsp), %rdi\n call 1f\n test %eax, %eax\n je 2f\n call 1f\n"
	    "2: add $16, %rsp\n pop %rbx\n ret\n 1: ret");

/*
 * There, nothing may be noted about an old rsp: a trial goes on where something is new. It went on
 * after calls that never return, and gave perl 980 bytes of wrong rows.
 */
static void test_plain(void)
{
	static struct kunwind_flow_insn insns[16];
	static struct kunwind_flow_change trail[KUNWIND_FLOW_TRAIL];
	static u32 jumps[16], queue[16];
	struct kunwind_code_flow f = { .insns = insns, .jumps = jumps, .queue = queue, .trail = trail,
				       .room = 16 };
	struct kunwind_copy_tracker copy = { KUNWIND_NO_REG, KUNWIND_NO_REG, 0 };
	struct kunwind_insn insn;
	u32 at, i, solved = 0, noted = 0;

	for (at = 0; at < (u32)(plain_end - plain); at += insn.length) {
		struct kunwind_flow_insn *to = &insns[f.nr++];

		kunwind_insn_decode(plain + at, &insn);
		to->at = at;
		to->length = insn.length;
		kunwind_insn_effect(&insn, &to->effect);
		kunwind_copy_track(&copy, &insn, to);
	}
	insns[0].flags = insns[f.nr - 1].flags = KUNWIND_INSN_ENTRY | KUNWIND_INSN_BEGINS;
	kunwind_code_flow_solve(&f);
	for (i = 0; i < f.nr; i++) {
		solved += insns[i].state.sp > KUNWIND_FLOW_VARIES;
		noted += insns[i].state.old != KUNWIND_FLOW_UNKNOWN ||
			 insns[i].state.need_old != KUNWIND_FLOW_UNKNOWN;
	}
	tap_ok(f.nr == 11 && solved == f.nr, "code that aligns nothing: rsp is known at each instruction");
	tap_ok(!noted, "nothing is noted about an old rsp");
}

int main(void)
{
	test_sums();
	test_words();
	test_doubts();
	test_registers();
	test_plain();
	return tap_done();
}
