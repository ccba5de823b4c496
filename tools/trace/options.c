// SPDX-License-Identifier: MIT
/*
 * options.c - the options that all commands reading traces have
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "last.h"
#include "options.h"
#include "syscall.h"
#include "tool.h"

const struct help_id kunwind_option_ids[] = {
	{ "comm", FILTER_COMM }, { "debug-dir", 'D' }, { "duration", FILTER_DURATION },
	{ "from", FILTER_FROM }, { "no-kernel", 'K' }, { "no-lines", 'L' }, { "no-local", 'O' },
	{ "offsets", 'F' }, { "progress", 'P' }, { "tid", FILTER_TID }, { "to", FILTER_TO }, { NULL, 0 }
};

void kunwind_options_init(struct kunwind_options *options)
{
	*options = (struct kunwind_options){
		.symbols.size = sizeof(options->symbols),
	};
	kunwind_filter_init(&options->filter);
}

void kunwind_options_exit(struct kunwind_options *options)
{
	kunwind_numbers_free(&options->pids);
	kunwind_patterns_free(&options->events);
	kunwind_filter_exit(&options->filter);
	free(options->debug_dirs);
}

static bool add_debug_dir(struct kunwind_options *options, const char *dir)
{
	DIR *opened = opendir(dir);
	const char **dirs;
	size_t nr = 0;

	if (!opened) {
		kunwind_tool_error("--debug-dir %s: %s", dir, strerror(errno));
		return false;
	}
	closedir(opened);
	while (options->debug_dirs && options->debug_dirs[nr])
		nr++;
	dirs = realloc(options->debug_dirs, (nr + 2) * sizeof(*dirs));
	if (!dirs) {
		kunwind_tool_error("out of memory");
		return false;
	}
	dirs[nr] = dir;
	dirs[nr + 1] = NULL;
	options->debug_dirs = dirs;
	options->symbols.debug_dirs = dirs;
	return true;
}

bool kunwind_options_take(struct kunwind_options *options, int c, const char *value)
{
	switch (c) {
	case 'a':
		options->all = true;
		return true;
	case 'e':
		return kunwind_patterns_add(&options->events, "--event", value);
	case 'p':
		/* 0: the idle tasks */
		return kunwind_numbers_add(&options->pids, "--pid", "process", value);
	case 'P':
		options->progress = true;
		return true;
	case 'q':
		options->quiet = true;
		return true;
	case 'F':
		options->offsets = true;
		return true;
	case 'K':
		options->no_kernel = true;
		return true;
	case 'D':
		return add_debug_dir(options, value);
	case 'L':
		options->symbols.flags |= KUNWIND_NO_DWARF;
		return true;
	case 'O':
		options->symbols.flags |= KUNWIND_NO_LOCAL;
		return true;
	default:
		return kunwind_filter_take(&options->filter, c, value);
	}
}

bool kunwind_options_traces(struct kunwind_options *options, char *const *traces, int nr)
{
	options->traces = traces;
	options->nr_traces = nr;
	if (nr)
		return true;
	if (!kunwind_last_get(options->last, sizeof(options->last))) {
		kunwind_tool_error("no trace given, and no recording is remembered: name a directory that "
				   "kunwind record has written");
		return false;
	}
	kunwind_tool_error("the last recording: %s", options->last);
	options->last_trace[0] = options->last;
	options->traces = options->last_trace;
	options->nr_traces = 1;
	return true;
}

bool kunwind_options_event(struct kunwind_options *options, const char *name)
{
	const char *call = kunwind_syscall_entered(name);
	bool by_name, by_call;

	if (!call)
		call = kunwind_syscall_left(name);
	/* call both: a pattern may match only one of the two texts */
	by_name = kunwind_patterns_select(&options->events, name);
	by_call = call && kunwind_patterns_select(&options->events, call);
	return by_name || by_call;
}

static void say_unmatched(const struct kunwind_patterns *patterns, const char *option, const char *which)
{
	const char *pattern;
	size_t from = 0;

	while ((pattern = kunwind_patterns_unmatched(patterns, &from)))
		kunwind_tool_error("%s%s %s selects nothing", which, option, pattern);
}

void kunwind_options_unmatched(const struct kunwind_options *options, const char *which)
{
	say_unmatched(&options->events, "--event", which);
	say_unmatched(&options->filter.comms, "--comm", which);
}
