// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * cfi_writer.c - write rows as a section .debug_frame; see cfi_writer.h
 *
 * A row that equals the one before it takes no byte. An FDE takes 24 bytes, a row
 * mostly 4 to 6. Any context; uses only the caller's memory.
 */
#include "cfi_writer.h"

/* DWARF 5, 7.24 */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_ADVANCE_1 = 0x02,
	CFA_ADVANCE_2 = 0x03,
	CFA_ADVANCE_4 = 0x04,
	CFA_UNDEFINED = 0x07,
	CFA_SAME = 0x08,
	CFA_DEF = 0x0c,
	CFA_DEF_EXPRESSION = 0x0f,
	CFA_VAL_EXPRESSION = 0x16,
	OP_DEREF = 0x06,
	OP_PLUS_UCONST = 0x23,
	OP_BREG0 = 0x70,
};

static void put(struct kunwind_cfi_writer *w, const void *bytes, u32 len)
{
	if (w->full || len > w->room - w->size) {
		w->full = true;
		return;
	}
	if (w->out)
		memcpy(w->out + w->size, bytes, len);
	w->size += len;
}

static void put_byte(struct kunwind_cfi_writer *w, u8 byte)
{
	put(w, &byte, 1);
}

static void put_uleb(struct kunwind_cfi_writer *w, u64 val)
{
	do {
		put_byte(w, (val & 0x7f) | (val > 0x7f) << 7);
		val >>= 7;
	} while (val);
}

/* In five bytes, whatever the number. */
static void put_long_sleb(struct kunwind_cfi_writer *w, s32 val)
{
	u32 i;

	for (i = 0; i < 5; i++)
		put_byte(w, ((s64)val >> 7 * i & 0x7f) | (i < 4) << 7);
}

static u32 uleb_len(u64 val)
{
	u32 len = 1;

	while (val >>= 7)
		len++;
	return len;
}

u64 kunwind_cfi_write_cie(struct kunwind_cfi_writer *w, const char *augmentation)
{
	static const u8 head[] = { 0xff, 0xff, 0xff, 0xff, 1 };
	static const u8 tail[] = {
		1,	 0x78,	      KUNWIND_RA, /* alignments 1 and -8 */
		CFA_DEF, KUNWIND_RSP, 8,    CFA_OFFSET | KUNWIND_RA,
		1,
	};
	const u32 letters = strlen(augmentation) + 1;
	u32 len = sizeof(head) + letters + sizeof(tail);
	const u64 place = w->size;

	put(w, &len, sizeof(len));
	put(w, head, sizeof(head));
	put(w, augmentation, letters);
	put(w, tail, sizeof(tail));
	return place;
}

static void fde_close(struct kunwind_cfi_writer *w, u64 end)
{
	if (w->fde && !w->full && w->out) {
		u32 len = w->size - w->fde - sizeof(len);
		u64 span = end - w->fde_start;

		memcpy(w->out + w->fde, &len, sizeof(len));
		memcpy(w->out + w->fde + 16, &span, sizeof(span));
	}
	w->fde = 0;
}

static void fde_open(struct kunwind_cfi_writer *w, u64 start)
{
	u32 zero = 0, cie = w->cie;
	u64 span = 0;

	w->fde = w->size;
	w->fde_start = w->at = start;
	w->row = (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_CFA,
					       .rbp = KUNWIND_RBP_SAME,
					       .reg = KUNWIND_RSP,
					       .off = 8 };
	put(w, &zero, sizeof(zero));
	put(w, &cie, sizeof(cie));
	put(w, &start, sizeof(start));
	put(w, &span, sizeof(span));
}

static void put_advance(struct kunwind_cfi_writer *w, u64 to)
{
	u64 delta = to - w->at;

	if (!delta)
		return;
	if (delta < 0x40) {
		put_byte(w, CFA_ADVANCE | delta);
	} else if (delta <= 0xff) {
		put_byte(w, CFA_ADVANCE_1);
		put(w, &delta, 1);
	} else if (delta <= 0xffff) {
		put_byte(w, CFA_ADVANCE_2);
		put(w, &delta, 2);
	} else if (delta <= 0xffffffff) {
		put_byte(w, CFA_ADVANCE_4);
		put(w, &delta, 4);
	} else {
		w->full = true;
	}
	w->at = to;
}

static void put_expr(struct kunwind_cfi_writer *w, const struct kunwind_written_expr *e)
{
	put_uleb(w, e->len);
	put(w, e->bytes, e->len);
}

static void put_val_expr(struct kunwind_cfi_writer *w, u8 reg, const struct kunwind_written_expr *e)
{
	if (!e->len)
		return;
	put_byte(w, CFA_VAL_EXPRESSION);
	put_byte(w, reg);
	put_expr(w, e);
}

/* Such rows are few: each one has an FDE of its own. */
static void write_exprs(struct kunwind_cfi_writer *w, u64 at, const struct kunwind_written_row *row)
{
	fde_close(w, at);
	fde_open(w, at);
	w->row = *row;
	put_byte(w, CFA_DEF_EXPRESSION);
	put_expr(w, &row->exprs->cfa);
	put_val_expr(w, KUNWIND_RA, &row->exprs->ra);
	put_val_expr(w, KUNWIND_RBP, &row->exprs->rbp);
	if (!row->exprs->rbp.len && row->rbp == KUNWIND_RBP_UNKNOWN) {
		put_byte(w, CFA_UNDEFINED);
		put_byte(w, KUNWIND_RBP);
	}
}

static void write_cfa(struct kunwind_cfi_writer *w, const struct kunwind_written_row *row)
{
	if (row->how == KUNWIND_WRITTEN_CFA) {
		put_byte(w, CFA_DEF);
		put_byte(w, row->reg);
		put_uleb(w, row->off);
		return;
	}
	put_byte(w, CFA_DEF_EXPRESSION);
	put_uleb(w, 8 + uleb_len(row->add));
	put_byte(w, OP_BREG0 + row->reg);
	put_long_sleb(w, row->off);
	put_byte(w, OP_DEREF);
	put_byte(w, OP_PLUS_UCONST);
	put_uleb(w, row->add);
}

void kunwind_cfi_write_row(struct kunwind_cfi_writer *w, u64 at, struct kunwind_written_row row)
{
	const struct kunwind_written_row *const old = &w->row;
	const bool ends = row.how == KUNWIND_WRITTEN_END;

	if (row.how == KUNWIND_WRITTEN_NONE) {
		fde_close(w, at);
		return;
	}
	if (row.how == KUNWIND_WRITTEN_EXPR) {
		write_exprs(w, at, &row);
		return;
	}
	if (w->fde && old->how == KUNWIND_WRITTEN_EXPR)
		fde_close(w, at);
	if (!w->fde)
		fde_open(w, at);
	if (row.how == old->how && row.rbp == old->rbp && row.reg == old->reg &&
	    row.off == old->off && row.add == old->add && row.rbp_at == old->rbp_at)
		return;
	put_advance(w, at);
	if (ends != (old->how == KUNWIND_WRITTEN_END)) {
		put_byte(w, ends ? CFA_UNDEFINED : CFA_OFFSET | KUNWIND_RA);
		put_byte(w, ends ? KUNWIND_RA : 1);
	}
	if (!ends && (row.how != old->how || row.reg != old->reg || row.off != old->off ||
		      row.add != old->add))
		write_cfa(w, &row);
	if (row.rbp != old->rbp || row.rbp_at != old->rbp_at) {
		switch (row.rbp) {
		case KUNWIND_RBP_SAVED:
			put_byte(w, CFA_OFFSET | KUNWIND_RBP);
			put_uleb(w, row.rbp_at / 8);
			break;
		default:
			put_byte(w, row.rbp == KUNWIND_RBP_SAME ? CFA_SAME : CFA_UNDEFINED);
			put_byte(w, KUNWIND_RBP);
		}
	}
	w->row = row;
}
