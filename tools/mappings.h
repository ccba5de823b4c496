/* SPDX-License-Identifier: MIT */
/*
 * mappings.h - the events that tell a reader of call stacks what is mapped where
 *
 * By name, not kunwind_*: that would be kunwind_callstack too, of which an event
 * can take 37 KB.
 */
#ifndef KUNWIND_MAPPINGS_H
#define KUNWIND_MAPPINGS_H

#define KUNWIND_MAPPING_EVENTS	\
	"kunwind_map", "kunwind_unmap", "kunwind_exec", "kunwind_fork", "kunwind_exit"

#endif /* KUNWIND_MAPPINGS_H */
