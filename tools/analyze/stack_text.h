/* SPDX-License-Identifier: MIT */
/*
 * stack_text.h - a stack on one line: the program's functions first
 */
#ifndef KUNWIND_ANALYZE_STACK_TEXT_H
#define KUNWIND_ANALYZE_STACK_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "wrappers.h"

/*
 * Writes a stack: the program's innermost function with its line, and its callers;
 * then the library's function that it called, and the kernel's functions. No newline.
 * @node: innermost. @depth: how many of the program's functions; 0: all.
 */
void stack_text(FILE *out, struct wrappers *wrappers, const struct calls *calls, uint32_t node,
		uint32_t depth);

/* Returns this text as a string of @calls. */
uint32_t stack_string(struct wrappers *wrappers, struct calls *calls, uint32_t node, uint32_t depth);

#endif /* KUNWIND_ANALYZE_STACK_TEXT_H */
