// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code.c - rows for code without CFI, from its instructions; see code.h
 *
 * code_gaps.c finds the code that no FDE covers.
 * 1. Decode all of it, and note the targets of calls, where functions begin, and of jumps.
 * 2. Decode it again in pieces of at most PIECE bytes, and find where the CFA is at each
 *    instruction (code_flow.c).
 * 3. Find where the caller's rsp is doubtful (code_moved.c), and write the rows
 *    (cfi_writer.c).
 *
 * Decoding goes from one instruction to the next. If it meets data, it goes on at the next
 * multiple of 16; the second time, also at the next target of a call. Then no
 * instruction flows into the next one.
 *
 * Task context; may sleep.
 */
#include "cfi_writer.h"
#include "code.h"
#include "code_aligned.h"
#include "code_gaps.h"
#include "code_moved.h"
#include "../nocfi/insn_kind.h"

#define PIECE	     (256 << 10) /* bytes */
#define PIECE_INSNS  (64 << 10)
#define FIRST_ROOM   (64 << 10) /* bytes of rows, */
#define MOST_FACTOR  1 /* and most for each byte of code. Real code needs a third of a byte */
#define REMOVES_INSNS 4 /* between taking the return address from the stack and pushing it again */
#define FEW_PADDING  2 /* bytes of int3 in a row that are padding */
#define RESCHED	     4096 /* instructions */

struct code {
	kunwind_abort_fn *abort;
	void *abort_data;
	const struct kunwind_code_gaps *gaps;
	/* A bit for each byte of the gaps: it is the target of a call; of a jump. */
	u8 *called, *jumped;
	struct kunwind_code_flow flow;
	struct kunwind_cfi_writer writer;
	u64 debug_size; /* bytes before the rows in writer.out */
	u64 rows_at; /* where the rows of code begin there, after their CIEs */
	u64 cie[2]; /* of rows; of those where the return address may have been moved */
	enum kunwind_build_error err;
};

/* A piece of a gap. */
struct code_piece {
	const u8 *bytes;
	u64 at; /* ELF virtual address of bytes[0] */
	u32 len, bit; /* number of the bit of bytes[0] in the bitmaps */
	bool last; /* of the gap */
};

static struct code_piece piece_at(const struct code *c, const struct kunwind_code_gap *gap, u64 at, u32 most)
{
	const u32 bit = gap->before + (at - gap->start);
	const u32 len = min(gap->end - at, (u64)most);

	return (struct code_piece){ c->gaps->code + bit, at, len, bit, at + len == gap->end };
}

/* To be called often. */
static void tick(struct code *c)
{
	kunwind_resched();
	if (c->abort && c->abort(c->abort_data))
		c->err = KUNWIND_E_ABORTED;
}

/* ----------------------------------------------------- targets of calls */

/* Returns the number of the bit of an address in the gaps, or ~0. */
static u32 bit_of(const struct code *c, u64 addr)
{
	const struct kunwind_code_gap *gap = c->gaps->gap;
	u32 low = 0, high = c->gaps->nr;

	while (high - low > 1) {
		const u32 mid = low + (high - low) / 2;

		if (gap[mid].start <= addr)
			low = mid;
		else
			high = mid;
	}
	return high && addr - gap[low].start < gap[low].end - gap[low].start ?
		       gap[low].before + (addr - gap[low].start) : ~0U;
}

static bool has_bit(const u8 *bits, u32 bit)
{
	return bits[bit / 8] >> bit % 8 & 1;
}

static bool is_called(const struct code *c, const struct code_piece *p, u32 off)
{
	return has_bit(c->called, p->bit + off);
}

static void note_target(const struct code *c, u8 *bits, u64 target)
{
	const u32 bit = bit_of(c, target);

	if (bit != ~0U)
		bits[bit / 8] |= 1 << bit % 8;
}

static void find_targets(struct code *c)
{
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	u32 i, steps = 0;

	for (i = 0; i < c->gaps->nr; i++) {
		const struct kunwind_code_gap *gap = &c->gaps->gap[i];
		const struct code_piece p = piece_at(c, gap, gap->start, ~0U);
		u32 off = 0;

		while (off < p.len && !c->err) {
			if (!(++steps % RESCHED))
				tick(c);
			if (!kunwind_insn_decode(p.bytes + off, &insn)) {
				off = (off | 15) + 1;
				continue;
			}
			if (insn.length > p.len - off)
				break;
			off += insn.length;
			kunwind_insn_effect(&insn, &e);
			if (e.direct)
				note_target(c, c->called, p.at + off + (s64)e.distance);
			else if (e.flow == KUNWIND_FLOW_BRANCH || e.flow == KUNWIND_FLOW_JUMP)
				note_target(c, c->jumped, p.at + off + (s64)e.distance);
		}
	}
}

/* ------------------------------------------------------- instructions */

/* Returns the next offset at or after @off that is a target of a call or a multiple of 16. */
static u32 resume_at(const struct code *c, const struct code_piece *p, u32 off)
{
	while (off < p->len && ((p->at + off) & 15) && !is_called(c, p, off))
		off++;
	return off;
}

/* Whether a call leads into the instruction: then its bytes are something else. */
static bool called_inside(const struct code *c, const struct code_piece *p, u32 off, u32 length)
{
	u32 i;

	for (i = 1; i < length; i++)
		if (is_called(c, p, off + i))
			return true;
	return false;
}

static bool flows_nowhere(const struct kunwind_insn_effect *e)
{
	return e->flow >= KUNWIND_FLOW_JUMP;
}

static bool jumps_to_function(const struct code *c, const struct code_piece *p, u32 end,
			      const struct kunwind_insn_effect *e)
{
	const u32 bit = bit_of(c, p->at + end + (s64)e->distance);

	return bit != ~0U && has_bit(c->called, bit);
}

/* The register of a push or pop of 64 bits, by ModRM's number; or RBP, for none of interest. */
static u8 moved_register(const struct kunwind_insn *insn, u8 op)
{
	return !insn->map && (insn->op & ~7) == op ? (insn->op & 7) | insn->rm_high << 3 : RBP;
}

/* Whether it changes no register other than the operand that ModRM names. */
static bool is_plain(const struct kunwind_insn *insn)
{
	switch (insn->map ? 0 : insn->op) {
	case 0x01: /* add, sub, mov, lea, shifts */
	case 0x03:
	case 0x29:
	case 0x2b:
	case 0x81:
	case 0x83:
	case 0x89:
	case 0x8b:
	case 0x8d:
	case 0xc1:
	case 0xd1:
		return true;
	}
	return false;
}

static bool names(const struct kunwind_insn *insn, u8 reg)
{
	return ((insn->modrm >> 3 & 7) | insn->reg_high << 3) == reg ||
	       (insn->modrm >> 6 == 3 && ((insn->modrm & 7) | insn->rm_high << 3) == reg);
}

/* Whether it pushes a word, or writes the word at rsp. */
static bool writes_top(const struct kunwind_insn *insn, const struct kunwind_insn_effect *e)
{
	if (e->rsp == KUNWIND_RSP_ADD && e->off == -8 && e->flow == KUNWIND_FLOW_NEXT)
		return true;
	return !insn->map && (insn->op == 0x89 || insn->op == 0xc7) && insn->on_rsp && !insn->disp;
}

/*
 * If the instruction before the return @i writes the word at rsp, the return is a jump to
 * that word. It is a return address if the same register has popped it before, to remove
 * arguments: pop %rcx; lea (%rsp,%rax,8),%rsp; push %rcx; ret. Then it counts as a piece of code of its
 * own, because rsp is at another place than before. Otherwise the jump leads to another function if
 * rbp was restored before.
 */
static void note_pushed_return(struct code *c, const struct code_piece *p, u32 i)
{
	struct kunwind_flow_insn *insns = c->flow.insns;
	struct kunwind_insn insn;
	u32 j, n;
	u8 reg;

	if (!i || insns[i].targeted || insns[i].flags & KUNWIND_INSN_BEGINS ||
	    !kunwind_insn_decode(p->bytes + insns[i - 1].at, &insn) ||
	    !writes_top(&insn, &insns[i - 1].effect))
		return;
	insns[i].effect.flow = KUNWIND_FLOW_STOP;
	reg = moved_register(&insn, 0x50);
	for (j = i - 1, n = 0; j-- && n < REMOVES_INSNS; n++) {
		if (insns[j + 1].targeted || insns[j + 1].flags & KUNWIND_INSN_BEGINS ||
		    insns[j].effect.flow != KUNWIND_FLOW_NEXT ||
		    !kunwind_insn_decode(p->bytes + insns[j].at, &insn))
			return;
		if (insns[j].effect.rbp == KUNWIND_RBP_LOADED || insns[j].effect.rbp == KUNWIND_RBP_LEFT) {
			insns[i - 1].flags |= KUNWIND_INSN_TAIL;
			return;
		}
		if (reg != RBP && moved_register(&insn, 0x58) == reg) {
			insns[j].takes_return = insns[i].takes_return = true;
			insns[i].flags |= KUNWIND_INSN_BEGINS;
			return;
		}
		if (!is_plain(&insn) || names(&insn, reg))
			reg = RBP;
	}
}

/*
 * Decodes a piece into c->flow. Returns the bytes after which the next piece begins: if
 * the piece is not the last one, it is cut before the last function that begins in it.
 */
static u32 decode_piece(struct code *c, const struct code_piece *p)
{
	struct kunwind_code_flow *f = &c->flow;
	u32 off = 0, trap = 0, cut = 0, cut_nr = 0;
	bool begins = true, after_call = false, cut_at_entry = false;
	struct kunwind_copy_tracker copy = { KUNWIND_NO_REG, KUNWIND_NO_REG, 0 };
	struct kunwind_insn insn;

	f->nr = 0;
	while (off < p->len && f->nr < f->room &&
	       (p->last || off + KUNWIND_INSN_LONGEST <= p->len)) {
		struct kunwind_flow_insn *to = &f->insns[f->nr];
		const bool called = is_called(c, p, off);

		if (!kunwind_insn_decode(p->bytes + off, &insn) || insn.length > p->len - off ||
		    called_inside(c, p, off, insn.length)) {
			off = resume_at(c, p, off + 1);
			begins = true;
			trap = 0;
			continue;
		}
		/*
		 * Padding, which nothing flows into. A call that padding follows may never
		 * return; or a loop begins after the padding, which the loop's jump tells.
		 */
		if ((begins || after_call) && !called && (is_nop(&insn) || (!insn.map && insn.op == 0xcc))) {
			trap = insn.op == 0xcc ? trap + 1 : 0;
			begins = true;
			off += insn.length;
			continue;
		}
		*to = (struct kunwind_flow_insn){ .at = off, .length = insn.length };
		kunwind_insn_effect(&insn, &to->effect);
		to->targeted = has_bit(c->jumped, p->bit + off);
		to->removes = to->effect.flow == KUNWIND_FLOW_RETURN && !insn.map && insn.op == 0xc2 &&
			      insn.imm;
		to->drops_word = to->effect.rsp == KUNWIND_RSP_ADD && to->effect.off == 8 && is_plain(&insn);
		if (to->effect.flow == KUNWIND_FLOW_JUMP &&
		    jumps_to_function(c, p, off + insn.length, &to->effect))
			to->flags |= KUNWIND_INSN_TAIL;
		to->padded = trap >= FEW_PADDING && !((p->at + off) & 15);
		if (called || (to->padded && !to->targeted))
			to->flags |= KUNWIND_INSN_ENTRY;
		if (!((p->at + off) & 15))
			to->flags |= KUNWIND_INSN_ALIGNED;
		begins |= after_call && marks_target(&insn);
		if (to->effect.flow == KUNWIND_FLOW_RETURN && !begins)
			note_pushed_return(c, p, f->nr);
		if (begins) {
			to->flags |= KUNWIND_INSN_BEGINS;
			/* Not within a function, if possible. */
			if (to->flags & KUNWIND_INSN_ENTRY ||
			    (to->flags & KUNWIND_INSN_ALIGNED && !cut_at_entry)) {
				cut_at_entry |= to->flags & KUNWIND_INSN_ENTRY;
				cut = off;
				cut_nr = f->nr;
			}
		}
		kunwind_copy_track(&copy, &insn, to);
		f->nr++;
		off += insn.length;
		begins = flows_nowhere(&to->effect);
		after_call = to->effect.flow == KUNWIND_FLOW_CALL;
		trap = !insn.map && insn.op == 0xcc;
	}
	if ((p->last && off >= p->len) || !cut)
		return min(off, p->len);
	f->nr = cut_nr;
	return cut;
}

/* ------------------------------------------------------------------ rows */

static bool is_distance(s32 distance)
{
	return distance >= 8 && !(distance & 7) && !kunwind_flow_aligned(distance);
}

/* The CFA from the old rsp. */
static struct kunwind_written_row row_of_old(const struct kunwind_flow_state *state, s32 bp)
{
	struct kunwind_written_row row = { .how = KUNWIND_WRITTEN_NONE, .rbp = KUNWIND_RBP_UNKNOWN };
	const s32 base = kunwind_flow_aligned(bp) ? bp : state->sp;
	const bool word = kunwind_old_in_word(state->old);

	if (!kunwind_has_old(state) || state->old < 0 || state->need_old == KUNWIND_FLOW_LOST)
		return row;
	if (!word) {
		row.how = KUNWIND_WRITTEN_CFA;
		row.reg = kunwind_insn_dwarf(kunwind_old_reg(state->old));
		row.off = kunwind_old_distance(state->old);
	} else if (kunwind_flow_aligned(base) && state->need_old == kunwind_old_at(state->old)) {
		row.how = KUNWIND_WRITTEN_DEREF;
		row.reg = base == bp ? KUNWIND_RBP : KUNWIND_RSP;
		row.off = base - KUNWIND_FLOW_ALIGNED - kunwind_old_at(state->old);
		row.add = kunwind_old_distance(state->old);
	}
	return row;
}

static struct kunwind_written_row row_of(const struct kunwind_flow_insn *insn)
{
	const struct kunwind_flow_state *state = &insn->state;
	struct kunwind_flow_state next = *state;
	const s32 bp = kunwind_flow_either(state->bp, state->need_bp);
	const s32 slot = kunwind_flow_either(state->slot, state->need_slot);
	struct kunwind_written_row row = { .how = KUNWIND_WRITTEN_CFA, .rbp = KUNWIND_RBP_UNKNOWN };

	if (is_distance(bp)) {
		row.reg = KUNWIND_RBP;
		row.off = bp;
	} else if (is_distance(state->sp)) {
		row.reg = KUNWIND_RSP;
		row.off = state->sp;
	} else if (insn->effect.rsp == KUNWIND_RSP_ALIGNED && !kunwind_has_old(state)) {
		/* sub $4, %rsp precedes */
		next.sp = KUNWIND_FLOW_ALIGNED;
		next.old = kunwind_aligned_old(insn, next.sp);
		row = row_of_old(&next, bp);
	} else {
		row = row_of_old(state, bp);
	}
	if (row.how == KUNWIND_WRITTEN_NONE)
		return row;
	if (is_distance(slot) && slot > 8) {
		row.rbp = KUNWIND_RBP_SAVED;
		row.rbp_at = slot;
	} else if (bp == KUNWIND_FLOW_SAME) {
		row.rbp = KUNWIND_RBP_SAME;
	}
	return row;
}

/* Most bytes of rows. */
static u64 most_rows(const struct kunwind_code_gaps *gaps)
{
	return (u64)MOST_FACTOR * gaps->bytes + FIRST_ROOM;
}

/* Doubles the room for rows. False: that was all, or there is no memory (c->err). */
static bool more_room(struct code *c)
{
	struct kunwind_cfi_writer *w = &c->writer;
	const u64 most = c->debug_size + most_rows(c->gaps);
	u8 *more;

	if (w->room == most)
		return false;
	w->room = min(2 * w->room, most);
	more = kunwind_alloc(w->room);
	if (!more) {
		c->err = KUNWIND_E_NOMEM;
		return false;
	}
	memcpy(more, w->out, w->size);
	kunwind_free(w->out);
	w->out = more;
	return true;
}

static const struct kunwind_written_row none = { .how = KUNWIND_WRITTEN_NONE };

static void write_row(struct code *c, u64 at, struct kunwind_written_row row, bool moved)
{
	if (c->writer.cie != c->cie[moved]) {
		kunwind_cfi_write_row(&c->writer, at, none);
		c->writer.cie = c->cie[moved];
	}
	kunwind_cfi_write_row(&c->writer, at, row);
}

static void write_piece(struct code *c, const struct code_piece *p)
{
	const struct kunwind_code_flow *f = &c->flow;
	bool popped = false;
	u64 end = p->at;
	u32 i;

	for (i = 0; i < f->nr; i++) {
		const struct kunwind_flow_insn *insn = &f->insns[i];

		if (p->at + insn->at != end || insn->flags & KUNWIND_INSN_ENTRY)
			kunwind_cfi_write_row(&c->writer, end, none);
		/* Where rsp was above the return address, a return may be a jump to a pushed word. */
		popped &= !(insn->flags & KUNWIND_INSN_BEGINS);
		popped |= insn->state.sp > KUNWIND_FLOW_VARIES && insn->state.sp < 8;
		write_row(c, p->at + insn->at, popped ? none : row_of(insn), kunwind_code_moved(insn));
		end = p->at + insn->at + insn->length;
	}
	kunwind_cfi_write_row(&c->writer, end, none);
}

/* Writes the rows of a piece. False: there is no room, and no more rows can be made. */
static bool write_rows(struct code *c, const struct code_piece *p)
{
	const struct kunwind_cfi_writer before = c->writer;

	do {
		c->writer.size = before.size;
		c->writer.full = false;
		write_piece(c, p);
		if (!c->writer.full)
			return true;
	} while (more_room(c));
	c->writer.size = before.size;
	c->writer.full = false;
	return false;
}

static void make_rows(struct code *c)
{
	u32 i;

	for (i = 0; i < c->gaps->nr; i++) {
		const struct kunwind_code_gap *gap = &c->gaps->gap[i];
		u64 at = gap->start;

		while (at < gap->end && !c->err) {
			const struct code_piece p = piece_at(c, gap, at, PIECE);

			at += decode_piece(c, &p);
			kunwind_code_flow_solve(&c->flow);
			kunwind_code_moved_solve(&c->flow);
			if (!write_rows(c, &p))
				return;
			tick(c);
		}
	}
}

/* ---------------------------------------------------------------- memory */

static bool begin(struct code *c, const u8 *debug, u64 debug_size)
{
	struct kunwind_code_flow *f = &c->flow;

	/* no instruction is shorter than a byte */
	f->room = min((u32)PIECE_INSNS, c->gaps->bytes);
	f->insns = kunwind_alloc(f->room * sizeof(*f->insns));
	f->jumps = kunwind_alloc(f->room * sizeof(*f->jumps));
	f->queue = kunwind_alloc(f->room * sizeof(*f->queue));
	f->trail = kunwind_alloc(KUNWIND_FLOW_TRAIL * sizeof(*f->trail));
	c->called = kunwind_alloc(c->gaps->bytes / 8 + 1);
	c->jumped = kunwind_alloc(c->gaps->bytes / 8 + 1);
	c->debug_size = debug_size;
	c->writer.room = debug_size + min((u64)FIRST_ROOM, most_rows(c->gaps));
	c->writer.out = kunwind_alloc(c->writer.room);
	if (!f->insns || !f->jumps || !f->queue || !f->trail || !c->called || !c->jumped ||
	    !c->writer.out)
		return false;
	if (debug_size)
		memcpy(c->writer.out, debug, debug_size);
	c->writer.size = debug_size;
	c->cie[true] = kunwind_cfi_write_cie(&c->writer, "KM");
	c->writer.cie = c->cie[false] = kunwind_cfi_write_cie(&c->writer, "K");
	c->rows_at = c->writer.size;
	return true;
}

static void end(struct code *c)
{
	kunwind_free(c->flow.insns);
	kunwind_free(c->flow.jumps);
	kunwind_free(c->flow.queue);
	kunwind_free(c->flow.trail);
	kunwind_free(c->called);
	kunwind_free(c->jumped);
}

size_t kunwind_code_rows_memory(const struct kunwind_code_gaps *gaps, u64 debug_size)
{
	const u64 insns = min((u32)PIECE_INSNS, gaps->bytes);
	const struct kunwind_code_flow *f;

	/* code, the two bitmaps, and the rows twice: while they are copied to more room */
	return kunwind_code_power(gaps->bytes + 8 * KUNWIND_TEXT_BEHIND) +
	       2 * kunwind_code_power(gaps->bytes / 8 + 1) +
	       2 * kunwind_code_power(debug_size + most_rows(gaps)) +
	       kunwind_code_power(insns * sizeof(*f->insns)) +
	       kunwind_code_power(insns * sizeof(*f->jumps)) +
	       kunwind_code_power(insns * sizeof(*f->queue)) +
	       kunwind_code_power(KUNWIND_FLOW_TRAIL * sizeof(*f->trail));
}

enum kunwind_build_error
kunwind_code_rows(const struct kunwind_code_gaps *gaps, const u8 *debug, u64 debug_size,
		  kunwind_abort_fn *abort, void *abort_data, u8 **data, u64 *size)
{
	struct code c = { .abort = abort, .abort_data = abort_data, .gaps = gaps };

	*data = NULL;
	*size = 0;
	if (begin(&c, debug, debug_size)) {
		find_targets(&c);
		make_rows(&c);
	} else {
		c.err = KUNWIND_E_NOMEM;
	}
	end(&c);
	if (c.err || c.writer.size == c.rows_at || c.writer.full) {
		kunwind_free(c.writer.out);
		return c.err;
	}
	*data = c.writer.out;
	*size = c.writer.size;
	return KUNWIND_OK;
}
