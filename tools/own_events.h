/* SPDX-License-Identifier: MIT */
/*
 * own_events.h - names of kunwind's events, and the channel that they are in
 *
 * Readers name frames by what is mapped where, and learn from kunwind_callstack
 * why each stack ended. These events need no context: their fields hold what a
 * reader needs. So they are in a channel of their own, without contexts.
 */
#ifndef KUNWIND_OWN_EVENTS_H
#define KUNWIND_OWN_EVENTS_H

#define KUNWIND_OWN_CHANNEL	"kunwind"

#define KUNWIND_OWN_EVENTS	\
	"kunwind_map", "kunwind_unmap", "kunwind_exec", "kunwind_fork", "kunwind_exit", \
	"kunwind_callstack"

/* In the same channel, if CPUs are sampled. */
#define KUNWIND_SAMPLE_EVENT	"kunwind_sample"

/*
 * In the same channel: the threads that are blocked when tracing starts. A worker of the
 * kernel emits it.
 */
#define KUNWIND_BLOCKED_EVENT	"kunwind_blocked"

/*
 * LTTng's list of the files that each process has open when tracing starts. In the
 * same channel, because a worker of the kernel emits them, not the processes.
 */
#define STATE_DUMP_EVENTS	"lttng_statedump_process_state", "lttng_statedump_file_descriptor"

#endif /* KUNWIND_OWN_EVENTS_H */
