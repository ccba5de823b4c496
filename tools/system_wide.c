// SPDX-License-Identifier: MIT
/*
 * system_wide.c - kunwind system-wide: register all processes of the system, or stop doing so
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <kunwind.h>

#include "report.h"
#include "tool.h"

/* Returns how many running processes are not registered yet. */
static unsigned long pending_of(const struct kunwind_report *report)
{
	const char *pending = kunwind_report_value(report, "stat", "system_wide_pending", 2);

	return pending ? strtoul(pending, NULL, 10) : 0;
}

/*
 * Prints how many processes are not registered. The call that switched "system_wide"
 * on does not fail because of them.
 */
static void report_missing(void)
{
	struct kunwind_report report;
	struct kunwind_stats stats;
	unsigned long pending;

	if (!kunwind_report_read(&report)) {
		pending = pending_of(&report);
		kunwind_report_free(&report);
		if (pending)
			kunwind_tool_error("%lu process%s not registered yet, because of a locked "
					   "memory map: the module tries again (kunwind status)",
					   pending, pending == 1 ? " is" : "es are");
	}
	if (kunwind_stats(&stats) || !(stats.missed_limit + stats.missed_memory))
		return;
	kunwind_tool_error("processes not registered since the module was loaded: %llu over the "
			   "limit (parameter max_processes), %llu for want of memory",
			   (unsigned long long)stats.missed_limit,
			   (unsigned long long)stats.missed_memory);
}

static int print_state(bool json)
{
	struct kunwind_report report;
	struct kunwind_stats stats;
	const char *state;
	int err = kunwind_report_read(&report);

	if (!err && json)
		err = kunwind_stats(&stats);
	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_FAILED;
	}
	state = kunwind_report_value(&report, "param", "system_wide", 2);
	if (json)
		printf("{\"system_wide\": %s, \"pending\": %lu, \"missed_limit\": %llu, "
		       "\"missed_memory\": %llu}\n",
		       state && *state == 'Y' ? "true" : "false", pending_of(&report),
		       (unsigned long long)stats.missed_limit,
		       (unsigned long long)stats.missed_memory);
	else
		printf("%s\n", state && *state == 'Y' ? "on" : "off");
	kunwind_report_free(&report);
	return TOOL_OK;
}

static int set_state(bool on)
{
	int err = kunwind_system_wide(on);

	if (err == -EPERM)
		kunwind_tool_error("only root may register the whole system: use sudo");
	else if (err)
		kunwind_tool_failure(NULL, err);
	else if (on)
		report_missing();
	return err ? TOOL_FAILED : TOOL_OK;
}

int kunwind_cmd_system_wide(int argc, char **argv)
{
	bool json = argc > 1 && kunwind_tool_is(argv[1], "--json");
	int i = 1 + json, status;
	bool on = argc == i + 1 && !strcmp(argv[i], "on");

	if (argc == i)
		return print_state(json);
	if (argc > i + 1 || (!on && strcmp(argv[i], "off") != 0)) {
		kunwind_tool_error("the argument is on or off, not: %s", argv[argc > i + 1 ? i + 1 : i]);
		return kunwind_tool_usage(TOOL_USAGE);
	}
	status = set_state(on);
	return status == TOOL_OK && json ? print_state(true) : status;
}
