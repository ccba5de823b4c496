/* SPDX-License-Identifier: MIT */
/*
 * depth-test.c - the stack depth after a few instructions, one case for each
 * form
 *
 * GNU as made the bytes. Each case wants the depth, the place of the frame
 * pointer and the place of the saved rbp after the last instruction, in bytes
 * below the return address; -1: not known.
 */
#include "../../kmod/core/nocfi/code_analysis.h"
#include "../../kmod/core/walk/mem.h"
#include "tap.h"

#define AT	0x10000ULL

static const struct {
	const char *text, *bytes;
	s32 depth, frame, rbp_at;
} cases[] = {
	{ "nothing", "", 0, -1, -1 },
	{ "push %rbp", "55", 8, -1, 8 },
	{ "push %r13", "41 55", 8, -1, -1 },
	{ "push %rbx; push %rbp", "53 55", 16, -1, 16 },
	{ "push %rbp; push %rbp", "55 55", 16, -1, 8 },
	{ "push %rax; pop %rax", "50 58", 0, -1, -1 },
	{ "push %rax; pop (%rax)", "50 8f 00", 0, -1, -1 },
	{ "push 8(%rax)", "ff 70 08", 8, -1, -1 },
	{ "pushf; popf", "9c 9d", 0, -1, -1 },
	{ "push $1; push $0x1000", "6a 01 68 00 10 00 00", 16, -1, -1 },
	{ "push %rbp; mov %rsp, %rbp", "55 48 89 e5", 8, 8, 8 },
	{ "push %rbp; mov %rsp, %rbp; sub $32, %rsp", "55 48 89 e5 48 83 ec 20", 40, 8, 8 },
	{ "push %rbp; mov %rsp, %rbp; sub $32, %rsp; leave", "55 48 89 e5 48 83 ec 20 c9", 0, -1, -1 },
	{ "sub $24, %rsp; add $16, %rsp", "48 83 ec 18 48 83 c4 10", 8, -1, -1 },
	{ "sub $4096, %rsp", "48 81 ec 00 10 00 00", 4096, -1, -1 },
	{ "sub $-128, %rsp", "50 50 50 50 50 50 50 50 50 50 50 50 50 50 50 50 50 48 83 ec 80", 8, -1, -1 },
	{ "push %rax; cmp $8, %rsp", "50 48 83 fc 08", 8, -1, -1 },
	{ "lea -16(%rsp), %rsp", "48 8d 64 24 f0", 16, -1, -1 },
	{ "sub $32, %rsp; lea 8(%rsp), %rsp", "48 83 ec 20 48 8d 64 24 08", 24, -1, -1 },
	{ "push %rbp; mov %rsp, %rbp; lea -24(%rbp), %rsp", "55 48 89 e5 48 8d 65 e8", 32, 8, 8 },
	{ "and $-16, %rsp", "48 83 e4 f0", -1, -1, -1 },
	{ "sub %rax, %rsp", "48 29 c4", -1, -1, -1 },
	{ "push %rbp; mov %rsp, %rbp; sub %rax, %rsp", "55 48 89 e5 48 29 c4", -1, 8, 8 },
	{ "push %rbp; mov %rsp, %rbp; xor %ebp, %ebp", "55 48 89 e5 31 ed", 8, -1, 8 },
	{ "sub $24, %rsp; mov %rbp, 16(%rsp)", "48 83 ec 18 48 89 6c 24 10", 24, -1, 8 },
	{ "push %rax; je over; push %rcx; over:", "50 74 01 51", 8, -1, -1 },
	{ "push %rax; jmp over; push %rcx; over:", "50 eb 01 51", 8, -1, -1 },
	{ "push %rax; ret", "50 c3", -1, -1, -1 },
	{ "push %rax; jmp far away", "50 e9 00 10 00 00", -1, -1, -1 },
	{ "loop: push %rax; jne loop", "50 75 fd", -1, -1, -1 },
	{ "loop: push %rax; pop %rax; jne loop", "50 58 75 fc", 0, -1, -1 },
	{ "push %rax; jmp test; loop: nop: only a jump back leads here", "50 eb 02 90", -1, -1, -1 },
};

int main(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *hex = cases[i].bytes;
		struct kunwind_code code;
		struct kunwind_mem mem = { .left = KUNWIND_BUDGET };
		u8 bytes[128];
		u32 len = 0;

		memset(bytes, 0x90, sizeof(bytes));
		for (; *hex; hex++)
			if (*hex != ' ' && sscanf(hex++, "%2hhx", &bytes[len]) == 1)
				len++;
		mem.lo = AT;
		mem.hi = AT + sizeof(bytes);
		mem.delta = (u64)(uintptr_t)bytes - AT;
		kunwind_code_read(&mem, AT, AT + len, &code);
		if (!tap_ok(code.depth == cases[i].depth && code.frame == cases[i].frame &&
			    code.rbp_at == cases[i].rbp_at, "stack depth after: %s", cases[i].text))
			printf("# depth %d, frame %d, rbp at %d\n", code.depth, code.frame, code.rbp_at);
	}
	return tap_done();
}
