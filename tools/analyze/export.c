// SPDX-License-Identifier: MIT
/*
 * export.c - kunwind export: write a trace in the format of another tool
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze.h"
#include "near.h"
#include "tool.h"

static const struct format {
	const char *name;
	/* only one of these is set; neither: the format writes a directory */
	bool (*whole)(const struct samples *samples, enum weight weight, FILE *file);
	const struct export_stream *stream;
} formats[] = {
	{ "folded", export_folded, NULL },
	{ "speedscope", NULL, &export_speedscope },
	{ "firefox", NULL, &export_firefox },
	{ "perfetto", NULL, &export_perfetto },
	{ "pprof", NULL, &export_pprof },
	{ "sqlite", NULL, &export_sqlite },
	{ "ctf", NULL, NULL },		/* export_ctf() */
};

static const char usage[] =
	"Usage: kunwind export FORMAT [OPTION]... [TRACE]...\n"
	"\n"
	"Writes LTTng traces in the format of another tool. FORMAT is one of\n"
	"\n"
	"  folded      a line for each stack, for flamegraph.pl, inferno, speedscope\n"
	"  speedscope  for www.speedscope.app: each thread over time\n"
	"  firefox     for profiler.firefox.com: each thread over time, with a marker for\n"
	"              each system call\n"
	"  perfetto    for ui.perfetto.dev: system calls and times off the CPU on a track\n"
	"              for each thread, with stacks and arguments\n"
	"  pprof       for pprof: a sample for each stack of a thread, with all weights\n"
	"  sqlite      a database of spans, stacks, frames and waits, for sqlite3\n"
	"  ctf         for Trace Compass: a copy of the traces with the names of functions,\n"
	"              and events for its flame chart; -o DIR, a new or empty directory,\n"
	"              is needed\n"
	"\n"
	"  -w, --weight WEIGHT  events (their number), blocked (nanoseconds from a system\n"
	"                       call's entry to its exit), off-cpu (nanoseconds, from\n"
	"                       sched_switch), lock (nanoseconds blocked by a lock's holder) or\n"
	"                       cpu (nanoseconds, by samples of CPUs);\n"
	"                       default: blocked, or what the trace has\n"
	"  -o, --output FILE    (default: standard output); for Trace Compass, a directory\n"
	ANALYZE_USAGE
	"  -h, --help\n"
	"\n"
	"A message names the weight; only cpu is CPU time.\n"
	"Exit status: 0; 1 after an error, or when there are no events; 2 after wrong usage.\n";

struct export {
	struct samples samples;
	const struct format *format;
	const char *path;
	int weight;		/* enum weight, or -1 */
};

static bool is_ctf(const struct export *export)
{
	return !export->format->whole && !export->format->stream;
}

static bool has_weights(const struct format *format)
{
	return format->whole || (format->stream && format->stream != &export_perfetto &&
				 format->stream != &export_sqlite);
}

static bool is_binary(const struct export *export)
{
	return export->format->stream == &export_pprof ||
	       (export->format->stream && !has_weights(export->format));
}

/* Returns the format of a name; NULL after a message. */
static const struct format *find_format(const char *name)
{
	struct near near = { .wanted = name };
	char text[64];
	size_t i;

	for (i = 0; name && i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(name, formats[i].name))
			return &formats[i];
		near_try(&near, formats[i].name);
	}
	kunwind_tool_error("the first argument is a format: folded, speedscope, firefox, perfetto, pprof, "
			   "sqlite or ctf%s%s%s", name ? ", not: " : "", name ? name : "",
			   name ? near_text(&near, text, sizeof(text)) : "");
	return NULL;
}

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct export *export, int argc, char **argv)
{
	int c;

	while ((c = help_option(argc, argv, usage, NULL, kunwind_option_ids)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'o':
			if (!kunwind_tool_output(&export->path, optarg))
				return -1;
			break;
		case 'w':
			export->weight = analyze_weight(optarg);
			if (export->weight < 0)
				return -1;
			break;
		default:
			if (!kunwind_options_take(&export->samples.options, c, optarg))
				return -1;
		}
	}
	export->format = find_format(optind < argc ? argv[optind++] : NULL);
	if (!export->format)
		return -1;
	if (is_ctf(export) && (!export->path || !strcmp(export->path, "-"))) {
		kunwind_tool_error("ctf writes a directory: name a new or empty one (-o DIR)");
		return -1;
	}
	if (is_binary(export) && !export->path && isatty(STDOUT_FILENO)) {
		kunwind_tool_error("%s writes no text: name a file (-o FILE), or a terminal by -o -",
				   export->format->name);
		return -1;
	}
	if (!has_weights(export->format) && export->weight >= 0) {
		kunwind_tool_error("%s has no weights: leave out --weight", export->format->name);
		return -1;
	}
	return kunwind_options_traces(&export->samples.options, argv + optind, argc - optind) ? 0 : -1;
}

static bool write_trace(struct export *export, struct outfile *output)
{
	char *const *paths = export->samples.options.traces;
	const int nr = export->samples.options.nr_traces;
	const struct format *format = export->format;
	FILE *file = output->file;
	struct samples *samples = &export->samples;
	enum weight weight;
	bool ok, written;
	void *state;

	if (!outfile_spares(output, paths, nr))
		return false;
	state = format->stream ? format->stream->begin(samples, file) : NULL;
	if (format->stream && !state)
		return false;
	ok = samples_read(samples, paths, nr, format->stream ? &format->stream->samples : NULL, state) &&
	     analyze_remarks(samples) && analyze_has_weight(samples, export->weight);
	weight = samples_weight(samples, export->weight);
	if (format->stream)
		written = format->stream->end(state, weight, ok);
	else
		written = !ok || format->whole(samples, weight, file);
	if (ok && has_weights(format))
		fprintf(stderr, "kunwind export: weights are the %s\n", analyze_weight_title(weight));
	return ok && written;
}

int analyze_export(int argc, char **argv)
{
	struct export export = { .weight = -1 };
	const struct kunwind_options *options = &export.samples.options;
	struct outfile output;
	int parsed, status = TOOL_FAILED;

	samples_init(&export.samples);
	parsed = parse(&export, argc, argv);
	if (parsed)
		return kunwind_tool_parsed(parsed);
	if (is_ctf(&export))
		status = export_ctf(&export.samples, options->traces, options->nr_traces, export.path);
	else if (outfile_open(&output, export.path))
		status = outfile_close(&output, write_trace(&export, &output));
	samples_free(&export.samples);
	return status;
}
