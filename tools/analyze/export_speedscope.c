// SPDX-License-Identifier: MIT
/*
 * export_speedscope.c - the file format of speedscope
 *
 * One sampled profile for each weight that the trace has; the selected weight
 * comes first. The "samples" of a profile are the distinct stacks with their
 * total weight, in the order of their first events, so the time axis does not
 * show when something happened.
 *
 * Format: https://www.speedscope.app/file-format-schema.json
 */
#include <stdlib.h>

#include "analyze.h"

static json_t *frames(const struct samples *samples)
{
	const struct calls *calls = &samples->calls;
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < calls->nr_frames; i++) {
		json_t *frame = needed(json_object());

		analyze_set(frame, "name", analyze_text(samples, calls->frame[i].name));
		if (calls->frame[i].object)
			analyze_set(frame, "file", analyze_text(samples, calls->frame[i].object));
		analyze_append(array, frame);
	}
	return array;
}

static json_t *stack(const struct calls *calls, uint32_t node, uint32_t *path)
{
	json_t *array = needed(json_array());
	uint32_t depth = 0;

	for (; node != CALLS_ROOT; node = calls->node[node].parent)
		path[depth++] = calls->node[node].frame;
	while (depth-- > 0)
		analyze_append(array, json_integer(path[depth]));
	return array;
}

/* Returns NULL if no stack has this weight. */
static json_t *profile(const struct samples *samples, enum weight weight)
{
	const struct calls *calls = &samples->calls;
	json_t *object = needed(json_object());
	json_t *stacks = needed(json_array()), *weights = needed(json_array());
	uint32_t *path = needed(calloc(calls->nr_nodes, sizeof(*path)));
	int64_t sum = 0;
	uint32_t i;

	for (i = 1; i < calls->nr_nodes; i++) {
		if (!calls->node[i].self[weight])
			continue;
		analyze_append(stacks, stack(calls, i, path));
		analyze_append(weights, json_integer(calls->node[i].self[weight]));
		sum += calls->node[i].self[weight];
	}
	free(path);
	analyze_set(object, "type", json_string("sampled"));
	analyze_set(object, "name", json_string(analyze_weight_title(weight)));
	analyze_set(object, "unit", json_string(weight == WEIGHT_EVENTS ? "none" : "nanoseconds"));
	analyze_set(object, "startValue", json_integer(0));
	analyze_set(object, "endValue", json_integer(sum));
	analyze_set(object, "samples", stacks);
	analyze_set(object, "weights", weights);
	if (sum)
		return object;
	json_decref(object);
	return NULL;
}

bool export_speedscope(const struct samples *samples, enum weight weight, FILE *file)
{
	json_t *whole = needed(json_object()), *shared = needed(json_object());
	json_t *profiles = needed(json_array()), *one;
	int w;

	for (w = 0; w < NR_WEIGHTS; w++) {
		/* the selected weight, then the others */
		enum weight next = !w ? weight : (enum weight)w <= weight ? (enum weight)(w - 1) :
				   (enum weight)w;

		one = profile(samples, next);
		if (one)
			analyze_append(profiles, one);
	}
	analyze_set(shared, "frames", frames(samples));
	analyze_set(whole, "$schema",
		    json_string("https://www.speedscope.app/file-format-schema.json"));
	analyze_set(whole, "name", json_string(samples->hostname));
	analyze_set(whole, "exporter", json_string("kunwind"));
	analyze_set(whole, "activeProfileIndex", json_integer(0));
	analyze_set(whole, "shared", shared);
	analyze_set(whole, "profiles", profiles);
	return analyze_dump(whole, file, 0);
}
