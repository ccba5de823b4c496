// SPDX-License-Identifier: MIT
/*
 * report_text.c - the report as text for a terminal
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "columns.h"
#include "report_tables.h"

static uint32_t shown(const struct report *report, uint32_t nr)
{
	return report->top && report->top < nr ? report->top : nr;
}

static void print_more(const struct report *report, uint32_t nr)
{
	if (shown(report, nr) < nr)
		printf("  %s... %u more (--top 0 for all)%s\n", report->colour.dim,
		       nr - shown(report, nr), report->colour.plain);
}

/* What the trace lacks. */
static void print_losses(const struct samples *samples)
{
	const struct kunwind_losses *losses = &samples->losses;
	size_t i;

	for (i = 0; i < losses->nr; i++) {
		char *channel = calls_clean(losses->by[i].channel);

		printf("Lost: %" PRIu64 " events of the channel %s, because its buffers were full\n",
		       losses->by[i].events, channel);
		free(channel);
	}
	if (losses->packets)
		printf("Lost: %" PRIu64 " packets, which the tracer overwrote or discarded\n",
		       losses->packets);
	if (losses->cut_files)
		printf("Left out: %" PRIu64 " bytes of %" PRIu64 " files that are cut off\n",
		       losses->cut_bytes, losses->cut_files);
}

static void print_head(const struct report *report)
{
	const struct samples *samples = &report->samples;
	uint64_t guessed = 0;
	uint32_t i;

	for (i = 0; i < KUNWIND_NR_TRUSTS; i++) {
		if (kunwind_trust_is_guess((uint8_t)i))
			guessed += samples->by_trust[i];
	}
	printf("Trace%s%s, %.3f s: %" PRIu64 " events of %u threads, %" PRIu64 " lost\n",
	       *samples->hostname ? " of " : "", samples->hostname,
	       (double)(samples->end - samples->begin) / 1e9, samples->events, samples->nr_sampled,
	       samples->lost);
	printf("Stacks: %" PRIu64 ", %.1f %% complete%s; frames: %" PRIu64 ", %.1f %% named",
	       samples->with_stack,
	       columns_share((int64_t)samples->complete, (int64_t)samples->with_stack),
	       samples->ends_recorded ? "" : " (by this host's files: the trace has no kunwind_callstack)",
	       samples->frames,
	       columns_share((int64_t)samples->named, (int64_t)samples->frames));
	if (samples->ends_recorded)
		printf(", %.1f %% guessed", columns_share((int64_t)guessed, (int64_t)samples->frames));
	putchar('\n');
	if (samples->unreturned)
		printf("%" PRIu64 " system calls did not return in the trace and have no time\n",
		       samples->unreturned);
	print_losses(samples);
}

/* An address without a mapping has no object. */
static void print_function(const struct report *report, const struct line *line)
{
	char *const *string = report->samples.calls.string;

	printf("  %s", string[line->name]);
	if (*string[line->object])
		printf(" %s(%s)%s", report->colour.dim, string[line->object], report->colour.plain);
	printf("%s%s\n", line->end ? "  " : "", string[line->end]);
}

/* Prints the last column. */
static void print_name(const struct report *report, enum report_table table, const struct line *line)
{
	char *const *string = report->samples.calls.string;

	if (table == TABLE_THREADS)
		printf("  %s (%" PRId64 "/%" PRId64 ")\n", string[line->name], line->pid, line->tid);
	else if (table == TABLE_RESULTS)
		printf("  %s: %s\n", string[line->name], string[line->object]);
	else if (table == TABLE_FILES && line->fd >= 0)
		printf("  %s %s(fd %" PRId64 ")%s\n", string[line->name], report->colour.dim, line->fd,
		       report->colour.plain);
	else if (table >= TABLE_FUNCTIONS && table <= TABLE_CALLEES)
		print_function(report, line);
	else
		printf("  %s\n", string[line->name]);
}

/* The share of a function's weight that is in complete stacks, and of its guessed frames. */
static void print_trust(const struct line *line)
{
	printf(" %6.1f %%", columns_share(line->self, line->key));
	printf(" %6.1f %%", columns_share(line->complete, line->key));
	printf(" %6.1f %%", columns_share(line->guessed, line->key));
}

/* Some columns are only in JSON. Traces without samples of CPUs, or locks, need no column of them. */
static bool is_shown(const struct report *report, const struct column *column)
{
	return column->head &&
	       (column->offset != offsetof(struct line, cpu) || report->samples.nr_cpu) &&
	       (column->offset != offsetof(struct line, lock) || report->locks);
}

static void print_table(const struct report *report, enum report_table number, enum weight sort)
{
	const struct table *table = &report->table[number];
	const struct table_kind *kind = &report_kinds[number];
	const struct column *column;
	uint32_t i;

	if (!table->nr)
		return;
	printf("\n%s%s", report->colour.bold, kind->title);
	if (number == TABLE_CALLERS || number == TABLE_CALLEES)
		printf(" %s", number == TABLE_CALLERS ? report->callers : report->callees);
	if (number >= TABLE_FUNCTIONS && number <= TABLE_CALLEES)
		printf(", by %s", analyze_weight_title(sort));
	printf("%s\n", report->colour.plain);
	for (column = kind->column; column->type != COLUMN_NONE; column++) {
		if (is_shown(report, column))
			printf("%s%*s", column == kind->column ? "" : " ",
			       column->type == COLUMN_NUMBER && column != kind->column ? 9 : 11,
			       column->head);
	}
	printf("%s  %s\n", number == TABLE_FUNCTIONS ? "     self complete  guessed" : "", kind->name);
	for (i = 0; i < shown(report, table->nr); i++) {
		for (column = kind->column; column->type != COLUMN_NONE; column++) {
			if (!is_shown(report, column))
				continue;
			printf(column == kind->column ? " " : "  ");
			if (column->type == COLUMN_TIME)
				columns_time(report_number(&table->line[i], column));
			else
				printf("%*" PRId64, column == kind->column ? 10 : 8,
				       report_number(&table->line[i], column));
		}
		if (number == TABLE_FUNCTIONS)
			print_trust(&table->line[i]);
		print_name(report, number, &table->line[i]);
	}
	print_more(report, table->nr);
}

/* By samples of CPUs: the function alone, and with those that it calls. */
static void print_cpu(const struct report *report)
{
	const struct table *table = &report->table[TABLE_FUNCTIONS];
	int64_t all = calls_weight(&report->samples.calls, WEIGHT_CPU);
	uint32_t i;

	printf("\n%sFunctions by %s: %" PRIu64 " samples, %.3f s%s\n"
	       "      self       %%      total       %%  function (object)\n",
	       report->colour.bold, analyze_weight_title(WEIGHT_CPU), report->samples.nr_cpu,
	       (double)all / 1e9, report->colour.plain);
	for (i = 0; i < shown(report, table->nr); i++) {
		const struct line *line = &table->line[i];

		columns_time(line->self);
		printf(" %7.2f ", columns_share(line->self, all));
		columns_time(line->cpu);
		printf(" %7.2f", columns_share(line->cpu, all));
		print_name(report, TABLE_FUNCTIONS, line);
	}
	print_more(report, table->nr);
}

void report_text(const struct report *report, enum weight sort)
{
	enum report_table t;

	print_head(report);
	for (t = 0; t < NR_TABLES; t++) {
		if (!(report->by & 1u << t))
			continue;
		if (t == TABLE_FUNCTIONS && sort == WEIGHT_CPU)
			print_cpu(report);
		else
			print_table(report, t, sort);
	}
}
