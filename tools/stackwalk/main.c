// SPDX-License-Identifier: MIT
/*
 * main.c - kunwind stackwalk: the stacks of a core, of a minidump, of a copied piece of stack
 *
 * kunwind-stackwalk --walker is the same program in a sandbox (walker.c), which reads the file.
 * Nothing is printed on standard output before the file is read as a whole.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "help_options.h"
#include "session.h"
#include "tool.h"

#define MOST_PATHS	64

static const char usage[] =
	"Usage: kunwind stackwalk [OPTION]... FILE\n"
	"\n"
	"Prints the call stacks of all threads in FILE: an ELF core, a minidump of Breakpad or\n"
	"Crashpad, or a text with registers and a piece of a stack. FILE \"-\" is standard input.\n"
	"\n"
	"  -j, --json           one object: kunwind-json(5)\n"
	"  -a, --all            all frames of a stack of more than 250 frames\n"
	"  -n, --frames N       at most the N innermost frames of each thread\n"
	"      --no-lines       no source lines and no inlined functions\n"
	"      --guess          go on by guesses where nothing is known; they are marked\n"
	"      --object FILE    FILE is the module that has its build-id; may be repeated\n"
	"      --debug-dir DIR  objects and debug files below DIR, too; may be repeated\n"
	"      --sysroot DIR    the same, and none of this host's own files: for a dump of\n"
	"                       a container or of another machine\n"
	"      --no-local       only files of these directories, and of debuginfod\n"
	"  -h, --help\n"
	"\n"
	"Files are found by their build-id, at their path, below DIR, and at the servers in\n"
	"DEBUGINFOD_URLS. Another process, which can do nothing else, reads FILE.\n"
	"\n"
	"Exit status: 0: the stacks are printed, also if they are not complete; 1 after an\n"
	"error: nothing is printed on standard output; 2 after wrong usage.\n";

struct stackwalk {
	struct session_options options;
	const char *dirs[MOST_PATHS + 1], *files[MOST_PATHS + 1];
	size_t nr_dirs, nr_files;
	bool json, all;
};

/* Adds to a list with a NULL at its end. */
static bool add(const char **list, size_t *nr, const char *path)
{
	if (*nr == MOST_PATHS) {
		kunwind_tool_error("more than %d files or directories", MOST_PATHS);
		return false;
	}
	list[(*nr)++] = path;
	return true;
}

static bool take_frames(struct stackwalk *stackwalk, const char *text)
{
	uint64_t number;

	if (!kunwind_tool_number(text, 1000000, &number) || !number) {
		kunwind_tool_error("not a number of frames from 1 to 1000000: %s", text);
		return false;
	}
	stackwalk->options.most = (uint32_t)number;
	return true;
}

/* Returns the index of the first argument; 0: help was printed; -1: wrong usage, after a message. */
static int parse(struct stackwalk *stackwalk, int argc, char **argv)
{
	enum { DEBUG_DIR = 256, SYSROOT, NO_LOCAL, NO_LINES, GUESS, OBJECT };
	static const struct help_id ids[] = { { "debug-dir", DEBUG_DIR }, { "guess", GUESS },
		{ "no-lines", NO_LINES }, { "no-local", NO_LOCAL }, { "object", OBJECT },
		{ "sysroot", SYSROOT }, { NULL, 0 } };
	struct kunwind_symbolizer_options *symbols = &stackwalk->options.symbols;
	int c;

	while ((c = help_option(argc, argv, usage, ids, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'a':
			stackwalk->all = true;
			break;
		case 'j':
			stackwalk->json = true;
			break;
		case 'n':
			if (!take_frames(stackwalk, optarg))
				return -1;
			break;
		case OBJECT:
			if (!add(stackwalk->files, &stackwalk->nr_files, optarg))
				return -1;
			break;
		case GUESS:
			stackwalk->options.guess = true;
			break;
		case NO_LINES:
			symbols->flags |= KUNWIND_NO_DWARF;
			break;
		case NO_LOCAL:
			symbols->flags |= KUNWIND_NO_LOCAL;
			break;
		case SYSROOT:
			symbols->flags |= KUNWIND_NO_LOCAL;
			/* fall through */
		case DEBUG_DIR:
			if (!add(stackwalk->dirs, &stackwalk->nr_dirs, optarg))
				return -1;
			break;
		default:
			return -1;
		}
	}
	if (argc - optind == 1)
		return optind;
	kunwind_tool_error(optind == argc ? "which FILE?" : "more than one FILE");
	return -1;
}

int main(int argc, char **argv)
{
	static struct stackwalk stackwalk = { .options.symbols.size = sizeof(stackwalk.options.symbols) };
	struct stackwalk_session session;
	const char *name;
	int at, fd;
	bool ok;

	if (argc == 2 && !strcmp(argv[1], "--walker"))
		return stackwalk_serve();
	kunwind_tool_name = "stackwalk";
	at = parse(&stackwalk, argc, argv);
	if (at <= 0) {
		if (at < 0)
			fprintf(stderr, "Try: kunwind stackwalk --help\n");
		return at < 0 ? TOOL_USAGE : kunwind_tool_finish(TOOL_OK);
	}
	stackwalk.options.symbols.debug_dirs = stackwalk.dirs;
	stackwalk.options.files = stackwalk.files;
	name = argv[at];
	fd = stackwalk_open(name);
	if (fd < 0)
		return TOOL_FAILED;
	ok = session_walk(&session, &stackwalk.options, fd, name);
	if (ok && stackwalk.json)
		stackwalk_json(&session);
	else if (ok)
		stackwalk_text(&session, name, stackwalk.all,
			       !(stackwalk.options.symbols.flags & KUNWIND_NO_DWARF));
	session_free(&session);
	return kunwind_tool_finish(ok ? TOOL_OK : TOOL_FAILED);
}
