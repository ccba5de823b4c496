/* SPDX-License-Identifier: MIT */
/*
 * report_tables.h - the tables of kunwind report, and what prints them
 */
#ifndef KUNWIND_ANALYZE_REPORT_TABLES_H
#define KUNWIND_ANALYZE_REPORT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze.h"
#include "report_histogram.h"
#include "tool.h"

/* One line of a table. Not all kinds of table use all members. */
struct line {
	uint32_t name, object;	/* strings */
	bool kernel;		/* a function of the kernel */
	int64_t count, failed, timed, time, longest, off_cpu, cpu, lock, self;
	int64_t pid, tid, on_cpu;	/* of a thread */
	int64_t smallest, largest;	/* of what calls returned */
	int64_t bytes;			/* read or written */
	int64_t fd;			/* the descriptor; -1: none, or several */
	bool several;
	/* of a function, in the weight of sort: */
	int64_t complete;		/* in complete stacks */
	int64_t guessed;		/* the function's own frame is a guess */
	uint32_t end;			/* string: the commonest reason of the others; 0: none */
	int64_t key;		/* of functions: the weight of sort */
	int64_t rank;		/* tables are sorted by this, largest first */
};

struct table {
	struct line *line;
	uint32_t *by_key, cap_by_key;	/* for each key, index of line + 1; 0: none */
	uint32_t nr, cap;
};

/* The tables, in the order in which they are printed. */
enum report_table {
	TABLE_CALLS, TABLE_CAUSES, TABLE_EVENTS, TABLE_THREADS, TABLE_RESULTS, TABLE_FILES,
	TABLE_FUNCTIONS, TABLE_CALLERS, TABLE_CALLEES, TABLE_REASONS,
	NR_TABLES
};

/* A column of numbers, in text and in JSON. */
struct column {
	const char *head, *key;
	enum { COLUMN_NONE, COLUMN_TIME, COLUMN_NUMBER } type;
	size_t offset;		/* in struct line */
};

struct table_kind {
	const char *by;		/* as --by names it; NULL: by an option of its own */
	const char *title, *key, *name;	/* of the text, of JSON, of the last column */
	struct column column[9];
};

extern const struct table_kind report_kinds[NR_TABLES];

struct report {
	struct samples samples;
	struct files files;
	struct table table[NR_TABLES];
	bool locks;		/* some stacks have the weight WEIGHT_LOCK */
	/* options */
	uint32_t top;
	bool json;
	int sort;		/* enum weight, or -1 */
	unsigned int by;	/* a bit for each table to print */
	bool by_self;		/* functions are sorted by the weight of the function alone */
	const char *callers, *callees;	/* patterns of functions, or NULL */
	bool histogram;		/* histograms instead of tables */
	struct histograms histograms;
	bool tree;		/* the tree of calls instead of tables */
	uint32_t depth;
	double least;		/* percent */
	struct kunwind_colours colour;
};

/* Adds a sample to the tables; for samples_read(). @data: struct report. */
void report_take(const struct sample *sample, const bt_event *event, void *data);

/* Returns the line of a key, made if needed. Valid until the next call. */
struct line *report_line(struct table *table, uint32_t key);

/* Sorts a table by key or self, the largest first, then by count. */
void report_sort(struct table *table, bool by_self);

/* Sorts the tables that report_take() fills, and makes that of the reasons. */
void report_finish(struct report *report);

/*
 * Makes the tables of functions, callers and callees, sorted by a weight. Returns
 * false, after a message, if no function matches --callers or --callees.
 */
bool report_sum_functions(struct report *report, enum weight sort);

/*
 * Makes the tree of calls, or that of --callers or --callees. Returns false, after a message, if no
 * function matches.
 */
bool report_tree(const struct report *report, enum weight weight, struct calls *tree);

/* Prints JSON, and drops its reference. Returns false after a message. */
bool report_print_json(json_t *json);

/* Return the report as JSON; print it as text. */
json_t *report_json(const struct report *report, enum weight sort);
void report_text(const struct report *report, enum weight sort);

static inline int64_t report_number(const struct line *line, const struct column *column)
{
	return *(const int64_t *)((const char *)line + column->offset);
}

#endif /* KUNWIND_ANALYZE_REPORT_TABLES_H */
