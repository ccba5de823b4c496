/* SPDX-License-Identifier: MIT */
/*
 * insn-effect-test.c - what instructions do to rsp, rbp and rip, one of each form
 *
 * GNU as made the bytes. An effect is written as insn_effect.h names it:
 *   next, call, branch, jump, any, return, stop, and the distance
 *   add+8	rsp += 8. rbp+8: rsp = rbp + 8. set, moved: as there. Nothing: rsp is kept
 *   =rsp+8	rbp = rsp + 8. store+8, load+8, left, written: as there. Nothing: rbp is kept
 *   set 13+8	rsp = r13 + 8. loads rsp+8: a register is loaded from the word at rsp + 8
 *   reads 3	the callee-saved registers that are the base of an address, or are copied
 */
#include "../../kmod/core/x86/insn_effect.h"
#include "tap.h"

static const struct {
	const char *text, *bytes, *effect;
} cases[] = {
	{ "push %rbx", "53", "next add-8" },
	{ "push %rbp", "55", "next add-8 store+0" },
	{ "push %r13", "41 55", "next add-8" },
	{ "push $1", "6a 01", "next add-8" },
	{ "push $0x12345678", "68 78 56 34 12", "next add-8" },
	{ "push 8(%rbx)", "ff 73 08", "next add-8 reads 3" },
	{ "pushf", "9c", "next add-8" },
	{ "push %fs", "0f a0", "next add-8" },
	{ "push %gs", "0f a8", "next add-8" },
	{ "pop %rbx", "5b", "next add+8 loads rsp+0" },
	{ "pop %rbp", "5d", "next add+8 load+0 loads rsp+0" },
	{ "pop %r13", "41 5d", "next add+8 loads rsp+0" },
	{ "pop %rsp", "5c", "next set+8 loads rsp+0" },
	{ "pop %r12", "41 5c", "next add+8 loads rsp+0" },
	{ "pop (%rax)", "8f 00", "next add+8" },
	{ "popf", "9d", "next add+8" },
	{ "pop %fs", "0f a1", "next add+8" },
	{ "pop %gs", "0f a9", "next add+8" },
	{ "pop %rsp, long form", "8f c4", "next set+8" },
	{ "pop %rbp, long form", "8f c5", "next add+8 load+0" },
	{ "leave", "c9", "next rbp+8 left" },
	{ "enter $16, $0", "c8 10 00 00", "next moved written" },
	{ "sub $24, %rsp", "48 83 ec 18", "next add-24" },
	{ "sub $0x1000, %rsp", "48 81 ec 00 10 00 00", "next add-4096" },
	{ "sub $-128, %rsp", "48 83 ec 80", "next add+128" },
	{ "sub $-2147483648, %rsp", "48 81 ec 00 00 00 80", "next add+2147483647" },
	{ "add $24, %rsp", "48 83 c4 18", "next add+24" },
	{ "add $0x1000, %rsp", "48 81 c4 00 10 00 00", "next add+4096" },
	{ "and $-32, %esp", "83 e4 e0", "next moved" },
	{ "and $15, %rsp", "48 83 e4 0f", "next moved" },
	{ "and %rax, %rsp", "48 21 c4", "next moved" },
	{ "and $-1024, %rsp", "48 81 e4 00 fc ff ff", "next aligned-1024" },
	{ "mov 16(%rsp), %rsp", "48 8b 64 24 10", "next set loads rsp+16" },
	{ "mov 16(%rsp), %esp", "8b 64 24 10", "next set" },
	{ "mov %fs:16(%rsp), %rsi", "64 48 8b 74 24 10", "next" },
	{ "mov %fs:16(%rbp), %rsi", "64 48 8b 75 10", "next reads 5" },
	{ "mov 16(%ebp), %rsi", "67 48 8b 75 10", "next reads 5" },
	{ "mov -8(%rbp), %r10", "4c 8b 55 f8", "next loads rbp-8 reads 5" },
	{ "mov 8(%r13), %r10", "4d 8b 55 08", "next reads 13" },
	{ "mov %r10, -8(%rbp)", "4c 89 55 f8", "next reads 5" },
	{ "lea 8(%eax), %rsp", "67 48 8d 60 08", "next set" },
	{ "sub $24, %esp", "83 ec 18", "next moved" },
	{ "and $-16, %rsp", "48 83 e4 f0", "next aligned-16" },
	{ "and $-32, %rsp", "48 83 e4 e0", "next aligned-32" },
	{ "xor %rsp, %rsp", "48 31 e4", "next moved" },
	{ "sub %rax, %rsp", "48 29 c4", "next moved" },
	{ "add %rsp, %rax", "48 01 e0", "next" },
	{ "cmp $8, %rsp", "48 83 fc 08", "next" },
	{ "cmp %rax, %rsp", "48 39 c4", "next" },
	{ "cmp %rsp, %rax", "48 39 e0", "next" },
	{ "test %rsp, %rsp", "48 85 e4", "next" },
	{ "lea 16(%rsp), %rsp", "48 8d 64 24 10", "next add+16" },
	{ "lea -16(%rsp), %rsp", "48 8d 64 24 f0", "next add-16" },
	{ "lea -0x1000(%rsp), %rsp", "48 8d a4 24 00 f0 ff ff", "next add-4096" },
	{ "lea 8(%rsp,%rax,8), %rsp", "48 8d 64 c4 08", "next moved" },
	{ "lea 0(%rbp), %rbp", "48 8d 6d 00", "next reads 5" },
	{ "lea 8(%rbp), %rbp", "48 8d 6d 08", "next written reads 5" },
	{ "lea -24(%rbp), %rsp", "48 8d 65 e8", "next rbp-24 reads 5" },
	{ "lea 8(%rbp,%rax,8), %rsp", "48 8d 64 c5 08", "next moved reads 5" },
	{ "lea 8(%rip), %rsp", "48 8d 25 08 00 00 00", "next set+8" },
	{ "lea 8(%rax), %rsp", "48 8d 60 08", "next set 0+8" },
	{ "lea 8(%r13), %rsp", "49 8d 65 08", "next set 13+8 reads 13" },
	{ "lea 8(%rsp), %rbp", "48 8d 6c 24 08", "next =rsp+8" },
	{ "lea (%rsp), %rbp", "48 8d 2c 24", "next =rsp+0" },
	{ "lea 8(%rsp,%rax), %rbp", "48 8d 6c 04 08", "next written" },
	{ "lea 8(%rsp), %ebp", "8d 6c 24 08", "next written" },
	{ "lea 16(%rsp), %r13", "4c 8d 6c 24 10", "next" },
	{ "mov %rsp, %rbp", "48 89 e5", "next =rsp+0" },
	{ "mov %rbp, %rsp", "48 89 ec", "next rbp+0 reads 5" },
	{ "mov %esp, %ebp", "89 e5", "next written" },
	{ "mov %ebp, %esp", "89 ec", "next set" },
	{ "mov %rsp, %r13", "49 89 e5", "next" },
	{ "mov %r13, %rsp", "4c 89 ec", "next set 13 reads 13" },
	{ "mov %rax, %rsp", "48 89 c4", "next set 0" },
	{ "mov 8(%rdi), %rsp", "48 8b 67 08", "next set" },
	{ "mov %rsp, 8(%rdi)", "48 89 67 08", "next" },
	{ "mov $16, %rsp", "48 c7 c4 10 00 00 00", "next moved" },
	{ "mov %rbp, 16(%rsp)", "48 89 6c 24 10", "next store+16" },
	{ "mov %ebp, 16(%rsp)", "89 6c 24 10", "next" },
	{ "mov 16(%rsp), %rbp", "48 8b 6c 24 10", "next load+16 loads rsp+16" },
	{ "mov 16(%rsp), %ebp", "8b 6c 24 10", "next written" },
	{ "mov -8(%rsp), %rbp", "48 8b 6c 24 f8", "next load-8 loads rsp-8" },
	{ "mov 16(%rsp,%rax), %rbp", "48 8b 6c 04 10", "next written" },
	{ "mov (%rdi), %rbp", "48 8b 2f", "next written" },
	{ "mov %rdi, %rbp", "48 89 fd", "next written" },
	{ "mov %rbp, %rdi", "48 89 ef", "next reads 5" },
	{ "mov $1, %ebp", "bd 01 00 00 00", "next written" },
	{ "xor %ebp, %ebp", "31 ed", "next written" },
	{ "inc %rbp", "48 ff c5", "next written" },
	{ "dec %ebp", "ff cd", "next written" },
	{ "neg %rbp", "48 f7 dd", "next written" },
	{ "not %rbp", "48 f7 d5", "next written" },
	{ "shl $2, %rbp", "48 c1 e5 02", "next written" },
	{ "shl %cl, %rbp", "48 d3 e5", "next written" },
	{ "shl %rbp", "48 d1 e5", "next written" },
	{ "imul $3, %rax, %rbp", "48 6b e8 03", "next written" },
	{ "imul $300, %rax, %rbp", "48 69 e8 2c 01 00 00", "next written" },
	{ "movslq %eax, %rbp", "48 63 e8", "next written" },
	{ "movzbl %al, %ebp", "0f b6 e8", "next written" },
	{ "cmove %rax, %rbp", "48 0f 44 e8", "next written" },
	{ "bsf %rax, %rbp", "48 0f bc e8", "next written" },
	{ "bt %rbp, %rax", "48 0f a3 e8", "next" },
	{ "bts %rax, %rbp", "48 0f ab c5", "next written" },
	{ "xadd %rax, %rbp", "48 0f c1 c5", "next written" },
	{ "xadd %rbp, %rax", "48 0f c1 e8", "next written" },
	{ "cmpxchg %rax, %rbp", "48 0f b1 c5", "next written" },
	{ "shld $1, %rax, %rbp", "48 0f a4 c5 01", "next written" },
	{ "bswap %rbp", "48 0f cd", "next written" },
	{ "movq %xmm0, %rbp", "66 48 0f 7e c5", "next written" },
	{ "xchg %rbp, %rax", "48 95", "next written" },
	{ "xchg %rcx, %rbp", "48 87 cd", "next written" },
	{ "xchg %rbp, %rcx", "48 87 e9", "next written" },
	{ "xchg %rsp, %rcx", "48 87 e1", "next moved" },
	{ "xchg %rcx, %rsp", "48 87 cc", "next moved" },
	{ "xchg %rsp, %rax", "48 94", "next moved" },
	{ "xchg %rcx, %rdx", "48 87 ca", "next" },
	{ "mul %rbp", "48 f7 e5", "next" },
	{ "div %rbp", "48 f7 f5", "next" },
	{ "test $1, %ebp", "f7 c5 01 00 00 00", "next" },
	{ "cmp $1, %ebp", "83 fd 01", "next" },
	{ "add $1, %ebp", "83 c5 01", "next written" },
	{ "add %eax, %ebp", "01 c5", "next written" },
	{ "add (%rax), %ebp", "03 28", "next written" },
	{ "add %ebp, (%rax)", "01 28", "next" },
	{ "adc $1, %rbp", "48 83 d5 01", "next written" },
	{ "mov $1, %ah", "b4 01", "next" },
	{ "mov %ah, %al", "88 e0", "next" },
	{ "add %ah, %bh", "00 e7", "next" },
	{ "mov $1, %bpl", "40 b5 01", "next written" },
	{ "inc %ah", "fe c4", "next" },
	{ "call .+5", "e8 00 00 00 00", "next add-8" },
	{ "call .+21", "e8 10 00 00 00", "call+16" },
	{ "call *%rax", "ff d0", "call" },
	{ "call *8(%rbx)", "ff 53 08", "call reads 3" },
	{ "call *8(%rip)", "ff 15 08 00 00 00", "call" },
	{ "lcall *(%rax)", "ff 18", "call" },
	{ "jmp .+18", "eb 10", "jump+16" },
	{ "jmp .+0x1005", "e9 00 10 00 00", "jump+4096" },
	{ "jmp *%rax", "ff e0", "any" },
	{ "jmp *(%rsi,%rax,8)", "ff 24 c6", "any" },
	{ "jmp *8(%rip)", "ff 25 08 00 00 00", "stop" },
	{ "ljmp *(%rax)", "ff 28", "any" },
	{ "je .+18", "74 10", "branch+16" },
	{ "jne .+0x1006", "0f 85 00 10 00 00", "branch+4096" },
	{ "jrcxz .+18", "e3 10", "branch+16" },
	{ "loop .+18", "e2 10", "branch+16" },
	{ "loope .+18", "e1 10", "branch+16" },
	{ "xbegin .+22", "c7 f8 10 00 00 00", "branch+16" },
	{ "ret", "c3", "return" },
	{ "ret $16", "c2 10 00", "return" },
	{ "lret", "cb", "stop" },
	{ "iretq", "48 cf", "stop" },
	{ "int3", "cc", "stop" },
	{ "hlt", "f4", "stop" },
	{ "ud2", "0f 0b", "stop" },
	{ "ud1 %eax, %eax", "0f b9 c0", "stop" },
	{ "int $0x80", "cd 80", "next" },
	{ "syscall", "0f 05", "next" },
	{ "nop", "90", "next" },
	{ "nopl 8(%rax)", "0f 1f 40 08", "next" },
	{ "endbr64", "f3 0f 1e fa", "next" },
	{ "mov 8(%rbx), %rax", "48 8b 43 08", "next reads 3" },
	{ "mov 8(%r12), %rax", "49 8b 44 24 08", "next reads 12" },
	{ "mov 8(%r12,%rbx), %rax", "49 8b 44 1c 08", "next reads 12" },
	{ "mov (,%rbx,8), %rax", "48 8b 04 dd 00 00 00 00", "next" },
	{ "mov 8(%rip), %rax", "48 8b 05 08 00 00 00", "next" },
	{ "mov 8(%r11), %rax", "49 8b 43 08", "next" },
	{ "mov %rbx, 8(%rax)", "48 89 58 08", "next" },
	{ "mov %rbx, %rax", "48 89 d8", "next reads 3" },
	{ "mov %rax, %rbx", "48 89 c3", "next" },
	{ "mov %ebx, %eax", "89 d8", "next" },
	{ "mov %r15, %rax", "4c 89 f8", "next reads 15" },
	{ "mov %r11, %rax", "4c 89 d8", "next" },
	{ "mov (%rbx), %rbx", "48 8b 1b", "next reads 3" },
	{ "cmp %rbx, %rax", "48 39 d8", "next" },
	{ "addps %xmm4, %xmm5", "0f 58 ec", "next" },
	{ "vaddps %ymm5, %ymm4, %ymm5", "c5 dc 58 ed", "next" },
	{ "andn %rax, %rcx, %rbp", "c4 e2 f0 f2 e8", "next written" },
	{ "rorx $1, %rax, %rbp", "c4 e3 fb f0 e8 01", "next written" },
	{ "crc32 %rax, %rbp", "f2 48 0f 38 f1 e8", "next written" },
	{ "movd %mm0, %ebp", "0f 7e c5", "next written" },
	{ "pushp %r16", "d5 18 50", "next add-8" },
	{ "push2 %rcx, %rax", "62 f4 7c 18 ff f1", "next add-16" },
	{ "pop2 %rcx, %rax", "62 f4 7c 18 8f c1", "next add+16" },
	{ "push2 %rbp, %rax", "62 f4 7c 18 ff f5", "next add-16 store+0" },
	{ "push2 %rax, %rbp", "62 f4 54 18 ff f0", "next add-16 store+8" },
	{ "pop2 %rbp, %rax", "62 f4 7c 18 8f c5", "next add+16 load+8" },
	{ "pop2 %rax, %rbp", "62 f4 54 18 8f c0", "next add+16 load+0" },
	{ "pop2 %rsp, %rax", "62 f4 7c 18 8f c4", "next set+16" },
};

static const char *text_of(const struct kunwind_insn_effect *e)
{
	static const char *const flow[] = { "next", "call", "branch", "jump", "any", "return", "stop" };
	static const char *const rsp[] = { " add", " rbp", " set", " aligned", " moved" };
	static const char *const loads[] = { "", " loads rsp", " loads rbp" };
	static const char *const rbp[] = { "", " =rsp", " store", " load", " left", " written" };
	static char text[128];
	char *end = text;
	u32 i;

	end += sprintf(end, "%s", flow[e->flow]);
	if (e->flow == KUNWIND_FLOW_BRANCH || e->flow == KUNWIND_FLOW_JUMP || e->direct)
		end += sprintf(end, "%+d", e->distance);
	if (e->rsp || e->off)
		end += sprintf(end, "%s", rsp[e->rsp]);
	if (e->rsp == KUNWIND_RSP_SET && e->base != KUNWIND_NO_REG)
		end += sprintf(end, " %u", e->base);
	if (e->rsp == KUNWIND_RSP_FROM_RBP || e->off)
		end += sprintf(end, "%+d", e->off);
	end += sprintf(end, "%s", rbp[e->rbp]);
	if (e->rbp >= KUNWIND_RBP_FROM_RSP && e->rbp <= KUNWIND_RBP_LOADED)
		end += sprintf(end, "%+d", e->at);
	if (e->loads)
		end += sprintf(end, "%s%+d", loads[e->loads], e->at);
	if (e->read)
		end += sprintf(end, " reads");
	for (i = 0; i < 16; i++)
		if (e->read >> i & 1)
			end += sprintf(end, " %u", i);
	return text;
}

static void test_effect(const char *text, const char *bytes, const char *want)
{
	struct kunwind_insn_effect effect;
	struct kunwind_insn insn;
	u8 code[32] = { };
	const char *got;
	u32 nr = 0;
	int used;

	for (; sscanf(bytes, "%2hhx%n", &code[nr], &used) == 1; bytes += used)
		nr++;
	memset(&effect, 0xee, sizeof(effect));
	if (!tap_ok(kunwind_insn_decode(code, &insn) && insn.length == nr, "%s: its length", text))
		return;
	kunwind_insn_effect(&insn, &effect);
	got = text_of(&effect);
	if (!tap_ok(!strcmp(got, want), "%s: %s", text, want))
		printf("#   got: %s\n", got);
}

/* Registers other than rsp and rbp that may be written; which one gets rsp + n; what is stored there. */
static const struct {
	const char *text, *bytes, *written, *copy;
} kept[] = {
	{ "mov %rsp, %rax", "48 89 e0", "0", "copies 0+0" },
	{ "mov %rsp, %r13", "49 89 e5", "13", "copies 13+0" },
	{ "mov %rsp, %r13, other form", "4c 8b ec", "13", "copies 13+0" },
	{ "mov %rsp, %rbp", "48 89 e5", "", "" },
	{ "mov %esp, %eax", "89 e0", "0", "" },
	{ "lea 8(%rsp), %r10", "4c 8d 54 24 08", "10", "copies 10+8" },
	{ "lea 8(%rsp,%rax), %r10", "4c 8d 54 04 08", "10", "" },
	{ "lea 8(%rsp), %rsp", "48 8d 64 24 08", "", "" },
	{ "push %rax", "50", "", "stores 0+0" },
	{ "push %r13", "41 55", "", "stores 13+0" },
	{ "mov %rax, 16(%rsp)", "48 89 44 24 10", "", "stores 0+16" },
	{ "mov %eax, 16(%rsp)", "89 44 24 10", "", "" },
	{ "mov %rax, %fs:(%rsp)", "64 48 89 04 24", "", "" },
	{ "mov %rax, 16(%rdi)", "48 89 47 10", "", "" },
	{ "add 16(%rsp), %rax", "48 03 44 24 10", "0", "" },
	{ "add $0x1000, %eax", "05 00 10 00 00", "0 1 2 3 6 7 11", "" },
	{ "mul %rcx", "48 f7 e1", "0 1 2 3 6 7 11", "" },
	{ "neg %rcx", "48 f7 d9", "1", "" },
	{ "mov $1, %ah", "b4 01", "0 1 2 3", "" },
	{ "xchg %r8, %rax", "49 90", "all", "" },
	{ "nop", "90", "", "" },
	{ "xchg %r9, %rax", "49 91", "0 1 2 3 6 7 9 11", "" },
	{ "cpuid", "0f a2", "0 1 2 3 6 7 11", "" },
	{ "syscall", "0f 05", "0 1 2 3 6 7 11", "" },
	{ "int $0x80", "cd 80", "all", "" },
	{ "rep movsq", "f3 48 a5", "0 1 2 3 6 7 11", "" },
	{ "cmpxchg %rcx, (%rdi)", "48 0f b1 0f", "0 1 2 3 6 7 11", "" },
	{ "pcmpistri $0, %xmm0, %xmm1", "66 0f 3a 63 c8 00", "0 1 2 3 6 7 11", "" },
	{ "mulx %rax, %rcx, %rdx", "c4 e2 f3 f6 d0", "1 2", "" },
	{ "addps (%rsp), %xmm0", "0f 58 04 24", "", "" },
	{ "vmovaps %ymm0, (%rsp)", "c5 fc 29 04 24", "", "" },
	{ "movq %xmm0, %rax", "66 48 0f 7e c0", "0", "" },
	{ "test %rax, %rax", "48 85 c0", "", "" },
	{ "dec %r11", "49 ff cb", "11", "" },
};

static void test_kept(u32 test)
{
	struct kunwind_insn insn;
	char written[64] = "", copy[64] = "", *end = written;
	u8 code[32] = { };
	const char *bytes = kept[test].bytes;
	u32 nr = 0, i, all = 0;
	int used;
	s32 at;

	for (; sscanf(bytes, "%2hhx%n", &code[nr], &used) == 1; bytes += used)
		nr++;
	if (!tap_ok(kunwind_insn_decode(code, &insn) && insn.length == nr, "%s: length", kept[test].text))
		return;
	for (i = 0; i < 16; i++) {
		if ((i < 4 || i > 5) && !kunwind_insn_keeps(&insn, i)) {
			end += sprintf(end, "%s%u", all ? " " : "", i);
			all++;
		}
		if (kunwind_insn_stores(&insn, i, &at))
			sprintf(copy, "stores %u%+d", i, at);
	}
	i = kunwind_insn_copies_rsp(&insn, &at);
	if (i != KUNWIND_NO_REG)
		sprintf(copy, "copies %u%+d", i, at);
	if (all == 14)
		strcpy(written, "all");
	if (!tap_ok(!strcmp(written, kept[test].written) && !strcmp(copy, kept[test].copy),
		    "%s: may write %s; %s", kept[test].text, kept[test].written, kept[test].copy))
		printf("#   got: %s; %s\n", written, copy);
}

int main(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		test_effect(cases[i].text, cases[i].bytes, cases[i].effect);
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		test_kept(i);
	return tap_done();
}
