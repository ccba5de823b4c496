// SPDX-License-Identifier: MIT
/*
 * python_loop.c - find the code of CPython's eval loop
 *
 * GCC splits the function: its cold part is an FDE of its own, into whose middle the loop jumps.
 * Up to 3.12, the loop links a structure on its stack before it has filled it. While a thread is
 * between the two stores, its list is that of an earlier call: this range is marked.
 */
#include "python.h"
#include "x86/insn_decode.h"

#define MOST_CODE	(1u << 20)	/* bytes */
#define MOST_BASES	16
#define LINK_WITHIN	80		/* instructions from the function's start */
#define FILL_WITHIN	40		/* instructions after that */
#define CFRAME		0x38		/* of the pointer to the structure in the thread state */
#define PADDING		(8 * KUNWIND_TEXT_BEHIND)

struct loop {
	const struct interp_file *file;
	u64 start;
	u32 size;
	u8 *code;
	struct kunwind_interp_desc *desc;
};

static bool add_range(struct kunwind_interp_desc *desc, u64 start, u64 end, u32 flags)
{
	u32 i = desc->nr_ranges;

	if (i == KUNWIND_INTERP_RANGES)
		return false;
	for (; i && desc->range[i - 1].start > start; i--)
		desc->range[i] = desc->range[i - 1];
	desc->range[i] = (struct kunwind_interp_range){ .start = start, .end = end, .flags = flags };
	desc->nr_ranges++;
	return true;
}

static bool is_known(const struct kunwind_interp_desc *desc, u64 addr)
{
	u32 i;

	for (i = 0; i < desc->nr_ranges; i++)
		if (addr - desc->range[i].start < desc->range[i].end - desc->range[i].start)
			return true;
	return false;
}

/* Adds the FDE in the middle of which @target is. A jump to a function's start is a tail call. */
static bool take_target(const struct loop *loop, u64 target)
{
	u64 start, end;

	return target - loop->start < loop->size || is_known(loop->desc, target) ||
	       !interp_file_fde(loop->file, target, &start, &end) || start == target ||
	       add_range(loop->desc, start, end, 0);
}

static bool find_cold_parts(const struct loop *loop)
{
	struct kunwind_insn insn;
	u32 at;

	for (at = 0; at < loop->size; at += insn.length) {
		if (!kunwind_insn_decode(loop->code + at, &insn))
			return false;
		if ((insn.map == 0 && insn.op == 0xe9) || (insn.map == 1 && (insn.op & 0xf0) == 0x80))
			if (!take_target(loop, loop->start + at + insn.length + (u64)(s64)insn.imm))
				return false;
	}
	return true;
}

/* Bytes that a plain or a vector store to disp(%rsp) writes; 0: it is none. */
static u32 stored(const struct kunwind_insn *insn)
{
	if (!insn->on_rsp)
		return 0;
	if (insn->map == 0)
		return insn->op == 0x89 && insn->wide ? 8 : 0;
	if (insn->map != 1)
		return 0;
	if (insn->op == 0x11 || insn->op == 0x29 || insn->op == 0x7f)
		return 16;
	return insn->op == 0xd6 || insn->op == 0x13 || insn->op == 0x17 ? 8 : 0;
}

/* The range between the two stores, in bytes of the code. */
static bool find_unsettled(const struct loop *loop, u32 *from, u32 *to)
{
	s32 base[MOST_BASES];
	struct kunwind_insn insn;
	u32 at = 0, nr_bases = 0, i, k, width;
	bool linked = false;

	for (i = 0; i < LINK_WITHIN && at < loop->size; at += insn.length, i++) {
		if (!kunwind_insn_decode(loop->code + at, &insn))
			return false;
		if (linked) {
			width = stored(&insn);
			for (k = 0; k < nr_bases; k++)
				if (insn.disp <= base[k] + 8 && base[k] + 8 < insn.disp + (s32)width) {
					*to = at + insn.length;
					return true;
				}
		} else if (insn.map == 0 && insn.op == 0x8d && insn.on_rsp && nr_bases < MOST_BASES) {
			base[nr_bases++] = insn.disp;
		} else if (insn.map == 0 && insn.op == 0x89 && insn.wide && insn.modrm >> 6 == 1 &&
			   (insn.modrm & 7) != 4 && insn.disp == CFRAME) {
			linked = true;
			*from = at + insn.length;
			i = LINK_WITHIN - FILL_WITHIN;
		}
	}
	return false;
}

static const char *find(const struct loop *loop, bool links)
{
	u64 start, end;
	u32 from, to;

	if (!interp_file_bytes(loop->file, loop->start, loop->code, loop->size) ||
	    !interp_file_fde(loop->file, loop->start, &start, &end) || start != loop->start)
		return "the code of its eval loop cannot be read";
	if (!links)
		add_range(loop->desc, start, start + loop->size, 0);
	else if (!find_unsettled(loop, &from, &to))
		return "where its eval loop links a frame is not known";
	else if (!add_range(loop->desc, start, start + from, 0) ||
		 !add_range(loop->desc, start + from, start + to, KUNWIND_INTERP_UNSETTLED) ||
		 !add_range(loop->desc, start + to, start + loop->size, 0))
		return "its eval loop has too many parts";
	return find_cold_parts(loop) ? NULL : "the parts of its eval loop are not known";
}

const char *python_loop(const struct interp_file *file, const struct interp_symbol *symbol,
			struct python *python)
{
	struct loop loop = { .file = file, .start = symbol->addr, .size = (u32)symbol->size,
			     .desc = &python->desc };
	const char *why;

	if (!symbol->size || symbol->size > MOST_CODE)
		return "the size of its eval loop is not known";
	loop.code = calloc(1, loop.size + PADDING);
	if (!loop.code)
		return "out of memory";
	why = find(&loop, python->minor <= 12);
	free(loop.code);
	return why;
}
