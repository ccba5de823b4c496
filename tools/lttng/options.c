// SPDX-License-Identifier: MIT
/*
 * options.c - parse lttng's command line by the rules of the libraries it uses
 *
 * lttng reads its general options by getopt_long(3) and those of enable-event
 * by popt(3), which has these rules: no abbreviations; options and arguments
 * come in any order until "--"; a value is "--name=value", "--name value",
 * "-nvalue", "-n=value" or "-n value", also at the end of a bundle such as
 * "-ks"; a value may begin with a dash. This file knows the options of
 * lttng-tools 2.13 to 2.15. It assumes that an unknown option has no value; the
 * real command refuses that option.
 */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* Appends an option in its long form. Exits with 1 if out of memory. */
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

	for (i = 1; i < argc; i++)	/* at most one option a letter */
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

enum id { CALLSTACK = 1, HELP, LIST, KERNEL, DOMAIN, SESSION, CHANNEL, OTHER };

static const struct known {
	const char *name;
	char letter;
	bool value;
	enum id id;
} known[] = {
	{ "callstack", 0, false, CALLSTACK },
	{ "help", 'h', false, HELP },
	{ "list-options", 0, false, LIST },
	{ "kernel", 'k', false, KERNEL },
	{ "userspace", 'u', false, DOMAIN },
	{ "jul", 'j', false, DOMAIN },
	{ "log4j", 'l', false, DOMAIN },
	{ "log4j2", 0, false, DOMAIN },
	{ "python", 'p', false, DOMAIN },
	{ "session", 's', true, SESSION },
	{ "channel", 'c', true, CHANNEL },
	{ "all", 'a', false, OTHER },
	{ "tracepoint", 0, false, OTHER },
	{ "syscall", 0, false, OTHER },
	{ "probe", 0, true, OTHER },
	{ "userspace-probe", 0, true, OTHER },
	{ "function", 0, true, OTHER },
	{ "loglevel", 0, true, OTHER },
	{ "loglevel-only", 0, true, OTHER },
	{ "filter", 'f', true, OTHER },
	{ "exclude", 'x', true, OTHER },
};
#define NR_KNOWN	(sizeof(known) / sizeof(known[0]))

static const struct known *find_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < NR_KNOWN; i++)
		if (!strncmp(known[i].name, name, len) && !known[i].name[len])
			return &known[i];
	return NULL;
}

static const struct known *find_letter(char letter)
{
	size_t i;

	for (i = 0; i < NR_KNOWN; i++)
		if (known[i].letter && known[i].letter == letter)
			return &known[i];
	return NULL;
}

static void note(struct options_event *event, const struct known *option, const char *value)
{
	switch (option->id) {
	case HELP:
		event->help = true;
		break;
	case LIST:
		event->list_options = true;
		break;
	case KERNEL:
		event->kernel = true;
		break;
	case DOMAIN:
		event->other_domain = true;
		break;
	case SESSION:
		event->session = value;
		break;
	case CHANNEL:
		event->channel = value;
		break;
	default:
		break;
	}
}

/*
 * Reads the bundle @letters. Returns true if the last letter's option takes the
 * next argument, @next (may be NULL), as its value.
 */
static bool bundle(struct options_event *event, const char *letters, const char *next)
{
	const struct known *option;

	for (; *letters; letters++) {
		option = find_letter(*letters);
		if (!option)
			continue;
		if (!option->value) {
			note(event, option, NULL);
			continue;
		}
		if (!letters[1]) {
			note(event, option, next);
			return true;
		}
		note(event, option, letters + 1 + (letters[1] == '='));
		return false;
	}
	return false;
}

struct options_event options_event(char **argv)
{
	struct options_event event = { 0 };
	char **out = argv + 1, **in;

	for (in = argv + 1; *in; in++) {
		const struct known *option;
		char *arg = *in;
		size_t len;

		if (!strcmp(arg, "--"))
			break;
		if (!strcmp(arg, "--callstack")) {
			event.callstack = true;
			continue;
		}
		if (!strcmp(arg, "--callstack=whole")) {
			event.callstack = event.whole = true;
			continue;
		}
		*out++ = arg;
		if (arg[0] != '-' || !arg[1])
			continue;
		if (arg[1] != '-') {
			if (bundle(&event, arg + 1, in[1]) && in[1])
				*out++ = *++in;
			continue;
		}
		len = strcspn(arg + 2, "=");
		option = find_name(arg + 2, len);
		if (!option || option->id == CALLSTACK)
			continue;
		if (!option->value) {
			note(&event, option, NULL);
		} else if (arg[2 + len]) {
			note(&event, option, arg + 2 + len + 1);
		} else if (in[1]) {
			note(&event, option, in[1]);
			*out++ = *++in;
		}
	}
	while (*in)
		*out++ = *in++;
	*out = NULL;
	return event;
}
