// SPDX-License-Identifier: MIT
/*
 * options.c - the options that kunwind stackwalk and kunwind stack have in common
 */
#include <getopt.h>

#include "options.h"
#include "tool.h"

enum { DEBUG_DIR = 256, SYSROOT, NO_LOCAL, NO_LINES, GUESS, OBJECT };

const struct help_id walk_option_ids[] = {
	{ "debug-dir", DEBUG_DIR }, { "guess", GUESS }, { "no-lines", NO_LINES }, { "no-local", NO_LOCAL },
	{ "object", OBJECT }, { "sysroot", SYSROOT }, { NULL, 0 },
};

/* Adds to a list with a NULL at its end. */
static bool add(const char **list, size_t *nr, const char *path)
{
	if (*nr == WALK_MOST_PATHS) {
		kunwind_tool_error("more than %d files or directories", WALK_MOST_PATHS);
		return false;
	}
	list[(*nr)++] = path;
	return true;
}

static bool take_frames(struct walk_options *options, const char *text)
{
	uint64_t number;

	if (!kunwind_tool_number(text, 1000000, &number) || !number) {
		kunwind_tool_error("not a number of frames from 1 to 1000000: %s", text);
		return false;
	}
	options->session.most = (uint32_t)number;
	return true;
}

bool walk_option(struct walk_options *options, int c)
{
	struct kunwind_symbolizer_options *symbols = &options->session.symbols;

	switch (c) {
	case 'a':
		options->all = true;
		return true;
	case 'j':
		options->json = true;
		return true;
	case 'n':
		return take_frames(options, optarg);
	case OBJECT:
		return add(options->files, &options->nr_files, optarg);
	case GUESS:
		options->session.guess = true;
		return true;
	case NO_LINES:
		symbols->flags |= KUNWIND_NO_DWARF;
		return true;
	case NO_LOCAL:
		symbols->flags |= KUNWIND_NO_LOCAL;
		return true;
	case SYSROOT:
		symbols->flags |= KUNWIND_NO_LOCAL;
		/* fall through */
	case DEBUG_DIR:
		return add(options->dirs, &options->nr_dirs, optarg);
	default:
		return false;
	}
}

void walk_options_end(struct walk_options *options)
{
	options->session.symbols.size = sizeof(options->session.symbols);
	options->session.symbols.debug_dirs = options->dirs;
	options->session.files = options->files;
}
