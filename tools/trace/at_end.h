/* SPDX-License-Identifier: MIT */
/*
 * at_end.h - remove temporary files when the program ends, also by a signal
 */
#ifndef KUNWIND_AT_END_H
#define KUNWIND_AT_END_H

#include <signal.h>

/*
 * Calls @remove when this process ends by exit(3) or by a common fatal signal. Only
 * signals that have their default action at the first call in this process are
 * handled. @remove may call only async-signal-safe functions. A second call with
 * the same function has no effect; a process can register at most four functions.
 * @remove is not called after SIGKILL, in a child process, or if a handler that is
 * set later calls _exit(2).
 */
void kunwind_at_end(void (*remove)(void));

/*
 * From now on, a signal by which the program itself fails (SIGSEGV, SIGABRT, SIGBUS,
 * SIGTRAP, SIGILL, SIGFPE) prints @message, which must stay valid, and ends the
 * process with status 1. NULL: such a signal has its default action again.
 */
void kunwind_at_fault(const char *message);

/* Blocks all signals while what @remove reads is changed; @old is for unblocking. */
void kunwind_block_signals(sigset_t *old);
void kunwind_unblock_signals(const sigset_t *old);

#endif
