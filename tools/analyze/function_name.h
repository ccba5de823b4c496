/* SPDX-License-Identifier: MIT */
/*
 * function_name.h - which functions the user means by a name
 */
#ifndef KUNWIND_ANALYZE_FUNCTION_NAME_H
#define KUNWIND_ANALYZE_FUNCTION_NAME_H

#include <stdbool.h>

#include "calls.h"

/*
 * Returns an array that says for each frame whether it is a function that @pattern means: the name, a
 * shell pattern, or the name without parameters and arguments of templates. If there is none, also
 * functions in any namespace or class: "push_back". The caller frees it. NULL, after a message, if no
 * function matches.
 */
bool *function_name_matches(const struct calls *calls, const char *pattern);

#endif /* KUNWIND_ANALYZE_FUNCTION_NAME_H */
