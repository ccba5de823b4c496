#!/bin/bash
# SPDX-License-Identifier: MIT
#
# triggers.sh - tools/record/triggers.c and left_over.c: which triggers are removed,
# and for which processes none fires
#
# A program includes triggers.c, and takes the place of the functions of
# liblttng-ctl that list and remove.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
tools=../../tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/triggers.c" <<'END_C'
#include "record/triggers.c"
#include "record/left_over.h"
#include "record/session_name.h"
#include <sys/prctl.h>
#include <sys/wait.h>

static void say(bool good, const char *what) { printf("%sok - %s\n", good ? "" : "not ", what); }

bool session_failure(const char *what, int code) { (void)what, (void)code; return false; }

static char names[8][96];
static bool gone[8];
static unsigned int nr_names;

int lttng_list_sessions(struct lttng_session **sessions) { *sessions = NULL; return 0; }
enum lttng_error_code lttng_list_triggers(struct lttng_triggers **triggers) { *triggers = NULL; return LTTNG_OK; }
void lttng_triggers_destroy(struct lttng_triggers *triggers) { (void)triggers; }
int lttng_unregister_trigger(const struct lttng_trigger *trigger) { gone[(char (*)[96])trigger - names] = true; return 0; }

enum lttng_trigger_status lttng_triggers_get_count(const struct lttng_triggers *triggers, unsigned int *count)
{
	(void)triggers;
	*count = nr_names;
	return LTTNG_TRIGGER_STATUS_OK;
}

const struct lttng_trigger *lttng_triggers_get_at_index(const struct lttng_triggers *triggers, unsigned int i)
{
	(void)triggers;
	return (const void *)names[i];
}

enum lttng_trigger_status lttng_trigger_get_name(const struct lttng_trigger *trigger, const char **name)
{
	*name = (const char *)trigger;
	return **name ? LTTNG_TRIGGER_STATUS_OK : LTTNG_TRIGGER_STATUS_UNSET;
}

static int started[8], nr_started;

static void end_all(void)
{
	while (nr_started)
		kill(started[--nr_started], SIGKILL);
}

/* A process of this name. With @hidden, other processes of its user cannot read its program. */
static int start(const char *name, bool hidden)
{
	int ready[2], pid;
	char byte;

	if (pipe(ready))
		exit(1);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_DUMPABLE, !hidden);
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1))
		exit(1);
	started[nr_started++] = pid;
	return pid;
}

static bool left_out(const char *filter, int pid)
{
	char condition[64];

	snprintf(condition, sizeof(condition), "&& $ctx.pid != %d", pid);
	return strstr(filter, condition);
}

int main(void)
{
	int runs = start("kunwind-record", false), other = start("other", false), ended = start("ended", false);
	int zombie = start("kunwind-record", false);
	int daemon, hidden, plain;
	const char *own_space;
	char mine[64], *filter;

	kill(ended, SIGKILL);
	waitpid(ended, NULL, 0);
	kill(zombie, SIGKILL);
	waitid(P_PID, (id_t)zombie, NULL, WEXITED | WNOWAIT);
	session_name(mine, sizeof(mine));
	own_space = strstr(mine, "-ns");
	own_space = own_space ? own_space : "";
	snprintf(names[0], sizeof(names[0]), "kunwind-record-%d%s/0", ended, own_space);
	snprintf(names[1], sizeof(names[1]), "kunwind-record-%d%s/1", ended, own_space);
	snprintf(names[2], sizeof(names[2]), "kunwind-record-%d%s/0", runs, own_space);
	snprintf(names[3], sizeof(names[3]), "kunwind-record-%d%s/0", other, own_space);
	snprintf(names[4], sizeof(names[4]), "kunwind-record-%d%s", ended, own_space);
	snprintf(names[5], sizeof(names[5]), "%.80s/0", "a user's trigger with a name that is longer than one of a session can be, by far");
	snprintf(names[7], sizeof(names[7]), "kunwind-record-%d%s/0", zombie, own_space);
	nr_names = 8;
	left_over_end();
	say(gone[0] && gone[1], "triggers of a recorder that was killed are removed, also without its session");
	say(!gone[2], "triggers of a recorder that runs stay");
	say(gone[3], "triggers of a recorder whose PID another program has are removed");
	say(gone[7], "triggers of a recorder that has ended, and whose parent does not know it yet, are removed");
	say(!gone[4] && !gone[5] && !gone[6], "other triggers stay");

	/* root may read every program; another user may not end root's processes */
	end_all();
	if (!getuid() && (setgid(65534) || setuid(65534)))
		return 1;
	daemon = start("lttng-sessiond", true);
	hidden = start("other", true);
	plain = start("other", false);
	filter = make_filter("a == 1", "b == 2");
	say(left_out(filter, daemon), "no trigger fires for a daemon of LTTng whose program this user may not read");
	say(!left_out(filter, hidden) && !left_out(filter, plain), "triggers fire for other processes");
	say(left_out(filter, getpid()) && strstr(filter, " && (a == 1) && (b == 2)"),
	    "a trigger's filter has the expression and the processes that are recorded");
	end_all();
	return 0;
}
END_C
check "the test program compiles" cc -D_GNU_SOURCE -Wall -I $tools/record -I $tools -I ../../libkunwind/include -pthread \
	-o "$work/triggers" "$work/triggers.c" $tools/build/record-{left_over,session_name,expression,watchdog}.o $tools/build/tool.o -llttng-ctl
timeout 60 "$work/triggers" >"$work/tap"
is "$?" 0 "the test program ends"
tap_from "$work/tap"
done_testing
