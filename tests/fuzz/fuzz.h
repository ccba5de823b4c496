/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - format of the .eh_frame fuzzers' input, numbers of other fuzzers' inputs, and
 * the report of a violated property
 *
 * The first byte of an input has options; the section follows. Bits 0 to 4
 * select the registers to keep (rbx, r12 to r15). Bit 5: records of length zero
 * do not end the section. Bit 6: the section is .debug_frame. Bit 7: the first
 * half is .eh_frame, the second half .debug_frame. The section is at 0x1000,
 * the object's code at [0, 1 MB), so that random bytes are often addresses of
 * code.
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

/* What is left of an input that is read as numbers. */
struct fuzz_input {
	const u8 *at, *end;
};

/* The next @size bytes, at most 4; bytes after the end are 0. */
static inline u32 fuzz_number(struct fuzz_input *in, int size)
{
	u32 val = 0;

	while (size--)
		val = val << 8 | (in->at < in->end ? *in->at++ : 0);
	return val;
}

static inline u32 fuzz_keep(u8 byte)
{
	return (byte & 1) << KUNWIND_RBX | (u32)(byte >> 1 & 15) << KUNWIND_R12;
}

/*
 * Describes an input: @how is its first byte, @bytes the rest. Fills
 * section[0], which the builder gets. section[1] is the second half, used if
 * bit 7 is set.
 */
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

/* Tries an input as 64-bit code's, and as 32-bit code's. */
static inline int fuzz_both(const u8 *data, size_t size,
			    void (*fn)(const u8 *data, size_t size, bool i386))
{
	if (size && size <= FUZZ_MAX) {
		fn(data, size, false);
		fn(data, size, true);
	}
	return 0;
}

#endif /* _TEST_FUZZ_H */
