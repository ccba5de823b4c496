/* SPDX-License-Identifier: MIT */
/*
 * insn-decode-test.c - lengths and operands of instructions, one of each form, and
 * the registers that instructions after the one-byte map write
 *
 * GNU as made the bytes; LLVM's assembler made those of APX. Each instruction is
 * decoded with other bytes after it; those whose end can be the end of readable
 * memory (a word's) are also decoded there.
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
	{ "movabs 0x12345678, %al (prefix 67)", "67 a0 78 56 34 12", 0, 0x12345678 },
	{ "extrq $1, $2, %xmm0", "66 0f 78 c0 02 01", 0, 0x102 },
	{ "mov %fs:40, %rax", "64 48 8b 04 25 28 00 00 00", 40, 0 },
	{ "vzeroupper", "c5 f8 77", 0, 0 },
	{ "vmovdqu 32(%rax), %ymm0", "c5 fe 6f 40 20", 32, 0 },
	{ "vpshufd $1, %ymm0, %ymm1", "c5 fd 70 c8 01", 0, 1 },
	{ "vpbroadcastb %xmm0, %ymm0", "c4 e2 7d 78 c0", 0, 0 },
	{ "vpermq $1, %ymm0, %ymm1", "c4 e3 fd 00 c8 01", 0, 1 },
	{ "vmovdqu64 64(%rax), %zmm0", "62 f1 fe 48 6f 40 01", 1, 0 },
	{ "vpternlogd $1, %zmm0, %zmm1, %zmm2", "62 f3 75 48 25 d0 01", 0, 1 },
};

/* APX, XOP and forms that must not be taken for others: the registers that they write. */
static const struct {
	const char *text, *bytes;
	u32 writes;		/* a bit for each register that insn_writes.c has to name */
} written[] = {
	{ "pop2 %rbx, %rcx", "62 f4 64 18 8f c1", 1 << 1 | 1 << 3 },
	{ "push2 %rbx, %rcx", "62 f4 64 18 ff f1", 0 },
	{ "{nf} add $8, %rax", "62 f4 fc 0c 83 c0 08", 1 },
	{ "{nf} imul $0x58585858, %rcx, %rax", "62 f4 fc 0c 69 c1 58 58 58 58", 1 << 0 | 1 << 1 },
	{ "{nf} add $0x1234, %bp", "62 f4 7d 0c 81 c5 34 12", 1 << 0 | 1 << 5 },
	{ "{nf} shld $3, %rax, %rcx", "62 f4 fc 0c 24 c1 03", 1 << 0 | 1 << 1 },
	{ "sub $8, %rax, %rsp", "62 f4 dc 18 83 e8 08", 1 << 4 },
	{ "sub $8, %rsp, %rax", "62 f4 fc 18 83 ec 08", 1 },
	{ "sub %rax, %rbx, %r25", "62 f4 b4 10 29 c3", 1 << 25 },
	{ "ctestb $4, 8(%rax)", "62 f4 04 05 f6 40 08 04", 1 },
	{ "bswap %r20d (REX2)", "d5 90 cc", 1 << 20 },
	{ "cmovnp %r20, %rbx (REX2)", "d5 90 4b dc", 1 << 3 },
	{ "urdmsr $1, %rbp", "c4 e7 7b f8 c5 01 00 00 00", 1 << 5 },
	{ "vprotd $3, %xmm0, %xmm1", "8f e8 78 c2 c8 03", 0 },
	{ "vfrczps %xmm0, %xmm1", "8f e9 78 80 c8", 0 },
	{ "blcfill %rax, %rbp", "8f e9 d0 01 c8", 1 << 5 },
	{ "bextr $0x12345678, %rax, %rbp", "8f ea f8 10 e8 78 56 34 12", 1 << 5 },
	{ "andn %rax, %rcx, %rbp", "c4 e2 f0 f2 e8", 1 << 5 },
	{ "blsr %rax, %rsp", "c4 e2 d8 f3 c8", 1 << 4 },
	{ "mulx %rax, %rcx, %rbp", "c4 e2 f3 f6 e8", 1 << 1 | 1 << 5 },
	{ "rorx $3, %rax, %r13", "c4 63 fb f0 e8 03", 1 << 13 },
	{ "kmovq %k1, %rbp", "c4 e1 fb 93 e9", 1 << 5 },
	{ "vmovd %xmm0, %ebp", "c5 f9 7e c5", 1 << 5 },
	{ "vmovq %xmm5, %xmm0", "c5 fa 7e c5", 0 },
	{ "movq %xmm0, %rsp", "66 48 0f 7e c4", 1 << 4 },
	{ "movq %xmm4, %xmm0", "f3 0f 7e c4", 0 },
	{ "movmskps %xmm0, %ebp", "0f 50 e8", 1 << 5 },
	{ "cvttsd2si %xmm0, %rbp", "f2 48 0f 2c e8", 1 << 5 },
	{ "cvttps2pi %xmm0, %mm5", "0f 2c e8", 0 },
	{ "bswap %rbp", "48 0f cd", 1 << 5 },
	{ "bswap %r13", "49 0f cd", 1 << 13 },
	{ "xadd %rsp, %rax", "48 0f c1 e0", 1 << 0 | 1 << 4 },
	{ "btr $3, %rbp", "48 0f ba f5 03", 1 << 5 },
	{ "bt $3, %rbp", "48 0f ba e5 03", 0 },
	{ "rdsspq %rbp", "f3 48 0f 1e cd", 1 << 5 },
	{ "nop %ebp (0f 1e)", "0f 1e cd", 0 },
	{ "endbr64", "f3 0f 1e fa", 0 },
	{ "rdfsbase %rbp", "f3 48 0f ae c5", 1 << 5 },
	{ "rdrand %rbp", "48 0f c7 f5", 1 << 5 },
	{ "crc32 %rax, %rbp", "f2 48 0f 38 f1 e8", 1 << 5 },
	{ "movbe %rbp, (%rax)", "48 0f 38 f1 28", 0 },
	{ "adcx %rax, %rbp", "66 48 0f 38 f6 e8", 1 << 5 },
	{ "pextrd $1, %xmm0, %ebp", "66 0f 3a 16 c5 01", 1 << 5 },
	{ "cmove %rax, %rbp", "48 0f 44 e8", 1 << 5 },
	{ "movaps %xmm5, %xmm5", "0f 28 ed", 0 },
};

static const struct {
	const char *text, *bytes;
} refused[] = {
	{ "push %ax", "66 50" },
	{ "jmp with a distance of 16 bits", "66 e9 01 02" },
	{ "jmpabs", "d5 00 a1 00 00 00 00 00 00 00 00" },
	{ "REX2 and jo", "d5 00 70 00" },
	{ "REX and VEX", "48 c5 f8 77" },
	{ "66 and EVEX", "66 62 f1 fe 48 6f 40 01" },
	{ "REX and REX", "48 48 90" },
	{ "REX and a prefix", "48 66 90" },
	{ "8f with another form than pop", "8f e0" },
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

static u32 bytes_of(const char *hex, u8 *bytes)
{
	u32 len = 0;

	for (; *hex; hex += 2 + (hex[2] == ' '))
		sscanf(hex, "%2hhx", &bytes[len++]);
	return len;
}

static void test_written(void)
{
	struct kunwind_insn insn;
	u8 bytes[16];
	u32 i, len, reg;

	for (i = 0; i < ARRAY_SIZE(written); i++) {
		u32 writes = 0;

		len = bytes_of(written[i].bytes, bytes);
		if (decode(bytes, len, 32, &insn) != len)
			insn = (struct kunwind_insn){ };
		for (reg = 0; insn.length && reg < 32; reg++)
			writes |= (u32)kunwind_insn_writes_more(&insn, reg) << reg;
		if (!tap_ok(insn.length == len && writes == written[i].writes, "registers: %s",
			    written[i].text))
			printf("# %u bytes, registers %#x\n", insn.length, writes);
	}
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		len = bytes_of(refused[i].bytes, bytes);
		tap_ok(!decode(bytes, len, 32, &insn), "not decoded: %s", refused[i].text);
	}
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
		u32 len, alone, behind;
		u8 bytes[16];

		len = bytes_of(cases[i].bytes, bytes);
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
	test_written();
	tap_ok(!cut, "decode: an instruction at the end of readable memory only if it is complete");
	tap_ok(!decode(longest, 16, 32, &insn) && decode(longest + 1, 15, 32, &insn) == 15,
	       "decode: an instruction of 15 bytes, and none of 16");
	tap_ok(!kunwind_insn_next(&none, AT, &insn), "decode: with a limit of 0, no instruction is read");
	text.mem = &mem;
	tap_ok(kunwind_insn_next(&text, AT, &insn) && !kunwind_insn_next(&text, AT + 1, &insn),
	       "decode: with a limit of 1, one instruction is read, and no second one");
	return tap_done();
}
