/* SPDX-License-Identifier: MIT */
/*
 * entries.h - find the entries of an ELF file's functions, by symbols and FDEs
 */
#ifndef _STEPS_ENTRIES_H
#define _STEPS_ENTRIES_H

#include "memory.h"
#include "target.h"

/* Fills object->entries once: ELF virtual addresses, sorted. */
void entries_read(struct target_object *object);

/*
 * Sets *@entry to the last entry at or before @addr (ELF virtual addresses).
 * Returns false if there is none.
 */
bool entries_before(struct target_object *object, u64 addr, u64 *entry);

/* Function for memory->patch: writes 0xcc at each entry in the page. */
void entries_patch(void *target, u64 addr, u8 *page);

#endif /* _STEPS_ENTRIES_H */
