/* SPDX-License-Identifier: MIT */
/*
 * show_stack.h - the addresses of an event's call stack
 */
#ifndef KUNWIND_SHOW_STACK_H
#define KUNWIND_SHOW_STACK_H

#include <babeltrace2/babeltrace.h>
#include <stddef.h>
#include <stdint.h>

/* LTTng's own limit of its context. */
#define KUNWIND_STACK_LTTNG_MAX	128
/* Of the event kunwind_callstack; longer ones are cut. */
#define KUNWIND_STACK_MAX	4096

/*
 * The addresses of the field @name ("callstack_user"), innermost first, without
 * LTTng's mark of the end. @address: room for KUNWIND_STACK_MAX. Return: how
 * many; 0 also when the event has no such field.
 */
size_t kunwind_stack_read(const bt_event *event, const char *name, uint64_t *address);

#endif /* KUNWIND_SHOW_STACK_H */
