// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * outermost.c - recognize the frame where the program, a thread or a goroutine
 * began
 *
 * Nothing called such a frame, so a stack that ends there is complete
 * (docs/unwinding.md). Without unwind information, four things show this:
 *
 * The kernel starts a program at the entry point of its interpreter (ld.so),
 * which later jumps to the program's own entry point. rsp must be at most
 * SP_SLACK below the rsp that the program began with. The frame is in the
 * function at an entry point if the instructions from there lead to the frame's
 * address, and leave rsp as it is in the frame (or at an unknown value). 32-bit
 * code is not followed: the frame must be at most MOST_BYTES_I386 after the
 * entry point.
 *
 * The code that begins a thread clears rbp, as the psABI asks (3.4.1), calls,
 * and ends the thread when the call returns.
 *
 * A goroutine of Go begins as if runtime.goexit() had called its first
 * function: the return address is the second byte of runtime.goexit() (Go:
 * src/runtime/asm_amd64.s). No call ends there, so no other function has that
 * return address.
 *
 * A fiber of boost.context (also in PHP and bthread) begins with the return address
 * of make_fcontext()'s last instructions, which no call precedes: they end the
 * process. A context of makecontext() begins with the return address of the first byte
 * of glibc's __start_context(), which goes on in another context or ends the process.
 *
 * Bounds: MOST_INSNS instructions for each of the two entry points. Any
 * context, NMI included; kunwind_deps.h reads memory. Stack: 750 bytes.
 */
#include "../table/table.h"
#include "../walk/mem.h"
#include "../x86/insn_effect.h"
#include "insn_kind.h"
#include "outermost.h"

#define MOST_INSNS	512
#define MOST_TARGETS	12
#define MOST_INSNS_OF_END 8
#define MOST_BYTES_OF_MARK 16
#define EAX_UNKNOWN	(-1)
#define NR_EXIT		60
#define NR_EXIT_GROUP	231

/*
 * How many bytes the code at an entry point may subtract from rsp, for words
 * and for alignment (glibc: sysdeps/x86_64/dl-machine.h, RTLD_START; Go:
 * rt0_go).
 */
#define SP_SLACK	96

#define EHDR_ENTRY	24	/* offset of e_entry in struct elf64_hdr and in struct elf32_hdr */
#define MOST_BYTES_I386	96	/* from the entry point on */

/* A call of the next instruction is one, too (musl's _start). */
static bool kunwind_walk_attr calls(const struct kunwind_insn *insn, const struct kunwind_insn_effect *e)
{
	return e->flow == KUNWIND_FLOW_CALL || (!insn->map && insn->op == 0xe8);
}

/* The stack pointer at an instruction; sp counts only if known. */
struct at {
	u64 ip, sp;
	bool known;
};

static void kunwind_walk_attr move_rsp(struct at *at, const struct kunwind_insn *insn,
				       const struct kunwind_insn_effect *e)
{
	at->ip += insn->length;
	if (e->rsp == KUNWIND_RSP_ADD && !calls(insn, e))
		at->sp += (s64)e->off;
	else if (e->rsp == KUNWIND_RSP_ALIGNED)
		at->sp &= (s64)e->off;
	else if (e->rsp)
		at->known = false;
}

/*
 * Whether the function at @start, entered with rsp @start_sp, has an
 * instruction at @ip at which rsp is @sp, or not known. Code after an
 * instruction that ends() is read if a jump led forward to it. If there is no
 * such code, a jump (to another function) is followed only if the code has
 * called nothing before.
 */
static bool kunwind_walk_attr begins(struct kunwind_mem *mem, u64 start, u64 start_sp, u64 ip,
				     u64 sp)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS };
	struct at at = { .ip = start, .sp = start_sp, .known = true };
	struct at target[MOST_TARGETS] kunwind_unset;
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	bool called = false, behind = false;
	u64 callee = ~0ULL;
	u32 nr = 0, i, next;

	for (;;) {
		if (at.ip == ip)
			return !at.known || at.sp == sp;
		/*
		 * The callee is another function, even if it begins directly
		 * after the call, at the return address.
		 */
		if (at.ip >= callee)
			return false;
		if (!kunwind_pay(mem, nr / 8) || !kunwind_insn_next_effect(&text, at.ip, &insn, &e))
			return false;
		move_rsp(&at, &insn, &e);
		if ((e.flow == KUNWIND_FLOW_BRANCH || e.flow == KUNWIND_FLOW_JUMP) && e.distance > 0) {
			for (i = 0; i < nr; i++)
				if (target[i].ip < at.ip)
					break;
			if (i < MOST_TARGETS) {
				nr += i == nr;
				i = kunwind_index(i, (u32)MOST_TARGETS);
				target[i] = at;
				target[i].ip += (s64)e.distance;
			}
		}
		if (e.flow < KUNWIND_FLOW_JUMP && !(behind && (is_nop(&insn) || marks_target(&insn)))) {
			behind = calls(&insn, &e);
			called |= behind;
			if (behind && insn.op == 0xe8 && insn.imm >= 0)
				callee = min(callee, at.ip + (s64)insn.imm);
			continue;
		}
		/* The code after this is something else, unless a jump leads there. */
		for (i = 0, next = nr; i < nr; i++)
			if (target[i].ip >= at.ip && (next == nr || target[i].ip < target[next].ip))
				next = i;
		if (next < nr)
			at = target[kunwind_index(next, (u32)MOST_TARGETS)];
		else if (e.flow == KUNWIND_FLOW_JUMP && !called)
			at.ip += (s64)e.distance;
		else
			return false;
		text.read = text.used = 0;
		behind = false;
	}
}

/*
 * The interpreter's entry point; 0: not known. A program that has just begun has not
 * touched the page of its interpreter's ELF header, so a walk cannot read the header.
 * The table of the interpreter's file has the address, too.
 */
static u64 kunwind_walk_attr interpreter_entry(struct kunwind_walk *walk)
{
	const u64 base = walk->ranges->interpreter;
	const struct kunwind_range *range = walk->range;
	const struct kunwind_table *table = range ? READ_ONCE(range->table) : NULL;
	u64 entry;

	if (!base)
		return 0;
	barrier();	/* as in kunwind_walk_rule() */
	if (table && table->entry && range->bias == base)
		return base + table->entry;
	if (!(walk->i386 ? kunwind_read_word32(&walk->mem, base + EHDR_ENTRY, &entry) :
			   kunwind_read_word(&walk->mem, base + EHDR_ENTRY, &entry)))
		return 0;
	return base + entry;
}

/* Decide by the distance from the entry point: ld.so's _start is that long. */
static bool kunwind_walk_attr started_i386(struct kunwind_walk *walk, u64 ip)
{
	const u64 interpreter = interpreter_entry(walk), entry = walk->ranges->entry;

	return (interpreter && ip - interpreter <= MOST_BYTES_I386) ||
	       (entry && ip - entry <= MOST_BYTES_I386);
}

static bool kunwind_walk_attr near_entry_sp(const struct kunwind_ranges *ranges, u64 sp)
{
	return ranges->entry_sp && sp <= ranges->entry_sp && ranges->entry_sp - sp <= SP_SLACK;
}

bool kunwind_walk_attr kunwind_at_start(struct kunwind_walk *walk, u64 ip, u64 sp)
{
	const struct kunwind_ranges *ranges = walk->ranges;
	u64 interpreter;

	if (!near_entry_sp(ranges, sp))
		return false;
	if (walk->i386)
		return started_i386(walk, ip);
	interpreter = interpreter_entry(walk);
	if (interpreter && begins(&walk->mem, interpreter, ranges->entry_sp, ip, sp))
		return true;
	return ranges->entry && begins(&walk->mem, ranges->entry, ranges->entry_sp, ip, sp);
}

/*
 * Whether xor %ebp, %ebp is at @at, a call ends at @ra, and the instructions in
 * between neither jump away nor write rbp.
 */
static bool kunwind_walk_attr marks_end(struct kunwind_mem *mem, u64 at, u64 ra)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS_OF_END };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	bool first = true;

	while (at < ra && kunwind_insn_next_effect(&text, at, &insn, &e)) {
		at += insn.length;
		if (first && (insn.map || (insn.op != 0x31 && insn.op != 0x33) ||
			      insn.modrm != 0xed || insn.reg_high || insn.rm_high))
			return false;
		if (at == ra)
			return calls(&insn, &e);
		if (!first && (e.flow >= KUNWIND_FLOW_JUMP || (e.rbp && e.rbp != KUNWIND_RBP_STORED)))
			return false;
		first = false;
	}
	return false;
}

/* The value of eax after the instruction; EAX_UNKNOWN: not known. */
static s32 kunwind_walk_attr eax_after(const struct kunwind_insn *insn, s32 eax)
{
	if (insn->map || insn->vex || insn->rm_high)
		return EAX_UNKNOWN;
	switch (insn->op) {
	case 0xb8:
		return insn->imm;
	case 0xb0:
		return eax == EAX_UNKNOWN ? EAX_UNKNOWN : (eax & ~0xff) | (u8)insn->imm;
	case 0x31: case 0x33:
		return insn->modrm == 0xc0 && !insn->reg_high ? 0 :
		       kunwind_insn_writes(insn, 0) ? EAX_UNKNOWN : eax;
	case 0x89: case 0x8b:
		return kunwind_insn_writes(insn, 0) ? EAX_UNKNOWN : eax;
	}
	return EAX_UNKNOWN;
}

#define GOEXIT_ALIGNED	16
#define PADDING		0xcc

/*
 * Whether runtime.goexit() is at @at: an aligned address after padding, with
 * the code nop (or a breakpoint in its place); call runtime.goexit1; nop. The
 * target of the call is not compared.
 */
static bool kunwind_walk_attr is_goexit(struct kunwind_mem *mem, u64 at)
{
	u64 before, code;

	return at % GOEXIT_ALIGNED == 0 && kunwind_read_word(mem, at - 8, &before) &&
	       before >> 56 == PADDING && kunwind_read_word(mem, at, &code) &&
	       ((u16)code == 0xe890 || (u16)code == 0xe8cc) && (u8)(code >> 48) == 0x90;
}

bool kunwind_walk_attr kunwind_code_begins_goroutine(struct kunwind_mem *mem, u64 ra)
{
	return is_goexit(mem, ra - 1) || is_goexit(mem, ra - 6);
}

#define ENDBR64		0xfa1e0ff3U
#define XOR_RDI_CALL	0xe8ff3148U	/* xor %rdi, %rdi; call */
#define HLT		0xf4
#define RET		0xc3
#define JMP_RBX		0xe3ff
/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je: bytes 1 to 7, and three */
#define START_CONTEXT	0x48243c8b48dc89ULL
#define TEST_JE		0x74ff85

bool kunwind_walk_attr kunwind_code_ends_fiber(struct kunwind_mem *mem, u64 ra)
{
	u64 at = ra, before, code, last;

	if (!kunwind_read_word(mem, at, &code))
		return false;
	if ((u32)code == ENDBR64) {
		at += 4;
		if (!kunwind_read_word(mem, at, &code))
			return false;
	}
	/* The first byte may be a breakpoint. */
	if (code >> 8 == START_CONTEXT)
		return kunwind_read_word(mem, at + 8, &last) && (last & 0xffffff) == TEST_JE;
	return (u32)code == XOR_RDI_CALL && kunwind_read_word(mem, at + 1, &last) &&
	       last >> 56 == HLT && kunwind_read_word(mem, ra - 8, &before) &&
	       (before >> 56 == RET || before >> 48 == JMP_RBX);
}

bool kunwind_walk_attr kunwind_code_outermost(struct kunwind_mem *mem, u64 ra)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS_OF_END };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	s32 eax = EAX_UNKNOWN;
	u64 at = ra;
	u32 i;

	for (;;) {
		if (!kunwind_insn_next(&text, at, &insn))
			return false;
		at += insn.length;
		if (insn.map == 1 && insn.op == 0x05)			/* syscall */
			break;
		eax = eax_after(&insn, eax);
		if (!insn.map && insn.op != 0x31 && insn.op != 0x33 && insn.op != 0x89 &&
		    insn.op != 0x8b && (insn.op & 0xf0) != 0xb0)
			return false;
	}
	if (eax != NR_EXIT && eax != NR_EXIT_GROUP)
		return false;
	/* A trap must follow: the system call does not return. */
	if (!kunwind_insn_next_effect(&text, at, &insn, &e) || e.flow != KUNWIND_FLOW_STOP ||
	    (!insn.map && insn.op != 0xf4 && insn.op != 0xcc))
		return false;
	for (i = 4; i <= MOST_BYTES_OF_MARK; i++)
		if (marks_end(mem, ra - i, ra))
			return true;
	return false;
}

bool kunwind_walk_attr kunwind_returns_to_outermost(struct kunwind_walk *walk, u64 ra, u64 slot,
						    bool by_known)
{
	const struct kunwind_ranges *ranges = walk->ranges;

	if ((slot & 15) != 8)
		return false;
	return kunwind_code_outermost(&walk->mem, ra) ||
	       (by_known && ranges->entry && near_entry_sp(ranges, slot + 8) &&
		begins(&walk->mem, ranges->entry, ranges->entry_sp, ra, slot + 8));
}
