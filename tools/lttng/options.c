// SPDX-License-Identifier: MIT
/*
 * options.c - parse lttng's command line with the functions that lttng uses
 *
 * lttng parses its general options with getopt_long(3) and those of
 * enable-event with popt(3). The tables below hold the options of lttng-tools
 * 2.13 to 2.15. Both functions report an unknown option as an error. For
 * enable-event, parsing then goes on with the next argument: the real command
 * refuses the option, or is newer and knows it.
 */
#include <getopt.h>
#include <popt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* One option in its long form, whatever bundle or abbreviation it came in. */
static void keep(struct options_general *general, const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "--%s%s%s", name, value ? "=" : "", value ? value : "") < 0) {
		perror("lttng");
		exit(1);
	}
	general->argv[general->nr++] = text;
}

int options_command(int argc, char **argv, struct options_general *general)
{
	static const struct option options[] = {
		{ "version", 0, NULL, 'V' },
		{ "help", 0, NULL, 'h' },
		{ "group", 1, NULL, 'g' },
		{ "verbose", 0, NULL, 'v' },
		{ "quiet", 0, NULL, 'q' },
		{ "mi", 1, NULL, 'm' },
		{ "no-sessiond", 0, NULL, 'n' },
		{ "sessiond-path", 1, NULL, 's' },
		{ "relayd-path", 1, NULL, 'r' },
		{ "list-options", 0, NULL, 'L' },
		{ "list-commands", 0, NULL, 'C' },
		{ NULL, 0, NULL, 0 },
	};
	int c, i, letters = 0;

	for (i = 1; i < argc; i++)	/* no more options than letters */
		letters += argv[i][0] == '-' ? (int)strlen(argv[i]) : 0;
	*general = (struct options_general){ .nr = 1 };
	general->argv = calloc((size_t)letters + OPTIONS_ROOM + 2, sizeof(*general->argv));
	if (!general->argv) {
		perror("lttng");
		exit(1);
	}
	general->argv[0] = argv[0];
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+Vhnvqg:m:", options, NULL)) != -1) {
		for (i = 0; options[i].name && options[i].val != c; i++)
			;
		if (!options[i].name || c == 'V' || c == 'h' || c == 'L' || c == 'C')
			return 0;
		if (c == 'm')
			general->mi = true;
		else
			keep(general, options[i].name, options[i].has_arg ? optarg : NULL);
	}
	return optind < argc ? optind : 0;
}

#define FLAG(name, letter, flag) { name, letter, POPT_ARG_NONE, flag, 0, NULL, NULL }
#define VALUE(name, letter, value) { name, letter, POPT_ARG_STRING, value, 0, NULL, NULL }

struct options_event options_event(int argc, char **argv)
{
	struct options_event event = { 0 };
	const struct poptOption options[] = {
		{ "callstack", 0, POPT_ARG_NONE | POPT_ARGFLAG_STRIP, &event.callstack, 0, NULL, NULL },
		FLAG("help", 'h', &event.help),
		FLAG("list-options", 0, &event.list_options),
		FLAG("userspace", 'u', &event.userspace),
		FLAG("jul", 'j', &event.other_domain),
		FLAG("log4j", 'l', &event.other_domain),
		FLAG("log4j2", 0, &event.other_domain),
		FLAG("python", 'p', &event.other_domain),
		VALUE("session", 's', &event.session),
		VALUE("channel", 'c', &event.channel),
		FLAG("kernel", 'k', &event.kernel),
		FLAG("all", 'a', NULL),
		FLAG("tracepoint", 0, NULL),
		FLAG("syscall", 0, NULL),
		VALUE("probe", 0, NULL),
		VALUE("userspace-probe", 0, NULL),
		VALUE("function", 0, NULL),
		VALUE("loglevel", 0, NULL),
		VALUE("loglevel-only", 0, NULL),
		VALUE("filter", 'f', NULL),
		VALUE("exclude", 'x', NULL),
		POPT_TABLEEND
	};
	poptContext context = poptGetContext(NULL, argc, (const char **)argv, options, 0);
	static const char valued[] = "--callstack=";
	const char *word;
	int result;

	if (!context) {
		perror("lttng");
		exit(1);
	}
	while ((result = poptGetNextOpt(context)) != -1) {
		word = poptBadOption(context, 0);
		if (result == POPT_ERROR_UNWANTEDARG && !strncmp(word, valued, strlen(valued)))
			event.refused = word;
	}
	argv[poptStrippedArgv(context, argc, argv)] = NULL;
	poptFreeContext(context);
	return event;
}
