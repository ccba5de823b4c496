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

/*
 * The context of other events, 64 bits: below, the thread's number; above it, the
 * lower bits of the id of the event's user stack, which an event kunwind_callstack
 * of the same trace and processor defines (kunwind(4)). The upper bits of the id are
 * the processor. If KUNWIND_STACK_NONE is set, there is no stack, and the bits of the
 * id are the process's number. kmod/stack/stack_context.c writes it.
 */
#define KUNWIND_STACK_ID	"kunwind_stack"
#define KUNWIND_STACK_TID_BITS	22
#define KUNWIND_STACK_ID_BITS	41
#define KUNWIND_STACK_NONE	(UINT64_C(1) << 63)

/*
 * With kernel stacks: the context with the id of the event's kernel stack (0: none), and the
 * event that defines it. No user stack has the same id.
 */
#define KUNWIND_KERNEL_STACK_ID	"kunwind_kernel_stack"
#define KUNWIND_KERNEL_STACK_EVENT	"kunwind_kernel_callstack"

/* Values of config of the PMU "kunwind", which these contexts are. */
#define KUNWIND_PMU_USER	0
#define KUNWIND_PMU_KERNEL	1

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
