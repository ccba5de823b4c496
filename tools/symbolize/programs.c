// SPDX-License-Identifier: MIT
/*
 * programs.c - the programs that the processes of traces ran, and what they had
 * mapped
 *
 * The histories know what a process had mapped at a given time. Here are the
 * times to ask for: when each program ended, and when it unmapped something.
 *
 * Memory: 80 bytes for each program, 8 for each process id up to the highest, 32
 * for each kunwind_unmap, 16 for each kunwind_map.
 */
#include <stdlib.h>
#include <string.h>

#include "programs.h"
#include "trace/event.h"

#define MOST_PID	(1 << 22)	/* the kernel's limit */

/* Each program has a list of these, the latest first. */
struct removed {
	uint64_t start, end;
	int64_t time;
	uint32_t before;	/* index + 1; 0: none */
};

struct mapped {
	struct kunwind_symbolizer_object *object;
	uint32_t before;
};

void programs_free(struct programs *programs)
{
	free(programs->program);
	free(programs->latest);
	free(programs->latest_own);
	free(programs->removed);
	free(programs->mapped);
}

/* Makes room for one more. False: out of memory. */
static bool grow(void **array, size_t nr, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 64;
	void *grown;

	if (nr < *cap)
		return true;
	grown = realloc(*array, more * size);
	if (!grown)
		return false;
	*array = grown;
	*cap = more;
	return true;
}

uint32_t programs_latest(const struct programs *programs, int pid)
{
	return pid >= 0 && (size_t)pid < programs->nr_latest ? programs->latest[pid] : 0;
}

uint32_t programs_first_of(const struct programs *programs, int pid)
{
	const uint32_t latest = programs_latest(programs, pid);

	return latest || pid <= 0 || (size_t)pid >= programs->nr_own ? latest :
								       programs->latest_own[pid];
}

uint32_t programs_next_of(const struct programs *programs, int pid, uint32_t program)
{
	const struct program *of = &programs->program[program - 1];

	return of->pid == pid ? of->previous : of->previous_own;
}

bool programs_learned(struct programs *programs)
{
	struct program *program;
	size_t i;

	for (i = 0; i < programs->nr; i++)
		if ((size_t)programs->program[i].own_pid >= programs->nr_own)
			programs->nr_own = (size_t)programs->program[i].own_pid + 1;
	programs->latest_own = calloc(programs->nr_own + 1, sizeof(*programs->latest_own));
	for (i = 0; programs->latest_own && i < programs->nr; i++) {
		program = &programs->program[i];
		program->previous_own = programs->latest_own[program->own_pid];
		programs->latest_own[program->own_pid] = (uint32_t)i + 1;
	}
	return programs->latest_own;
}

/* Returns the program that runs; NULL: none. */
static struct program *running(struct programs *programs, const struct kunwind_history *history,
			       int pid)
{
	uint32_t i = programs_latest(programs, pid);

	while (i && programs->program[i - 1].history != history)
		i = programs->program[i - 1].previous;
	return i && programs->program[i - 1].end == INT64_MAX ? &programs->program[i - 1] : NULL;
}

/* Begins a program and ends the one before. Returns NULL if out of memory. */
static struct program *begin(struct programs *programs, struct kunwind_history *history, int pid,
			     int64_t time)
{
	struct program *before = running(programs, history, pid), *program;
	uint32_t *latest;
	size_t nr;

	if ((size_t)pid >= programs->nr_latest) {
		nr = (size_t)pid * 2 + 1024;
		latest = realloc(programs->latest, nr * sizeof(*latest));
		if (!latest)
			return NULL;
		memset(latest + programs->nr_latest, 0, (nr - programs->nr_latest) * sizeof(*latest));
		programs->latest = latest;
		programs->nr_latest = nr;
	}
	if (before)
		before->end = time;
	if (!grow((void **)&programs->program, programs->nr, &programs->cap,
		  sizeof(*programs->program)))
		return NULL;
	program = &programs->program[programs->nr++];
	*program = (struct program){ .history = history, .pid = pid, .begin = time,
				     .end = INT64_MAX, .previous = programs->latest[pid] };
	programs->latest[pid] = (uint32_t)programs->nr;
	if (program->previous)
		program->own_pid = programs->program[program->previous - 1].own_pid;
	return program;
}

static int number(const bt_event *event, const char *name)
{
	int64_t value = -1;

	kunwind_field_integer(kunwind_event_field(event, name), &value);
	return value >= 0 && value <= MOST_PID ? (int)value : -1;
}

static void set_comm(struct program *program, const char *comm)
{
	if (comm)
		strncpy(program->comm, comm, sizeof(program->comm) - 1);
}

static bool learn_fork(struct programs *programs, struct kunwind_history *history,
		       const bt_event *event, int64_t time)
{
	int child = number(event, "child"), own = number(event, "vchild");
	const struct program *parent = running(programs, history, number(event, "parent"));
	size_t of = parent ? (size_t)(parent - programs->program) : 0;
	struct program *program;

	if (child < 0)
		return true;
	program = begin(programs, history, child, time);
	if (!program)
		return false;
	program->own_pid = own > 0 ? own : 0;
	if (parent) {
		memcpy(program->comm, programs->program[of].comm, sizeof(program->comm));
		program->parent = (uint32_t)of + 1;
	}
	return true;
}

static bool learn_unmap(struct programs *programs, struct program *program,
			const bt_event *event, int64_t time)
{
	int64_t start = 0, end = 0;

	kunwind_field_integer(kunwind_event_field(event, "start"), &start);
	kunwind_field_integer(kunwind_event_field(event, "end"), &end);
	if (!grow((void **)&programs->removed, programs->nr_removed, &programs->cap_removed,
		  sizeof(*programs->removed)))
		return false;
	programs->removed[programs->nr_removed++] = (struct removed){
		(uint64_t)start, (uint64_t)end, time, program->removed };
	program->removed = (uint32_t)programs->nr_removed;
	return true;
}

static bool learn_map(struct programs *programs, struct program *program,
		      struct kunwind_symbolizer *symbolizer, const bt_event *event)
{
	const char *path = kunwind_field_string(kunwind_event_field(event, "path"));
	const char *build_id = kunwind_field_string(kunwind_event_field(event, "build_id"));
	int own = number(event, "vtgid");
	struct kunwind_symbolizer_object *object;
	int64_t inode = 0;

	if (own > 0)
		program->own_pid = own;
	if (!path || !build_id)
		return true;
	/* the object that the history has, too */
	kunwind_field_integer(kunwind_event_field(event, "ino"), &inode);
	object = kunwind_symbolizer_object(symbolizer, path, build_id, (uint64_t)inode);
	if (!object || !grow((void **)&programs->mapped, programs->nr_mapped, &programs->cap_mapped,
			     sizeof(*programs->mapped)))
		return false;
	programs->mapped[programs->nr_mapped++] = (struct mapped){ object, program->mapped };
	program->mapped = (uint32_t)programs->nr_mapped;
	return true;
}

bool programs_learn(struct programs *programs, struct kunwind_history *history,
		    struct kunwind_symbolizer *symbolizer, const bt_event *event, int64_t time)
{
	const char *name = kunwind_event_name(event);
	int pid = number(event, "tgid");
	struct program *program;

	if (!strcmp(name, "kunwind_fork"))
		return learn_fork(programs, history, event, time);
	if (pid < 0)
		return true;
	program = running(programs, history, pid);
	if (!strcmp(name, "kunwind_exec")) {
		program = begin(programs, history, pid, time);
		if (program)
			set_comm(program, kunwind_field_string(kunwind_event_field(event, "comm")));
		return program;
	}
	if (!strcmp(name, "kunwind_map")) {
		/* it ran before the trace began */
		if (!program)
			program = begin(programs, history, pid,
					programs_latest(programs, pid) ? time : INT64_MIN);
		return program && learn_map(programs, program, symbolizer, event);
	}
	if (program && !strcmp(name, "kunwind_unmap"))
		return learn_unmap(programs, program, event, time);
	if (program && !strcmp(name, "kunwind_exit"))
		program->end = time;
	return true;
}

bool programs_removed(const struct programs *programs, size_t program, uint64_t address,
		      int64_t before, int64_t *time)
{
	uint32_t i;

	for (i = programs->program[program].removed; i; i = programs->removed[i - 1].before) {
		const struct removed *removed = &programs->removed[i - 1];

		if (removed->time <= before && address >= removed->start && address < removed->end) {
			*time = removed->time - 1;
			return true;
		}
	}
	return false;
}

static struct kunwind_symbolizer_object *own_object(const struct programs *programs,
						    size_t program, const char *path,
						    size_t length)
{
	uint32_t i;

	for (i = programs->program[program].mapped; i; i = programs->mapped[i - 1].before) {
		const char *mapped = kunwind_object_path(programs->mapped[i - 1].object);

		if (!strncmp(mapped, path, length) && !mapped[length])
			return programs->mapped[i - 1].object;
	}
	return NULL;
}

struct kunwind_symbolizer_object *programs_object(const struct programs *programs, size_t program,
						  const char *path, size_t length)
{
	struct kunwind_symbolizer_object *object = own_object(programs, program, path, length);

	/* a parent comes before its child in the list */
	while (!object && programs->program[program].parent) {
		program = programs->program[program].parent - 1;
		object = own_object(programs, program, path, length);
	}
	return object;
}
