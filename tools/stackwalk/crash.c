// SPDX-License-Identifier: MIT
/*
 * crash.c - the names of a signal and of its code
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "session.h"

#define CODE(signal, code)	{ signal, code, #code }

static const struct {
	int signal, code;
	const char *name;
} codes[] = {
	CODE(SIGILL, ILL_ILLOPC), CODE(SIGILL, ILL_ILLOPN), CODE(SIGILL, ILL_ILLADR),
	CODE(SIGILL, ILL_ILLTRP), CODE(SIGILL, ILL_PRVOPC), CODE(SIGILL, ILL_PRVREG),
	CODE(SIGILL, ILL_COPROC), CODE(SIGILL, ILL_BADSTK),
	CODE(SIGFPE, FPE_INTDIV), CODE(SIGFPE, FPE_INTOVF), CODE(SIGFPE, FPE_FLTDIV),
	CODE(SIGFPE, FPE_FLTOVF), CODE(SIGFPE, FPE_FLTUND), CODE(SIGFPE, FPE_FLTRES),
	CODE(SIGFPE, FPE_FLTINV), CODE(SIGFPE, FPE_FLTSUB),
	CODE(SIGSEGV, SEGV_MAPERR), CODE(SIGSEGV, SEGV_ACCERR), CODE(SIGSEGV, SEGV_BNDERR),
	CODE(SIGSEGV, SEGV_PKUERR),
	CODE(SIGBUS, BUS_ADRALN), CODE(SIGBUS, BUS_ADRERR), CODE(SIGBUS, BUS_OBJERR),
	CODE(SIGTRAP, TRAP_BRKPT), CODE(SIGTRAP, TRAP_TRACE),
	CODE(SIGSYS, 1 /* SYS_SECCOMP */),
	CODE(0, SI_USER), CODE(0, SI_KERNEL), CODE(0, SI_QUEUE), CODE(0, SI_TIMER), CODE(0, SI_TKILL),
};

static const char *code_name(uint32_t signal, int32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code && (!codes[i].signal || codes[i].signal == (int)signal))
			return codes[i].signal == SIGSYS ? "SYS_SECCOMP" : codes[i].name;
	return NULL;
}

void crash_name(const struct dump_crash *crash, char *text, size_t size)
{
	const char *name = crash->signal < 65 ? sigabbrev_np((int)crash->signal) : NULL;
	const char *code = crash->has_code ? code_name(crash->signal, crash->code) : NULL;

	if (!name)
		snprintf(text, size, "signal %u", crash->signal);
	else if (code)
		snprintf(text, size, "SIG%s / %s", name, code);
	else
		snprintf(text, size, "SIG%s", name);
}
