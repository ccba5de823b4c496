/* SPDX-License-Identifier: MIT */
/*
 * entries.h - where functions of an ELF file begin: by its symbols and by its FDEs
 */
#ifndef _STEPS_ENTRIES_H
#define _STEPS_ENTRIES_H

#include "memory.h"
#include "target.h"

/* Fills object->entries, if that was not done: ELF virtual addresses, sorted. */
void entries_read(struct target_object *object);

/* The last entry that is not behind @addr, an ELF virtual address; false: none is. */
bool entries_before(struct target_object *object, u64 addr, u64 *entry);

/* memory->patch, with a struct target: 0xcc at each entry in the page. */
void entries_patch(void *target, u64 addr, u8 *page);

#endif /* _STEPS_ENTRIES_H */
