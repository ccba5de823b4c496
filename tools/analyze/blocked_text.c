// SPDX-License-Identifier: MIT
/*
 * blocked_text.c - the threads that were blocked when the recording began, as text and
 * as JSON
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze.h"
#include "blocked.h"
#include "columns.h"
#include "stack_text.h"
#include "threads.h"
#include "waits.h"

static const struct samples *sorted;

static bool is_shown(const struct blocked_thread *thread)
{
	return thread->node != CALLS_ROOT;
}

static const struct sample_thread *thread_of(const struct samples *samples,
					     const struct blocked_thread *thread)
{
	return &samples->thread[thread->thread];
}

static int64_t end_of(const struct samples *samples, const struct blocked_thread *thread)
{
	return thread->end == INT64_MAX ? samples->end : thread->end;
}

/* Returns the blocked thread that holds the lock; NULL: that thread was not blocked, or there is none. */
static const struct blocked_thread *holder_of(struct samples *samples,
					      const struct blocked_thread *thread)
{
	const struct sample_thread *other = NULL;

	if (thread->holder)
		other = threads_by_number(samples, thread_of(samples, thread)->trace, thread->holder);
	return other && other->blocked ? &samples->blocked.item[other->blocked - 1] : NULL;
}

/* ------------------------------------------------------------ groups */

#define COMPARE(i, k) do { if ((i) != (k)) return (i) < (k) ? -1 : 1; } while (0)

/* Returns 0 for threads with equal waits: they wait for the same at the same place. */
static int by_group(const struct blocked_thread *x, const struct blocked_thread *y)
{
	const int64_t p = thread_of(sorted, x)->pid, q = thread_of(sorted, y)->pid;

	COMPARE(p, q);
	COMPARE(x->call, y->call);
	COMPARE(x->state, y->state);
	COMPARE(x->holder, y->holder);
	COMPARE(x->node, y->node);
	COMPARE(x->call ? x->args[0] : 0, y->call ? y->args[0] : 0);
	COMPARE(y->end == INT64_MAX, x->end == INT64_MAX);
	return 0;
}

/* Groups come one after the other; in each, the longest wait first. */
static int by_wait(const void *a, const void *b)
{
	const struct blocked_thread *x = *(const struct blocked_thread *const *)a;
	const struct blocked_thread *y = *(const struct blocked_thread *const *)b;
	const int group = by_group(x, y);

	if (group)
		return group;
	COMPARE(x->since, y->since);
	COMPARE(x->number, y->number);
	return 0;
}

#undef COMPARE

/* Threads with equal waits. */
struct group {
	const struct blocked_thread *const *thread;
	uint32_t nr;
};

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	const int held = !!y->thread[0]->holder - !!x->thread[0]->holder;
	const int endless = (y->thread[0]->end == INT64_MAX) - (x->thread[0]->end == INT64_MAX);

	if (endless || held)
		return endless ? endless : held;
	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	return x->thread[0]->number < y->thread[0]->number ? -1 : 1;
}

/* ------------------------------------------------------------ text */

/* Prints what the thread waits for. */
static void print_what(struct samples *samples, const struct blocked_thread *thread)
{
	char *const *string = samples->calls.string;
	const char *state = string[thread->state];
	const int64_t fd = blocked_fd(samples, thread);
	const struct blocked_thread *holder = holder_of(samples, thread);

	if (strcmp(state, "sleeping") && *state)
		printf("%s%s", state, thread->call ? ", in " : "");
	else if (!thread->call)
		fputs("no system call", stdout);
	fputs(string[thread->call], stdout);
	if (thread->file)
		printf(" %s", string[thread->file]);
	if (fd >= 0)
		printf(" (fd %" PRId64 ")", fd);
	if (!strncmp(string[thread->call], "futex", 5))
		printf(" 0x%" PRIx64, thread->args[0]);
	if (thread->holder)
		printf(", lock held by %s%s%" PRId64, holder ? string[holder->comm] : "", holder ? " " : "",
		       thread->holder);
}

static void print_group(struct samples *samples, const struct group *group, const struct blocked_style *style)
{
	const struct blocked_thread *first = group->thread[0];
	const int64_t end = end_of(samples, first);

	columns_time(end - first->time);
	putchar(' ');
	columns_time(first->since < 0 ? 0 : end - first->since);
	fputs("  ", stdout);
	if (group->nr > 1)
		printf("%" PRIu32 " threads, one of them ", group->nr);
	printf("%s %" PRId64, samples->calls.string[first->comm], thread_of(samples, first)->tid);
	if (thread_of(samples, first)->tid != thread_of(samples, first)->pid)
		printf(" of %" PRId64, thread_of(samples, first)->pid);
	fputs(": ", stdout);
	print_what(samples, first);
	puts(first->end == INT64_MAX ? "; still so at the end" : "");
	printf("%s%23swaits in  ", style->colour.dim, "");
	stack_text(stdout, &samples->wrappers, &samples->calls, first->node, style->depth);
	printf("%s\n", style->colour.plain);
}

/*
 * Prints the threads that wait for each other in a circle, once for each circle. Only
 * waits that do not end in the trace count.
 */
static void print_deadlocks(struct samples *samples, const struct blocked_style *style)
{
	const struct blocked *blocked = &samples->blocked;
	uint32_t *visit = needed(calloc(blocked->nr, sizeof(*visit))), i;
	const struct blocked_thread *thread, *first;

	for (i = 0; i < blocked->nr; i++) {
		thread = &blocked->item[i];
		while (thread && thread->end == INT64_MAX && !visit[thread - blocked->item]) {
			visit[thread - blocked->item] = i + 1;
			thread = holder_of(samples, thread);
		}
		if (!thread || visit[thread - blocked->item] != i + 1 || !is_shown(thread))
			continue;
		first = thread;
		printf("%sDeadlock: ", style->colour.bold);
		do {
			printf("%s %" PRId64 " waits for ", samples->calls.string[thread->comm],
			       thread_of(samples, thread)->tid);
			thread = holder_of(samples, thread);
		} while (thread != first);
		printf("%s %" PRId64 "%s\n", samples->calls.string[first->comm],
		       thread_of(samples, first)->tid, style->colour.plain);
	}
	free(visit);
}

void blocked_print(struct samples *samples, const struct blocked_style *style)
{
	const struct blocked *blocked = &samples->blocked;
	const struct blocked_thread **order = needed(calloc(blocked->nr + 1, sizeof(*order)));
	struct group *group = needed(calloc(blocked->nr + 1, sizeof(*group)));
	uint32_t i, nr = 0, groups = 0, shown;

	for (i = 0; i < blocked->nr; i++) {
		if (is_shown(&blocked->item[i]))
			order[nr++] = &blocked->item[i];
	}
	sorted = samples;
	qsort(order, nr, sizeof(*order), by_wait);
	for (i = 0; i < nr; i++) {
		if (i && !by_group(order[i - 1], order[i]))
			group[groups - 1].nr++;
		else
			group[groups++] = (struct group){ &order[i], 1 };
	}
	qsort(group, groups, sizeof(*group), by_size);
	shown = style->top && style->top < groups ? style->top : groups;
	if (nr)
		printf("\n%sBlocked when the recording began%s\n"
		       "  at least    at most  thread: what it waits for\n",
		       style->colour.bold, style->colour.plain);
	for (i = 0; i < shown; i++)
		print_group(samples, &group[i], style);
	if (shown < groups)
		printf("  %s... %u more (--top 0 for all)%s\n", style->colour.dim, groups - shown,
		       style->colour.plain);
	if (nr)
		print_deadlocks(samples, style);
	free(group);
	free(order);
}

/* ------------------------------------------------------------ JSON */

static void set(json_t *object, const char *key, int64_t value)
{
	analyze_set(object, key, json_integer(value));
}

static void set_text(const struct samples *samples, json_t *object, const char *key, uint32_t string)
{
	analyze_set(object, key, string ? analyze_text(samples, string) : json_null());
}

static json_t *thread_json(const struct samples *samples, const struct blocked_thread *thread)
{
	json_t *object = needed(json_object());
	const int64_t fd = blocked_fd(samples, thread);
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, thread->args[0]);
	set_text(samples, object, "name", thread->comm);
	set(object, "pid", thread_of(samples, thread)->pid);
	set(object, "tid", thread_of(samples, thread)->tid);
	set_text(samples, object, "state", thread->state);
	set_text(samples, object, "call", thread->call);
	analyze_set(object, "fd", fd >= 0 ? json_integer(fd) : json_null());
	set_text(samples, object, "file", thread->file);
	analyze_set(object, "futex", strncmp(samples->calls.string[thread->call], "futex", 5) ? json_null() :
		    json_string(address));
	analyze_set(object, "holder_tid", thread->holder ? json_integer(thread->holder) : json_null());
	set(object, "time_ns", thread->time);
	analyze_set(object, "since_ns", thread->since < 0 ? json_null() : json_integer(thread->since));
	analyze_set(object, "end_ns", thread->end == INT64_MAX ? json_null() : json_integer(thread->end));
	analyze_set(object, "stack", waits_stack_json(&samples->calls, thread->node));
	return object;
}

json_t *blocked_json(const struct samples *samples)
{
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < samples->blocked.nr; i++) {
		if (is_shown(&samples->blocked.item[i]))
			analyze_append(array, thread_json(samples, &samples->blocked.item[i]));
	}
	return array;
}
