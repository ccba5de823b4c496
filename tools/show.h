/* SPDX-License-Identifier: MIT */
#ifndef KUNWIND_SHOW_H
#define KUNWIND_SHOW_H

/* The subcommand; argv[0] is its name. Return: exit status. */
int kunwind_cmd_show(int argc, char **argv);

#endif /* KUNWIND_SHOW_H */
