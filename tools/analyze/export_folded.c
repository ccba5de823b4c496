// SPDX-License-Identifier: MIT
/*
 * export_folded.c - folded stacks, as flamegraph.pl, inferno and speedscope read them
 *
 * One line for each stack: its frames, outermost first, with semicolons between
 * them, a space, and the weight. What would break a line is replaced: semicolons
 * in C++ names become colons, spaces stay.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze.h"

static void print_name(FILE *file, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name, file);
}

bool export_folded(const struct samples *samples, enum weight weight, FILE *file)
{
	const struct calls *calls = &samples->calls;
	uint32_t *path = needed(calloc(calls->nr_nodes, sizeof(*path)));
	uint32_t i, k, depth;

	for (i = 1; i < calls->nr_nodes; i++) {
		if (!calls->node[i].self[weight])
			continue;
		depth = 0;
		for (k = i; k != CALLS_ROOT; k = calls->node[k].parent)
			path[depth++] = k;
		while (depth-- > 0) {
			print_name(file, calls_name(calls, path[depth]));
			putc(depth ? ';' : ' ', file);
		}
		fprintf(file, "%" PRId64 "\n", calls->node[i].self[weight]);
	}
	free(path);
	return !ferror(file);
}
