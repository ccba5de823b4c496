// SPDX-License-Identifier: MIT
/*
 * names.c - the function at an address: of a trace's processes, of a running
 * process, or of a process whose mappings were saved
 *
 * The text of other tools has no time that compares with the trace's. So without
 * --at, an address is that of the latest program of the process that had code
 * there: programs before an exec, and code that was unmapped, are found too.
 * Without a process, each one of the trace that had code there must have had the
 * same code. Address space layouts are random, so this is the usual case, and
 * forked processes have the code of their parent.
 *
 * The mappings of a running process are read at the start, because it may end
 * before its addresses arrive; and again, at most once a second, for an address
 * without a mapping.
 *
 * Memory: that of programs.c and libkunwind-symbolize, and 32 bytes for each
 * address, process and kind of address that was asked for, at most 64 MB.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "names.h"
#include "programs.h"
#include "tool.h"
#include "trace/filter.h"
#include "trace/trace.h"

#define NSEC		1000000000ll
#define MOST_OFFSET	(1ull << 32)	/* of code in a file */
#define MOST_CHOICES	(1u << 20)

/* Which mappings answer for an address. */
struct choice {
	uint64_t address;
	int64_t time;
	uint32_t program;	/* index + 1; 0: see why */
	int pid;		/* of the question; with the lowest bit: exact */
	const char *why;
};

struct names {
	struct kunwind_symbolizer *symbolizer;
	int pid;
	/* of traces */
	struct kunwind_trace *trace;
	struct kunwind_histories *histories;
	struct programs programs;
	bool same_host;
	bool at_given;
	int64_t at, trace_begin;
	struct choice *choice;	/* hash table */
	uint32_t nr_choices, cap_choices;
	/* of one process */
	struct kunwind_history *history;
	bool live;
	int64_t started;
	time_t read;
};

/* ------------------------------------------------------------ one process */

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * NSEC + time.tv_nsec;
}

static struct kunwind_who who_is(const struct names *names)
{
	return (struct kunwind_who){ .pid = names->pid, .live = names->live,
				     .time = names->started };
}

/* Reads the mappings of the running process, and forgets the old ones. */
static bool read_running(struct names *names)
{
	struct kunwind_history *history = kunwind_history_new(names->symbolizer);
	struct kunwind_who who = who_is(names);

	names->read = time(NULL);
	if (history && kunwind_history_process(history, &who, 0) >= 0 &&
	    kunwind_history_knows(history, names->pid)) {
		kunwind_history_free(names->history);
		names->history = history;
		return true;
	}
	kunwind_history_free(history);
	return false;
}

static bool open_running(struct names *names)
{
	char path[64];
	FILE *maps;

	names->live = true;
	names->started = now();
	snprintf(path, sizeof(path), "/proc/%d/maps", names->pid);
	maps = fopen(path, "re");
	if (!maps) {
		kunwind_tool_error(errno == ENOENT ?
				   "no process %d runs (of an ended one: give a TRACE or --maps FILE)" :
				   "the mappings of process %d may not be read: use sudo", names->pid);
		return false;
	}
	fclose(maps);
	if (read_running(names))
		return true;
	kunwind_tool_error("process %d has no mappings of code: it ends, or is a kernel thread",
			   names->pid);
	return false;
}

static bool open_saved(struct names *names, const char *path)
{
	int nr;

	/* any number but 0: the file says nothing of its process */
	names->pid = 1;
	names->history = kunwind_history_new(names->symbolizer);
	nr = names->history ? kunwind_history_read_maps(names->history, names->pid, path) : -1;
	if (nr < 0)
		kunwind_tool_error("%s: %s", path, strerror(errno));
	else if (!nr)
		kunwind_tool_error("%s: no mapping of code (is it a copy of /proc/PID/maps?)", path);
	return nr > 0;
}

/* Does the text name another process than the one that runs? */
static bool is_another(const struct names *names, int pid)
{
	char path[64];

	if (!names->live || !pid || pid == names->pid)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", names->pid, pid);
	if (!access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !access(path, F_OK);
}

static void find_of_process(struct names *names, uint64_t address, bool exact,
			    struct kunwind_frame *frame)
{
	struct kunwind_who who = who_is(names);

	kunwind_history_resolve(names->history, &who, address, exact, frame);
	if (frame->object || !names->live || time(NULL) == names->read || !read_running(names))
		return;
	kunwind_history_resolve(names->history, &who, address, exact, frame);
}

/* ------------------------------------------------------------ traces */

static int learn(const bt_event *event, int64_t time, void *data)
{
	struct names *names = data;
	struct kunwind_history *history;

	if (names->trace_begin < 0)
		names->trace_begin = time;
	if (!kunwind_history_is_own(kunwind_event_name(event)))
		return KUNWIND_TRACE_GO_ON;
	history = kunwind_histories_of(names->histories, event);
	if (history && kunwind_histories_learn(names->histories, event, time) &&
	    programs_learn(&names->programs, history, names->symbolizer, event, time))
		return KUNWIND_TRACE_GO_ON;
	kunwind_tool_error("out of memory");
	return KUNWIND_TRACE_FAIL;
}

/* A number of this many digits is in nanoseconds since 1970. INT64_MAX is in the year 2262. */
#define EPOCH_DIGITS	19

static bool read_time(struct names *names, const char *text)
{
	struct kunwind_when when;
	uint64_t number;

	names->at_given = true;
	if (strlen(text) == EPOCH_DIGITS && kunwind_tool_number(text, INT64_MAX, &number)) {
		names->at = (int64_t)number;
		return true;
	}
	if (kunwind_when_read(text, &when)) {
		names->at = kunwind_when_resolve(&when, names->trace_begin, 0);
		return true;
	}
	kunwind_tool_error("--at takes seconds from the trace's beginning (1.5), a clock time "
			   "(08:30:00.5) or nanoseconds since 1970 (%d digits), not: %s", EPOCH_DIGITS,
			   text);
	return false;
}

static bool has_program(const struct names *names, int pid)
{
	return programs_first_of(&names->programs, pid);
}

/* Says which processes there are. */
static void report_processes(const struct names *names)
{
	const struct programs *programs = &names->programs;
	char list[512] = "";
	size_t i, n = 0, nr = 0;

	for (i = 0; i < programs->nr; i++) {
		const struct program *program = &programs->program[i];

		if (programs_latest(programs, program->pid) != i + 1 || nr++ >= 10)
			continue;
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%d (%s)", n ? ", " : "",
				      program->pid, *program->comm ? program->comm : "?");
	}
	kunwind_tool_error("the trace has no mappings of process %d; it has those of %s%s",
			   names->pid, list, nr > 10 ? " and others" : "");
}

static bool open_traces(struct names *names, const struct names_options *options)
{
	const char *host;
	char own[256];

	names->trace_begin = -1;
	names->trace = kunwind_trace_open(options->traces, options->nr_traces);
	if (!names->trace)
		return false;
	names->histories = kunwind_histories_new(names->symbolizer);
	if (!names->histories) {
		kunwind_tool_error("out of memory");
		return false;
	}
	if (!kunwind_trace_read(names->trace, learn, names, NULL))
		return false;
	if (!programs_learned(&names->programs)) {
		kunwind_tool_error("out of memory");
		return false;
	}
	if (!names->programs.nr) {
		kunwind_tool_error("the trace has no mappings: it needs the events of kunwind "
				   "(kunwind record and lttng --callstack record them)");
		return false;
	}
	if (names->pid && !has_program(names, names->pid)) {
		report_processes(names);
		return false;
	}
	host = kunwind_trace_hostname(names->trace);
	names->same_host = host && !gethostname(own, sizeof(own)) && !strcmp(host, own);
	return !options->at || read_time(names, options->at);
}

/* Looks at the mappings of a program at a time. */
static bool look(struct names *names, uint32_t program, int64_t time, uint64_t address, bool exact,
		 struct kunwind_frame *frame)
{
	const struct program *of = &names->programs.program[program];
	const struct kunwind_who who = { .pid = of->pid, .live = names->same_host, .time = time };

	kunwind_history_resolve(of->history, &who, address, exact, frame);
	return frame->object;
}

/* Did the program have code at the address? @time: out, when. */
static bool had_code(struct names *names, uint32_t i, uint64_t address, bool exact, int64_t *time,
		     struct kunwind_frame *frame)
{
	const struct program *program = &names->programs.program[i];

	if (names->at_given) {
		*time = names->at;
		return program->begin <= *time && *time < program->end &&
		       look(names, i, *time, address, exact, frame);
	}
	*time = program->end == INT64_MAX ? INT64_MAX : program->end - 1;
	while (!look(names, i, *time, address, exact, frame)) {
		if (!programs_removed(&names->programs, i, exact ? address : address - 1, *time, time))
			return false;
	}
	return true;
}

/* Finds the latest program of one process that had code at the address; 0: none. */
static uint32_t latest_with_code(struct names *names, uint32_t program, uint64_t address, bool exact,
				 int64_t *time, struct kunwind_frame *frame)
{
	while (program && !had_code(names, program - 1, address, exact, time, frame))
		program = names->programs.program[program - 1].previous;
	return program;
}

/*
 * Chooses the program that answers: of a process @pid (0: any). All processes must agree
 * about the code.
 */
static void choose(struct names *names, int pid, bool exact, struct choice *choice)
{
	const struct programs *programs = &names->programs;
	struct kunwind_frame frame, chosen = { .object = NULL };
	uint32_t next = pid ? programs_first_of(programs, pid) : (uint32_t)programs->nr;
	uint32_t i, program;
	int64_t time;

	choice->why = pid ? "no mapping known" : "no mapping known in any process";
	while (next) {
		i = next;
		next = pid ? programs_next_of(programs, pid, i) : i - 1;
		if (programs_latest(programs, programs->program[i - 1].pid) != i)
			continue;
		program = latest_with_code(names, i, choice->address, exact, &time, &frame);
		if (!program)
			continue;
		if (chosen.object && (frame.object != chosen.object ||
				      frame.object_address != chosen.object_address)) {
			choice->program = 0;
			choice->why = "different code in several processes (see --pid)";
			return;
		}
		chosen = frame;
		choice->program = program;
		choice->time = time;
	}
}

static struct choice *find_slot(struct choice *table, uint32_t cap, uint64_t address, int pid)
{
	uint64_t hash = (address ^ (uint64_t)pid << 40) * 0x9e3779b97f4a7c15;
	uint32_t at = (uint32_t)(hash >> 32) & (cap - 1);

	while (table[at].pid && (table[at].address != address || table[at].pid != pid))
		at = (at + 1) & (cap - 1);
	return &table[at];
}

/* Makes room in the table of choices, or empties it. False: out of memory. */
static bool make_room(struct names *names)
{
	uint32_t cap = names->cap_choices ? names->cap_choices * 2 : 1024, i;
	struct choice *table;

	if (names->nr_choices < names->cap_choices / 2)
		return true;
	if (cap > 2 * MOST_CHOICES) {
		memset(names->choice, 0, names->cap_choices * sizeof(*names->choice));
		names->nr_choices = 0;
		return true;
	}
	table = calloc(cap, sizeof(*table));
	if (!table)
		return false;
	for (i = 0; i < names->cap_choices; i++) {
		if (names->choice[i].pid)
			*find_slot(table, cap, names->choice[i].address, names->choice[i].pid) =
				names->choice[i];
	}
	free(names->choice);
	names->choice = table;
	names->cap_choices = cap;
	return true;
}

static int find_in_traces(struct names *names, int pid, uint64_t address, bool exact,
			  struct kunwind_frame *frame)
{
	/* no process has the number 0 or a negative one: -1 stands for any */
	const int key = (pid ? pid : -1) * 2 + exact;
	struct choice *choice;

	if (!make_room(names)) {
		frame->why = "out of memory";
		return 0;
	}
	choice = find_slot(names->choice, names->cap_choices, address, key);
	if (!choice->pid) {
		*choice = (struct choice){ .address = address, .pid = key };
		choose(names, pid, exact, choice);
		names->nr_choices++;
	}
	if (!choice->program) {
		frame->why = choice->why;
		return 0;
	}
	look(names, choice->program - 1, choice->time, address, exact, frame);
	return names->programs.program[choice->program - 1].pid;
}

/* ------------------------------------------------------------ all */

struct names *names_new(const struct names_options *options)
{
	struct names *names = calloc(1, sizeof(*names));
	bool ok;

	if (names)
		names->symbolizer = kunwind_symbolizer_new(&options->symbols);
	if (!names || !names->symbolizer) {
		kunwind_tool_error("out of memory");
		free(names);
		return NULL;
	}
	names->pid = options->pid;
	if (options->nr_traces)
		ok = open_traces(names, options);
	else
		ok = options->maps ? open_saved(names, options->maps) : open_running(names);
	if (ok)
		return names;
	names_free(names);
	return NULL;
}

void names_free(struct names *names)
{
	kunwind_histories_free(names->histories);
	kunwind_history_free(names->history);
	kunwind_symbolizer_free(names->symbolizer);
	kunwind_trace_close(names->trace);
	programs_free(&names->programs);
	free(names->choice);
	free(names);
}

/*
 * Is the number no address? It can be an offset in the file that the text names,
 * and the object found at this address, if any, is another one.
 */
static bool is_offset(const struct question *question, const struct kunwind_frame *frame)
{
	const char *path = frame->object ? kunwind_object_path(frame->object) : "";

	return question->object && question->address < MOST_OFFSET &&
	       (strncmp(path, question->object, question->length) || path[question->length]);
}

/* Takes the number as the offset in the file that the text names. */
static void find_in_file(struct names *names, const struct question *question, int pid,
			 struct kunwind_frame *frame)
{
	const struct programs *programs = &names->programs;
	struct kunwind_symbolizer_object *object = NULL;
	uint32_t i = pid ? programs_first_of(programs, pid) : 0;
	uint64_t address;

	for (; i && !object; i = programs_next_of(programs, pid, i))
		object = programs_object(programs, i - 1, question->object, question->length);
	*frame = (struct kunwind_frame){ .address = question->address };
	if (names->history)
		frame->why = "an offset in a file: give a TRACE";
	else if (!pid)
		frame->why = "process not known (try perf script "
			     "-F +pid,+ip,+sym,+symoff,+dso)";
	else if (!object)
		frame->why = "the process did not map this file";
	else if (kunwind_object_address(object, question->address, &address))
		kunwind_object_resolve(object, address, question->exact, frame);
	else
		frame->why = kunwind_object_why(object) ? kunwind_object_why(object) :
							  "no code at this offset";
	frame->address = question->address;
}

/* Sets the process that is meant, 0: any. False: another one than --pid. */
static bool find_process(struct names *names, int said, int *pid)
{
	*pid = names->pid;
	if (names->history)
		return !is_another(names, said);
	/* a number of perf script may be that of a thread, which the trace does not know */
	if (!said || !has_program(names, said))
		return true;
	*pid = said;
	return !names->pid || names->pid == said;
}

int names_find(struct names *names, const struct question *question, struct kunwind_frame *frame)
{
	int pid, found;

	*frame = (struct kunwind_frame){ .address = question->address };
	if (!find_process(names, question->pid, &pid)) {
		frame->why = "of another process";
		return 0;
	}
	if (names->history) {
		find_of_process(names, question->address, question->exact, frame);
		found = names->live ? pid : 0;
	} else {
		found = find_in_traces(names, pid, question->address, question->exact, frame);
	}
	if (is_offset(question, frame)) {
		find_in_file(names, question, pid, frame);
		found = pid;
	}
	return frame->object ? found : 0;
}
