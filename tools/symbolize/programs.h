/* SPDX-License-Identifier: MIT */
/*
 * programs.h - the programs that the processes of traces ran, and what they had
 * mapped
 */
#ifndef KUNWIND_SYMBOLIZE_PROGRAMS_H
#define KUNWIND_SYMBOLIZE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/history.h"

/* From the fork or exec of a process to its next exec or its exit. */
struct program {
	struct kunwind_history *history;
	int pid, own_pid;	/* own_pid: in its own pid namespace; 0: not known */
	char comm[16];
	int64_t begin, end;	/* INT64_MIN, INT64_MAX: not in the trace */
	uint32_t previous;	/* of the same pid: index + 1; 0: none */
	uint32_t parent;	/* the program that forked it: index + 1; 0: not known */
	uint32_t removed, mapped;	/* private to programs.c */
};

struct programs {
	struct program *program;
	size_t nr;
	/* private to programs.c */
	size_t cap, nr_latest;
	uint32_t *latest;	/* by pid: index + 1 */
	struct removed *removed;
	size_t nr_removed, cap_removed;
	struct mapped *mapped;
	size_t nr_mapped, cap_mapped;
};

void programs_free(struct programs *programs);

/*
 * Takes an event of kunwind's, in order of time; @history is that of its trace.
 * @symbolizer: of the histories. False: out of memory.
 */
bool programs_learn(struct programs *programs, struct kunwind_history *history,
		    struct kunwind_symbolizer *symbolizer, const bt_event *event, int64_t time);

/* Returns the latest program of a process, index + 1; 0: none. */
uint32_t programs_latest(const struct programs *programs, int pid);

/*
 * Finds the last time at which @program had something else than at its end at
 * @address. False: never. @before: only times before this one.
 */
bool programs_removed(const struct programs *programs, size_t program, uint64_t address,
		      int64_t before, int64_t *time);

/*
 * Returns the object at the first @length bytes of @path that the program, or the
 * one that forked it, mapped last; NULL: none.
 */
struct kunwind_symbolizer_object *programs_object(const struct programs *programs, size_t program,
						  const char *path, size_t length);

#endif /* KUNWIND_SYMBOLIZE_PROGRAMS_H */
