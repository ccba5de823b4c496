#!/bin/bash
# SPDX-License-Identifier: MIT
# vm: --kernel-args numa=fake=2
# timeout: 400
# long: only
#
# t-numa.sh - two NUMA nodes with balancing on: stacks are right as far as they
# go, and most of them are whole
#
# To see which tasks use a page, the kernel makes pages inaccessible, stack
# pages too, and moves pages between the nodes. A walk cannot fault such a page
# in: its stack must be right up to there and end with the reason "unreadable".
# The task's next stack should be whole (kmod/stack/fault_in.c).
#
# Two programs run: moving.c, which uses all its pages again and again, and
# numa.c, which does not. The scan period is the default one (one second of a
# thread's time), then the shortest possible one (10 ms).
#
# Expected share of whole stacks: after each scan a thread of numa.c loses the
# stacks of two system calls, because its stack has 31 pages, of which 16 are
# faulted in at a time. Measured, in percent, without fault_in.c and with it:
# numa.c 47.0 and 99.4 at the default period, 1.4 and 94.2 at the shortest
# (three threads; two threads: 99.8 and 96.6); moving.c 99.7 and 98.9, 76.1 and
# 98.2.

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2

balancing=/sys/kernel/debug/sched/numa_balancing
[ -d $balancing ] || {
	echo "1..0 # SKIP the kernel has no NUMA balancing"
	exit 0
}
build_progs
is "$(cat /sys/devices/system/node/online)" 0-1 "the VM has two NUMA nodes"
like "$(awk '/^MemTotal|MemTotal:/ { print ($4 > 500000) }' /sys/devices/system/node/node*/meminfo | tr '\n' ' ')" \
	'^1 1 ' "each NUMA node has memory"
echo 1 >/proc/sys/kernel/numa_balancing
is "$(cat /proc/sys/kernel/numa_balancing)" 1 "NUMA balancing is on"
check "the module loads" modprobe kunwind
check "the LTTng probe module loads" modprobe lttng-probe-kunwind

vmstat_of() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }
reason_of() { awk -v name="$1" '$1 == "reason" && $2 == name { print $3 }' /dev/kunwind; }

# Moves all threads between the processors, and their pages between the nodes.
# It is started before them, because an interpreter needs seconds to start in
# this VM.
cat >"$work/mover.py" <<'END'
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
MIGRATE_PAGES = 256
turn, pids = 0, []
os.nice(-10)
print("ready", flush=True)
while len(pids) < 2:
    time.sleep(0.1)
    if os.path.exists(sys.argv[1]):
        with open(sys.argv[1]) as lines:
            pids = [int(line.split()[1]) for line in lines]
while any(os.path.exists("/proc/%d/exe" % pid) for pid in pids):
    turn += 1
    here, there = ctypes.c_ulong(1 << turn % 2), ctypes.c_ulong(1 << 1 - turn % 2)
    for pid in pids:
        try:
            for n, task in enumerate(os.listdir("/proc/%d/task" % pid)):
                os.sched_setaffinity(int(task), {(n + turn) % os.cpu_count()})
        except OSError:
            continue
        libc.syscall(MIGRATE_PAGES, pid, 64, ctypes.byref(here), ctypes.byref(there))
    time.sleep(0.3)
print(turn)
END

one_pace() { # NAME SHARE
	local dir=$work/$1 share=$2 before after mover pids=()
	mkdir -p "$dir"
	rm -rf "$work/programs.tsv" "$work/moving-gcc-O2" "$work/numa"
	lttng -q create test --output="$dir/trace" &&
		lttng -q enable-channel -k all --subbuf-size=4M --num-subbuf=16 &&
		lttng -q enable-channel -k ours --subbuf-size=4M --num-subbuf=16 &&
		lttng -q add-context -k -c all -t callstack-user -t vpid -t vtid &&
		lttng -q enable-event -k -c all --syscall lseek &&
		lttng -q enable-event -k -c ours kunwind_callstack &&
		lttng -q start
	verdict $? "$1: LTTng session starts"
	before="$(vmstat_of numa_pte_updates) $(vmstat_of numa_hint_faults) $(vmstat_of numa_pages_migrated)"
	unreadable=$(reason_of unreadable)
	/usr/bin/python3 "$work/mover.py" "$work/programs.tsv" >"$dir/moved" &
	mover=$!
	until [ -s "$dir/moved" ]; do sleep 0.1; done
	start moving-gcc-O2 "$progs/moving-gcc-O2" "$dir/moving-gcc-O2.txt" 500 2 7
	pids+=("$pid")
	start numa "$progs/numa" "$dir/numa.txt" 6 2
	pids+=("$pid")
	wait "${pids[@]}"
	verdict $? "$1: the programs exit with status 0"
	wait "$mover"
	like "$(tail -n 1 "$dir/moved")" '^([2-9]|[1-9][0-9]+)$' "$1: threads and pages are moved several times"
	after="$(vmstat_of numa_pte_updates) $(vmstat_of numa_hint_faults) $(vmstat_of numa_pages_migrated)"
	unreadable=$(($(reason_of unreadable) - unreadable))
	session_end
	like "$(printf '%s\n' "$before" "$after" | awk 'NR == 1 { a = $1; b = $2; c = $3 }
		NR == 2 { print ($1 > a), ($2 > b), "protected", $1 - a, "faults", $2 - b, "migrated", $3 - c }')" \
		'^1 1 ' "$1: NUMA balancing makes pages inaccessible, and tasks fault on them"
	diag "protected, hint faults, migrated: $before -> $after"
	[ -z "${KEEP_DIR:-}" ] || cp -r "$dir" "$work/programs.tsv" "$KEEP_DIR/"
	adopt /usr/bin/python3 "$oracle/numa.py" "$dir/trace" "$work/programs.tsv" "$dir" "$share" "$unreadable"
}

lttng-sessiond --daemonize >/dev/null
one_pace default 97
echo 10 >$balancing/scan_delay_ms
echo 10 >$balancing/scan_period_min_ms
echo 10 >$balancing/scan_period_max_ms
one_pace fastest 80
check "the LTTng probe module is unloaded" rmmod lttng_probe_kunwind
check "the module is unloaded" rmmod kunwind
done_testing
