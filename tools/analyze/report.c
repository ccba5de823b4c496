// SPDX-License-Identifier: MIT
/*
 * report.c - kunwind report: totals by system call, cause of waiting, function
 *
 * A function has the events and times of all stacks that contain it. A stack
 * counts once, even if it contains the function several times.
 *
 * Memory: the tree of calls, 24 bytes for each of its nodes, and some 80 bytes
 * for each system call, event, cause and function.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze.h"
#include "tool.h"

/* One line of a table. Not all kinds of table use all members. */
struct line {
	uint32_t name, object;	/* strings */
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

static const char usage[] =
	"Usage: kunwind report [OPTION]... TRACE...\n"
	"\n"
	"Sums up LTTng traces: by system call, with the time between entry and exit and the\n"
	"part of it off the CPU; by cause of being off the CPU; by function on the stack.\n"
	"TRACE is a directory that holds a trace, or one above several.\n"
	"\n"
	"  -n, --top N          lines of each table (20); 0 for all\n"
	"  -s, --sort WEIGHT    functions by events, blocked or off-cpu (default: blocked,\n"
	"                       or what the trace has)\n"
	ANALYZE_USAGE
	"  -j, --json           one object with everything, times in nanoseconds\n"
	"  -h, --help\n"
	"\n"
	"Times off the CPU are there when sched_switch was recorded. A time between entry\n"
	"and exit is no CPU time: the thread may have waited all the while, or not at all.\n"
	"\n"
	"Exit status: 0, or 1 after an error or when there are no events.\n";

/* Returns the line of a string, made if needed. Valid until the next call. */
static struct line *line_of(struct table *table, uint32_t name)
{
	uint32_t old = table->cap_by_name;

	if (name >= old) {
		table->cap_by_name = name * 2 + 64;
		table->by_name = needed(realloc(table->by_name,
						table->cap_by_name * sizeof(uint32_t)));
		memset(table->by_name + old, 0, (table->cap_by_name - old) * sizeof(uint32_t));
	}
	if (table->by_name[name])
		return &table->line[table->by_name[name] - 1];
	if (table->nr == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 64;
		table->line = needed(realloc(table->line, table->cap * sizeof(*table->line)));
	}
	table->line[table->nr] = (struct line){ .name = name };
	table->by_name[name] = table->nr + 1;
	return &table->line[table->nr++];
}

static void take(const struct sample *sample, const bt_event *event, void *data)
{
	struct report *report = data;
	struct line *line = line_of(sample->kind == SAMPLE_SYSCALL ? &report->calls :
				    sample->kind == SAMPLE_EVENT ? &report->events :
				    &report->causes, sample->what);

	(void)event;
	if (sample->kind == SAMPLE_OFF_CPU && sample->duration < 0)
		return;
	line->count++;
	line->failed += sample->failed;
	line->off_cpu += sample->off_cpu;
	if (sample->duration < 0)
		return;
	line->timed++;
	line->time += sample->duration;
	if (sample->duration > line->longest)
		line->longest = sample->duration;
}

static int by_key(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static void sort_table(struct table *table)
{
	uint32_t i;

	for (i = 0; i < table->nr; i++)
		table->line[i].key = table->line[i].time;
	if (table->nr)
		qsort(table->line, table->nr, sizeof(*table->line), by_key);
}

/* Returns whether the node's function is in its stack again, further out. */
static bool is_recursive(const struct calls *calls, uint32_t node)
{
	uint32_t frame = calls->node[node].frame, i;

	for (i = calls->node[node].parent; i != CALLS_ROOT; i = calls->node[i].parent) {
		if (calls->node[i].frame == frame)
			return true;
	}
	return false;
}

static void sum_functions(struct report *report, enum weight sort)
{
	const struct calls *calls = &report->samples.calls;
	struct calls_total *total = calls_totals(calls);
	struct line *line = needed(calloc(calls->nr_frames + 1, sizeof(*line)));
	uint32_t i, nr = 0;

	for (i = 1; i < calls->nr_nodes; i++) {
		const struct calls_frame *frame = calls_frame(calls, i);
		struct line *f = &line[calls->node[i].frame];

		/* the innermost function's own weight */
		if (frame->kind == FRAME_WHAT)
			line[calls->node[calls->node[i].parent].frame].self +=
				calls->node[i].self[sort];
		if (frame->kind != FRAME_FUNCTION || is_recursive(calls, i))
			continue;
		f->name = frame->name;
		f->object = frame->object;
		f->count += total[i].weight[WEIGHT_EVENTS];
		f->time += total[i].weight[WEIGHT_BLOCKED];
		f->off_cpu += total[i].weight[WEIGHT_OFF_CPU];
		f->key += total[i].weight[sort];
	}
	for (i = 0; i < calls->nr_frames; i++) {
		if (calls->frame[i].kind == FRAME_FUNCTION)
			line[nr++] = line[i];
	}
	free(total);
	qsort(line, nr, sizeof(*line), by_key);
	report->function = line;
	report->nr_functions = nr;
}

/* ------------------------------------------------------------ JSON */

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
		analyze_set(object, "events", integer(line->count));
		analyze_set(object, "blocked_ns", integer(line->time));
		analyze_set(object, "off_cpu_ns", integer(line->off_cpu));
		analyze_set(object, "self", integer(line->self));
		analyze_append(array, object);
	}
	return array;
}

static json_t *report_json(const struct report *report, enum weight sort)
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
	analyze_set(trace, "threads", integer(samples->nr_threads));
	analyze_set(trace, "calls_not_returned", integer((int64_t)samples->unreturned));
	analyze_set(object, "trace", trace);
	analyze_set(object, "sorted_by", json_string(analyze_weight_name(sort)));
	analyze_set(object, "system_calls", table_json(report, &report->calls));
	analyze_set(object, "off_cpu", table_json(report, &report->causes));
	analyze_set(object, "events", table_json(report, &report->events));
	analyze_set(object, "functions", functions_json(report));
	return object;
}

/* ------------------------------------------------------------ text */

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
	       (double)(samples->end - samples->begin) / 1e9, samples->events, samples->nr_threads,
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

/* ------------------------------------------------------------ the command */

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

	sort_table(&report->calls);
	sort_table(&report->causes);
	sort_table(&report->events);
	sum_functions(report, sort);
	if (report->json) {
		if (!analyze_dump(report_json(report, sort), stdout, 0))
			return false;
		putchar('\n');
		return true;
	}
	print_head(report);
	print_table(report, &report->calls, "System calls, by time between entry and exit",
		    "      time    longest    off CPU      calls   failed  name");
	print_table(report, &report->causes, "Off the CPU, by system call or cause",
		    "      time    longest      times  where");
	print_table(report, &report->events, "Other events", "     count  name");
	print_functions(report, sort);
	return true;
}

int analyze_report(int argc, char **argv)
{
	static const struct samples_calls calls = { .end = take };
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
