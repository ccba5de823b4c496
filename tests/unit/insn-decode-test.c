/* SPDX-License-Identifier: MIT */
/*
 * insn-decode-test.c - lengths and operands of instructions, one of each form
 *
 * GNU as made the bytes. Each instruction is decoded with other bytes after it;
 * those whose end can be the end of readable memory (a word's) are also decoded
 * there.
 */
#include "../../kmod/core/x86/insn_decode.h"
#include "../../kmod/core/walk/mem.h"
#include "tap.h"

#define AT	0x10000ULL

static const struct {
	const char *text, *bytes;
	s32 disp, imm;
} cases[] = {
	{ "nop", "90", 0, 0 },
	{ "push %rbp", "55", 0, 0 },
	{ "mov %rsp, %rbp", "48 89 e5", 0, 0 },
	{ "mov -8(%rbp), %rax", "48 8b 45 f8", -8, 0 },
	{ "mov -256(%rbp), %rax", "48 8b 85 00 ff ff ff", -256, 0 },
	{ "mov 8(%rsp), %rax", "48 8b 44 24 08", 8, 0 },
	{ "mov -8(%rsp), %rax", "48 8b 44 24 f8", -8, 0 },
	{ "mov (%rax,%rcx,8), %rax", "48 8b 04 c8", 0, 0 },
	{ "mov 0x1000(,%rcx,8), %rax", "48 8b 04 cd 00 10 00 00", 0x1000, 0 },
	{ "mov 0x1000, %rax", "48 8b 04 25 00 10 00 00", 0x1000, 0 },
	{ "lea 16(%rip), %rdi", "48 8d 3d 10 00 00 00", 16, 0 },
	{ "sub $24, %rsp", "48 83 ec 18", 0, 24 },
	{ "sub $-128, %rsp", "48 83 ec 80", 0, -128 },
	{ "sub $4096, %rsp", "48 81 ec 00 10 00 00", 0, 4096 },
	{ "movw $0x1234, (%rax)", "66 c7 00 34 12", 0, 0x1234 },
	{ "movl $0x12345678, 8(%rax)", "c7 40 08 78 56 34 12", 8, 0x12345678 },
	{ "movb $1, 8(%rax)", "c6 40 08 01", 8, 1 },
	{ "mov $0x1122334455667788, %rax", "48 b8 88 77 66 55 44 33 22 11", 0, 0x55667788 },
	{ "mov $0x12345678, %eax", "b8 78 56 34 12", 0, 0x12345678 },
	{ "mov $0x1234, %ax", "66 b8 34 12", 0, 0x1234 },
	{ "mov $1, %al", "b0 01", 0, 1 },
	{ "movabs 0x1122334455667788, %al", "a0 88 77 66 55 44 33 22 11", 0, 0x55667788 },
	{ "add $0x12345678, %eax", "05 78 56 34 12", 0, 0x12345678 },
	{ "add $0x1234, %ax", "66 05 34 12", 0, 0x1234 },
	{ "add $1, %al", "04 01", 0, 1 },
	{ "data16 add $0x12345678, %rax", "66 48 05 78 56 34 12", 0, 0x12345678 },
	{ "testb $1, 8(%rax)", "f6 40 08 01", 8, 1 },
	{ "notb 8(%rax)", "f6 50 08", 8, 0 },
	{ "testl $0x12345678, 8(%rax)", "f7 40 08 78 56 34 12", 8, 0x12345678 },
	{ "negl 8(%rax)", "f7 58 08", 8, 0 },
	{ "testw $0x1234, 8(%rax)", "66 f7 40 08 34 12", 8, 0x1234 },
	{ "imul $3, %rax, %rcx", "48 6b c8 03", 0, 3 },
	{ "imul $0x1000, %rax, %rcx", "48 69 c8 00 10 00 00", 0, 0x1000 },
	{ "push $1", "6a 01", 0, 1 },
	{ "push $0x12345678", "68 78 56 34 12", 0, 0x12345678 },
	{ "pfadd %mm0, %mm1 (3DNow!)", "0f 0f c8 9e", 0, (s8)0x9e },
	{ "data16 (four times) movabs $0x1122334455667788, %rax",
	  "66 66 66 66 48 b8 88 77 66 55 44 33 22 11", 0, 0x55667788 },
	{ "call +16", "e8 10 00 00 00", 0, 16 },
	{ "jmp -2", "eb fe", 0, -2 },
	{ "jmp +0x1000", "e9 00 10 00 00", 0, 0x1000 },
	{ "jne +5", "75 05", 0, 5 },
	{ "jne +0x1000", "0f 85 00 10 00 00", 0, 0x1000 },
	{ "ret", "c3", 0, 0 },
	{ "ret $16", "c2 10 00", 0, 16 },
	{ "enter $16, $0", "c8 10 00 00", 0, 16 },
	{ "syscall", "0f 05", 0, 0 },
	{ "endbr64", "f3 0f 1e fa", 0, 0 },
	{ "movzbl (%rax), %ecx", "0f b6 08", 0, 0 },
	{ "bt $3, %rax", "48 0f ba e0 03", 0, 3 },
	{ "shld $3, %rax, %rcx", "48 0f a4 c1 03", 0, 3 },
	{ "pshufd $1, %xmm0, %xmm1", "66 0f 70 c8 01", 0, 1 },
	{ "pshufb %xmm0, %xmm1", "66 0f 38 00 c8", 0, 0 },
	{ "palignr $1, %xmm0, %xmm1", "66 0f 3a 0f c8 01", 0, 1 },
	{ "nopw 0(%rax,%rax,1)", "66 0f 1f 84 00 00 00 00 00", 0, 0 },
	{ "data16 cs nopw 0(%rax,%rax,1)", "66 2e 0f 1f 84 00 00 00 00 00", 0, 0 },
	{ "mov %fs:40, %rax", "64 48 8b 04 25 28 00 00 00", 40, 0 },
	{ "vzeroupper", "c5 f8 77", 0, 0 },
	{ "vmovdqu 32(%rax), %ymm0", "c5 fe 6f 40 20", 32, 0 },
	{ "vpshufd $1, %ymm0, %ymm1", "c5 fd 70 c8 01", 0, 1 },
	{ "vpbroadcastb %xmm0, %ymm0", "c4 e2 7d 78 c0", 0, 0 },
	{ "vpermq $1, %ymm0, %ymm1", "c4 e3 fd 00 c8 01", 0, 1 },
	{ "vmovdqu64 64(%rax), %zmm0", "62 f1 fe 48 6f 40 01", 1, 0 },
	{ "vpternlogd $1, %zmm0, %zmm1, %zmm2", "62 f3 75 48 25 d0 01", 0, 1 },
};

/* Decodes with @more bytes after it. Returns the length; 0: not decoded. */
static u32 decode(const u8 *bytes, u32 len, u32 more, struct kunwind_insn *insn)
{
	u64 room[8];
	struct kunwind_mem mem = { .left = KUNWIND_BUDGET };
	struct kunwind_text text = { .mem = &mem, .left = 1 };
		/* memory is read by words, so it ends with a word */
	const u32 all = (len + more + 7) & ~7U, from = all - len - more;

	memset(room, 0xc3, sizeof(room));
	memcpy((u8 *)room + from, bytes, len);
	mem.lo = AT;
	mem.hi = AT + all;
	mem.delta = (u64)(uintptr_t)room - AT;
	return kunwind_insn_next(&text, AT + from, insn) ? insn->length : 0;
}

int main(void)
{
	static const u8 nops[16] = { 0x90, 0x90 };
	/* data16 (six times) movabs $0, %rax: 16 bytes, which no processor takes */
	static const u8 longest[16] = { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x48, 0xb8 };
	struct kunwind_mem mem = { .lo = AT, .hi = AT + sizeof(nops),
				   .delta = (u64)(uintptr_t)nops - AT, .left = KUNWIND_BUDGET };
	struct kunwind_text none = { .left = 0 }, text = { .left = 1 };
	struct kunwind_insn insn;
	u32 i, cut = 0;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *hex = cases[i].bytes;
		u32 len = 0, alone, behind;
		u8 bytes[16];

		for (; *hex; hex += 2 + (hex[2] == ' '))
			sscanf(hex, "%2hhx", &bytes[len++]);
		behind = decode(bytes, len, 32, &insn);
		if (!tap_ok(behind == len && insn.disp == cases[i].disp && insn.imm == cases[i].imm,
			    "decode: %s", cases[i].text))
			printf("# %u bytes instead of %u, displacement %d, immediate %d\n", behind, len,
			       insn.disp, insn.imm);
		/* without its last byte, it must not be decoded */
		alone = len > 1 && len % 8 == 1 ? decode(bytes, len - 1, 0, &insn) : 0;
		cut += alone != 0;
		if (len % 8 == 0 && decode(bytes, len, 0, &insn) != len)
			cut++;
	}
	tap_ok(!cut, "decode: an instruction at the end of readable memory only if it is complete");
	tap_ok(!decode(longest, 16, 32, &insn) && decode(longest + 1, 15, 32, &insn) == 15,
	       "decode: an instruction of 15 bytes, and none of 16");
	tap_ok(!kunwind_insn_next(&none, AT, &insn), "decode: with a limit of 0, no instruction is read");
	text.mem = &mem;
	tap_ok(kunwind_insn_next(&text, AT, &insn) && !kunwind_insn_next(&text, AT + 1, &insn),
	       "decode: with a limit of 1, one instruction is read, and no second one");
	return tap_done();
}
