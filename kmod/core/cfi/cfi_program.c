// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * cfi_program.c - run a CFI program and stop at each row; see cfi_program.h
 */
#include "cfi_program.h"
#include "budget.h"
#include "../x86/i386.h"

#define FIRST_REMEMBERED	16	/* room for remembered states at first; then doubled */

enum {
	CFA_ADVANCE_LOC		= 0x40,	/* opcode in the high two bits, operand in the low six */
	CFA_OFFSET		= 0x80,
	CFA_RESTORE		= 0xc0,

	CFA_NOP			= 0x00,
	CFA_SET_LOC		= 0x01,
	CFA_ADVANCE_LOC1	= 0x02,
	CFA_ADVANCE_LOC2	= 0x03,
	CFA_ADVANCE_LOC4	= 0x04,
	CFA_OFFSET_EXTENDED	= 0x05,
	CFA_RESTORE_EXTENDED	= 0x06,
	CFA_UNDEFINED		= 0x07,
	CFA_SAME_VALUE		= 0x08,
	CFA_REGISTER		= 0x09,
	CFA_REMEMBER_STATE	= 0x0a,
	CFA_RESTORE_STATE	= 0x0b,
	CFA_DEF_CFA		= 0x0c,
	CFA_DEF_CFA_REGISTER	= 0x0d,
	CFA_DEF_CFA_OFFSET	= 0x0e,
	CFA_DEF_CFA_EXPRESSION	= 0x0f,
	CFA_EXPRESSION		= 0x10,
	CFA_OFFSET_EXTENDED_SF	= 0x11,
	CFA_DEF_CFA_SF		= 0x12,
	CFA_DEF_CFA_OFFSET_SF	= 0x13,
	CFA_VAL_OFFSET		= 0x14,
	CFA_VAL_OFFSET_SF	= 0x15,
	CFA_VAL_EXPRESSION	= 0x16,
	CFA_MIPS_ADVANCE_LOC8	= 0x1d,
	CFA_GNU_ARGS_SIZE	= 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Copies only the members of saved[] that are valid. */
static __always_inline void row_copy(struct kunwind_row *to, const struct kunwind_row *from)
{
	u32 mask;

	memcpy(to, from, offsetof(struct kunwind_row, saved));
	for (mask = from->changed; mask; mask &= mask - 1) {
		unsigned int reg = __builtin_ctz(mask);

		to->saved[reg] = from->saved[reg];
	}
}

/* Reads a ULEB128 number; most have one byte. */
static __always_inline u64 uleb(struct kunwind_bytes *b)
{
	if (likely(b->at < b->end && *b->at < 0x80))
		return *b->at++;
	return kunwind_bytes_uleb(b);
}

/*
 * Translates an operand that names a register whose value in this frame is
 * read. Columns of other registers (x87, vector, segment, any 64-bit number)
 * are legal but unknown: the result is then KUNWIND_NR_REGS or more.
 */
static __always_inline u64 reg_of(const struct kunwind_cfi_program *p, u64 number)
{
	return kunwind_reg_of(p->section->i386, number);
}

static noinline u64 odd_column(const struct kunwind_cfi_program *p, u64 number)
{
	u64 reg = reg_of(p, number);

	if (number == p->cie->ra)
		return min(reg, (u64)KUNWIND_RA);
	return reg == KUNWIND_RA ? KUNWIND_NR_REGS : reg;
}

/* Translates the column that a rule is for: the return column is KUNWIND_RA. */
static __always_inline u64 column_of(const struct kunwind_cfi_program *p, u64 number)
{
	return unlikely(p->odd) ? odd_column(p, number) : number;
}

/* Applies the data alignment factor. False: the result exceeds 32 bits. */
static __always_inline bool factored(const struct kunwind_cfi_program *p, s64 count, s32 *off)
{
	s64 bytes;

	if (__builtin_mul_overflow(count, p->cie->data_align, &bytes))
		return false;
	*off = bytes;
	return bytes == *off;
}

/* Returns the location after an advance. No product with 16 bits overflows. */
static __always_inline u64 advanced(const struct kunwind_cfi_program *p, u16 count)
{
	return p->from + count * p->cie->code_align;
}

/* The same for any count. A result beyond 2^64 is beyond the FDE, too. */
static u64 advanced_far(const struct kunwind_cfi_program *p, u64 count)
{
	u64 bytes;

	if (__builtin_mul_overflow(count, p->cie->code_align, &bytes))
		return ~0ULL;
	return p->from + bytes;
}

/*
 * Converts an unfactored offset. False: it exceeds 32 bits. It is unsigned in
 * DWARF 5 6.4.2.2, but clang's assembler also writes negative ones, and readers
 * take it as signed.
 */
static __always_inline bool plain_offset(u64 count, s32 *off)
{
	*off = count;
	return (s64)count == *off;
}

static __always_inline bool saved_equal(struct kunwind_saved a, struct kunwind_saved b)
{
	return a.off == b.off && a.how == b.how && a.source == b.source;
}

/* Sets saved[@reg], and keeps the old rule for the last remembered state. */
static __always_inline void saved_write(struct kunwind_cfi_program *p, unsigned int reg,
					struct kunwind_saved saved)
{
	if (p->nr_remembered) {
		struct kunwind_remembered *last = &p->remembered[p->nr_remembered - 1];

		if (!(last->copied & KUNWIND_REG(reg))) {
			last->copied |= KUNWIND_REG(reg);
			last->row.saved[reg] = p->row.saved[reg];
		}
	}
	p->row.saved[reg] = saved;
	p->touched = true;
}

/* Sets which registers have a rule, and which an explicit "same value". */
static __always_inline void masks_set(struct kunwind_cfi_program *p, u32 changed, u32 same)
{
	p->touched |= p->row.changed != changed || p->row.same != same;
	p->row.changed = changed;
	p->row.same = same;
}

static __always_inline void saved_set(struct kunwind_cfi_program *p, u64 reg,
				      struct kunwind_saved saved)
{
	if (reg >= KUNWIND_NR_REGS || !(p->follow & KUNWIND_REG(reg)))
		return;
	if (!saved_equal(p->row.saved[reg], saved))
		saved_write(p, reg, saved);
	masks_set(p, p->row.changed | KUNWIND_REG(reg), p->row.same & ~KUNWIND_REG(reg));
}

static void same_set(struct kunwind_cfi_program *p, u64 reg)
{
	if (reg >= KUNWIND_NR_REGS)
		return;
	masks_set(p, p->row.changed & ~KUNWIND_REG(reg), p->row.same | KUNWIND_REG(reg));
}

/*
 * In a CIE's own instructions, DW_CFA_restore goes back to "no rule". Rewriters
 * of binaries emit it there (libnvvm of CUDA 13). GCC's unwinder and readelf
 * accept it, elfutils refuses it.
 */
static void saved_restore(struct kunwind_cfi_program *p, u64 reg)
{
	u32 bit;

	if (reg >= KUNWIND_NR_REGS)
		return;
	bit = KUNWIND_REG(reg);
	if (!p->initial) {
		masks_set(p, p->row.changed & ~bit, p->row.same & ~bit);
		return;
	}
	if ((p->initial->changed & bit) &&
	    !saved_equal(p->row.saved[reg], p->initial->saved[reg]))
		saved_write(p, reg, p->initial->saved[reg]);
	masks_set(p, (p->row.changed & ~bit) | (p->initial->changed & bit),
		  (p->row.same & ~bit) | (p->initial->same & bit));
}

/* The rule of register @reg if its real rule cannot be expressed. */
static struct kunwind_saved saved_unknown(const struct kunwind_cfi_program *p, u64 reg)
{
	return (struct kunwind_saved){
		.how = reg == p->ra ? KUNWIND_HOW_UNKNOWN : KUNWIND_HOW_UNDEFINED,
	};
}

static noinline void unknown_set(struct kunwind_cfi_program *p, u64 reg)
{
	saved_set(p, reg, saved_unknown(p, reg));
}

static void cfa_set(struct kunwind_cfi_program *p, u64 reg, s32 off)
{
	u8 how = KUNWIND_HOW_REG;

	if (unlikely(reg >= KUNWIND_NR_REGS)) {
		how = KUNWIND_HOW_UNKNOWN;
		reg = 0;
	} else {
		p->needed |= KUNWIND_REG(reg);
	}
	p->touched |= p->row.cfa_how != how || p->row.cfa_reg != reg || p->row.cfa_off != off;
	p->row.cfa_how = how;
	p->row.cfa_reg = reg;
	p->row.cfa_off = off;
}

/* Sets the offset, also of a CFA by expression: a later register may use it. */
static __always_inline void cfa_off_set(struct kunwind_cfi_program *p, s32 off)
{
	p->touched |= p->row.cfa_off != off;
	p->row.cfa_off = off;
}

/*
 * Reads and checks a length-prefixed expression, and stores it in the pool
 * after its length. If it is not acceptable, only the rows with it are unknown.
 * @wanted: it is of the CFA or of a register that is followed.
 */
static enum kunwind_build_error expr_read(struct kunwind_cfi_program *p, struct kunwind_bytes *b,
					  bool initial, bool wanted, u32 *off,
					  struct kunwind_expr_info *info)
{
	u8 entry[sizeof(u16) + KUNWIND_EXPR_MAX_LEN];
	u64 len = kunwind_bytes_uleb(b);
	const u8 *expr = b->at;
	enum kunwind_build_error err;
	u16 len16 = len;

	kunwind_bytes_skip(b, len);
	if (b->bad)
		return KUNWIND_E_OPERAND;
	err = kunwind_expr_check(expr, len, initial, p->section->i386, info);
	if (err)
		*info = (struct kunwind_expr_info){ .unknown = true };
	if (!wanted || info->unknown)
		return KUNWIND_OK;
	memcpy(entry, &len16, sizeof(len16));
	memcpy(entry + sizeof(len16), expr, len);
	p->needed |= info->regs;
	return kunwind_intern_add(p->exprs, entry, sizeof(len16) + len, off);
}

/* Runs an instruction with an expression. */
static enum kunwind_build_error expr_op(struct kunwind_cfi_program *p, struct kunwind_bytes *b,
					u8 op)
{
	struct kunwind_saved saved = { 0 };
	struct kunwind_expr_info info;
	enum kunwind_build_error err;
	bool followed;
	u32 off = 0;
	u64 reg;

	if (op == CFA_DEF_CFA_EXPRESSION) {
		err = expr_read(p, b, false, true, &off, &info);
		if (err)
			return err;
		p->touched = true;
		p->row.cfa_how = info.unknown ? KUNWIND_HOW_UNKNOWN : KUNWIND_HOW_EXPR;
		p->row.cfa_expr = off;
		p->row.shape = info.shape;
		p->row.shape_reg = info.reg;
		p->row.shape_off = info.off;
		return KUNWIND_OK;
	}
	reg = column_of(p, kunwind_bytes_uleb(b));
	followed = reg < KUNWIND_NR_REGS && (p->follow & KUNWIND_REG(reg));
	err = expr_read(p, b, true, followed, &off, &info);
	if (err)
		return err;
	if (!followed && reg < KUNWIND_NR_REGS && !info.unknown)
		p->reads[reg] |= info.regs;
	saved.off = off;
	saved.how = op == CFA_EXPRESSION ? KUNWIND_HOW_AT_EXPR : KUNWIND_HOW_EXPR;
	saved_set(p, reg, info.unknown ? saved_unknown(p, reg) : saved);
	return KUNWIND_OK;
}

/* Runs an instruction that is rare in real programs. */
static noinline enum kunwind_build_error rare_op(struct kunwind_cfi_program *p,
						 struct kunwind_bytes *b, u8 op)
{
	struct kunwind_saved saved = { .how = KUNWIND_HOW_AT_CFA };
	u64 reg, source;

	switch (op) {
	case CFA_DEF_CFA_EXPRESSION:
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		return expr_op(p, b, op);
	case CFA_DEF_CFA_SF:
		reg = reg_of(p, kunwind_bytes_uleb(b));
		if (!factored(p, kunwind_bytes_sleb(b), &saved.off))
			return KUNWIND_E_OPERAND;
		cfa_set(p, reg, saved.off);
		return KUNWIND_OK;
	case CFA_DEF_CFA_OFFSET_SF:
		if (!factored(p, kunwind_bytes_sleb(b), &saved.off))
			return KUNWIND_E_OPERAND;
		cfa_off_set(p, saved.off);
		return KUNWIND_OK;
	case CFA_GNU_ARGS_SIZE:
		kunwind_bytes_uleb(b);	/* only landing pads need it */
		return KUNWIND_OK;
	}

	/* the first operand of the others is a register */
	reg = column_of(p, kunwind_bytes_uleb(b));
	switch (op) {
	case CFA_UNDEFINED:
		saved.how = KUNWIND_HOW_UNDEFINED;
		break;
	case CFA_SAME_VALUE:
		same_set(p, reg);
		return KUNWIND_OK;
	case CFA_REGISTER:
		source = reg_of(p, kunwind_bytes_uleb(b));
		saved.how = KUNWIND_HOW_REG;
		if (source >= KUNWIND_NR_REGS) {
			saved = saved_unknown(p, reg);	/* for example in a vector register */
		} else {
			saved.source = source;
			if (reg < KUNWIND_NR_REGS && (p->follow & KUNWIND_REG(reg)))
				p->needed |= KUNWIND_REG(source);
			else if (reg < KUNWIND_NR_REGS)
				p->reads[reg] |= KUNWIND_REG(source);
		}
		break;
	case CFA_OFFSET_EXTENDED:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED: {
		u64 count = kunwind_bytes_uleb(b);

		if (op == CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
			count = -count;
		if (!factored(p, count, &saved.off))
			saved = saved_unknown(p, reg);
		break;
	}
	case CFA_OFFSET_EXTENDED_SF:
		if (!factored(p, kunwind_bytes_sleb(b), &saved.off))
			saved = saved_unknown(p, reg);
		break;
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF: {
		s64 count = op == CFA_VAL_OFFSET ? (s64)kunwind_bytes_uleb(b) :
						   kunwind_bytes_sleb(b);

		saved.how = KUNWIND_HOW_CFA;
		if (!factored(p, count, &saved.off))
			saved = saved_unknown(p, reg);
		break;
	}
	default:
		return KUNWIND_E_OPCODE;
	}
	saved_set(p, reg, saved);
	return KUNWIND_OK;
}

/*
 * Doubles the room for remembered states; copying costs amortised constant
 * time. If an FDE nests states beyond the limit, its addresses from there on
 * have no rule; other FDEs are unaffected.
 */
static noinline enum kunwind_build_error remembered_grow(struct kunwind_cfi_program *p)
{
	const u32 most = p->max_remembered ? 2 * p->max_remembered : FIRST_REMEMBERED;
	const size_t size = most * sizeof(*p->remembered);
	struct kunwind_remembered *more;

	if (most > p->most_remembered)
		return KUNWIND_E_STATE_STACK;
	more = kunwind_budget_alloc(p->budget, size);
	if (!more)
		return kunwind_budget_error(p->budget);
	if (p->nr_remembered)
		memcpy(more, p->remembered, p->nr_remembered * sizeof(*more));
	kunwind_cfi_program_exit(p);
	p->remembered = more;
	p->max_remembered = most;
	return KUNWIND_OK;
}

void kunwind_cfi_program_exit(struct kunwind_cfi_program *p)
{
	kunwind_budget_free(p->budget, p->remembered,
			    p->max_remembered * sizeof(*p->remembered));
	p->remembered = NULL;
	p->max_remembered = 0;
}

static enum kunwind_build_error remember(struct kunwind_cfi_program *p)
{
	struct kunwind_remembered *last;
	enum kunwind_build_error err;

	if (unlikely(p->nr_remembered == p->max_remembered)) {
		err = remembered_grow(p);
		if (err)
			return err;
	}
	last = &p->remembered[p->nr_remembered++];
	memcpy(&last->row, &p->row, offsetof(struct kunwind_row, saved));
	last->copied = 0;
	return KUNWIND_OK;
}

/*
 * Restores the CFA, too: DWARF 5 does not say so explicitly, but GCC, LLVM and
 * all readers agree.
 */
static enum kunwind_build_error restore(struct kunwind_cfi_program *p)
{
	const struct kunwind_remembered *last;
	u32 mask;

	if (!p->nr_remembered)
		return KUNWIND_E_STATE_STACK;
	last = &p->remembered[--p->nr_remembered];
	p->touched |= last->copied ||
		      memcmp(&p->row, &last->row, offsetof(struct kunwind_row, saved));
	memcpy(&p->row, &last->row, offsetof(struct kunwind_row, saved));
	/*
	 * Copy even if no rule holds now: the state remembered before this one
	 * may have a rule, and its saved[] has not changed since.
	 */
	for (mask = last->copied; mask; mask &= mask - 1) {
		unsigned int reg = __builtin_ctz(mask);

		p->row.saved[reg] = last->row.saved[reg];
	}
	return KUNWIND_OK;
}

/* Runs until the location moves (sets p->to) or the instructions end. */
static enum kunwind_build_error run(struct kunwind_cfi_program *p)
{
	struct kunwind_bytes b = { .at = p->code, .end = p->code_end };
	enum kunwind_build_error err;
	u64 to, reg;
	s32 off;

	while (b.at < b.end) {
		u8 op = *b.at++;

		switch (op) {
		case CFA_ADVANCE_LOC ... CFA_ADVANCE_LOC + 0x3f:
			to = advanced(p, op & 0x3f);
			goto advance;
		case CFA_OFFSET ... CFA_OFFSET + 0x3f:
			reg = column_of(p, op & 0x3f);
			if (likely(factored(p, uleb(&b), &off)))
				saved_set(p, reg, (struct kunwind_saved){
					.how = KUNWIND_HOW_AT_CFA, .off = off });
			else
				unknown_set(p, reg);
			break;
		case CFA_RESTORE ... CFA_RESTORE + 0x3f:
			saved_restore(p, column_of(p, op & 0x3f));
			continue;
		case CFA_NOP:
			continue;
		case CFA_DEF_CFA_OFFSET:
			if (!plain_offset(uleb(&b), &off))
				return KUNWIND_E_OPERAND;
			cfa_off_set(p, off);
			break;
		case CFA_REMEMBER_STATE:
			err = remember(p);
			if (err)
				return err;
			continue;
		case CFA_RESTORE_STATE:
			err = restore(p);
			if (err)
				return err;
			continue;
		case CFA_DEF_CFA:
			reg = reg_of(p, uleb(&b));
			if (!plain_offset(uleb(&b), &off))
				return KUNWIND_E_OPERAND;
			cfa_set(p, reg, off);
			break;
		case CFA_DEF_CFA_REGISTER:
			reg = reg_of(p, uleb(&b));
			/* With no CFA before, there is no offset to go with it. */
			if (likely(p->row.cfa_how != KUNWIND_HOW_UNDEFINED))
				cfa_set(p, reg, p->row.cfa_off);
			else if (reg < KUNWIND_NR_REGS)
				p->needed |= KUNWIND_REG(reg);
			break;
		case CFA_RESTORE_EXTENDED:
			saved_restore(p, column_of(p, uleb(&b)));
			break;
		case CFA_ADVANCE_LOC1:
			to = advanced(p, kunwind_bytes_u8(&b));
			goto advance;
		case CFA_ADVANCE_LOC2:
			to = advanced(p, kunwind_bytes_u16(&b));
			goto advance;
		case CFA_ADVANCE_LOC4:
			to = advanced_far(p, kunwind_bytes_u32(&b));
			goto advance;
		case CFA_MIPS_ADVANCE_LOC8:
			to = advanced_far(p, kunwind_bytes_u64(&b));
			goto advance;
		case CFA_SET_LOC:
			if (!kunwind_pointer_read(p->section, &b, p->cie->encoding, 0, &to))
				return KUNWIND_E_ENCODING;
			/* a location must not go backwards */
			if (!b.bad && to < p->from)
				return KUNWIND_E_RANGE;
			goto advance;
		default:
			err = rare_op(p, &b, op);
			if (err)
				return err;
			break;
		}
		if (unlikely(b.bad))
			return KUNWIND_E_OPERAND;
		continue;

advance:
		if (!p->initial)
			return KUNWIND_E_OPCODE;
		if (unlikely(b.bad))
			return KUNWIND_E_OPERAND;
		/* Locations beyond the FDE, or beyond 2^64, count as its end. */
		if (unlikely(to < p->from || to > p->end))
			to = p->end;
		if (to == p->from)
			continue;
		p->to = to;
		break;
	}
	p->code = b.at;
	return KUNWIND_OK;
}

static __always_inline void columns_set(struct kunwind_cfi_program *p,
					const struct kunwind_cie *cie)
{
	p->cie = cie;
	p->odd_ra = cie->odd_ra;
	p->odd = cie->odd_ra || p->section->i386;
	p->ra = KUNWIND_RA;
	if (unlikely(p->odd_ra)) {
		p->ra = odd_column(p, cie->ra);
		p->follow |= KUNWIND_REG(p->ra);
		p->needed |= KUNWIND_REG(p->ra);
	}
}

/*
 * Gives a row the rule of its return address if that is not in the usual
 * column. Without a rule for the column, the return address is in the column's
 * register if that is one of 0 to 15 except rsp; otherwise it is unknown.
 */
static noinline void odd_return_set(struct kunwind_cfi_program *p)
{
	const u32 ra = KUNWIND_REG(KUNWIND_RA);
	struct kunwind_row *row = &p->row;

	if (p->ra == KUNWIND_RA) {
		if (!(row->changed & ra))
			saved_write(p, KUNWIND_RA, saved_unknown(p, KUNWIND_RA));
	} else if (row->changed & KUNWIND_REG(p->ra)) {
		row->saved[KUNWIND_RA] = row->saved[p->ra];
	} else {
		row->saved[KUNWIND_RA] = (struct kunwind_saved){
			.how = p->ra == KUNWIND_RSP ? KUNWIND_HOW_UNKNOWN : KUNWIND_HOW_REG,
			.source = p->ra,
		};
	}
	row->changed |= ra;
	row->same &= ~ra;
}

enum kunwind_build_error
kunwind_cfi_program_initial(struct kunwind_cfi_program *p, const struct kunwind_cie *cie)
{
	columns_set(p, cie);
	p->initial = NULL;
	p->code = cie->code;
	p->code_end = cie->code_end;
	p->from = 0;
	p->to = 0;
	p->end = 0;
	p->nr_remembered = 0;
	memset(&p->row, 0, sizeof(p->row));
	return run(p);
}

void kunwind_cfi_program_begin(struct kunwind_cfi_program *p, const struct kunwind_cie *cie,
			       const struct kunwind_row *initial, const struct kunwind_fde *fde)
{
	columns_set(p, cie);
	p->initial = initial;
	p->code = fde->code;
	p->code_end = fde->code_end;
	p->to = fde->start;
	p->end = fde->start + fde->len;
	p->nr_remembered = 0;
	p->touched = true;
	row_copy(&p->row, initial);
}

enum kunwind_build_error kunwind_cfi_program_next(struct kunwind_cfi_program *p)
{
	enum kunwind_build_error err;

	p->from = p->to;
	if (p->from == p->end && p->code == p->code_end)
		return KUNWIND_OK;
	err = run(p);
	if (unlikely(p->odd_ra))
		odd_return_set(p);
	p->changed = p->touched;
	p->touched = false;
	/* the last row ends at the FDE's end */
	if (!err && p->to == p->from)
		p->to = p->end;
	return err;
}

bool kunwind_cfi_program_look(struct kunwind_cfi_program *p, const struct kunwind_fde *fde)
{
	struct kunwind_bytes b = { .at = fde->code, .end = fde->code_end };
	u32 depth = 0;
	u64 reg;
	s32 off;

	while (b.at < b.end) {
		u8 op = *b.at++;

		switch (op) {
		case CFA_ADVANCE_LOC ... CFA_ADVANCE_LOC + 0x3f:
		case CFA_RESTORE ... CFA_RESTORE + 0x3f:
		case CFA_NOP:
			continue;
		case CFA_REMEMBER_STATE:
			if (depth++ == FIRST_REMEMBERED)
				return false;
			continue;
		case CFA_RESTORE_STATE:
			if (!depth--)
				return false;
			continue;
		case CFA_DEF_CFA_OFFSET:
			if (!plain_offset(uleb(&b), &off))
				return false;
			break;
		case CFA_OFFSET ... CFA_OFFSET + 0x3f:
		case CFA_GNU_ARGS_SIZE:
			uleb(&b);
			break;
		case CFA_DEF_CFA:
		case CFA_DEF_CFA_REGISTER:
			reg = reg_of(p, uleb(&b));
			if (op == CFA_DEF_CFA && !plain_offset(uleb(&b), &off))
				return false;
			if (reg < KUNWIND_NR_REGS)
				p->needed |= KUNWIND_REG(reg);
			break;
		case CFA_ADVANCE_LOC1:
			kunwind_bytes_skip(&b, 1);
			break;
		case CFA_ADVANCE_LOC2:
			kunwind_bytes_skip(&b, 2);
			break;
		case CFA_ADVANCE_LOC4:
			kunwind_bytes_skip(&b, 4);
			break;
		default:
			return false;
		}
	}
	return !b.bad;
}
