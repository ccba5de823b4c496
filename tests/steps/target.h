/* SPDX-License-Identifier: MIT */
/*
 * target.h - the executable mappings of the stopped process, with their
 * objects' tables, as the module would keep them
 */
#ifndef _STEPS_TARGET_H
#define _STEPS_TARGET_H

#include "kunwind_core.h"
#include "memory.h"

struct target_object {
	struct target_object *next;
	char *path;			/* or "[vdso]" */
	int fd;				/* of the file, or of a copy of the vDSO */
	struct kunwind_table *table;
	u32 build_error;
	void *elf;			/* struct kunwind_elf */
	bool entries_read;		/* entries.h */
	u64 *entries;
	size_t nr_entries;
};

struct target_mapping {
	u64 start, end, offset;
	struct target_object *object;	/* NULL: no file, or it cannot be opened */
	u64 bias;
};

struct target {
	pid_t pid;
	u64 epoch;			/* of the executable mappings */
	u32 nr;
	struct target_mapping *mapping;	/* the executable ones, as in ranges */
	struct kunwind_ranges *ranges;
	struct memory *memory;		/* the memory that the current walk reads */
};

/* Reads the mappings again. Tables of objects are kept, also after an exec. */
void target_read(struct target *target);

/* Returns the executable mapping that contains @addr, or NULL. */
const struct target_mapping *target_find(const struct target *target, u64 addr);

#endif /* _STEPS_TARGET_H */
