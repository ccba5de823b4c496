#!/bin/bash
# SPDX-License-Identifier: MIT
#
# recorder.sh - kunwind record without LTTng and without the module: what it asks
# LTTng to record, how a flight recorder ends, and the exit status
#
# A program links the recorder's objects, and takes the place of libkunwind and
# of the files that call liblttng-ctl. It writes each event, with its filter, to
# the file "events". These variables change it:
#
#   FIRINGS=N  a trigger fires each N ms until triggers are removed
#   LAST=N     the first trigger fires N ms after it was made, instead
#   STOP_FAILS a session cannot be stopped
#   FULL=N     the first N snapshots fail

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
tools=$PWD/../../tools
work=$(mktemp -d)
sleeper=
trap 'kill $sleeper 2>/dev/null; rm -rf "$work"' EXIT

cat >"$work/recorder.c" <<'END_C'
#include <fcntl.h>
#include <kunwind.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "left_over.h"
#include "report.h"
#include "sampling.h"
#include "session.h"
#include "session_ust.h"
#include "snapshot.h"
#include "triggers.h"

int kunwind_info(struct kunwind_info *info) { (void)info; return 0; }
int kunwind_register_self(unsigned int flags) { (void)flags; return 0; }
int kunwind_register_pid(int pid, unsigned int flags) { (void)pid, (void)flags; return 0; }
int kunwind_unregister_pid(int pid) { (void)pid; return 0; }
int kunwind_report_read(struct kunwind_report *report) { (void)report; return -1; }
void kunwind_report_free(struct kunwind_report *report) { (void)report; }
const char *kunwind_report_value(const struct kunwind_report *r, const char *kind, const char *name, int field)
{ (void)r, (void)kind, (void)name, (void)field; return NULL; }

bool sampling_begin(struct sampling *s) { (void)s; return true; }
void sampling_restore(struct sampling *s) { (void)s; }
void sampling_check(const struct sampling *s) { (void)s; }
void left_over_print(void) { }
void left_over_end(void) { }

bool session_daemon(bool kernel) { (void)kernel; return true; }
bool session_consumer_ended(void) { return false; }
bool session_probe(void) { return true; }
bool session_is_remote(const char *to) { (void)to; return false; }
bool session_context(struct session *s, int type) { (void)s, (void)type; return true; }
bool session_has_stack_ids(void) { return true; }
bool session_stack_ids(struct session *s, bool kernel) { (void)s, (void)kernel; return true; }
bool session_may_trigger(const struct session *s, const char *name) { (void)s, (void)name; return true; }
bool session_open_files(struct session *s) { (void)s; return true; }
bool session_start(struct session *s) { (void)s; return true; }
bool session_destroy(struct session *s) { (void)s; return true; }

static void note(const char *what, const char *rest)
{
	FILE *f = fopen("events", "a");

	fprintf(f, "%s %s\n", what, rest);
	fclose(f);
}

bool session_create(struct session *s, const char *to, const struct session_buffers *buffers, bool flight)
{
	(void)to, (void)buffers, (void)flight;
	strcpy(s->name, "kunwind-record-1");
	return true;
}

bool session_event(struct session *s, const char *name, const char *filter)
{
	(void)s;
	note(name, filter ? filter : "-");
	return true;
}

bool session_ust_begin(struct session *s, uint64_t buffer, const char *filter)
{
	(void)s, (void)buffer;
	note("loaded", filter ? filter : "-");
	return true;
}

bool session_ust_event(struct session *s, const char *name, const char *filter)
{
	(void)s;
	note(name, filter ? filter : "-");
	return true;
}

bool session_interrupts(struct session *s, uint64_t buffer)
{
	(void)s, (void)buffer;
	note("interrupts", "-");
	return true;
}

bool session_stop(struct session *s, uint64_t *lost)
{
	(void)s;
	*lost = 0;
	return !getenv("STOP_FAILS");
}

/* OTHERS=N: kunwind snapshot takes N, too */
static unsigned int written;
unsigned int snapshot_count(int dir)
{
	(void)dir;
	return written + (unsigned int)atoi(getenv("OTHERS") ?: "0");
}

int snapshot_command(int argc, char **argv) { (void)argc, (void)argv; return 1; }
bool snapshot_dumped(void) { return true; }
bool snapshot_take(const char *session, int dir, const char *path, struct snapshot *snapshot)
{
	static int taken;
	const char *full = getenv("FULL");

	note("snapshot", session);
	snapshot->dir = -1;
	if (full && taken++ < atoi(full))
		return false;
	written++;
	snapshot->dir = dup(dir);
	snprintf(snapshot->path, sizeof(snapshot->path), "%s", path);
	return true;
}

static volatile bool removed;

static void *fire(void *data)
{
	const char *each = getenv("FIRINGS"), *last = getenv("LAST");
	long ms = atol(each ? each : last ? last : "0");
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
	struct triggers *triggers = data;
	struct firing firing = { .kind = triggers->expression[0].kind, .what = "fired" };

	while (ms && !removed) {
		nanosleep(&pause, NULL);
		if (write(triggers->pipe[1], &firing, sizeof(firing)) != sizeof(firing) || last)
			break;
	}
	return NULL;
}

int triggers_begin(struct triggers *triggers, const char *session, const char *filter)
{
	pthread_t thread;
	char nr[16];

	(void)session;
	snprintf(nr, sizeof(nr), "%zu", triggers->nr);
	note("triggers", nr);
	(void)filter;
	if (pipe2(triggers->pipe, O_CLOEXEC) || pthread_create(&thread, NULL, fire, triggers))
		return -1;
	return triggers->pipe[0];
}

bool triggers_end(struct triggers *triggers) { (void)triggers; removed = true; return true; }
END_C
objects=()
for name in main options events closing watchdog claim workload flight expression directory disk owner pids symbols usage; do objects+=("$tools/build/record-$name.o"); done
check "the test program compiles" cc -D_GNU_SOURCE -Wall -I "$tools/record" -I "$tools" -I "$tools/../libkunwind/include" \
	-pthread -o "$work/recorder" "$work/recorder.c" "${objects[@]}" "$tools"/build/trace-{boot,packets}.o "$tools"/build/{dir,help_options,last,tool,ust_environment}.o -lz
cd "$work" || exit 1

# record OPTION...: runs the recorder for at most 60 s; sets $status and $err
record() {
	rm -rf events out
	timeout -s KILL 60 ./recorder -o out "$@" 2>err
	status=$?
	err=$(cat err)
}
# filter_of EVENT: the filters that it has; -: none
filter_of() { awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2) }' events | sort -u | tr '\n' ';'; }

# ------------------------------------------------ events
sleep 1000 &
sleeper=$!
# recorded EVENTS: records them of one process, until SIGINT
recorded() {
	rm -rf events out
	./recorder -q -e "$1" -o out -p $sleeper &
	recorder=$!
	until grep -qs "^${1##*,}" events || ! kill -0 $recorder 2>/dev/null; do sleep 0.1; done
	kill -INT $recorder
	wait $recorder
	for event in sched_switch sched_waking interrupts; do echo "$event: $(filter_of $event)"; done | tr '\n' ' '
}
mine="\$ctx.pid == $sleeper"
is "$(recorded sched_switch,sched_waking)" "sched_switch: -; sched_waking: -; interrupts: -; " \
	"events of the scheduler are recorded for all processes"
is "$(recorded 'tracepoint:sched_switch,read')$(filter_of read)" "sched_switch: -; sched_waking:  interrupts:  $mine;" \
	"an event of the scheduler, with the prefix tracepoint:"
is "$(recorded 'sched_*')$(filter_of 'sched_*')" "sched_switch: -; sched_waking: -; interrupts: -; $mine;" \
	"events of the scheduler that a wildcard selects are recorded for all processes, the others are not"
is "$(recorded 'sched_wak*')$(filter_of 'sched_wak*')" "sched_switch:  sched_waking: -; interrupts: -; $mine;" \
	"a wildcard selects sched_waking alone"
recorded read >&2
is "$(filter_of kunwind_blocked)" "tgid == $sleeper;" "threads that are blocked: of the process, by fields of the event"
record -q -e read -- true
is "$(filter_of kunwind_blocked)" "" "threads that are blocked: not of a COMMAND, which begins to run"
record -q -a -e read -- true
is "$(filter_of kunwind_blocked)" "-;" "threads that are blocked: of all processes"
is "$(recorded 'syscall:sched_*')$(filter_of 'syscall:sched_*')" "sched_switch:  sched_waking:  interrupts:  $mine;" \
	"a wildcard for system calls selects no event of the scheduler"
# ------------------------------------------------ events of LTTng-UST
# with_ust OPTION...: records them of one process, until SIGINT; prints the names with their filters
with_ust() {
	rm -rf events out
	./recorder -q -o out -p $sleeper "$@" 2>/dev/null &
	recorder=$!
	until grep -qs "^app:two" events || ! kill -0 $recorder 2>/dev/null; do sleep 0.1; done
	kill -INT $recorder
	wait $recorder
	tr '\n' ';' <events
}
of_ust="\$ctx.vpid == $sleeper"
is "$(with_ust -U 'app:one,app:two')" "loaded $of_ust;app:one $of_ust;app:two $of_ust;" \
	"--ust: only these events, and what programs have loaded, of the process"
is "$(with_ust -e read -U 'app:one' -U app:two | sed 's/.*;read/read/')" "read $mine;loaded $of_ust;app:one $of_ust;app:two $of_ust;" \
	"--ust -e: both, each with its own filter"
is "$(with_ust -c -U 'app:two')" "loaded -;app:two -;" "--ust --children: LTTng has no filter for descendants"

kill $sleeper
sleeper=

# ------------------------------------------------ firings
FIRINGS=20 record -q --flight --trigger signal -- true
is "$status" 0 "flight: the recorder ends although triggers fire all the time"
FIRINGS=20 record -q --flight --interval 0 --trigger 'event sched_switch' -- true
is "$status" 0 "flight: the recorder ends although snapshots are taken all the time"
# the recorder waits for a second; most of it is for a busy machine
LAST=200 record --flight --trigger 'event sched_switch' -- true
like "$status $err" "^0 .*: fired.*1 snapshots are in" "flight: a firing that arrives after the command's end has its snapshot"
LAST=3000 record --flight --trigger signal -- sh -c 'kill -SEGV $$'
like "$status $err" "^139 .*: fired" "flight: the signal that killed the command is waited for"
begin=$SECONDS
record --flight --trigger signal -- sh -c 'exit 143'
is "$status $((SECONDS - begin < 18))" "143 1" "flight: an exit status above 128 is no signal to wait for"
record -q --flight --trigger signal --trigger 'fsync > 50ms' --trigger 'fsync > 0.05s' \
	--trigger 'event signal_deliver' --trigger signal --trigger 'signal SEGV' -- true
is "$status $(filter_of triggers)" "0 4;" "flight: a trigger that is given twice is made once"
record -q --flight --trigger 'fsync > 50ms' --trigger 'fsync > 60ms' --trigger 'signal SEGV' --trigger 'signal ABRT' -- true
is "$status $(filter_of triggers)" "0 4;" "flight: triggers of one event with other conditions are others"
# memory_of SIZE: KB of the buffers with --memory SIZE
memory_of() { record --flight --memory "$1" -- true; sed -n 's/.* recording into \([0-9]*\) KB .*/\1/p' err; }
size=$(memory_of 1G)
is "$(memory_of "${size}K")" "$size" "flight: buffers that need all of --memory"
is "$(($(memory_of "$((size - 1))K") * 2))" "$size" "flight: buffers are halved if a KB is missing"

# ------------------------------------------------ snapshots
# the command sends the recorder SIGUSR1, so that a snapshot precedes the firing
LAST=1500 record --flight --snapshots 1 --trigger 'event sched_switch' -- \
	sh -c 'kill -USR1 $PPID; sleep 2'
like "$(grep -c ': SIGUSR1$' err) $err" "^1 .*: fired.*that was snapshot 1 of 1.*2 snapshots are in" \
	"--snapshots: snapshots by SIGUSR1 do not count"

FULL=1 FIRINGS=20 record --flight --interval 0 --snapshots 1 --trigger 'event sched_switch' -- sleep 1
like "$(grep -c '^snapshot ' events) $err" "^2 .*that was snapshot 1 of 1" "--snapshots: a snapshot that failed does not count"
FULL=1000 FIRINGS=20 record --flight --interval 600 --trigger 'event sched_switch' -- sleep 1
is "$(grep -c '^snapshot ' events)" 1 "--interval: a snapshot that failed is not tried again at once"
FIRINGS=20 record -j --flight --interval 0 --snapshots 1 --trigger 'event sched_switch' -- sleep 1
like "$(grep -c '^snapshot ' events) $(tail -n 1 err)" '^1 .*"suppressed": [1-9]' "--snapshots: firings after the last snapshot are counted"

OTHERS=2 record --flight -- true
like "$status $err" "^0 .*2 snapshots are in out" "snapshots that kunwind snapshot takes are counted"
OTHERS=2 record --flight -- sh -c 'kill -USR1 $PPID; sleep 1'
like "$err" "3 snapshots are in out" "snapshots of both kinds are counted once"
OTHERS=1 record -j --flight -- true
like "$err" '"snapshots": 1,' "--json: snapshots that kunwind snapshot takes are counted"
record --flight -- true
like "$err" "no snapshot was taken" "no snapshot"

# ------------------------------------------------ lists of processes
# registered OPTION...: the processes that are recorded, by the filter
sleep 1000 &
sleeper=$!
sleep 1000 &
other=$!
for list in "$sleeper,$other" "$sleeper $other" "$sleeper
$other" " $sleeper , $other "; do
	rm -rf events out
	./recorder -q -e read -o out -p "$list" &
	recorder=$!
	until grep -qs "^read" events || ! kill -0 $recorder 2>/dev/null; do sleep 0.1; done
	kill -INT $recorder
	wait $recorder
	is "$(filter_of read)" "\$ctx.pid == $sleeper || \$ctx.pid == $other;" "-p takes a list: ${list@Q}"
done
kill $sleeper $other
sleeper=

# ------------------------------------------------ exit status
record -q -- sh -c 'exit 3'
is "$status" 3 "the exit status is the command's"
STOP_FAILS=1 record -q -- sh -c 'exit 3'
is "$status" 125 "the exit status is 125 if the session cannot be stopped, whatever the command's is"
cp "$tools/build/kunwind" alone
./alone record true 2>/dev/null
status=$?
./alone profile true 2>/dev/null
status+=" $?"
./alone snapshot 2>/dev/null
is "$status $?" "125 125 1" "the exit status of record and profile is 125 if their program is missing"
done_testing
