/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what the fuzzers share: an input's shape, a failed property
 *
 * Input of the .eh_frame fuzzers: a byte whose low five bits choose the
 * registers to keep (rbx, r12 to r15), then the section. It lies at 0x1000, the
 * object's code at [0, 1 MB): so addresses are found by chance. Bit 5: nothing
 * but its end ends the section; bit 6: it is .debug_frame; bit 7: its second
 * half is .debug_frame, the first .eh_frame.
 */
#ifndef _TEST_FUZZ_H
#define _TEST_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/core/kunwind_core.h"

#define FUZZ_ADDR	0x1000ULL
#define FUZZ_LO		0ULL
#define FUZZ_HI		0x100000ULL
#define FUZZ_TEXT	0x4000ULL
#define FUZZ_DATA	0x8000ULL
#define FUZZ_MAX	65536

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define property(cond, ...)							\
do {										\
	if (!(cond)) {								\
		fprintf(stderr, "property violated: " __VA_ARGS__);		\
		fputc('\n', stderr);						\
		abort();							\
	}									\
} while (0)

static inline u32 fuzz_keep(u8 byte)
{
	return (byte & 1) << KUNWIND_RBX | (u32)(byte >> 1 & 15) << KUNWIND_R12;
}

/* Fills section[0] to build from, section[1] perhaps. */
static inline void fuzz_section(u8 how, bool i386, const u8 *bytes, size_t size,
				struct kunwind_section section[2])
{
	size_t first = how & 0x80 ? size / 2 : size;

	section[0] = (struct kunwind_section){
		.data = bytes, .size = first, .addr = FUZZ_ADDR,
		.text_base = FUZZ_TEXT, .data_base = FUZZ_DATA, .lo = FUZZ_LO, .hi = FUZZ_HI,
		.min_fdes = how & 0x20 ? ~0U : 0, .debug = (how & 0xc0) == 0x40,
		.more = how & 0x80 ? &section[1] : NULL, .i386 = i386,
	};
	section[1] = (struct kunwind_section){
		.data = bytes + first, .size = size - first, .debug = true, .min_fdes = ~0U,
		.lo = FUZZ_LO, .hi = FUZZ_HI, .i386 = i386,
	};
}

#endif /* _TEST_FUZZ_H */
