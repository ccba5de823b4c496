/* SPDX-License-Identifier: MIT */
/*
 * report_names.h - names in reports of crashes: of si_code, of registers, and of how a frame
 * was found
 *
 * Any context, a signal handler too.
 */
#ifndef _KUNWIND_REPORT_NAMES_H
#define _KUNWIND_REPORT_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <kunwind/unwind.h>

/* Returns a name like "SEGV_MAPERR", or NULL. */
const char *kunwind_signal_code(uint32_t signal, int32_t code);

/* Whether siginfo_t has an address: si_code says that the kernel sent the signal, not a process. */
bool kunwind_signal_has_address(uint32_t signal, int32_t code);

/* In the order of struct kunwind_registers. */
extern const char *const kunwind_report_register[KUNWIND_NR_REGISTERS];

const char *kunwind_trust_name(unsigned int trust);

/* The names that minidump stackwalkers have, where they have one. */
static inline const char *kunwind_report_trust(unsigned int trust)
{
	switch (trust) {
	case KUNWIND_TRUST_REGISTERS:
		return "context";
	case KUNWIND_TRUST_FP:
		return "frame_pointer";
	default:
		return kunwind_trust_name(trust);
	}
}

#endif /* _KUNWIND_REPORT_NAMES_H */
