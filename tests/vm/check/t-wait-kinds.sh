#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 600
# long: only
#
# t-wait-kinds.sh - kunwind waits: which futexes are locks, who had the processor, where a program waits
#
# The programs are fixtures/locks.cc and locks.rs. In each, one thread waits in
# wanting() for the other one. Kinds and names are compared, and shares of time
# that do not depend on the host's pace.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind g++

fixtures=$PWD/tests/vm/fixtures
cd "$KUNWIND_TMP" || exit 1
g++ -std=c++20 -O2 -g -fomit-frame-pointer -pthread -o locks "$fixtures/locks.cc" ||
	{ echo "Bail out! the program does not build"; exit 1; }
modprobe kunwind || { echo "Bail out! the module does not load"; exit 1; }

cat >ask.py <<'END'
import json, sys
data = json.load(open(sys.argv[1] + ".json"))
def names(stack): return [f["name"] for f in stack]
def has(stack, name): return any(name in f for f in names(stack))
# those for which wanting() waits
wanted = [l for l in data["locks"] if any(has(p["stack"], "wanting") for p in l["pairs"])]
END
# ask MODE PYTHON: what the lines of Python print, with the report in data
ask() { (cat ask.py; printf '%s\n' "$2") >question.py; /usr/bin/python3 question.py "$1" 2>&1; }
# take NAME COMMAND...: records the command
take() {
	local name=$1
	shift
	kunwind record -q -o "$name" -- "$@" >"$name.out" 2>"$name.err" || diag "$(cat "$name.err")"
	kunwind waits --json "$name" >"$name.json" 2>"$name.err" || diag "$(cat "$name.err")"
	kunwind waits -n 0 "$name" >"$name.txt" 2>"$name.err"
}
# kind NAME WANTED: what wanting() waits for most of the time (not a mutex within it, which is free nearly always)
kind() {
	is "$(ask "$1" 'print(max(wanted, key=lambda l: l["blocked_ns"])["kind"])')" "$2" "$1: what it waits for is a $2" ||
		diag "$(sed -n '/^Locks/,/^$/p' "$1.txt")"
}

# ------------------------------------------------ kinds
for mode in mutex shared_mutex robust inherit; do
	take $mode ./locks $mode
	kind $mode lock
	is "$(ask $mode '
for l in wanted:
    long = [p for p in l["pairs"] if has(p["stack"], "wanting") and has(p["holder_stack"], "holding")]
    whole = sum(p["ns"] for p in long)
    asleep = sum(m["ns"] for p in long for m in p["meanwhile"] if m["what"] == "clock_nanosleep" and has(m["stack"], "nap"))
    print(len(wanted), bool(whole), asleep > 0.6 * whole)')" "1 True True" "$mode: one lock; most of the time, its holder slept in nap()"
done
for mode in pthread_barrier barrier latch atomic semaphore condition; do
	take $mode ./locks $mode
	kind $mode futex
done
check "text: the program's function is first, with its line; then what it called" \
	grep -qE 'waits in  (void )?(exclusive|wanting|main|operator|.*lambda).* \(locks.cc:[0-9]+\).*, in .*(lock|mutex)' mutex.txt
diag "$(sed -n '/^Locks/,/^$/p' mutex.txt)"

# ------------------------------------------------ the processor
take hog ./locks hog
is "$(ask hog '
low = {l["waker"]: l["latency_ns"] for l in data["wakers"] if l["waiter"] == "low" and l["ended_by"] == "preemption"}
print(low.get("mid", 0) > low.get("high", 0) > 0)
(chain,) = [c for c in data["chains"] if c["name"] == "low: runnable"]
print(max(chain["parts"], key=lambda p: p["ns"])["name"], sum(p["ns"] for p in chain["parts"]) == chain["ns"])' | tr '\n' ' ')" \
	"True mid: on the CPU True " "hog: the thread that had the processor is named, not the one that got it first"
diag "$(grep -E 'low .*preempted' hog.txt)"

# ------------------------------------------------ Rust
if command -v rustc >/dev/null && rustc -O -g -o rust "$fixtures/locks.rs" 2>rust.err; then
	for mode in mutex rwlock barrier condition; do
		take "rust-$mode" ./rust "$mode"
	done
	kind rust-mutex lock
	kind rust-rwlock lock
	is "$(ask rust-rwlock 'print(len(wanted))')" 1 "rust-rwlock: one lock, with both of its futexes"
	kind rust-condition futex
	kind rust-barrier futex
else
	diag "$(head -n 3 rust.err 2>&1)"
	for what in mutex rwlock rwlock-one condition barrier; do
		skip "rust-$what" "no rustc"
	done
fi

done_testing
