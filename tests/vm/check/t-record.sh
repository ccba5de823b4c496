#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 800
#
# t-record.sh - kunwind record: one command makes a trace
#
# The trace has only the events of the command and its children, with stacks
# from the first instruction on. Also tested: processes that already run (-p),
# exit statuses, and the messages if something is missing.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc

cd "$KUNWIND_TMP" || exit 1
source=$OLDPWD/tests/vm/fixtures/show-chain.c
gcc -O2 -fomit-frame-pointer -o chain "$source" || { echo "Bail out! the program does not build"; exit 1; }

# functions DIR EVENT PID: of that process's first such event, innermost first
functions() {
	kunwind show --tsv --event "$2" --pid "$3" --limit 1 "$1" |
		awk -F '\t' '$1 == "frame" { printf "%s ", $5 == "" ? "?" : $5 }'
}
# commands DIR EVENTS: the processes that have such events, by name
commands() { kunwind show --no-symbols --tsv --event "$2" "$1" | awk -F '\t' '$1 == "event" { print $5 }' | sort -u | tr '\n' ' '; }
# Starts a program that waits for input from descriptor $go; sets $pid.
start_waiting() {
	rm -f in
	mkfifo in
	./chain wait <in &
	pid=$!
	exec {go}>in
	until grep -qs pipe_read "/proc/$pid/stack" && [ "$(cat "/proc/$pid/comm")" = chain ]; do sleep 0.1; done
}
# Lets $pid run until it waits for its input again.
run_once() {
	local before
	before=$(awk '/^voluntary/ { print $2 }' "/proc/$pid/status")
	echo >&"$go"
	until [ "$(awk '/^voluntary/ { print $2 }' "/proc/$pid/status")" -gt "$before" ] &&
		grep -qs pipe_read "/proc/$pid/stack"; do sleep 0.1; done
}
# started SESSION: succeeds if the session is active
started() {
	lttng --mi xml list "$1" 2>/dev/null | /usr/bin/python3 -c '
import re, sys
session = re.search(r"<session>.*?<enabled>(\w+)</enabled>", sys.stdin.read(), re.S)
sys.exit(not session or session[1] != "true")'
}
registered() { kunwind status --tsv | awk -F '\t' '$1 == "process" { print $2 }' | tr '\n' ' '; }

# The session daemon looks up the group when it starts. Debian's lttng-tools
# creates the group only if adduser is installed.
getent group tracing >/dev/null || groupadd -r tracing

# ------------------------------------------------ what is missing
out=$(kunwind record true 2>&1)
is "$? ${out##*: }" "125 sudo modprobe kunwind (kunwind doctor tells more)" "record without the module: exits with 125 and says how to load it"
check "the module loads" modprobe kunwind

# ------------------------------------------------ the first recording since boot
# The recorder starts the session daemon and loads the probe module. The recording
# goes on when these child processes end.
kunwind record -a -q -e gettid -o since-boot &
recorder=$!
eventually "the first record -a: its session starts" started "kunwind-record-$recorder"
sleep 2
check "the first record -a: it still records after two seconds" started "kunwind-record-$recorder"
kill -INT "$recorder"
wait "$recorder"
is "$?" 0 "the first record -a: SIGINT ends it"

check_fails 125 "record: an unknown option is refused" kunwind record --frobnicate true
check_fails 125 "record: neither a command nor a PID is refused" kunwind record
check_fails 125 "record: a PID that does not exist is refused" kunwind record -o nobody -p 99999999
check_fails 125 "record: an output directory that is not empty is refused" kunwind record -o /etc true
check_fails 125 "record: a buffer size that is not a power of two is refused" kunwind record --buffer 5000 true
out=$(kunwind record -e no_such_event -o nothing true 2>&1)
is "$? $(wc -l <<<"$out")" "125 1" "record: an unknown event is refused with one line"
like "$out" 'no system call or tracepoint "no_such_event" .*lttng list' "record: the message names the unknown event and lttng list"
check "record: an unknown event leaves no directory" test ! -e nothing
is "$(lttng list 2>/dev/null | grep kunwind-record)" "" "record: an unknown event leaves no session"

# ------------------------------------------------ a command
out=$(kunwind record -o first -- sh -c 'echo out; ./chain; sleep 0.3; exit 7' 2>err)
is "$? $out" "7 out" "record: output and exit status are the command's"
like "$(cat err)" "the trace is in first.*kunwind report first" "record: a message names the trace and the next command"
is "$(lsmod | grep -c '^lttng_probe_kunwind')" 1 "record: the LTTng probe module is loaded"
is "$(commands first 'syscall_entry_*')" "chain sh sleep " "record: only system calls of the command and its children are recorded"
recorded=$(kunwind show --no-symbols --tsv -e syscall_exit_execve first | awk -F '\t' '$1 == "event" { print $6; exit }')
# the events of the scheduler are recorded for all processes
is "$(kunwind show --no-symbols --tsv --pid "$recorded" first | awk -F '\t' '$1 == "event" && $4 !~ /^sched_/ { print $4; exit }')" \
	syscall_exit_execve "record: the first event of the command's process is the end of its execve()"
kunwind record -o "-a sh\$rt; trace" -- /bin/true 2>err
is $? 0 "record: a program that makes no ioctl() is recorded"
check "record: the suggested report command works in a shell, with a path that begins with - and has special characters" \
	sh -c "$(grep '^  kunwind report' err)"
mv "./-a sh\$rt; trace" short
is "$(kunwind show --no-symbols --tsv short | grep -cE 'syscall_(entry_execve|entry_ioctl|exit_read	kunwind)')" 0 "record: the trace has no system calls of kunwind"
rm -rf short
like "$(commands first sched_switch)" "swapper" "record: sched_switch events of all processes are recorded"
pid=$(kunwind show --no-symbols --tsv --event syscall_entry_gettid first |
	awk -F '\t' '$1 == "event" && $5 == "chain" { print $6; exit }')
like "$(functions first syscall_entry_gettid "$pid")" "fct_c fct_b fct_a main .*_start $" "record: the stack of gettid() has the known chain"
like "$(functions first syscall_entry_brk "$pid")" "_start $" "record: the first stack of brk(), before main(), ends at _start"
is "$(registered)" "" "record: no process stays registered"
is "$(lttng list 2>/dev/null | grep kunwind-record)" "" "record: the session is destroyed"
check_fails 125 "record: a directory that has a trace is refused" kunwind record -o first true


# ------------------------------------------------ reports of that trace
kunwind report --json first >report.json 2>err
is "$?" 0 "kunwind report --json succeeds"
is "$(/usr/bin/python3 - report.json <<-'END'
	import json, sys
	data = json.load(open(sys.argv[1]))
	calls = {call["name"]: call for call in data["system_calls"]}
	functions = {f["name"]: f for f in data["functions"] if f["object"].endswith("/chain")}
	slept, tid = calls["clock_nanosleep"], calls["gettid"]
	print(slept["count"], 300e6 <= slept["ns"] < 30e9, slept["ns"] * 0.8 < slept["off_cpu_ns"] <= slept["ns"],
	      tid["count"], [functions[name]["events"] >= 1 for name in ("fct_a", "fct_b", "fct_c", "main")],
	      functions["fct_c"]["blocked_ns"] == tid["ns"] or tid)
	END
	)" "1 True True 1 [True, True, True, True] True" "report: time of the sleep off the CPU, and the functions that called gettid()"
like "$(kunwind report --top 0 --pid "$pid" first)" "fct_a \($KUNWIND_TMP/chain\)" "report: the text names the functions"
kunwind export folded -w events first >folded 2>err
check "export folded: the chain is one folded stack" grep -qE '^chain;_start;.*;main;fct_a;fct_b;fct_c;.*gettid;gettid [0-9]+$' folded
check "kunwind flamegraph succeeds" kunwind flamegraph -o flame.html first
check "flamegraph: the page has the functions" grep -q '"fct_b"' flame.html

check "record -e succeeds" kunwind record -q -e gettid,sched_process_exit -o chosen ./chain
is "$(kunwind show --no-symbols --tsv chosen | awk -F '\t' '$1 == "event" { print $4 }' | sort -u | tr '\n' ' ')" \
	"sched_process_exit syscall_entry_gettid syscall_exit_gettid " "record -e: only these events are recorded"
kunwind record -q -e 'sched_*' -o wildcard -- sh -c './chain; sleep 0.3'
like "$(commands wildcard sched_switch)" "swapper" "record -e 'sched_*': sched_switch events of all processes are recorded"
is "$(commands wildcard sched_process_exit)" "chain sh sleep " "record -e 'sched_*': other events are those of the command and its children"
kunwind record --json -e gettid -o as-json -- sh -c 'echo text >&2; ./chain; exit 3' 2>err
is "$? $(tail -n 1 err | "$OLDPWD/tests/tools/json_output.py" record 2>&1)" "3 " "record --json: the last line is as kunwind-json(5) says"
is "$(tail -n 1 err | /usr/bin/python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["trace"], r["status"], r["lost"])')" \
	"$PWD/as-json 3 0" "record --json: path of the trace, exit status, lost events"
check_fails 127 "record: a command that does not exist" kunwind record -o a1 -- ./nothing
check "record: a command that does not exist leaves no directory" test ! -e a1
mkdir a1
check_fails 127 "record: a command that does not exist, and a directory of the user's" kunwind record -o a1 -- ./nothing
check "record: the user's empty directory stays" rmdir a1
check "record: the corrected command can use the same directory" kunwind record -q -o a1 -- ./chain
touch nothing-to-run
check_fails 126 "record: a file that is not executable" kunwind record -o a2 -- ./nothing-to-run
check_fails 143 "record: a command that SIGTERM ends" kunwind record -o a3 -- sh -c 'kill -TERM $$'
kunwind record -q -o a4 -- sh -c 'trap "exit 9" INT; echo $$ >ready; sleep 100 & wait' &
recorder=$!
until [ -s ready ]; do sleep 0.1; done
kill -TERM $recorder
wait $recorder
is $? 143 "record: SIGTERM is passed on to the command"

frequency=/sys/module/kunwind/parameters/sample_frequency
before=$(cat $frequency)
for number in HUP QUIT; do
	# a background job of a script ignores SIGQUIT
	env --default-signal=$number kunwind record -q -F 97 -a -o "ended-$number" &
	recorder=$!
	until started "kunwind-record-$recorder"; do sleep 0.2; done
	kill -$number $recorder
	wait $recorder
	is "$? $(cat $frequency) $(kunwind record --left-over)" "0 $before " "record -a: SIG$number ends the recording and restores the module"
done
rm -f ready
kunwind record -F 97 -o twice -- sh -c 'trap "" INT; echo $$ >ready; sleep 1000' 2>err &
recorder=$!
until [ -s ready ]; do sleep 0.1; done
# signals that are pending together are one
until grep -q "still runs" err || ! kill -INT $recorder; do sleep 0.1; done
wait $recorder
is "$? $(cat $frequency) $(kunwind record --left-over)" "130 $before " "record: a second Ctrl-C ends the recording and restores the module"
like "$(cat err)" "sh still runs, as process $(cat ready)" "record: a second Ctrl-C names the command that still runs"
pkill -P "$(cat ready)" sleep

# ------------------------------------------------ a full disk
mkdir small
mount -t tmpfs -o size=3m none small
# however many events are lost, because the machine is busy
out=$(kunwind record --buffer 64K -o small/trace -- bash -c '
	until [ "$(stat -f -c %a small)" -lt 8 ] || [ $((rounds++)) -gt 1500 ]; do for i in {1..20}; do : </etc/passwd; done; done; exit 7' 2>&1)
is $? 125 "record: a full disk ends with 125"
like "$out" "small/trace: disk full: .*(-o)" "record: a full disk is reported"
check "record: a trace on a full disk can be opened by babeltrace2" sh -c 'babeltrace2 small/trace >events'
like "$(wc -l <events)" "[0-9]{3}" "record: a trace on a full disk has the first events"
# LTTng may have lost events, too, of which both programs tell
is "$(kunwind show --own --no-symbols --tsv small/trace 2>err | grep -c ^event) $(grep -v 'the tracer lost' err)" "$(wc -l <events) " \
	"show: reads the same events as babeltrace2"
umount small
# LTTng's metadata leaves no room for events
mount -t tmpfs -o size=200k none small
out=$(kunwind record -o small/trace -- true 2>&1)
is "$? $out" "125 kunwind record: small/trace: disk full: the trace has no events. Free space there, or name another directory (-o), or record fewer events (-e)" \
	"record: a trace without events, because the disk was full, is not offered for reading"
umount small

# ------------------------------------------------ a recorder that was killed
kunwind record -q -o killed -- sleep 1000 &
recorder=$!
until started "kunwind-record-$recorder"; do sleep 0.2; done
until [ "$(pgrep -x sleep)" ]; do sleep 0.1; done
is "$(kunwind record --left-over)" "" "record --left-over: the session of a running recorder is none"
check "record: a session of the user's, with a similar name" lttng create kunwind-record-mine
kunwind record -q -o beside -- true
check "record: another recorder leaves a running one alone" started "kunwind-record-$recorder"
kill -KILL $recorder
wait $recorder 2>/dev/null
pkill -x sleep
check "record: SIGKILL leaves an active session" started "kunwind-record-$recorder"
is "$(kunwind record --left-over)" "kunwind-record-$recorder"$'\t'"$PWD/killed" "record --left-over: name and trace of the session"
like "$(kunwind status)" "Sessions .*: sudo lttng destroy kunwind-record-$recorder" "status: names the session and the command that ends it"
like "$(kunwind doctor)" "note +left-over sessions .*fix: sudo lttng destroy kunwind-record-$recorder " "doctor: names the session and the command that ends it"
out=$(kunwind record -q -o after -- true 2>&1)
is "$? $out" "0 kunwind record: ended the session kunwind-record-$recorder, left by a recorder that was killed; its trace is in $PWD/killed" \
	"record: the next recorder ends the session and names its trace"
like "$(commands killed 'syscall_exit_execve')" "sleep" "record: the trace of the killed recorder can be read"
is "$(kunwind record --left-over)$(kunwind status | grep Sessions)" "" "record --left-over, status: nothing is left over"
check "record: the user's session is still there" lttng destroy kunwind-record-mine

# ------------------------------------------------ processes that already run
start_waiting
kunwind record -o running -p "$pid" 2>err {go}>&- &
recorder=$!
until started "kunwind-record-$recorder"; do sleep 0.2; done
until [ "$(registered)" = "$pid " ]; do sleep 0.1; done
run_once
kill -INT $recorder
wait $recorder
is $? 0 "record -p: SIGINT ends the recording"
is "$(registered)" "" "record -p: the process is registered only while it is recorded"
like "$(functions running syscall_entry_gettid "$pid")" "fct_c fct_b fct_a main .*_start $" "record -p: the stack has the known chain"
is "$(commands running 'syscall_entry_*')" "chain " "record -p: no system calls of other processes are recorded"
check "the process is registered by hand" kunwind register "$pid"
kunwind record -q -o until-end -p "$pid" {go}>&- &
recorder=$!
until started "kunwind-record-$recorder"; do sleep 0.2; done
sleep 0.5
is "$(registered)" "$pid " "record -p: a process that is already registered can be recorded, and is registered meanwhile"
exec {go}>&-
wait $recorder
is $? 0 "record -p: the recording ends with the process"

# children: a shell that starts the program "chain" for each line that it reads
rm -f in
mkfifo in
sh -c 'while read -r line; do ./chain; echo >>ran; done' <in &
pid=$!
exec {go}>in
kunwind record -e gettid --children -o family -p "$pid" 2>err {go}>&- &
recorder=$!
until started "kunwind-record-$recorder"; do sleep 0.2; done
echo >&"$go"
until [ -s ran ]; do sleep 0.1; done
kill -INT $recorder
wait $recorder
is $? 0 "record -p --children: SIGINT ends the recording"
child=$(kunwind show --no-symbols --tsv --event syscall_entry_gettid family | awk -F '\t' '$5 == "chain" { print $6; exit }')
like "$(functions family syscall_entry_gettid "$child")" "fct_c fct_b fct_a main .*_start $" "record --children: the child's stack has the known chain"
is "$(kunwind report --json family | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["trace"]["threads"])')" 2 \
	"record --children: the report has the child's thread, and the shell's, which was blocked at the start"
sleep 300 {go}>&- &
other=$!
check "a process that is not recorded is registered by hand" kunwind register $other
sh -c 'read -r line; sleep 1000 & wait' <in {go}>&- &
second=$!
kunwind record -q -e gettid -c -o sleepers -p "$second" {go}>&- &
recorder=$!
until started "kunwind-record-$recorder"; do sleep 0.2; done
sleep 0.5
exec {go}>&-
wait "$pid"
until [ -n "$(pgrep -P $second sleep)" ]; do sleep 0.1; done
like "$(registered)" "$(pgrep -P $second sleep)" "record --children: a child is registered"
kill -INT $recorder
wait $recorder
is "$(registered)" "$other " "record --children: afterwards only the process registered by hand is registered"
kill $other "$(pgrep -P $second sleep)"

# a file that is open before the recording
echo >lines
sh -c 'exec 7<lines; while :; do read -r _ <&7; sleep 0.1; done' &
pid=$!
until [ -e "/proc/$pid/fd/7" ]; do sleep 0.1; done
kunwind record -q -o opened -p "$pid" &
recorder=$!
until started "kunwind-record-$recorder"; do sleep 0.2; done
sleep 2
kill -INT $recorder
wait $recorder
kill "$pid"
like "$(kunwind report --by file -n 0 opened)" "$PWD/lines" "record -p: report --by file knows a file that was open before"
is "$(kunwind show opened | grep -c lttng_statedump)" 0 "record -p: show does not print LTTng's state dump"

# ------------------------------------------------ no session daemon, no rights
setpriv=(setpriv --reuid 65534 --regid 65534 --clear-groups)
out=$(cd /tmp && "${setpriv[@]}" kunwind record -o /tmp/theirs true 2>&1)
is "$?" 125 "record: a user outside the group tracing is refused"
like "$out" "group tracing" "record: the message names the group tracing"
# The daemon of LTTng 2.16 looks up the members of the group, not the groups of
# the process.
usermod -aG tracing "$(id -un 65534)"
# what udev's rule does on a real machine
chgrp tracing /dev/kunwind && chmod 660 /dev/kunwind
mkdir -m 777 theirs
cp chain theirs
out=$(cd theirs && setpriv --reuid 65534 --regid 65534 --groups "$(getent group tracing | cut -d: -f3)" \
	kunwind record -e gettid -o trace ./chain 2>&1)
is "$?" 0 "record: a member of the group tracing can record"
like "$out" "without root's rights, events of all processes are recorded" "record: a user is told that events of all processes are recorded"
like "$(functions theirs/trace syscall_entry_gettid "$(kunwind show --no-symbols --tsv --event '*gettid' theirs/trace |
	awk -F '\t' '$5 == "chain" { print $6; exit }')")" "fct_c fct_b fct_a main" "record: a user's trace has the known chain"
done_testing
