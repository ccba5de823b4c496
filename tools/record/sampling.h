/* SPDX-License-Identifier: MIT */
/*
 * sampling.h - set how CPUs are sampled, for the time of a recording
 */
#ifndef KUNWIND_RECORD_SAMPLING_H
#define KUNWIND_RECORD_SAMPLING_H

#include <stdbool.h>

#include "setting.h"

#define SAMPLING_DEFAULT_HZ	997
#define SAMPLING_MOST_HZ	10000

struct sampling {
	unsigned int hz;	/* 0: no samples */
	bool all;		/* all tasks, not only those of registered processes */
	/* private to sampling.c */
	struct setting frequency, every_task, system_wide;
};

/*
 * Sets the module's parameters sample_frequency and sample_all; with @all also
 * registers all processes. Returns false, after a message on stderr, if that is
 * not allowed; call sampling_restore() also then.
 */
bool sampling_begin(struct sampling *sampling);

/* Gives the parameters their old values, if no other recording needs these. */
void sampling_restore(struct sampling *sampling);

/* Prints a message on stderr if nothing takes samples. Call it while the session runs. */
void sampling_check(const struct sampling *sampling);

#endif /* KUNWIND_RECORD_SAMPLING_H */
