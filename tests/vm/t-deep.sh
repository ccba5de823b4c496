#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-deep.sh - kunwind_callstack: stacks of thousands of frames, once for each
# kernel entry, through ftrace and LTTng, compared with what the programs
# noted themselves. What is compared: oracle/deep.py.
# timeout: 300

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/oracle/session.sh"
need lttng babeltrace2 eu-stack

build_progs
check "the module loads" modprobe kunwind
tracing=/sys/kernel/tracing
getppid=110
stat_of() { awk -v s="$1" '$1 == "stat" && $2 == s { print $3 }' /dev/kunwind; }

# deep NAME FRAMES CALLS: runs it, and sets $programs for deep.py
programs=()
deep() {
	kunwind run -- "$progs/deep" "$2" "$3" "$work/$1-$2" &
	wait $!
	programs+=("$!:$2:$work/$1-$2")
}
# The probe that tells entries apart comes a moment behind the event.
event() { echo "$1" >$tracing/events/kunwind/kunwind_callstack/enable && sleep 0.5; }

# ftrace: both events of a system call ask for its stack, by userstacktrace
echo 20000 >$tracing/buffer_size_kb
echo 1 >$tracing/options/userstacktrace
echo 1 >$tracing/events/syscalls/sys_enter_getppid/enable
echo 1 >$tracing/events/syscalls/sys_exit_getppid/enable
event 1
deep ftrace 60 3
deep ftrace 3000 3
deep ftrace 5000 3
event 0
echo 0 >$tracing/events/syscalls/enable
echo 0 >$tracing/options/userstacktrace
cat $tracing/trace >"$work/ftrace"
adopt "$oracle/deep.py" text "$work/ftrace" $getppid 3 "${programs[@]}"
is "$(grep -c 'sys_getppid' "$work/ftrace")" 18 "each system call has its two events"
echo >$tracing/trace

# LTTng: buffers as they are by default
lttng-sessiond --daemonize >/dev/null
session() { # DIRECTORY SYSTEM-CALLS CHANNEL-OPTIONS...
	local dir=$1 calls=$2
	shift 2
	modprobe lttng-probe-kunwind && lttng -q create deep --output="$dir" &&
		lttng -q enable-channel -k all "$@" &&
		lttng -q add-context -k -c all -t callstack-user &&
		lttng -q enable-event -k -c all --syscall "$calls" &&
		lttng -q enable-event -k -c all kunwind_callstack && lttng -q start && sleep 0.5
}
programs=()
session "$work/lttng" getppid,read
verdict $? "an LTTng session of getppid and kunwind_callstack"
deep lttng 60 3
deep lttng 3000 3
deep lttng 5000 3
# C functions between Python's, which alone would take no frames of C
start python3 /usr/bin/python3 -IBS -c 'import os, sys
sys.setrecursionlimit(10000)
def f(n):
    sorted([n], key=lambda _: f(n - 1)) if n else os.read(0, 1)
f(300)'
python=$pid
settle "$python"
verdict $? "python3 sleeps, deep in recursion"
lttng -q stop
lttng -q destroy deep
examine python3 "$python"
kill -9 "$python"
adopt "$oracle/deep.py" sleeper "$work/lttng" 0 1500 "$python" "$work/eu/python3.txt"
adopt "$oracle/deep.py" lttng "$work/lttng" $getppid 3 "${programs[@]}"

# an event of 37 KB does not fit a sub-buffer of 16 KB: LTTng says so
before=$(stat_of emitted)
session "$work/small" getppid --subbuf-size=16K --num-subbuf=16
deep small 5000 2
lttng -q stop
lttng list deep >"$work/list"
lttng -q destroy deep
is $(($(stat_of emitted) - before)) 2 "two stacks were emitted"
like "$(grep -i discarded "$work/list")" "Discarded events: 2" "too small a sub-buffer: the events count as discarded"

is "$(cat $tracing/events/kunwind/kunwind_callstack/enable)" 0 "the event is off"
before=$(stat_of emitted)
deep off 100 3
is "$(stat_of emitted)" "$before" "and nothing is emitted"

# the event is on when the module goes
rmmod lttng_probe_kunwind
event 1
check "the module is unloaded with its event on" rmmod kunwind
done_testing
