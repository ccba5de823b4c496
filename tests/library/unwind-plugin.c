/* SPDX-License-Identifier: MIT */
/*
 * unwind-plugin.c - a plug-in for unwind-loaded-test, in builds whose code differs only in the
 * size of a frame: SIZE. They have the same addresses, segments and search table
 */
#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)

void plugin(void (*call)(void));

__asm__(".text\n"
	".globl plugin\n"
	".type plugin, @function\n"
	"plugin:\n"
	"	.cfi_startproc\n"
	"	sub $" TEXT(SIZE) ", %rsp\n"
	"	.cfi_adjust_cfa_offset " TEXT(SIZE) "\n"
	"	call *%rdi\n"
	"	add $" TEXT(SIZE) ", %rsp\n"
	"	.cfi_adjust_cfa_offset -" TEXT(SIZE) "\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size plugin, . - plugin\n"
	".section .note.GNU-stack, \"\", @progbits\n");
