// SPDX-License-Identifier: MIT
/*
 * chains.c - what a wait waited for, thread after thread
 *
 * A wait ends because its waker did something. What the waker did during the
 * wait is known: it was on the CPU, could have run, or waited itself for
 * another thread, and so on. So each nanosecond of a wait has one reason. A time in
 * which a thread could run has the threads that had the processor then. If
 * the waker's wait began before the first wait, only the part since then
 * counts.
 *
 * Chains end after CHAIN_DEPTH threads, and a wait has at most CHAIN_PARTS
 * parts. The rest of the time has the reason "[not followed further]".
 */
#include <stdio.h>
#include <string.h>

#include "activity.h"
#include "waits.h"

enum { CHAIN_DEPTH = 16, CHAIN_PARTS = 10000 };

struct follow {
	struct waits *waits;
	uint32_t parts;		/* of the present wait, until now */
};

static uint32_t node_of(struct waits *waits, uint32_t above, const char *comm, const char *what)
{
	char name[320];

	snprintf(name, sizeof(name), "%.120s%s%.180s", comm, *comm ? ": " : "", what);
	return calls_node(&waits->chains, above, FRAME_FUNCTION, name, "");
}

static void add(struct waits *waits, uint32_t above, const char *comm, const char *what, int64_t time)
{
	uint32_t node;

	if (time <= 0)
		return;
	node = node_of(waits, above, comm, what);	/* may move the nodes */
	waits->chains.node[node].self[WEIGHT_OFF_CPU] += time;
}

/*
 * Adds a time in which a thread could run, and below it the threads that had the processor.
 * Returns the number of these parts. Without a waiter above it, only if there was a thread.
 */
static uint32_t add_runnable(struct waits *waits, uint32_t above, const char *comm, const struct wait *wait,
			     int64_t from, int64_t until)
{
	const struct runnable *split = &waits->runnable;
	const uint32_t idle = waits->samples.cpus.idle;
	uint32_t node, i;

	if (from >= until)
		return 0;
	waits_split(waits, wait, from, until);
	if (above == CALLS_ROOT && split->nr == 1 && split->part[0].comm == idle)
		return 0;
	node = node_of(waits, above, comm, "runnable");
	waits->chains.node[node].self[WEIGHT_EVENTS] += above == CALLS_ROOT;
	for (i = 0; i < split->nr; i++)
		add(waits, node, split->part[i].comm == idle ? "" :
		    waits->samples.calls.string[split->part[i].comm],
		    split->part[i].comm == idle ? "[idle]" :
		    split->part[i].comm ? "on the CPU" : "[not recorded]", split->part[i].ns);
	return i;
}

static void blocked(struct follow *follow, uint32_t node, const struct wait *wait, int64_t from,
		    int64_t until, int depth);

/* A thread for which another one waits. */
struct worker {
	struct follow *follow;
	uint32_t node;		/* above what it does */
	const char *comm;
	int64_t from;
	int depth;
};

static bool add_activity(const struct activity *part, void *data)
{
	const struct worker *worker = data;
	struct follow *follow = worker->follow;
	struct waits *waits = follow->waits;

	if (++follow->parts > CHAIN_PARTS) {
		add(waits, worker->node, worker->comm, "[not followed further]", part->until - worker->from);
		return false;
	}
	if (part->kind == ACTIVITY_ON_CPU)
		add(waits, worker->node, worker->comm, "on the CPU", part->until - part->from);
	else if (part->kind == ACTIVITY_RUNNABLE)
		follow->parts += add_runnable(waits, worker->node, worker->comm, part->wait, part->from,
					      part->until);
	else
		blocked(follow, node_of(waits, worker->node, worker->comm,
					waits->samples.calls.string[part->wait->cause]),
			part->wait, part->from, part->until, worker->depth + 1);
	return true;
}

/* Adds what a thread did in [from, until) below @node. */
static void did(struct follow *follow, uint32_t node, uint32_t thread, int64_t from, int64_t until,
		int depth)
{
	const struct samples *samples = &follow->waits->samples;
	struct worker worker = {
		.follow = follow, .node = node, .from = from, .depth = depth,
		.comm = samples->calls.string[samples->thread[thread].comm],
	};

	activity_each(follow->waits, thread, from, until, add_activity, &worker);
}

/* Adds the reasons of a wait in [from, until) below its node. */
static void blocked(struct follow *follow, uint32_t node, const struct wait *wait, int64_t from,
		    int64_t until, int depth)
{
	struct waits *waits = follow->waits;
	char *const *string = waits->samples.calls.string;

	if (wait->interrupt)
		add(waits, node, "", string[wait->interrupt], until - from);
	else if (wait->end == INT64_MAX)
		add(waits, node, "", "[still waiting at the end]", until - from);
	else if (wait->wakeup < 0)
		add(waits, node, "", "[waker not recorded]", until - from);
	else if (wait->waker == SAMPLE_NO_THREAD)
		add(waits, node, string[wait->waker_comm], "[not recorded]", until - from);
	else if (depth >= CHAIN_DEPTH)
		add(waits, node, string[wait->waker_comm], "[not followed further]", until - from);
	else
		did(follow, node, wait->waker, from, until, depth);
}

void waits_follow(struct waits *waits)
{
	struct follow follow = { .waits = waits };
	uint32_t i, node;

	for (i = 0; i < waits->nr; i++) {
		const struct wait *wait = &waits->wait[i];
		int64_t ready = wait->wakeup < 0 ? wait->end : wait->wakeup;

		if (wait->hidden || wait->end == INT64_MAX)
			continue;
		add_runnable(waits, CALLS_ROOT, waits->samples.calls.string[wait->comm], wait, ready,
			     wait->end);
		if (wait->preempted)
			continue;
		node = node_of(waits, CALLS_ROOT, waits->samples.calls.string[wait->comm],
			       waits->samples.calls.string[wait->cause]);
		waits->chains.node[node].self[WEIGHT_EVENTS]++;
		follow.parts = 0;
		blocked(&follow, node, wait, wait->begin, ready, 0);
	}
}
