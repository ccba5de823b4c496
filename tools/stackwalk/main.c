// SPDX-License-Identifier: MIT
/*
 * main.c - kunwind stackwalk: the stacks of a core, a minidump, a report of a crash, a copied piece of stack
 *
 * The program is also kunwind stack (stack.c). kunwind-stackwalk --walker is the same program in a
 * sandbox (walker.c), which reads the file.
 * Nothing is printed on standard output before the file is read as a whole.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "tool.h"

static const char usage[] =
	"Usage: kunwind stackwalk [OPTION]... FILE\n"
	"\n"
	"Prints the call stacks of all threads in FILE: an ELF core, a minidump of Breakpad or\n"
	"Crashpad, a report of libkunwind-crash, or a text with registers and a piece of a\n"
	"stack. FILE \"-\" is standard input.\n"
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

/* Returns the index of the first argument; 0: help was printed; -1: wrong usage, after a message. */
static int parse(struct walk_options *options, int argc, char **argv)
{
	int c;

	while ((c = help_option(argc, argv, usage, walk_option_ids, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (!walk_option(options, c))
			return -1;
	}
	walk_options_end(options);
	if (argc - optind == 1)
		return optind;
	kunwind_tool_error(optind == argc ? "which FILE?" : "more than one FILE");
	return -1;
}

static int walk_file(int argc, char **argv)
{
	static struct walk_options options;
	struct stackwalk_session session;
	const char *name;
	int at, fd;
	bool ok;

	kunwind_tool_name = "stackwalk";
	at = parse(&options, argc, argv);
	if (at <= 0)
		return kunwind_tool_parsed(at < 0 ? at : 1);
	name = argv[at];
	fd = stackwalk_open(name);
	if (fd < 0)
		return TOOL_FAILED;
	ok = session_walk(&session, &options.session, fd, name);
	if (ok && options.json)
		stackwalk_json(&session);
	else if (ok)
		stackwalk_text(&session, name, options.all,
			       !(options.session.symbols.flags & KUNWIND_NO_DWARF));
	session_free(&session);
	return kunwind_tool_finish(ok ? TOOL_OK : TOOL_FAILED);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--walker"))
		return stackwalk_serve();
	return strcmp(argv[0], "kunwind stack") ? walk_file(argc, argv) : stackwalk_live(argc, argv);
}
