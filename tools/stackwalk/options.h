/* SPDX-License-Identifier: MIT */
/*
 * options.h - the options that kunwind stackwalk and kunwind stack have in common
 */
#ifndef STACKWALK_OPTIONS_H
#define STACKWALK_OPTIONS_H

#include "help_options.h"
#include "session.h"

#define WALK_MOST_PATHS	64

struct walk_options {
	struct session_options session;
	const char *dirs[WALK_MOST_PATHS + 1], *files[WALK_MOST_PATHS + 1];	/* with a NULL at the end */
	size_t nr_dirs, nr_files;
	bool json, all;
};

extern const struct help_id walk_option_ids[];

/* Takes an option of help_option(). False: it is another one, or after a message. */
bool walk_option(struct walk_options *options, int c);

/* Completes options->session. Before, no list of it is set. */
void walk_options_end(struct walk_options *options);

#endif /* STACKWALK_OPTIONS_H */
