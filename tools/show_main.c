// SPDX-License-Identifier: MIT
/*
 * show_main.c - kunwind-show, the program behind "kunwind show"
 *
 * This is a separate program because it needs some ten libraries to read traces
 * and symbols. If kunwind(1) were linked to them, "kunwind run" would make the
 * module build their tables before it executes the command.
 */
#include "tool.h"

int main(int argc, char **argv)
{
	kunwind_tool_name = "show";
	return kunwind_cmd_show(argc, argv);
}
