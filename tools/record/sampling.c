// SPDX-License-Identifier: MIT
/*
 * sampling.c - set how CPUs are sampled, for the time of a recording
 *
 * The frequency, whether all tasks are sampled, and whether all processes are
 * registered, are parameters of the module, so they hold for all sessions, and only
 * root can set them (setting.c). A recorder that is killed leaves them as they are,
 * until the next one ends.
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

#ifndef PARAMETERS
#define PARAMETERS	"/sys/module/kunwind/parameters/"
#endif

static bool read_parameter(const struct setting_kind *kind, char *value)
{
	char path[128];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), PARAMETERS "%s", kind->name);
	file = fopen(path, "re");
	ok = file && fgets(value, SETTING_SIZE, file);
	if (file)
		fclose(file);
	value[ok ? strcspn(value, "\n") : 0] = '\0';
	return ok;
}

static bool write_parameter(const struct setting_kind *kind, const char *value)
{
	char path[128];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), PARAMETERS "%s", kind->name);
	file = fopen(path, "we");
	ok = file && fputs(value, file) >= 0;
	return file && !fclose(file) && ok;
}

static bool register_all(const struct setting_kind *kind, const char *value)
{
	int err = kunwind_system_wide(*value == 'Y');

	(void)kind;
	errno = err < 0 ? -err : 0;
	return !err;
}

static const struct setting_kind frequency = { "sample_frequency", read_parameter, write_parameter };
static const struct setting_kind every_task = { "sample_all", read_parameter, write_parameter };
static const struct setting_kind system_wide = { "system_wide", read_parameter, register_all };

/* Sets a parameter. Returns false after a message. */
static bool set(struct setting *setting, const struct setting_kind *kind, const char *value)
{
	switch (setting_begin(setting, kind, value)) {
	case SETTING_DONE:
		return true;
	case SETTING_UNREADABLE:
		kunwind_tool_error(PARAMETERS "%s: %s: this kunwind.ko takes no samples: install the "
				   "module of this version", kind->name, strerror(errno));
		break;
	case SETTING_OTHER:
		kunwind_tool_error("another recording needs the parameter %s to be %s, not %s: use its "
				   "frequency (-F %s), or wait for its end", kind->name, setting->before,
				   value, setting->before);
		break;
	case SETTING_REFUSED:
		if (kind == &system_wide)
			kunwind_tool_failure("register all processes", -errno);
		else
			kunwind_tool_error(PARAMETERS "%s: %s: only root can change it from %s to %s: "
					   "use sudo", kind->name, strerror(errno), setting->before, value);
		break;
	}
	return false;
}

bool sampling_begin(struct sampling *sampling)
{
	char hz[SETTING_SIZE];

	if (!sampling->hz)
		return true;
	snprintf(hz, sizeof(hz), "%u", sampling->hz);
	return set(&sampling->frequency, &frequency, hz) &&
	       (!sampling->all || (set(&sampling->every_task, &every_task, "Y") &&
				   set(&sampling->system_wide, &system_wide, "Y")));
}

void sampling_restore(struct sampling *sampling)
{
	setting_restore(&sampling->frequency);
	setting_restore(&sampling->every_task);
	setting_restore(&sampling->system_wide);
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
