/* SPDX-License-Identifier: MIT */
/*
 * calls.h - a tree of calls: every stack is a path in it, equal beginnings are shared
 */
#ifndef KUNWIND_ANALYZE_CALLS_H
#define KUNWIND_ANALYZE_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* What a stack can be weighed by. */
enum weight {
	WEIGHT_EVENTS,		/* number of events */
	WEIGHT_BLOCKED,		/* nanoseconds from a system call's entry to its exit */
	WEIGHT_OFF_CPU,		/* nanoseconds from being switched away to being switched back */
	NR_WEIGHTS
};

enum frame_kind {
	FRAME_PROCESS,		/* first in every stack: the process's name */
	FRAME_FUNCTION,
	FRAME_NOTE,		/* that a stack is not complete */
	FRAME_WHAT,		/* last in every stack: the system call or event */
};

struct calls_frame {
	enum frame_kind kind;
	uint32_t name, object;	/* strings; 0 is "" */
};

struct calls_node {
	uint32_t parent;	/* smaller than the node itself; of the root: 0 */
	uint32_t frame;
	int64_t self[NR_WEIGHTS];
};

#define CALLS_ROOT	0

struct calls {
	struct calls_node *node;	/* [0] is the root, which has no frame */
	uint32_t nr_nodes;
	struct calls_frame *frame;
	uint32_t nr_frames;
	char **string;
	uint32_t nr_strings;
	/* the rest is its own */
	uint32_t cap_nodes, cap_frames, cap_strings;
	struct calls_index {
		uint32_t *slot;		/* number + 1; 0 empty */
		uint32_t cap;
	} nodes, frames, strings;
};

/* These end the program when memory does. */
void calls_init(struct calls *calls);
void calls_free(struct calls *calls);

/* Bytes that are no UTF-8, and control characters, become U+FFFD. */
uint32_t calls_string(struct calls *calls, const char *text);

/* The node below @parent for a frame. */
uint32_t calls_node(struct calls *calls, uint32_t parent, enum frame_kind kind, const char *name,
		    const char *object);

static inline const struct calls_frame *calls_frame(const struct calls *calls, uint32_t node)
{
	return &calls->frame[calls->node[node].frame];
}

static inline const char *calls_name(const struct calls *calls, uint32_t node)
{
	return calls->string[calls_frame(calls, node)->name];
}

static inline const char *calls_object(const struct calls *calls, uint32_t node)
{
	return calls->string[calls_frame(calls, node)->object];
}

struct calls_total {
	int64_t weight[NR_WEIGHTS];
};

/* Weights of each node with all below it; to be freed. */
struct calls_total *calls_totals(const struct calls *calls);

/* @pointer, unless it is NULL: then "out of memory", and the end. */
void *needed(void *pointer);

#endif /* KUNWIND_ANALYZE_CALLS_H */
