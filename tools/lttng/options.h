/* SPDX-License-Identifier: MIT */
/*
 * options.h - a command line of lttng(1), read as the real one reads it
 */
#ifndef KUNWIND_LTTNG_OPTIONS_H
#define KUNWIND_LTTNG_OPTIONS_H

#include <stdbool.h>

/* What the options before the command say. */
struct options_general {
	bool mi;	/* machine-readable output was asked for */
	char **argv;	/* the program's name and all options but --mi, NULL-terminated */
	int nr;		/* of these; OPTIONS_ROOM more fit behind them */
};
#define OPTIONS_ROOM	16

/**
 * options_command() - find the command behind the general options
 * Return: its index in @argv; 0 when there is none to be run (--version,
 * --help, a mistake, nothing at all). Ends the program when out of memory.
 */
int options_command(int argc, char **argv, struct options_general *general);

/* What the options of enable-event say. */
struct options_event {
	bool callstack;			/* --callstack, or: */
	bool whole;			/* --callstack=whole */
	bool help, list_options;	/* these end the real command at once */
	bool kernel, other_domain;
	const char *session, *channel;	/* last ones given, or NULL */
};

/**
 * options_event() - read the options of enable-event
 * @argv: NULL-terminated; argv[0] is the command's name. Every --callstack is
 *	taken out of it.
 */
struct options_event options_event(char **argv);

#endif /* KUNWIND_LTTNG_OPTIONS_H */
