/* SPDX-License-Identifier: MIT */
/*
 * unnamed_code.h - what stands for the name of code that has none
 */
#ifndef KUNWIND_ANALYZE_UNNAMED_CODE_H
#define KUNWIND_ANALYZE_UNNAMED_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "libkunwind-symbolize.h"

/*
 * Writes what stands for the name of code without one: "[object]", or with
 * @offsets "[object+0x1234]", with the function's start if it is known, or else
 * with the address.
 */
void unnamed_code(const struct kunwind_frame *frame, const char *object, bool offsets, char *name,
		  size_t size);

#endif /* KUNWIND_ANALYZE_UNNAMED_CODE_H */
