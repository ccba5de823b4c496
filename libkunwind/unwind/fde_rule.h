/* SPDX-License-Identifier: MIT */
/*
 * fde_rule.h - find the rule for one address by one FDE, without a table
 *
 * For libkunwind-unwind, which has no time to build tables before a program's
 * first stack. The module does not use this file.
 */
#ifndef _KUNWIND_FDE_RULE_H
#define _KUNWIND_FDE_RULE_H

#include "table/table.h"
#include "cfi/cfi_program.h"

/* Bytes of expressions in one FDE. glibc's signal trampoline has some 120. */
#define KUNWIND_FDE_EXPRS	384
/* Nesting of DW_CFA_remember_state. Compilers nest one. */
#define KUNWIND_FDE_REMEMBERED	6

/* A table that has no rows, and one full rule. */
struct kunwind_fde_rule {
	struct kunwind_table table;
	struct {
		struct kunwind_full_rule rule;
		struct kunwind_full_rule_entry entry[1 + KUNWIND_NR_REGS];
	} full;
	u8 exprs[KUNWIND_FDE_EXPRS];
};

/**
 * kunwind_fde_rule() - run one FDE up to the row that holds an address
 * @section: the bytes around the FDE and its CIE. They must not change
 * @offset: where the FDE begins in the section
 * @addr: ELF virtual address
 * @keep: callee-saved registers to follow
 * @own: memory for a full rule
 * @rule: out: the rule; of kind KUNWIND_RULE_NONE if the FDE does not cover @addr,
 *	or has no usable row there. If it is of kind KUNWIND_RULE_FULL, its table is
 *	own->table
 *
 * Any context: allocates nothing. Time is linear in the FDE's and the CIE's
 * instructions. Stack: 3.5 KB.
 * Return: KUNWIND_OK; KUNWIND_E_LIMIT if the FDE needs more memory than there is
 * here, so that a table may have a rule; or another build error: the FDE cannot be read.
 */
enum kunwind_build_error __must_check
kunwind_fde_rule(const struct kunwind_section *section, size_t offset, u64 addr, u32 keep,
		 struct kunwind_fde_rule *own, struct kunwind_rule *rule);

#endif /* _KUNWIND_FDE_RULE_H */
