// SPDX-License-Identifier: MIT
/*
 * auto.c - kunwind auto: the whole system registered, or not any more
 */
#include <errno.h>
#include <string.h>
#include <kunwind.h>

#include "report.h"
#include "tool.h"

/* What there was no room for is no error of the call: it is said. */
static void tell_missed(void)
{
	struct kunwind_stats stats;

	if (kunwind_stats(&stats) || !(stats.missed_limit + stats.missed_memory))
		return;
	kunwind_tool_error("processes not registered since the module was loaded: %llu over the "
			   "limit (parameter max_processes), %llu for want of memory",
			   (unsigned long long)stats.missed_limit,
			   (unsigned long long)stats.missed_memory);
}

static int tell_state(void)
{
	struct kunwind_report report;
	const char *state;
	int err = kunwind_report_read(&report);

	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_FAILED;
	}
	state = kunwind_report_value(&report, "param", "auto", 2);
	printf("%s\n", state && *state == 'Y' ? "on" : "off");
	kunwind_report_free(&report);
	return TOOL_OK;
}

int kunwind_cmd_auto(int argc, char **argv)
{
	bool on = argc == 2 && !strcmp(argv[1], "on");
	int err;

	if (argc == 1)
		return tell_state();
	if (argc > 2 || (!on && strcmp(argv[1], "off") != 0)) {
		kunwind_tool_error("on or off, not: %s", argv[argc > 2 ? 2 : 1]);
		return kunwind_tool_usage(TOOL_FAILED);
	}
	err = kunwind_auto(on);
	if (err == -EPERM) {
		kunwind_tool_error("the whole system is root's to register: use sudo");
		return TOOL_FAILED;
	}
	if (err) {
		kunwind_tool_failure(NULL, err);
		return TOOL_FAILED;
	}
	if (on)
		tell_missed();
	return TOOL_OK;
}
