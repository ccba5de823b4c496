/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * call_bytes.h - whether the bytes before an address are a call
 *
 * Source: Intel SDM, volume 2. Any context. Uses only its arguments.
 */
#ifndef _KUNWIND_CALL_BYTES_H
#define _KUNWIND_CALL_BYTES_H

#include "../kunwind_core.h"

/* Whether @word, the eight bytes before an address, ends with e8 and a distance. */
static __always_inline bool kunwind_ends_direct_call(u64 word)
{
	return (u8)(word >> 24) == 0xe8;
}

/* Whether @word ends with ff /2, with any form of operand: in a register or in memory. */
static __always_inline bool kunwind_ends_indirect_call(u64 word)
{
	const u8 one = word >> 56, two = word >> 48, three = word >> 40, four = word >> 32;
	const u8 five = word >> 24, six = word >> 16, seven = word >> 8;

	return (two == 0xff && ((one & 0xf8) == 0xd0 ||
				((one & 0xf8) == 0x10 && one != 0x14 && one != 0x15))) ||
	       (three == 0xff && (((two & 0xf8) == 0x50 && two != 0x54) ||
				  (two == 0x14 && (one & 7) != 5))) ||
	       (four == 0xff && three == 0x54) ||
	       (six == 0xff && (five == 0x15 || ((five & 0xf8) == 0x90 && five != 0x94))) ||
	       (seven == 0xff && (six == 0x94 || (six == 0x14 && (five & 7) == 5)));
}

#endif /* _KUNWIND_CALL_BYTES_H */
