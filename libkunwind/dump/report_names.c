// SPDX-License-Identifier: MIT
/*
 * report_names.c - names of si_code and of registers; see report_names.h
 */
#include <signal.h>
#include <stddef.h>

#include "report_names.h"

const char *const kunwind_report_register[KUNWIND_NR_REGISTERS] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15", "rip",
};

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

const char *kunwind_signal_code(uint32_t signal, int32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code && (!codes[i].signal || codes[i].signal == (int)signal))
			return codes[i].signal == SIGSYS ? "SYS_SECCOMP" : codes[i].name;
	return NULL;
}

bool kunwind_signal_has_address(uint32_t signal, int32_t code)
{
	return code > 0 && code < SI_KERNEL && (signal == SIGILL || signal == SIGTRAP || signal == SIGBUS ||
						signal == SIGFPE || signal == SIGSEGV);
}
