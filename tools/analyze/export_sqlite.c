// SPDX-License-Identifier: MIT
/*
 * export_sqlite.c - an SQLite database, for questions that the reports do not answer
 *
 * kunwind-export(1) describes the tables. Spans, waits and holds of locks are inserted while the
 * trace is read; threads, frames and the stacks that they use after it.
 *
 * SQLite opens a file by its name, and the output may have none, or may be a pipe. So the database
 * is made in a temporary file, which has no name any more once SQLite has opened it, and copied.
 *
 * Memory: a bit for each node of the tree of calls, and SQLite's page cache (2 MB).
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze.h"
#include "files.h"
#include "tool.h"

static const char schema[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
	"BEGIN;"
	"CREATE TABLE trace(host TEXT, begin INTEGER, end INTEGER, lost INTEGER);"
	"CREATE TABLE threads(thread INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, comm TEXT,"
	" on_cpu INTEGER);"
	"CREATE TABLE frames(frame INTEGER PRIMARY KEY, kind TEXT, function TEXT, object TEXT,"
	" build_id TEXT, address INTEGER, file TEXT, line INTEGER, inlined INTEGER);"
	"CREATE TABLE stacks(stack INTEGER, depth INTEGER, frame INTEGER,"
	" PRIMARY KEY(stack, depth)) WITHOUT ROWID;"
	"CREATE TABLE spans(span INTEGER PRIMARY KEY, thread INTEGER, comm TEXT, kind TEXT, name TEXT,"
	" begin INTEGER, ns INTEGER, off_cpu INTEGER, stack INTEGER, result INTEGER, failed INTEGER,"
	" file TEXT, fd INTEGER);"
	"CREATE TABLE waits(span INTEGER PRIMARY KEY, preempted INTEGER, wakeup INTEGER,"
	" interrupt TEXT, waker INTEGER, waker_comm TEXT, waker_call TEXT, waker_stack INTEGER);"
	"CREATE TABLE holds(span INTEGER, thread INTEGER, begin INTEGER, ns INTEGER, stack INTEGER);";

/* Made at the end: one sort is faster than a search at each insertion. */
static const char indices[] =
	"CREATE INDEX stacks_by_frame ON stacks(frame); CREATE INDEX spans_by_stack ON spans(stack);"
	"CREATE INDEX spans_by_thread ON spans(thread, begin); CREATE INDEX holds_by_span ON holds(span);"
	"COMMIT;";

struct sqlite_state {
	struct samples *samples;
	struct files files;
	FILE *file;
	sqlite3 *db;
	sqlite3_stmt *span, *wait, *hold;
	FILE *database;			/* the temporary file; NULL: it could not be made */
	int64_t spans;
	uint8_t *used;			/* by node: it is a stack */
	uint32_t cap_used;
	bool failed;
};

/* what the user can do about an error of the temporary file */
static const char advice[] = "; TMPDIR names another directory than /tmp for it";

/* Reports the first error. */
static void check(struct sqlite_state *state, int result)
{
	if (result == SQLITE_OK || result == SQLITE_DONE || state->failed)
		return;
	state->failed = true;
	kunwind_tool_error("the temporary database: %s%s", sqlite3_errmsg(state->db), advice);
}

static sqlite3_stmt *prepare(struct sqlite_state *state, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (!state->failed)
		check(state, sqlite3_prepare_v2(state->db, sql, -1, &statement, NULL));
	return statement;
}

/* Opens a database in a temporary file. False: after a message. */
static bool open_database(struct sqlite_state *state)
{
	const char *tmp = getenv("TMPDIR");
	char *path;
	int fd;

	if (asprintf(&path, "%s/kunwind-export.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		path = NULL;
	fd = mkstemp(needed(path));
	state->database = fd < 0 ? NULL : fdopen(fd, "r");
	if (state->database) {
		check(state, sqlite3_open(path, &state->db));
		unlink(path);
	} else {
		kunwind_tool_error("cannot make %s: %s%s", path, strerror(errno), advice);
	}
	free(path);
	state->failed |= !state->database;
	return !state->failed;
}

static bool end(void *data, enum weight weight, bool ok);

static void *begin(struct samples *samples, FILE *file)
{
	struct sqlite_state *state = needed(calloc(1, sizeof(*state)));

	samples->places = samples->wakers = true;
	files_init(&state->files, &samples->calls);
	samples->files = &state->files;
	state->samples = samples;
	state->file = file;
	if (open_database(state))
		check(state, sqlite3_exec(state->db, schema, NULL, NULL, NULL));
	state->span = prepare(state, "INSERT INTO spans VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
	state->wait = prepare(state, "INSERT INTO waits VALUES(?,?,?,?,?,?,?,?)");
	state->hold = prepare(state, "INSERT INTO holds VALUES(?,?,?,?,?)");
	if (!state->failed)
		return state;
	end(state, WEIGHT_EVENTS, false);
	return NULL;
}

/* Values are bound in the order of the columns. */
struct sql_row {
	struct sqlite_state *state;
	sqlite3_stmt *statement;
	int column;
};

static void put_int(struct sql_row *row, bool known, int64_t value)
{
	if (!known)
		sqlite3_bind_null(row->statement, ++row->column);
	else
		sqlite3_bind_int64(row->statement, ++row->column, value);
}

/* @string: of the tree of calls; 0: NULL */
static void put_string(struct sql_row *row, uint32_t string)
{
	const struct calls *calls = &row->state->samples->calls;

	if (!string)
		sqlite3_bind_null(row->statement, ++row->column);
	else
		sqlite3_bind_text(row->statement, ++row->column, calls->string[string], -1, SQLITE_TRANSIENT);
}

static void put_text(struct sql_row *row, const char *text)
{
	sqlite3_bind_text(row->statement, ++row->column, text, -1, SQLITE_STATIC);
}

static void put_thread(struct sql_row *row, uint32_t thread)
{
	put_int(row, thread != SAMPLE_NO_THREAD, thread);
}

/* A stack has the number of its innermost function's node. */
static void put_stack(struct sql_row *row, uint32_t node)
{
	struct sqlite_state *state = row->state;
	const struct calls *calls = &state->samples->calls;
	enum frame_kind kind;

	while (node != CALLS_ROOT && calls_frame(calls, node)->kind == FRAME_WHAT)
		node = calls->node[node].parent;
	kind = node == CALLS_ROOT ? FRAME_PROCESS : calls_frame(calls, node)->kind;
	if (kind == FRAME_PROCESS) {
		put_int(row, false, 0);
		return;
	}
	while (node >= state->cap_used) {
		uint32_t cap = state->cap_used ? state->cap_used * 2 : 4096;

		state->used = needed(realloc(state->used, cap));
		memset(state->used + state->cap_used, 0, cap - state->cap_used);
		state->cap_used = cap;
	}
	state->used[node] = 1;
	put_int(row, true, node);
}

static void insert(struct sql_row *row)
{
	check(row->state, sqlite3_step(row->statement));
	sqlite3_reset(row->statement);
}

static void take_wait(struct sqlite_state *state, const struct sample *sample)
{
	const struct sample_waker *waker = sample->waker;
	struct sql_row row = { state, state->wait, 0 };
	uint32_t i;

	put_int(&row, true, state->spans);
	put_int(&row, true, sample->preempted);
	put_int(&row, waker, waker ? waker->time : 0);
	put_string(&row, waker ? waker->interrupt : 0);
	if (waker && waker->interrupt)
		waker = NULL;
	put_thread(&row, waker ? waker->thread : SAMPLE_NO_THREAD);
	put_string(&row, waker ? waker->comm : 0);
	put_string(&row, waker ? waker->call : 0);
	put_stack(&row, waker ? waker->node : CALLS_ROOT);
	insert(&row);
	for (i = 0; i < sample->nr_holds; i++) {
		const struct lock_hold *hold = &sample->hold[i];

		row = (struct sql_row){ state, state->hold, 0 };
		put_int(&row, true, state->spans);
		put_thread(&row, hold->thread);
		put_int(&row, true, hold->begin);
		put_int(&row, true, hold->ns);
		put_stack(&row, state->samples->locks.pair[hold->pair].holder);
		insert(&row);
	}
}

static void take(const struct sample *sample, const bt_event *event, void *data)
{
	static const char *const kind[] = { "call", "event", "off-cpu", "cpu" };
	struct sqlite_state *state = data;
	struct sql_row row = { state, state->span, 0 };

	(void)event;
	if (state->failed)
		return;
	put_int(&row, true, ++state->spans);
	put_thread(&row, sample->thread);
	put_string(&row, sample->comm);
	put_text(&row, kind[sample->kind]);
	put_string(&row, sample->what);
	put_int(&row, true, sample->begin);
	put_int(&row, sample->duration >= 0, sample->duration);
	put_int(&row, sample->kind == SAMPLE_SYSCALL && sample->duration >= 0, sample->off_cpu);
	put_stack(&row, sample->node);
	put_int(&row, sample->returned, sample->result);
	put_int(&row, sample->returned, sample->failed);
	put_string(&row, sample->file);
	put_int(&row, sample->kind == SAMPLE_SYSCALL && sample->fd >= 0, sample->fd);
	insert(&row);
	if (sample->kind == SAMPLE_OFF_CPU)
		take_wait(state, sample);
}

/* ------------------------------------------------------------ after reading */

static void put_frames(struct sqlite_state *state, sqlite3_stmt *statement)
{
	const struct calls *calls = &state->samples->calls;
	uint32_t i;

	for (i = 0; i < calls->nr_frames; i++) {
		const struct calls_frame *frame = &calls->frame[i];
		struct sql_row row = { state, statement, 0 };

		if (frame->kind != FRAME_FUNCTION && frame->kind != FRAME_NOTE)
			continue;
		put_int(&row, true, i);
		put_text(&row, frame->kind == FRAME_NOTE ? "end" : frame->kernel ? "kernel" : "user");
		put_string(&row, frame->name);
		put_string(&row, frame->object);
		put_string(&row, frame->build_id);
		put_int(&row, frame->address, (int64_t)frame->address);
		put_string(&row, frame->file);
		put_int(&row, frame->line, frame->line);
		put_int(&row, true, frame->inlined);
		insert(&row);
	}
}

static void put_stacks(struct sqlite_state *state, sqlite3_stmt *statement)
{
	const struct calls *calls = &state->samples->calls;
	uint32_t i, node;

	for (i = 0; i < state->cap_used && i < calls->nr_nodes; i++) {
		int64_t depth = 0;

		if (!state->used[i])
			continue;
		for (node = i; node != CALLS_ROOT; node = calls->node[node].parent) {
			const enum frame_kind kind = calls_frame(calls, node)->kind;
			struct sql_row row = { state, statement, 0 };

			if (kind != FRAME_FUNCTION && kind != FRAME_NOTE)
				continue;
			put_int(&row, true, i);
			put_int(&row, true, depth++);
			put_int(&row, true, calls->node[node].frame);
			insert(&row);
		}
	}
}

static void put_threads(struct sqlite_state *state, sqlite3_stmt *statement)
{
	uint32_t i;

	for (i = 0; i < state->samples->nr_threads; i++) {
		const struct sample_thread *thread = &state->samples->thread[i];
		struct sql_row row = { state, statement, 0 };

		put_int(&row, true, i);
		put_int(&row, thread->pid >= 0, thread->pid);
		put_int(&row, thread->tid >= 0, thread->tid);
		put_string(&row, thread->comm);
		put_int(&row, true, thread->on_cpu);
		insert(&row);
	}
}

/* Inserts the rows of a table by a function. */
static void fill(struct sqlite_state *state, const char *sql,
		 void (*put)(struct sqlite_state *state, sqlite3_stmt *statement))
{
	sqlite3_stmt *statement = prepare(state, sql);

	if (statement)
		put(state, statement);
	sqlite3_finalize(statement);
}

static void put_trace(struct sqlite_state *state, sqlite3_stmt *statement)
{
	struct sql_row row = { state, statement, 0 };

	put_text(&row, state->samples->hostname);
	put_int(&row, true, state->samples->begin);
	put_int(&row, true, state->samples->end);
	put_int(&row, true, (int64_t)state->samples->lost);
	insert(&row);
}

static void copy(struct sqlite_state *state)
{
	char part[65536];
	size_t n;

	while ((n = fread(part, 1, sizeof(part), state->database)) &&
	       fwrite(part, 1, n, state->file) == n)
		;
	if (ferror(state->database)) {
		kunwind_tool_error("the temporary database: %s%s", strerror(errno), advice);
		state->failed = true;
	}
}

static bool end(void *data, enum weight weight, bool ok)
{
	struct sqlite_state *state = data;

	(void)weight;
	ok = ok && !state->failed;
	if (ok) {
		fill(state, "INSERT INTO trace VALUES(?,?,?,?)", put_trace);
		fill(state, "INSERT INTO threads VALUES(?,?,?,?,?)", put_threads);
		fill(state, "INSERT INTO frames VALUES(?,?,?,?,?,?,?,?,?)", put_frames);
		fill(state, "INSERT INTO stacks VALUES(?,?,?)", put_stacks);
		check(state, sqlite3_exec(state->db, indices, NULL, NULL, NULL));
	}
	sqlite3_finalize(state->span);
	sqlite3_finalize(state->wait);
	sqlite3_finalize(state->hold);
	sqlite3_close(state->db);
	if (ok && !state->failed)
		copy(state);
	if (state->database)
		fclose(state->database);
	ok = ok && !state->failed && !ferror(state->file);
	state->samples->files = NULL;
	files_free(&state->files);
	free(state->used);
	free(state);
	return ok;
}

const struct export_stream export_sqlite = { begin, { .end = take }, end };
