// SPDX-License-Identifier: MIT
/*
 * flamegraph.c - kunwind flamegraph: one self-contained, interactive HTML page
 *
 * The page is page/page.html, which this program contains, with the tree of calls
 * inserted as flat arrays: parent, frame, and one array for each weight that the
 * trace has. The page's own script draws it, and can turn it upside down.
 *
 * With --timeline, the page also has all samples, and page/timeline.html, which draws them.
 *
 * With --base, the tree is that of both traces (flamegraph_base.c), and each weight
 * has a second array for the base.
 *
 * json_out.c writes "<" in the data as \u003c, so that no name can end the script
 * element that holds the data.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze.h"
#include "flamegraph_base.h"
#include "flamegraph_timeline.h"
#include "json_out.h"
#include "tool.h"

static const char usage[] =
	"Usage: kunwind flamegraph [OPTION]... -o FILE.html [TRACE]...\n"
	"\n"
	"Draws LTTng traces as a flame graph: one HTML page that needs nothing else, to be\n"
	"searched and zoomed. Frames are as wide as the events below them are many, or as\n"
	"the time that these took; the page says which, and can be switched. Only the weight\n"
	"cpu is CPU time.\n"
	"\n"
	"  -o, --output FILE    the page; - for standard output\n"
	"  -w, --weight WEIGHT  what it shows first: events, blocked (time from a system\n"
	"                       call's entry to its exit), off-cpu (from sched_switch), lock\n"
	"                       (blocked by a lock's holder) or cpu (samples); default:\n"
	"                       blocked, or what the trace has\n"
	"      --bottom-up      show first which functions call the innermost ones, not what\n"
	"                       the outermost ones call; the page can be switched\n"
	"      --base TRACE     compare with this trace: frames are red if their share of the\n"
	"                       whole has grown, and blue if it has shrunk\n"
	"      --timeline       above it, all threads over time: on and off the CPU, and system\n"
	"                       calls; the flame graph is of the time in view\n"
	"      --least PERCENT  leave out frames with a smaller share of each weight (0.01,\n"
	"                       with --timeline 0); 0: none\n"
	"      --title TEXT\n"
	ANALYZE_USAGE
	"  -h, --help\n"
	"\n"
	"Exit status: 0; 1 after an error, or when there are no events; 2 after wrong usage.\n";

/* The page knows enum frame_kind, and this for functions of the kernel. */
enum { PAGE_KERNEL = FRAME_LOCK + 1 };

struct flamegraph {
	struct samples samples;
	struct samples base;	/* of --base */
	struct merged merged;	/* both trees */
	const char *path, *title;
	struct graph_spans spans;	/* of --timeline */
	bool timeline;
	double least;		/* share of the narrowest frame, in percent */
	char *base_path;
	bool bottom_up;
	int weight;		/* enum weight, or -1 */
};

/* The files of the page, ended by NUL */
__asm__(".section .rodata\n"
	"page_template: .incbin \"analyze/page/page.html\"\n"
	".byte 0\n"
	"page_timeline: .incbin \"analyze/page/timeline.html\"\n"
	".byte 0\n"
	".previous\n");
extern const char page_template[] __attribute__((__visibility__("hidden")));
extern const char page_timeline[] __attribute__((__visibility__("hidden")));

/* ------------------------------------------------------------ the data */

static void put_html(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"", *text))
			fprintf(file, "&#%d;", *text);
		else
			putc(*text, file);
	}
}

/* Returns the tree of calls to draw. */
static struct calls *tree_of(struct flamegraph *graph)
{
	return graph->base_path ? &graph->merged.calls : &graph->samples.calls;
}

static const char *unit(const struct samples *samples, enum weight weight)
{
	return weight == WEIGHT_EVENTS ? "event" : weight == WEIGHT_CPU && samples->cycles ? "cycle" : "ns";
}

static void put_weight(struct json_out *out, struct flamegraph *graph, enum weight weight)
{
	const struct calls *calls = tree_of(graph);
	uint32_t i;

	if (!calls_weight(&graph->samples.calls, weight) && !calls_weight(&graph->base.calls, weight))
		return;
	json_open(out, NULL, '{');
	json_text(out, "name", analyze_weight_name(weight));
	json_text(out, "title", analyze_weight_title(weight));
	json_text(out, "unit", unit(&graph->samples, weight));
	json_open(out, "self", '[');
	for (i = 0; i < calls->nr_nodes; i++)
		json_int(out, NULL, calls->node[i].self[weight]);
	json_close(out, ']');
	if (graph->base_path) {
		json_text(out, "base_unit", unit(&graph->base, weight));
		json_open(out, "base", '[');
		for (i = 0; i < calls->nr_nodes; i++)
			json_int(out, NULL, graph->merged.base[i].weight[weight]);
		json_close(out, ']');
	}
	json_close(out, '}');
}

static void put_tree(struct json_out *out, const struct calls *calls)
{
	uint32_t i;

	json_open(out, "frames", '[');
	for (i = 0; i < calls->nr_frames; i++) {
		json_open(out, NULL, '[');
		json_text(out, NULL, calls->string[calls->frame[i].name]);
		json_text(out, NULL, calls->string[calls->frame[i].object]);
		json_int(out, NULL, calls->frame[i].kernel ? PAGE_KERNEL : (int)calls->frame[i].kind);
		json_close(out, ']');
	}
	json_close(out, ']');
	json_open(out, "parent", '[');
	for (i = 0; i < calls->nr_nodes; i++)
		json_int(out, NULL, calls->node[i].parent);
	json_close(out, ']');
	json_open(out, "frame", '[');
	for (i = 0; i < calls->nr_nodes; i++)
		json_int(out, NULL, i == CALLS_ROOT ? -1 : (int64_t)calls->node[i].frame);
	json_close(out, ']');
}

/* Writes a line below the title. */
static void put_about(struct json_out *out, const char *key, const struct samples *samples)
{
	time_t seconds = (time_t)(samples->begin / 1000000000);
	char date[64] = "";
	struct tm tm;
	char *text;

	if (samples->begin >= 0 && localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), " %Y-%m-%d %H:%M:%S %z", &tm);
	if (asprintf(&text, "Trace of %s%s, %.3f s; %llu call stacks, %llu of them complete; "
		     "%llu events lost", *samples->hostname ? samples->hostname : "a host", date,
		     (double)(samples->end - samples->begin) / 1e9,
		     (unsigned long long)samples->with_stack, (unsigned long long)samples->complete,
		     (unsigned long long)samples->lost) < 0)
		text = NULL;
	json_text(out, key, needed(text));
	free(text);
}

static void put_data(struct flamegraph *graph, FILE *file)
{
	const enum weight shown = samples_weight(&graph->samples, graph->weight);
	struct json_out out = { .file = file };
	int weight;

	json_open(&out, NULL, '{');
	json_text(&out, "title", graph->title);
	put_about(&out, "about", &graph->samples);
	if (graph->base_path)
		put_about(&out, "base", &graph->base);
	json_text(&out, "weight", analyze_weight_name(shown));
	json_text(&out, "view", graph->bottom_up ? "bottom-up" : "top-down");
	json_open(&out, "weights", '[');
	for (weight = 0; weight < NR_WEIGHTS; weight++)
		put_weight(&out, graph, (enum weight)weight);
	json_close(&out, ']');
	put_tree(&out, tree_of(graph));
	if (graph->timeline)
		graph_spans_threads(&out, &graph->spans, &graph->samples);
	json_close(&out, '}');
}

/* ------------------------------------------------------------ the command */

/* Writes the page; replaces its marks. @number: of each node of the tree, in the page. */
static void write_page(struct flamegraph *graph, FILE *file, const char *page, const uint32_t *number)
{
	const char *mark;

	while ((mark = strstr(page, "@@"))) {
		fwrite(page, 1, (size_t)(mark - page), file);
		if (!strncmp(mark, "@@DATA@@", 8))
			put_data(graph, file);
		else if (!strncmp(mark, "@@TITLE@@", 9))
			put_html(file, graph->title);
		else if (!strncmp(mark, "@@SPANS@@", 9))
			graph_spans_put(file, &graph->spans, number);
		else if (graph->timeline)	/* @@TIMELINE@@ */
			write_page(graph, file, page_timeline, number);
		page = strstr(mark + 2, "@@") + 2;
	}
	fputs(page, file);
}

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct flamegraph *graph, int argc, char **argv)
{
	enum { BASE = 256, BOTTOM_UP, LEAST, TIMELINE, TITLE };
	static const struct help_id ids[] = { { "base", BASE }, { "bottom-up", BOTTOM_UP },
		{ "least", LEAST }, { "timeline", TIMELINE }, { "title", TITLE }, { NULL, 0 } };
	int c;

	while ((c = help_option(argc, argv, usage, ids, kunwind_option_ids)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 1;
		case BASE:
			if (graph->base_path) {
				kunwind_tool_error("only one trace can be the base");
				return -1;
			}
			graph->base_path = optarg;
			break;
		case BOTTOM_UP:
			graph->bottom_up = true;
			break;
		case LEAST:
			if (!analyze_percent(optarg, &graph->least))
				return -1;
			break;
		case 'o':
			if (!kunwind_tool_output(&graph->path, optarg))
				return -1;
			break;
		case TIMELINE:
			graph->timeline = true;
			break;
		case TITLE:
			graph->title = optarg;
			break;
		case 'w':
			graph->weight = analyze_weight(optarg);
			if (graph->weight < 0)
				return -1;
			break;
		default:
			if (!kunwind_options_take(&graph->samples.options, c, optarg))
				return -1;
		}
	}
	if (graph->timeline && graph->base_path) {
		kunwind_tool_error("--timeline is of one trace: leave out --base");
		return -1;
	}
	if (!graph->path) {
		kunwind_tool_error("no output given: add -o FILE.html, or -o - for standard output");
		return -1;
	}
	/* what is narrow in the whole may be wide in the part in view */
	if (graph->least < 0)
		graph->least = graph->timeline ? 0 : 0.01;
	return kunwind_options_traces(&graph->samples.options, argv + optind, argc - optind) ? 0 : -1;
}

/* Reads the base, and merges both trees. */
static bool read_base(struct flamegraph *graph)
{
	bool ok;

	if (!graph->base_path)
		return true;
	graph->base.options = graph->samples.options;
	/* what matched in the other trace may match nothing in the base */
	graph->base.options.events.matched = graph->base.options.filter.comms.matched = 0;
	graph->base.which = "base: ";
	ok = samples_read(&graph->base, &graph->base_path, 1, NULL, NULL) && analyze_remarks(&graph->base);
	kunwind_options_init(&graph->base.options);	/* the other trace's samples own the lists */
	if (ok)
		merge_base(&graph->merged, &graph->samples.calls, &graph->base.calls);
	return ok;
}

/* Returns whether a stack of one of the traces has the weight that -w names. */
static bool has_weight(const struct flamegraph *graph)
{
	return (graph->base_path && graph->weight >= 0 &&
		calls_weight(&graph->base.calls, (enum weight)graph->weight)) ||
	       analyze_has_weight(&graph->samples, graph->weight);
}

int analyze_flamegraph(int argc, char **argv)
{
	struct flamegraph graph = { .weight = -1, .title = "Flame graph", .least = -1 };
	const struct kunwind_options *options = &graph.samples.options;
	static const struct samples_calls calls = { .end = graph_spans_take };
	struct outfile output;
	uint32_t *number;
	int parsed, status = TOOL_FAILED;
	bool ok;

	samples_init(&graph.samples);
	samples_init(&graph.base);
	parsed = parse(&graph, argc, argv);
	if (parsed)
		return kunwind_tool_parsed(parsed);
	/* valid UTF-8 without control characters, as all other text */
	graph.title = calls_text(&graph.samples.calls, graph.title);
	if (outfile_open(&output, graph.path)) {
		ok = outfile_spares(&output, options->traces, options->nr_traces) &&
		     (!graph.base_path || outfile_spares(&output, &graph.base_path, 1)) &&
		     samples_read(&graph.samples, options->traces, options->nr_traces,
				  graph.timeline ? &calls : NULL, &graph.spans) &&
		     analyze_remarks(&graph.samples) &&
		     read_base(&graph) && has_weight(&graph);
		if (ok) {
			number = leave_out_narrow(tree_of(&graph), graph.merged.base, graph.least / 100);
			write_page(&graph, output.file, page_template, number);
			free(number);
		}
		status = outfile_close(&output, ok);
	}
	free(graph.spans.span);
	merged_free(&graph.merged);
	samples_free(&graph.base);
	samples_free(&graph.samples);
	return status;
}
