#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# long: only
#
# t-blocked.sh - a recording that is attached to processes that hang: the state, the
# system call and the stack of each blocked thread
#
# fixtures/stuck.c knows why each of its threads waits, and who has the lock. The
# programs of t-stacks.sh, and some others, sleep before the session starts; the stack of
# each of their threads must equal eu-stack's, address by address.

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 eu-stack gdb kunwind gcc python3

build_progs
check "the module loads" modprobe kunwind
modprobe lttng-probe-kunwind
stat_of() { kunwind status --tsv | awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }'; }

# ------------------------------------------------ kunwind record -p
gcc -g -O2 -fomit-frame-pointer -pthread -o "$work/stuck" "$here/fixtures/stuck.c" ||
	{ echo "Bail out! the program does not build"; exit 1; }
touch "$work/file"
"$work/stuck" "$work/file" 1000 >"$work/stuck.out" &
stuck=$!
until grep -q ready "$work/stuck.out"; do sleep 0.2; done
"$progs/settle" 240 $stuck
# attach NAME PID: records the process until all that is known at the start is written
attach() {
	kunwind record -q -o "$work/$1" -p "$2" -- true 2>"$work/$1.err"
	is "$? $(cat "$work/$1.err")" "0 " "record -p: $1"
}
attach hang $stuck
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/hang" "$KEEP_DIR/"
kunwind waits "$work/hang" >"$work/hang.txt" 2>"$work/hang.err" || diag "$(cat "$work/hang.err")"
kunwind waits --top 0 --json "$work/hang" >"$work/hang.json" 2>>"$work/hang.err"
head -n 45 "$work/hang.txt" | sed 's/^/# /'
cat >"$work/ask.py" <<'END'
import json, sys
work = sys.argv[1]
threads = json.load(open(work + "/hang.json"))["blocked_at_begin"]
truth = [line.split() for line in open(work + "/stuck.out") if len(line.split()) == 3]
by_tid = {t["tid"]: t for t in threads}
def kind(name): return by_tid[[int(tid) for k, tid, holder in truth if k == name][0]]
def names(t): return [f["name"] for f in t["stack"]]
END
ask() { (cat "$work/ask.py"; printf '%s\n' "$1") >"$work/question.py"; /usr/bin/python3 "$work/question.py" "$work" 2>&1; }
is "$(ask 'print(len(threads), len(by_tid), {t["state"] for t in threads}, {t["end_ns"] for t in threads})')" \
	"1012 1012 {'sleeping'} {None}" "each thread is reported once, asleep until the end"
is "$(ask 'print([k for k, tid, holder in truth if (by_tid[int(tid)]["holder_tid"] or 0) != int(holder)])')" "[]" \
	"the holder of each lock, and of nothing else"
is "$(ask 'print({k: kind(k)["call"] for k in ("first", "pipe", "flock", "sleep", "poll", "main")})')" \
	"{'first': 'futex', 'pipe': 'read', 'flock': 'flock', 'sleep': 'clock_nanosleep', 'poll': 'poll', 'main': 'pause'}" \
	"the system call of each"
is "$(ask 'print(kind("pipe")["fd"], kind("flock")["fd"], kind("sleep")["fd"], kind("flock")["file"])')" \
	"3 6 None $work/file" "the descriptor, and the file that is open there"
is "$(ask 'print([(k, names(kind(k))) for k, f in (("first", "holds_one"), ("second", "holds_two"), ("robust", "waits_robust"), ("cond", "waits_cond"), ("pipe", "waits_pipe"), ("flock", "waits_flock"), ("rwlock", "waits_rwlock"), ("barrier", "waits_barrier")) if f not in names(kind(k))])')" \
	"[]" "the function of the program in which each waits"
is "$(ask 'print(sum("waits_semaphore" in names(t) for t in threads))')" 1000 "1,000 threads at one semaphore"
is "$(ask 'print(all(0 < t["time_ns"] - t["since_ns"] < 10**12 for t in threads))')" True "since when each waits"
check "text: 1,000 threads are one line" grep -q '999 threads, one of them\|1000 threads, one of them' "$work/hang.txt"
first=$(awk '$1 == "first" { print $2 }' "$work/stuck.out") second=$(awk '$1 == "second" { print $2 }' "$work/stuck.out")
check "text: the deadlock" grep -qE "Deadlock: (first $first waits for second $second waits for first $first|second $second waits for first $first waits for second $second)" "$work/hang.txt"
check "text: the line where the lock is taken" grep -q 'waits in  holds_one (stuck.c:[0-9]*) < first' "$work/hang.txt"
kunwind show "$work/hang" >"$work/hang.show" 2>&1
is "$(grep -c kunwind_blocked "$work/hang.show")" 1012 "kunwind show has the events, with their stacks"
kunwind report "$work/hang" >"$work/hang.report" 2>&1
check "kunwind report has the blocked threads" grep -q 'Blocked when the recording began' "$work/hang.report"
is "$(stat_of blocked_left_out)" 0 "nothing is left out"

# ------------------------------------------------ stopped
kill -STOP $stuck
until grep -q '^State:.*stopped' /proc/$stuck/status; do sleep 0.1; done
attach stopped $stuck
kunwind waits --json "$work/stopped" >"$work/hang.json" 2>"$work/hang.err"
is "$(ask 'print(len(threads), {t["state"] for t in threads}, kind("pipe")["call"], kind("flock")["call"])')" \
	"1012 {'stopped'} read flock" "stopped by SIGSTOP: the state, and the system call in which each thread is"
kill -CONT $stuck

# ------------------------------------------------ a wait that ends in the trace
dumps=$(cat /sys/module/lttng_probe_kunwind/parameters/dumps_done)
mkfifo "$work/fifo"
exec {fifo}<>"$work/fifo"
sh -c 'read -r x; exec sleep 1000' <&$fifo &
reader=$!
"$progs/settle" 240 $reader
kunwind record -q -o "$work/ends" -p $reader -- sh -c "
	until [ \$(cat /sys/module/lttng_probe_kunwind/parameters/dumps_done) != $dumps ]; do sleep 0.1; done
	echo >$work/fifo
	until grep -q sleep /proc/$reader/comm; do sleep 0.1; done" 2>"$work/ends.err"
is "$? $(cat "$work/ends.err")" "0 " "record -p: a process that goes on"
dumps=$(cat /sys/module/lttng_probe_kunwind/parameters/dumps_done)
kunwind waits --json "$work/ends" >"$work/ends.json" 2>"$work/ends.err" || diag "$(cat "$work/ends.err")"
is "$(/usr/bin/python3 -c '
import json, sys
data = json.load(open(sys.argv[1]))
blocked = data["blocked_at_begin"][0]
line = [l for l in data["wakers"] if l["cause"] == "read"][0]
print(blocked["call"], blocked["end_ns"] is not None, line["count"], line["ended_by"], line["stack"] == blocked["stack"] and len(line["stack"]) > 1)' "$work/ends.json" 2>&1)" \
	"read True 1 thread True" "a wait that begins before the trace and ends in it has its stack and its waker"
kill $reader $stuck

# ------------------------------------------------ stacks, against eu-stack
for program in "$progs"/stacks-*; do
	start "${program##*/}" "$program"
done
start python3 /usr/bin/python3 "$here/fixtures/real.py"
start python-lock /usr/bin/python3 -c 'import threading; l = threading.Lock(); l.acquire(); l.acquire()'
start perl perl "$here/fixtures/real.pl"
start bash bash "$here/fixtures/real.sh"
start gdb-inferior gdb -nx -q -ex starti --args "$progs/stacks-gcc-O2" lambda
[ ! -x "$progs/i386-O2" ] || start i386-O2 "$progs/i386-O2"
if command -v nginx >/dev/null; then
	start nginx nginx -p "$work/nginx" -e stderr -g 'daemon off; pid /dev/null;' -c <(echo 'events {} http {}')
else
	diag "nginx is not installed"
fi
command -v node >/dev/null && start node node -e 'process.stdin.resume()'
mapfile -t pids < <(cut -f2 "$work/programs.tsv")
settle "${pids[@]}"
verdict $? "${#pids[@]} programs sleep"
lttng -q create test --output="$work/trace" >/dev/null
lttng -q enable-channel -k own --subbuf-size=4M
lttng -q enable-event -k -c own kunwind_map,kunwind_blocked
lttng -q start
until [ "$(cat /sys/module/lttng_probe_kunwind/parameters/dumps_done)" != "$dumps" ]; do sleep 0.2; done
session_end
while IFS=$'\t' read -r name pid; do
	examine "$name" "$pid"
done <"$work/programs.tsv"
for name in stacks-gcc-O2 stacks-clang-O2 i386-O2; do
	grep -qP "^$name\t" "$work/programs.tsv" || continue
	gdb -nx -batch -iex 'set debug-file-directory /nowhere' -iex 'set debuginfod enabled off' \
		-p "$(awk -v n=$name '$1 == n { print $2 }' "$work/programs.tsv")" \
		-x "$oracle/stacks.gdb" >"$work/eu/$name.gdb" 2>"$work/eu/$name.gdb.err"
done
kunwind status --tsv | grep -P '\tblocked' | sed 's/^/# /'
adopt /usr/bin/python3 "$oracle/standstill.py" "$work/trace" "$work/programs.tsv" "$work/eu"

# ------------------------------------------------ under load
# shellcheck disable=SC2046
kill -KILL $(cut -f2 "$work/programs.tsv") 2>/dev/null
gcc -O2 -fomit-frame-pointer -no-pie -pthread -o "$work/churn" "$here/fixtures/churn.c" ||
	{ echo "Bail out! the program does not build"; exit 1; }
kunwind run -- "$work/churn" 20 >"$work/churn.out" &
until grep -q ready "$work/churn.out"; do sleep 0.2; done
churn=$(pgrep -x churn)
lttng -q create test --output="$work/load" >/dev/null
lttng -q enable-channel -k own --subbuf-size=4M --num-subbuf=8
lttng -q enable-event -k -c own kunwind_map,kunwind_blocked
emitted=$(stat_of blocked_emitted)
lttng -q start
for ((i = 0; i < 20; i++)); do
	dumps=$(cat /sys/module/lttng_probe_kunwind/parameters/dumps_done)
	lttng -q regenerate statedump -s test
	until [ "$(cat /sys/module/lttng_probe_kunwind/parameters/dumps_done)" != "$dumps" ]; do sleep 0.05; done
done
session_end
kill "$churn"
diag "load: $(($(stat_of blocked_emitted) - emitted)) events, $(stat_of blocked_ran) threads ran meanwhile"
is "$(stat_of blocked_left_out)" 0 "load: nothing is left out"
adopt /usr/bin/python3 "$oracle/churn.py" "$work/load" "$work/churn" "$churn"
done_testing
