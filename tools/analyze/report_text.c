// SPDX-License-Identifier: MIT
/*
 * report_text.c - the report as text for a terminal
 */
#include <inttypes.h>
#include <stdio.h>

#include "report_tables.h"

/* Prints ten columns; "-" for 0. */
static void print_time(int64_t ns)
{
	static const struct {
		const char *unit;
		double ns;
	} scale[] = { { "s ", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
	size_t i = 0;

	if (!ns) {
		printf("%10s", "-");
		return;
	}
	while (i < 3 && (double)ns < scale[i].ns)
		i++;
	printf("%*.*f %s", 7, scale[i].ns > 1 ? 3 : 0, (double)ns / scale[i].ns, scale[i].unit);
}

static double share(int64_t part, int64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static uint32_t shown(const struct report *report, uint32_t nr)
{
	return report->top && report->top < nr ? report->top : nr;
}

static void print_more(const struct report *report, uint32_t nr)
{
	if (shown(report, nr) < nr)
		printf("  %s... %u more (--top 0 for all)%s\n", report->colour.dim, nr - report->top,
		       report->colour.plain);
}

static void print_head(const struct report *report)
{
	const struct samples *samples = &report->samples;

	printf("Trace%s%s, %.3f s: %" PRIu64 " events of %u threads, %" PRIu64 " lost\n",
	       *samples->hostname ? " of " : "", samples->hostname,
	       (double)(samples->end - samples->begin) / 1e9, samples->events, samples->nr_sampled,
	       samples->lost);
	printf("Stacks: %" PRIu64 ", %.1f %% complete%s; frames: %" PRIu64 ", %.1f %% named\n",
	       samples->with_stack,
	       share((int64_t)samples->complete, (int64_t)samples->with_stack),
	       samples->ends_recorded ? "" : " (by this host's files: the trace has no kunwind_callstack)",
	       samples->frames,
	       share((int64_t)samples->named, (int64_t)samples->frames));
	if (samples->unreturned)
		printf("%" PRIu64 " system calls did not return in the trace and have no time\n",
		       samples->unreturned);
}

/* System calls have all columns, causes have times, events only a number. */
static void print_table(const struct report *report, const struct table *table, const char *title,
			const char *head)
{
	bool calls = table == &report->calls;
	uint32_t i;

	if (!table->nr)
		return;
	printf("\n%s%s%s\n%s\n", report->colour.bold, title, report->colour.plain, head);
	for (i = 0; i < shown(report, table->nr); i++) {
		const struct line *line = &table->line[i];

		if (table != &report->events) {
			print_time(line->time);
			putchar(' ');
			print_time(line->longest);
			putchar(' ');
		}
		if (calls) {
			print_time(line->off_cpu);
			putchar(' ');
		}
		printf("%10" PRId64, line->count);
		if (calls)
			printf(" %8" PRId64, line->failed);
		printf("  %s\n", report->samples.calls.string[line->name]);
	}
	print_more(report, table->nr);
}

static void print_functions(const struct report *report, enum weight sort)
{
	uint32_t i;

	if (!report->nr_functions)
		return;
	printf("\n%sFunctions on the stack, by %s%s\n"
	       "in syscalls    off CPU     events  function (object)\n",
	       report->colour.bold, analyze_weight_title(sort), report->colour.plain);
	for (i = 0; i < shown(report, report->nr_functions); i++) {
		const struct line *line = &report->function[i];

		putchar(' ');
		print_time(line->time);
		putchar(' ');
		print_time(line->off_cpu);
		printf(" %10" PRId64 "  %s %s(%s)%s\n", line->count,
		       report->samples.calls.string[line->name], report->colour.dim,
		       report->samples.calls.string[line->object], report->colour.plain);
	}
	print_more(report, report->nr_functions);
}

void report_text(const struct report *report, enum weight sort)
{
	print_head(report);
	print_table(report, &report->calls, "System calls, by time between entry and exit",
		    "      time    longest    off CPU      calls   failed  name");
	print_table(report, &report->causes, "Off the CPU, by system call or cause",
		    "      time    longest      times  where");
	print_table(report, &report->events, "Other events", "     count  name");
	print_functions(report, sort);
}
