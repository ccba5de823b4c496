// SPDX-License-Identifier: MIT
/*
 * snapshot.c - write what the buffers of a flight recorder hold
 *
 * The mappings of long-lived processes were reported long ago, and these events
 * have been overwritten. So the module first reports all mappings again, and
 * defines the ids of stacks again: LTTng's "regenerate statedump" starts that
 * (lttng-probes/statedump.c). The module needs some milliseconds for it; two of
 * its parameters say when it is done.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <lttng/lttng.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "disk.h"
#include "left_over.h"
#include "session.h"
#include "snapshot.h"
#include "tool.h"

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

/* Reports all mappings into the trace. Without that, fewer frames get names. */
static void dump_mappings(const char *session)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	unsigned int wanted, done;
	time_t end;
	int err = lttng_regenerate_statedump(session);

	if (err < 0) {
		kunwind_tool_error("the mappings are not reported again: %s", lttng_strerror(err));
		return;
	}
	if (!parameter(PARAMETERS "dumps_wanted", &wanted))
		return;
	end = time(NULL) + DUMP_SECONDS;
	while (parameter(PARAMETERS "dumps_done", &done) && (int)(done - wanted) < 0) {
		if (time(NULL) > end) {
			kunwind_tool_error("the mappings are not all reported after %d seconds: the "
					   "snapshot may lack some names", DUMP_SECONDS);
			return;
		}
		nanosleep(&pause, NULL);
	}
}

/* Returns the highest number of a snapshot in the directory; 0: there is none. */
static unsigned int last_number(const char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	unsigned int last = 0, number;

	while (stream && (entry = readdir(stream))) {
		if (sscanf(entry->d_name, PREFIX "%u-", &number) == 1 && number > last)
			last = number;
	}
	if (stream)
		closedir(stream);
	return last;
}

/* Finds the directory to whose name LTTng has added the time. */
static bool find(const char *dir, const char *name, char *path, size_t size)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	bool found = false;

	while (stream && !found && (entry = readdir(stream))) {
		found = !strncmp(entry->d_name, name, strlen(name)) &&
			entry->d_name[strlen(name)] == '-';
		if (found)
			snprintf(path, size, "%s/%s", dir, entry->d_name);
	}
	if (stream)
		closedir(stream);
	return found;
}

bool snapshot_take(const char *session, const char *dir, char *path, size_t size)
{
	struct lttng_snapshot_output *output = lttng_snapshot_output_create();
	char name[64];
	bool found;
	int err;

	if (!output)
		return session_failure("snapshot", -LTTNG_ERR_NOMEM);
	dump_mappings(session);
	snprintf(name, sizeof(name), PREFIX "%u", last_number(dir) + 1);
	err = lttng_snapshot_output_set_name(name, output) ?:
	      lttng_snapshot_output_set_local_path(dir, output);
	if (!err)
		err = lttng_snapshot_record(session, output, 0);
	lttng_snapshot_output_destroy(output);
	found = find(dir, name, path, size);
	if (disk_check(found ? path : dir) != DISK_ENOUGH) {
		kunwind_tool_error("%s: disk full: the snapshot is not complete. Free space there",
				   found ? path : dir);
		return false;
	}
	if (err < 0)
		return session_failure(dir, err);
	if (!found)
		kunwind_tool_error("%s: LTTng wrote no snapshot", dir);
	return found;
}

/* Writes the directory of the session's snapshots. Returns false after a message. */
static bool directory_of(const char *session, char *dir, size_t size)
{
	struct lttng_snapshot_output_list *list = NULL;
	struct lttng_snapshot_output *output;
	const char *url = NULL;

	int err = lttng_snapshot_list_output(session, &list);

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
	"Exit status: 0, or 1 after an error.\n";

int snapshot_command(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' }, { "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	char name[256], dir[4096], path[4608];
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, "hj", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return kunwind_tool_finish(TOOL_OK);
		}
		json = json || c == 'j';
		if (c == '?') {
			fprintf(stderr, "Try: kunwind snapshot --help\n");
			return TOOL_FAILED;
		}
	}
	if (argc - optind > 1) {
		kunwind_tool_error("one recorder at a time, not also: %s", argv[optind + 1]);
		return TOOL_FAILED;
	}
	if (!find_recorder(optind < argc ? argv[optind] : NULL, name, sizeof(name)) ||
	    !directory_of(name, dir, sizeof(dir)) || !snapshot_take(name, dir, path, sizeof(path)))
		return TOOL_FAILED;
	if (json) {
		fputs("{\"snapshot\": ", stdout);
		kunwind_tool_json_string(path);
		puts("}");
	} else {
		puts(path);
	}
	return kunwind_tool_finish(TOOL_OK);
}
