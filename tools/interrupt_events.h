/* SPDX-License-Identifier: MIT */
/*
 * interrupt_events.h - names of the events of interrupts, and the channel that they
 * are in
 *
 * A wakeup in an interrupt occurs in the thread that the interrupt stopped, which
 * has nothing to do with the wakeup. These events say when a processor is in an
 * interrupt. They need no context, so they are in a channel of their own.
 *
 * The vectors are those that can wake a thread. The others only make a
 * processor schedule, or flush its TLB.
 */
#ifndef KUNWIND_INTERRUPT_EVENTS_H
#define KUNWIND_INTERRUPT_EVENTS_H

#define INTERRUPT_CHANNEL	"interrupts"

#define INTERRUPT_HANDLER	"irq_handler_"
#define INTERRUPT_SOFT		"irq_softirq_"
#define INTERRUPT_VECTOR	"x86_irq_vectors_"

#define INTERRUPT_EVENTS \
	INTERRUPT_HANDLER "entry", INTERRUPT_HANDLER "exit", \
	INTERRUPT_SOFT "raise", INTERRUPT_SOFT "entry", INTERRUPT_SOFT "exit", \
	INTERRUPT_VECTOR "local_timer_entry", INTERRUPT_VECTOR "local_timer_exit", \
	INTERRUPT_VECTOR "irq_work_entry", INTERRUPT_VECTOR "irq_work_exit", \
	INTERRUPT_VECTOR "call_function_entry", INTERRUPT_VECTOR "call_function_exit", \
	INTERRUPT_VECTOR "call_function_single_entry", \
	INTERRUPT_VECTOR "call_function_single_exit"

#endif /* KUNWIND_INTERRUPT_EVENTS_H */
