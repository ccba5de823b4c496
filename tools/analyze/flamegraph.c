// SPDX-License-Identifier: MIT
/*
 * flamegraph.c - kunwind flamegraph: one self-contained, interactive HTML page
 *
 * The page is page/page.html, which this program contains, with the tree of calls
 * inserted as flat arrays: parent, frame, and one array for each weight that the
 * trace has. The page's own script draws it, and can turn it upside down.
 *
 * With --base, the tree is that of both traces (flamegraph_base.c), and each weight
 * has a second array for the base.
 *
 * "<" in the data is written as \u003c, so that no name can end the script
 * element that holds the data.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze.h"
#include "flamegraph_base.h"
#include "tool.h"

static const char usage[] =
	"Usage: kunwind flamegraph [OPTION]... -o FILE.html TRACE...\n"
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
	"  -t, --title TEXT\n"
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
	char *base_path;
	bool bottom_up;
	int weight;		/* enum weight, or -1 */
};

/* page/page.html, ended by NUL */
__asm__(".section .rodata\n"
	"page_template: .incbin \"analyze/page/page.html\"\n"
	".byte 0\n"
	".previous\n");
extern const char page_template[] __attribute__((__visibility__("hidden")));

/* ------------------------------------------------------------ text */

/* For text inside a script element. */
static void put_escaped(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("\\u003c", file);
		else
			putc(*text, file);
	}
}

static void put_html(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"", *text))
			fprintf(file, "&#%d;", *text);
		else
			putc(*text, file);
	}
}

/* ------------------------------------------------------------ the data */

/* Returns the tree of calls to draw. */
static const struct calls *tree_of(const struct flamegraph *graph)
{
	return graph->base_path ? &graph->merged.calls : &graph->samples.calls;
}

static json_t *column(const struct calls *calls, enum weight weight)
{
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < calls->nr_nodes; i++)
		analyze_append(array, json_integer(calls->node[i].self[weight]));
	return array;
}

static json_t *base_column(const struct merged *merged, enum weight weight)
{
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < merged->calls.nr_nodes; i++)
		analyze_append(array, json_integer(merged->base[i].weight[weight]));
	return array;
}

/* Returns whether any stack has this weight. */
static bool has(const struct calls *calls, enum weight weight)
{
	uint32_t i;

	for (i = 0; i < calls->nr_nodes; i++) {
		if (calls->node[i].self[weight])
			return true;
	}
	return false;
}

static const char *unit(const struct samples *samples, enum weight weight)
{
	return weight == WEIGHT_EVENTS ? "event" : weight == WEIGHT_CPU && samples->cycles ? "cycle" : "ns";
}

static json_t *weights(const struct flamegraph *graph)
{
	json_t *array = needed(json_array()), *object;
	int w;

	for (w = 0; w < NR_WEIGHTS; w++) {
		enum weight weight = (enum weight)w;

		if (!has(&graph->samples.calls, weight) && !has(&graph->base.calls, weight))
			continue;
		object = needed(json_object());
		analyze_set(object, "name", json_string(analyze_weight_name(weight)));
		analyze_set(object, "title", json_string(analyze_weight_title(weight)));
		analyze_set(object, "unit", json_string(unit(&graph->samples, weight)));
		analyze_set(object, "self", column(tree_of(graph), weight));
		if (graph->base_path) {
			analyze_set(object, "base_unit", json_string(unit(&graph->base, weight)));
			analyze_set(object, "base", base_column(&graph->merged, weight));
		}
		analyze_append(array, object);
	}
	return array;
}

static void add_tree(const struct calls *calls, json_t *data)
{
	json_t *frames = needed(json_array()), *parent = needed(json_array());
	json_t *frame = needed(json_array()), *one;
	uint32_t i;

	for (i = 0; i < calls->nr_frames; i++) {
		one = needed(json_array());
		analyze_append(one, json_string(calls->string[calls->frame[i].name]));
		analyze_append(one, json_string(calls->string[calls->frame[i].object]));
		analyze_append(one, json_integer(calls->frame[i].kernel ? PAGE_KERNEL :
									    (int)calls->frame[i].kind));
		analyze_append(frames, one);
	}
	for (i = 0; i < calls->nr_nodes; i++) {
		analyze_append(parent, json_integer(calls->node[i].parent));
		analyze_append(frame, json_integer(i == CALLS_ROOT ? -1 : (int64_t)calls->node[i].frame));
	}
	analyze_set(data, "frames", frames);
	analyze_set(data, "parent", parent);
	analyze_set(data, "frame", frame);
}

/* Returns a line below the title. */
static json_t *about(const struct samples *samples)
{
	time_t seconds = (time_t)(samples->begin / 1000000000);
	char date[64] = "";
	struct tm tm;
	json_t *line;
	char *text;

	if (samples->begin >= 0 && localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), " %Y-%m-%d %H:%M:%S %z", &tm);
	if (asprintf(&text, "Trace of %s%s, %.3f s; %llu call stacks, %llu of them complete; "
		     "%llu events lost", *samples->hostname ? samples->hostname : "a host", date,
		     (double)(samples->end - samples->begin) / 1e9,
		     (unsigned long long)samples->with_stack, (unsigned long long)samples->complete,
		     (unsigned long long)samples->lost) < 0)
		text = NULL;
	line = needed(json_string(needed(text)));
	free(text);
	return line;
}

static char *data_text(const struct flamegraph *graph)
{
	const struct samples *samples = &graph->samples;
	enum weight weight = samples_weight(samples, graph->weight);
	json_t *data = needed(json_object());
	char *text;

	analyze_set(data, "title", json_string(graph->title));
	analyze_set(data, "about", about(samples));
	analyze_set(data, "base", graph->base_path ? about(&graph->base) : json_null());
	analyze_set(data, "weight", json_string(analyze_weight_name(weight)));
	analyze_set(data, "view", json_string(graph->bottom_up ? "bottom-up" : "top-down"));
	analyze_set(data, "weights", weights(graph));
	add_tree(tree_of(graph), data);
	text = needed(json_dumps(data, JSON_COMPACT));
	json_decref(data);
	return text;
}

/* ------------------------------------------------------------ the command */

/* Writes the page; replaces the marks @@DATA@@ and @@TITLE@@. */
static void write_page(const struct flamegraph *graph, FILE *file)
{
	static const char data_mark[] = "DATA@@", title_mark[] = "TITLE@@";
	char *data = data_text(graph);
	const char *page = page_template, *mark;

	while ((mark = strstr(page, "@@"))) {
		fwrite(page, 1, (size_t)(mark - page), file);
		page = mark + 2;
		if (!strncmp(page, data_mark, strlen(data_mark))) {
			page += strlen(data_mark);
			put_escaped(file, data);
		} else if (!strncmp(page, title_mark, strlen(title_mark))) {
			page += strlen(title_mark);
			put_html(file, graph->title);
		}
	}
	fputs(page, file);
	free(data);
}

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct flamegraph *graph, int argc, char **argv)
{
	enum { BASE = 256, BOTTOM_UP };
	static const struct option options[] = {
		ANALYZE_LONG_OPTIONS,
		{ "base", required_argument, NULL, BASE },
		{ "bottom-up", no_argument, NULL, BOTTOM_UP },
		{ "output", required_argument, NULL, 'o' },
		{ "title", required_argument, NULL, 't' },
		{ "weight", required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, KUNWIND_SHORT_OPTIONS "o:t:w:", options, NULL)) != -1) {
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
		case 'o':
			graph->path = optarg;
			break;
		case 't':
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
	if (optind == argc)
		kunwind_tool_error("no trace given: name a directory that kunwind record has written");
	else if (!graph->path)
		kunwind_tool_error("no output given: add -o FILE.html, or -o - for standard output");
	else
		return 0;
	return -1;
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
	struct flamegraph graph = { .weight = -1, .title = "Flame graph" };
	struct outfile output;
	int parsed, status = TOOL_FAILED;
	bool ok;

	samples_init(&graph.samples);
	samples_init(&graph.base);
	parsed = parse(&graph, argc, argv);
	if (parsed > 0)
		return kunwind_tool_finish(TOOL_OK);
	/* valid UTF-8 without control characters, as all other text */
	graph.title = calls_text(&graph.samples.calls, graph.title);
	if (parsed < 0) {
		fprintf(stderr, "Try: kunwind flamegraph --help\n");
		status = TOOL_USAGE;
	} else if (outfile_open(&output, graph.path)) {
		ok = outfile_spares(&output, argv + optind, argc - optind) &&
		     (!graph.base_path || outfile_spares(&output, &graph.base_path, 1)) &&
		     samples_read(&graph.samples, argv + optind, argc - optind, NULL, NULL) &&
		     analyze_remarks(&graph.samples) &&
		     read_base(&graph) && has_weight(&graph);
		if (ok)
			write_page(&graph, output.file);
		status = outfile_close(&output, ok);
	}
	merged_free(&graph.merged);
	samples_free(&graph.base);
	samples_free(&graph.samples);
	return status;
}
