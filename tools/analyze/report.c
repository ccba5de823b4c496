// SPDX-License-Identifier: MIT
/*
 * report.c - kunwind report: totals by system call, cause of waiting, function
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "report_tables.h"

static const char usage[] =
	"Usage: kunwind report [OPTION]... TRACE...\n"
	"\n"
	"Sums up LTTng traces: by system call, with the time between entry and exit and the\n"
	"part of it off the CPU; by cause of being off the CPU; by function on the stack.\n"
	"TRACE is a directory that holds a trace, or one above several.\n"
	"\n"
	"  -b, --by TABLES      only these tables, separated by commas: call, cause (of being off\n"
	"                       the CPU), event, thread, result (what calls returned), file,\n"
	"                       function, reason (why stacks ended); default: call, cause,\n"
	"                       event and function\n"
	"      --callers FUNCTION  which functions call those whose name matches\n"
	"      --callees FUNCTION  what these functions call\n"
	"  -n, --top N          lines of each table (20); 0 for all\n"
	"  -s, --sort WEIGHT    functions by events, blocked, off-cpu, lock or cpu (default:\n"
	"                       blocked, or what the trace has)\n"
	ANALYZE_USAGE
	"  -j, --json           one object with everything, times in nanoseconds\n"
	"  -h, --help\n"
	"\n"
	"Times off the CPU are there when sched_switch was recorded. A time between entry\n"
	"and exit is no CPU time: the thread may have waited all the while, or not at all.\n"
	"CPU time (cpu) is there when CPUs were sampled: kunwind profile, kunwind record -F.\n"
	"\n"
	"Exit status: 0; 1 after an error, or when there are no events; 2 after wrong usage.\n";

/* Takes the list of --by. Returns false after a message. */
static bool take_by(struct report *report, char *list)
{
	enum report_table t;
	char *name, *rest = list;

	while ((name = strsep(&rest, ","))) {
		for (t = 0; t < NR_TABLES; t++) {
			if (report_kinds[t].by && !strcmp(name, report_kinds[t].by))
				break;
		}
		if (t == NR_TABLES) {
			kunwind_tool_error("--by takes call, cause, event, thread, result, file, "
					   "function or reason, separated by commas, not: %s", name);
			return false;
		}
		report->by |= 1u << t;
	}
	return true;
}

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct report *report, int argc, char **argv)
{
	enum { CALLERS = 256, CALLEES };
	static const struct option options[] = {
		ANALYZE_LONG_OPTIONS,
		{ "by", required_argument, NULL, 'b' },
		{ "callees", required_argument, NULL, CALLEES },
		{ "callers", required_argument, NULL, CALLERS },
		{ "json", no_argument, NULL, 'j' },
		{ "sort", required_argument, NULL, 's' },
		{ "top", required_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t number;
	int c;

	while ((c = getopt_long(argc, argv, KUNWIND_SHORT_OPTIONS "b:jn:s:", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'b':
			if (!take_by(report, optarg))
				return -1;
			break;
		case CALLERS:
			report->callers = optarg;
			report->by |= 1u << TABLE_CALLERS;
			break;
		case CALLEES:
			report->callees = optarg;
			report->by |= 1u << TABLE_CALLEES;
			break;
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

	report_finish(report);
	if (!report_sum_functions(report, sort))
		return false;
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
	enum report_table t;
	int parsed;
	bool ok;

	samples_init(&report.samples);
	report.samples.guesses = true;
	parsed = parse(&report, argc, argv);
	if (parsed > 0)
		return kunwind_tool_finish(TOOL_OK);
	if (parsed < 0) {
		fprintf(stderr, "Try: kunwind report --help\n");
		return TOOL_USAGE;
	}
	if (!report.by)
		report.by = 1u << TABLE_CALLS | 1u << TABLE_CAUSES | 1u << TABLE_EVENTS |
			    1u << TABLE_FUNCTIONS;
	report.colour = kunwind_tool_colours(stdout);
	files_init(&report.files, &report.samples.calls);
	if (report.json || report.by & 1u << TABLE_FILES)
		report.samples.files = &report.files;
	ok = samples_read(&report.samples, argv + optind, argc - optind, &calls, &report) &&
	     analyze_remarks(&report.samples) &&
	     (report.sort == WEIGHT_EVENTS || analyze_has_weight(&report.samples, report.sort)) &&
	     print(&report);
	files_free(&report.files);
	samples_free(&report.samples);
	for (t = 0; t < NR_TABLES; t++) {
		free(report.table[t].line);
		free(report.table[t].by_key);
	}
	return kunwind_tool_finish(ok ? TOOL_OK : TOOL_FAILED);
}
