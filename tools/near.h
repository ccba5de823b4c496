/* SPDX-License-Identifier: MIT */
/*
 * near.h - "did you mean": which of some names was meant
 */
#ifndef KUNWIND_NEAR_H
#define KUNWIND_NEAR_H

#include <stddef.h>

/* Starts as { .wanted = NAME }. */
struct near {
	const char *wanted;
	const char *best;	/* NULL: none is near; lives as long as the caller's name */
	size_t cost;		/* private: of the best */
};

/* Takes a name into account. Names that differ in more than a third of their letters are not near. */
void near_try(struct near *near, const char *name);

/* Returns the text for the end of a message: ": did you mean NAME?", or "" if no name is near. */
const char *near_text(const struct near *near, char *text, size_t size);

#endif /* KUNWIND_NEAR_H */
