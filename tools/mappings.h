/* SPDX-License-Identifier: MIT */
/*
 * mappings.h - names of kunwind's events, which a trace with stacks needs
 *
 * Readers name frames by what is mapped where, and learn from kunwind_callstack
 * why each stack ended.
 */
#ifndef KUNWIND_MAPPINGS_H
#define KUNWIND_MAPPINGS_H

#define KUNWIND_OWN_EVENTS	\
	"kunwind_map", "kunwind_unmap", "kunwind_exec", "kunwind_fork", "kunwind_exit", \
	"kunwind_callstack"

#endif /* KUNWIND_MAPPINGS_H */
