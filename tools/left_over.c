// SPDX-License-Identifier: MIT
/*
 * left_over.c - ask kunwind-record for sessions that killed recorders have left
 *
 * Only that program uses liblttng-ctl. If it cannot run, no session is found.
 */
#include <stdio.h>
#include <string.h>

#include "left_over.h"
#include "read_all.h"
#include "tool.h"

bool kunwind_left_over(char *fix, size_t size)
{
	char path[4096], text[4096], *argv[] = { path, (char *)"--left-over", NULL };
	static const char next[] = "; sudo lttng destroy ";
	char *line, *at = text;
	size_t used;

	*fix = '\0';
	if (!kunwind_tool_helper("kunwind-record", path, sizeof(path)) ||
	    kunwind_read_output(path, argv, text, sizeof(text)) == -1)
		return false;
	while ((line = strsep(&at, "\n"))) {
		line[strcspn(line, "\t")] = '\0';
		used = strlen(fix);
		if (*line && used + strlen(line) + sizeof(next) < size)
			sprintf(fix + used, "%s%s", next + (used ? 0 : 2), line);
	}
	return *fix;
}
