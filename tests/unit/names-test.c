/* SPDX-License-Identifier: MIT */
/*
 * names-test.c - each reason, build error and trust has its own name
 */
#include <ctype.h>

#include "../../kmod/core/kunwind_core.h"
#include "tap.h"

static void check(const char *what, const char *(*name)(unsigned int), unsigned int nr)
{
	unsigned int i, j, bad = 0;
	const char *p;

	for (i = 0; i < nr; i++) {
		bad += !strcmp(name(i), "?");
		for (p = name(i); *p; p++)
			bad += !islower(*p) && !isdigit(*p) && *p != '_';
		for (j = 0; j < i; j++)
			bad += !strcmp(name(i), name(j));
	}
	tap_ok(!bad, "%s: all %u names are lower case and differ", what, nr);
	tap_ok(!strcmp(name(nr),
		       "?") && !strcmp(name(~0U),
				       "?"), "%s: the name of an unknown number is \"?\"", what);
}

int main(void)
{
	check("reasons", kunwind_reason_name, KUNWIND_NR_REASONS);
	check("build errors", kunwind_build_error_name, KUNWIND_NR_BUILD_ERRORS);
	check("trusts", kunwind_trust_name, KUNWIND_NR_TRUSTS);
	tap_ok(!strcmp(kunwind_reason_name(KUNWIND_CFA_STUCK), "cfa_stuck") &&
	       !strcmp(kunwind_build_error_name(KUNWIND_E_STATE_STACK), "state_stack"),
	       "names: reason and build error are named like their enumerators");
	return tap_done();
}
