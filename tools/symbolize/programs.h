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
	uint32_t previous_own;	/* the same of own_pid, after programs_learned() */
	uint32_t parent;	/* the program that forked it: index + 1; 0: not known */
	uint32_t removed, mapped;	/* private to programs.c */
};

struct programs {
	struct program *program;
	size_t nr;
	/* private to programs.c */
	size_t cap, nr_latest;
	uint32_t *latest;	/* by pid: index + 1 */
	uint32_t *latest_own;	/* by own_pid; nr_own of them */
	size_t nr_own;
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

/* Call it after the last event. False: out of memory. */
bool programs_learned(struct programs *programs);

/* Returns the latest program of a process, index + 1; 0: none. */
uint32_t programs_latest(const struct programs *programs, int pid);
/*
 * Returns the latest program of the processes that have this number: in the initial pid
 * namespace or, if none has, in their own. Index + 1; 0: none.
 */
uint32_t programs_first_of(const struct programs *programs, int pid);
/* Returns the one before @program (index + 1) of the same number; 0: none. */
uint32_t programs_next_of(const struct programs *programs, int pid, uint32_t program);

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
