/* SPDX-License-Identifier: MIT */
/*
 * syscall.h - names of system calls that LTTng does not name
 */
#ifndef KUNWIND_TRACE_SYSCALL_H
#define KUNWIND_TRACE_SYSCALL_H

#include "event.h"

/*
 * If the event is (compat_)syscall_entry_unknown or (compat_)syscall_exit_unknown,
 * sets head->name to the name with the system call, which stands in the event's
 * field "id": syscall_entry_vfork. A number without a name: syscall_entry_syscall_499.
 */
void kunwind_syscall_name(struct kunwind_head *head, const bt_event *event);

/* Returns the name of a system call; a number without a name: syscall_499, in @text. */
const char *kunwind_syscall_number(bool compat, int64_t number, char *text, size_t size);

/* Returns the system call in the name of an entry or exit event; NULL: it is another event. */
const char *kunwind_syscall_entered(const char *event_name);
const char *kunwind_syscall_left(const char *event_name);

/*
 * Returns the name of a field of an event, for tools that show the fields of a system
 * call's entry and exit together. An exit may repeat a field of the entry, with the
 * value after the call (fds of poll). Then the name is "fds_exit", written to @text.
 */
const char *kunwind_syscall_field(const bt_event *event, const char *field, char *text, size_t size);

/* Forgets the classes of events that kunwind_syscall_field() has seen: their memory is to be freed. */
void kunwind_syscall_forget(void);

#endif /* KUNWIND_TRACE_SYSCALL_H */
