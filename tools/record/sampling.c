// SPDX-License-Identifier: MIT
/*
 * sampling.c - set how CPUs are sampled, for the time of a recording
 *
 * The frequency, and whether all tasks are sampled, are parameters of the
 * module, so they hold for all sessions, and only root can set them. A recorder
 * that is killed leaves them as they are.
 */
#include <errno.h>
#include <kunwind.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report.h"
#include "sampling.h"
#include "tool.h"

#define PARAMETERS	"/sys/module/kunwind/parameters/"

static bool read_parameter(const char *path, char *value, int size)
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(value, size, file);

	if (file)
		fclose(file);
	value[ok ? strcspn(value, "\n") : 0] = '\0';
	return ok;
}

static bool write_parameter(const char *path, const char *value)
{
	FILE *file = fopen(path, "we");
	bool ok = file && fputs(value, file) >= 0;

	return file && !fclose(file) && ok;
}

/* Sets a parameter. @before: out, 16 bytes: its old value. */
static bool set(const char *path, const char *value, char *before)
{
	char old[16];

	if (!read_parameter(path, old, sizeof(old))) {
		kunwind_tool_error("%s: %s: this kunwind.ko takes no samples: install the module of "
				   "this version", path, strerror(errno));
		return false;
	}
	if (!strcmp(old, value))
		return true;
	if (write_parameter(path, value)) {
		strcpy(before, old);
		return true;
	}
	kunwind_tool_error("%s: %s: only root can change it from %s to %s: use sudo", path,
			   strerror(errno), old, value);
	return false;
}

static bool register_all(struct sampling *sampling)
{
	char on[16];
	int err;

	if (read_parameter(PARAMETERS "system_wide", on, sizeof(on)) && *on == 'Y')
		return true;
	err = kunwind_system_wide(1);
	sampling->registered_all = !err;
	if (err)
		kunwind_tool_failure("register all processes", err);
	return !err;
}

bool sampling_begin(struct sampling *sampling)
{
	char hz[16];

	if (!sampling->hz)
		return true;
	snprintf(hz, sizeof(hz), "%u", sampling->hz);
	return set(PARAMETERS "sample_frequency", hz, sampling->frequency) &&
	       (!sampling->all || (set(PARAMETERS "sample_all", "Y", sampling->every_task) &&
				   register_all(sampling)));
}

void sampling_restore(struct sampling *sampling)
{
	if (*sampling->frequency)
		write_parameter(PARAMETERS "sample_frequency", sampling->frequency);
	if (*sampling->every_task)
		write_parameter(PARAMETERS "sample_all", sampling->every_task);
	if (sampling->registered_all)
		kunwind_system_wide(0);
	*sampling->frequency = *sampling->every_task = '\0';
	sampling->registered_all = false;
}

/* Returns true once a clock runs, or is refused: then *@why is not "". */
static bool decided(char *why, size_t size)
{
	struct kunwind_report report;
	bool found = false;
	size_t i;

	*why = '\0';
	if (kunwind_report_read(&report))
		return true;
	for (i = 0; i < report.nr; i++) {
		if (strcmp(report.line[i].field[0], "sampler"))
			continue;
		snprintf(why, size, "%s", report.line[i].field[2]);
		found = strcmp(report.line[i].field[1], "off") || *why;
	}
	kunwind_report_free(&report);
	return found;
}

void sampling_check(const struct sampling *sampling)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	char why[64];
	int tries;

	if (!sampling->hz)
		return;
	/* the module begins some milliseconds after the session */
	for (tries = 0; tries < 100 && !decided(why, sizeof(why)); tries++)
		nanosleep(&pause, NULL);
	if (*why)
		kunwind_tool_error("no samples are taken: %s (of the module parameter sample_clock; "
				   "\"cpu-clock\" needs no counter)", why);
}
