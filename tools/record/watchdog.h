/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - end the program if what it waits for does not answer
 */
#ifndef KUNWIND_RECORD_WATCHDOG_H
#define KUNWIND_RECORD_WATCHDOG_H

#include <signal.h>
#include <stdbool.h>

/* Whose answer is waited for: the first words of the message. */
#define WATCH_DAEMON	"LTTng's session daemon"
#define WATCH_MODULE	"the module kunwind"

/* How many times the usual limit (60 s) something may take. */
#define WATCH_USUAL	1
#define WATCH_DISK	5	/* LTTng writes all that is in its buffers */
#define WATCH_ANY	0	/* no limit; a signal still ends the wait */

/**
 * watchdog_begin() - begin to watch
 * @signals: the signals that end the program, and SIGCHLD if it matters. All are
 *	blocked. NULL: signals keep their default action.
 * @status: exit status if this thread ends the program
 * @give_up: called once, in another thread, before the program ends by force;
 *	it must not wait. May be NULL.
 * Return: a descriptor from which watchdog_signal() reads, -1 without @signals;
 * -2 after a message on stderr.
 */
int watchdog_begin(const sigset_t *signals, int status, void (*give_up)(void));

/*
 * The calling thread now waits for @who's answer to @what, for at most @limit.
 * What it waited for before has been answered. Up to two threads may call this.
 */
void watchdog_wait(const char *who, const char *what, int limit);

/*
 * The calling thread waits for nothing that is limited. In the thread that has
 * called watchdog_begin(): from now on, signals are for it alone
 * (watchdog_signal()), until it calls watchdog_wait().
 */
void watchdog_idle(void);

/* Reads the next signal from the descriptor of watchdog_begin(). Blocks. */
int watchdog_signal(int descriptor);

/* Returns whether a signal has come that asks the program to end while it waited. */
bool watchdog_interrupted(void);

#endif /* KUNWIND_RECORD_WATCHDOG_H */
