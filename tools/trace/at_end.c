// SPDX-License-Identifier: MIT
/*
 * at_end.c - remove temporary files when the program ends, also by a signal
 *
 * One handler for all parts of the program that have such files: if each part set
 * a handler of its own, the last one would hide the others. A library that fails
 * with such a signal ends the program with a message and status 1.
 */
#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "at_end.h"

/* Changed only while signals are blocked. */
static struct {
	pid_t process;
	unsigned int nr;
	void (*remove[4])(void);
} ends;

static const char *volatile fault;	/* message of such a signal; NULL: the signal's default action */

static void remove_all(void)
{
	while (ends.process == getpid() && ends.nr)
		ends.remove[--ends.nr]();
}

static bool is_fault(int number)
{
	return number == SIGABRT || number == SIGSEGV || number == SIGBUS || number == SIGTRAP ||
	       number == SIGILL || number == SIGFPE;
}

static void on_fatal(int number, siginfo_t *info, void *context)
{
	/* not if another process sent it */
	const char *message = is_fault(number) && info->si_code != SI_USER ? fault : NULL;

	(void)context;

	remove_all();
	if (message) {
		ssize_t written = write(STDERR_FILENO, message, strlen(message));

		(void)written;
		_exit(1);
	}
	raise(number);		/* SA_RESETHAND: now with its default action */
}

void kunwind_block_signals(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, old);
}

void kunwind_unblock_signals(const sigset_t *old)
{
	sigprocmask(SIG_SETMASK, old, NULL);
}

static void handle_fatal(void)
{
	static const int fatal[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM, SIGXCPU,
				     SIGXFSZ, SIGABRT, SIGSEGV, SIGBUS, SIGTRAP, SIGILL, SIGFPE,
				     SIGUSR1, SIGUSR2 };
	const struct sigaction action = { .sa_sigaction = on_fatal, .sa_flags = SA_RESETHAND | SA_SIGINFO };
	struct sigaction old;
	size_t i;

	atexit(remove_all);
	for (i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		if (!sigaction(fatal[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(fatal[i], &action, NULL);
}

/* Handles fatal signals from now on, if this process does not yet. */
static void prepare(void)
{
	if (ends.process == getpid())
		return;
	ends.process = getpid();
	ends.nr = 0;
	handle_fatal();
}

void kunwind_at_fault(const char *message)
{
	sigset_t old;

	/* for each event: no system call; a child process has the handlers, too */
	if (!ends.process) {
		kunwind_block_signals(&old);
		prepare();
		kunwind_unblock_signals(&old);
	}
	fault = message;
}

void kunwind_at_end(void (*remove)(void))
{
	unsigned int i;
	sigset_t old;

	kunwind_block_signals(&old);
	prepare();
	for (i = 0; i < ends.nr && ends.remove[i] != remove; i++)
		;
	assert(i < sizeof(ends.remove) / sizeof(ends.remove[0]));
	ends.remove[i] = remove;
	if (i == ends.nr)
		ends.nr++;
	kunwind_unblock_signals(&old);
}
