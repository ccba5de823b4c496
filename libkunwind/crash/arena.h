/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory for the unwinder of crashes, outside the heap
 *
 * The program that crashes may have overwritten its heap. So the copy of libkunwind-unwind that is
 * in libkunwind-crash is compiled with this header, and has its memory from arena.c.
 */
#ifndef _CRASH_ARENA_H
#define _CRASH_ARENA_H

#ifndef __ASSEMBLER__

#include <stdlib.h>
#include <string.h>

void *crash_malloc(size_t size);
void *crash_calloc(size_t nr, size_t size);
void *crash_realloc(void *memory, size_t size);
char *crash_strdup(const char *text);
int crash_memalign(void **memory, size_t align, size_t size);
void crash_free(void *memory);

#define malloc		crash_malloc
#define calloc		crash_calloc
#define realloc		crash_realloc
#define strdup		crash_strdup
#define posix_memalign	crash_memalign
#define free		crash_free

#endif /* __ASSEMBLER__ */

#endif /* _CRASH_ARENA_H */
