// SPDX-License-Identifier: MIT
/*
 * snapshot.c - write what the buffers of a flight recorder hold
 *
 * The mappings of long-lived processes were reported long ago, and these events
 * have been overwritten. So the module first reports all mappings again, and
 * defines the ids of stacks again: LTTng's "regenerate statedump" starts that
 * (lttng-probes/statedump.c). The module needs some milliseconds for it; two of
 * its parameters say when it is done.
 *
 * A recorder and "kunwind snapshot" may take snapshots of one session at the same
 * time. Each would choose the same number, and find the directory of the other one. So
 * a lock on a file of the recorder in /proc lets only one of them do so at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <lttng/lttng.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "dir.h"
#include "disk.h"
#include "left_over.h"
#include "session.h"
#include "session_name.h"
#include "help_options.h"
#include "snapshot.h"
#include "tool.h"
#include "watchdog.h"

#define PARAMETERS	"/sys/module/lttng_probe_kunwind/parameters/"
#define DUMP_SECONDS	30
#define PREFIX		"snapshot-"

/* Returns false if the module is not loaded, or too old. */
static bool parameter(const char *path, unsigned int *value)
{
	FILE *f = fopen(path, "re");
	bool read = f && fscanf(f, "%u", value) == 1;

	if (f)
		fclose(f);
	return read;
}

bool snapshot_dumped(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	const time_t end = time(NULL) + DUMP_SECONDS;
	unsigned int wanted, done;

	if (!parameter(PARAMETERS "dumps_wanted", &wanted))
		return true;
	while (parameter(PARAMETERS "dumps_done", &done) && (int)(done - wanted) < 0) {
		if (time(NULL) > end)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* Reports all mappings into the trace. Without that, fewer frames get names. */
static void dump_mappings(const char *session)
{
	int err;

	watchdog_wait(WATCH_DAEMON, "report the mappings again", WATCH_USUAL);
	err = lttng_regenerate_statedump(session);
	if (err < 0) {
		kunwind_tool_error("the mappings are not reported again: %s", lttng_strerror(err));
		return;
	}
	if (!snapshot_dumped())
		kunwind_tool_error("the mappings are not all reported after %d seconds: the snapshot may "
				   "lack some names", DUMP_SECONDS);
}

static bool raise_number(int dir, const char *name, void *data)
{
	unsigned int *last = data, number;
	int end = 0;

	(void)dir;
	if (sscanf(name, PREFIX "%u-%n", &number, &end) == 1 && end && number > *last)
		*last = number;
	return true;
}

static bool count_one(int dir, const char *name, void *data)
{
	unsigned int *nr = data;

	(void)dir;
	*nr += !strncmp(name, PREFIX, strlen(PREFIX));
	return true;
}

unsigned int snapshot_count(int dir)
{
	unsigned int nr = 0;

	kunwind_dir_each(dir, count_one, &nr);
	return nr;
}

/* The directory to whose name LTTng has added the time. */
struct wanted {
	const char *name;
	char found[256];
};

static bool is_wanted(int dir, const char *name, void *data)
{
	struct wanted *wanted = data;
	size_t size = strlen(wanted->name);

	(void)dir;
	if (strncmp(name, wanted->name, size) || name[size] != '-')
		return true;
	snprintf(wanted->found, sizeof(wanted->found), "%s", name);
	return false;
}

static void find(int dir, const char *path, const char *name, struct snapshot *snapshot)
{
	struct wanted wanted = { .name = name };

	kunwind_dir_each(dir, is_wanted, &wanted);
	if (*wanted.found)
		snapshot->dir = kunwind_dir_at(dir, wanted.found);
	snprintf(snapshot->path, sizeof(snapshot->path), "%s/%s", path, wanted.found);
}

/* Writes the snapshot. Returns an error of LTTng. */
static int write_snapshot(const char *session, const char *path, const char *name)
{
	struct lttng_snapshot_output *output = lttng_snapshot_output_create();
	int err;

	if (!output)
		return -LTTNG_ERR_NOMEM;
	err = lttng_snapshot_output_set_name(name, output) ?:
	      lttng_snapshot_output_set_local_path(path, output);
	watchdog_wait(WATCH_DAEMON, "write a snapshot", WATCH_DISK);
	if (!err)
		err = lttng_snapshot_record(session, output, 0);
	lttng_snapshot_output_destroy(output);
	return err;
}

/* Waits until nobody else takes a snapshot of the session. Returns a descriptor; -1: there is no lock. */
static int lock(const char *session)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", session_recorder(session));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	watchdog_wait("another snapshot of this recorder", "wait for its end", WATCH_DISK);
	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	return fd;
}

static bool take(const char *session, int dir, const char *path, struct snapshot *snapshot)
{
	unsigned int last = 0;
	char name[64];
	int err;

	dump_mappings(session);
	kunwind_dir_each(dir, raise_number, &last);
	snprintf(name, sizeof(name), PREFIX "%u", last + 1);
	err = write_snapshot(session, path, name);
	watchdog_wait("the disk", "read the snapshot", WATCH_ANY);
	find(dir, path, name, snapshot);
	if (disk_check(snapshot->dir >= 0 ? snapshot->dir : dir) != DISK_ENOUGH) {
		kunwind_tool_error("%s: disk full: the snapshot is not complete. Free space there",
				   snapshot->dir >= 0 ? snapshot->path : path);
		return false;
	}
	if (err < 0)
		return session_failure(path, err);
	if (snapshot->dir < 0)
		kunwind_tool_error("%s: LTTng wrote no snapshot", path);
	return snapshot->dir >= 0;
}

bool snapshot_take(const char *session, int dir, const char *path, struct snapshot *snapshot)
{
	int fd = lock(session);
	bool ok;

	snapshot->dir = -1;
	ok = take(session, dir, path, snapshot);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Writes the directory of the session's snapshots. Returns false after a message. */
static bool directory_of(const char *session, char *dir, size_t size)
{
	struct lttng_snapshot_output_list *list = NULL;
	struct lttng_snapshot_output *output;
	const char *url = NULL;

	int err;

	watchdog_wait(WATCH_DAEMON, "name the directory of snapshots", WATCH_USUAL);
	err = lttng_snapshot_list_output(session, &list);
	if (err < 0)
		return session_failure(session, err);
	output = lttng_snapshot_output_list_get_next(list);
	if (output)
		url = lttng_snapshot_output_get_ctrl_url(output);
	if (url)
		snprintf(dir, size, "%s", strncmp(url, "file://", 7) ? url : url + 7);
	else
		kunwind_tool_error("%s: LTTng has no directory for its snapshots", session);
	lttng_snapshot_output_list_destroy(list);
	return url;
}

/*
 * Writes the name of the only recorder that runs, or checks that @wanted is one.
 */
static bool find_recorder(const char *wanted, char *name, size_t size)
{
	struct lttng_session *sessions = NULL;
	int i, nr, found = 0;
	char names[1024] = "";

	watchdog_wait(WATCH_DAEMON, "list sessions", WATCH_USUAL);
	nr = lttng_list_sessions(&sessions);
	for (i = 0; i < nr; i++) {
		if (!sessions[i].snapshot_mode || !sessions[i].enabled ||
		    !left_over_is_recorder(sessions[i].name) ||
		    (wanted && strcmp(wanted, sessions[i].name)))
			continue;
		found++;
		snprintf(name, size, "%s", sessions[i].name);
		if (strlen(names) + strlen(name) + 2 < sizeof(names))
			strcat(strcat(names, " "), name);
	}
	free(sessions);
	if (found == 1)
		return true;
	if (found)
		kunwind_tool_error("several flight recorders run; name one of:%s", names);
	else if (wanted)
		kunwind_tool_error("no flight recorder of that name runs: %s", wanted);
	else
		kunwind_tool_error("no flight recorder runs: start one with kunwind record --flight");
	return false;
}

static const char usage[] =
	"Usage: kunwind snapshot [OPTION]... [RECORDER]\n"
	"\n"
	"Writes what a running flight recorder (kunwind-record(1)) holds: a trace of the last\n"
	"seconds. Prints its path. RECORDER is the name of the recorder's LTTng session;\n"
	"it is needed only if several recorders run.\n"
	"\n"
	"  -j, --json  print an object with the path: kunwind-json(5)\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0; 1 after an error; 2 after wrong usage.\n";

int snapshot_command(int argc, char **argv)
{
	char name[256], path[4096];
	struct snapshot snapshot;
	bool json = false;
	int c, dir;

	while ((c = help_option(argc, argv, usage, NULL, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return kunwind_tool_parsed(1);
		}
		json = json || c == 'j';
		if (c == '?')
			return kunwind_tool_parsed(-1);
	}
	if (argc - optind > 1) {
		kunwind_tool_error("one recorder at a time, not also: %s", argv[optind + 1]);
		return TOOL_USAGE;
	}
	if (watchdog_begin(NULL, TOOL_FAILED, NULL) < -1 ||
	    !find_recorder(optind < argc ? argv[optind] : NULL, name, sizeof(name)) ||
	    !directory_of(name, path, sizeof(path)))
		return TOOL_FAILED;
	dir = kunwind_dir_open(path);
	if (dir < 0) {
		kunwind_tool_error("%s: %s", path, strerror(errno));
		return TOOL_FAILED;
	}
	if (!snapshot_take(name, dir, path, &snapshot))
		return TOOL_FAILED;
	if (json) {
		fputs("{\"snapshot\": ", stdout);
		kunwind_tool_json_string(snapshot.path);
		puts("}");
	} else {
		puts(snapshot.path);
	}
	return kunwind_tool_finish(TOOL_OK);
}
