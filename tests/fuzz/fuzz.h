/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what the fuzzers share: an input's shape, a failed property
 *
 * Input of the .eh_frame fuzzers: a byte whose low five bits choose the
 * registers to keep (rbx, r12 to r15), then the section. It lies at 0x1000, the
 * object's code at [0, 1 MB): so addresses are found by chance.
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

static inline struct kunwind_section fuzz_section(const u8 *bytes, size_t size)
{
	return (struct kunwind_section){
		.data = bytes, .size = size, .addr = FUZZ_ADDR,
		.text_base = FUZZ_TEXT, .data_base = FUZZ_DATA, .lo = FUZZ_LO, .hi = FUZZ_HI,
	};
}

#endif /* _TEST_FUZZ_H */
