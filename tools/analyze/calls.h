/* SPDX-License-Identifier: MIT */
/*
 * calls.h - a tree of calls: stacks are paths, which share equal outer frames
 */
#ifndef KUNWIND_ANALYZE_CALLS_H
#define KUNWIND_ANALYZE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The measures of a stack. */
enum weight {
	WEIGHT_EVENTS,		/* number of events */
	WEIGHT_BLOCKED,		/* nanoseconds from a system call's entry to its exit */
	WEIGHT_OFF_CPU,		/* nanoseconds off the CPU, from sched_switch to sched_switch */
	WEIGHT_LOCK,		/* nanoseconds blocked by a lock, below the holder's stack */
	WEIGHT_CPU,		/* nanoseconds on a CPU, by samples (kunwind_sample) */
	NR_WEIGHTS
};

enum frame_kind {
	FRAME_PROCESS,		/* the process's name: outermost in each stack */
	FRAME_FUNCTION,
	FRAME_NOTE,		/* after FRAME_PROCESS: the stack is not complete; object: why */
	FRAME_WHAT,		/* the system call, event or cause: innermost in each stack */
	FRAME_LOCK,		/* the holder's stack of a lock begins after it */
};

struct calls_frame {
	enum frame_kind kind;
	bool kernel;		/* FRAME_FUNCTION: the kernel's or a module's */
	uint32_t name, object;	/* indices of calls->string; 0 is "" */
	bool guess;		/* the walk guessed this frame (kunwind(4)); only with samples->guesses */
	/* The rest is 0, except if samples->places was set. */
	bool inlined;		/* into the function of the parent node */
	uint32_t build_id, file;	/* strings; file: the source file */
	uint32_t line;
	uint64_t address;	/* ELF virtual address in the object */
};

struct calls_node {
	uint32_t parent;	/* smaller than the node's own number; of the root: 0 */
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
	/* private to calls.c */
	uint32_t cap_nodes, cap_frames, cap_strings;
	struct calls_index {
		uint32_t *slot;		/* index + 1; 0: empty */
		uint32_t cap;
	} nodes, frames, strings;
};

/* The functions below end the program if out of memory. */
void calls_init(struct calls *calls);
void calls_free(struct calls *calls);

/*
 * Returns the index of a string, which is copied. Bytes that are not UTF-8, and
 * control characters, become U+FFFD.
 */
uint32_t calls_string(struct calls *calls, const char *text);

/* Returns a copy that is changed in the same way; free(3) it. */
char *calls_clean(const char *text);

/* As calls_string(), but returns the string itself, which lives as long as @calls. */
const char *calls_text(struct calls *calls, const char *text);

/* Returns @parent's child for a frame. It is made if there is none. */
uint32_t calls_child(struct calls *calls, uint32_t parent, const struct calls_frame *frame);

/* The same for a frame that has only a name and an object. */
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

/* The object of the innermost frame of a sample of a CPU. */
#define CALLS_CPU	"CPU"

/*
 * Returns the innermost node of a stack for formats that count by function: without the frame that
 * only says that the stack is a sample of a CPU.
 */
uint32_t calls_innermost(const struct calls *calls, uint32_t node);

/* The objects of frames, by path and build-id. Starts as all zeros. */
struct calls_objects {
	struct calls_object {
		uint32_t path, build_id;	/* strings */
		uint32_t before;		/* with the same path: index + 1; 0: none */
	} *item;
	uint32_t nr, cap;
	uint32_t *latest, nr_paths;		/* by path: index + 1 */
};

/* Returns the number of a frame's object, which is an index of item. */
uint32_t calls_object_number(struct calls_objects *objects, const struct calls_frame *frame);
void calls_objects_free(struct calls_objects *objects);

struct calls_total {
	int64_t weight[NR_WEIGHTS];
};

/* Returns weights of each node with its descendants. The caller frees them. */
struct calls_total *calls_totals(const struct calls *calls);

/* Returns the weight of all nodes together. */
int64_t calls_weight(const struct calls *calls, enum weight weight);

/* Returns @pointer. If it is NULL, prints "out of memory" and exits with 1. */
void *needed(void *pointer);

/*
 * Returns @array with room for another element of @size bytes. It has @nr elements,
 * and room for *@cap. Ends the program if out of memory.
 */
void *grown(void *array, uint32_t nr, uint32_t *cap, size_t size);

/*
 * Returns how many of the @nr elements of @array are not later than @time: the index of the first
 * later one. They are sorted by an int64_t at @offset; each has @size bytes.
 */
uint32_t not_later(const void *array, uint32_t nr, size_t size, size_t offset, int64_t time);

#endif /* KUNWIND_ANALYZE_CALLS_H */
