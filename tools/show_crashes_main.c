// SPDX-License-Identifier: MIT
/*
 * show_crashes_main.c - kunwind crashes: options and help
 */
#include <inttypes.h>
#include <stdio.h>

#include "show_crashes.h"
#include "tool.h"

static const char usage[] =
	"Usage: kunwind crashes [OPTION]... [TRACE...]\n"
	"\n"
	"Prints each signal that kills a process, with the user call stack of the thread that\n"
	"took it. Without TRACE: watches the whole system until Ctrl-C, without a handler or a\n"
	"core dump. With TRACE: lists the deadly signals in LTTng traces.\n"
	"\n"
	"  -n, --limit N        stop after N crashes\n"
	"  -p, --pid PID        only crashes of this process; may be repeated, or a list: 1,2\n"
	"  -j, --json           an object on a line for each crash: kunwind-json(5)\n"
	"      --no-lines       no inlined functions and source lines: less to read\n"
	"      --debug-dir DIR  objects and debug files below DIR too, by build-id; may be repeated\n"
	"      --no-local       only those and debuginfod, not this host's own files\n"
	"  -h, --help\n"
	"\n"
	"Stacks are correct for registered processes: \"kunwind system-wide on\" registers all.\n"
	"\n"
	"Exit status: 0; 1 after an error, or if TRACE has no such signal; 2 after wrong usage.\n";

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct kunwind_crashes *crashes, int argc, char **argv)
{
	int c;

	while ((c = help_option(argc, argv, usage, NULL, kunwind_option_ids)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'j':
			crashes->json = true;
			break;
		case 'n':
			if (!kunwind_tool_number(optarg, UINT64_MAX, &crashes->limit) || !crashes->limit) {
				kunwind_tool_error("--limit takes a number from 1 on, not: %s", optarg);
				return -1;
			}
			break;
		default:
			if (!kunwind_options_take(&crashes->options, c, optarg))
				return -1;
		}
	}
	return 0;
}

static int list(struct kunwind_crashes *crashes, char *const *paths, int nr)
{
	if (!kunwind_crashes_read(crashes, paths, nr))
		return kunwind_tool_finish(ferror(stdout) ? TOOL_OK : TOOL_FAILED);
	if (crashes->lost)
		kunwind_tool_error("the tracer lost %" PRIu64 " events", crashes->lost);
	if (!crashes->found)
		kunwind_tool_error(!crashes->own ?
				   "no deadly signal; the trace has no events kunwind_fatal_signal: was it "
				   "recorded with -e, or by another program?" :
				   crashes->options.pids.nr > 1 ? "no deadly signal of these processes" :
				   crashes->options.pids.nr ? "no deadly signal of this process" :
				   "no deadly signal");
	return kunwind_tool_finish(crashes->found ? TOOL_OK : TOOL_FAILED);
}

int kunwind_cmd_crashes(int argc, char **argv)
{
	struct kunwind_crashes crashes = { .last = -1 };
	int parsed, status = TOOL_OK;

	kunwind_options_init(&crashes.options);
	parsed = parse(&crashes, argc, argv);
	if (parsed < 0) {
		fprintf(stderr, "Try: kunwind crashes --help\n");
		status = TOOL_USAGE;
	} else if (!parsed) {
		status = optind < argc ? list(&crashes, argv + optind, argc - optind) :
					 kunwind_crashes_live(&crashes);
	} else {
		status = kunwind_tool_finish(TOOL_OK);
	}
	kunwind_options_exit(&crashes.options);
	return status;
}
