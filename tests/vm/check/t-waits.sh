#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 500
#
# t-waits.sh - kunwind waits: causes, wakers, locks, chains, of programs that know them
#
# The programs are in fixtures/waits.c. Each is recorded with the default events.
# Numbers of waits are compared, and shares of time between the same threads; no
# time is compared with one that the host's pace decides.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc

source=$PWD/tests/vm/fixtures/waits.c
cd "$KUNWIND_TMP" || exit 1
gcc -O2 -fomit-frame-pointer -pthread -o waits "$source" || { echo "Bail out! the program does not build"; exit 1; }
modprobe kunwind || { echo "Bail out! the module does not load"; exit 1; }
# PREEMPT_RT runs the timers of ordinary threads in a softirq.
timer='interrupt: timer'
! is_rt || timer='softirq: hrtimer'

for mode in convoy pipeline sleep fault preempt; do
	kunwind record -q -o "$mode" -- ./waits $mode >"$mode.out" 2>"$mode.err"
	status=$?
	[ $status = 0 ] || diag "$(cat "$mode.err")"
	is $status 0 "record: $mode"
	kunwind waits --json "$mode" >"$mode.json" 2>"$mode.err" || diag "$(cat "$mode.err")"
done

cat >ask.py <<'END'
import json, sys
mode = sys.argv[1]
data = json.load(open(mode + ".json"))
def lines(waiter, cause): return [l for l in data["wakers"] if (l["waiter"], l["cause"]) == (waiter, cause)]
def names(stack): return [f["name"] for f in stack]
END
# ask MODE PYTHON: what the lines of Python print, with the report in data
ask() { (cat ask.py; printf '%s\n' "$2") >question.py; /usr/bin/python3 question.py "$1" 2>&1; }

for mode in convoy pipeline sleep fault preempt; do
	is "$(ask $mode 't = data["trace"]; print(t["wakeups_recorded"], t["interrupts_recorded"], t["lost"], t["end_lost"])')" \
		"True True 0 0" "$mode: wakeups and interrupts are recorded, and nothing is lost"
	is "$(ask $mode 't = data["trace"]; print(t["waits"] == sum(t[k] for k in ("ended_by_thread", "ended_by_interrupt", "waker_not_recorded", "preempted")), t["waker_not_recorded"])')" \
		"True 0" "$mode: each wait has its end, and each wakeup is found"
	is "$(ask $mode '
def whole(part): return not part["parts"] or abs(sum(p["ns"] for p in part["parts"]) - part["ns"]) == 0 and all(map(whole, part["parts"]))
print(bool(data["chains"]), all(map(whole, data["chains"])))')" "True True" "$mode: the parts of a chain sum up to the whole"
done

# ------------------------------------------------ locks
diag "$(ask convoy '
for l in data["locks"]:
    print(l["kind"], l["address"], l["waits"], l["blocked_ns"], l["other_waits"], "known:", l["holder_known_ns"])
    for p in l["pairs"]: print("   ", p["ns"], p["count"], p["function"], p["caller"], "<-", p["holder"], names(p["holder_stack"])[:4])')"
is "$(ask convoy '
locks = [l for l in data["locks"] if l["kind"] == "lock"]
print(len(locks), locks[0]["waits"] > 0)')" "1 True" "convoy: one lock"
is "$(ask convoy '
lock = [l for l in data["locks"] if l["kind"] == "lock"][0]
held = {"long_hold": 0, "short_hold": 0}
for pair in lock["pairs"]:
    for name in held:
        if name in names(pair["holder_stack"]) and pair["holder"] == {"long_hold": "holder", "short_hold": "waiter"}[name]:
            held[name] += pair["ns"]
print(sum(held.values()) >= 0.99 * lock["blocked_ns"], held["long_hold"] > held["short_hold"])')" \
	"True True" "convoy: the holder's stack is named for 99 % of the blocked time, and the long holder has most of it"
is "$(ask convoy '
lock = [l for l in data["locks"] if l["kind"] == "lock"][0]
print(sorted({(p["function"] or "").lstrip("_") for p in lock["pairs"]} - {"GI_pthread_mutex_lock", "pthread_mutex_lock", "lll_lock_wait"}),
      sorted({p["caller"] for p in lock["pairs"]} - {"long_hold"}))')" "[] ['short_hold']" \
	"convoy: libc's function and its caller are named"
kunwind export folded --weight lock convoy >folded 2>err
diag "$(head -n 5 folded)"
check "convoy: the weight lock has the waiter's stack, then the holder's" \
	grep -qE '^waiter;.*;short_hold;.*;\[lock held by holder\];.*;long_hold;.*;futex [0-9]+$' folded
is "$(awk '{ n += $NF } END { printf "%d\n", n }' folded)" "$(ask convoy 'print(sum(l["blocked_ns"] for l in data["locks"] if l["kind"] == "lock"))')" \
	"convoy: the weight lock is the time blocked by all locks"
check "convoy: flamegraph --weight lock" kunwind flamegraph --weight lock -o lock.html convoy

# ------------------------------------------------ wakers
is "$(ask pipeline '
for waiter, waker in (("second", "first"), ("third", "second"), ("fourth", "third")):
    reads = lines(waiter, "read")
    by = [l for l in reads if l["ended_by"] != "preemption"]
    print(sum(l["count"] for l in by) > 0, {l["waker"] for l in by} - {waker}, {l["ended_by"] for l in by},
          {l["waker_call"] for l in by} - {"exit_group", "write"},
          all("pass_on" in names(l["waker_stack"]) for l in by if l["waker_call"] == "write" and waker != "first"))' | sort -u)" \
	"True set() {'thread'} set() True" "pipeline: the waker of each process is the one before it, in write() or at its end, with its stack"
is "$(ask pipeline '
(fourth,) = [c for c in data["chains"] if c["name"] == "fourth: read"]
def find(part, path): return part if not path else next((f for p in part["parts"] if p["name"] == path[0] for f in [find(p, path[1:])] if f), None)
print(bool(find(fourth, ["third: read", "second: read", "first: clock_nanosleep", "'"$timer"'"])))')" \
	"True" "pipeline: the chain leads from the last process to the timer that wakes the first"
is "$(ask sleep '
naps = [l for l in lines("sleeper", "clock_nanosleep") if l["ended_by"] != "preemption"]
print(sum(l["count"] for l in naps), {(l["ended_by"], l["waker"]) for l in naps})')" \
	"20 {('interrupt', '$timer')}" "sleep: the timer's interrupt wakes each time"
is "$(ask fault '
faults = [l for l in lines("toucher", "no recorded system call") if "touch" in names(l["stack"])]
print(sum(l["count"] for l in faults) >= 1, {(l["ended_by"], l["waker"], l["waker_call"]) for l in faults})')" \
	"True {('thread', 'bringer', 'ioctl')}" "page fault: the cause is no system call, and the waker is the thread that brings the page"
is "$(ask preempt '
for waiter, other in (("left", "right"), ("right", "left")):
    print(any(l["ended_by"] == "preemption" and l["waker"] == other for l in data["wakers"] if l["waiter"] == waiter))' | sort -u)" \
	"True" "preemption: each thread is preempted by the other"
diag "$(cat preempt.out; ask preempt 'print([(t["name"], t["on_cpu_ns"]) for t in data["threads"]])')"
is "$(ask preempt '
truth = dict(line.split() for line in open("preempt.out"))
on_cpu = {t["name"]: t["on_cpu_ns"] for t in data["threads"]}
print(all(0.8 * int(ns) < on_cpu[name] < 1.25 * int(ns) for name, ns in truth.items()))')" \
	"True" "preemption: time on the CPU is what the kernel counts for each thread"

# ------------------------------------------------ what is not recorded
kunwind record -q -e syscalls,sched_switch -o without -- ./waits sleep
kunwind waits --json without >without.json 2>err
like "$(cat err)" "no sched_waking" "without sched_waking: a message says so"
is "$(ask without 'print(data["trace"]["wakeups_recorded"], {l["ended_by"] for l in lines("sleeper", "clock_nanosleep")} - {"preemption"})')" \
	"False {'unknown'}" "without sched_waking: the wakers are unknown"
is "$(kunwind show --no-symbols --tsv sleep | awk -F '\t' '$1 == "event" && $4 ~ /^(irq_|x86_irq)/' | wc -l)" 0 \
	"show: events of interrupts are hidden"
check "show --own: events of interrupts are printed" \
	sh -c 'kunwind show --own --no-symbols --tsv sleep | grep -q "irq_vectors_local_timer_entry"'
if command -v protoc >/dev/null; then
	kunwind export perfetto -o pipeline.pftrace pipeline
	is "$(cd "$OLDPWD/tests/tools" && /usr/bin/python3 -c '
import perfetto, sys
reader = perfetto.Reader(sys.argv[1])
wakers = [e for e in reader.instants if e["name"] == "sched_waking" and e["flows_out"]]
print(len(wakers) > 0, all(e["thread"] for e in wakers), any(e["frames"] for e in wakers))' "$KUNWIND_TMP/pipeline.pftrace" 2>&1)" \
		"True True True" "perfetto: flows begin at sched_waking, with thread and stack"
else
	skip "perfetto: flows begin at sched_waking, with thread and stack" "no protoc"
fi
done_testing
