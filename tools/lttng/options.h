/* SPDX-License-Identifier: MIT */
/*
 * options.h - parse a command line of lttng(1) as the real lttng does
 */
#ifndef KUNWIND_LTTNG_OPTIONS_H
#define KUNWIND_LTTNG_OPTIONS_H

#include <stdbool.h>

/* The options before the command. */
struct options_general {
	bool mi;	/* machine-readable output was asked for */
	char **argv;	/* the program's name and all options except --mi; NULL-terminated */
	int nr;		/* entries in argv; OPTIONS_ROOM more fit after them */
};
#define OPTIONS_ROOM	16

/**
 * options_command() - find the command after the general options
 * @general: filled in; complete only if a command was found
 * Return: the command's index in @argv; 0 if there is none to run (--version,
 * --help, a wrong option, no command). Exits with 1 if out of memory.
 */
int options_command(int argc, char **argv, struct options_general *general);

/* The options of enable-event. */
struct options_event {
	bool callstack;			/* --callstack or --callstack=whole */
	bool whole;			/* --callstack=whole */
	bool help, list_options;	/* the real command does nothing else then */
	bool kernel, other_domain;
	const char *session, *channel;	/* the last one given, or NULL; point into @argv */
};

/**
 * options_event() - read the options of enable-event
 * @argv: NULL-terminated; argv[0] is the command's name. Each --callstack and
 *	--callstack=whole before "--" is removed from it.
 */
struct options_event options_event(char **argv);

#endif /* KUNWIND_LTTNG_OPTIONS_H */
