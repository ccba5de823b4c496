/* SPDX-License-Identifier: MIT */
/*
 * mappings.h - list the mappings of code of this process
 *
 * Allocates. Both functions add to a list that the caller has zeroed, and frees with
 * unwind_mappings_free(). False: no memory.
 */
#ifndef _UNWIND_MAPPINGS_H
#define _UNWIND_MAPPINGS_H

#include "internal.h"

struct unwind_mapping {
	u64 start, end;			/* whole pages */
	u64 offset;			/* of the file */
	u64 bias, image;		/* of a loaded object; image: where its ELF header is, or 0 */
	char *path;			/* NULL: none */
	const struct unwind_given *given;	/* by kunwind_unwinder_map_image(), or NULL */
	bool loose;			/* dlclose() may unmap it */
};

struct unwind_mappings {
	u32 nr, room;
	struct unwind_mapping *mapping;
};

/* Objects that libc has loaded, and the vDSO. */
bool unwind_mappings_loaded(struct unwind_mappings *mappings);

/* Code at other addresses, by /proc/self/maps, if it can be read. */
bool unwind_mappings_other(struct unwind_mappings *mappings);

/* Adds a mapping, unless it overlaps one of the first @most. */
bool unwind_mappings_add(struct unwind_mappings *mappings, const struct unwind_mapping *mapping,
			 const char *path, u32 most);

/* Sorts by address. */
void unwind_mappings_sort(struct unwind_mappings *mappings);

void unwind_mappings_free(struct unwind_mappings *mappings);

#endif /* _UNWIND_MAPPINGS_H */
