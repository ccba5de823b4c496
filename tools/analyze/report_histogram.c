// SPDX-License-Identifier: MIT
/*
 * report_histogram.c - how long system calls, or times off the CPU, took: one histogram for each
 * call, or for each call and stack
 *
 * An average hides that most calls are short and a few are long. The limits of the buckets are
 * 1, 2 and 5 times the powers of ten.
 *
 * Memory: 330 bytes for each call, or each stack.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "report_tables.h"
#include "stack_text.h"
#include "waits.h"

enum { BAR = 40, STACK_DEPTH = 6 };

/* Returns the lower limit of a bucket; 0 for the first one. */
static int64_t limit_of(int bucket)
{
	static const int64_t part[] = { 1, 2, 5 };
	int64_t limit = bucket ? part[bucket % 3] : 0;

	for (bucket /= 3; bucket; bucket--)
		limit *= 10;
	return limit;
}

static int bucket_of(int64_t ns)
{
	int i = HISTOGRAM_BUCKETS - 1;

	while (ns < limit_of(i))
		i--;
	return i;
}

static struct histogram *find(struct histogram_list *list, uint32_t key)
{
	uint32_t cap = list->cap_by_key;

	if (key >= cap) {
		cap = key + key / 2 + 64;
		list->by_key = needed(realloc(list->by_key, cap * sizeof(*list->by_key)));
		memset(list->by_key + list->cap_by_key, 0, (cap - list->cap_by_key) * sizeof(*list->by_key));
		list->cap_by_key = cap;
	}
	if (!list->by_key[key]) {
		list->item = grown(list->item, list->nr, &list->cap, sizeof(*list->item));
		list->item[list->nr] = (struct histogram){ .key = key };
		list->by_key[key] = ++list->nr;
	}
	return &list->item[list->by_key[key] - 1];
}

void histograms_take(struct histograms *histograms, const struct sample *sample)
{
	const bool off_cpu = sample->kind == SAMPLE_OFF_CPU;
	struct histogram *histogram;

	if ((!off_cpu && sample->kind != SAMPLE_SYSCALL) || sample->duration < 0)
		return;
	histogram = find(off_cpu ? &histograms->off_cpu : &histograms->calls,
			 histograms->by_stack ? sample->node : sample->what);
	histogram->count++;
	histogram->ns += sample->duration;
	if (sample->duration > histogram->longest)
		histogram->longest = sample->duration;
	histogram->bucket[bucket_of(sample->duration)]++;
}

static int by_time(const void *a, const void *b)
{
	const struct histogram *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : x->key < y->key ? -1 : x->key > y->key;
}

static const char *name_of(const struct report *report, const struct histogram *histogram)
{
	const struct calls *calls = &report->samples.calls;

	return report->histograms.by_stack ? calls_name(calls, histogram->key) :
					     calls->string[histogram->key];
}

/* Returns the name of the thread, in which the stack begins. */
static const char *comm_of(const struct calls *calls, uint32_t node)
{
	while (calls->node[node].parent != CALLS_ROOT)
		node = calls->node[node].parent;
	return calls_name(calls, node);
}

static void print_stack(struct report *report, uint32_t node)
{
	struct calls *calls = &report->samples.calls;

	printf("  %s: ", comm_of(calls, node));
	stack_text(stdout, &report->samples.wrappers, calls, calls->node[node].parent,
		   report->depth ? report->depth : STACK_DEPTH);
	putchar('\n');
}

static void print_limit(int64_t ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	int i = 0;

	for (; ns >= 1000 && i < 3; ns /= 1000)
		i++;
	printf("%4" PRId64 " %-2s", ns, unit[i]);
}

static void print_buckets(const struct histogram *histogram)
{
	int first = 0, last = HISTOGRAM_BUCKETS - 1, i, bar;
	uint64_t most = 0;

	while (!histogram->bucket[first])
		first++;
	while (!histogram->bucket[last])
		last--;
	for (i = first; i <= last; i++)
		most = histogram->bucket[i] > most ? histogram->bucket[i] : most;
	for (i = first; i <= last; i++) {
		const uint64_t count = histogram->bucket[i];

		fputs("  from ", stdout);
		print_limit(limit_of(i));
		bar = (int)((double)count * BAR / (double)most);
		printf(" %10" PRIu64 " |%.*s%*s|\n", count, bar, "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
		       BAR - bar, "");
	}
}

static void print_text(struct report *report, const struct histogram_list *list, uint32_t shown)
{
	uint32_t i;

	for (i = 0; i < shown; i++) {
		printf("\n%s%s%s: %" PRIu64 " times, ", report->colour.bold, name_of(report, &list->item[i]),
		       report->colour.plain, list->item[i].count);
		columns_time(list->item[i].ns);
		fputs(" in all, longest ", stdout);
		columns_time(list->item[i].longest);
		putchar('\n');
		if (report->histograms.by_stack)
			print_stack(report, list->item[i].key);
		print_buckets(&list->item[i]);
	}
	if (shown < list->nr)
		printf("\n%s... %u more (--top 0 for all)%s\n", report->colour.dim, list->nr - shown,
		       report->colour.plain);
}

static json_t *stack_of(const struct report *report, const struct histogram *histogram)
{
	const struct calls *calls = &report->samples.calls;

	return waits_stack_json(calls, calls->node[histogram->key].parent);
}

static bool print_json(const struct report *report, const struct histogram_list *list, enum weight weight)
{
	json_t *object = needed(json_object()), *all = needed(json_array());
	uint32_t i;
	int k;

	for (i = 0; i < list->nr; i++) {
		json_t *one = needed(json_object()), *buckets = needed(json_array());

		analyze_set(one, "name", json_string(name_of(report, &list->item[i])));
		if (report->histograms.by_stack) {
			analyze_set(one, "comm", json_string(comm_of(&report->samples.calls,
								     list->item[i].key)));
			analyze_set(one, "stack", stack_of(report, &list->item[i]));
		}
		analyze_set(one, "count", json_integer((json_int_t)list->item[i].count));
		analyze_set(one, "ns", json_integer(list->item[i].ns));
		analyze_set(one, "longest_ns", json_integer(list->item[i].longest));
		for (k = 0; k < HISTOGRAM_BUCKETS; k++) {
			json_t *bucket;

			if (!list->item[i].bucket[k])
				continue;
			bucket = needed(json_object());
			analyze_set(bucket, "from_ns", json_integer(limit_of(k)));
			analyze_set(bucket, "count", json_integer((json_int_t)list->item[i].bucket[k]));
			analyze_append(buckets, bucket);
		}
		analyze_set(one, "buckets", buckets);
		analyze_append(all, one);
	}
	analyze_set(object, "sorted_by", json_string(analyze_weight_name(weight)));
	analyze_set(object, "histograms", all);
	return report_print_json(object);
}

bool histograms_print(struct report *report, enum weight weight)
{
	struct histograms *histograms = &report->histograms;
	struct histogram_list *list = weight == WEIGHT_OFF_CPU ? &histograms->off_cpu : &histograms->calls;

	if (!list->nr) {
		kunwind_tool_error("no times of system calls, or off the CPU (--sort off-cpu), "
				   "for a histogram");
		return false;
	}
	qsort(list->item, list->nr, sizeof(*list->item), by_time);
	if (report->json)
		return print_json(report, list, weight == WEIGHT_OFF_CPU ? weight : WEIGHT_BLOCKED);
	printf("%s, by %s\n", histograms->by_stack ? "Latency of each stack" : "Latency of each call",
	       analyze_weight_title(weight == WEIGHT_OFF_CPU ? weight : WEIGHT_BLOCKED));
	print_text(report, list, report->top && report->top < list->nr ? report->top : list->nr);
	return true;
}

void histograms_free(struct histograms *histograms)
{
	free(histograms->calls.item);
	free(histograms->calls.by_key);
	free(histograms->off_cpu.item);
	free(histograms->off_cpu.by_key);
}
