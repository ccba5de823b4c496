// SPDX-License-Identifier: MIT
/*
 * main.c - kunwind-analyze, the program behind "kunwind report", "waits",
 * "export" and "flamegraph": dispatch, common options, output
 *
 * libjansson writes all JSON.
 */
#include <string.h>

#include "analyze.h"
#include "tool.h"

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
		{ "report", analyze_report },
		{ "export", analyze_export },
		{ "flamegraph", analyze_flamegraph },
		{ "waits", analyze_waits },
	};
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		kunwind_tool_name = commands[i].name;
		if (!strncmp(argv[0], "kunwind ", 8) && !strcmp(argv[0] + 8, commands[i].name))
			return commands[i].run(argc, argv);
	}
	fprintf(stderr, "kunwind-analyze: run it as kunwind report, waits, export or flamegraph\n");
	return TOOL_FAILED;
}
