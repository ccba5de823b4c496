// SPDX-License-Identifier: MIT
/*
 * guard.c - end with a message if libbabeltrace2 fails in a damaged trace
 *
 * A length in a trace may be any number, and libbabeltrace2 trusts it: the library
 * fails with SIGSEGV, fails an assertion, or takes memory without end. So this
 * process may have half of the machine's memory, and a fatal signal inside the
 * library becomes a message and status 1. Failures of other code keep their signal.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "at_end.h"
#include "guard.h"
#include "tool.h"

void kunwind_guard_memory(void)
{
	const rlim_t most = (rlim_t)sysconf(_SC_PHYS_PAGES) / 2 * (rlim_t)sysconf(_SC_PAGESIZE);
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	setrlimit(RLIMIT_DATA, &limit);
}

void kunwind_guard_enter(void)
{
	static char message[256];	/* begins a line: the library may have printed half a one */

	if (!*message)
		snprintf(message, sizeof(message), "\nkunwind %s: the trace is damaged, or needs more "
			 "memory than is allowed: libbabeltrace2 failed while it read the trace\n",
			 kunwind_tool_name);
	kunwind_at_fault(message);
}

void kunwind_guard_leave(void)
{
	kunwind_at_fault(NULL);
}
