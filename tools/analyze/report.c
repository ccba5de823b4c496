// SPDX-License-Identifier: MIT
/*
 * report.c - kunwind report: totals by system call, cause of waiting, function
 */
#include <getopt.h>
#include <stdlib.h>

#include "report_tables.h"

static const char usage[] =
	"Usage: kunwind report [OPTION]... TRACE...\n"
	"\n"
	"Sums up LTTng traces: by system call, with the time between entry and exit and the\n"
	"part of it off the CPU; by cause of being off the CPU; by function on the stack.\n"
	"TRACE is a directory that holds a trace, or one above several.\n"
	"\n"
	"  -n, --top N          lines of each table (20); 0 for all\n"
	"  -s, --sort WEIGHT    functions by events, blocked, off-cpu or lock (default:\n"
	"                       blocked, or what the trace has)\n"
	ANALYZE_USAGE
	"  -j, --json           one object with everything, times in nanoseconds\n"
	"  -h, --help\n"
	"\n"
	"Times off the CPU are there when sched_switch was recorded. A time between entry\n"
	"and exit is no CPU time: the thread may have waited all the while, or not at all.\n"
	"\n"
	"Exit status: 0, or 1 after an error or when there are no events.\n";

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct report *report, int argc, char **argv)
{
	static const struct option options[] = {
		ANALYZE_LONG_OPTIONS,
		{ "json", no_argument, NULL, 'j' },
		{ "sort", required_argument, NULL, 's' },
		{ "top", required_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t number;
	int c;

	while ((c = getopt_long(argc, argv, KUNWIND_SHORT_OPTIONS "jn:s:", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'j':
			report->json = true;
			break;
		case 'n':
			if (!kunwind_tool_number(optarg, 1000000, &number)) {
				kunwind_tool_error("--top takes a number up to 1000000, not: %s", optarg);
				return -1;
			}
			report->top = (uint32_t)number;
			break;
		case 's':
			report->sort = analyze_weight(optarg);
			if (report->sort < 0)
				return -1;
			break;
		default:
			if (!kunwind_options_take(&report->samples.options, c, optarg))
				return -1;
		}
	}
	if (optind < argc)
		return 0;
	kunwind_tool_error("no trace given: name a directory that kunwind record has written");
	return -1;
}

static bool print(struct report *report)
{
	enum weight sort = samples_weight(&report->samples, report->sort);

	report_sort(&report->calls);
	report_sort(&report->causes);
	report_sort(&report->events);
	report_sum_functions(report, sort);
	if (report->json) {
		if (!analyze_dump(report_json(report, sort), stdout, 0))
			return false;
		putchar('\n');
		return true;
	}
	report_text(report, sort);
	return true;
}

int analyze_report(int argc, char **argv)
{
	static const struct samples_calls calls = { .end = report_take };
	struct report report = { .top = 20, .sort = -1 };
	int parsed;
	bool ok;

	samples_init(&report.samples);
	parsed = parse(&report, argc, argv);
	if (parsed > 0)
		return kunwind_tool_finish(TOOL_OK);
	if (parsed < 0) {
		fprintf(stderr, "Try: kunwind report --help\n");
		return TOOL_FAILED;
	}
	report.colour = kunwind_tool_colours(stdout);
	ok = samples_read(&report.samples, argv + optind, argc - optind, &calls, &report) &&
	     analyze_remarks(&report.samples) && print(&report);
	samples_free(&report.samples);
	free(report.function);
	free(report.calls.line);
	free(report.calls.by_name);
	free(report.events.line);
	free(report.events.by_name);
	free(report.causes.line);
	free(report.causes.by_name);
	return kunwind_tool_finish(ok ? TOOL_OK : TOOL_FAILED);
}
