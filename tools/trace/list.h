/* SPDX-License-Identifier: MIT */
/*
 * list.h - lists of patterns and of numbers that the user gives
 */
#ifndef KUNWIND_TRACE_LIST_H
#define KUNWIND_TRACE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both begin as all zeros. An empty list selects everything. */
struct kunwind_patterns {
	char **pattern;		/* of a shell */
	size_t nr;
	uint64_t matched;	/* bit n: pattern n has matched a text; the first 64 patterns only */
};

struct kunwind_numbers {
	int64_t *number;
	size_t nr;
};

/*
 * Add the items of @value, with commas between them. Return: false after a message,
 * which names @option. @what: what the number is of.
 */
bool kunwind_patterns_add(struct kunwind_patterns *patterns, const char *option, const char *value);
bool kunwind_numbers_add(struct kunwind_numbers *numbers, const char *option, const char *what,
			 const char *value);

/* Return whether the list is empty, or an item matches. */
bool kunwind_patterns_select(struct kunwind_patterns *patterns, const char *text);
bool kunwind_numbers_select(const struct kunwind_numbers *numbers, int64_t number);

/* Returns the next pattern from *from on that has matched nothing, and moves *from after it. NULL: none. */
const char *kunwind_patterns_unmatched(const struct kunwind_patterns *patterns, size_t *from);

void kunwind_patterns_free(struct kunwind_patterns *patterns);
void kunwind_numbers_free(struct kunwind_numbers *numbers);

#endif /* KUNWIND_TRACE_LIST_H */
