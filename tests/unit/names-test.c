/* SPDX-License-Identifier: MIT */
/*
 * names-test.c - each reason, build error, trust and method has its own name
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

/* The table of methods in the documentation has all of them, in their order. */
static void documented(void)
{
	FILE *file = fopen("../../docs/unwinding.md", "r");
	unsigned int next = KUNWIND_BY_CFI + 1;
	char line[400], row[64];

	while (file && fgets(line, sizeof(line), file)) {
		snprintf(row, sizeof(row), "| `%s` | ", kunwind_method_name(next));
		next += !strncmp(line, row, strlen(row));
	}
	if (file)
		fclose(file);
	tap_ok(next == KUNWIND_BY_URETPROBE && KUNWIND_BY_ROW + 1 == KUNWIND_NR_METHODS,
	       "methods: docs/unwinding.md lists all in their order");
}

int main(void)
{
	documented();
	check("reasons", kunwind_reason_name, KUNWIND_NR_REASONS);
	check("build errors", kunwind_build_error_name, KUNWIND_NR_BUILD_ERRORS);
	check("trusts", kunwind_trust_name, KUNWIND_NR_TRUSTS);
	check("methods", kunwind_method_name, KUNWIND_NR_METHODS);
	tap_ok(!strcmp(kunwind_reason_name(KUNWIND_CFA_STUCK), "cfa_stuck") &&
	       !strcmp(kunwind_build_error_name(KUNWIND_E_STATE_STACK), "state_stack"),
	       "names: reason and build error are named like their enumerators");
	return tap_done();
}
