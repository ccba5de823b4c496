// SPDX-License-Identifier: MIT
/*
 * export_folded.c - folded stacks, for flamegraph.pl, inferno and speedscope
 *
 * One line for each stack: its frames, outermost first, separated by
 * semicolons, then a space and the weight. Semicolons in names become colons.
 * Spaces in names stay: readers take the last space of the line. The kernel's
 * functions end with "_[k]", as those of "stackcollapse-perf.pl --kernel".
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
		for (k = calls_innermost(calls, i); k != CALLS_ROOT; k = calls->node[k].parent)
			path[depth++] = k;
		while (depth-- > 0) {
			print_name(file, calls_name(calls, path[depth]));
			if (calls_frame(calls, path[depth])->kernel)
				fputs("_[k]", file);
			putc(depth ? ';' : ' ', file);
		}
		fprintf(file, "%" PRId64 "\n", calls->node[i].self[weight]);
	}
	free(path);
	return !ferror(file);
}
