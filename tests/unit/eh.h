/* SPDX-License-Identifier: MIT */
/*
 * eh.h - assemble .eh_frame by hand, for tests
 *
 * Bytes are written as hexadecimal text (blanks do not count: "0c 07 08") or by
 * the functions here. The length of a record is set when the record ends. The
 * section lies at EH_ADDR, the object's code at [TEXT_LO, TEXT_HI).
 */
#ifndef _TEST_EH_H
#define _TEST_EH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/core/kunwind_core.h"

#define EH_ADDR		0x2000ULL
#define TEXT_LO		0x10000ULL
#define TEXT_HI		0x20000ULL
#define TEXT_BASE	0x10000ULL
#define DATA_BASE	0x0800ULL
#define EH_MAX		(1 << 16)

struct eh {
	u8 data[EH_MAX];
	size_t size;
	size_t record;		/* where the open record begins */
	bool wide;		/* 64-bit format */
};

static inline void eh_bytes(struct eh *eh, const void *bytes, size_t len)
{
	if (len > EH_MAX - eh->size)
		abort();
	memcpy(eh->data + eh->size, bytes, len);
	eh->size += len;
}

static inline void eh_num(struct eh *eh, u64 val, int size)
{
	eh_bytes(eh, &val, size);
}

static inline void eh_hex(struct eh *eh, const char *hex)
{
	for (; *hex; hex++) {
		unsigned int byte;

		if (*hex == ' ')
			continue;
		if (sscanf(hex, "%2x", &byte) != 1)
			abort();
		eh_num(eh, byte, 1);
		hex++;
	}
}

static inline void eh_uleb(struct eh *eh, u64 val)
{
	do {
		eh_num(eh, (val & 0x7f) | (val > 0x7f ? 0x80 : 0), 1);
		val >>= 7;
	} while (val);
}

static inline void eh_sleb(struct eh *eh, s64 val)
{
	for (;;) {
		u8 byte = val & 0x7f;

		val >>= 7;
		if ((val == 0 && !(byte & 0x40)) || (val == -1 && (byte & 0x40))) {
			eh_num(eh, byte, 1);
			return;
		}
		eh_num(eh, byte | 0x80, 1);
	}
}

/* Opens a record; @wide: in the 64-bit format. */
static inline void eh_begin(struct eh *eh, bool wide)
{
	eh->record = eh->size;
	eh->wide = wide;
	eh_num(eh, wide ? 0xffffffff : 0, 4);
	if (wide)
		eh_num(eh, 0, 8);
}

/* Closes the record: pads it with DW_CFA_nop to 4 bytes, sets its length. */
static inline void eh_end(struct eh *eh)
{
	size_t at = eh->record + (eh->wide ? 4 : 0), from = at + (eh->wide ? 8 : 4);
	u64 len;

	while (eh->size % 4)
		eh_num(eh, 0, 1);
	len = eh->size - from;
	memcpy(eh->data + at, &len, eh->wide ? 8 : 4);
}

/* Opens a CIE, up to its return address column. Returns its offset. */
static inline size_t eh_cie(struct eh *eh, const char *augmentation, bool wide)
{
	size_t at = eh->size;

	eh_begin(eh, wide);
	eh_num(eh, 0, wide ? 8 : 4);
	eh_num(eh, 1, 1);
	eh_bytes(eh, augmentation, strlen(augmentation) + 1);
	eh_uleb(eh, 1);
	eh_sleb(eh, -8);
	eh_num(eh, 16, 1);
	return at;
}

/* Writes an FDE up to its CIE pointer, and leaves it open. */
static inline void eh_fde(struct eh *eh, size_t cie, bool wide)
{
	eh_begin(eh, wide);
	eh_num(eh, eh->size - cie, wide ? 8 : 4);
}

/* Whole records: a CIE "zR" with pcrel sdata4 addresses, and its FDE. */
static inline size_t eh_plain_cie(struct eh *eh, const char *code)
{
	size_t at = eh_cie(eh, "zR", false);

	eh_hex(eh, "01 1b");
	eh_hex(eh, code);
	eh_end(eh);
	return at;
}

static inline void eh_plain_fde(struct eh *eh, size_t cie, u64 start, u32 len, const char *code)
{
	eh_fde(eh, cie, false);
	eh_num(eh, start - (EH_ADDR + eh->size), 4);
	eh_num(eh, len, 4);
	eh_num(eh, 0, 1);	/* no augmentation data */
	eh_hex(eh, code);
	eh_end(eh);
}

/*
 * Builds a table from a copy of the bytes that has exactly their length, so
 * that the address sanitizer sees any read after the end.
 */
static inline enum kunwind_build_error eh_build(const struct eh *eh, u32 keep,
					    struct kunwind_table **table)
{
	u8 *copy = malloc(eh->size ? eh->size : 1);
	struct kunwind_section section = {
		.data = copy, .size = eh->size, .addr = EH_ADDR,
		.text_base = TEXT_BASE, .data_base = DATA_BASE,
		.lo = TEXT_LO, .hi = TEXT_HI,
	};
	enum kunwind_build_error err;

	memcpy(copy, eh->data, eh->size);
	err = kunwind_table_build(&section, keep, 1 << 24, NULL, NULL, table);
	free(copy);
	return err;
}

#endif /* _TEST_EH_H */
