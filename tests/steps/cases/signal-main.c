// SPDX-License-Identifier: MIT
/*
 * signal-main.c - handlers with and without CFI, libc's restorer and another
 * one, an alternate stack, one signal inside another
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void bare_handler(int signal);
void bare_restorer(void);
void inside_restorer(void);

struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

int handled(void)
{
	return abs(-3);
}

static void inner(int signal)
{
	handled();
	if (signal == SIGUSR1)
		raise(SIGUSR2);
}

static void with(void (*handler)(int), void (*restorer)(void), int flags)
{
	struct action action = { handler, flags | 0x04000000, restorer, 0 };
	struct sigaction libc;

	if (!restorer) {
		/* libc's own. */
		sigaction(SIGUSR1, NULL, &libc);
		libc.sa_handler = handler;
		libc.sa_flags = flags;
		sigaction(SIGUSR1, &libc, NULL);
	} else {
		syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8);
	}
	raise(SIGUSR1);
}

int main(void)
{
	static char other[32768];
	const stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };

	sigaltstack(&stack, NULL);
	signal(SIGUSR2, inner);
	with(inner, NULL, 0);
	with(inner, NULL, SA_ONSTACK);
	with(bare_handler, NULL, 0);
	with(bare_handler, NULL, SA_ONSTACK);
	with(inner, bare_restorer, 0);
	with(bare_handler, bare_restorer, 0);
	with(inner, inside_restorer, 0);
	with(bare_handler, inside_restorer, 0);
	return 0;
}
