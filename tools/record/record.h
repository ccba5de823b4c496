/* SPDX-License-Identifier: MIT */
/*
 * record.h - one recording: its options and its state
 */
#ifndef KUNWIND_RECORD_RECORD_H
#define KUNWIND_RECORD_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "directory.h"
#include "disk.h"
#include "flight.h"
#include "pids.h"
#include "sampling.h"
#include "session.h"
#include "workload.h"

#define RECORD_MOST_BUFFER	(UINT64_C(1) << 30)

struct record {
	/* options */
	struct names {
		const char **name;
		int nr;
	} events, ust;		/* of the kernel (-e), and of LTTng-UST (--ust) */
	bool module;		/* events of the kernel are recorded, which need the module */
	struct pids pids;
	bool all, kernel, quiet, json;
	bool context;		/* each event holds its whole stack */
	bool by_default;	/* no -e: the default events */
	const char *output;
	uint64_t buffer;
	char **command;
	const char *user;	/* of -u */
	struct owner owner;
	/* state */
	struct directory dir;	/* its path may be the relay daemon's URL */
	struct session session;
	struct workload workload;
	int killed;		/* the signal that killed COMMAND; 0: none did */
	struct flight flight;
	struct sampling sampling;
	int signals;		/* signalfd */
	sigset_t mask;		/* signal mask before signals were blocked */
	char *filter;		/* of events of the kernel */
	char *ust_filter;
	uint64_t lost;
	enum disk disk;
	size_t files;		/* of the trace, when tracing had started */
	bool incomplete;	/* a daemon of LTTng has ended */
	bool nothing;		/* nothing was recorded: no program has LTTng-UST */
};

/* options.c: whether this is kunwind profile, not kunwind record. */
bool record_is_profile(void);

/* Reads the options. Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
int record_options(struct record *record, int argc, char **argv);

/*
 * events.c: creates the session and enables all events. Returns false after a message on
 * stderr, or if a signal asks the program to end.
 */
bool record_set_up(struct record *record);

/* closing.c: prints the closing message, on stderr, because stdout belongs to COMMAND. */
void record_close_json(const struct record *record, int status);
void record_close_words(const struct record *record);

#endif /* KUNWIND_RECORD_RECORD_H */
