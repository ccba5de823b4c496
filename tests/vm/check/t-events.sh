#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-events.sh - user stacks at task switches, page faults, interrupts, timers
# and a kprobe; kernel threads must have none (oracle/kinds.py)
# timeout: 600
# long: only

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2

build_progs
check "the module loads" modprobe kunwind

session_events() {
	lttng -q enable-event -k -c all --syscall -a --filter "$others" &&
	lttng -q enable-event -k -c all --filter "$others" \
		'sched_switch,x86_exceptions_page_fault_user,irq_handler_entry,irq_softirq_entry,timer_hrtimer_expire_entry' &&
	# a kprobe on a function that every open(2) calls
	lttng -q enable-event -k -c all --probe=do_sys_openat2 probe_open
}
session_begin "$work/trace" events
verdict $? "a session of switches, faults, interrupts, timers, a kprobe and system calls starts"
# LTTng 2.16 builds without events of page faults on Linux 7.2, because the
# header that it needs is in another place there.
no_faults=
lttng list --kernel | grep -q x86_exceptions_page_fault_user || no_faults="LTTng has no such event here"

start stacks "$progs/stacks-gcc-O2"
echo "$pid" >"$work/blocked"
start moving "$progs/moving-gcc-O2" "$work/moving.txt" 200 2 7 "$progs/moving-plugin-1.so"
moving=$pid
start python3 /usr/bin/python3 -c 'import json, sqlite3; sum(range(300000))'
python=$pid
wait "$moving" && wait "$python"
verdict $? "both programs end with status 0"
settle "$(cat "$work/blocked")"
verdict $? "all threads of the blocking program sleep"
# time for the last switches of these threads
sleep 0.5
session_end

for dir in /proc/[0-9]*; do
	# PF_KTHREAD, in the field "flags", the seventh after the name
	flags=$(sed 's/.*) //' "$dir/stat" 2>/dev/null | cut -d' ' -f7)
	[ -n "$flags" ] && [ $((flags & 0x200000)) -ne 0 ] && echo "${dir#/proc/}"
done >"$work/kthreads"
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/trace" "$work/programs.tsv" "$work/blocked" "$work/kthreads" "$KEEP_DIR/"
grep '^reason' /dev/kunwind | awk '$3 > 0' | sed 's/^/# /'
adopt /usr/bin/python3 "$oracle/kinds.py" "$work/trace" "$work/programs.tsv" "$work/blocked" \
	"$work/kthreads" ${no_faults:+"$no_faults"}

kill -9 "$(cat "$work/blocked")"
wait 2>/dev/null
check "the module is unloaded" rmmod kunwind
done_testing
