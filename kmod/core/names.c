// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * names.c - names of stop reasons, build errors, trusts and methods, for people
 * and scripts
 *
 * Any context. The names are constant strings.
 */
#include "kunwind_core.h"
#include "names.h"

#define NAMED(reason, name)	[KUNWIND_##reason] = name,
static const char *const reasons[] = { KUNWIND_REASON_NAMES(NAMED) };
#undef NAMED

static const char *const build_errors[] = {
	[KUNWIND_OK]			= "ok",
	[KUNWIND_E_NOMEM]		= "nomem",
	[KUNWIND_E_IO]			= "io",
	[KUNWIND_E_NOT_ELF]		= "not_elf",
	[KUNWIND_E_HEADER]		= "header",
	[KUNWIND_E_NO_CFI]		= "no_cfi",
	[KUNWIND_E_TRUNCATED]		= "truncated",
	[KUNWIND_E_CIE]			= "cie",
	[KUNWIND_E_VERSION]		= "version",
	[KUNWIND_E_AUGMENTATION]	= "augmentation",
	[KUNWIND_E_ENCODING]		= "encoding",
	[KUNWIND_E_RANGE]		= "range",
	[KUNWIND_E_OPCODE]		= "opcode",
	[KUNWIND_E_OPERAND]		= "operand",
	[KUNWIND_E_EXPRESSION]		= "expression",
	[KUNWIND_E_STATE_STACK]		= "state_stack",
	[KUNWIND_E_LIMIT]		= "limit",
	[KUNWIND_E_ABORTED]		= "aborted",
	[KUNWIND_E_OVERLAP]		= "overlap",
};

static const char *const trusts[] = {
	[KUNWIND_TRUST_REGISTERS]	= "registers",
	[KUNWIND_TRUST_CFI]		= "cfi",
	[KUNWIND_TRUST_URETPROBE]	= "uretprobe",
	[KUNWIND_TRUST_SIGNAL]		= "signal",
	[KUNWIND_TRUST_CODE]		= "code",
	[KUNWIND_TRUST_FP]		= "fp",
	[KUNWIND_TRUST_SCAN]		= "scan",
};

#define NAMED(id, name, trust, frames, try)	[KUNWIND_BY_##id] = name,
static const char *const methods[] = {
	[KUNWIND_BY_CFI]		= "cfi",
	KUNWIND_METHODS(NAMED)
	[KUNWIND_BY_URETPROBE]		= "uretprobe",
	[KUNWIND_BY_ROW]		= "row",
};
#undef NAMED

const char *kunwind_reason_name(unsigned int reason)
{
	return reason < ARRAY_SIZE(reasons) && reasons[reason] ? reasons[reason] : "?";
}

const char *kunwind_build_error_name(unsigned int err)
{
	return err < ARRAY_SIZE(build_errors) && build_errors[err] ? build_errors[err] : "?";
}

const char *kunwind_trust_name(unsigned int trust)
{
	return trust < ARRAY_SIZE(trusts) && trusts[trust] ? trusts[trust] : "?";
}

const char *kunwind_method_name(unsigned int method)
{
	return method < ARRAY_SIZE(methods) && methods[method] ? methods[method] : "?";
}
