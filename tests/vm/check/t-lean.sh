#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# long: only
#
# t-lean.sh - kunwind record: events with the ids of their stacks
#
# Two recorders record one program at the same time, one with whole stacks in each
# event (--context), the other with ids. Each event must have the same stack, thread
# and process in both traces. Also tested: lost definitions, a second recorder that
# begins later, snapshots, filters, and the rights that the PMU needs.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc perf

cd "$KUNWIND_TMP" || exit 1
here=$OLDPWD
gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -pthread -o entries "$here/tests/vm/fixtures/many-entries.c" || {
	echo "Bail out! the program does not build"
	exit 1
}
compare() { python3 "$here/tests/vm/oracle/same-stacks.py" "$@"; }
# started SESSION: tracing runs
started() {
	lttng --mi xml list "$1" 2>/dev/null | /usr/bin/python3 -c '
import re, sys
session = re.search(r"<session>.*?<enabled>(\w+)</enabled>", sys.stdin.read(), re.S)
sys.exit(not session or session[1] != "true")'
}
# Starts ./entries, which waits for its input from descriptor $go; sets $pid.
start() {
	rm -f in
	mkfifo in
	./entries "$1" <in &
	pid=$!
	exec {go}>in
	until grep -qs pipe_read "/proc/$pid/stack" && [ "$(cat "/proc/$pid/comm")" = entries ]; do sleep 0.1; done
}
# Runs it to its end, with all recorders of $recorders.
run_to_end() {
	local recorder
	echo >&"$go"
	wait "$pid"
	exec {go}>&-
	for recorder in $recorders; do wait "$recorder"; done
}
# record DIRECTORY OPTIONS...: in the background, until $pid ends
record() {
	kunwind record -q -p "$pid" -e "$events" -o "$@" 2>>err &
	recorders+=" $!"
	until started "kunwind-record-$!"; do
		kill -0 $! 2>/dev/null || { cat err; echo "Bail out! the recorder has ended"; exit 1; }
		sleep 0.2
	done
}

modprobe kunwind
modprobe lttng-probe-kunwind
pgrep -x lttng-sessiond >/dev/null || lttng-sessiond --daemonize >/dev/null
events=syscalls,sched_switch,signal_deliver
# Linux 7.2: LTTng 2.16 has no events of page faults there (t-events)
! lttng list --kernel | grep -q x86_exceptions_page_fault_user || events+=,x86_exceptions_page_fault_user

# ------------------------------------------------ equal to the context
recorders=
start 20
record whole --context --kernel
record ids --kernel
run_to_end
compare whole ids >same; status=$?
diag "$(cat same)"
is $status 0 "each event has the same stacks, thread and process by their ids as by LTTng's contexts"
check "the comparison has more than 1,000 events with kernel stacks" test "$(awk '$1 == "equal" { print $3 }' same)" -gt 1000
check "the comparison has more than 1,000 events with stacks" test "$(awk '$1 == "equal" { print $2 }' same)" -gt 1000
is "$(cat err)" "" "no message of the recorders"
check "a trace with ids has less than half the size" test "$(du -sb ids/kernel/events_* | awk '{ n += $1 } END { print n }')" -lt \
	"$(du -sb whole/kernel/events_* | awk '{ n += $1 / 2 } END { print int(n) }')"
babeltrace2 ids >text
is "$(grep -Ec 'callstack_(user|kernel) = ' text)" 0 "no event holds a whole stack"
is "$(kunwind show ids | grep -c 'stack is lost')" 0 "no stack is lost"
babeltrace2 ids -c filter.kunwind.symbolize >text 2>&1
check "babeltrace2's filter names kernel functions of ids" grep -q 'callstack_kernel_frames = .*function = "do_syscall_64"' text

# ------------------------------------------------ one program's definitions, two sessions
recorders=
start 3
record first
run_first() { for _ in 1 2 3; do cat /proc/self/comm; done; }
run_first >/dev/null
record second
run_to_end
compare first second >same; status=$?
diag "$(cat same)"
is $status 0 "a recorder that begins later has all definitions in its own trace"

# ------------------------------------------------ lost definitions
kunwind record -q --kernel -e getppid,getuid -o cut -- ./entries -1
is "$(kunwind show --no-symbols cut | grep -c 'stack is lost')" 0 "no stack is lost"
rm cut/kernel/kunwind_* cut/kernel/index/kunwind_*
kunwind show --no-symbols cut >text 2>/dev/null
is "$(grep -c '\[the stack is lost' text) $(grep -c 'kernel stack is lost' text) $(grep -c '#0' text)" \
	"$(grep -c getppid text) $(grep -c getppid text) 0" "without the definitions, each stack is reported as lost, and none is shown"

# ------------------------------------------------ a snapshot of a flight recorder
kunwind record -q --kernel --flight --memory 8M -e syscalls -o flight -- sh -c "
	echo \$\$ >ready
	while [ ! -e enough ]; do ./entries -1; done" 2>>err &
flight=$!
until [ -s ready ]; do sleep 0.1; done
sleep 5
snapshot=$(kunwind snapshot)
touch enough
wait $flight
kunwind show --no-symbols -e 'syscall_entry_getppid' "$snapshot" >text
check "a snapshot has events" test "$(grep -c getppid text)" -gt 0
tail -n 400 text >last
is "$(grep -c 'stack is lost' last)" 0 "the stacks of the last events of a snapshot are defined in it"
diag "$(grep -c 'stack is lost' text) of $(grep -c getppid text) stacks are lost"

# ------------------------------------------------ filters: events that the session rejects
kunwind record -q -e getppid -o other -- ./entries -1
is "$(kunwind show --no-symbols --tsv other | awk -F '\t' '$1 == "event" { print $4 }' | sort -u)" "$(printf 'syscall_entry_getppid\nsyscall_exit_getppid')" \
	"only the selected events are recorded"
is "$(kunwind show --no-symbols --own --tsv -e kunwind_callstack other | grep -c ^event)" 1 "only a recorded event's stack is defined"

# ------------------------------------------------ rights, wrong uses of the PMU
check_fails 255 "perf cannot sample by the PMU" perf record -q -e kunwind/config=0/ -c 1 -o perf.data true
useradd -m lean 2>/dev/null || adduser --disabled-password --gecos '' lean >/dev/null 2>&1
echo -1 >/proc/sys/kernel/perf_event_paranoid
check "only the administrator can open a counter of the PMU" sh -c '! su lean -c "perf stat -a -e kunwind/config=0/ true" 2>&1 | grep -q "^ *[0-9,]* *kunwind"'
perf stat -a -e kunwind/config=0/ true >/dev/null 2>&1
check "the module stays loadable and works after perf has read the counter" sh -c 'kunwind record -q -e getppid -o again -- ./entries -1'

# ------------------------------------------------ a kernel without the PMU
mount -t tmpfs none /sys/devices/kunwind
kunwind record -e getppid -o none -- ./entries -1 >out 2>&1; status=$?
umount /sys/devices/kunwind
is $status 0 "without the PMU, kunwind record works"
check "without the PMU, a message says what is recorded" grep -q 'whole stacks are recorded' out
babeltrace2 none >text
check "without the PMU, events hold whole stacks" test "$(grep -c 'callstack_user = \[ ' text)" -gt 0
done_testing
