// SPDX-License-Identifier: MIT
/*
 * show_main.c - kunwind-show, the program behind "kunwind show"
 *
 * A program of its own for the sake of all other subcommands: the libraries
 * that read traces and symbols bring some ten more, which "kunwind run" would
 * have the module read before it becomes the command.
 */
#include "tool.h"

int main(int argc, char **argv)
{
	return kunwind_cmd_show(argc, argv);
}
