/* SPDX-License-Identifier: MIT */
/*
 * flamegraph_timeline.h - the threads of a flame graph over time (kunwind flamegraph --timeline)
 */
#ifndef KUNWIND_ANALYZE_FLAMEGRAPH_TIMELINE_H
#define KUNWIND_ANALYZE_FLAMEGRAPH_TIMELINE_H

#include "json_out.h"
#include "samples.h"

/* Starts as all zeros; free(span). */
struct graph_spans {
	struct graph_span {
		int64_t begin, ns;	/* ns: -1: not known */
		int64_t ready;		/* SAMPLE_OFF_CPU: the part of ns until the thread could run */
		uint32_t thread, node;
		enum sample_kind kind;
	} *span;
	uint32_t nr, cap;
	int64_t begin;		/* private: the first one */
};

/* For samples_read(). @data: struct graph_spans. */
void graph_spans_take(const struct sample *sample, const bt_event *event, void *data);

/* Writes the members "length" and "threads" of the page's data. */
void graph_spans_threads(struct json_out *out, struct graph_spans *spans, const struct samples *samples);

/* Writes the spans, after that. @number: of a node of the tree, in the page. */
void graph_spans_put(FILE *file, const struct graph_spans *spans, const uint32_t *number);

#endif /* KUNWIND_ANALYZE_FLAMEGRAPH_TIMELINE_H */
