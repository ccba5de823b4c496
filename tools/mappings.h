/* SPDX-License-Identifier: MIT */
/*
 * mappings.h - names of the events that record what is mapped where
 *
 * Readers need these events to name the frames of call stacks. There is no
 * wildcard, because kunwind_* would also enable kunwind_callstack, whose events
 * can take 37 KB each.
 */
#ifndef KUNWIND_MAPPINGS_H
#define KUNWIND_MAPPINGS_H

#define KUNWIND_MAPPING_EVENTS	\
	"kunwind_map", "kunwind_unmap", "kunwind_exec", "kunwind_fork", "kunwind_exit"

#endif /* KUNWIND_MAPPINGS_H */
