#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 500
#
# kunwind record: one command from nothing to a trace; only the command's
# events, with its children's and their stacks from the first instruction on;
# running processes; exit statuses; and what it says when something is missing.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
need lttng babeltrace2 kunwind gcc

cd "$KUNWIND_TMP" || exit 1
source=$OLDPWD/tests/vm/progs/show-chain.c
gcc -O2 -fomit-frame-pointer -o chain "$source" || { echo "Bail out! the program does not build"; exit 1; }

# functions DIR EVENT PID: of that process's first such event, innermost first
functions() {
	kunwind show --tsv --event "$2" --pid "$3" --limit 1 "$1" |
		awk -F '\t' '$1 == "frame" { printf "%s ", $5 == "" ? "?" : $5 }'
}
# commands DIR EVENTS: the processes that have such events, by name
commands() { kunwind show --no-symbols --tsv --event "$2" "$1" | awk -F '\t' '$1 == "event" { print $5 }' | sort -u | tr '\n' ' '; }
# a program that waits, its other end of the pipe is $go
start_waiting() {
	rm -f in
	mkfifo in
	./chain wait <in &
	pid=$!
	exec {go}>in
	until grep -qs pipe_read "/proc/$pid/stack" && [ "$(cat "/proc/$pid/comm")" = chain ]; do sleep 0.1; done
}
# started SESSION: it records
started() {
	lttng --mi xml list "$1" 2>/dev/null | /usr/bin/python3 -c '
import re, sys
session = re.search(r"<session>.*?<enabled>(\w+)</enabled>", sys.stdin.read(), re.S)
sys.exit(not session or session[1] != "true")'
}
registered() { kunwind status --tsv | awk -F '\t' '$1 == "process" { print $2 }' | tr '\n' ' '; }

# Debian's lttng-tools makes the group where there is adduser; a session daemon asks
# for it when it begins.
getent group tracing >/dev/null || groupadd -r tracing

# ------------------------------------------------ what is missing
out=$(kunwind record true 2>&1)
is "$? ${out##*: }" "125 sudo modprobe kunwind (kunwind doctor tells more)" "without the module: what to do"
check "the module loads" modprobe kunwind
check_fails 125 "an unknown option" kunwind record --frobnicate true
check_fails 125 "nothing to record" kunwind record
check_fails 125 "no such process" kunwind record -o nobody -p 99999999
check_fails 125 "a directory that is not empty" kunwind record -o /etc true
check_fails 125 "a size that is no power of two" kunwind record --buffer 5000 true
out=$(kunwind record -e no_such_event -o nothing true 2>&1)
is "$? $(wc -l <<<"$out")" "125 1" "an event that does not exist"
like "$out" 'no system call or tracepoint "no_such_event" .*lttng list' "is named, and where to look"
check "and nothing is left behind" test ! -e nothing
is "$(lttng list 2>/dev/null | grep kunwind-record)" "" "no session either"

# ------------------------------------------------ a command
out=$(kunwind record -o first -- sh -c 'echo out; ./chain; sleep 0.3; exit 7' 2>err)
is "$? $out" "7 out" "the command's output and status"
like "$(cat err)" "the trace is in first.*kunwind report first" "where the trace is and what to do with it"
is "$(lsmod | grep -c '^lttng_probe_kunwind')" 1 "the probe module was loaded"
is "$(commands first 'syscall_entry_*')" "chain sh sleep " "system calls of the command and its children only"
like "$(commands first sched_switch)" "swapper" "sched_switch of all"
pid=$(kunwind show --no-symbols --tsv --event syscall_entry_gettid first |
	awk -F '\t' '$1 == "event" && $5 == "chain" { print $6; exit }')
like "$(functions first syscall_entry_gettid "$pid")" "fct_c fct_b fct_a main .*_start $" "the known chain is named"
like "$(functions first syscall_entry_brk "$pid")" "_start $" "and the dynamic linker's calls before main"
is "$(registered)" "" "nothing stays registered"
is "$(lttng list 2>/dev/null | grep kunwind-record)" "" "the session is gone"
check_fails 125 "the same directory again" kunwind record -o first true


# ------------------------------------------------ what is made of it
kunwind report --json first >report.json 2>err
is "$?" 0 "report"
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
	)" "1 True True 1 [True, True, True, True] True" "the sleep has its time, off the CPU, and the chain its call"
like "$(kunwind report --top 0 --pid "$pid" first)" "fct_a \($KUNWIND_TMP/chain\)" "report as text"
kunwind export --folded -w events first >folded 2>err
check "the chain as a folded stack" grep -qE '^chain;_start;.*;main;fct_a;fct_b;fct_c;.*gettid;gettid [0-9]+$' folded
if [ -e "$(dirname "$(command -v kunwind)")/../share/kunwind/flamegraph/d3.js" ]; then
	check "a flame graph" kunwind flamegraph -o flame.html first
	check "is a page with the chain in it" grep -q '"fct_b"' flame.html
else
	skip "a flame graph" "no npm on the host: scripts/setup flamegraph"
fi

check "chosen events" kunwind record -q -e gettid,sched_process_exit -o chosen ./chain
is "$(kunwind show --no-symbols --tsv chosen | awk -F '\t' '$1 == "event" { print $4 }' | sort -u | tr '\n' ' ')" \
	"sched_process_exit syscall_entry_gettid syscall_exit_gettid " "are all that is recorded"
kunwind record --json -e gettid -o as-json -- sh -c 'echo text >&2; ./chain; exit 3' 2>err
is "$? $(tail -n 1 err | "$OLDPWD/tests/tools/json_output.py" record 2>&1)" "3 " "record --json: the last line is as kunwind-json(5) says"
is "$(tail -n 1 err | /usr/bin/python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["trace"], r["status"], r["lost"])')" \
	"$PWD/as-json 3 0" "where the trace is, and the status"
check_fails 127 "no such command" kunwind record -o a1 -- ./nothing
touch nothing-to-run
check_fails 126 "a command that cannot be run" kunwind record -o a2 -- ./nothing-to-run
check_fails 143 "a command that a signal ends" kunwind record -o a3 -- sh -c 'kill -TERM $$'
kunwind record -q -o a4 -- sh -c 'trap "exit 9" INT; echo $$ >ready; sleep 100 & wait' &
recorder=$!
until [ -s ready ]; do sleep 0.1; done
kill -TERM $recorder
wait $recorder
is $? 143 "SIGTERM is handed on"

# ------------------------------------------------ processes that run
start_waiting
kunwind record -o running -p "$pid" 2>err {go}>&- &
recorder=$!
until started "kunwind-record-$recorder"; do sleep 0.2; done
until [ "$(registered)" = "$pid " ]; do sleep 0.1; done
sleep 0.5
echo >&"$go"
sleep 0.5
kill -INT $recorder
wait $recorder
is $? 0 "recording a PID until Ctrl-C"
is "$(registered)" "" "which was registered for that time only"
like "$(functions running syscall_entry_gettid "$pid")" "fct_c fct_b fct_a main .*_start $" "has its chain"
is "$(commands running 'syscall_entry_*')" "chain " "and no other's events"
check "register" kunwind register "$pid"
kunwind record -q -o until-end -p "$pid" {go}>&- &
recorder=$!
until started "kunwind-record-$recorder"; do sleep 0.2; done
sleep 0.5
is "$(registered)" "$pid " "one that was registered before"
exec {go}>&-
wait $recorder
is $? 0 "recording ends with the process"

# its children: a shell that starts the chain each time it is told to
rm -f in
mkfifo in
sh -c 'while read -r line; do ./chain; done' <in &
pid=$!
exec {go}>in
kunwind record -e gettid --children -o family -p "$pid" 2>err {go}>&- &
recorder=$!
until lttng list "kunwind-record-$recorder" 2>/dev/null | grep -q 'active'; do sleep 0.2; done
sleep 0.5
echo >&"$go"
sleep 1
kill -INT $recorder
wait $recorder
is $? 0 "recording a PID and its children"
child=$(kunwind show --no-symbols --tsv --event syscall_entry_gettid family | awk -F '\t' '$5 == "chain" { print $6; exit }')
like "$(functions family syscall_entry_gettid "$child")" "fct_c fct_b fct_a main .*_start $" "a child has its chain"
is "$(kunwind report --json family | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["trace"]["threads"])')" 1 \
	"and the report is of the family alone"
sleep 300 {go}>&- &
other=$!
check "another is registered" kunwind register $other
sh -c 'read -r line; sleep 1000 & wait' <in {go}>&- &
second=$!
kunwind record -q -e gettid -c -o sleepers -p "$second" {go}>&- &
recorder=$!
until lttng list "kunwind-record-$recorder" 2>/dev/null | grep -q 'active'; do sleep 0.2; done
sleep 0.5
exec {go}>&-
wait "$pid"
until [ -n "$(pgrep -P $second sleep)" ]; do sleep 0.1; done
like "$(registered)" "$(pgrep -P $second sleep)" "a child is registered"
kill -INT $recorder
wait $recorder
is "$(registered)" "$other " "but no longer than it is recorded; who was registered before stays"
kill $other "$(pgrep -P $second sleep)"

# ------------------------------------------------ no session daemon, no rights
setpriv=(setpriv --reuid 65534 --regid 65534 --clear-groups)
out=$(cd /tmp && "${setpriv[@]}" kunwind record -o /tmp/theirs true 2>&1)
is "$?" 125 "somebody without rights"
like "$out" "group tracing" "is told of the group"
# LTTng 2.16's daemon asks who is in the group, not which groups the process has
usermod -aG tracing "$(id -un 65534)"
# what udev's rule does on a real machine
chgrp tracing /dev/kunwind && chmod 660 /dev/kunwind
mkdir -m 777 theirs
cp chain theirs
out=$(cd theirs && setpriv --reuid 65534 --regid 65534 --groups "$(getent group tracing | cut -d: -f3)" \
	kunwind record -e gettid -o trace ./chain 2>&1)
is "$?" 0 "a member of the group tracing records"
like "$out" "without root's rights, events of all processes are recorded" "and is told what is different"
like "$(functions theirs/trace syscall_entry_gettid "$(kunwind show --no-symbols --tsv --event '*gettid' theirs/trace |
	awk -F '\t' '$5 == "chain" { print $6; exit }')")" "fct_c fct_b fct_a main" "the chain is there"
done_testing
