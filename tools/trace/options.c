// SPDX-License-Identifier: MIT
/*
 * options.c - the options that all commands reading traces have
 */
#include <fnmatch.h>
#include <stdlib.h>

#include "options.h"
#include "syscall.h"
#include "tool.h"

void kunwind_options_init(struct kunwind_options *options)
{
	*options = (struct kunwind_options){
		.only_pid = -1,
		.symbols.size = sizeof(options->symbols),
	};
	kunwind_filter_init(&options->filter);
}

void kunwind_options_exit(struct kunwind_options *options)
{
	free(options->debug_dirs);
}

static bool add_debug_dir(struct kunwind_options *options, const char *dir)
{
	const char **dirs;
	size_t nr = 0;

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
	uint64_t pid;

	switch (c) {
	case 'a':
		options->all = true;
		return true;
	case 'e':
		options->pattern = value;
		return true;
	case 'p':
		/* 0: the idle tasks */
		if (!kunwind_tool_number(value, INT32_MAX, &pid)) {
			kunwind_tool_error("--pid takes the number of a process, not: %s", value);
			return false;
		}
		options->only_pid = (int64_t)pid;
		return true;
	case 'P':
		options->progress = true;
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

bool kunwind_options_event(const struct kunwind_options *options, const char *name)
{
	const char *call = kunwind_syscall_entered(name);

	if (!call)
		call = kunwind_syscall_left(name);
	return !options->pattern || !fnmatch(options->pattern, name, 0) ||
	       (call && !fnmatch(options->pattern, call, 0));
}
