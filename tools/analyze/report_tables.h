/* SPDX-License-Identifier: MIT */
/*
 * report_tables.h - the tables of kunwind report, and what prints them
 */
#ifndef KUNWIND_ANALYZE_REPORT_TABLES_H
#define KUNWIND_ANALYZE_REPORT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze.h"
#include "tool.h"

/* One line of a table. Not all kinds of table use all members. */
struct line {
	uint32_t name, object;	/* strings */
	bool kernel;		/* a function of the kernel */
	int64_t count, failed, timed, time, longest, off_cpu, self;
	int64_t key;		/* tables are sorted by this, largest first */
};

struct table {
	struct line *line;
	uint32_t *by_name, cap_by_name;	/* for each string, index of line + 1; 0: none */
	uint32_t nr, cap;
};

struct report {
	struct samples samples;
	struct table calls, events, causes;
	struct line *function;
	uint32_t nr_functions;
	/* options */
	uint32_t top;
	bool json;
	int sort;		/* enum weight, or -1 */
	struct kunwind_colours colour;
};

/* Adds a sample to the tables; for samples_read(). @data: struct report. */
void report_take(const struct sample *sample, const bt_event *event, void *data);

/* Compares two lines for qsort(3): the largest key first, then the largest count. */
int report_by_key(const void *a, const void *b);

/* Sorts a table by time. */
void report_sort(struct table *table);

/* Makes the table of functions, sorted by a weight. */
void report_sum_functions(struct report *report, enum weight sort);

/* Return the report as JSON; print it as text. */
json_t *report_json(const struct report *report, enum weight sort);
void report_text(const struct report *report, enum weight sort);

#endif /* KUNWIND_ANALYZE_REPORT_TABLES_H */
