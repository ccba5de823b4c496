// SPDX-License-Identifier: MIT
/*
 * near.c - "did you mean": which of some names was meant
 *
 * The distance of two names is the least number of letters to insert, remove, replace or swap with
 * the next one. Capital letters count as small ones. A name that only is longer is near, too.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "near.h"

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

/* Returns the distance; LONGEST if a name is too long. */
static size_t distance(const char *a, const char *b)
{
	size_t row[3][LONGEST + 1], len_a = strlen(a), len_b = strlen(b), i, k;
	size_t *before = row[0], *last = row[1], *now = row[2], *next;

	if (len_a >= LONGEST || len_b >= LONGEST)
		return LONGEST;
	for (k = 0; k <= len_b; k++)
		last[k] = before[k] = k;
	for (i = 1; i <= len_a; i++) {
		now[0] = i;
		for (k = 1; k <= len_b; k++) {
			now[k] = least(least(last[k], now[k - 1]) + 1,
				       last[k - 1] + (lower(a[i - 1]) != lower(b[k - 1])));
			if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) &&
			    lower(a[i - 2]) == lower(b[k - 1]))
				now[k] = least(now[k], before[k - 2] + 1);
		}
		next = before;
		before = last;
		last = now;
		now = next;
	}
	return last[len_b];
}

void near_try(struct near *near, const char *name)
{
	const size_t length = strlen(near->wanted);
	size_t cost = distance(near->wanted, name);

	if (cost > length / 3 + (length > 1 && length < 3))
		cost = length > 3 && strcasestr(name, near->wanted) ? length : LONGEST;
	if (cost < LONGEST && (!near->best || cost < near->cost)) {
		near->best = name;
		near->cost = cost;
	}
}

const char *near_text(const struct near *near, char *text, size_t size)
{
	snprintf(text, size, near->best ? ": did you mean %s?" : "", near->best);
	return text;
}
