// SPDX-License-Identifier: MIT
/*
 * report.c - kunwind report: totals by system call, cause of waiting, function
 */
#include <stdlib.h>
#include <string.h>

#include "near.h"
#include "report_tables.h"
#include "tree_text.h"

enum {
	BY_DEFAULT = 1u << TABLE_CALLS | 1u << TABLE_CAUSES | 1u << TABLE_EVENTS | 1u << TABLE_FUNCTIONS,
	BLOCKED_DEPTH = 6,	/* functions of the stack of a blocked thread */
};

static const char usage[] =
	"Usage: kunwind report [OPTION]... [TRACE]...\n"
	"\n"
	"Sums up LTTng traces: by system call, with the time between entry and exit and the\n"
	"part of it off the CPU; by cause of being off the CPU; by function on the stack.\n"
	"TRACE is a directory that holds a trace, or one above several; default: the last\n"
	"recording.\n"
	"\n"
	"  -b, --by TABLES      only these tables, separated by commas: call, cause (of being off\n"
	"                       the CPU), event, thread, result (what calls returned), file,\n"
	"                       function, reason (why stacks ended); default: call, cause,\n"
	"                       event and function\n"
	"      --callers FUNCTION  which functions call those whose name matches\n"
	"      --callees FUNCTION  what these functions call\n"
	"      --tree           the tree of calls instead of tables; with --callers or\n"
	"                       --callees, that of these functions\n"
	"      --depth N        functions on a path of the tree; 0 for all (default)\n"
	"      --histogram KIND how long system calls took, instead of tables: a histogram for\n"
	"                       each call or each stack (KIND is call or stack); with -s off-cpu,\n"
	"                       times off the CPU\n"
	"      --least PERCENT  smallest share in the tree (1)\n"
	"  -n, --top N          lines of each table (20); 0 for all\n"
	"  -s, --sort WEIGHT    functions by events, blocked, off-cpu, lock or cpu (default:\n"
	"                       blocked, or what the trace has); self, or WEIGHT,self: by the\n"
	"                       weight of the function without those that it calls\n"
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
	char *name, *rest = list, text[64];

	while ((name = strsep(&rest, ","))) {
		struct near near = { .wanted = name };

		for (t = 0; t < NR_TABLES; t++) {
			if (report_kinds[t].by && !strcmp(name, report_kinds[t].by))
				break;
			if (report_kinds[t].by)
				near_try(&near, report_kinds[t].by);
		}
		if (t == NR_TABLES) {
			kunwind_tool_error("--by takes call, cause, event, thread, result, file, "
					   "function or reason, separated by commas, not: %s%s", name,
					   near_text(&near, text, sizeof(text)));
			return false;
		}
		report->by |= 1u << t;
	}
	return true;
}

/* Takes the list of --sort. Returns false after a message. */
static bool take_sort(struct report *report, char *list)
{
	char *name, *rest = list;

	while ((name = strsep(&rest, ","))) {
		if (!strcmp(name, "self")) {
			report->by_self = true;
			continue;
		}
		report->sort = analyze_weight(name);
		if (report->sort < 0)
			return false;
	}
	return true;
}

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct report *report, int argc, char **argv)
{
	enum { CALLERS = 256, CALLEES, TREE, DEPTH, HISTOGRAM, LEAST };
	static const struct help_id ids[] = { { "callees", CALLEES }, { "callers", CALLERS },
		{ "depth", DEPTH }, { "histogram", HISTOGRAM }, { "least", LEAST }, { "tree", TREE },
		{ NULL, 0 } };
	uint64_t number;
	int c;

	while ((c = help_option(argc, argv, usage, ids, kunwind_option_ids)) != -1) {
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
		case DEPTH:
		case 'n':
			if (!kunwind_tool_number(optarg, 1000000, &number)) {
				kunwind_tool_error("--%s takes a number up to 1000000, not: %s",
						   c == DEPTH ? "depth" : "top", optarg);
				return -1;
			}
			*(c == DEPTH ? &report->depth : &report->top) = (uint32_t)number;
			break;
		case HISTOGRAM:
			report->histogram = true;
			report->histograms.by_stack = report->samples.places = !strcmp(optarg, "stack");
			if (report->histograms.by_stack || !strcmp(optarg, "call"))
				break;
			kunwind_tool_error("--histogram takes call or stack, not: %s", optarg);
			return -1;
		case LEAST:
			if (!analyze_percent(optarg, &report->least))
				return -1;
			break;
		case TREE:
			report->tree = true;
			break;
		case 's':
			if (!take_sort(report, optarg))
				return -1;
			break;
		default:
			if (!kunwind_options_take(&report->samples.options, c, optarg))
				return -1;
		}
	}
	if (report->histogram && (report->tree || report->by)) {
		kunwind_tool_error("--histogram stands alone: no --tree, --by, --callers or --callees");
		return -1;
	}
	if (report->callers && report->callees && report->tree) {
		kunwind_tool_error("--tree takes only one of --callers and --callees");
		return -1;
	}
	return kunwind_options_traces(&report->samples.options, argv + optind, argc - optind) ? 0 : -1;
}

bool report_print_json(json_t *json)
{
	if (!analyze_dump(json, stdout, 0))
		return false;
	putchar('\n');
	return true;
}

static bool print_tree(struct report *report, enum weight weight)
{
	const struct kunwind_colours *colour = &report->colour;
	const char *pattern = report->callers ? report->callers : report->callees;
	struct calls tree;
	const struct tree_text text = { .tree = &tree, .weight = weight, .lines = report->top * 10,
					.depth = report->depth, .least = report->least };
	json_t *json;
	bool ok;

	calls_init(&tree);
	ok = report_tree(report, weight, &tree);
	if (ok && report->json) {
		json = needed(json_object());
		analyze_set(json, "sorted_by", json_string(analyze_weight_name(weight)));
		analyze_set(json, "tree",
			    tree_json(&tree, weight, weight == WEIGHT_EVENTS ? "events" : "ns"));
		ok = report_print_json(json);
	} else if (ok) {
		printf("%sTree of calls%s%s, by %s%s\n", colour->bold,
		       report->callers ? ", callers of " : pattern ? ", callees of " : "",
		       pattern ? pattern : "", analyze_weight_title(weight), colour->plain);
		if (tree_text(&text))
			printf("  %s... more (--top 0 for all)%s\n", colour->dim, colour->plain);
	}
	calls_free(&tree);
	return ok;
}

static bool print(struct report *report)
{
	enum weight sort = samples_weight(&report->samples, report->sort);

	if (report->tree)
		return print_tree(report, sort);
	if (report->histogram)
		return histograms_print(report, sort);
	report_finish(report);
	if (!report_sum_functions(report, sort))
		return false;
	if (report->json)
		return report_print_json(report_json(report, sort));
	report_text(report, sort);
	if (report->by == BY_DEFAULT)
		blocked_print(&report->samples, &(struct blocked_style){ report->top, BLOCKED_DEPTH,
									 report->colour });
	return true;
}

int analyze_report(int argc, char **argv)
{
	static const struct samples_calls calls = { .end = report_take };
	struct report report = { .top = 20, .sort = -1, .least = 1 };
	enum report_table t;
	int parsed;
	bool ok;

	samples_init(&report.samples);
	report.samples.guesses = true;
	parsed = parse(&report, argc, argv);
	if (parsed)
		return kunwind_tool_parsed(parsed);
	if (!report.by)
		report.by = BY_DEFAULT;
	report.colour = kunwind_tool_colours(stdout);
	files_init(&report.files, &report.samples.calls);
	if (report.json || report.by & 1u << TABLE_FILES)
		report.samples.files = &report.files;
	ok = samples_read(&report.samples, report.samples.options.traces,
			  report.samples.options.nr_traces, &calls, &report) &&
	     analyze_remarks(&report.samples) &&
	     (report.sort == WEIGHT_EVENTS || analyze_has_weight(&report.samples, report.sort)) &&
	     print(&report);
	histograms_free(&report.histograms);
	files_free(&report.files);
	samples_free(&report.samples);
	for (t = 0; t < NR_TABLES; t++) {
		free(report.table[t].line);
		free(report.table[t].by_key);
	}
	return kunwind_tool_finish(ok ? TOOL_OK : TOOL_FAILED);
}
