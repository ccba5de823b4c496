/* SPDX-License-Identifier: MIT */
/*
 * code-moved-test.c - rows from code whose caller's rsp is doubtful (rows/code_moved.c)
 */
#include "code-rows.h"

/* Arguments that the caller has pushed. */
CODE(removes, "sub $8, %rsp\n call 1f\n add $8, %rsp\n ret $16\n .balign 16, 0xcc\n"
	      ".balign 16, 0x90\n 1: ret\n call removes");
CODE(removes_nothing, "pop %rcx\n push %rcx\n push %rcx\n push %rbx\n call *%rdi\n pop %rbx\n ret $0\n"
		      "call removes_nothing");
CODE(takes, "push %rbp\n mov %rsp, %rbp\n call 1f\n leave\n pop %rcx\n lea 16(%rsp), %rsp\n push %rcx\n"
	    "ret\n .balign 16, 0x90\n 1: ret\n call takes");
/* Arguments of the function itself. */
CODE(pushes, "pop %rcx\n push %rax\n push %rdx\n push %rcx\n push %rbx\n call *%rdi\n pop %rbx\n ret $16\n"
	     "call pushes");
CODE(copies, "mov (%rsp), %rax\n sub $16, %rsp\n mov %rax, (%rsp)\n push %rbx\n call *%rdi\n pop %rbx\n"
	     "ret $16\n call copies");
CODE(puts_back, "pop %rcx\n sub $16, %rsp\n push %rcx\n push %rbx\n call *%rdi\n pop %rbx\n pop %rcx\n"
		"add $16, %rsp\n push %rcx\n ret\n call puts_back");
CODE(adds, "add $16, %rsp\n push %rbx\n call *%rdi\n pop %rbx\n ret $16\n call adds");
CODE(branches, "pop %rcx\n push %rax\n push %rax\n push %rcx\n test %eax, %eax\n je 1f\n push %rbx\n"
	       "mov (%rdi), %rbx\n call *%rdi\n call *%rbx\n pop %rbx\n ret $16\n 1: ret $16\n"
	       "call branches");
CODE(branches_later, "mov (%rsp), %rax\n sub $16, %rsp\n mov %rax, (%rsp)\n push %rbx\n call *%rdi\n"
		     "test %eax, %eax\n je 1f\n xor %edx, %edx\n call *%rdi\n pop %rbx\n ret $16\n"
		     "1: xor %edx, %edx\n jmp 2f\n 2: pop %rbx\n ret $16\n call branches_later");
/* The call does not return, and no call leads to the function after it. */
CODE(next_function, "sub $8, %rsp\n call 1f\n pop %rcx\n push %rax\n push %rax\n push %rcx\n"
		    "push %rbx\n xor %eax, %eax\n pop %rbx\n ret $16\n .balign 16, 0x90\n 1: hlt\n"
		    "call next_function");
/* A function to which no call leads. */
CODE(by_pointer, "ret\n .balign 16, 0xcc\n int3\n .balign 16, 0xcc\n push %rbx\n call *%rdi\n"
     "pop %rbx\n ret $16");
CODE(by_rbp, "push %rbp\n mov %rsp, %rbp\n push %rcx\n call 1f\n and $-32, %rsp\n call 1f\n leave\n ret $16\n"
	     ".balign 16, 0x90\n 1: ret\n call by_rbp");
CODE(by_pointer_only, "ret\n .balign 16, 0x90\n push %rbx\n call *%rdi\n pop %rbx\n ret $16");
CODE(loop_pushes, "push %rbp\n mov %rsp, %rbp\n 1: push %rcx\n dec %ecx\n jne 1b\n call *%rdi\n leave\n"
		  "ret $16\n call loop_pushes");
CODE(adds_over, "push %rbx\n add $16, %rsp\n push %rbx\n push %rbx\n test %eax, %eax\n je 2f\n pop %rbx\n"
		"ret $16\n 2: pop %rbx\n ret $16\n call adds_over");
CODE(dies, "mov (%rsp), %rax\n sub $16, %rsp\n mov %rax, (%rsp)\n push %rbx\n call *%rdi\n"
	   "test %eax, %eax\n je 1f\n xor %edx, %edx\n call 3f\n int3\n 1: pop %rbx\n ret $16\n"
	   ".balign 16, 0x90\n 3: hlt\n call dies");

/* Ten jumps back from an entry to a return: a sweep follows one of them. */
CODE(long_way, "jmp 11f\n 1: ret\n 2: inc %edx\n jmp 1b\n 3: inc %edx\n jmp 2b\n"
	       "4: inc %edx\n jmp 3b\n 5: inc %edx\n jmp 4b\n 6: inc %edx\n jmp 5b\n"
	       "7: inc %edx\n jmp 6b\n 8: inc %edx\n jmp 7b\n 9: inc %edx\n jmp 8b\n"
	       "10: inc %edx\n jmp 9b\n 11: inc %edx\n jmp 10b\n .balign 16, 0x90\n"
	       "20: pop %rcx\n push %rax\n push %rdx\n push %rcx\n push %rbx\n call *%rdi\n pop %rbx\n ret\n"
	       ".balign 16, 0x90\n 21: ret $16\n call long_way\n call 20b\n call 21b");

int main(void)
{
	ROWS(removes, "0:rsp+8 4:rsp+16 d:rsp+8", "ret $16 takes arguments that the caller has pushed");
	ROWS(takes, "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 a:rsp+8 b:- 11:~rsp+8 12:- 20:rsp+8",
	     "a return address is popped only to take such arguments off");
	ROWS(by_rbp, "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 14:rsp+8 17:- 20:rsp+8",
	     "the distance of rsp is not known, but rbp is the same after a call");
	ROWS(by_pointer, "0:rsp+8 1:- 20:rsp+8 21:rsp+16 24:rsp+8", "a function to which no call leads");
	ROWS(by_pointer_only, "0:rsp+8 1:- 10:rsp+8 11:rsp+16 14:rsp+8",
	     "a function after nops, to which no call leads");
	ROWS(loop_pushes, "0:rsp+8 1:rsp+16,-16 4:rbp+16,-16 c:rsp+8",
	     "a loop pushes, and rbp is the same after a call");
	ROWS(removes_nothing, "0:rsp+8 1:- 6:rsp+16 7:rsp+8", "ret $0 removes nothing");
	ROWS(pushes, "0:rsp+8 1:- 7:~rsp+16 8:~rsp+8", "arguments are pushed below the return address");
	ROWS(copies, "0:rsp+8 8:rsp+24 d:rsp+32 f:~rsp+16 10:~rsp+8",
	     "the return address is copied; before the call, the first one counts");
	ROWS(puts_back, "0:rsp+8 1:- 9:~rsp+16 a:~rsp+8 b:- 10:~rsp+8",
	     "the return address is moved twice; after that, it is on top of the stack");
	ROWS(adds, "0:rsp+8 4:- 7:~rsp+16 8:~rsp+8", "add moves rsp above the return address");
	ROWS(adds_over, "0:rsp+8 1:rsp+16 5:- f:~rsp+16 10:~rsp+8",
	     "add moves rsp above the return address from below");
	ROWS(dies, "0:rsp+8 8:rsp+24 d:rsp+32 f:~rsp+16 1a:- 1b:~rsp+16 1c:~rsp+8 1f:- 20:rsp+8",
	     "what follows a doubtful jump does not return");
	ROWS(branches, "0:rsp+8 1:- 14:~rsp+8", "what a jump leads to is no function's entry");
	ROWS(branches_later, "0:rsp+8 8:rsp+24 d:rsp+32 f:~rsp+16 18:~rsp+8 1b:~rsp+16 20:~rsp+8",
	     "what leads to a return, and all that follows it, is doubtful");
	tap_ok(strstr(rows_of(long_way, long_way_end - long_way), "37:~rsp+16 38:~rsp+8"),
	       "more sweeps would be needed: each row after a moved return address is doubtful");
	ROWS(next_function, "0:rsp+8 4:rsp+16 9:- 20:rsp+8", "a function after a call that never returns");
	return tap_done();
}
