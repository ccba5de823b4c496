/* SPDX-License-Identifier: MIT */
/*
 * options.h - the options that all commands reading traces have
 */
#ifndef KUNWIND_TRACE_OPTIONS_H
#define KUNWIND_TRACE_OPTIONS_H

#include <stdbool.h>

#include "filter.h"
#include "help_options.h"
#include "list.h"
#include "libkunwind-symbolize.h"

struct kunwind_options {
	bool all;		/* also what the command leaves out by default */
	bool offsets;		/* kunwind-analyze: tell apart functions without names */
	struct kunwind_numbers pids;
	struct kunwind_patterns events;	/* their names */
	struct kunwind_filter filter;
	bool no_kernel;		/* leave out kernel stacks */
	bool progress;		/* print progress also where standard error is no terminal */
	bool quiet;		/* print no progress */
	struct kunwind_symbolizer_options symbols;
	const char **debug_dirs;	/* of these; NULL-terminated */
	char *const *traces;	/* kunwind_options_traces() */
	int nr_traces;
	char last[4096];
	char *last_trace[1];
};

/* For help_option(): those without a letter. The command itself handles --help. */
extern const struct help_id kunwind_option_ids[];

void kunwind_options_init(struct kunwind_options *options);
void kunwind_options_exit(struct kunwind_options *options);

/* Takes an option that getopt_long() found. False: it is none of these, or is wrong (said). */
bool kunwind_options_take(struct kunwind_options *options, int c, const char *value);

/*
 * Takes the arguments after the options as traces; without any, the last recording, and says
 * so. Returns false after a message if there is none.
 */
bool kunwind_options_traces(struct kunwind_options *options, char *const *traces, int nr);

/*
 * Returns whether the patterns select an event, by its whole name or by the system
 * call in it: "openat" selects syscall_entry_openat and syscall_exit_openat.
 */
bool kunwind_options_event(struct kunwind_options *options, const char *name);

/*
 * Prints each pattern of --event and --comm that has matched nothing. Call this
 * after the whole trace has been read. @which is printed before each pattern.
 */
void kunwind_options_unmatched(const struct kunwind_options *options, const char *which);

#endif /* KUNWIND_TRACE_OPTIONS_H */
