#!/bin/bash
# SPDX-License-Identifier: MIT
#
# daemon.sh - kunwind record and kunwind snapshot with a session daemon that does
# not answer: the time limit of each call, and signals; and with daemons of LTTng that have ended
#
# A program links all objects of the recorder, and takes the place of libkunwind
# and of liblttng-ctl. The function that $HANG names never returns. Each function
# of liblttng-ctl that the recorder calls is in one of two lists here: those that ask
# the daemon, and those that do not.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
tools=$PWD/../../tools
work=$(mktemp -d)
sleepers=()
trap 'kill "${sleepers[@]}" 2>/dev/null; rm -rf "$work"' EXIT

# function, scenario, what the message says
cat >"$work/calls" <<'END'
lttng_session_daemon_alive pid does it run?
lttng_health_query health is it healthy?
lttng_list_triggers pid list triggers
lttng_list_sessions pid list sessions
lttng_list_sessions left-over list sessions
lttng_list_sessions snapshot list sessions
lttng_create_session pid make a session
lttng_create_session_live remote make a session
lttng_create_session_ext flight make a session
lttng_enable_channel pid make a channel
lttng_list_syscalls pid list events
lttng_list_tracepoints pid list events
lttng_add_context pid add a context
lttng_enable_event all enable an event
lttng_enable_event_with_filter pid enable an event
lttng_start_tracing pid start tracing
lttng_stop_tracing_no_wait end stop tracing
lttng_data_pending end write the rest of the trace
lttng_list_channels end count lost events
lttng_destroy_session end end the session
lttng_notification_channel_create flight make a channel for notifications
lttng_register_trigger_with_name flight make a trigger
lttng_notification_channel_subscribe flight make a trigger
lttng_unregister_trigger flight-end remove a trigger
lttng_regenerate_statedump flight-snapshot report the mappings again
lttng_snapshot_record flight-snapshot write a snapshot
lttng_snapshot_list_output snapshot name the directory of snapshots
END
# these ask nobody
local_calls=(action_destroy action_notify_create channel_create channel_destroy channel_get_discarded_event_count
condition_destroy condition_event_rule_matches_append_capture_descriptor condition_event_rule_matches_create create_handle
destroy_handle evaluation_event_rule_matches_get_captured_values event_create event_destroy
event_expr_channel_context_field_create event_expr_event_payload_field_create
event_field_value_array_get_element_at_index event_field_value_array_get_length event_field_value_signed_int_get_value
event_field_value_string_get_value event_field_value_unsigned_int_get_value event_rule_destroy
event_rule_kernel_syscall_create event_rule_kernel_syscall_set_filter event_rule_kernel_syscall_set_name_pattern
event_rule_kernel_tracepoint_create event_rule_kernel_tracepoint_set_filter
event_rule_kernel_tracepoint_set_name_pattern health_create_consumerd health_create_sessiond health_destroy health_state
notification_channel_destroy notification_destroy
notification_get_evaluation notification_get_trigger session_daemon_notification_endpoint session_descriptor_destroy
session_descriptor_snapshot_local_create snapshot_output_create snapshot_output_destroy snapshot_output_get_ctrl_url
snapshot_output_list_destroy snapshot_output_list_get_next snapshot_output_set_local_path snapshot_output_set_name
strerror trigger_create trigger_destroy trigger_get_name triggers_destroy triggers_get_at_index triggers_get_count)
# its thread waits for as long as nothing happens
waits="notification_channel_get_next_notification"
is "$(nm -u "$tools"/build/record-*.o | grep -o ' lttng_.*' | sort -u | tr -d ' ')" \
	"$( (cut -d' ' -f1 "$work/calls"; printf 'lttng_%s\n' "${local_calls[@]}" $waits) | sort -u)" \
	"all functions of liblttng-ctl that the recorder calls are known here"

cat >"$work/stubs.c" <<'END_C'
#include <fcntl.h>
#include <kunwind.h>
#include <lttng/health.h>
#include <lttng/lttng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "report.h"

int kunwind_info(struct kunwind_info *info) { (void)info; return 0; }
int kunwind_register_self(unsigned int flags) { (void)flags; return 0; }
int kunwind_register_pid(int pid, unsigned int flags) { (void)pid, (void)flags; return 0; }
int kunwind_system_wide(int on) { (void)on; return 0; }
int kunwind_report_read(struct kunwind_report *report) { memset(report, 0, sizeof(*report)); return 0; }
void kunwind_report_free(struct kunwind_report *report) { (void)report; }
const char *kunwind_report_value(const struct kunwind_report *r, const char *kind, const char *name, int field)
{ (void)r, (void)kind, (void)name, (void)field; return access("off", F_OK) ? "Y" : "N"; }

static void note(const char *what)
{
	FILE *f = fopen("notes", "a");

	fprintf(f, "%s\n", what);
	fclose(f);
}

int kunwind_unregister_pid(int pid) { (void)pid; note("unregistered"); return 0; }

static void call(const char *name)
{
	const char *hang = getenv("HANG");

	note(name);
	while (hang && !strcmp(hang, name))
		pause();
}

/* RESULT: "NAME=NUMBER,NAME=NUMBER", what the functions return */
static int result(const char *name)
{
	const char *text = getenv("RESULT");

	call(name);
	text = text ? strstr(text, name) : NULL;
	return text && text[strlen(name)] == '=' ? atoi(text + strlen(name) + 1) : 0;
}

static char thing[4096];	/* what all pointers point to */
#define LOCAL(type, name, ...) type name(__VA_ARGS__)
#define ASK call(__func__)

int lttng_session_daemon_alive(void) { ASK; return 1; }
enum lttng_error_code lttng_list_triggers(struct lttng_triggers **all) { ASK; *all = NULL; return LTTNG_OK; }
int lttng_list_sessions(struct lttng_session **sessions)
{
	ASK;
	if (!getenv("RECORDER"))
		return 0;
	*sessions = calloc(1, sizeof(**sessions));
	snprintf((*sessions)->name, sizeof((*sessions)->name), "%s", getenv("RECORDER"));
	(*sessions)->enabled = (*sessions)->snapshot_mode = 1;
	return 1;
}
int lttng_create_session(const char *name, const char *url) { (void)name, (void)url; ASK; return 0; }
int lttng_create_session_live(const char *name, const char *url, unsigned int t) { (void)name, (void)url, (void)t; ASK; return 0; }
enum lttng_error_code lttng_create_session_ext(struct lttng_session_descriptor *d) { (void)d; ASK; return LTTNG_OK; }
int lttng_enable_channel(struct lttng_handle *h, struct lttng_channel *c) { (void)h, (void)c; return result(__func__); }
static int list(struct lttng_event **events, const char *name)
{
	*events = calloc(1, sizeof(**events));
	strcpy((*events)->name, name);
	return 1;
}
int lttng_list_syscalls(struct lttng_event **e) { ASK; return list(e, "openat"); }
int lttng_list_tracepoints(struct lttng_handle *h, struct lttng_event **e) { (void)h; ASK; return list(e, "kunwind_fatal_signal"); }
int lttng_add_context(struct lttng_handle *h, struct lttng_event_context *c, const char *e, const char *n)
{ (void)h, (void)c, (void)e, (void)n; ASK; return 0; }
int lttng_enable_event(struct lttng_handle *h, struct lttng_event *e, const char *c) { (void)h, (void)e, (void)c; ASK; return 0; }
int lttng_enable_event_with_filter(struct lttng_handle *h, struct lttng_event *e, const char *c, const char *f)
{ (void)h, (void)e, (void)c, (void)f; ASK; return 0; }
/* makes the files of a trace, as LTTng does */
int lttng_start_tracing(const char *n)
{
	static const char *const files[] = { "out/kernel/metadata", "out/kernel/events_0", "out/kernel/stacks_0" };
	size_t i;

	(void)n;
	mkdir("out/kernel", 0777);
	for (i = 0; getenv("FILES") && i < sizeof(files) / sizeof(files[0]); i++)
		close(open(files[i], O_CREAT | O_WRONLY, 0666));
	rmdir("out/kernel");
	ASK;
	return 0;
}
int lttng_stop_tracing_no_wait(const char *n) { (void)n; return result(__func__); }
int lttng_data_pending(const char *n)
{
	static int left = 3;

	(void)n;
	ASK;
	return getenv("PENDING") ? 1 : left-- > 0;
}
int lttng_list_channels(struct lttng_handle *h, struct lttng_channel **c) { (void)h; *c = NULL; return result(__func__); }
int lttng_destroy_session(const char *n) { (void)n; return result(__func__); }
int lttng_health_query(struct lttng_health *h) { return result((char *)h != thing ? __func__ : "consumer"); }
struct lttng_health *lttng_health_create_sessiond(void) { return (void *)(thing + 1); }
struct lttng_health *lttng_health_create_consumerd(enum lttng_health_consumerd c) { (void)c; return (void *)thing; }
int lttng_health_state(const struct lttng_health *h) { (void)h; return result("state"); }
void lttng_health_destroy(struct lttng_health *h) { (void)h; }
struct lttng_notification_channel *lttng_notification_channel_create(struct lttng_endpoint *e) { (void)e; ASK; return (void *)thing; }
enum lttng_error_code lttng_register_trigger_with_name(struct lttng_trigger *t, const char *n) { (void)t, (void)n; ASK; return LTTNG_OK; }
enum lttng_notification_channel_status lttng_notification_channel_subscribe(struct lttng_notification_channel *c,
	const struct lttng_condition *d) { (void)c, (void)d; ASK; return LTTNG_NOTIFICATION_CHANNEL_STATUS_OK; }
int lttng_unregister_trigger(const struct lttng_trigger *t) { (void)t; ASK; return 0; }
int lttng_regenerate_statedump(const char *n) { (void)n; ASK; return 0; }
int lttng_snapshot_record(const char *n, struct lttng_snapshot_output *o, int w) { (void)n, (void)o, (void)w; ASK; return 0; }
int lttng_snapshot_list_output(const char *n, struct lttng_snapshot_output_list **l) { (void)n; ASK; *l = (void *)thing; return 0; }
enum lttng_notification_channel_status lttng_notification_channel_get_next_notification(struct lttng_notification_channel *c,
	struct lttng_notification **n)
{
	(void)c;
	*n = (void *)thing;
	if (getenv("HANG") && !strcmp(getenv("HANG"), "notification"))
		for (;;)
			pause();	/* the rest of a notification does not come */
	pause();
	return LTTNG_NOTIFICATION_CHANNEL_STATUS_INTERRUPTED;
}
void lttng_notification_channel_destroy(struct lttng_notification_channel *c) { (void)c; note("channel destroyed"); }

struct lttng_endpoint *lttng_session_daemon_notification_endpoint;
#define POINTER(name) void *name(void) { return thing; }
#define NOTHING(name) int name(void) { return 0; }
END_C
cat >"$work/local.c" <<'END_C'
/* without headers: these functions have no arguments here */
static char thing[4096];
#define POINTER(name) void *lttng_##name(void) { return thing; }
#define NOTHING(name) int lttng_##name(void) { return 0; }
POINTER(action_notify_create) POINTER(channel_create) POINTER(condition_event_rule_matches_create) POINTER(create_handle)
POINTER(event_create) POINTER(event_expr_channel_context_field_create) POINTER(event_expr_event_payload_field_create)
POINTER(event_rule_kernel_syscall_create) POINTER(event_rule_kernel_tracepoint_create)
POINTER(session_descriptor_snapshot_local_create) POINTER(snapshot_output_create) POINTER(snapshot_output_list_get_next)
POINTER(trigger_create) POINTER(strerror) POINTER(notification_get_trigger) POINTER(notification_get_evaluation)
const char *lttng_snapshot_output_get_ctrl_url(void) { return "file:///tmp"; }
NOTHING(action_destroy) NOTHING(channel_destroy) NOTHING(channel_get_discarded_event_count) NOTHING(condition_destroy)
NOTHING(condition_event_rule_matches_append_capture_descriptor) NOTHING(destroy_handle)
NOTHING(evaluation_event_rule_matches_get_captured_values) NOTHING(event_destroy)
NOTHING(event_field_value_array_get_element_at_index) NOTHING(event_field_value_array_get_length)
NOTHING(event_field_value_signed_int_get_value) NOTHING(event_field_value_string_get_value)
NOTHING(event_field_value_unsigned_int_get_value) NOTHING(event_rule_destroy)
NOTHING(event_rule_kernel_syscall_set_filter) NOTHING(event_rule_kernel_syscall_set_name_pattern)
NOTHING(event_rule_kernel_tracepoint_set_filter) NOTHING(event_rule_kernel_tracepoint_set_name_pattern)
NOTHING(notification_destroy) NOTHING(session_descriptor_destroy) NOTHING(snapshot_output_destroy)
NOTHING(snapshot_output_list_destroy) NOTHING(snapshot_output_set_local_path) NOTHING(snapshot_output_set_name)
NOTHING(trigger_destroy) NOTHING(trigger_get_name) NOTHING(triggers_destroy) NOTHING(triggers_get_at_index)
NOTHING(triggers_get_count)
END_C
check "the test program compiles" cc -D_GNU_SOURCE -Wall -Wno-builtin-declaration-mismatch -I "$tools" -I "$tools/../libkunwind/include" \
	-pthread -o "$work/kunwind-record" "$work/stubs.c" "$work/local.c" "$tools"/build/record-*.o \
	"$tools"/build/trace-{boot,packets}.o "$tools"/build/{dir,help_options,last,tool,ust_environment}.o -lz

# start NAME SCENARIO: starts the recorder in the directory NAME, as $pid
start() {
	# each records another process: recordings that share one do not all unregister it
	sleep 1000 &
	local sleeper=$!
	sleepers+=("$sleeper")
	local options=(-q -o out -e openat -p "$sleeper")
	mkdir "$work/$1"
	cd "$work/$1" || exit 1
	case $2 in
	left-over) options=(--left-over) ;;
	health) options=(--consumer-ended) ;;
	snapshot) options=(-) ;;
	remote) options=(-q -o net://host -e openat -p "$sleeper") ;;
	all) options=(-q -o out -a -e openat) ;;
	flight*) options+=(--flight --trigger signal) ;;
	command) options=(-q -o out -e openat -- sleep 1000) ;;
	esac
	if [ "$2" = snapshot ]; then
		RECORDER=$recorder bash -c 'exec -a "kunwind snapshot" ../kunwind-record' 2>err >stdout &
	else
		# background jobs ignore some signals
		env --default-signal ../kunwind-record "${options[@]}" 2>err >stdout &
	fi
	pid=$!
	cd ..
}
# until_noted NAME WHAT: waits until the recorder of NAME has written WHAT
until_noted() {
	local i
	for ((i = 0; i < 200; i++)); do
		grep -qsx "$2" "$work/$1/notes" && return
		sleep 0.1
	done
	return 1
}
# err NAME: its messages, without the one about a module, which may be loaded
err() { grep -v 'the trace will have no mappings' "$work/$1/err"; }
# ends PID: whether it ends within 40 s; sets $status
ends() {
	local i
	for ((i = 0; i < 400; i++)); do
		if ! kill -0 "$1" 2>/dev/null; then
			wait "$1"
			status=$?
			return
		fi
		sleep 0.1
	done
	kill -KILL "$1"
	wait "$1" 2>/dev/null
	status="not ended"
}

# a recorder that runs, for kunwind snapshot
start runs flight
recorder_pid=$pid
until_noted runs lttng_start_tracing
recorder=kunwind-record-$recorder_pid
space=$(stat -L -c %i /proc/self/ns/pid)
[ "$space" = 4026531836 ] || recorder+=-ns$space

# ------------------------------------------------ time limits
export KUNWIND_DAEMON_TIMEOUT=1
i=0
declare -A pids
while read -r name scenario what; do
	i=$((i + 1))
	HANG=$name start "limit-$i" "$scenario"
	pids[$i]=$pid
	case $scenario in
	*end) (until_noted "limit-$i" lttng_start_tracing && sleep 0.5 && kill -INT "${pids[$i]}") & ;;
	flight-snapshot) (until_noted "limit-$i" lttng_start_tracing && sleep 0.5 && kill -USR1 "${pids[$i]}") & ;;
	esac
done <"$work/calls"
i=0
while read -r name scenario what; do
	i=$((i + 1))
	ends "${pids[$i]}"
	wanted=125
	[ "$scenario" != snapshot ] || wanted=1
	is "$status $(err "limit-$i")" "$wanted kunwind $([ "$scenario" = snapshot ] && echo snapshot || echo record): LTTng's session daemon has not \
answered for 1 seconds ($what): restart it: sudo pkill -KILL -x lttng-sessiond; sudo lttng-sessiond --daemonize" \
		"$name does not return ($scenario): the program ends with a message"
done <"$work/calls"
is "$(grep -l unregistered "$work"/limit-*/notes | wc -l)" "$(sed -n '/^lttng_start_tracing/,$p' "$work/calls" | grep -vc ' snapshot ')" \
	"the time limit: processes that were registered are unregistered"
is "$(find "$work"/limit-* -name out | wc -l)" 0 "the time limit: no empty directory stays"
PENDING=1 start pending pid
until_noted pending lttng_start_tracing
sleep 0.5
kill -INT "$pid"
ends "$pid"
like "$status $(err pending)" "^125 .*write the rest of the trace" "data that stays pending for ever: the recorder ends"
unset KUNWIND_DAEMON_TIMEOUT

# ------------------------------------------------ signals
for signal in INT TERM HUP QUIT; do
	for call in lttng_create_session lttng_stop_tracing_no_wait; do
		HANG=$call start "signal-$signal-$call" pid
		pids[$signal-$call]=$pid
	done
done
for signal in INT TERM HUP QUIT; do
	until_noted "signal-$signal-lttng_create_session" lttng_create_session
	until_noted "signal-$signal-lttng_stop_tracing_no_wait" lttng_start_tracing
	sleep 0.3
	kill -$signal "${pids[$signal-lttng_create_session]}" "${pids[$signal-lttng_stop_tracing_no_wait]}"
done
# those that follow within a second are the same one; the next one ends the wait
for signal in INT TERM HUP QUIT; do
	until_noted "signal-$signal-lttng_stop_tracing_no_wait" lttng_stop_tracing_no_wait
done
sleep 1.5
for signal in INT TERM HUP QUIT; do kill -$signal "${pids[$signal-lttng_stop_tracing_no_wait]}"; done
for signal in INT TERM HUP QUIT; do
	for call in lttng_create_session lttng_stop_tracing_no_wait; do
		begin=$SECONDS
		ends "${pids[$signal-$call]}"
		like "$status $((SECONDS - begin < 30)) $(err "signal-$signal-$call")" \
			"^125 1 kunwind record: ended by signal $(kill -l $signal): LTTng's session daemon does not answer" \
			"SIG$signal ends a recorder that waits in $call"
	done
done
start same pid
until_noted same lttng_start_tracing
sleep 0.3
kill -INT "$pid"
kill -TERM "$pid"
ends "$pid"
is "$status $(err same)" "0 " "two signals at once end a recording as one does"
start early pid
# not while it is still a shell, which would remove the directory
until grep -qs kunwind-record "/proc/$pid/comm" || ! kill -0 "$pid" 2>/dev/null; do :; done
kill -TERM "$pid"
ends "$pid"
like "$status" "^(125|143)$" "a signal before the recording began ends the recorder"
KUNWIND_DAEMON_TIMEOUT=1 start idle command
until_noted idle lttng_start_tracing
sleep 3
check "no time limit while a recording goes on" kill -0 "$pid"
kill -TERM "$pid"
ends "$pid"
is "$status" 143 "SIGTERM ends the command, and then the recording"

# ------------------------------------------------ daemons that have ended, and lost files
# ended NAME [OPTION...]: a recording with files, during which $during is done; sets $status and $err
ended() {
	local name=$1
	shift
	[ $# -gt 0 ] || set -- -o out
	mkdir -p "$work/$name"
	cd "$work/$name" || exit 1
	FILES=1 ../kunwind-record "$@" -e openat -- sh -c "$during" 2>err >stdout
	status=$?
	err=$(err "$name")
	cd ..
}
during=true
ended whole
like "$status $err" "^0 kunwind record: the trace is in out\." "a recording to which nothing happens: status 0"
consumer="consumer daemon, which writes traces, has ended.*restart both: sudo pkill -KILL -x lttng-sessiond; sudo lttng-sessiond --daemonize"
RESULT=lttng_list_channels=-99 ended list
like "$status $err" "^125 kunwind record: the trace ends early: .*$consumer.*the beginning of the trace is in out\." \
	"the consumer daemon has ended before the recording: status 125, the loss and what to do"
RESULT=lttng_destroy_session=-150 ended destroy
like "$status $err" "^125 kunwind record: the trace may end early: .*$consumer.*the beginning of the trace is in out\." \
	"the consumer daemon ends while the session is destroyed: status 125, the loss and what to do"
RESULT=lttng_enable_channel=-99 ended channel
like "$status $err" "^125 kunwind record: channel: .*$consumer" "no recording begins without a consumer daemon: what to do"
RESULT=lttng_stop_tracing_no_wait=-23,lttng_destroy_session=-23 ended restarted
like "$status $err" "^125 kunwind record: stop: LTTng's session daemon was restarted.*the beginning of the trace is in out" \
	"the session daemon was restarted: status 125 and the loss"
is "$(grep -c 'kunwind record: ' <<<"$err")" 2 "the session daemon was restarted: the loss is named once"
RESULT=lttng_destroy_session=-141 ended relay -o net://host
like "$status $err" "^125 kunwind record: the trace may end early: the relay daemon there has ended.*the beginning of the trace went to net://host" \
	"the relay daemon has ended: status 125, the loss and what to do"
RESULT=lttng_destroy_session=-141 ended stream
like "$status $err" "^0 kunwind record: the trace is in out\." "a local stream that was given up is for the check of the disk"
during='rm -rf out'
ended removed
like "$status $err" "^125 kunwind record: out: 3 of 3 files of the trace were removed.*record again" "the directory is removed: status 125 and the loss"
is "$(grep -c 'trace is in' <<<"$err")" 0 "the directory is removed: no message says that the trace is there"
during='rm -r out; mkdir -p out/kernel; touch out/kernel/metadata out/kernel/events_0 out/kernel/stacks_0'
ended again
like "$status $err" "^125 kunwind record: out: 3 of 3 files" "the directory is removed, and made again by somebody else: status 125"
during='rm out/kernel/events_0'
ended file
like "$status $err" "^125 kunwind record: out: 1 of 3 files of the trace were removed.*the rest of the trace is in out\." "one file is removed: status 125 and the loss"
during='mv out elsewhere'
ended moved
like "$status $err" "^0 kunwind record: out: the directory has another name now: $work/moved/elsewhere.*the trace is in $work/moved/elsewhere\." \
	"the directory is renamed: the message has its new name"
during='touch off'
ended off
like "$status $err" "^125 kunwind record: kunwind was switched off while this was recorded.*the parameter enabled is Y" \
	"the module is switched off: status 125 and the cause"
# healthy CASE RESULT: what kunwind doctor is told
healthy() { (cd "$work/whole" && RESULT=$1 ../kunwind-record --consumer-ended); }
is "$(healthy state=-1)" "" "a part of the session daemon has failed, but the consumer daemon answers"
is "$(healthy consumer=-1)" "" "there is no consumer daemon yet"
is "$(healthy state=-1,consumer=-1)" "yes" "the consumer daemon has ended: doctor is told so"

# ------------------------------------------------ a notification that does not end
HANG=notification start rest flight
until_noted rest lttng_start_tracing
sleep 0.3
kill -INT "$pid"
ends "$pid"
is "$status $(grep -c 'channel destroyed' "$work/rest/notes")" "0 0" "half of a notification: the recorder ends, and keeps what the thread uses"
kill -INT "$recorder_pid"
ends "$recorder_pid"
is "$status $(grep -c 'channel destroyed' "$work/runs/notes")" "0 1" "the thread that waits for notifications ends before its memory is freed"
done_testing
