/* SPDX-License-Identifier: MIT */
/*
 * guard.h - end with a message if libbabeltrace2 fails in a damaged trace
 */
#ifndef KUNWIND_GUARD_H
#define KUNWIND_GUARD_H

/* Limits the memory of this process, before these traces are opened. */
void kunwind_guard_memory(char *const *paths, int nr);

/* Stand around calls of the library. They do not nest. */
void kunwind_guard_enter(void);
void kunwind_guard_leave(void);

#endif
