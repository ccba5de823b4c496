// SPDX-License-Identifier: MIT
/*
 * symbolizer.c - make and free a symbolizer, with its own copy of the options
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define TIME_LIMIT_MS	10000
#define MEMORY_LIMIT_MB	4096

/* Copies as much of the structure as the caller knows. */
static void set_options(struct kunwind_symbolizer *symbolizer,
			const struct kunwind_symbolizer_options *options)
{
	size_t size = options ? options->size : 0;

	if (size > sizeof(symbolizer->options))
		size = sizeof(symbolizer->options);
	if (size)
		memcpy(&symbolizer->options, options, size);
	if (!symbolizer->options.time_limit_ms)
		symbolizer->options.time_limit_ms = TIME_LIMIT_MS;
	if (!symbolizer->options.memory_limit_mb)
		symbolizer->options.memory_limit_mb = MEMORY_LIMIT_MB;
	symbolizer->helper.program = symbolizer->options.helper;
	symbolizer->helper.time_limit_ms = symbolizer->options.time_limit_ms;
	symbolizer->helper.opener.time_limit_ms = symbolizer->options.time_limit_ms;
	symbolizer->helper.memory_limit_mb = symbolizer->options.memory_limit_mb;
}

/* Copies a list of strings that ends with NULL; an empty one becomes NULL. */
static bool copy_strings(const char *const **list)
{
	const char *const *from = *list;
	char **copy;
	size_t nr = 0, i;

	*list = NULL;
	while (from && from[nr])
		nr++;
	if (!nr)
		return true;
	copy = calloc(nr + 1, sizeof(*copy));
	*list = (const char *const *)copy;
	for (i = 0; copy && i < nr; i++) {
		copy[i] = strdup(from[i]);
		if (!copy[i])
			return false;
	}
	return copy;
}

static bool copy_string(const char **text)
{
	*text = *text ? strdup(*text) : NULL;
	return true;
}

static bool own_options(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_symbolizer_options *options = &symbolizer->options;
	bool had[3] = { options->kallsyms, options->perf_map_dir, options->helper };
	bool ok = copy_strings(&options->debug_dirs);

	copy_string(&options->kallsyms);
	copy_string(&options->perf_map_dir);
	copy_string(&options->helper);
	symbolizer->helper.program = options->helper;
	return ok && (!had[0] || options->kallsyms) && (!had[1] || options->perf_map_dir) &&
	       (!had[2] || options->helper);
}

struct kunwind_symbolizer *kunwind_symbolizer_new(const struct kunwind_symbolizer_options *options)
{
	struct kunwind_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	set_options(symbolizer, options);
	symbolizer->bucket = calloc(KUNWIND_BUCKETS, sizeof(struct kunwind_symbolizer_object *));
	symbolizer->slot = calloc(KUNWIND_MAX_OPEN, sizeof(struct kunwind_symbolizer_object *));
	symbolizer->cache = kunwind_cache_new();
	if (!own_options(symbolizer) || !symbolizer->bucket || !symbolizer->slot ||
	    !symbolizer->cache) {
		kunwind_symbolizer_free(symbolizer);
		return NULL;
	}
	return symbolizer;
}

void kunwind_symbolizer_free(struct kunwind_symbolizer *symbolizer)
{
	const char *const *dir;
	size_t i;

	if (!symbolizer)
		return;
	kunwind_helper_stop(&symbolizer->helper);
	kunwind_opener_free(&symbolizer->helper.opener);
	kunwind_kernel_free(symbolizer->kernel);
	for (i = 0; symbolizer->bucket && i < KUNWIND_BUCKETS; i++) {
		struct kunwind_symbolizer_object *object = symbolizer->bucket[i], *next;

		for (; object; object = next) {
			next = object->next;
			kunwind_object_free(object);
		}
	}
	kunwind_cache_free(symbolizer->cache);
	for (dir = symbolizer->options.debug_dirs; dir && *dir; dir++)
		free((char *)*dir);
	free((void *)symbolizer->options.debug_dirs);
	free((char *)symbolizer->options.kallsyms);
	free((char *)symbolizer->options.perf_map_dir);
	free((char *)symbolizer->options.helper);
	free(symbolizer->bucket);
	free(symbolizer->slot);
	free(symbolizer);
}

void kunwind_symbolizer_stats(const struct kunwind_symbolizer *symbolizer,
			      struct kunwind_symbolizer_stats *stats)
{
	*stats = symbolizer->stats;
	stats->helper_started = symbolizer->helper.started;
	stats->helper_lost = symbolizer->helper.lost;
}
