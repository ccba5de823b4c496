// SPDX-License-Identifier: MIT
/*
 * history.c - the processes of one trace, and names for their stacks
 *
 * The first address of a stack is where the program was. Each further one is a
 * return address, and belongs to the call before it, except after a signal's
 * trampoline: that frame was interrupted, and its address is exact.
 *
 * Code that is in no ELF file may be in a perf-PID.map, which JIT compilers
 * write. A map of this host is used if it was last written while the process
 * ran the program: the trace says when, or /proc, if the process still runs. Its
 * owner must be root, the viewer, or the user of the process if it still runs.
 * This is checked for each stack. The map is read once for each program.
 *
 * Memory: that of maps.c and pids.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "maps.h"
#include "pids.h"

#define NSEC	1000000000

struct kunwind_history {
	struct kunwind_symbolizer *symbolizer;
	struct kunwind_maps *maps;
	struct kunwind_pids *pids;
};

struct kunwind_history *kunwind_history_new(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->symbolizer = symbolizer;
	history->maps = kunwind_maps_new();
	history->pids = kunwind_pids_new();
	if (!history->maps || !history->pids) {
		kunwind_history_free(history);
		return NULL;
	}
	return history;
}

void kunwind_history_free(struct kunwind_history *history)
{
	if (!history)
		return;
	kunwind_maps_free(history->maps);
	kunwind_pids_free(history->pids);
	free(history);
}

static bool learn_number(struct kunwind_history *history, int pid, int own_pid)
{
	return own_pid <= 0 || kunwind_pids_add(history->pids, own_pid, pid);
}

bool kunwind_history_map(struct kunwind_history *history, int64_t time,
			 const struct kunwind_mapping *mapping)
{
	struct kunwind_maps_range range = {
		.start = mapping->start,
		.end = mapping->end,
		.bias = mapping->bias,
		.object = kunwind_symbolizer_object(history->symbolizer, mapping->path,
						    mapping->build_id, mapping->inode),
	};

	return range.object && kunwind_maps_map(history->maps, mapping->pid, time, &range) &&
	       learn_number(history, mapping->pid, mapping->own_pid);
}

bool kunwind_history_unmap(struct kunwind_history *history, int64_t time, int pid,
			   uint64_t start, uint64_t end)
{
	return kunwind_maps_unmap(history->maps, pid, time, start, end);
}

bool kunwind_history_exec(struct kunwind_history *history, int64_t time, int pid)
{
	return kunwind_maps_exec(history->maps, pid, time);
}

bool kunwind_history_fork(struct kunwind_history *history, int64_t time, int parent, int child,
			  int own_child)
{
	return kunwind_maps_fork(history->maps, parent, child, time) &&
	       learn_number(history, child, own_child);
}

bool kunwind_history_exit(struct kunwind_history *history, int64_t time, int pid)
{
	return kunwind_maps_exit(history->maps, pid, time);
}

int kunwind_history_read_maps(struct kunwind_history *history, int pid, const char *path)
{
	return kunwind_live_read(history->maps, history->symbolizer, path, pid, false);
}

/* May /proc be read? */
static bool is_live(const struct kunwind_history *history, const struct kunwind_who *who)
{
	return who->live && !(history->symbolizer->options.flags & KUNWIND_NO_LOCAL);
}

/*
 * Was the map last written while @pid ran the program of @who? @program: out,
 * tells the programs of one process number apart.
 */
static bool perf_map_is_of(const struct kunwind_history *history, const struct kunwind_who *who,
			   int pid, int64_t written, uint64_t *program)
{
	int64_t started, ended;

	kunwind_maps_program(history->maps, pid, who->time, &started, &ended);
	*program = (uint64_t)started;
	if (started == INT64_MAX) {
		started = kunwind_live_started(pid, who->comm);
		/* not exact: it is the difference of two clocks */
		*program = (uint64_t)(started / NSEC);
	}
	return started >= 0 && started <= written && written < ended;
}

/*
 * Opens the perf map of a process in KUNWIND_SLOT_OTHER. Every user can write to /tmp:
 * as in perf, the map must belong to root or to the viewer, or to the user of the
 * process if it still runs. In a directory of the caller's, it is there for this trace.
 */
static bool open_map(struct kunwind_history *history, int pid, struct wire_open *request,
		     struct wire_opened *file)
{
	const char *dir = history->symbolizer->options.perf_map_dir;
	struct stat process;
	char path[32];

	request->type = WIRE_OPEN_FILE;
	request->flags = WIRE_OPEN_NOFOLLOW | (dir ? WIRE_OPEN_GIVEN : WIRE_OPEN_OWNED);
	request->slot[0] = KUNWIND_SLOT_OTHER;
	request->slot[1] = WIRE_NOBODY;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	request->owner[0] = dir || stat(path, &process) ? WIRE_NOBODY : process.st_uid;
	request->owner[1] = WIRE_NOBODY;
	return kunwind_helper_open(&history->symbolizer->helper, request, file) == KUNWIND_OPENING_OK;
}

/* Returns the list of a JIT compiler's functions as an object; NULL: none. */
static struct kunwind_symbolizer_object *perf_map(struct kunwind_history *history,
				       const struct kunwind_who *who, int pid)
{
	const char *dir = history->symbolizer->options.perf_map_dir;
	struct kunwind_opener *opener = &history->symbolizer->helper.opener;
	struct kunwind_symbolizer_object *object;
	struct wire_open request;
	struct wire_opened file;
	uint64_t program = 0;
	int fd;

	if (!dir && !is_live(history, who))
		return NULL;
	snprintf(request.path, sizeof(request.path), "%s/perf-%d.map", dir ? dir : "/tmp", pid);
	if (!open_map(history, pid, &request, &file) || !file.size ||
	    (!dir && !perf_map_is_of(history, who, pid, file.modified, &program)))
		return NULL;
	object = kunwind_symbolizer_object(history->symbolizer, request.path, "", program);
	if (object && object->state == KUNWIND_STATE_NEW) {
		object->state = KUNWIND_STATE_UNREADABLE;
		fd = kunwind_opener_copy(opener, KUNWIND_SLOT_OTHER);
		if (fd >= 0) {
			object->list = kunwind_list_read_fd(fd, true);
			object->state = object->list ? KUNWIND_STATE_OK : KUNWIND_STATE_UNREADABLE;
			close(fd);
		}
	}
	return object && object->list ? object : NULL;
}

/* Returns the mapping that holds a frame's code; NULL: none is known. */
static const struct kunwind_maps_range *find_range(struct kunwind_history *history,
						   const struct kunwind_who *who, int pid,
						   uint64_t address, bool exact)
{
	const struct kunwind_maps_range *range =
		kunwind_maps_find(history->maps, pid, exact ? address : address - 1, who->time);

	if (!range && !exact)	/* a trampoline at the start of a mapping */
		range = kunwind_maps_find(history->maps, pid, address, who->time);
	if (range && is_live(history, who) && range->object->state == KUNWIND_STATE_NEW &&
	    !range->object->live_pid) {
		range->object->live_pid = pid;
		range->object->live_start = range->start;
		range->object->live_end = range->end;
	}
	return range;
}

/* The process's perf map, which is looked for once in a stack. */
struct jit {
	bool asked;
	struct kunwind_symbolizer_object *object;	/* NULL: none */
};

static void name_frame(struct kunwind_history *history, const struct kunwind_who *who, int pid,
		       uint64_t address, bool exact, struct jit *jit, struct kunwind_frame *frame)
{
	const struct kunwind_maps_range *range = find_range(history, who, pid, address, exact);

	memset(frame, 0, sizeof(*frame));
	if (range) {
		kunwind_resolve(range->object, address - range->bias, exact, frame);
		return;
	}
	if (!jit->asked)
		*jit = (struct jit){ true, perf_map(history, who, pid) };
	if (jit->object) {
		kunwind_resolve(jit->object, address, exact, frame);
		if (frame->nr_functions)
			return;
		memset(frame, 0, sizeof(*frame));
	}
	frame->why = kunwind_maps_knows(history->maps, pid) ? "no mapping known" :
							      "process not known";
}

static bool is_new(struct kunwind_history *history, const struct kunwind_who *who, int pid,
		   uint64_t address, bool exact)
{
	const struct kunwind_maps_range *range = find_range(history, who, pid, address, exact);

	return range && !kunwind_cache_find(history->symbolizer->cache, range->object,
					    address - range->bias, exact);
}

/* Prefetches the next frames, as return addresses after the first. */
static void prefetch(struct kunwind_history *history, const struct kunwind_who *who, int pid,
		     const uint64_t *address, size_t nr, bool exact)
{
	struct kunwind_wanted wanted[KUNWIND_WANTED_MAX];
	unsigned int nr_wanted = 0;
	size_t i;

	for (i = 0; i < nr && i < KUNWIND_WANTED_MAX; i++, exact = false) {
		const struct kunwind_maps_range *range =
			find_range(history, who, pid, address[i], exact);

		if (range)
			wanted[nr_wanted++] = (struct kunwind_wanted){
				range->object, address[i] - range->bias, exact };
	}
	kunwind_prefetch(history->symbolizer, wanted, nr_wanted);
}

bool kunwind_history_knows(const struct kunwind_history *history, int pid)
{
	return kunwind_maps_knows(history->maps, pid);
}

int kunwind_history_process(struct kunwind_history *history, const struct kunwind_who *who,
			    uint64_t address)
{
	int pid = who->pid;

	if (pid >= 0 && who->own_number)
		pid = kunwind_pids_find(history->pids, history->maps, pid, address, who->time);
	if (pid >= 0 && is_live(history, who) && !kunwind_maps_knows(history->maps, pid))
		kunwind_live_load(history->maps, history->symbolizer, who, pid);
	return pid;
}

void kunwind_history_resolve(struct kunwind_history *history, const struct kunwind_who *who,
			     uint64_t address, bool exact, struct kunwind_frame *frame)
{
	struct jit jit = { .asked = false };
	int pid;

	kunwind_cache_trim(history->symbolizer);
	pid = kunwind_history_process(history, who, address);
	if (pid >= 0)
		name_frame(history, who, pid, address, exact, &jit, frame);
	else
		*frame = (struct kunwind_frame){ .why = "process not known" };
	frame->address = address;
}

bool kunwind_history_stack(struct kunwind_history *history, const struct kunwind_who *who,
			   const uint64_t *address, size_t nr, struct kunwind_frame *frames)
{
	struct jit jit = { .asked = false };
	bool exact = !who->called;
	size_t i, ahead = 0;
	int pid;

	kunwind_cache_trim(history->symbolizer);
	if (!nr)
		return true;
	pid = kunwind_history_process(history, who, address[0]);
	for (i = 0; i < nr; i++) {
		if (pid >= 0) {
			/* if one is not cached, ask for the next ones, too */
			if (i >= ahead && is_new(history, who, pid, address[i], exact)) {
				prefetch(history, who, pid, address + i, nr - i, exact);
				ahead = i + KUNWIND_WANTED_MAX;
			}
			name_frame(history, who, pid, address[i], exact, &jit, &frames[i]);
		} else {
			memset(&frames[i], 0, sizeof(frames[i]));
			frames[i].why = "process not known";
		}
		frames[i].address = address[i];
		exact = frames[i].trampoline;
	}
	return true;
}
