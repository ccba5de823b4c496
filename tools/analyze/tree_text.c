// SPDX-License-Identifier: MIT
/*
 * tree_text.c - a tree of calls as text for a terminal, and as JSON
 *
 * The node with the most weight is first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze.h"
#include "columns.h"
#include "tree_text.h"

struct printing {
	const struct tree_text *text;
	const struct calls_total *total;
	uint32_t *child, *sibling;	/* of each node; CALLS_ROOT: none */
	uint32_t lines;
	bool more;
};

static const struct calls_total *sorted_total;
static enum weight sorted_weight;

static int by_weight(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	int64_t x = sorted_total[i].weight[sorted_weight], y = sorted_total[k].weight[sorted_weight];

	return x != y ? (x < y ? -1 : 1) : i < k ? 1 : -1;
}

/* Links each node to its parent's children. */
static void link_children(struct printing *printing)
{
	const struct calls *tree = printing->text->tree;
	uint32_t *order = needed(calloc(tree->nr_nodes, sizeof(*order))), i, *first;

	for (i = 1; i < tree->nr_nodes; i++)
		order[i - 1] = i;
	sorted_total = printing->total;
	sorted_weight = printing->text->weight;
	qsort(order, tree->nr_nodes - 1, sizeof(*order), by_weight);
	for (i = 0; i < tree->nr_nodes - 1; i++) {
		first = &printing->child[tree->node[order[i]].parent];
		printing->sibling[order[i]] = *first;
		*first = order[i];
	}
	free(order);
}

static void print_node(struct printing *printing, uint32_t node, int64_t whole, uint32_t depth)
{
	const struct tree_text *text = printing->text;
	const int64_t weight = printing->total[node].weight[text->weight];
	uint32_t i;

	if (columns_share(weight, whole) < text->least || (text->depth && depth >= text->depth))
		return;
	if (text->lines && printing->lines >= text->lines) {
		printing->more = true;
		return;
	}
	printing->lines++;
	if (text->weight == WEIGHT_EVENTS)
		printf("%10" PRId64, weight);
	else
		columns_time(weight);
	printf("  %5.1f %%  %*s%s\n", columns_share(weight, whole), (int)depth * 2, "",
	       calls_name(text->tree, node));
	for (i = printing->child[node]; i != CALLS_ROOT; i = printing->sibling[i])
		print_node(printing, i, whole, depth + 1);
}

bool tree_text(const struct tree_text *text)
{
	const uint32_t nr = text->tree->nr_nodes;
	struct calls_total *total = calls_totals(text->tree);
	struct printing printing = {
		.text = text, .total = total, .child = needed(calloc(nr, sizeof(uint32_t))),
		.sibling = needed(calloc(nr, sizeof(uint32_t))),
	};
	uint32_t i;

	link_children(&printing);
	for (i = printing.child[CALLS_ROOT]; i != CALLS_ROOT; i = printing.sibling[i])
		print_node(&printing, i, total[text->each ? i : CALLS_ROOT].weight[text->weight], 0);
	free(printing.child);
	free(printing.sibling);
	free(total);
	return printing.more;
}

/* Parents have smaller numbers than their children. */
json_t *tree_json(const struct calls *tree, enum weight weight, const char *key)
{
	struct calls_total *total = calls_totals(tree);
	json_t **list = needed(calloc(tree->nr_nodes, sizeof(*list))), *object, *result;
	uint32_t i;

	for (i = 0; i < tree->nr_nodes; i++)
		list[i] = needed(json_array());
	for (i = 1; i < tree->nr_nodes; i++) {
		object = needed(json_object());
		analyze_set(object, "name", json_string(calls_name(tree, i)));
		if (*calls_object(tree, i))
			analyze_set(object, "object", json_string(calls_object(tree, i)));
		analyze_set(object, key, json_integer(total[i].weight[weight]));
		if (weight != WEIGHT_EVENTS && tree->node[i].self[WEIGHT_EVENTS])
			analyze_set(object, "count", json_integer(tree->node[i].self[WEIGHT_EVENTS]));
		analyze_set(object, "parts", list[i]);
		analyze_append(list[tree->node[i].parent], object);
	}
	result = list[CALLS_ROOT];
	free(list);
	free(total);
	return result;
}
