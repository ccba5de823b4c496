/* SPDX-License-Identifier: MIT */
/*
 * slow.h - a simple and slow CFI interpreter, to compare with kmod/core
 *
 * It was written from the standard, and shares no code with kmod/core. It has
 * no table, no rows and no caches: for each address it reads all records, and
 * runs one program from its beginning. Addresses of invalid records have no
 * rule. If FDEs overlap, the one with the highest start is used.
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
	bool whole;		/* records of length zero do not end the section */
	bool debug;		/* it is .debug_frame */
	bool i386;		/* 32-bit code; texts have x86-64's order of registers */
	const struct slow_section *more;	/* .debug_frame of the same object, or NULL */
};

/*
 * Writes the rule at @pc as text to @buf (16 KB): "CFA RBP RA" and the other
 * registers, in the notation of tests/unit/rule-text.h. @keep: registers to
 * include besides rbp, rsp and the return address.
 */
void slow_rule_text(const struct slow_section *section, uint64_t pc, uint32_t keep, char *buf);

/*
 * Calls @fn with the start and end of each valid FDE of one section; slow.c
 * (counts()) says which FDEs are ignored.
 */
void slow_fdes(const struct slow_section *section,
	       void (*fn)(void *data, uint64_t start, uint64_t end), void *data);

#endif /* _TEST_SLOW_H */
