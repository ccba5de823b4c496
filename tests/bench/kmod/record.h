/* SPDX-License-Identifier: MIT */
/*
 * record.h - what /dev/kunwind-record returns, one for each system call
 */
#ifndef _KUNWIND_BENCH_RECORD_H
#define _KUNWIND_BENCH_RECORD_H

#include <linux/types.h>

struct bench_record {
	__u64 hash;		/* of the addresses */
	__u32 frames;		/* addresses, at most 128 */
	__u32 found;		/* instructions, with the cache and the note as they were found */
	__u32 cold;		/* with neither */
	__u32 warm;		/* with a cache that has it all */
	__u32 again;		/* and with the note of this very walk */
	__u32 pad;
	char program[16];	/* the process's name */
};

#endif /* _KUNWIND_BENCH_RECORD_H */
