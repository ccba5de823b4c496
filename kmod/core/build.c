// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * build.c - .eh_frame -> packed table
 *
 * 1. List all FDEs: start address and place, 8 bytes each; sort by address
 *    (linear: radix), unless they are already in order.
 * 2. Sweep over them upwards, run each FDE's program and hand its rows to
 *    pack.c. What no FDE covers gets a row without a rule.
 * 3. As soon as some CFA needs a callee-saved register that is not followed,
 *    do 2 again with it: at most once for each of the five. Hand-written
 *    cryptography has such CFAs, hardly anything else does.
 *
 * Overlaps: an address belongs to the FDE with the greatest start at or below
 * it whose range holds it; of several with the same start, to the last in the
 * file. Behind an inner FDE the outer goes on. So equal duplicates count once.
 *
 * Time is linear in the section: a program runs once, and again only behind
 * an FDE inside its own range, which is limited in total. The initial rows of
 * the 64 CIEs used last are kept; a CIE's program is short by decree.
 * Memory: the table and, until it is written, its draft of the same size
 * (pack.h); 8 bytes an FDE, 16 while sorting; 25 KB.
 */
#include "build.h"
#include "cfi.h"
#include "pack.h"
#include "program.h"

#define CIE_SLOTS	64
#define TICKS		4096	/* rows or records between two looks at the clock */
#define TICK_BYTES	64	/* of instructions that count as one more */
#define RADIX_BITS	11
#define RADIX_PASSES	3	/* 33 bits >= 32 */

struct cie_slot {
	size_t key;		/* offset of the CIE + 1; 0: free */
	struct kunwind_cie cie;
	struct kunwind_row initial;
};

/* An FDE whose rows hold from here on, or again behind another. */
struct active {
	size_t offset;		/* of its record */
	u64 start, end;
};

struct build {
	const struct kunwind_section *section;
	kunwind_abort_fn *abort;
	void *abort_data;
	u32 ticks;
	u32 keep;		/* followed besides rsp, rbp, ra */
	u64 base;
	u64 *fdes;		/* (start - section->lo) << 32 | offset of the record */
	u32 nr_fdes;
	u64 rerun_left;		/* bytes of instructions */
	u32 nr_active;
	struct active active[KUNWIND_MAX_NESTED];
	struct kunwind_pack pack;
	struct kunwind_program program;
	struct cie_slot cies[CIE_SLOTS];
};

static __always_inline enum kunwind_refusal tick(struct build *b)
{
	if (likely(++b->ticks < TICKS))
		return KUNWIND_OK;
	b->ticks = 0;
	kunwind_resched();
	return b->abort && b->abort(b->abort_data) ? KUNWIND_E_ABORTED : KUNWIND_OK;
}

/* The CIE at @offset with its initial row. It stays until the next call. */
static enum kunwind_refusal cie_get(struct build *b, size_t offset, struct cie_slot **slot)
{
	struct cie_slot *s = &b->cies[(u32)(offset * 0x9e3779b1U) >> 26];
	enum kunwind_refusal err;

	*slot = s;
	if (likely(s->key == offset + 1))
		return KUNWIND_OK;
	s->key = 0;
	b->ticks += KUNWIND_CIE_MAX / TICK_BYTES;
	err = kunwind_cie_read(b->section, offset, &s->cie);
	if (err)
		return err;
	b->program.follow = s->cie.signal ? KUNWIND_ALL_REGS :
		b->keep | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP) |
		KUNWIND_REG(KUNWIND_RA);
	err = kunwind_program_initial(&b->program, &s->cie);
	if (err)
		return err;
	s->initial = b->program.row;
	s->key = offset + 1;
	return KUNWIND_OK;
}

static enum kunwind_refusal fde_get(struct build *b, const struct kunwind_record *record,
				    struct cie_slot **slot, struct kunwind_fde *fde)
{
	enum kunwind_refusal err = cie_get(b, record->cie, slot);

	return err ? err : kunwind_fde_read(b->section, record, &(*slot)->cie, fde);
}

/* Counts the FDEs, empty ones too. */
static enum kunwind_refusal fdes_count(struct build *b, size_t *nr)
{
	struct kunwind_record record;
	enum kunwind_refusal err;
	size_t offset;

	*nr = 0;
	for (offset = 0;; offset = record.end) {
		err = kunwind_record_read(b->section, offset, &record);
		if (err)
			return err;
		if (record.kind == KUNWIND_RECORD_END)
			return KUNWIND_OK;
		*nr += record.kind == KUNWIND_RECORD_FDE;
		err = tick(b);
		if (err)
			return err;
	}
}

/*
 * Lists those that cover some code. One that lies elsewhere as a whole does no
 * harm, and no other unwinder minds it; one that leaves the code halfway does.
 */
static enum kunwind_refusal fdes_list(struct build *b)
{
	const struct kunwind_section *section = b->section;
	struct kunwind_record record;
	enum kunwind_refusal err;
	struct kunwind_fde fde;
	struct cie_slot *slot;
	size_t offset;

	for (offset = 0;; offset = record.end) {
		err = kunwind_record_read(section, offset, &record);
		if (err)
			return err;
		if (record.kind == KUNWIND_RECORD_END)
			return KUNWIND_OK;
		if (record.kind != KUNWIND_RECORD_FDE)
			continue;
		err = fde_get(b, &record, &slot, &fde);
		if (err)
			return err;
		err = tick(b);
		if (err)
			return err;
		if (!fde.len || fde.start >= section->hi || fde.start + fde.len <= section->lo)
			continue;
		if (fde.start < section->lo || fde.start >= section->hi ||
		    fde.len > section->hi - fde.start)
			return KUNWIND_E_RANGE;
		if (fde.start - section->lo + fde.len > 0xffffffffU ||
		    fde.code_end - fde.code > KUNWIND_FDE_MAX_CODE)
			return KUNWIND_E_LIMIT;
		b->fdes[b->nr_fdes++] = (fde.start - section->lo) << 32 | offset;
	}
}

/* Sorts by address; stable, so that equal ones stay in the file's order. */
static enum kunwind_refusal fdes_sort(struct build *b)
{
	u32 *counts, pass, i;
	u64 *from = b->fdes, *to, *swap;

	for (i = 1; i < b->nr_fdes; i++)
		if (from[i - 1] >> 32 > from[i] >> 32)
			break;
	if (i >= b->nr_fdes)
		return KUNWIND_OK;

	to = kunwind_alloc(b->nr_fdes * sizeof(*to));
	counts = kunwind_alloc(sizeof(*counts) << RADIX_BITS);
	if (!to || !counts) {
		kunwind_free(to);
		kunwind_free(counts);
		return KUNWIND_E_NOMEM;
	}
	for (pass = 0; pass < RADIX_PASSES; pass++) {
		unsigned int shift = 32 + pass * RADIX_BITS;
		u32 mask = (1U << RADIX_BITS) - 1, sum = 0;

		memset(counts, 0, sizeof(*counts) << RADIX_BITS);
		for (i = 0; i < b->nr_fdes; i++)
			counts[(from[i] >> shift) & mask]++;
		for (i = 0; i <= mask; i++) {
			u32 n = counts[i];

			counts[i] = sum;
			sum += n;
		}
		for (i = 0; i < b->nr_fdes; i++)
			to[counts[(from[i] >> shift) & mask]++] = from[i];
		swap = from;
		from = to;
		to = swap;
		kunwind_resched();
	}
	b->fdes = from;
	kunwind_free(to);
	kunwind_free(counts);
	return KUNWIND_OK;
}

/* One entry of a wide rule. Returns what it may take: its expression's length, and one. */
static unsigned int wide_add(const struct build *b, struct kunwind_wide *wide,
			     struct kunwind_wide_entry *entries, unsigned int reg,
			     const struct kunwind_saved *saved)
{
	u16 len = 0;

	if (saved->how == KUNWIND_HOW_EXPR || saved->how == KUNWIND_HOW_AT_EXPR)
		memcpy(&len, b->pack.exprs.data + saved->off, sizeof(len));
	entries[wide->nr++] = (struct kunwind_wide_entry){
		.reg = reg, .how = saved->how, .source = saved->source, .off = saved->off,
	};
	return 1 + len;
}

/* A row that no plain rule can express. */
static noinline enum kunwind_refusal row_wide(struct build *b, bool signal,
					      struct kunwind_rule *rule)
{
	static const struct kunwind_saved same = { .how = KUNWIND_HOW_SAME };
	struct {
		struct kunwind_wide wide;
		struct kunwind_wide_entry entries[1 + KUNWIND_NR_REGS];
	} w;
	const struct kunwind_row *row = &b->program.row;
	struct kunwind_saved cfa;
	unsigned int reg, cost = 0;

	memset(&w, 0, sizeof(w));
	w.wide.signal = signal;
	cfa = (struct kunwind_saved){
		.how = row->cfa_how,
		.source = row->cfa_how == KUNWIND_HOW_REG ? row->cfa_reg : 0,
		.off = row->cfa_how == KUNWIND_HOW_REG ? row->cfa_off : (s32)row->cfa_expr,
	};
	cost += wide_add(b, &w.wide, w.entries, 0, &cfa);
	for (reg = 0; reg < KUNWIND_NR_REGS; reg++) {
		const struct kunwind_saved *saved = &row->saved[reg];
		u32 bit = KUNWIND_REG(reg);

		if (row->changed & bit) {
			if (reg == KUNWIND_RA && saved->how == KUNWIND_HOW_AT_CFA &&
			    saved->off == -8)
				continue;
			cost += wide_add(b, &w.wide, w.entries, reg, saved);
		} else if (reg == KUNWIND_RA) {
			/* not said where it is: it stayed where it was */
			cost += wide_add(b, &w.wide, w.entries, reg, &same);
		} else if ((row->same & bit) && (signal || reg == KUNWIND_RSP)) {
			cost += wide_add(b, &w.wide, w.entries, reg, &same);
		}
	}
	if (cost > w.wide.nr + KUNWIND_ROW_MAX_EXPR)
		return KUNWIND_E_LIMIT;
	w.wide.cost = cost;
	*rule = (struct kunwind_rule){
		.kind = KUNWIND_RULE_WIDE | (signal ? KUNWIND_RULE_SIGNAL : 0),
	};
	return kunwind_pack_wide(&b->pack, &w.wide,
				 sizeof(w.wide) + w.wide.nr * sizeof(w.entries[0]), &rule->off);
}

/* The rule of the row in b->program. */
static __always_inline enum kunwind_refusal row_rule(struct build *b, bool signal,
						     struct kunwind_rule *rule)
{
	const u32 rbp = KUNWIND_REG(KUNWIND_RBP), ra = KUNWIND_REG(KUNWIND_RA);
	const struct kunwind_row *row = &b->program.row;
	const struct kunwind_saved *saved;
	u8 rbp_how = KUNWIND_RBP_SAME;
	s16 rbp_off = 0;
	u8 kind, reg = 0;
	s32 off;

	*rule = (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
	if (likely(row->changed & ra)) {
		saved = &row->saved[KUNWIND_RA];
		if (saved->how == KUNWIND_HOW_UNDEFINED) {
			rule->kind = KUNWIND_RULE_END;
			return KUNWIND_OK;
		}
		if (unlikely(saved->how != KUNWIND_HOW_AT_CFA || saved->off != -8))
			goto wide;
	}
	/* a program that never says where the CFA is says nothing */
	if (unlikely(row->cfa_how == KUNWIND_HOW_UNDEFINED))
		return KUNWIND_OK;
	if (unlikely(!(row->changed & ra) || (row->changed & ~(rbp | ra)) ||
		     (row->same & (signal ? ~rbp : KUNWIND_REG(KUNWIND_RSP)))))
		goto wide;
	if (row->changed & rbp) {
		saved = &row->saved[KUNWIND_RBP];
		if (likely(saved->how == KUNWIND_HOW_AT_CFA && saved->off == (s16)saved->off)) {
			rbp_how = KUNWIND_RBP_SAVED;
			rbp_off = saved->off;
		} else if (saved->how == KUNWIND_HOW_UNDEFINED) {
			rbp_how = KUNWIND_RBP_UNKNOWN;
		} else {
			goto wide;
		}
	}
	if (likely(row->cfa_how == KUNWIND_HOW_REG)) {
		kind = KUNWIND_RULE_CFA;
		reg = row->cfa_reg;
		off = row->cfa_off;
	} else if (row->shape == KUNWIND_EXPR_DEREF) {
		kind = KUNWIND_RULE_DEREF;
		reg = row->shape_reg;
		off = row->shape_off;
	} else if (row->shape == KUNWIND_EXPR_PLT) {
		kind = KUNWIND_RULE_PLT;
		reg = KUNWIND_RSP;
		off = row->shape_off;
	} else {
		goto wide;
	}
	/* the walk's short forms know general registers only */
	if (unlikely(reg == KUNWIND_RA))
		goto wide;
	*rule = (struct kunwind_rule){
		.off = off,
		.rbp = rbp_off,
		.kind = kind | rbp_how << KUNWIND_RULE_RBP_SHIFT |
			(signal ? KUNWIND_RULE_SIGNAL : 0),
		.reg = reg,
	};
	return KUNWIND_OK;
wide:
	if (row->cfa_how == KUNWIND_HOW_UNDEFINED)
		return KUNWIND_OK;
	return row_wide(b, signal, rule);
}

/*
 * Rows of the FDE @a within [from, to). Its program runs to its end all the
 * same: each byte of it has to be acceptable.
 */
static enum kunwind_refusal fde_rows(struct build *b, const struct active *a, u64 from, u64 to)
{
	struct kunwind_program *p = &b->program;
	struct kunwind_record record;
	enum kunwind_refusal err;
	struct kunwind_rule rule;
	struct kunwind_fde fde;
	struct cie_slot *slot;

	err = kunwind_record_read(b->section, a->offset, &record);
	if (!err)
		err = fde_get(b, &record, &slot, &fde);
	if (err)
		return err;
	/* instructions that make no rows take time too */
	b->ticks += (fde.code_end - fde.code) / TICK_BYTES;
	if (from != a->start) {
		u64 size = fde.code_end - fde.code;

		if (size > b->rerun_left)
			return KUNWIND_E_LIMIT;
		b->rerun_left -= size;
	}

	p->follow = slot->cie.signal ? KUNWIND_ALL_REGS :
		b->keep | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP) |
		KUNWIND_REG(KUNWIND_RA);
	kunwind_program_begin(p, &slot->cie, &slot->initial, &fde);
	for (;;) {
		err = kunwind_program_next(p);
		if (unlikely(err))
			return err;
		if (p->from == p->to)
			return KUNWIND_OK;
		if (unlikely(p->to <= from || p->from >= to))
			continue;
		err = row_rule(b, slot->cie.signal, &rule);
		if (likely(!err))
			err = kunwind_pack_row(&b->pack, max(p->from, from) - b->base, rule);
		if (likely(!err))
			err = tick(b);
		if (unlikely(err))
			return err;
	}
}

/* Rows of [*at, to) from the FDEs that are active. */
static enum kunwind_refusal fill(struct build *b, u64 *at, u64 to)
{
	static const struct kunwind_rule none;
	enum kunwind_refusal err;

	while (*at < to && b->nr_active) {
		const struct active *top = &b->active[b->nr_active - 1];

		if (top->end > *at) {
			u64 end = min(top->end, to);

			err = fde_rows(b, top, *at, end);
			if (err)
				return err;
			*at = end;
		}
		if (top->end <= *at)
			b->nr_active--;
	}
	if (*at == to)
		return KUNWIND_OK;
	err = kunwind_pack_row(&b->pack, *at - b->base, none);
	*at = to;
	return err;
}

/* Registers that CFAs and rules met so far read, and that are not followed. */
static u32 regs_missing(const struct build *b)
{
	return b->program.needed & KUNWIND_SAVED_REGS & ~b->keep;
}

/* All rows of the object, upwards; or those up to where a register is missing. */
static enum kunwind_refusal sweep(struct build *b, u64 *end)
{
	enum kunwind_refusal err;
	u64 at = b->base;
	u32 i;

	*end = at;
	b->nr_active = 0;
	for (i = 0; i < b->nr_fdes && !regs_missing(b); i++) {
		struct kunwind_record record;
		struct kunwind_fde fde;
		struct cie_slot *slot;

		err = fill(b, &at, b->section->lo + (b->fdes[i] >> 32));
		if (err)
			return err;
		err = kunwind_record_read(b->section, (u32)b->fdes[i], &record);
		if (!err)
			err = fde_get(b, &record, &slot, &fde);
		if (!err)
			err = tick(b);
		if (err)
			return err;
		/* those that end within this one never go on */
		while (b->nr_active && b->active[b->nr_active - 1].end <= fde.start + fde.len)
			b->nr_active--;
		if (b->nr_active == KUNWIND_MAX_NESTED)
			return KUNWIND_E_LIMIT;
		b->active[b->nr_active++] = (struct active){
			.offset = (u32)b->fdes[i],
			.start = fde.start,
			.end = fde.start + fde.len,
		};
	}
	while (b->nr_active) {
		err = fill(b, &at, b->active[b->nr_active - 1].end);
		if (err)
			return err;
	}
	*end = at;
	return KUNWIND_OK;
}

static enum kunwind_refusal build(struct build *b, struct kunwind_table **table)
{
	struct kunwind_table_stats head;
	enum kunwind_refusal err;
	size_t nr;
	u32 missing;
	u64 end;

	err = fdes_count(b, &nr);
	if (err)
		return err;
	if (!nr)
		return KUNWIND_E_NO_CFI;
	if (nr > b->pack.limit / sizeof(*b->fdes))
		return KUNWIND_E_LIMIT;
	b->fdes = kunwind_alloc(nr * sizeof(*b->fdes));
	if (!b->fdes)
		return KUNWIND_E_NOMEM;
	err = fdes_list(b);
	if (!err)
		err = b->nr_fdes ? fdes_sort(b) : KUNWIND_E_NO_CFI;
	if (err)
		return err;
	b->base = b->section->lo + (b->fdes[0] >> 32);
	b->rerun_left = KUNWIND_RERUN_FACTOR * (u64)b->section->size;

	for (;;) {
		err = sweep(b, &end);
		if (err)
			return err;
		missing = regs_missing(b);
		if (!missing)
			break;
		/* initial rows and what is in the draft followed fewer registers */
		b->keep |= missing;
		memset(b->cies, 0, sizeof(b->cies));
		kunwind_pack_reset(&b->pack);
	}
	head = (struct kunwind_table_stats){
		.base = b->base,
		.span = end - b->base,
		.nr_fdes = b->nr_fdes,
		.keep = b->keep,
		.needed = b->program.needed & KUNWIND_SAVED_REGS,
	};
	return kunwind_pack_finish(&b->pack, &head, table);
}

enum kunwind_refusal
kunwind_table_build(const struct kunwind_section *section, u32 keep, size_t limit,
		    kunwind_abort_fn *abort, void *data, struct kunwind_table **table)
{
	enum kunwind_refusal err;
	struct build *b;

	if (section->size > 0xffffffffU)
		return KUNWIND_E_LIMIT;
	b = kunwind_alloc(sizeof(*b));
	if (!b)
		return KUNWIND_E_NOMEM;
	b->section = section;
	b->keep = keep & KUNWIND_SAVED_REGS;
	b->abort = abort;
	b->abort_data = data;
	b->program.section = section;
	b->program.exprs = &b->pack.exprs;
	err = kunwind_pack_init(&b->pack, limit);
	if (!err)
		err = build(b, table);
	kunwind_pack_exit(&b->pack);
	kunwind_free(b->fdes);
	kunwind_free(b);
	return err;
}
