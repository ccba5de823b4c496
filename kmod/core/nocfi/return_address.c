// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * return_address.c - how sure it is that a word of the stack is a frame's
 * return address
 *
 * For frames without unwind information (step.c). The word must point into
 * executable memory that is known for the process, and the bytes before that
 * address must be a call. If the instruction says where the call leads (e8, ff
 * 15; followed through PLT stubs and jumps), that place is read too. A call
 * leads:
 *   proven        to a function whose code, read up to the frame's own address
 *                 (code_analysis.c), says that the return address is at this
 *                 word, counted from rsp, or else from rbp; or to a function
 *                 that tail-calls such a function
 *   near          to less than KUNWIND_MOST_CODE before the frame's own address, in the
 *                 same mapping, and the code says nothing about the word
 *   possible      to an unknown place (call through a register); or to a
 *                 function that tail-calls through a register or memory; or
 *                 anywhere, if the frame is in unknown code; or to another
 *                 mapping, if the frame is in code of a JIT
 *   contradicted  elsewhere, or the code says otherwise: the word is not the
 *                 return address of this frame
 *   (no call)     in code of a JIT: to a routine between the call and the end of
 *                 the jump that follows the call, and the frame is not there
 * step.c raises a proof to:
 *   outermost     if the word is possible, is in code that begins a thread or
 *                 the program (outermost.c), and no word below it follows a call
 * No call precedes these return addresses:
 *   handler       the trampoline of a signal frame, which lies above the word
 *   interpreter   the place to which a JIT's interpreter makes its callee
 *                 return, if the frame is in code of a JIT, too. The
 *                 interpreter's frame proves it (kunwind_proof_jumped()). Above
 *                 a frame pointer, which may be a caller's, the word is only
 *                 possible.
 *   goroutine     the second byte of Go's runtime.goexit() (outermost.c).
 *                 step.c takes it as proven if the code ahead returns to it.
 *
 * Bounds: the walk's budget pays for all that is read. Any context, NMI
 * included. Stack: 1,100 bytes.
 */
#include "../walk/mem.h"
#include "../walk/ranges.h"
#include "../x86/call_bytes.h"
#include "analysis_cache.h"
#include "code_analysis.h"
#include "return_address.h"
#include "step.h"

#define SYSCALL		0x050f		/* the instruction, as a little-endian word */
#define MOST_READ	4096		/* bytes of it that are read */
#define BREAKPOINT	0xcc
#define MOST_JUMPS	3
#define MOST_TAILS	3		/* functions that jumped one to the other */
#define MOST_TAIL_INSNS	256		/* of a function that may end with a tail call */
#define COST_OF_HANDLERS 8	/* in units of the budget: 64 addresses are compared */
#define MOST_STUB_INSNS	10		/* the same after KUNWIND_PROOF_TAILS are used up */

u64 kunwind_walk_attr kunwind_nocfi_return(struct kunwind_walk *walk, u64 ra, u64 slot)
{
	u32 looked;
	u64 real;

	/*
	 * The kernel's trampoline is at the start of a page. Another address in a
	 * slot of its list is real: longjmp() left the function that had the slot.
	 */
	if (ra & KUNWIND_PAGE_MASK || !ra)
		return ra;
	/* If the budget is spent, the walk discards this step. */
	if (!walk->mem.left)
		return ra;
	real = kunwind_mem_return(&walk->mem, slot, &looked);
	kunwind_pay(&walk->mem, looked);
	return real && kunwind_ranges_live(walk->ranges, real - 1) ? real : ra;
}

/* The rule of a table for @addr; of kind KUNWIND_RULE_NONE if no table has one. */
static struct kunwind_rule kunwind_walk_attr rule_of(struct kunwind_walk *walk, u64 addr)
{
	const struct kunwind_range *range = kunwind_ranges_live(walk->ranges, addr);
	const struct kunwind_table *table = range ? READ_ONCE(range->table) : NULL;
	struct kunwind_rule rule;

	barrier();	/* load the table before the bias, as in kunwind_walk_rule() */
	/* A part that is not built has no rules, like a table that is not built. */
	if (!table || !kunwind_pay(&walk->mem, KUNWIND_COST_LOOKUP) ||
	    kunwind_mem_find(&walk->mem, &table, addr - range->bias, &rule) != KUNWIND_COMPLETE)
		return (struct kunwind_rule){ };
	return rule;
}

bool kunwind_walk_attr kunwind_proof_covered(struct kunwind_walk *walk, u64 addr)
{
	const struct kunwind_rule rule = rule_of(walk, addr);

	return (rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_NONE && !(rule.reg & KUNWIND_RULE_CODE);
}

bool kunwind_walk_attr kunwind_proof_uses_rbp(struct kunwind_walk *walk, u64 addr)
{
	struct kunwind_rule rule = rule_of(walk, addr);

	return (rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_CFA &&
	       (rule.reg & ~KUNWIND_RULE_FLAGS) == KUNWIND_RBP;
}

/* Where a call to @target leads through at most MOST_JUMPS stubs and jumps; 0: not known. */
static u64 kunwind_walk_attr follow_jumps(struct kunwind_walk *walk, u64 target)
{
	u64 at, word;
	u32 i;

	for (i = 0; i < MOST_JUMPS; i++) {
		at = target;
		if (!kunwind_ranges_live(walk->ranges, at) ||
		    !kunwind_read_word(&walk->mem, at, &word))
			return 0;
		if (kunwind_byte(word, 0) == BREAKPOINT) {
			u8 first;

			if (!kunwind_mem_original(&walk->mem, at, &first))
				return target;
			word = (word & ~0xffULL) | first;
		}
		if ((u32)word == 0xfa1e0ff3) {			/* endbr64 */
			at += 4;
			if (!kunwind_read_word(&walk->mem, at, &word))
				return 0;
		}
		if (kunwind_byte(word, 0) == 0xf2) { /* bnd */
			at++;
			word >>= 8;
		}
		if ((word & 0xffff) == 0x25ff) {		/* jmp *x(%rip) */
			if (!kunwind_read_word(&walk->mem, at + 6 + (s64)(s32)(word >> 16),
					       &target))
				return 0;
		} else if (kunwind_byte(word, 0) == 0xe9) {
			target = at + 5 + (s64)(s32)(word >> 8);
		} else if (kunwind_byte(word, 0) == 0xeb) {
			target = at + 2 + (s64)(s8)(word >> 8);
		} else {
			return target;
		}
	}
	return 0;
}

/* Where the direct call that ends at @ra leads. @word: the eight bytes before @ra. */
static u64 kunwind_walk_attr direct_target(const struct kunwind_walk *walk, u64 ra, u64 word)
{
	const u64 target = ra + (s64)(s32)(word >> 32);

	return walk->i386 ? (u32)target : target;
}

bool kunwind_walk_attr kunwind_proof_call(struct kunwind_walk *walk, u64 ra, u64 *target)
{
	u64 word, pointer;

	*target = 0;
	if (!kunwind_ranges_live(walk->ranges, ra - 1) ||
	    !kunwind_read_word(&walk->mem, ra - 8, &word))
		return false;
	/* A breakpoint may hide e8. In either case, the target must be code. */
	if (kunwind_ends_direct_call(word) || kunwind_byte(word, 3) == BREAKPOINT) {
		pointer = direct_target(walk, ra, word);
		if (kunwind_ranges_live(walk->ranges, pointer)) {
			*target = follow_jumps(walk, pointer);
			return true;
		}
	}
	/* call *n(%rip), through a slot of the GOT; a breakpoint may hide ff */
	if (kunwind_byte(word, 3) == 0x15 &&
	    (kunwind_byte(word, 2) == 0xff || kunwind_byte(word, 2) == BREAKPOINT) &&
	    kunwind_read_word(&walk->mem, ra + (s64)(s32)(word >> 32), &pointer) &&
	    kunwind_ranges_live(walk->ranges, pointer)) {
		*target = follow_jumps(walk, pointer);
		return true;
	}
	return kunwind_ends_indirect_call(word);
}

bool kunwind_walk_attr kunwind_proof_calls_nothing(struct kunwind_walk *walk, u64 ra, u64 ip)
{
	u64 word;

	return kunwind_ranges_live(walk->ranges, ra - 1) && kunwind_read_word(&walk->mem, ra - 8, &word) &&
	       kunwind_ends_direct_call(word) && direct_target(walk, ra, word) == ip;
}

bool kunwind_walk_attr kunwind_proof_no_call(struct kunwind_walk *walk, u64 ra)
{
	u64 word;
	u32 i;

	if (!kunwind_read_word(&walk->mem, ra - 8, &word))
		return false;
	for (i = 1; i < 7; i++)
		if (kunwind_byte(word, i) == BREAKPOINT)
			return false;
	return true;
}

#define MOV_RBP_RSP	0x658b48	/* mov n(%rbp), %rsp; without n */
#define MOV_RBP_RCX	0x4d8b48	/* mov n(%rbp), %rcx */
#define LEA_RCX_RSP	0x00cd648d48	/* lea 0(%rbp,%rcx,8), %rsp */

bool kunwind_walk_attr kunwind_proof_takes_rsp(struct kunwind_walk *walk,
					       const struct kunwind_nocfi_frame *frame,
					       const struct kunwind_candidate *c, s8 *at)
{
	const struct kunwind_range *range = kunwind_ranges_live(walk->ranges, c->ra);
	u64 word, next;

	if (!range || !kunwind_range_is_jit(range) || !frame->range ||
	    !kunwind_range_is_jit(frame->range) || !kunwind_pay(&walk->mem, KUNWIND_PROOF_COST) ||
	    !kunwind_read_word(&walk->mem, c->ra, &word))
		return false;
	*at = kunwind_byte(word, 3);
	return (word & 0xffffff) == MOV_RBP_RSP ||
	       ((word & 0xffffff) == MOV_RBP_RCX && kunwind_read_word(&walk->mem, c->ra + 4, &next) &&
		(next & 0xffffffffff) == LEA_RCX_RSP);
}

bool kunwind_walk_attr kunwind_proof_noted_rsp(struct kunwind_walk *walk,
					       const struct kunwind_candidate *c, u64 bp, s8 at)
{
	u64 sp;

	if (bp & 7 || bp <= c->slot || bp - c->slot > KUNWIND_FRAME_MOST ||
	    !kunwind_read_word(&walk->mem, bp + (s64)at, &sp))
		return false;
	if ((s64)sp < 0)
		sp = bp + 8 * sp;
	return !(sp & 7) && sp >= c->slot && sp < bp;
}

bool kunwind_walk_attr kunwind_proof_jumped(struct kunwind_walk *walk,
					    const struct kunwind_nocfi_frame *frame,
					    struct kunwind_candidate *c)
{
	u64 bp;
	s8 at;

	if (!kunwind_proof_takes_rsp(walk, frame, c, &at))
		return false;
	c->rbp_at = -1;
	if (frame->bp_known && kunwind_proof_noted_rsp(walk, c, frame->bp, at))
		return true;
	c->rbp_at = 8;
	return c->slot > frame->sp && kunwind_read_word(&walk->mem, c->slot - 8, &bp) &&
	       kunwind_proof_noted_rsp(walk, c, bp, at);
}

/* A breakpoint may have replaced the first byte. */
bool kunwind_walk_attr kunwind_proof_trampoline(struct kunwind_walk *walk, u64 at)
{
	u64 word, more;

	if (!kunwind_read_word(&walk->mem, at, &word))
		return false;
	if ((word & 0xffffffffffff00ULL) == 0x050f0000000f00ULL)
		return kunwind_byte(word, 0) == 0xb8 || kunwind_byte(word, 0) == BREAKPOINT;
	return (word & 0xffffffffffff00ULL) == 0x0000000fc0c700ULL &&
	       (kunwind_byte(word, 0) == 0x48 || kunwind_byte(word, 0) == BREAKPOINT) &&
	       kunwind_byte(word, 7) == 0x0f && kunwind_read_word(&walk->mem, at + 1, &more) &&
	       kunwind_byte(more, 7) == 0x05;
}

/*
 * A called frame is at the start of the trampoline, because the handler returns
 * there. An exact frame may also be directly before or after the system call (5,
 * 7 or 9 bytes in). There, rsp is a multiple of 16, because the kernel aligns the
 * signal frame. Most exact frames follow another system call: one word of code
 * excludes them.
 */
bool kunwind_walk_attr kunwind_proof_in_trampoline(struct kunwind_walk *walk, bool exact)
{
	const u64 ip = walk->regs.r[KUNWIND_RA];
	u64 word;

	if (!exact)
		return kunwind_proof_trampoline(walk, ip);
	if (walk->regs.r[KUNWIND_RSP] % 16)
		return false;
	if (kunwind_read_word(&walk->mem, ip - 8, &word) && word >> 48 == SYSCALL)
		return kunwind_proof_may_run_trampoline(word) &&
		       (kunwind_proof_trampoline(walk, ip - 7) || kunwind_proof_trampoline(walk, ip - 9));
	if (!kunwind_read_word(&walk->mem, ip, &word))
		return false;
	if ((u16)word == SYSCALL)
		return kunwind_proof_trampoline(walk, ip - 5) || kunwind_proof_trampoline(walk, ip - 7);
	return kunwind_proof_may_be_trampoline(word) && kunwind_proof_trampoline(walk, ip);
}

/* struct ucontext: flags, link and stack (40 bytes), then struct sigcontext. */
bool kunwind_walk_attr kunwind_proof_sigframe(struct kunwind_walk *walk, u64 sp)
{
	u64 segments;

	/* The code segment of 64-bit code, in the sigcontext's word of segments; and Xen's (PV). */
	return kunwind_read_word(&walk->mem, sp + 40 + 18 * 8, &segments) &&
	       ((u16)segments == 0x33 || (u16)segments == 0xe033);
}

/*
 * In the trampoline, rsp points to the struct ucontext of the signal frame:
 * flags, link and stack (40 bytes), then struct sigcontext.
 */
bool kunwind_walk_attr kunwind_nocfi_signal(struct kunwind_walk *walk, bool exact)
{
	static const u8 order[] = {
		KUNWIND_R8, KUNWIND_R9, KUNWIND_R10, KUNWIND_R11, KUNWIND_R12, KUNWIND_R13,
		KUNWIND_R14, KUNWIND_R15, KUNWIND_RDI, KUNWIND_RSI, KUNWIND_RBP, KUNWIND_RBX,
		KUNWIND_RDX, KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RSP, KUNWIND_RA,
	};
	u64 sp = walk->regs.r[KUNWIND_RSP], value;
	struct kunwind_mem *mem = &walk->mem;
	u32 i;

	if (!kunwind_proof_in_trampoline(walk, exact) || !kunwind_proof_sigframe(walk, sp))
		return false;
	if (!kunwind_mem_begin(mem, sp + 40))
		return false;
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		kunwind_mem_read(mem, value, sp + 40 + 8 * i, fault);
		walk->regs.r[order[kunwind_index(i, (u32)ARRAY_SIZE(order))]] = value;
	}
	kunwind_mem_end(mem);
	walk->regs.valid = KUNWIND_ALL_REGS;
	return true;
fault:
	/* rsp and rip are read last: both are still the frame's, unless only rip failed. */
	kunwind_mem_end(mem);
	walk->regs.valid = KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
	return false;
}

/* The proof of @c, provided that the frame is in the function at @target. */
static enum kunwind_proof kunwind_walk_attr leads_here(struct kunwind_walk *walk,
						       const struct kunwind_nocfi_frame *frame,
						       u64 target, struct kunwind_candidate *c)
{
	u64 distance = frame->ip - target;
	struct kunwind_code code;

	if (target < frame->range->start || target > frame->ip || distance >= KUNWIND_MOST_CODE)
		return KUNWIND_PROOF_CONTRADICTED;
	if (distance > MOST_READ)
		return KUNWIND_PROOF_NEAR;
	kunwind_cached_code_read(&walk->mem, target, frame->ip, &code);
	c->rbp_at = code.rbp_at;
	if (code.depth >= 0)
		return frame->sp + code.depth == c->slot ? KUNWIND_PROOF_PROVEN :
							   KUNWIND_PROOF_CONTRADICTED;
	/* The code does not say how much the stack grew. rbp was set before it grew. */
	if (code.frame >= 0 && frame->bp_known)
		return frame->bp + code.frame == c->slot ? KUNWIND_PROOF_PROVEN :
							   KUNWIND_PROOF_CONTRADICTED;
	return KUNWIND_PROOF_NEAR;
}

/*
 * Where the function at @target tail-calls, as kunwind_code_tail() says; 0: nowhere known. If
 * the frame is in no code, no jump leads to it: the range is empty.
 */
static u64 kunwind_walk_attr tail_of(struct kunwind_walk *walk,
				     const struct kunwind_nocfi_frame *frame, u64 target)
{
	const u32 most = max(min(*frame->tails, (u32)MOST_TAIL_INSNS), (u32)MOST_STUB_INSNS);
	const u64 lo = frame->range ? frame->range->start : 1, hi = frame->range ? frame->ip : 0;
	u32 left = most, read;

	target = kunwind_cached_code_tail(&walk->mem, target, lo, hi, &left);
	read = most - left;
	*frame->tails -= min(*frame->tails, read);
	return target;
}

bool kunwind_walk_attr kunwind_proof_leads_anywhere(struct kunwind_walk *walk,
						    const struct kunwind_nocfi_frame *frame,
						    u64 target)
{
	u32 i;

	for (i = 0; i < MOST_TAILS && target && target != KUNWIND_CODE_ANYWHERE; i++)
		target = tail_of(walk, frame, target);
	return target == KUNWIND_CODE_ANYWHERE;
}

/*
 * Whether the call before @ra is "call L; jmp E; L: ...; ret; E:" and the frame
 * is not between L and E. OpenJDK's interpreter calls the run-time system by
 * such a routine, so old return addresses of it are in many of its frames.
 */
static bool kunwind_walk_attr called_beside(struct kunwind_walk *walk,
					    const struct kunwind_nocfi_frame *frame, u64 ra,
					    u64 target)
{
	u64 word;

	if (target != ra + 5 || !kunwind_read_word(&walk->mem, ra, &word) ||
	    kunwind_byte(word, 0) != 0xe9 || (s32)(word >> 8) <= 0)
		return false;
	return frame->ip - target > (u32)(word >> 8);
}

void kunwind_walk_attr kunwind_prove_call(struct kunwind_walk *walk,
					  const struct kunwind_nocfi_frame *frame,
					  struct kunwind_candidate *c)
{
	const struct kunwind_range *here = frame->range;
	u64 target;

	c->proof = KUNWIND_PROOF_NO_CALL;
	c->target = 0;
	if (!kunwind_pay(&walk->mem, KUNWIND_PROOF_COST))
		return;
	if (!kunwind_proof_call(walk, c->ra, &target)) {
		if (kunwind_ranges_live(walk->ranges, c->ra) &&
		    kunwind_proof_trampoline(walk, c->ra) &&
		    kunwind_proof_sigframe(walk, c->slot + 8)) {
			c->proof = KUNWIND_PROOF_HANDLER;
			c->rbp_at = KUNWIND_CODE_RBP_LOST;
		}
		return;
	}
	if (here && kunwind_range_is_jit(here) && called_beside(walk, frame, c->ra, target))
		return;
	c->proof = KUNWIND_PROOF_POSSIBLE;
	c->target = target;
}

void kunwind_walk_attr kunwind_prove(struct kunwind_walk *walk,
				     const struct kunwind_nocfi_frame *frame,
				     struct kunwind_candidate *c)
{
	const struct kunwind_range *here = frame->range;
	u64 target;
	u32 i;

	kunwind_prove_call(walk, frame, c);
	target = c->target;
	if (!target || !here)
		return;
	if (kunwind_range_is_jit(here) && (target < here->start || target >= here->end))
		return;
	c->proof = leads_here(walk, frame, target, c);
	if (c->proof == KUNWIND_PROOF_PROVEN)
		return;
	/* The called function may have released its frame and jumped to this function. */
	for (i = 0; i < MOST_TAILS && target; i++) {
		target = tail_of(walk, frame, target);
		if (target == KUNWIND_CODE_ANYWHERE) {
			c->proof = KUNWIND_PROOF_POSSIBLE;
			return;
		}
		if (target && leads_here(walk, frame, target, c) == KUNWIND_PROOF_PROVEN) {
			c->proof = KUNWIND_PROOF_PROVEN;
			return;
		}
	}
}

/*
 * The signal frame does not say which handler it was made for. If the frame is in
 * a handler, it is in the nearest one at or before its address.
 */
bool kunwind_walk_attr kunwind_proof_handles(struct kunwind_walk *walk,
					     const struct kunwind_nocfi_frame *frame,
					     const struct kunwind_candidate *c)
{
	struct kunwind_candidate proven = *c;
	u64 handler;

	if (!frame->range || !kunwind_pay(&walk->mem, COST_OF_HANDLERS))
		return false;
	handler = kunwind_mem_handler(&walk->mem, frame->ip);
	return handler && leads_here(walk, frame, handler, &proven) == KUNWIND_PROOF_PROVEN;
}

bool kunwind_walk_attr kunwind_proof_realigned(struct kunwind_walk *walk,
					       const struct kunwind_nocfi_frame *frame,
					       const struct kunwind_code *code,
					       struct kunwind_candidate *c)
{
	const bool by_rbp = code->depth < 0;
	const u64 at = by_rbp ? frame->bp + code->frame : frame->sp + code->depth;
	const u64 saved_rbp = at + code->rbp_at;
	u64 sp, copy;

	c->proof = KUNWIND_PROOF_NO_CALL;
	c->by_calls = false;
	if (by_rbp && !kunwind_bp_above(frame, frame->sp))
		return false;
	if ((at & 7) || !kunwind_read_word(&walk->mem, at, &sp) ||
	    !kunwind_read_word(&walk->mem, saved_rbp + 8, &copy))
		return false;
	c->slot = sp - 8;
	if ((sp & 7) || c->slot <= saved_rbp + 8 || sp - saved_rbp > KUNWIND_FRAME_MOST ||
	    !kunwind_read_word(&walk->mem, c->slot, &c->ra) || c->ra != copy)
		return false;
	c->ra = kunwind_nocfi_return(walk, c->ra, c->slot);
	kunwind_prove(walk, frame, c);
	c->rbp_at = c->slot - saved_rbp;
	return c->proof != KUNWIND_PROOF_NO_CALL;
}
