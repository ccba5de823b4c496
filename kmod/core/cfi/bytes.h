/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * bytes.h - read numbers from untrusted bytes
 *
 * A reader holds its position and the end of the bytes. If a read runs past the
 * end, or a LEB128 number has more than 64 bits, the reader becomes "bad" for
 * good: its position is then the end, and every further number is 0. A parser
 * can therefore check once, after a group of reads, and cannot leave the bytes
 * in between. x86-64 and its files are little-endian, so numbers are not
 * converted.
 *
 * Runs in any context: no function calls anything except memcpy().
 *
 * Source: DWARF 5, 7.6 (LEB128).
 */
#ifndef _KUNWIND_BYTES_H
#define _KUNWIND_BYTES_H

#include "kunwind_deps.h"

struct kunwind_bytes {
	const u8 *at;
	const u8 *end;
	bool bad;
};

static __always_inline size_t kunwind_bytes_left(const struct kunwind_bytes *b)
{
	return b->end - b->at;
}

static __always_inline void kunwind_bytes_fail(struct kunwind_bytes *b)
{
	b->at = b->end;
	b->bad = true;
}

static __always_inline void kunwind_bytes_skip(struct kunwind_bytes *b, u64 len)
{
	if (likely(len <= kunwind_bytes_left(b)))
		b->at += len;
	else
		kunwind_bytes_fail(b);
}

#define kunwind_bytes_fixed(type, name)						\
static __always_inline type kunwind_bytes_##name(struct kunwind_bytes *b)	\
{										\
	type val = 0;								\
										\
	if (likely(kunwind_bytes_left(b) >= sizeof(val))) {			\
		memcpy(&val, b->at, sizeof(val));				\
		b->at += sizeof(val);						\
	} else {								\
		kunwind_bytes_fail(b);						\
	}									\
	return val;								\
}

kunwind_bytes_fixed(u8, u8)
kunwind_bytes_fixed(u16, u16)
kunwind_bytes_fixed(u32, u32)
kunwind_bytes_fixed(u64, u64)

#undef kunwind_bytes_fixed

/* Reads at most 10 bytes. A number of more than 64 bits makes @b bad. */
static __always_inline u64 kunwind_bytes_uleb(struct kunwind_bytes *b)
{
	unsigned int shift = 0;
	u64 val = 0;

	while (b->at < b->end) {
		u8 byte = *b->at++;

		if (shift == 63 && byte > 1)
			break;
		val |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return val;
		shift += 7;
	}
	kunwind_bytes_fail(b);
	return 0;
}

static __always_inline s64 kunwind_bytes_sleb(struct kunwind_bytes *b)
{
	unsigned int shift = 0;
	u64 val = 0;

	while (b->at < b->end) {
		u8 byte = *b->at++;

		/* the tenth byte has one bit of the number, and its sign */
		if (shift == 63 && byte != 0 && byte != 0x7f)
			break;
		val |= (u64)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if (shift < 64 && (byte & 0x40))
				val |= ~0ULL << shift;
			return (s64)val;
		}
	}
	kunwind_bytes_fail(b);
	return 0;
}

#endif /* _KUNWIND_BYTES_H */
