/* SPDX-License-Identifier: MIT */
/*
 * at_end.h - remove temporary files when the program ends, also by a signal
 */
#ifndef KUNWIND_AT_END_H
#define KUNWIND_AT_END_H

#include <signal.h>

/*
 * Lets @remove be called when this process ends: by exit(3), or by a signal that
 * has its default action now. @remove may call async-signal-safe functions only.
 * Giving it again changes nothing. Not called: after SIGKILL, in a child process,
 * and if a handler that is set later ends the process by _exit(2). At most four
 * functions.
 */
void kunwind_at_end(void (*remove)(void));

/* Blocks all signals while what @remove reads is changed; @old is for unblocking. */
void kunwind_block_signals(sigset_t *old);
void kunwind_unblock_signals(const sigset_t *old);

#endif
