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

/* What the options of enable-event say. popt(3) stores flags as int. */
struct options_event {
	int callstack;			/* --callstack */
	const char *refused;		/* --callstack=VALUE, or NULL */
	int help, list_options;		/* these end the real command at once */
	int kernel;			/* --kernel */
	int userspace;			/* --userspace */
	int other_domain;		/* --jul and others */
	const char *session, *channel;	/* last ones given, or NULL */
};

/**
 * options_event() - parse the options of enable-event
 * @argv: NULL-terminated; argv[0] is the command's name. Each --callstack is
 *	removed from it. Ends the program when out of memory.
 */
struct options_event options_event(int argc, char **argv);

#endif /* KUNWIND_LTTNG_OPTIONS_H */
