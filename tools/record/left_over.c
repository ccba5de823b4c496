// SPDX-License-Identifier: MIT
/*
 * left_over.c - find and end LTTng sessions whose recorder was killed
 *
 * The session daemon keeps the session of a recorder that SIGKILL ended, and
 * goes on tracing. A session is left over only if its name (session_name.h) is
 * that of a recorder in the PID namespace of this process, and no program
 * "kunwind-record" has that PID. If the name of the program cannot be read, the
 * recorder counts as running. A recorder that got the PID of a killed one cannot
 * have made a session of that name, because the name is taken, except after
 * left_over_end().
 */
#include <errno.h>
#include <lttng/lttng.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "left_over.h"
#include "session_name.h"
#include "tool.h"
#include "triggers.h"
#include "watchdog.h"

#define PROGRAM	"kunwind-record"

static bool may_run(int pid)
{
	char path[32], line[64], state;
	bool runs = true;
	FILE *f;

	if (pid == getpid() || (kill(pid, 0) && errno == ESRCH))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		runs = sscanf(line, "%*d (" PROGRAM ") %c", &state) == 1 && state != 'Z' && state != 'X';
	if (f)
		fclose(f);
	return runs;
}

bool left_over_is_recorder(const char *name)
{
	int pid = session_recorder(name);

	return pid && may_run(pid);
}

static bool is_left_over(const char *name)
{
	int pid = session_recorder(name);

	return pid && !may_run(pid);
}

static void for_each(void (*fn)(const struct lttng_session *session))
{
	struct lttng_session *sessions = NULL;
	int i, nr;

	watchdog_wait(WATCH_DAEMON, "list sessions", WATCH_USUAL);
	nr = lttng_list_sessions(&sessions);
	for (i = 0; i < nr; i++) {
		if (is_left_over(sessions[i].name))
			fn(&sessions[i]);
	}
	free(sessions);
}

static void print(const struct lttng_session *session)
{
	printf("%s\t", session->name);
	kunwind_tool_text(stdout, session->path, "");
	putchar('\n');
}

void left_over_print(void)
{
	for_each(print);
}

static void end(const struct lttng_session *session)
{
	int err;

	watchdog_wait(WATCH_DAEMON, "end a session that is left over", WATCH_USUAL);
	err = lttng_destroy_session(session->name);
	if (err < 0)
		kunwind_tool_error("the session %s was left by a recorder that was killed, and cannot "
				   "be ended: %s (try: sudo lttng destroy %s)", session->name,
				   lttng_strerror(err), session->name);
	else
		kunwind_tool_error(session->snapshot_mode ?
				   "ended the flight recorder %s, left by a recorder that was killed" :
				   "ended the session %s, left by a recorder that was killed; its "
				   "trace is in %s", session->name, session->path);
}

void left_over_end(void)
{
	/* triggers remain if the user has destroyed their session */
	triggers_forget(is_left_over);
	for_each(end);
}
