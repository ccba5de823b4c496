// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * bare.c - a step of the walk where there is no unwind information
 *
 * Code of a JIT, hand-written assembler, all of musl. What may be a return
 * address has to prove itself: it lies in executable memory that the process is
 * known to have, and the bytes before it are a call. Where that call leads is
 * read too, if the instruction tells (e8, ff 15; through PLT stubs and jumps):
 *   proven        to a function whose code, read up to the frame's own address
 *                 (code.c), says that its return address is just there, as counted from
 *                 rsp, or where that is not known from rbp; or the code behind that address
 *                 of the frame gives the stack back by way of rbp, wherever the call leads;
 *                 or to a function that tail-calls one whose code says so
 *   near          to not far before the frame's own address, in the same mapping
 *   possible      to a place that is not told (through a register); or to another
 *                 mapping, where the frame is in code of no file
 *   outermost     to a place that is not told, from code with which a thread begins
 *                 (code.c), and no word below it follows a call
 *   contradicted  to elsewhere, or the code says otherwise: no return address
 *                 of this frame
 * One thing else is one, from a JIT's code to a JIT's code: an interpreter's place that its callee
 * comes back to, no call before it. What lies in its frame proves it (takes_rsp_back());
 * behind a frame pointer, which may be a caller's, it is possible.
 * With this, in order:
 *   1. A signal trampoline, by its code: all registers from the frame that the
 *      kernel laid (struct rt_sigframe).
 *   2. The word at the stack pointer, when the next instruction returns, or
 *      lies in no code at all (a call through a null pointer).
 *   3. The word from which the code behind the call returns once it has taken another stack
 *      (switch.c, or rbp is its frame pointer there), where that is behind a call of its function. In code of a JIT, whose
 *      frame pointer proves nothing, the word from which the code behind the frame's
 *      address returns, by what it takes off the stack before.
 *   4. The nearest proven word among MOST_WORDS. rbp is where the code pushed it,
 *      or as it was. Or the outermost one: the stack is complete there.
 *   5. The frame pointer: rbp is aligned, not below rsp and at most MOST_FRAME
 *      above, the word behind it is a return address: a proven one, or a possible one
 *      and the rbp saved there is greater, or zero, or belongs to a caller that has
 *      unwind information (to which rbp may be anything). A function that leaves rbp alone
 *      would so be taken for its caller: outside of a JIT's code a near word
 *      below speaks against it, and everywhere a possible one of a function
 *      whose rule says that rbp is its own.
 *   6. The nearest word that follows a call, if it is possible, or near in a JIT's code.
 *
 * Any context: each word is read by the seam's reader, in a window of at most
 * CHUNK words; nothing is written. Bounds: each word of the stack is charged to the
 * walk's budget, and all code that is looked at. Stack: 900 bytes in all.
 *
 * What it does not do: find registers other than rbp. Where only the code of
 * a function would tell that was called through a register, a stack may end.
 */
#include "walk.h"

#define MOST_FRAME	(1U << 20)	/* bytes */
#define MOST_CODE	(1U << 16)	/* bytes of one function */
#define MOST_READ	4096		/* of these, as many as are read */
#define MOST_WORDS	512
#define MOST_JUMPS	3
#define MOST_TAIL_INSNS	256		/* of a function that may end with a tail call */
#define MOST_STUB_INSNS	10		/* the same, when MOST_TAILS are read */
#define MOST_TAILS	1024		/* in one step */
#define MOST_MOVED	4096		/* bytes, by a stub between two frames */
#define CHUNK		8
#define COST_OF_PROOF	8		/* of the budget, for one that may be an address */
#define COST_OF_STEP	16
#define COST_OF_READING_ON 64

enum proof { NOT_A_CALL, CONTRADICTED, POSSIBLE, NEAR, PROVEN, OUTERMOST };

/* What may be a return address. */
struct candidate {
	u64 slot, ra;		/* where it lies, what it is */
	enum proof proof;
	s32 rbp_at;		/* when PROVEN: the caller's rbp, as struct kunwind_code's */
};

/* The frame that has no rule. */
struct bare {
	u64 ip, sp, bp;
	const struct kunwind_range *range;	/* of ip; NULL: not known to be code */
	bool bp_known;
	u32 *budget;
	u32 *tails;		/* instructions that may be read for tail calls */
};

static __always_inline u8 byte_of(u64 word, u32 n)
{
	return word >> 8 * n;
}

static const struct kunwind_range *kunwind_walk_attr
executable(const struct kunwind_walk *walk, u64 addr)
{
	const struct kunwind_range *range = kunwind_ranges_find(walk->ranges, addr);

	return range && !READ_ONCE(range->dead) ? range : NULL;
}

/* The rule that a table has for the address; of kind KUNWIND_RULE_NONE if none has. */
static struct kunwind_rule kunwind_walk_attr rule_of(const struct kunwind_walk *walk, u64 addr)
{
	const struct kunwind_range *range = executable(walk, addr);
	const struct kunwind_table *table = range ? READ_ONCE(range->table) : NULL;

	barrier();	/* the table before the bias, as in find_rule() */
	/* A part that is not built knows as little as a table that is not. */
	if (!table || kunwind_table_part(&table, addr - range->bias) != KUNWIND_COMPLETE)
		return (struct kunwind_rule){ };
	return kunwind_table_lookup(table, addr - range->bias);
}

static bool kunwind_walk_attr covered(const struct kunwind_walk *walk, u64 addr)
{
	return (rule_of(walk, addr).kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_NONE;
}

/* A function whose own frame rbp is: by its rule the CFA is found so. */
static bool kunwind_walk_attr uses_rbp(const struct kunwind_walk *walk, u64 addr)
{
	struct kunwind_rule rule = rule_of(walk, addr);

	return (rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_CFA && rule.reg == KUNWIND_RBP;
}

/* Length of ff /2 with this ModRM and SIB: a call through a register or memory. */
static u32 kunwind_walk_attr indirect_length(u8 modrm, u8 sib)
{
	u32 mod = modrm >> 6, rm = modrm & 7, length = 2;

	if (mod == 3)
		return length;
	length += rm == 4;
	if (mod == 1)
		return length + 1;
	if (mod == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5))
		return length + 4;
	return length;
}

/* Where a call to @target ends up, through stubs and jumps; 0: not known. */
static u64 kunwind_walk_attr follow_jumps(struct kunwind_walk *walk, u64 target)
{
	u64 at, word;
	u32 i;

	for (i = 0; i < MOST_JUMPS; i++) {
		at = target;
		if (!executable(walk, at) || !kunwind_read_word(&walk->mem, at, &word))
			return 0;
		if ((u32)word == 0xfa1e0ff3) {			/* endbr64 */
			at += 4;
			if (!kunwind_read_word(&walk->mem, at, &word))
				return 0;
		}
		if (byte_of(word, 0) == 0xf2) {			/* bnd */
			at++;
			word >>= 8;
		}
		if ((word & 0xffff) == 0x25ff) {		/* jmp *x(%rip) */
			if (!kunwind_read_word(&walk->mem, at + 6 + (s64)(s32)(word >> 16),
					       &target))
				return 0;
		} else if (byte_of(word, 0) == 0xe9) {
			target = at + 5 + (s64)(s32)(word >> 8);
		} else if (byte_of(word, 0) == 0xeb) {
			target = at + 2 + (s64)(s8)(word >> 8);
		} else {
			return target;
		}
	}
	return 0;
}

/*
 * Whether @ra follows a call, and *target, if the call tells. In the middle of
 * bytes that are not code both forms can be there: then the direct call, if it
 * leads to code.
 */
static bool kunwind_walk_attr follows_call(struct kunwind_walk *walk, u64 ra, u64 *target)
{
	static const u8 lengths[] = { 2, 3, 4, 6, 7 };
	u64 word, pointer;
	u32 i;

	*target = 0;
	if (!executable(walk, ra - 1) || !kunwind_read_word(&walk->mem, ra - 8, &word))
		return false;
	if (byte_of(word, 3) == 0xe8) {
		pointer = ra + (s64)(s32)(word >> 32);
		if (executable(walk, pointer)) {
			*target = follow_jumps(walk, pointer);
			return true;
		}
	}
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		u32 at = 8 - lengths[i];
		u8 modrm = byte_of(word, at + 1);

		if (byte_of(word, at) != 0xff || (modrm >> 3 & 7) != 2 ||
		    indirect_length(modrm, at < 6 ? byte_of(word, at + 2) : 0) != lengths[i])
			continue;
		/* call *x(%rip): a slot of the GOT */
		if (modrm == 0x15 &&
		    kunwind_read_word(&walk->mem, ra + (s64)(s32)(word >> 32), &pointer) &&
		    executable(walk, pointer))
			*target = follow_jumps(walk, pointer);
		return true;
	}
	return false;
}

/* Code of no file: what a JIT made. */
static bool kunwind_walk_attr is_jit(const struct kunwind_range *range)
{
	return !READ_ONCE(range->table) && READ_ONCE(range->reason) == KUNWIND_NO_OBJECT;
}

/*
 * An interpreter (OpenJDK's) does not call: it notes rsp in its frame, pushes where its callee is
 * to come back, and jumps. No call is before @c->ra then, but the code there takes rsp back
 * from its frame: mov n(%rbp), %rsp. Whether it does.
 */
static bool kunwind_walk_attr takes_rsp_back(struct kunwind_walk *walk, const struct bare *frame,
					     const struct candidate *c, s8 *at)
{
	const struct kunwind_range *range = executable(walk, c->ra);
	u64 word;

	if (!range || !is_jit(range) || !frame->range || !is_jit(frame->range) ||
	    *frame->budget < COST_OF_PROOF || !kunwind_read_word(&walk->mem, c->ra, &word) ||
	    (word & 0xffffff) != 0x658b48)
		return false;
	*frame->budget -= COST_OF_PROOF;
	*at = byte_of(word, 3);
	return true;
}

/* With its frame at @bp it finds an rsp between @c->slot and that. Where nobody was called it is 0. */
static bool kunwind_walk_attr noted_rsp(struct kunwind_walk *walk, const struct candidate *c,
					u64 bp, s8 at)
{
	u64 sp;

	return !(bp & 7) && bp > c->slot && bp - c->slot <= MOST_FRAME &&
	       kunwind_read_word(&walk->mem, bp + (s64)at, &sp) &&
	       !(sp & 7) && sp > c->slot && sp < bp;
}

/* Both for a word of the stack: the interpreter's callee left rbp alone, or pushed it at once. */
static bool kunwind_walk_attr jumped_from(struct kunwind_walk *walk, const struct bare *frame,
					  struct candidate *c)
{
	u64 bp;
	s8 at;

	if (!takes_rsp_back(walk, frame, c, &at))
		return false;
	c->rbp_at = -1;
	if (frame->bp_known && noted_rsp(walk, c, frame->bp, at))
		return true;
	c->rbp_at = 8;
	return c->slot > frame->sp && kunwind_read_word(&walk->mem, c->slot - 8, &bp) &&
	       noted_rsp(walk, c, bp, at);
}

/* What speaks for the frame being in the function that begins at @target. */
static enum proof kunwind_walk_attr leads_here(struct kunwind_walk *walk, const struct bare *frame,
					       u64 target, struct candidate *c)
{
	u64 distance = frame->ip - target;
	struct kunwind_code code;

	if (target < frame->range->start || target > frame->ip || distance >= MOST_CODE)
		return CONTRADICTED;
	if (distance > MOST_READ || *frame->budget < distance / 8)
		return NEAR;
	*frame->budget -= distance / 8;
	kunwind_code_read(&walk->mem, target, frame->ip, &code);
	c->rbp_at = code.rbp_at;
	if (code.depth >= 0)
		return frame->sp + code.depth == c->slot ? PROVEN : CONTRADICTED;
	/* The stack grew by what no code tells; its frame pointer is from before that. */
	if (code.frame >= 0 && frame->bp_known)
		return frame->bp + code.frame == c->slot ? PROVEN : CONTRADICTED;
	return NEAR;
}

/* A tail call of the function at @target that may lead to the frame's; 0: none is seen. */
static u64 kunwind_walk_attr tail_of(struct kunwind_walk *walk, const struct bare *frame,
				     u64 target)
{
	const u32 most = max(min(*frame->tails, (u32)MOST_TAIL_INSNS), (u32)MOST_STUB_INSNS);
	u32 left = most, read;

	target = kunwind_code_tail(&walk->mem, target, frame->range->start, frame->ip, &left);
	read = most - left;
	*frame->tails -= min(*frame->tails, read);
	*frame->budget -= min(*frame->budget, read / 2);
	return target;
}

/* What speaks for the word @c->ra at @c->slot being the frame's return address. */
static void kunwind_walk_attr prove(struct kunwind_walk *walk, const struct bare *frame,
				    struct candidate *c)
{
	const struct kunwind_range *here = frame->range;
	u64 target;

	c->proof = NOT_A_CALL;
	if (*frame->budget < COST_OF_PROOF || !follows_call(walk, c->ra, &target))
		return;
	*frame->budget -= COST_OF_PROOF;
	c->proof = POSSIBLE;
	if (!target || !here)
		return;
	if (is_jit(here) && (target < here->start || target >= here->end))
		return;
	c->proof = leads_here(walk, frame, target, c);
	if (c->proof == PROVEN)
		return;
	/* Where it leads may have jumped to the frame's function, with its own frame gone. */
	target = tail_of(walk, frame, target);
	if (target && leads_here(walk, frame, target, c) == PROVEN)
		c->proof = PROVEN;
}

u64 kunwind_walk_attr kunwind_bare_return(struct kunwind_walk *walk, u64 ra, u64 slot)
{
	u64 real = kunwind_mem_return(&walk->mem, slot);

	return real && executable(walk, real - 1) ? real : ra;
}

/* Bytes of a signal trampoline: mov $15, %rax or %eax; syscall. */
static bool kunwind_walk_attr trampoline(struct kunwind_walk *walk, u64 at)
{
	u64 word, more;

	if (!kunwind_read_word(&walk->mem, at, &word))
		return false;
	if ((word & 0xffffffffffffffULL) == 0x050f0000000fb8ULL)
		return true;
	return (word & 0xffffffffffffffULL) == 0x0000000fc0c748ULL && byte_of(word, 7) == 0x0f &&
	       kunwind_read_word(&walk->mem, at + 1, &more) && byte_of(more, 7) == 0x05;
}

/*
 * The stack pointer is at the struct ucontext of a signal frame: flags, link
 * and stack (40 bytes), then struct sigcontext. A handler returns to its
 * trampoline; one that is inside stands before or behind the system call.
 */
static bool kunwind_walk_attr signal_frame(struct kunwind_walk *walk, bool exact)
{
	static const u8 order[] = {
		KUNWIND_R8, KUNWIND_R9, KUNWIND_R10, KUNWIND_R11, KUNWIND_R12, KUNWIND_R13,
		KUNWIND_R14, KUNWIND_R15, KUNWIND_RDI, KUNWIND_RSI, KUNWIND_RBP, KUNWIND_RBX,
		KUNWIND_RDX, KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RSP, KUNWIND_RA,
	};
	u64 ip = walk->regs.r[KUNWIND_RA], sp = walk->regs.r[KUNWIND_RSP], value;
	struct kunwind_mem *mem = &walk->mem;
	u32 i;

	if (!trampoline(walk, ip) &&
	    (!exact || (!trampoline(walk, ip - 5) && !trampoline(walk, ip - 7) &&
			!trampoline(walk, ip - 9))))
		return false;
	/* The code segment is 64-bit code's: something else lies there. */
	if (!kunwind_read_word(mem, sp + 40 + 18 * 8, &value) || (u16)value != 0x33)
		return false;
	if (!kunwind_mem_begin(mem, sp + 40))
		return false;
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		kunwind_mem_read(mem, value, sp + 40 + 8 * i, fault);
		walk->regs.r[order[i]] = value;
	}
	kunwind_mem_end(mem);
	walk->regs.valid = KUNWIND_ALL_REGS;
	return true;
fault:
	/* rsp and rip come last and stay; what else was known is so no more */
	kunwind_mem_end(mem);
	walk->regs.valid = KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
	return false;
}

/* The instruction at the address returns. */
static bool kunwind_walk_attr is_return(struct kunwind_walk *walk, u64 ip)
{
	u64 word;

	if (!kunwind_read_word(&walk->mem, ip, &word))
		return false;
	if (byte_of(word, 0) == 0xf3 || byte_of(word, 0) == 0xf2)
		word >>= 8;
	return byte_of(word, 0) == 0xc3 || byte_of(word, 0) == 0xc2;
}

/* The word at the stack pointer of an innermost or interrupted frame. */
static bool kunwind_walk_attr at_top(struct kunwind_walk *walk, const struct bare *frame,
				     struct candidate *c)
{
	c->slot = frame->sp;
	if (frame->range && !is_return(walk, frame->ip))
		return false;
	if (!kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	prove(walk, frame, c);
	c->rbp_at = -1;
	return c->proof != NOT_A_CALL;
}

/* What rbp points to. */
static bool kunwind_walk_attr at_frame_pointer(struct kunwind_walk *walk, const struct bare *frame,
					       struct candidate *c, u64 *saved)
{
	u64 bp = frame->bp;
	s8 at;

	if (!frame->bp_known || bp & 7 || bp < frame->sp || bp - frame->sp > MOST_FRAME)
		return false;
	c->slot = bp + 8;
	if (!kunwind_read_word(&walk->mem, bp, saved) ||
	    !kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	c->ra = kunwind_bare_return(walk, c->ra, c->slot);
	prove(walk, frame, c);
	if (c->proof == NOT_A_CALL && takes_rsp_back(walk, frame, c, &at) &&
	    noted_rsp(walk, c, *saved, at))
		c->proof = POSSIBLE;
	if (c->proof == NOT_A_CALL)
		return false;
	if (c->proof != PROVEN && frame->range && *frame->budget > COST_OF_READING_ON) {
		*frame->budget -= COST_OF_READING_ON;
		if (kunwind_code_leaves(&walk->mem, frame->ip))
			c->proof = PROVEN;
	}
	if (c->proof < POSSIBLE)
		return false;
	return c->proof == PROVEN || !*saved || *saved > bp || covered(walk, c->ra - 1);
}

/*
 * rsp behind the call that the frame made, where its callee, entered by way of a stub that moved
 * the return address down for arguments (OpenJDK's, from compiled code to the interpreter), keeps that
 * in the first word of its frame; else @frame->sp.
 */
static u64 kunwind_walk_attr sender_sp(struct kunwind_walk *walk, const struct bare *frame)
{
	const u64 above = frame->sp;	/* below: return address, saved rbp, first word */
	u64 bp, sp;

	if (frame->bp_known && kunwind_read_word(&walk->mem, above - 16, &bp) && bp == frame->bp &&
	    kunwind_read_word(&walk->mem, above - 24, &sp) &&
	    !(sp & 7) && sp > above && sp - above <= MOST_MOVED)
		return sp;
	return above;
}

/* The word from which code returns that takes @depth bytes off a stack at @sp. */
static bool kunwind_walk_attr returns_by(struct kunwind_walk *walk, const struct bare *frame,
					 u64 sp, u32 depth, struct candidate *c)
{
	c->slot = sp + depth;
	if (!kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	c->ra = kunwind_bare_return(walk, c->ra, c->slot);
	prove(walk, frame, c);
	return c->proof != NOT_A_CALL || jumped_from(walk, frame, c);
}

/*
 * Where the code behind the frame's address, a JIT's, returns from. Where the call before that address
 * leads does not count: in such code it is to stubs, and is patched.
 */
static bool kunwind_walk_attr at_return(struct kunwind_walk *walk, const struct bare *frame,
					bool exact, struct candidate *c)
{
	struct kunwind_code code;
	u64 sp;

	if (!frame->range || !is_jit(frame->range) || *frame->budget < COST_OF_READING_ON)
		return false;
	*frame->budget -= COST_OF_READING_ON;
	if (!kunwind_code_returns(&walk->mem, frame->ip, &code) || code.depth < 0)
		return false;
	sp = exact ? frame->sp : sender_sp(walk, frame);
	if (!returns_by(walk, frame, sp, code.depth, c) &&
	    (sp == frame->sp || !returns_by(walk, frame, frame->sp, code.depth, c)))
		return false;
	c->rbp_at = code.rbp_at;
	return true;
}

/* Where the code behind the call takes another stack and returns; to a call of its function. */
static bool kunwind_walk_attr at_switch(struct kunwind_walk *walk, const struct bare *frame,
					struct candidate *c)
{
	s32 rbp_at;

	if (*frame->budget < COST_OF_READING_ON)
		return false;
	*frame->budget -= COST_OF_STEP;
	if (!kunwind_code_switches(&walk->mem, frame->ip, frame->sp, &c->slot, &rbp_at) ||
	    c->slot & 7 || !kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	prove(walk, frame, c);
	c->rbp_at = rbp_at;
	return c->proof == NEAR || c->proof == PROVEN;
}

/*
 * The same where nothing on this stack leads to the other (Go's cgocallback(), by which C calls Go:
 * that is in thread-local storage), but rbp is the function's frame pointer there.
 */
static bool kunwind_walk_attr at_other_frame(struct kunwind_walk *walk, const struct bare *frame,
					     struct candidate *c)
{
	const u64 bp = frame->bp;
	struct kunwind_code code;

	if (!frame->bp_known || bp & 7 || bp - frame->sp <= MOST_FRAME ||
	    *frame->budget < COST_OF_READING_ON)
		return false;
	c->slot = bp + 8;
	if (!kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	prove(walk, frame, c);
	if (c->proof != NEAR && c->proof != PROVEN)
		return false;
	*frame->budget -= min(*frame->budget, (u32)COST_OF_READING_ON);
	c->rbp_at = 8;
	return kunwind_code_returns(&walk->mem, frame->ip, &code) && code.frame == 8;
}

/* Up to CHUNK words from @at on; how many of them there are. */
static u32 kunwind_walk_attr read_words(struct kunwind_mem *mem, u64 at, u64 *words, u32 most)
{
	u32 n;

	if (!kunwind_mem_begin(mem, at))
		return 0;
	for (n = 0; n < most; n++)
		kunwind_mem_read(mem, words[n], at + 8 * n, fault);
fault:
	kunwind_mem_end(mem);
	return n;
}

/*
 * The nearest proven word of the stack; else the first that follows a call at
 * all, but a @near one, if there is one. False: the budget is spent.
 */
static bool kunwind_walk_attr scan(struct kunwind_walk *walk, const struct bare *frame, u64 end,
				   bool near, struct candidate *found)
{
	struct candidate c;
	u64 words[CHUNK], at;
	u32 n, i;

	found->proof = NOT_A_CALL;
	for (at = frame->sp; at < end; at += 8 * n) {
		n = read_words(&walk->mem, at, words, min((end - at) / 8, (u64)CHUNK));
		if (!n)
			break;
		if (*frame->budget < 1 + n / 4 + COST_OF_PROOF)
			return false;
		*frame->budget -= 1 + n / 4;
		for (i = 0; i < n; i++) {
			/* most words are no address at all */
			if (!executable(walk, words[i] - 1))
				continue;
			c.slot = at + 8 * i;
			c.ra = words[i];
			prove(walk, frame, &c);
			if (c.proof == NOT_A_CALL && jumped_from(walk, frame, &c))
				c.proof = PROVEN;
			if (c.proof == POSSIBLE && found->proof == NOT_A_CALL &&
			    (c.slot & 15) == 8 && kunwind_code_outermost(&walk->mem, c.ra))
				c.proof = OUTERMOST;
			if (c.proof >= PROVEN || (c.proof != NOT_A_CALL &&
						  (found->proof == NOT_A_CALL ||
						   (near && c.proof == NEAR &&
						    found->proof != NEAR))))
				*found = c;
			if (c.proof >= PROVEN)
				return true;
			if (*frame->budget < COST_OF_PROOF)
				return false;
		}
	}
	return true;
}

/* The caller's registers: its stack begins behind the return address. */
static void kunwind_walk_attr returned(struct kunwind_walk *walk, const struct candidate *c,
				       bool bp_known, u64 bp)
{
	walk->regs.r[KUNWIND_RA] = c->ra;
	walk->regs.r[KUNWIND_RSP] = c->slot + 8;
	walk->regs.r[KUNWIND_RBP] = bp;
	walk->regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) |
			   (bp_known ? KUNWIND_REG(KUNWIND_RBP) : 0);
}

/* The same by what the function's code says: rbp is preserved, unless it was pushed. */
static void kunwind_walk_attr returned_by_code(struct kunwind_walk *walk,
					       const struct bare *frame, const struct candidate *c)
{
	u64 bp = frame->bp;
	bool known = frame->bp_known;

	if (c->rbp_at >= 0)
		known = kunwind_read_word(&walk->mem, c->slot - c->rbp_at, &bp);
	else if (c->rbp_at == KUNWIND_CODE_RBP_LOST)
		known = false;
	returned(walk, c, known, bp);
}

enum kunwind_reason kunwind_walk_attr
kunwind_bare_step(struct kunwind_walk *walk, bool exact, u32 *budget, struct kunwind_found *how)
{
	struct bare frame = {
		.ip = walk->regs.r[KUNWIND_RA], .sp = walk->regs.r[KUNWIND_RSP],
		.bp = walk->regs.r[KUNWIND_RBP], .budget = budget,
		.bp_known = walk->regs.valid & KUNWIND_REG(KUNWIND_RBP),
	};
	u64 saved, end = frame.sp + 8 * MOST_WORDS;
	u32 tails = MOST_TAILS;
	struct candidate fp, word;
	bool framed;

	*how = (struct kunwind_found){ };
	frame.tails = &tails;
	frame.range = executable(walk, exact ? frame.ip : frame.ip - 1);
	/* Where nothing is known to be code, the walk went astray before. */
	if (!exact && !frame.range)
		return KUNWIND_NO_RULE;
	if (*budget < COST_OF_STEP)
		return KUNWIND_DEPTH;
	*budget -= COST_OF_STEP;
	if (!exact && (!frame.bp_known || !frame.bp) &&
	    kunwind_code_outermost(&walk->mem, frame.ip)) {
		/* A return address of zero ends the stack. */
		returned(walk, &(struct candidate){ .slot = frame.sp }, false, 0);
		return KUNWIND_COMPLETE;
	}
	if (signal_frame(walk, exact)) {
		how->signal = true;
		how->trust = KUNWIND_TRUST_SIGNAL;
		return KUNWIND_COMPLETE;
	}
	if (frame.sp & 7 || end < frame.sp)
		return KUNWIND_NO_RULE;
	how->trust = KUNWIND_TRUST_CODE;
	if (exact && at_top(walk, &frame, &word)) {
		returned_by_code(walk, &frame, &word);
		return KUNWIND_COMPLETE;
	}

	framed = at_frame_pointer(walk, &frame, &fp, &saved);
	if (framed && fp.proof == PROVEN)
		goto by_frame_pointer;
	if (!exact && (at_switch(walk, &frame, &word) || at_other_frame(walk, &frame, &word))) {
		how->elsewhere = true;
		returned_by_code(walk, &frame, &word);
		return KUNWIND_COMPLETE;
	}
	if (at_return(walk, &frame, exact, &word)) {
		returned_by_code(walk, &frame, &word);
		return KUNWIND_COMPLETE;
	}
	if (!scan(walk, &frame, framed ? min(end, frame.bp) : end, framed, &word))
		return KUNWIND_DEPTH;
	if (word.proof == PROVEN) {
		returned_by_code(walk, &frame, &word);
		return KUNWIND_COMPLETE;
	}
	if (word.proof == OUTERMOST) {
		returned(walk, &word, false, 0);
		return KUNWIND_COMPLETE;
	}
	if (framed && (word.proof == NEAR ? !frame.range || is_jit(frame.range) :
		       word.proof != POSSIBLE || !uses_rbp(walk, word.ra - 1))) {
by_frame_pointer:
		returned(walk, &fp, true, saved);
		how->trust = KUNWIND_TRUST_FP;
		return KUNWIND_COMPLETE;
	}
	if (!walk->scan || word.proof < POSSIBLE ||
	    (word.proof == NEAR && frame.range && !is_jit(frame.range)))
		return KUNWIND_NO_RULE;
	/* This function may have changed rbp: it has to prove itself as the caller's, too. */
	frame.ip = word.ra;
	frame.sp = word.slot + 8;
	frame.range = executable(walk, word.ra - 1);
	framed = at_frame_pointer(walk, &frame, &fp, &saved);
	returned(walk, &word, framed, frame.bp);
	how->trust = KUNWIND_TRUST_SCAN;
	return KUNWIND_COMPLETE;
}
