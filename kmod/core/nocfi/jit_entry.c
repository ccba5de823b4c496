// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * jit_entry.c - the return address of code of a JIT by the code that enters it
 *
 * Some JITs make code that runs in one frame of the machine's stack, whatever it
 * calls: its own calls are jumps, and its stack is elsewhere. A routine makes the
 * frame, and continues in that code or jumps to it through a register. C calls the
 * routine by a pointer in memory, or C jumps to it in place of a return.
 *
 *	call	*enter(%rip)			Guile; in a file
 * enter:	sub	$24, %rsp
 *	mov	%rbx, (%rsp)
 *	...
 *	jmp	*%r12
 *
 *	lea	zend_execute_ex(%rip), %rax	PHP; in a file
 *	...
 *	call	*(%rax)
 * execute_ex:					in a file
 *	push	%r13
 *	...
 *	sub	$0x78, %rsp
 *	...
 *	jmp	*(%r15)				to code of the interpreter or of the JIT
 *
 *	call	process_main			Erlang; in a file
 *	...
 * process_main:				in a file
 *	...
 *	jmp	*%rax
 * enter:	sub	$0x4110, %rsp
 *	and	$-64, %rsp
 *	...
 *	call	*n(%rip)			in this frame
 *
 * The code of such a frame need not lead to a return that the code ahead could find,
 * and no call leads to it. But the routine's instructions up to its first jump or call
 * (in a file: up to its first jump through a register or memory, past conditional ones)
 * say how far rsp is below the return address. So this method looks on the stack for
 * a word that follows a call through a pointer in memory, in a file; the instructions to
 * which the pointer leads must give exactly the frame's rsp.
 * Erlang's code runs on the stack of its process. When it calls C, it sets rsp to the
 * place where the routine has left it. So all its calls of C are in the same frame of
 * the machine's stack. If the JIT's code begins with a routine that aligns rsp, and the
 * frame's rsp is aligned, the word is in the few places that the alignment leaves. It must
 * follow a call of a file's function that jumps through a register with nothing on its
 * stack, and only one word may do so.
 *
 * A word that an earlier call has left does not fit: each call of the routine with
 * the same rsp overwrites the word before, and with another rsp the distance differs.
 * If the frame's code has moved rsp, nothing is found.
 *
 * Bounds: MOST_WORDS words of the stack, MOST_INSNS instructions for each word that
 * follows such a call; MOST_BEFORE bytes of code, and the step's instructions for tail calls
 * (return_address.h); the budget pays. Any context, NMI included.
 */
#include "../walk/mem.h"
#include "../walk/ranges.h"
#include "../x86/insn_effect.h"
#include "analysis_cache.h"
#include "code_analysis.h"
#include "jit_entry.h"
#include "pointer_call.h"

#define MOST_WORDS	512
#define MOST_BEFORE	(32U << 10)	/* bytes of code, from the start of the range */
#define COST_OF_CHUNK	2		/* in units of the budget */
#define MOST_INSNS	32
#define MOST_ALIGN	64

/* How a routine makes its frame: rsp = ((at the return address - before) & -align) - after. */
struct made {
	s64 before, after;
	u32 align;		/* 0: no alignment; after is 0 */
	s32 rbp_at;		/* as in struct kunwind_candidate */
	bool rbp_written;
};

/* An instruction that is no jump, call or return. False: rsp is not known after it. */
static bool kunwind_walk_attr apply(struct made *made, const struct kunwind_insn_effect *e)
{
	const u32 align = -(u32)e->off;

	if (e->rsp == KUNWIND_RSP_ADD) {
		*(made->align ? &made->after : &made->before) -= e->off;
		if (e->rbp == KUNWIND_RBP_STORED && !made->align && !made->rbp_written)
			made->rbp_at = made->before - e->at;
		made->rbp_written |= e->rbp != KUNWIND_RBP_KEPT && e->rbp != KUNWIND_RBP_STORED;
		return true;
	}
	if (e->rsp != KUNWIND_RSP_ALIGNED || made->align || !align || align > MOST_ALIGN ||
	    align & (align - 1))
		return false;
	made->align = align;
	return true;
}

/* How the routine at @entry makes its frame. False: not known, or it makes none. */
static bool kunwind_walk_attr read_routine(struct kunwind_walk *walk, u64 entry, struct made *made)
{
	const struct kunwind_range *range = kunwind_ranges_live(walk->ranges, entry);
	struct kunwind_text text = { .mem = &walk->mem, .left = MOST_INSNS };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	bool in_file;
	u64 at = entry;

	if (!range)
		return false;
	in_file = !kunwind_range_is_jit(range);
	*made = (struct made){ .rbp_at = KUNWIND_CODE_RBP_LOST };
	while (kunwind_insn_next_effect(&text, at, &insn, &e)) {
		at += insn.length;
		if (in_file && e.flow == KUNWIND_FLOW_BRANCH)
			continue;
		if (e.flow != KUNWIND_FLOW_NEXT)
			return made->before > 0 &&
			       (in_file ? e.flow == KUNWIND_FLOW_ANY : e.flow != KUNWIND_FLOW_RETURN);
		if (!apply(made, &e))
			return false;
	}
	return false;
}

/* Whether the frame's rsp is what the routine leaves if it returns to the word at @slot. */
static bool kunwind_walk_attr fits(const struct made *made, u64 slot, u64 sp)
{
	u64 made_sp = slot - made->before;

	if (made->align)
		made_sp &= -(u64)made->align;
	return made_sp - made->after == sp;
}

/*
 * Looks for the routine that makes frames with an alignment: sub $n, %rsp; and $-64, %rsp.
 * Erlang's is among the first code of the JIT, and its entry is at a multiple of 8. Looks in the
 * chunks that begin between @from and @to. *found, like these: bytes from the start of the range.
 */
static bool kunwind_walk_attr find_aligning(struct kunwind_mem *mem, const struct kunwind_range *range,
					    u32 from, u32 to, struct made *made, u32 *found)
{
	u64 words[KUNWIND_CHUNK], word = 0;
	u32 at, n, i;

	for (at = from; at < to; at += 8 * n) {
		if (!kunwind_pay(mem, COST_OF_CHUNK))
			return false;
		n = kunwind_read_words(mem, range->start + at, words, KUNWIND_CHUNK);
		if (!n)
			return false;
		for (i = 0; i < n; i++) {
			const u64 before = word;

			word = words[i];
			if ((before & 0xffffff) != 0xec8148 || before >> 56 != 0x48 ||
			    (word & 0xffffff) != 0xc0e483)
				continue;
			*made = (struct made){ .before = (s32)(before >> 24), .align = MOST_ALIGN };
			*found = at + 8 * i - 8;
			return made->before > 0;
		}
	}
	return false;
}

/* Whether @ra follows a call of a file's function that jumps through a pointer at its end. */
static bool kunwind_walk_attr calls_jumper(struct kunwind_walk *walk,
					   const struct kunwind_nocfi_frame *frame, u64 ra)
{
	const struct kunwind_nocfi_frame nowhere = { .tails = frame->tails };
	const struct kunwind_range *range;
	u64 target;

	if (!kunwind_proof_call(walk, ra, &target))
		return false;
	range = kunwind_ranges_live(walk->ranges, target);
	return range && !kunwind_range_is_jit(range) && kunwind_proof_leads_anywhere(walk, &nowhere, target);
}

static bool kunwind_walk_attr entered_aligned(struct kunwind_walk *walk,
					      const struct kunwind_nocfi_frame *frame,
					      const struct made *made, struct kunwind_candidate *c)
{
	u64 slot, ra;
	u32 i, found = 0;

	for (i = 0; i < made->align / 8; i++) {
		slot = frame->sp + made->before + 8 * i;
		if (!kunwind_read_word(&walk->mem, slot, &ra) || !calls_jumper(walk, frame, ra))
			continue;
		found++;
		c->slot = slot;
		c->ra = ra;
	}
	c->rbp_at = KUNWIND_CODE_RBP_LOST;
	return found == 1;
}

/* By a routine that aligns rsp, which find_aligning() looks for. Its place is kept. */
static bool kunwind_walk_attr by_aligning(struct kunwind_walk *walk,
					  const struct kunwind_nocfi_frame *frame, u32 from, u32 to,
					  struct kunwind_candidate *c)
{
	struct kunwind_analysis_cache *cache = walk->mem.answers;
	struct made made;
	u32 at;

	if (frame->sp & (MOST_ALIGN - 1) ||
	    !find_aligning(&walk->mem, frame->range, from, to, &made, &at) ||
	    !entered_aligned(walk, frame, &made, c))
		return false;
	if (cache && walk->mem.asked)
		cache->routine = (struct kunwind_jit_routine){
			.id = cache->id, .space = cache->space, .start = frame->range->start, .at = at,
		};
	return true;
}

bool kunwind_walk_attr kunwind_jit_entered_again(struct kunwind_walk *walk,
						 const struct kunwind_nocfi_frame *frame,
						 struct kunwind_candidate *c)
{
	const struct kunwind_analysis_cache *cache = walk->mem.answers;
	u32 at;

	if (!cache || cache->routine.id != cache->id || cache->routine.space != cache->space ||
	    cache->routine.start != frame->range->start)
		return false;
	/* Under speculation, it may be another process's: a distance, and bounded. */
	at = kunwind_index(cache->routine.at, MOST_BEFORE);
	return by_aligning(walk, frame, at, at + 8, c);
}

bool kunwind_walk_attr kunwind_jit_entered(struct kunwind_walk *walk,
					   const struct kunwind_nocfi_frame *frame,
					   struct kunwind_candidate *c)
{
	const u64 end = frame->sp + 8 * MOST_WORDS;
	u64 words[KUNWIND_CHUNK], at, entry;
	struct made made;
	u32 n, i;

	if (by_aligning(walk, frame, 0, MOST_BEFORE, c))
		return true;
	for (at = frame->sp; at < end; at += 8 * n) {
		if (!kunwind_pay(&walk->mem, 1 + KUNWIND_CHUNK / 2))
			return false;
		n = kunwind_read_words(&walk->mem, at, words, KUNWIND_CHUNK);
		if (!n)
			return false;
		for (i = 0; i < n; i++) {
			if (!kunwind_pointer_call(walk, words[i], &entry) ||
			    !read_routine(walk, entry, &made) || !fits(&made, at + 8 * i, frame->sp))
				continue;
			c->slot = at + 8 * i;
			c->ra = words[i];
			c->rbp_at = made.rbp_at;
			return true;
		}
	}
	return false;
}
