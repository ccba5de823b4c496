/* SPDX-License-Identifier: MIT */
/*
 * show_stack.h - the frames of an event's user stack, one after the other
 */
#ifndef KUNWIND_SHOW_STACK_H
#define KUNWIND_SHOW_STACK_H

#include <babeltrace2/babeltrace.h>

#include "show_maps.h"
#include "symbolize.h"

/* LTTng's own limit of its context. */
#define KUNWIND_STACK_LTTNG_MAX	128

struct kunwind_frame {
	uint64_t addr;
	struct kunwind_symfile *file;	/* NULL: no mapping known */
	uint64_t vaddr;			/* address in @file */
	struct kunwind_symbol symbol;	/* of @vaddr */
	const char *why;		/* why there is no name; NULL when there is one */
};

/* Walks over one stack, innermost frame first. */
struct kunwind_stack {
	const bt_field *array;		/* NULL: the event has none */
	uint64_t nr;			/* frames */
	/* to be set before the first frame is taken, when names are wanted */
	struct kunwind_maps *maps;	/* NULL: addresses only */
	int pid;			/* as in @maps; -1 unknown */
	/* the rest is its own */
	uint64_t next;
	int64_t time;
	bool exact;
};

void kunwind_stack_begin(struct kunwind_stack *stack, const bt_event *event, int64_t time);

uint64_t kunwind_stack_address(const struct kunwind_stack *stack, uint64_t i);

/* False after the last. Text in @frame is valid until the next call. */
bool kunwind_stack_next(struct kunwind_stack *stack, struct kunwind_frame *frame);

#endif /* KUNWIND_SHOW_STACK_H */
