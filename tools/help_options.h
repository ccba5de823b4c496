/* SPDX-License-Identifier: MIT */
/*
 * help_options.h - the options of a command, from its help text
 */
#ifndef KUNWIND_HELP_OPTIONS_H
#define KUNWIND_HELP_OPTIONS_H

#include <getopt.h>

/* What help_option() returns for an option without a letter. Lists end with a NULL. */
struct help_id {
	const char *name;
	int id;
};

/*
 * As getopt_long(3): returns the letter of the next option, or its number in @ids or @more (may
 * be NULL); -1 at the end, and '?' after a message. The options are those of @help, which must be
 * the same in each call. If its first line has "[--] COMMAND", options end before that.
 */
int help_option(int argc, char **argv, const char *help, const struct help_id *ids,
		const struct help_id *more);

/* The name of the option without a letter that was returned last. */
extern const char *help_option_name;

#endif /* KUNWIND_HELP_OPTIONS_H */
