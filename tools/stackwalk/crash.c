// SPDX-License-Identifier: MIT
/*
 * crash.c - name a signal and its code
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "report_names.h"

void crash_name(const struct dump_crash *crash, char *text, size_t size)
{
	const char *name = crash->signal < 65 ? sigabbrev_np((int)crash->signal) : NULL;
	const char *code = crash->has_code ? kunwind_signal_code(crash->signal, crash->code) : NULL;

	if (!name)
		snprintf(text, size, "signal %u", crash->signal);
	else if (code)
		snprintf(text, size, "SIG%s / %s", name, code);
	else
		snprintf(text, size, "SIG%s", name);
}
