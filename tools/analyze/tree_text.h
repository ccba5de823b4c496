/* SPDX-License-Identifier: MIT */
/*
 * tree_text.h - a tree of calls as text for a terminal, and as JSON
 */
#ifndef KUNWIND_ANALYZE_TREE_TEXT_H
#define KUNWIND_ANALYZE_TREE_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"

struct tree_text {
	const struct calls *tree;
	enum weight weight;
	uint32_t lines, depth;	/* at most; 0: all */
	double least;		/* nodes with a smaller share, in percent, are left out */
	bool each;		/* shares are of each child of the root, not of all */
};

/* Returns whether lines were left out because of @lines. */
bool tree_text(const struct tree_text *text);

/* Returns the children of the root: "name", "object" if any has one, the weight as @key, "count", "parts". */
json_t *tree_json(const struct calls *tree, enum weight weight, const char *key);

#endif /* KUNWIND_ANALYZE_TREE_TEXT_H */
