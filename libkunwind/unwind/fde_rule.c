// SPDX-License-Identifier: MIT
/*
 * fde_rule.c - find the rule for one address by one FDE; see fde_rule.h
 *
 * The CFI program and the conversion of its row are those of build.c. What they
 * allocate there is on the stack here, with no more to be had: the budget's
 * memory is 0.
 */
#include "fde_rule.h"
#include "table/rule.h"
#include "x86/i386.h"

#define EXPR_SLOTS	64	/* of the pool of expressions: room for half as many */
#define WORK		65536	/* budget of repeated work, bytes */

struct fde_run {
	struct kunwind_budget budget;
	struct kunwind_pack pack;	/* only its pools are used */
	struct kunwind_intern_slot expr_slot[EXPR_SLOTS], full_slot[2];
	struct kunwind_cfi_program program;
	struct kunwind_remembered remembered[KUNWIND_FDE_REMEMBERED];
	struct kunwind_row initial;
	struct kunwind_cie cie;
};

static void prepare(struct fde_run *s, const struct kunwind_section *section, u32 keep,
		    struct kunwind_fde_rule *own)
{
	memset(s, 0, sizeof(*s));
	s->budget.work = WORK;
	s->pack.exprs = (struct kunwind_intern){
		.data = own->exprs, .capacity = sizeof(own->exprs), .limit = sizeof(own->exprs),
		.slots = s->expr_slot, .nr_slots = EXPR_SLOTS, .budget = &s->budget,
	};
	s->pack.full = (struct kunwind_intern){
		.data = (u8 *)&own->full, .capacity = sizeof(own->full),
		.limit = sizeof(own->full), .slots = s->full_slot,
		.nr_slots = ARRAY_SIZE(s->full_slot), .budget = &s->budget,
	};
	s->pack.budget = &s->budget;
	s->program.section = section;
	s->program.exprs = &s->pack.exprs;
	s->program.budget = &s->budget;
	s->program.remembered = s->remembered;
	s->program.max_remembered = KUNWIND_FDE_REMEMBERED;
	s->program.most_remembered = KUNWIND_FDE_REMEMBERED;
	memset(&own->table, 0, sizeof(own->table));
	own->table.keep = keep;
	own->table.i386 = section->i386;
}

/* Runs the FDE to the row that holds @addr. *@found: there is one. */
static enum kunwind_build_error find_row(struct fde_run *s, const struct kunwind_fde *fde, u64 addr,
					 u32 keep, bool *found)
{
	struct kunwind_cfi_program *p = &s->program;
	enum kunwind_build_error err;

	*found = false;
	p->follow = s->cie.signal ? KUNWIND_ALL_REGS :
		    keep | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
	err = kunwind_cfi_program_initial(p, &s->cie);
	if (err)
		return err;
	s->initial = p->row;
	kunwind_cfi_program_begin(p, &s->cie, &s->initial, fde);
	do {
		err = kunwind_cfi_program_next(p);
		if (err)
			return err;
		*found = addr - p->from < p->to - p->from;
	} while (!*found && p->from != p->to);
	return KUNWIND_OK;
}

enum kunwind_build_error
kunwind_fde_rule(const struct kunwind_section *section, size_t offset, u64 addr, u32 keep,
		 struct kunwind_fde_rule *own, struct kunwind_rule *rule)
{
	struct fde_run s;
	struct kunwind_record record;
	struct kunwind_fde fde;
	enum kunwind_build_error err;
	bool found;

	*rule = (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
	err = kunwind_record_read(section, offset, &record);
	if (err)
		return err;
	if (record.kind != KUNWIND_RECORD_FDE)
		return KUNWIND_E_CIE;
	prepare(&s, section, keep, own);
	err = kunwind_cie_read(section, record.cie, &s.cie);
	if (!err && s.cie.from_code)
		err = KUNWIND_E_AUGMENTATION;
	if (!err)
		err = kunwind_fde_read(section, &record, &s.cie, &fde);
	if (err || addr - fde.start >= fde.len)
		return err;
	if (fde.code_end - fde.code > KUNWIND_FDE_MAX_CODE)
		return KUNWIND_E_OPERAND;
	err = find_row(&s, &fde, addr, keep, &found);
	if (!err && found)
		err = kunwind_rule_of(&s.pack, &s.program.row, s.cie.signal,
				      -(s32)kunwind_word(section->i386), rule);
	own->table.full = &own->full.rule;
	own->table.full_units = s.pack.full.size / 8;
	own->table.exprs = own->exprs;
	own->table.exprs_size = s.pack.exprs.size;
	if (err)
		*rule = (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
	return err == KUNWIND_E_STATE_STACK || err == KUNWIND_E_NOMEM ? KUNWIND_E_LIMIT : err;
}
