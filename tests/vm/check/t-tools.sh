#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-tools.sh - kunwind run, register, unregister, status, system-wide and doctor
# timeout: 700

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 perl
tmp=$KUNWIND_TMP

check_fails 125 "run without the module fails" kunwind run -- true
check_fails 125 "run without the module fails before it looks for the command" kunwind run -- /nonexistent
check_fails 1 "register without the module fails" kunwind register $$
check_fails 1 "status without the module fails" kunwind status
check_fails 1 "doctor without the module fails" kunwind doctor
like "$(kunwind doctor)" "FAIL +module loaded +no; fix: sudo modprobe kunwind" "doctor without the module says how to load it"
check "the module loads" modprobe kunwind

# doctor
out=$(kunwind doctor)
is "$?" 0 "doctor succeeds when the module is loaded"
is "$(grep -c FAIL <<<"$out")" 0 "doctor: no check fails when the module is loaded" || diag "$out"
like "$out" "ok +stacks for LTTng +stack_trace_save_user is served" "doctor names the hook for LTTng's stacks"
check_fails 1 "doctor finds the kill switch" sh -c 'echo N >/sys/module/kunwind/parameters/enabled; kunwind doctor'
like "$(kunwind doctor)" 'FAIL +kill switch.*echo Y' "doctor says how to turn off the kill switch"
check_fails 125 "run fails with the kill switch on" kunwind run true
echo Y >/sys/module/kunwind/parameters/enabled
PATH=/usr/bin:/bin:/usr/sbin kunwind=/usr/local/bin/kunwind
check_fails 1 "doctor fails if PATH finds the real lttng first" $kunwind doctor
like "$($kunwind doctor)" 'FAIL +lttng --callstack.*put /usr/local/bin before' "doctor says which directory must come first in PATH"
PATH=/usr/local/bin:$PATH
is "$(kunwind doctor --tsv | awk -F'\t' '{ n[NF]++ } END { for (i in n) print i, (n[i] > 5) }')" "4 1" \
	"doctor --tsv prints lines, and each has four fields"

# run: process id, standard input, arguments, environment, directory, signals,
# status
out=$(sh -c 'echo $$; exec kunwind run -- sh -c "echo \$\$"')
is "$(sort -u <<<"$out" | wc -l)" 1 "run keeps the process id"
is "$(echo some text | kunwind run cat)" "some text" "run keeps standard input"
is "$(kunwind run -- printf '[%s]' a 'b c' '' -- --help)" "[a][b c][][--][--help]" "run passes arguments on"
is "$(kunwind run printf '[%s]' -x)" "[-x]" "run: options after the command are the command's"
is "$(SOME=thing kunwind run sh -c 'echo $SOME')" thing "run keeps the environment"
is "$(cd /usr && kunwind run pwd)" /usr "run keeps the directory"
is "$(kunwind run ls -l /proc/self/fd | grep -c kunwind)" 0 "run: the command inherits no descriptor of the device"
out=$(kunwind run perl -e 'for $n (0 .. 255) { if (!fork) { exec "kunwind", "run", "--", "sh", "-c", "exit $n" }
	wait; print $? >> 8, "\n" }')
is "$(md5sum <<<"$out")" "$(seq 0 255 | md5sum)" "run: each exit status from 0 to 255 is the command's"
for signal in HUP INT QUIT KILL USR1 PIPE ALRM TERM; do
	is "$(perl -e 'if (!fork) { $SIG{INT} = $SIG{QUIT} = "DEFAULT"; exec "kunwind", "run", "sh", "-c", "ulimit -c 0; kill -$ARGV[0] \$\$" }
		wait; print $? & 127' "$signal")" "$(kill -l "$signal")" "run: a death by SIG$signal is the command's"
done
kunwind run sleep 1000 &
pid=$!
until [ "$(cat /proc/$pid/comm)" = sleep ]; do sleep 0.1; done
kill -TERM $pid
wait $pid
is "$?" 143 "run: a signal to its process id reaches the command"
trap '' USR1
is "$(kunwind run awk '/^SigIgn/ { print $2 }' /proc/self/status)" \
	"$(awk '/^SigIgn/ { print $2 }' /proc/self/status)" "run keeps ignored signals"
trap - USR1
check_fails 127 "run: no such command" kunwind run -- /nonexistent
check_fails 127 "run: no such command in PATH" kunwind run nonexistent-command
check_fails 126 "run: a directory" kunwind run /usr
check_fails 126 "run: not executable" kunwind run /etc/passwd
check_fails 125 "run: wrong usage" kunwind run --nonsense true

# perf starts its counters at the first exec. With perf inside, that is the command's.
samples() { perf script -i "$tmp/perf.data" -F comm,ip,dso 2>/dev/null | grep -c "^$1 "; }
if perf record -q -e cpu-clock -F 20000 -g -o "$tmp/perf.data" -- true 2>/dev/null; then
	check "run: perf records a command" kunwind run -- perf record -q -e cpu-clock -F 20000 -g -o "$tmp/perf.data" -- ls -l /usr/sbin
	like "$(samples ls)" "^[1-9]" "run: perf has samples of the command"
	is "$(samples kunwind)" 0 "run: perf inside has no samples of kunwind"
	check "run: perf records kunwind run" perf record -q -e cpu-clock -F 20000 -g -o "$tmp/perf.data" -- kunwind run ls -l /usr/sbin
	diag "perf outside: $(samples kunwind) samples of kunwind, $(samples ls) of the command, at 20,000 Hz"
else
	skip "run: perf" "no perf for this kernel"
fi
is "$(readelf -lW "$(command -v kunwind)" | grep -c INTERP)" 0 "kunwind has no dynamic loader, whose start perf would sample"

# register, unregister, status
flags_of() { kunwind status --tsv | awk -F'\t' -v pid="$1" '$1 == "process" && $2 == pid { print $3 }'; }
sleep 1000 &
a=$!
sleep 1001 &
b=$!
# the shells have become sleep
until [ "$(cat /proc/$a/comm)$(cat /proc/$b/comm)" = sleepsleep ]; do sleep 0.1; done
like "$(kunwind register $a $b)" "^$a"$'\t[1-9][0-9]*\t[1-9][0-9]*\n'"$b"$'\t' "register prints the numbers of mappings and tables"
is "$(flags_of $a) $(flags_of $b)" "sleep sleep" "status shows both registered processes"
like "$(kunwind status)" "Processes 2 registered" "status counts the registered processes"
check "registering a process again is no error" kunwind register $a
like "$(kunwind register $a 999999 2>&1)" "999999: no such process" "register names a PID that does not exist"
is "$(kunwind register 999999 $b 2>/dev/null | cut -f1)" $b "register: after a PID that does not exist the others are registered"
check_fails 1 "register exits with 1 if one PID does not exist" kunwind register 999999 $b
like "$(kunwind register 2 2>&1)" "kernel thread" "a kernel thread cannot be registered"
check "unregister succeeds" kunwind unregister $a
is "$(flags_of $a)$(flags_of $b)" sleep "status does not show an unregistered process"
like "$(kunwind unregister $a 2>&1)" "not registered" "unregistering twice is an error"
kill $a $b
wait $a $b 2>/dev/null
for _ in {1..50}; do
	[ -z "$(flags_of $b)" ] && break
	sleep 0.1
done
is "$(flags_of $b)" "" "a registration ends with its process"

# children
kunwind run sh -c 'sleep 1002 & echo $! >'"$tmp/child"'; wait' &
until [ -s "$tmp/child" ] && [ "$(cat /proc/"$(cat "$tmp/child")"/comm)" = sleep ]; do sleep 0.1; done
is "$(flags_of "$(cat "$tmp/child")")" sleep "run registers children"
kill "$(cat "$tmp/child")"
rm "$tmp/child"
kunwind run --no-children sh -c 'sleep 1003 & echo $! >'"$tmp/child"'; wait' &
until [ -s "$tmp/child" ] && [ "$(cat /proc/"$(cat "$tmp/child")"/comm)" = sleep ]; do sleep 0.1; done
is "$(flags_of "$(cat "$tmp/child")")" "" "run --no-children does not register children"
kill "$(cat "$tmp/child")"

# status as text, --tsv and --json have the same contents
kunwind run sleep 1004 &
last=$!
until kunwind status --tsv | grep -q $'^process\t.*sleep'; do sleep 0.1; done
kunwind status --json >"$tmp/json"
kunwind status --tsv >"$tmp/tsv"
check "status --json is JSON" /usr/bin/python3 -m json.tool "$tmp/json"
cat >"$tmp/same.py" <<'END'
import json, sys
data = json.load(open(sys.argv[1] + "/json"))
lines = [line.rstrip("\n").split("\t") for line in open(sys.argv[1] + "/tsv")]
kinds = {}
for line in lines:
    kinds.setdefault(line[0], []).append(line[1:])
assert data["version"] == kinds["version"][0][1]
assert {r[0] for r in kinds["reason"]} == set(data["reasons"]) and len(data["reasons"]) >= 17
assert {m[0] for m in kinds["method"]} == set(data["methods"]) and "ahead" in data["methods"]
assert {s[0] for s in kinds["stat"]} == set(data["stats"]) and "passed_through" in data["stats"]
assert [h[:2] for h in kinds["hook"]] == [[h["name"], h["state"]] for h in data["hooks"]]
assert [o[-1] for o in kinds["object"]] == [o["path"] for o in data["objects"]]
assert [int(p[0]) for p in kinds["process"]] == [p["pid"] for p in data["processes"]]
assert all(o["rows"] > 0 and o["bytes"] > 0 for o in data["objects"] if o["state"] == "ready")
assert any(o["path"].endswith("/libc.so.6") for o in data["objects"])
END
check "status --json has the same contents as --tsv" /usr/bin/python3 "$tmp/same.py" "$tmp"

# --json of other commands that need the module
is_json() { tests/tools/json_output.py "$1" <"$2"; }
check "status --json is as kunwind-json(5) says" is_json status "$tmp/json"
kunwind register --json $last 99999999 >"$tmp/json" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 " "register --json exits with 1 if one PID does not exist, and prints no messages"
check "register --json is as kunwind-json(5) says" is_json register "$tmp/json"
is "$(/usr/bin/python3 -c 'import json, sys
for one in json.load(sys.stdin): print(one["pid"], one["ok"], one.get("maps", 0) >= one.get("tables", 1), "error" in one)' <"$tmp/json")" \
	"$last True True False"$'\n'"99999999 False False True" "register --json has a result for each PID"
kunwind unregister --json $last >"$tmp/json"
is "$? $(tr -d ' \n' <"$tmp/json")" "0 [{\"pid\":$last,\"ok\":true}]" "unregister --json has the result"
is "$(kunwind system-wide --json on | cut -d , -f 1)" '{"system_wide": true' "system_wide --json on reports that system_wide is on"
kunwind system-wide --json off >"$tmp/json"
check "system_wide --json is as kunwind-json(5) says" is_json system-wide "$tmp/json"
kill $last
is "$(kunwind status | grep -c $'\033')" 0 "status has no colours except on a terminal"
like "$(script -qec 'TERM=xterm kunwind status' /dev/null)" $'\033' "status has colours on a terminal"

# a program that gains privilege is not registered
user="setpriv --reuid=65534 --regid=65534 --clear-groups --"
chmod 666 /dev/kunwind
cp /bin/sleep "$tmp/suid"
chmod 4755 "$tmp/suid"
chmod 755 "$tmp"
$user kunwind run "$tmp/suid" 1005 &
suid=$!
until [ "$(cat /proc/$suid/comm)" = suid ]; do sleep 0.1; done
is "$(flags_of $suid)" "" "run: a set-user-ID program is not registered"
$user kunwind run sleep 1006 &
own=$!
until [ "$(cat /proc/$own/comm)" = sleep ]; do sleep 0.1; done
is "$(flags_of $own)" sleep "run: a user's own program is registered, and root sees it"
is "$($user kunwind status --tsv | grep -c '^object')" 0 "status: a user sees no objects"
is "$($user kunwind status --tsv | awk -F'\t' '$1 == "process" { print $2 }')" $own \
	"status: a user sees only his own processes"
chmod 660 /dev/kunwind
kill $suid $own


# the group tracing, which the udev rule names (no udev runs in this VM)
getent group tracing >/dev/null || groupadd -r tracing
member="setpriv --reuid=65534 --regid=65534 --groups=$(getent group tracing | cut -d: -f3) --"
like "$($user kunwind doctor)" 'FAIL +rights.*usermod -aG tracing' "doctor: a user outside the group is told how to join it"
like "$($user kunwind doctor)" 'FAIL +device +/dev/kunwind may not be opened; fix: use sudo' \
	"doctor: a user outside the group cannot open the device"
like "$($member kunwind doctor)" 'ok +rights +member of the group tracing' "doctor: a member of the group has rights"
like "$($member kunwind doctor)" 'FAIL +device.*udevadm trigger' "doctor: a udev rule that was not applied is reported"
check_fails 125 "run fails for a member if the udev rule was not applied" $member kunwind run true
chgrp tracing /dev/kunwind
check "run succeeds for a member if the udev rule was applied" $member kunwind run true
like "$($member kunwind doctor)" 'ok +device' "doctor: a member can open the device"
check_fails 125 "run fails for a user outside the group" $user kunwind run true

# the exit status of kunwind show
check_fails 1 "show of a directory without a trace fails" kunwind show "$tmp"
done_testing
