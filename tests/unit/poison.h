/* SPDX-License-Identifier: MIT */
/*
 * poison.h - poison(p, size): memory that nobody has initialized
 *
 * It gets a pattern. The memory sanitizer also reports its use.
 */
#ifndef _TEST_POISON_H
#define _TEST_POISON_H

#include <string.h>

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define not_initialized(p, size)	__msan_poison(p, size)
#endif
#endif
#ifndef not_initialized
#define not_initialized(p, size)	((void)(p), (void)(size))
#endif

#define poison(p, size)								\
	do {									\
		memset(p, 0xa5, size);						\
		not_initialized(p, size);					\
	} while (0)

#endif /* _TEST_POISON_H */
