#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# long: only
#
# t-lost.sh - what kunwind record says when a part of the trace is lost
#
# While a recording runs, a daemon of LTTng is killed, the directory of the trace is
# removed, or the module is switched off. Each time, the exit status is 125, and the message
# names the loss. A renamed directory loses nothing.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng lttng-relayd kunwind

cd "$KUNWIND_TMP" || exit 1
check "the module loads" modprobe kunwind
modprobe lttng-probe-kunwind
start_daemon() {
	pkill -KILL -x lttng-sessiond
	pkill -KILL -x lttng-consumerd
	while pgrep -x lttng-sessiond || pgrep -x lttng-consumerd; do sleep 0.1; done >/dev/null
	lttng-sessiond --daemonize
}
# lost NAME ACCIDENT [OPTION...]: records some calls, the accident, and some calls; sets $status and $err
lost() {
	local name=$1 accident=$2
	shift 2
	export accident
	kunwind record -e read -o "$name" "$@" -- sh -c '
		dd if=/dev/zero of=/dev/null bs=1 count=100 2>/dev/null
		eval "$accident"
		dd if=/dev/zero of=/dev/null bs=1 count=100 2>/dev/null' 2>err
	status=$?
	err=$(cat err)
}
restart="restart both: sudo pkill -KILL -x lttng-sessiond; sudo lttng-sessiond --daemonize"

start_daemon
lost whole true
like "$status $err" "^0 .*the trace is in whole\." "nothing happens: status 0"
lost consumer 'pkill -KILL -x lttng-consumerd; sleep 1'
like "$status $err" "^125 .*consumer daemon, which writes traces, has ended.*$restart" "SIGKILL of the consumer daemon: status 125, the loss and the fix"
like "$(kunwind doctor --tsv)" $'FAIL\tlttng-sessiond\tits consumer daemon.*has ended\tsudo pkill -KILL -x lttng-sessiond; sudo lttng-sessiond' \
	"doctor names the consumer daemon that has ended, and the fix"
lost next true
like "$status $err" "^125 .*consumer daemon, which writes traces, has ended.*$restart" "the next recording names the cause and the fix"
start_daemon
lost after true
is "$status" 0 "after the fix, a recording works"
like "$(kunwind doctor --tsv)" $'ok\tlttng-sessiond\troot' "after the fix, doctor says so"

lost removed 'rm -rf removed'
like "$status $err" "^125 .*removed: [0-9]+ of [0-9]+ files of the trace were removed" "the directory is removed: status 125 and the loss"
lost file 'rm file/kernel/events_0'
like "$status $err" "^125 .*file: 1 of [0-9]+ files of the trace were removed" "a stream is removed: status 125 and the loss"
lost renamed 'mv renamed other'
like "$status $err" "^0 .*another name now: $PWD/other.*the trace is in $PWD/other\." "the directory is renamed: the message has the new name"
check "the renamed trace is readable" kunwind report other
lost off 'echo N >/sys/module/kunwind/parameters/enabled'
like "$status $err" "^125 .*kunwind was switched off while this was recorded" "enabled=N: status 125 and the cause"
echo Y >/sys/module/kunwind/parameters/enabled

lttng-relayd --daemonize --output="$PWD/relay"
lost net://127.0.0.1 true
is "$status" 0 "a relay daemon: status 0"
lost net://127.0.0.1 'pkill -KILL -x lttng-relayd; sleep 1'
like "$status $err" "^125 .*the relay daemon there has ended.*the beginning of the trace went to net://127.0.0.1" \
	"SIGKILL of the relay daemon: status 125, the loss and the fix"
lttng-relayd --daemonize --output="$PWD/relay"
lost net://127.0.0.1 'pkill -KILL -x lttng-relayd; sleep 1; lttng-relayd --daemonize --output=relay; sleep 1'
like "$status $err" "^125 .*the relay daemon there has ended" "another relay daemon takes its place: status 125 and the loss"
lost ended 'pkill -KILL -x lttng-sessiond; sleep 1'
like "$status $err" "^125 .*no session daemon: sudo lttng-sessiond --daemonize.*the beginning of the trace is in ended\." \
	"SIGKILL of the session daemon: status 125 and the loss"

start_daemon
kunwind record --flight -a -e read -o flight 2>err &
recorder=$!
until grep -q 'snapshots go to' err; do sleep 0.1; done
check "kunwind snapshot takes a snapshot of a flight recorder" kunwind snapshot
kill -TERM $recorder
wait $recorder
like "$? $(cat err)" "^0 .*1 snapshots are in flight" "SIGTERM: the recorder counts the snapshot of kunwind snapshot"
done_testing
