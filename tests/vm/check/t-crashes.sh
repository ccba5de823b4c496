#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# long: only
#
# t-crashes.sh - kunwind crashes: each deadly signal of the system is listed once,
# with its stack, and no other signal
#
# fixtures/crash.c dies in the way that its name says, with a known stack.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc

fixtures=$PWD/tests/vm/fixtures
json=$PWD/tests/tools/json_output.py
cd "$KUNWIND_TMP" || exit 1
gcc -O2 -fomit-frame-pointer -pthread -o null "$fixtures/crash.c" || { echo "Bail out! the program does not build"; exit 1; }
for name in abort divide overflow waits handled thread raises crowd orphans exec leaves ignores last; do cp null $name; done
ulimit -c 0
out=$(kunwind crashes 2>&1)
is "$? ${out##*: }" "1 sudo modprobe kunwind (kunwind doctor tells more)" "crashes without the module: exits with 1 and says how to load it"
check "the module loads" modprobe kunwind

# Starts kunwind crashes; returns when it waits. $watcher is its PID.
start_watch() { # OPTION...
	kunwind crashes "$@" >out 2>err &
	watcher=$!
	until grep -q 'waiting for crashes' err || ! kill -0 $watcher 2>/dev/null; do sleep 0.1; done
}
# wait_blocked PID: it has called pause()
wait_blocked() { until grep -q '^34 ' "/proc/$1/syscall" 2>/dev/null; do sleep 0.1; done; }

# all_wait PID: its 50 other threads have called pause()
all_wait() { until [ "$(cat "/proc/$1"/task/*/syscall 2>/dev/null | grep -c '^34 ')" -ge 50 ]; do sleep 0.1; done; }

start_watch -n 1
./abort 2>/dev/null
wait $watcher
is $? 0 "crashes --limit: ends after this number"
like "$(cat err)" "not registered.*sudo kunwind system-wide on" "crashes: says that processes are not registered"
like "$(head -n 1 out)" "^20[0-9-]+ [0-9:.]+ abort [0-9]+/[0-9]+ SIGABRT SI_TKILL\(-6\) from process [0-9]+$" \
	"crashes: a line has time, process, signal, si_code and sender"

# ------------------------------------------------ each kind of death
check "all processes are registered" kunwind system-wide on
./waits &
old=$!
wait_blocked $old
start_watch --json
for name in null abort divide overflow handled thread raises exec leaves ignores; do ./$name; done 2>/dev/null
kill -KILL $old
wait $old 2>/dev/null
./waits &
term=$!
wait_blocked $term
kill -TERM $term
wait $term 2>/dev/null
for name in crowd orphans; do
	./$name &
	all_wait $!
	kill -TERM $!
	wait $! 2>/dev/null
done
./last 2>/dev/null
listed_last() { grep -q '"command": "last"' out; }
eventually "the last crash is listed" listed_last
kill -INT $watcher
wait $watcher
is $? 0 "crashes: SIGINT ends it"
is "$("$json" --lines crashes <out 2>&1)" "" "crashes --json: each line is as kunwind-json(5) says"
/usr/bin/python3 - out >got <<'END'
import json, sys
for line in open(sys.argv[1]):
    crash = json.loads(line)
    names = [frame["function"] or "?" for frame in crash["stack"]]
    sent = "process/" if crash["to_process"] else ""
    sender = "/sender" if crash["sender"] else ""
    print(crash["command"], crash["signal_name"], sent + str(crash["code_name"] or crash["code"]) + sender,
          crash["address"] if crash["command"] != "divide" else "at-pc" if crash["address"] == crash["stack"][0]["address"] else crash["address"],
          " ".join(names) if crash["command"] != "overflow" else " ".join(names[:4]))
END
sed 's/^/# /' got
is "$(awk '{ print $1, $2, $3 }' got | tr '\n' ';')" \
	"null SIGSEGV SEGV_MAPERR;abort SIGABRT SI_TKILL/sender;divide SIGFPE FPE_INTDIV;overflow SIGSEGV SEGV_MAPERR;thread SIGSEGV SEGV_MAPERR;raises SIGTERM SI_TKILL/sender;null SIGSEGV SEGV_MAPERR;waits SIGKILL process/None;waits SIGTERM process/SI_USER/sender;crowd SIGTERM process/SI_USER/sender;orphans SIGTERM process/SI_USER/sender;last SIGABRT SI_TKILL/sender;" \
	"crashes: each deadly signal is listed once, in order; handled, ignored and exit_group() are not"
stack_of() { awk -v name="$1" '$1 == name { $1 = $2 = $3 = ""; print; exit }' got; }
like "$(stack_of null)" "0x0 .*fct_b fct_a main .*_start$" "call of address 0: address and whole stack"
like "$(stack_of abort)" "None .*abort fct_b[.a-z]* fct_a main .*_start$" "abort(): whole stack"
like "$(stack_of divide)" "at-pc fct_b fct_a main .*_start$" "division by zero: address and whole stack"
like "$(stack_of overflow)" "0x[0-9a-f]+ .*overflow overflow overflow$" "stack overflow: innermost frames"
like "$(stack_of thread)" "0x0 .*fct_b fct_a in_thread .*" "crash in a thread: whole stack"
like "$(stack_of raises)" "None .*raise fct_b fct_a in_thread .*" "signal to a thread: the stack of this thread"
like "$(stack_of crowd)" "pause fct_b fct_a main .*_start$" "signal to a process of many threads: the stack of the first one"
like "$(stack_of orphans)" "pause wait_thread .*" "signal to a process whose first thread has ended: the stack of another one"
like "$(stack_of waits)" "pause fct_b fct_a main .*_start$" "kill -9 of a process that waits: whole stack"

# ------------------------------------------------ crashes while snapshots are written
# Prints the number of crashes in snapshots, and each stack that lacks a name. Of
# each snapshot, only crashes after those of the one before count: newer mappings
# may have overwritten those of older crashes.
read_snapshots() { # TRACE...
	for trace; do kunwind crashes --json "$trace" || echo "$trace"; done 2>&1 | /usr/bin/python3 -c '
import json, sys
last, stacks = 0, []
for crash in map(json.loads, sys.stdin):
    if crash["time_ns"] > last:
        last = crash["time_ns"]
        stacks.append([frame["function"] or "?" for frame in crash["stack"]])
print(min(len(stacks), 5), *{" ".join(stack) for stack in stacks if "?" in stack or "abort" not in stack})'
}
kunwind record --json --flight --memory 80M -a -e kunwind_fatal_signal -o busy 2>err &
recorder=$!
until grep -q '"flight"' err || ! kill -0 $recorder; do sleep 0.1; done
touch go_on
while [ -e go_on ]; do ./abort; done 2>/dev/null &
one=$!
while [ -e go_on ]; do ./abort; done 2>/dev/null &
two=$!
for _ in {1..5}; do kunwind snapshot >/dev/null || echo "# no snapshot"; done
rm go_on
wait $one $two
kill -INT $recorder
wait $recorder
is "$? $(read_snapshots $(printf '%s\n' busy/snapshot-* | sort -V))" "0 5" "snapshots: crashes that occur meanwhile have their mappings"

# ------------------------------------------------ a trace
kunwind record -q -o trace -- sh -c './null; ./handled; ./divide' 2>/dev/null
is "$(kunwind crashes trace | grep -c '^20') $(kunwind crashes trace | awk '/^20/ { print $3 }' | tr '\n' ' ')" "2 null divide " \
	"crashes TRACE: lists the deadly signals of a recording"
kunwind system-wide off
is "$(ls -d /tmp/kunwind-crashes.* 2>/dev/null)$(lttng list | grep kunwind-record)$(lttng list-triggers | grep kunwind-record)" "" \
	"crashes: no directory, session or trigger stays"
check "the modules are unloaded" sh -c 'pkill lttng-sessiond; while pgrep lttng-sessiond; do sleep 0.1; done; rmmod lttng_probe_kunwind kunwind'
done_testing
