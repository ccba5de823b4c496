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
 * Many waits may last while one thread has many waits of its own. So what a thread
 * did during 16, 256, ... of its waits is summed up once, as a block, for each number of
 * threads that may be above it in a chain.
 *
 * Chains end after CHAIN_DEPTH threads, and a wait, or a block, has at most CHAIN_PARTS
 * parts. The rest of the time has the reason "[not followed further]".
 *
 * Memory: some 200 bytes for each part of a block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "waits.h"

enum { CHAIN_DEPTH = 16, CHAIN_PARTS = 10000, BLOCK = 16 };

/* What is below a node of this tree. */
struct spot {
	struct calls *tree;
	uint32_t node;
};

struct follow {
	struct waits *waits;
	struct calls blocks;	/* a child of the root for each block */
	struct link {
		uint32_t child, sibling;	/* CALLS_ROOT: none */
	} *link;		/* of each node of blocks */
	uint32_t cap_links;
	uint32_t parts;		/* of the present wait or block, until now */
};

/* Returns a child, which is made if needed. */
static struct spot child_of(struct follow *follow, struct spot above, const struct calls_frame *frame)
{
	const uint32_t nr = above.tree->nr_nodes, node = calls_child(above.tree, above.node, frame);

	if (above.tree == &follow->blocks && node == nr) {
		follow->link = grown(follow->link, node, &follow->cap_links, sizeof(*follow->link));
		follow->link[node] = (struct link){ .sibling = follow->link[above.node].child };
		follow->link[above.node].child = node;
	}
	return (struct spot){ above.tree, node };
}

static struct spot named(struct follow *follow, struct spot above, const char *name)
{
	return child_of(follow, above, &(struct calls_frame){ .kind = FRAME_FUNCTION,
							       .name = calls_string(above.tree, name) });
}

static struct spot place_of(struct follow *follow, struct spot above, const char *comm, const char *what)
{
	char name[320];

	snprintf(name, sizeof(name), "%.120s%s%.180s", comm, *comm ? ": " : "", what);
	return named(follow, above, name);
}

static int64_t *time_of(struct spot place)
{
	return &place.tree->node[place.node].self[WEIGHT_OFF_CPU];
}

static void add(struct follow *follow, struct spot above, const char *comm, const char *what, int64_t time)
{
	if (time > 0)
		*time_of(place_of(follow, above, comm, what)) += time;
}

/*
 * Adds a time in which a thread could run, and below it the threads that had the processor.
 * Returns the number of these parts. Without a waiter above it, only if there was a thread.
 */
static uint32_t add_runnable(struct follow *follow, struct spot above, const char *comm,
			     const struct wait *wait, int64_t from, int64_t until)
{
	struct waits *waits = follow->waits;
	const struct sums_total *split = &waits->runnable.split;
	const uint32_t idle = waits->samples.cpus.idle;
	struct spot place;
	uint32_t i;

	if (from >= until)
		return 0;
	waits_split(waits, wait, from, until);
	if (above.node == CALLS_ROOT && split->nr == 1 && split->part[0].key == idle)
		return 0;
	place = place_of(follow, above, comm, "runnable");
	place.tree->node[place.node].self[WEIGHT_EVENTS] += above.node == CALLS_ROOT;
	for (i = 0; i < split->nr; i++)
		add(follow, place, split->part[i].key == idle ? "" :
		    waits->samples.calls.string[split->part[i].key],
		    split->part[i].key == idle ? "[idle]" :
		    split->part[i].key ? "on the CPU" : "[not recorded]", split->part[i].ns);
	return i;
}

static void blocked(struct follow *follow, struct spot place, const struct wait *wait, int64_t from,
		    int64_t until, int depth);

/* A thread for which another one waits. */
struct worker {
	struct follow *follow;
	struct spot place;	/* above what it does */
	const char *comm;
	int64_t from;
	int depth;
	bool left;		/* the rest is not followed */
};

static bool add_activity(const struct activity *part, void *data)
{
	struct worker *worker = data;
	struct follow *follow = worker->follow;

	worker->left = ++follow->parts > CHAIN_PARTS;
	if (worker->left)
		add(follow, worker->place, worker->comm, "[not followed further]",
		    part->until - worker->from);
	else if (part->kind == ACTIVITY_ON_CPU)
		add(follow, worker->place, worker->comm, "on the CPU", part->until - part->from);
	else if (part->kind == ACTIVITY_RUNNABLE)
		follow->parts += add_runnable(follow, worker->place, worker->comm, part->wait, part->from,
					      part->until);
	else
		blocked(follow, place_of(follow, worker->place, worker->comm,
					 follow->waits->samples.calls.string[part->wait->cause]),
			part->wait, part->from, part->until, worker->depth + 1);
	return !worker->left;
}

/* Adds what is below a node of the blocks. */
static void copy(struct follow *follow, struct spot to, uint32_t node)
{
	uint32_t i;

	for (i = follow->link[node].child; i != CALLS_ROOT; i = follow->link[i].sibling) {
		struct spot place = named(follow, to, calls_name(&follow->blocks, i));

		*time_of(place) += follow->blocks.node[i].self[WEIGHT_OFF_CPU];
		follow->parts++;
		copy(follow, place, i);
	}
}

static void did(struct follow *follow, struct spot place, uint32_t thread, int64_t from, int64_t until,
		int depth, uint32_t most);

/* Returns the node of the block of @size waits from @first on. */
static uint32_t block_of(struct follow *follow, uint32_t first, uint32_t size, int depth)
{
	const struct wait *wait = &follow->waits->wait[first];
	const uint32_t parts = follow->parts, nr = follow->blocks.nr_nodes;
	const struct calls_frame key = { .kind = FRAME_NOTE, .address = (uint64_t)first + 1, .name = size,
					 .line = (uint32_t)depth };
	struct spot place = child_of(follow, (struct spot){ &follow->blocks, CALLS_ROOT }, &key);

	if (place.node == nr) {
		follow->parts = 0;
		did(follow, place, wait->thread, wait->begin, wait[size - 1].end, depth, size / BLOCK);
		follow->parts = parts;
	}
	return place.node;
}

/* Returns the size of the largest block that ends before wait[i] and is in [from, until); 1: none. */
static uint32_t size_before(const struct waits *waits, uint32_t i, int64_t from, int64_t until,
			    uint32_t most)
{
	uint32_t size = 1, next;

	if (!i || waits->wait[i - 1].end > until)
		return size;
	for (next = BLOCK; next <= most && i >= next && !(i % next) &&
	     waits->wait[i - next].thread == waits->wait[i - 1].thread &&
	     waits->wait[i - next].begin >= from; next *= BLOCK)
		size = next;
	return size;
}

/* Adds what a thread did in [from, until) below @place. @most: the size of blocks. */
static void did(struct follow *follow, struct spot place, uint32_t thread, int64_t from, int64_t until,
		int depth, uint32_t most)
{
	const struct waits *waits = follow->waits;
	uint32_t i = waits_before(waits, thread, until), size;
	struct worker worker = {
		.follow = follow, .place = place, .from = from, .depth = depth,
		.comm = waits->samples.calls.string[waits->samples.thread[thread].comm],
	};
	int64_t begin;

	for (; until > from && !worker.left; until = begin, i -= size) {
		size = i && waits->wait[i - 1].thread == thread ?
		       size_before(waits, i, from, until, most) : 0;
		begin = size && waits->wait[i - size].begin > from ? waits->wait[i - size].begin : from;
		if (size > 1) {
			add(follow, place, worker.comm, "on the CPU", until - waits->wait[i - 1].end);
			copy(follow, place, block_of(follow, i - size, size, depth));
		} else {
			activity_each(waits, thread, begin, until, add_activity, &worker);
		}
	}
}

/* Adds the reasons of a wait in [from, until) below its node. */
static void blocked(struct follow *follow, struct spot place, const struct wait *wait, int64_t from,
		    int64_t until, int depth)
{
	char *const *string = follow->waits->samples.calls.string;

	if (wait->interrupt)
		add(follow, place, "", string[wait->interrupt], until - from);
	else if (wait->end == INT64_MAX)
		add(follow, place, "", "[still waiting at the end]", until - from);
	else if (wait->wakeup < 0)
		add(follow, place, "", "[waker not recorded]", until - from);
	else if (wait->waker == SAMPLE_NO_THREAD)
		add(follow, place, string[wait->waker_comm], "[not recorded]", until - from);
	else if (depth >= CHAIN_DEPTH)
		add(follow, place, string[wait->waker_comm], "[not followed further]", until - from);
	else
		did(follow, place, wait->waker, from, until, depth, UINT32_MAX / BLOCK);
}

void waits_follow(struct waits *waits)
{
	struct follow follow = { .waits = waits };
	const struct spot root = { &waits->chains, CALLS_ROOT };
	char *const *string = waits->samples.calls.string;
	struct spot place;
	uint32_t i;

	calls_init(&follow.blocks);
	follow.link = grown(NULL, 0, &follow.cap_links, sizeof(*follow.link));
	follow.link[CALLS_ROOT] = (struct link){ 0 };
	for (i = 0; i < waits->nr; i++) {
		const struct wait *wait = &waits->wait[i];
		int64_t ready = wait->wakeup < 0 ? wait->end : wait->wakeup;

		if (wait->hidden || wait->end == INT64_MAX)
			continue;
		add_runnable(&follow, root, string[wait->comm], wait, ready, wait->end);
		if (wait->preempted)
			continue;
		place = place_of(&follow, root, string[wait->comm], string[wait->cause]);
		place.tree->node[place.node].self[WEIGHT_EVENTS]++;
		follow.parts = 0;
		blocked(&follow, place, wait, wait->begin, ready, 0);
	}
	calls_free(&follow.blocks);
	free(follow.link);
}
