#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-deep.sh - kunwind_callstack: stacks of thousands of frames, once for each
# kernel entry, through ftrace, perf, BPF and LTTng, compared with what the programs
# noted themselves. What is compared: oracle/deep.py.
# timeout: 300

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/oracle/session.sh"
need lttng babeltrace2 perf bpftrace eu-stack

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

# perf, and then BPF, with nobody to ask: every system call does
echo Y >/sys/module/kunwind/parameters/callstack_syscalls
programs=()
mkfifo "$work/go"
perf record -q -e kunwind:kunwind_callstack -a -m 16M -o "$work/perf.data" -- cat "$work/go" &
perf=$!
exec 8>"$work/go"	# perf has started its command: the event is on
sleep 0.5
deep perf 200 3
deep perf 3000 3
exec 8>&-
wait $perf
perf script -i "$work/perf.data" >"$work/perf" 2>"$work/perf.err"
[ -s "$work/perf.err" ] && diag "$(head -n 5 "$work/perf.err")"
adopt "$oracle/deep.py" text "$work/perf" $getppid 3 "${programs[@]}"

programs=()
BPFTRACE_PERF_RB_PAGES=1024 bpftrace "$here/progs/callstack.bt" $getppid >"$work/bpf" 2>"$work/bpf.err" &
bpftrace=$!
until grep -q ready "$work/bpf" || ! kill -0 $bpftrace 2>/dev/null; do sleep 0.2; done
sleep 0.5
# what is printed on one CPU comes in its order
taskset -p 1 $$ >/dev/null
deep bpf 3000 3
taskset -p ffff $$ >/dev/null
# it prints behind what happens
until size=$(stat -c %s "$work/bpf") && sleep 1 && [ "$size" = "$(stat -c %s "$work/bpf")" ]; do :; done
kill -INT $bpftrace
wait $bpftrace
is $? 0 "bpftrace ends well"
[ -s "$work/bpf.err" ] && diag "$(head -n 5 "$work/bpf.err")"
# bpftrace 0.23, Debian 13's, looks for a field of no fixed size at four times its offset
# (its pull request 4238): in the kernel's own events, too, so it tells nothing of ours
bpftrace -e 'tracepoint:sched:sched_process_exec { printf("%s\n", str(args->filename)); }' \
	-c /bin/true >"$work/bpf.control" 2>&1
if grep -q 'bin/true$' "$work/bpf.control"; then
	adopt "$oracle/deep.py" text "$work/bpf" $getppid 3 "${programs[@]}"
else
	skip "3000 frames, by a BPF program" "this bpftrace misreads the kernel's own sched_process_exec"
fi
echo N >/sys/module/kunwind/parameters/callstack_syscalls

# LTTng: buffers as they are by default
lttng-sessiond --daemonize >/dev/null
session() { # DIRECTORY SYSTEM-CALLS CHANNEL-OPTIONS...
	local dir=$1 calls=$2
	shift 2
	modprobe lttng-probe-kunwind && lttng -q create deep --output="$dir" &&
		lttng -q enable-channel -k all "$@" &&
		lttng -q add-context -k -c all -t callstack-user &&
		lttng -q enable-event -k -c all --syscall "$calls" &&
		lttng -q enable-event -k -c all "${own:-kunwind_callstack}" && lttng -q start && sleep 0.5
}
programs=()
own=kunwind_callstack,kunwind_map,kunwind_exec,kunwind_fork session "$work/lttng" getppid,read
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
eu-stack -n 0 -p "$python" >"$work/eu-names" 2>/dev/null
frames() { # the functions of deep.c of each stack of PID, and how often
	kunwind show --tsv --no-lines --event kunwind_callstack --pid "$1" "$work/lttng" |
		awk -F '\t' '$1 == "event" && / syscall = 110,/ { take = $2 }
			$1 == "frame" && $2 == take && $11 == "cfi" { n[$2 " " $5]++ }
			END { for (key in n) print key, n[key] }' | grep -E ' (small|sized|large|bottom|main) ' |
		cut -d' ' -f2- | sort | uniq -c | sed 's/^ *//' | tr '\n' ';'
}
is "$(frames "$(cut -d: -f1 <<<"${programs[1]}")")" \
	"3 large 999;3 main 1;3 sized 1000;3 small 1000;" "kunwind show names every frame, of each stack"
babeltrace2 "$work/lttng" -c filter.kunwind.symbolize |
	grep "kunwind_callstack:.* tgid = $python,.*syscall = 0," | tail -n 1 >"$work/named"
# Which these are depends on its build: gcc 16 has put the interpreter's loop into the cold
# part of its function, and what is stripped has no symbol for that.
python_names() { grep -oP "$1" | sort | uniq -c | sed 's/^ *//' | tr '\n' ';'; }
names=$(python_names '(?<=function = ")_?Py\w*' <"$work/named")
is "$names" "$(python_names '^#.* \K_?Py\w*' <"$work/eu-names")" \
	"babeltrace2's filter names python3's frames, as eu-stack does"
like "$names" '(^|;)300 _?Py' "those of the recursion, too"
check "all of them" test "$(grep -o 'object_address = ' "$work/named" | wc -l)" -ge 1500
kill -9 "$python"
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/lttng" "$work/named" "$work/eu" "$KEEP_DIR/"
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
like "$(grep -i discarded "$work/list")" "Discarded event(s| records): 2" "too small a sub-buffer: the events count as discarded"

is "$(cat $tracing/events/kunwind/kunwind_callstack/enable)" 0 "the event is off"
before=$(stat_of emitted)
deep off 100 3
is "$(stat_of emitted)" "$before" "and nothing is emitted"

# the event is on when the module goes
rmmod lttng_probe_kunwind
event 1
check "the module is unloaded with its event on" rmmod kunwind
done_testing
