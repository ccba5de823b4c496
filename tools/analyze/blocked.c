// SPDX-License-Identifier: MIT
/*
 * blocked.c - threads that were blocked when the recording began (kunwind_blocked)
 *
 * Such a thread has no event before, and possibly none later. Its event, which a
 * worker of the kernel emits, has its stack and its system call. samples.c begins a
 * time off the CPU with it, which ends as any other. This file keeps what the event
 * says besides.
 *
 * The holder of a lock is what the lock's memory said. By the protocol of futex(2),
 * robust and priority-inheriting locks have it there. The kernel module takes it from a
 * place of glibc's mutexes, too, where other code has other things: so it counts only
 * if a function on the stack waits for a lock (wrappers.c).
 *
 * Memory: 128 bytes for each such thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocked.h"
#include "lock_kind.h"
#include "samples.h"
#include "trace/syscall.h"

/* The name of an enumeration's value in the trace; "" if it has none. */
static const char *label(const bt_event *event, const char *name)
{
	const bt_field *field = kunwind_event_field(event, name);
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t nr = 0;

	if (!field || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION ||
	    bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &nr) || !nr)
		return "";
	return labels[0];
}

const char *blocked_cause(const bt_event *event, char *text, size_t size)
{
	const char *state = label(event, "state");
	int64_t number = kunwind_event_integer(event, "syscall", 0);

	if (number >= 0)
		return kunwind_syscall_number(kunwind_event_integer(event, "compat", 0), number, text, size);
	/* the kernel stops a thread on its way back to the program */
	return !strcmp(state, "sleeping") || !strcmp(state, "uninterruptible") || !*state ?
		"no system call" : state;
}

static void read_args(const bt_event *event, uint64_t *args)
{
	const bt_field *array = kunwind_event_field(event, "args");
	const bt_field *element;
	uint64_t i, nr;

	if (!array || !bt_field_class_type_is(bt_field_get_class_type(array), BT_FIELD_CLASS_TYPE_ARRAY))
		return;
	nr = bt_field_array_get_length(array);
	for (i = 0; i < nr && i < BLOCKED_ARGS; i++) {
		element = bt_field_array_borrow_element_field_by_index_const(array, i);
		if (bt_field_class_type_is(bt_field_get_class_type(element),
					   BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
			args[i] = bt_field_integer_unsigned_get_value(element);
	}
}

/* The function that waits says so, or the operation does. */
static bool is_lock(struct samples *samples, const struct blocked_thread *thread)
{
	const int64_t operation = (int64_t)thread->args[1] & OP_MASK;
	const uint32_t value = (uint32_t)thread->args[2];

	if (operation == OP_LOCK_PI || operation == OP_LOCK_PI2 || value >> 30 == 2)
		return true;
	switch (wrappers_wait(&samples->wrappers, &samples->calls, thread->node)) {
	case WRAPPER_LOCK:
	case WRAPPER_RWLOCK:
	case WRAPPER_READ:
	case WRAPPER_WRITE:
	case WRAPPER_COND:
		return true;
	default:
		return false;
	}
}

void blocked_add(struct samples *samples, const struct kunwind_head *head, const bt_event *event,
		 const struct sample *off)
{
	struct blocked *blocked = &samples->blocked;
	struct blocked_thread thread = {
		.number = (int64_t)off->number,
		.thread = off->thread,
		.comm = off->comm,
		.call = kunwind_event_integer(event, "syscall", 0) < 0 ? 0 : off->what,
		.node = samples->calls.node[off->node].parent,
		.time = off->begin,
		.since = -1,
		.end = INT64_MAX,
	};
	const int64_t duration = kunwind_event_integer(event, "duration", 0);

	read_args(event, thread.args);
	thread.state = calls_string(&samples->calls, label(event, "state"));
	if (duration > 0 && duration <= head->time)
		thread.since = head->time - duration;
	thread.holder = kunwind_event_integer(event, "holder", 0);
	if (!is_lock(samples, &thread))
		thread.holder = 0;
	blocked->item = grown(blocked->item, blocked->nr, &blocked->cap, sizeof(thread));
	blocked->item[blocked->nr++] = thread;
	samples->thread[thread.thread].blocked = blocked->nr;
}

/* LTTng's list of open files may come after the event, so the file is looked up at the end of the wait. */
void blocked_ended(struct samples *samples, const struct sample *off, const bt_event *event)
{
	const struct blocked *blocked = &samples->blocked;
	uint32_t i = not_later(blocked->item, blocked->nr, sizeof(*blocked->item),
			       offsetof(struct blocked_thread, number), (int64_t)off->number);
	struct blocked_thread *thread = i ? &blocked->item[i - 1] : NULL;

	if (!thread || thread->number != (int64_t)off->number)
		return;
	if (event)
		thread->end = samples->end;
	if (samples->files && blocked_fd(samples, thread) >= 0)
		thread->file = files_name(samples->files, samples->thread[thread->thread].trace,
					  samples->thread[thread->thread].pid, blocked_fd(samples, thread));
}

int64_t blocked_fd(const struct samples *samples, const struct blocked_thread *thread)
{
	static const char *const names[] = {
		"read",
		"write",
		"pread64",
		"pwrite64",
		"readv",
		"writev",
		"preadv",
		"pwritev",
		"preadv2",
		"pwritev2",
		"recvfrom",
		"sendto",
		"recvmsg",
		"sendmsg",
		"recvmmsg",
		"sendmmsg",
		"recv",
		"send",
		"accept",
		"accept4",
		"connect",
		"flock",
		"fcntl",
		"fcntl64",
		"ioctl",
		"fsync",
		"fdatasync",
		"epoll_wait",
		"epoll_pwait",
		"epoll_pwait2",
		"getdents",
		"getdents64",
		"ftruncate",
		"close",
		"fallocate",
		"splice",
		"copy_file_range",
		"mq_timedreceive",
		"mq_timedsend",
		"io_uring_enter",
	};
	const char *call = samples->calls.string[thread->call];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(call, names[i]))
			return (int32_t)thread->args[0];
	}
	return -1;
}

void blocked_free(struct blocked *blocked)
{
	free(blocked->item);
}
