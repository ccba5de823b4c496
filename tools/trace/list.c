// SPDX-License-Identifier: MIT
/*
 * list.c - lists of patterns and of numbers that the user gives
 *
 * An option that is given again adds to its list. Cost of a question: a comparison
 * for each item.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "tool.h"

/* Returns a copy of the first item, and sets *rest to what follows it; NULL: no memory. */
static char *first_item(const char *list, const char **rest)
{
	size_t length = strcspn(list, ",");

	*rest = list[length] ? list + length + 1 : NULL;
	return strndup(list, length);
}

static bool out_of_memory(void)
{
	kunwind_tool_error("out of memory");
	return false;
}

bool kunwind_patterns_add(struct kunwind_patterns *patterns, const char *option, const char *value)
{
	char **list, *item;

	for (; value; patterns->pattern[patterns->nr++] = item) {
		if (!*value || *value == ',') {
			kunwind_tool_error("%s: an item of the list is empty: write PATTERN,PATTERN", option);
			return false;
		}
		list = reallocarray(patterns->pattern, patterns->nr + 1, sizeof(*list));
		if (!list)
			return out_of_memory();
		patterns->pattern = list;
		item = first_item(value, &value);
		if (!item)
			return out_of_memory();
	}
	return true;
}

bool kunwind_numbers_add(struct kunwind_numbers *numbers, const char *option, const char *what,
			 const char *value)
{
	const char *rest = value;
	int64_t *list;
	uint64_t number;
	char *item;
	bool ok;

	for (; rest; numbers->number[numbers->nr++] = (int64_t)number) {
		list = reallocarray(numbers->number, numbers->nr + 1, sizeof(*list));
		if (!list)
			return out_of_memory();
		numbers->number = list;
		item = first_item(rest, &rest);
		if (!item)
			return out_of_memory();
		ok = kunwind_tool_number(item, INT32_MAX, &number);
		free(item);
		if (!ok) {
			kunwind_tool_error("%s takes the number of a %s, not: %s", option, what, value);
			return false;
		}
	}
	return true;
}

#define NR_BITS	64

bool kunwind_patterns_select(struct kunwind_patterns *patterns, const char *text)
{
	bool selected = !patterns->nr;
	uint64_t bit;
	size_t i;

	for (i = 0; i < patterns->nr; i++) {
		bit = i < NR_BITS ? UINT64_C(1) << i : 0;
		if (selected && (!bit || patterns->matched & bit))
			continue;
		if (!fnmatch(patterns->pattern[i], text, 0)) {
			selected = true;
			patterns->matched |= bit;
		}
	}
	return selected;
}

const char *kunwind_patterns_unmatched(const struct kunwind_patterns *patterns, size_t *from)
{
	size_t i;

	for (i = *from; i < patterns->nr && i < NR_BITS; i++) {
		if (!(patterns->matched & UINT64_C(1) << i)) {
			*from = i + 1;
			return patterns->pattern[i];
		}
	}
	return NULL;
}

bool kunwind_numbers_select(const struct kunwind_numbers *numbers, int64_t number)
{
	size_t i;

	for (i = 0; i < numbers->nr; i++) {
		if (numbers->number[i] == number)
			return true;
	}
	return !numbers->nr;
}

void kunwind_patterns_free(struct kunwind_patterns *patterns)
{
	while (patterns->nr)
		free(patterns->pattern[--patterns->nr]);
	free(patterns->pattern);
	patterns->pattern = NULL;
}

void kunwind_numbers_free(struct kunwind_numbers *numbers)
{
	free(numbers->number);
	*numbers = (struct kunwind_numbers){ 0 };
}
