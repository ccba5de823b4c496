/* SPDX-License-Identifier: MIT */
/*
 * pager.h - show the output of a command in a pager, as git does
 */
#ifndef KUNWIND_PAGER_H
#define KUNWIND_PAGER_H

/*
 * If standard output is a terminal and there is a pager: starts it, and a process that goes on as
 * the command. Returns -1 in the process that is the command; in the other one, which waits for
 * both, the exit status.
 */
int kunwind_pager(void);

#endif /* KUNWIND_PAGER_H */
