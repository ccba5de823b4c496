// SPDX-License-Identifier: MIT
/*
 * report_json.c - the report as one JSON object, see kunwind-json(5)
 */
#include <stdlib.h>

#include "report_tables.h"

static json_t *integer(int64_t value)
{
	return needed(json_integer(value));
}

/* Adds the texts of a line: what it is of. */
static void set_texts(const struct report *report, json_t *object, enum report_table table,
		      const struct line *line)
{
	const struct samples *samples = &report->samples;

	switch (table) {
	case TABLE_THREADS:
		analyze_set(object, "comm", analyze_text(samples, line->name));
		analyze_set(object, "pid", integer(line->pid));
		analyze_set(object, "tid", integer(line->tid));
		break;
	case TABLE_RESULTS:
		analyze_set(object, "name", analyze_text(samples, line->name));
		analyze_set(object, "result", analyze_text(samples, line->object));
		break;
	case TABLE_FILES:
		analyze_set(object, "name", analyze_text(samples, line->name));
		analyze_set(object, "fd", line->fd >= 0 ? integer(line->fd) : json_null());
		break;
	case TABLE_FUNCTIONS:
		analyze_set(object, "end", line->end ? analyze_text(samples, line->end) : json_null());
		/* fall through */
	case TABLE_CALLERS:
	case TABLE_CALLEES:
		analyze_set(object, "object", analyze_text(samples, line->object));
		analyze_set(object, "kernel", json_boolean(line->kernel));
		/* fall through */
	default:
		analyze_set(object, "name", analyze_text(samples, line->name));
	}
}

static json_t *table_json(const struct report *report, enum report_table number)
{
	const struct table *table = &report->table[number];
	const struct column *column;
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < table->nr; i++) {
		json_t *object = needed(json_object());

		set_texts(report, object, number, &table->line[i]);
		for (column = report_kinds[number].column; column->type != COLUMN_NONE; column++)
			analyze_set(object, column->key, integer(report_number(&table->line[i], column)));
		analyze_append(array, object);
	}
	return array;
}

static json_t *losses_json(const struct kunwind_losses *losses)
{
	json_t *array = needed(json_array());
	size_t i;

	for (i = 0; i < losses->nr; i++) {
		json_t *object = needed(json_object());
		char *channel = calls_clean(losses->by[i].channel);

		analyze_set(object, "channel", json_string(channel));
		free(channel);
		analyze_set(object, "events", integer((int64_t)losses->by[i].events));
		analyze_append(array, object);
	}
	return array;
}

/* Frames by their trust: how the walk found them. */
static json_t *trust_json(const struct samples *samples)
{
	json_t *object = needed(json_object());
	uint32_t i;

	for (i = 0; i <= KUNWIND_NR_TRUSTS; i++) {
		if (samples->by_trust[i])
			analyze_set(object, i == KUNWIND_NR_TRUSTS ? "not recorded" :
				    kunwind_trust_name((enum kunwind_trust)i),
				    integer((int64_t)samples->by_trust[i]));
	}
	return object;
}

json_t *report_json(const struct report *report, enum weight sort)
{
	const struct samples *samples = &report->samples;
	const struct kunwind_losses *losses = &samples->losses;
	json_t *object = needed(json_object()), *trace = needed(json_object());
	enum report_table t;

	analyze_set(trace, "hostname", json_string(samples->hostname));
	analyze_set(trace, "begin_ns", integer(samples->begin));
	analyze_set(trace, "end_ns", integer(samples->end));
	analyze_set(trace, "events", integer((int64_t)samples->events));
	analyze_set(trace, "lost", integer((int64_t)samples->lost));
	analyze_set(trace, "lost_by", losses_json(losses));
	analyze_set(trace, "lost_packets", integer((int64_t)losses->packets));
	analyze_set(trace, "cut_files", integer((int64_t)losses->cut_files));
	analyze_set(trace, "cut_bytes", integer((int64_t)losses->cut_bytes));
	analyze_set(trace, "stacks", integer((int64_t)samples->with_stack));
	analyze_set(trace, "stacks_complete", integer((int64_t)samples->complete));
	analyze_set(trace, "stack_ends_recorded", json_boolean(samples->ends_recorded));
	analyze_set(trace, "samples", integer((int64_t)samples->nr_cpu));
	analyze_set(trace, "frames", integer((int64_t)samples->frames));
	analyze_set(trace, "frames_named", integer((int64_t)samples->named));
	analyze_set(trace, "frames_by_trust", trust_json(samples));
	analyze_set(trace, "threads", integer(samples->nr_sampled));
	analyze_set(trace, "calls_not_returned", integer((int64_t)samples->unreturned));
	analyze_set(object, "trace", trace);
	analyze_set(object, "sorted_by", json_string(analyze_weight_name(sort)));
	for (t = 0; t < NR_TABLES; t++) {
		if ((t == TABLE_CALLERS && !report->callers) || (t == TABLE_CALLEES && !report->callees))
			continue;
		analyze_set(object, report_kinds[t].key, table_json(report, t));
	}
	analyze_set(object, "blocked_at_begin", blocked_json(samples));
	return object;
}
