/* SPDX-License-Identifier: MIT */
/*
 * running.h - what kunwind stack gives to its walker: a process that runs, as it was read
 *
 * A header, then as many as it says of: bytes of the auxiliary vector, mappings by address,
 * threads, regions of memory. The path follows its mapping, the bytes follow their region.
 * Numbers are those of this machine. Nothing keeps such a file.
 */
#ifndef KUNWIND_RUNNING_H
#define KUNWIND_RUNNING_H

#include "dump.h"

#define RUNNING_MAGIC		"kunwind-running"	/* 16 bytes with the zero */
#define RUNNING_AUXV		4096			/* most bytes */

struct running_header {
	char magic[16];
	uint32_t i386, auxv_len, nr_mappings, nr_threads, nr_regions;
	int32_t pid;
	char command[DUMP_NAME];
};

struct running_mapping {
	uint64_t start, end, offset;
	uint32_t is_code, path_len;	/* path_len: bytes with the zero; 0: no file */
};

struct running_thread {
	uint32_t tid, known;
	struct kunwind_registers regs;
	char name[DUMP_NAME];
};

struct running_region {
	uint64_t start, len;
	uint32_t thread, unused;	/* 0: of all; else the number of the thread whose it is, plus 1 */
};

#endif /* KUNWIND_RUNNING_H */
