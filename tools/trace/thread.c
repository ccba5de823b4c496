// SPDX-License-Identifier: MIT
/*
 * thread.c - processes and names of threads, by number
 *
 * Events that have their stack by id have no contexts with the process and the name of
 * the thread. Those of a thread that has a stack are in the stack's definition; this file
 * is for threads without a stack, and for stacks whose definition is lost.
 *
 * Memory: some 80 bytes for each thread.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "thread.h"

struct kunwind_threads {
	void *tree;		/* of struct kunwind_thread, for tsearch() */
};

static int compare(const void *left, const void *right)
{
	const struct kunwind_thread *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->trace == b->trace ? 0 : a->trace < b->trace ? -1 : 1;
}

struct kunwind_threads *kunwind_threads_new(void)
{
	return calloc(1, sizeof(struct kunwind_threads));
}

void kunwind_threads_free(struct kunwind_threads *threads)
{
	if (!threads)
		return;
	tdestroy(threads->tree, free);
	free(threads);
}

static struct kunwind_thread *find(struct kunwind_threads *threads, const void *trace, int64_t tid)
{
	struct kunwind_thread key = { .trace = trace, .tid = tid };
	struct kunwind_thread *const *found = tfind(&key, &threads->tree, compare);

	return found ? *found : NULL;
}

const struct kunwind_thread *kunwind_threads_find(struct kunwind_threads *threads,
						  const void *trace, int64_t tid)
{
	return find(threads, trace, tid);
}

/* Takes what fields of these names say. @process: its name, or NULL. False: out of memory. */
static bool learn(struct kunwind_threads *threads, const void *trace, const bt_event *event,
		  const char *number, const char *name, const char *process)
{
	const char *comm = kunwind_field_string(kunwind_event_field(event, name));
	struct kunwind_thread *thread;
	int64_t tid;

	/* on each processor, the idle thread is 0 */
	if (!kunwind_field_integer(kunwind_event_field(event, number), &tid) || !tid)
		return true;
	thread = find(threads, trace, tid);
	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return false;
		thread->trace = trace;
		thread->tid = tid;
		thread->tgid = -1;
		if (!tsearch(thread, &threads->tree, compare)) {
			free(thread);
			return false;
		}
	}
	if (comm && *comm)
		snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
	if (process)
		kunwind_field_integer(kunwind_event_field(event, process), &thread->tgid);
	return true;
}

bool kunwind_threads_learn(struct kunwind_threads *threads, const void *trace, const bt_event *event)
{
	const char *name = kunwind_event_name(event);

	if (!strcmp(name, "kunwind_callstack"))
		return learn(threads, trace, event, "tid", "comm", "tgid");
	if (!strcmp(name, "sched_switch"))
		return learn(threads, trace, event, "prev_tid", "prev_comm", NULL) &&
		       learn(threads, trace, event, "next_tid", "next_comm", NULL);
	if (!strcmp(name, "sched_waking"))
		return learn(threads, trace, event, "tid", "comm", NULL);
	return true;
}
