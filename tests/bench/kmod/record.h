/* SPDX-License-Identifier: MIT */
/*
 * record.h - records that /dev/kunwind-record returns, one for each system call
 */
#ifndef _KUNWIND_BENCH_RECORD_H
#define _KUNWIND_BENCH_RECORD_H

#include <linux/types.h>

struct bench_record {
	__u64 hash;		/* of the addresses */
	__u32 frames;		/* addresses, at most 128 */
	__u32 found;		/* instructions, with the cache and the note as they were */
	__u32 cold;		/* with an empty cache and no note */
	__u32 warm;		/* with a cache that has all rules, and no note */
	__u32 again;		/* with this cache and the note of this walk */
	__u32 pad;
	char program[16];	/* the process's name */
};

#endif /* _KUNWIND_BENCH_RECORD_H */
