/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * names.h - the one list of the names of stop reasons, for names.c and for
 * trace events, whose formats contain the names beside the numbers
 *
 * KUNWIND_REASON_NAMES(X) expands to X(COMPLETE, "complete") and so on, once
 * for each KUNWIND_... of enum kunwind_reason.
 */
#ifndef _KUNWIND_NAMES_H
#define _KUNWIND_NAMES_H

#define KUNWIND_REASON_NAMES(X)			\
	X(COMPLETE, "complete")			\
	X(BUFFER_FULL, "buffer_full")		\
	X(BUDGET_SPENT, "budget_spent")		\
	X(NO_OBJECT, "no_object")		\
	X(NO_RULE, "no_rule")			\
	X(REG_UNKNOWN, "reg_unknown")		\
	X(UNREADABLE, "unreadable")		\
	X(CFA_STUCK, "cfa_stuck")		\
	X(BAD_ADDRESS, "bad_address")		\
	X(CORRUPT, "corrupt")			\
	X(NOT_READY, "not_ready")		\
	X(NO_TABLE, "no_table")			\
	X(MEMORY_LIMIT, "memory_limit")		\
	X(KTHREAD, "kthread")			\
	X(CODE_SEGMENT, "code_segment")		\
	X(DISABLED, "disabled")			\
	X(NESTED, "nested")

#endif /* _KUNWIND_NAMES_H */
