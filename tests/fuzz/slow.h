/* SPDX-License-Identifier: MIT */
/*
 * slow.h - CFI the slow way: one address at a time, straight from the bytes
 *
 * Written from the standard and apart from kmod/core, to be compared with it:
 * no table, no rows, no caches; for each address all records are read and one
 * program is run from its beginning. What cannot be read has no rule. Of FDEs
 * that overlap, the one that begins last counts.
 */
#ifndef _TEST_SLOW_H
#define _TEST_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slow_section {
	const uint8_t *data;
	size_t size;
	uint64_t addr, text_base, data_base;
	uint64_t lo, hi;	/* the object's code */
	bool whole;		/* records go on behind a zero length */
	bool debug;		/* it is .debug_frame */
	bool i386;		/* of 32-bit code: texts have x86-64's order of registers */
	const struct slow_section *more;	/* .debug_frame beside .eh_frame, or NULL */
};

/*
 * The rule at @pc as text, "CFA RBP RA" and the rest, in the notation of
 * tests/unit/rule-text.h. @keep: registers to tell of besides rbp, rsp and the
 * return address. @buf: 16 KB.
 */
void slow_rule_text(const struct slow_section *section, uint64_t pc, uint32_t keep, char *buf);

/* Calls @fn with the start and end of each FDE of one section that counts: see slow.c. */
void slow_fdes(const struct slow_section *section,
	       void (*fn)(void *data, uint64_t start, uint64_t end), void *data);

#endif /* _TEST_SLOW_H */
