// SPDX-License-Identifier: MIT
/*
 * report_json.c - the report as one JSON object, see kunwind-json(5)
 */
#include "report_tables.h"

static json_t *integer(int64_t value)
{
	return needed(json_integer(value));
}

static json_t *table_json(const struct report *report, const struct table *table)
{
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < table->nr; i++) {
		const struct line *line = &table->line[i];
		json_t *object = needed(json_object());

		analyze_set(object, "name", analyze_text(&report->samples, line->name));
		analyze_set(object, "count", integer(line->count));
		if (table == &report->calls)
			analyze_set(object, "failed", integer(line->failed));
		if (table != &report->events) {
			analyze_set(object, "timed", integer(line->timed));
			analyze_set(object, "ns", integer(line->time));
			analyze_set(object, "longest_ns", integer(line->longest));
		}
		if (table == &report->calls)
			analyze_set(object, "off_cpu_ns", integer(line->off_cpu));
		analyze_append(array, object);
	}
	return array;
}

static json_t *functions_json(const struct report *report)
{
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < report->nr_functions; i++) {
		const struct line *line = &report->function[i];
		json_t *object = needed(json_object());

		analyze_set(object, "name", analyze_text(&report->samples, line->name));
		analyze_set(object, "object", analyze_text(&report->samples, line->object));
		analyze_set(object, "kernel", json_boolean(line->kernel));
		analyze_set(object, "events", integer(line->count));
		analyze_set(object, "blocked_ns", integer(line->time));
		analyze_set(object, "off_cpu_ns", integer(line->off_cpu));
		analyze_set(object, "self", integer(line->self));
		analyze_append(array, object);
	}
	return array;
}

json_t *report_json(const struct report *report, enum weight sort)
{
	const struct samples *samples = &report->samples;
	json_t *object = needed(json_object()), *trace = needed(json_object());

	analyze_set(trace, "hostname", json_string(samples->hostname));
	analyze_set(trace, "begin_ns", integer(samples->begin));
	analyze_set(trace, "end_ns", integer(samples->end));
	analyze_set(trace, "events", integer((int64_t)samples->events));
	analyze_set(trace, "lost", integer((int64_t)samples->lost));
	analyze_set(trace, "stacks", integer((int64_t)samples->with_stack));
	analyze_set(trace, "stacks_complete", integer((int64_t)samples->complete));
	analyze_set(trace, "stack_ends_recorded", json_boolean(samples->ends_recorded));
	analyze_set(trace, "frames", integer((int64_t)samples->frames));
	analyze_set(trace, "frames_named", integer((int64_t)samples->named));
	analyze_set(trace, "threads", integer(samples->nr_sampled));
	analyze_set(trace, "calls_not_returned", integer((int64_t)samples->unreturned));
	analyze_set(object, "trace", trace);
	analyze_set(object, "sorted_by", json_string(analyze_weight_name(sort)));
	analyze_set(object, "system_calls", table_json(report, &report->calls));
	analyze_set(object, "off_cpu", table_json(report, &report->causes));
	analyze_set(object, "events", table_json(report, &report->events));
	analyze_set(object, "functions", functions_json(report));
	return object;
}
