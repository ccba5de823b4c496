// SPDX-License-Identifier: MIT
/*
 * left_over.c - ask kunwind-record for what killed recorders and daemons of LTTng have left
 *
 * Only that program uses liblttng-ctl. If it cannot run, no session is found.
 */
#include <stdio.h>
#include <string.h>

#include "left_over.h"
#include "read_all.h"
#include "tool.h"

/* Writes the output of kunwind-record with an option. Returns false if it cannot run. */
static bool ask(const char *option, char *text, size_t size)
{
	char path[4096], *argv[] = { path, (char *)option, NULL };

	return kunwind_tool_helper("kunwind-record", path, sizeof(path)) &&
	       kunwind_read_output(path, argv, text, size) != -1;
}

bool kunwind_consumer_ended(void)
{
	char text[16];

	return ask("--consumer-ended", text, sizeof(text)) && !strncmp(text, "yes", 3);
}

bool kunwind_left_over(char *fix, size_t size)
{
	char text[4096];
	static const char next[] = "; sudo lttng destroy ";
	char *line, *at = text;
	size_t used;

	*fix = '\0';
	if (!ask("--left-over", text, sizeof(text)))
		return false;
	while ((line = strsep(&at, "\n"))) {
		line[strcspn(line, "\t")] = '\0';
		used = strlen(fix);
		if (*line && used + strlen(line) + sizeof(next) < size)
			sprintf(fix + used, "%s%s", next + (used ? 0 : 2), line);
	}
	return *fix;
}
