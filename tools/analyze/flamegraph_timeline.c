// SPDX-License-Identifier: MIT
/*
 * flamegraph_timeline.c - the threads of a flame graph over time
 *
 * The page gets all samples, from which it draws the threads, and the flame graph of what is in
 * view. They are one string, base64 of numbers in LEB128: for each thread of the list "threads"
 * the number of its samples, and for each of these kind, begin (since the begin of the one before,
 * at first since the begin of the trace), duration + 1 (0: not known), node; and for a time off
 * the CPU the part of it in which the thread was blocked. A sample takes some 10 bytes.
 *
 * Memory: 40 bytes for each sample.
 */
#include <stdlib.h>

#include "flamegraph_timeline.h"

static void add(struct graph_spans *spans, const struct graph_span *span)
{
	spans->span = grown(spans->span, spans->nr, &spans->cap, sizeof(*spans->span));
	spans->span[spans->nr++] = *span;
}

void graph_spans_take(const struct sample *sample, const bt_event *event, void *data)
{
	struct graph_spans *spans = data;
	struct graph_span span = {
		.begin = sample->begin, .ns = sample->kind == SAMPLE_EVENT ? 0 : sample->duration,
		.ready = sample->duration, .thread = sample->thread, .node = sample->node,
		.kind = sample->kind,
	};
	uint32_t i;

	(void)event;
	if (sample->preempted)
		span.ready = 0;
	else if (sample->waker && sample->waker->time > sample->begin)
		span.ready = sample->waker->time - sample->begin;
	add(spans, &span);
	span.kind = SAMPLE_LOCK;
	for (i = 0; i < sample->nr_holds; i++) {
		span.begin = sample->hold[i].begin;
		span.ns = sample->hold[i].ns;
		span.node = sample->hold[i].node;
		add(spans, &span);
	}
}

static int in_order(const void *a, const void *b)
{
	const struct graph_span *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* ------------------------------------------------------------ base64 of LEB128 */

struct base64 {
	FILE *file;
	uint32_t bits;		/* of the bytes that are not written yet */
	int nr;			/* bytes */
};

static void put_bits(struct base64 *out)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	int i;

	out->bits <<= 8 * (3 - out->nr);
	for (i = 0; out->nr && i < 4; i++)
		putc(i > out->nr ? '=' : digit[out->bits >> (18 - 6 * i) & 63], out->file);
	out->bits = 0;
	out->nr = 0;
}

static void put_number(struct base64 *out, uint64_t number)
{
	do {
		out->bits = out->bits << 8 | (number & 127) | (number > 127 ? 128 : 0);
		if (++out->nr == 3)
			put_bits(out);
		number >>= 7;
	} while (number);
}

/* Writes the spans of one thread. Returns the index after the last one. */
static uint32_t put_thread(struct base64 *out, const struct graph_spans *spans, uint32_t from, int64_t begin,
			   const uint32_t *number)
{
	const struct graph_span *span = spans->span;
	uint32_t i, to = from;

	while (to < spans->nr && span[to].thread == span[from].thread)
		to++;
	put_number(out, to - from);
	for (i = from; i < to; i++) {
		put_number(out, span[i].kind);
		put_number(out, (uint64_t)(span[i].begin - begin));
		put_number(out, (uint64_t)(span[i].ns + 1));
		put_number(out, number[span[i].node]);
		if (span[i].kind == SAMPLE_OFF_CPU)
			put_number(out, (uint64_t)(span[i].ready < 0 ? 0 : span[i].ready));
		begin = span[i].begin;
	}
	return to;
}

static void put_name(struct json_out *out, const struct samples *samples, uint32_t number)
{
	const struct sample_thread *thread = number == SAMPLE_NO_THREAD ? NULL : &samples->thread[number];

	json_open(out, NULL, '[');
	json_text(out, NULL, thread ? samples->calls.string[thread->comm] : "unknown threads");
	json_int(out, NULL, thread ? thread->pid : -1);
	json_int(out, NULL, thread ? thread->tid : -1);
	json_close(out, ']');
}

void graph_spans_threads(struct json_out *out, struct graph_spans *spans, const struct samples *samples)
{
	uint32_t i;

	if (spans->nr)
		qsort(spans->span, spans->nr, sizeof(*spans->span), in_order);
	/* the time before a sample of a CPU, and what --from cuts */
	spans->begin = samples->begin;
	for (i = 0; i < spans->nr; i++)
		if (spans->span[i].begin < spans->begin)
			spans->begin = spans->span[i].begin;
	json_int(out, "length", samples->end - spans->begin);
	json_open(out, "threads", '[');
	for (i = 0; i < spans->nr; i++)
		if (!i || spans->span[i].thread != spans->span[i - 1].thread)
			put_name(out, samples, spans->span[i].thread);
	json_close(out, ']');
}

void graph_spans_put(FILE *file, const struct graph_spans *spans, const uint32_t *number)
{
	struct base64 out = { .file = file };
	uint32_t i;

	for (i = 0; i < spans->nr;)
		i = put_thread(&out, spans, i, spans->begin, number);
	put_bits(&out);
}
