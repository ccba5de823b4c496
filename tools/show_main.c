// SPDX-License-Identifier: MIT
/*
 * show_main.c - kunwind-show, the program behind "kunwind show" and "kunwind crashes"
 *
 * This is a separate program because it needs some ten libraries to read traces
 * and symbols. If kunwind(1) were linked to them, "kunwind run" would make the
 * module build their tables before it executes the command.
 */
#include <string.h>

#include "show_crashes.h"
#include "tool.h"

int main(int argc, char **argv)
{
	if (!strcmp(argv[0], "kunwind crashes")) {
		kunwind_tool_name = "crashes";
		return kunwind_cmd_crashes(argc, argv);
	}
	kunwind_tool_name = "show";
	return kunwind_cmd_show(argc, argv);
}
