// SPDX-License-Identifier: MIT
/*
 * deliver.c - two signals delivered at once, and handlers that change where the
 * interrupted code continues
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#define NOINLINE __attribute__((__noinline__))

static volatile int sink;

static NOINLINE int leaf(int n)
{
	return n + sink;
}

static void inner(int signal)
{
	sink += leaf(signal) & 1;
}

static void skip(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)info;
	sink += leaf(signal) & 1;
	at->uc_mcontext.gregs[REG_RIP] += 2;
	sink += leaf(signal) & 1;
}

/* Continues as if the function, interrupted at its entry, had returned. */
static void leave(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)info;
	at->uc_mcontext.gregs[REG_RIP] = *(long long *)at->uc_mcontext.gregs[REG_RSP];
	at->uc_mcontext.gregs[REG_RSP] += 8;
	sink += leaf(signal) & 1;
}

static NOINLINE int invalid(void)
{
	asm volatile("ud2");
	return leaf(3);
}

static NOINLINE int nowhere(void)
{
	void (*volatile function)(void) = NULL;

	function();
	return leaf(4);
}

static NOINLINE int both(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return leaf(5);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = skip, .sa_flags = SA_SIGINFO };

	signal(SIGUSR1, inner);
	signal(SIGUSR2, inner);
	sigaction(SIGILL, &action, NULL);
	action.sa_sigaction = leave;
	sigaction(SIGSEGV, &action, NULL);
	sink += both() + invalid() + nowhere();
	return 0;
}
