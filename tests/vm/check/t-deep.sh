#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-deep.sh - kunwind_callstack: stacks of thousands of frames, once for each
# kernel entry, by ftrace, perf, BPF and LTTng. oracle/deep.py compares them
# with the programs' own records.
# timeout: 300
# long: only

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 perf bpftrace eu-stack

build_progs
check "the module loads" modprobe kunwind
tracing=/sys/kernel/tracing
getppid=110
stat_of() { awk -v s="$1" '$1 == "stat" && $2 == s { print $3 }' /dev/kunwind; }

# deep NAME FRAMES CALLS: runs fixtures/deep, and adds it to $programs for deep.py
programs=()
deep() {
	kunwind run -- "$progs/deep" "$2" "$3" "$work/$1-$2" &
	wait $!
	programs+=("$!:$2:$work/$1-$2")
}
# The module adds its probe of sys_enter shortly after the event is on.
event() { echo "$1" >$tracing/events/kunwind/kunwind_callstack/enable && sleep 0.5; }

# ftrace: userstacktrace asks for the stack at both events of a system call.
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
is "$(grep -c 'sys_getppid' "$work/ftrace")" 18 "ftrace: each system call has its two events"
echo >$tracing/trace

# perf and BPF do not ask for stacks: the parameter makes every system call ask.
echo Y >/sys/module/kunwind/parameters/callstack_syscalls
programs=()
mkfifo "$work/go"
perf record -q -e kunwind:kunwind_callstack -a -m 16M -o "$work/perf.data" -- cat "$work/go" &
perf=$!
exec 8>"$work/go"	# perf has enabled the event before it starts cat, which opens the FIFO
sleep 0.5
deep perf 200 3
deep perf 3000 3
exec 8>&-
wait $perf
perf script -i "$work/perf.data" >"$work/perf" 2>"$work/perf.err"
[ -s "$work/perf.err" ] && diag "$(head -n 5 "$work/perf.err")"
adopt "$oracle/deep.py" text "$work/perf" $getppid 3 "${programs[@]}"

programs=()
# bpftrace once did not start in five minutes: its state is printed, and it is started again.
bpftrace_state() { diag "$1: $(cat /proc/$bpftrace/wchan; head -c 600 /proc/$bpftrace/stack /proc/$bpftrace/syscall 2>&1)"; }
for _ in 1 2 3; do
	BPFTRACE_PERF_RB_PAGES=1024 bpftrace "$here/fixtures/callstack.bt" $getppid >"$work/bpf" 2>"$work/bpf.err" &
	bpftrace=$!
	for _ in {1..200}; do
		grep -q ready "$work/bpf" && break 2
		kill -0 $bpftrace 2>/dev/null || break 2
		sleep 0.2
	done
	bpftrace_state "bpftrace is not ready"
	kill -KILL $bpftrace
	wait $bpftrace
done
sleep 0.5
# bpftrace prints in order only what happens on one CPU
taskset -p 1 $$ >/dev/null
deep bpf 3000 3
taskset -p ffff $$ >/dev/null
# bpftrace prints late: wait until its output does not grow
until size=$(stat -c %s "$work/bpf") && sleep 1 && [ "$size" = "$(stat -c %s "$work/bpf")" ]; do :; done
kill -INT $bpftrace
for _ in {1..300}; do
	kill -0 $bpftrace 2>/dev/null || break
	sleep 0.2
done
kill -0 $bpftrace 2>/dev/null && bpftrace_state "bpftrace does not end" && kill -KILL $bpftrace
wait $bpftrace
is $? 0 "bpftrace ends with status 0"
[ -s "$work/bpf.err" ] && diag "$(head -n 5 "$work/bpf.err")"
# bpftrace 0.23 (Debian 13) reads a field of variable size at four times its
# offset (bpftrace's pull request 4238), also in the kernel's own events. Such a
# bpftrace cannot test kunwind_callstack.
bpftrace -e 'tracepoint:sched:sched_process_exec { printf("%s\n", str(args->filename)); }' \
	-c /bin/true >"$work/bpf.control" 2>&1
if grep -q 'bin/true$' "$work/bpf.control"; then
	adopt "$oracle/deep.py" text "$work/bpf" $getppid 3 "${programs[@]}"
else
	skip "BPF: stacks of 3000 frames" "this bpftrace misreads the kernel's own sched_process_exec"
fi
echo N >/sys/module/kunwind/parameters/callstack_syscalls

# LTTng, with buffers of the default size
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
verdict $? "LTTng: a session of getppid and kunwind_callstack starts"
deep lttng 60 3
deep lttng 3000 3
deep lttng 5000 3
# Calls through sorted(), because a call of Python code alone takes no C frame.
start python3 /usr/bin/python3 -IBS -c 'import os, sys
sys.setrecursionlimit(10000)
def f(n):
    sorted([n], key=lambda _: f(n - 1)) if n else os.read(0, 1)
f(300)'
python=$pid
settle "$python"
verdict $? "python3 sleeps deep in a recursion"
lttng -q stop
lttng -q destroy deep
examine python3 "$python"
eu-stack -n 0 -p "$python" >"$work/eu-names" 2>/dev/null
frames() { # PID: how many stacks have each function of deep.c how often
	kunwind show --tsv --no-lines --event kunwind_callstack --pid "$1" "$work/lttng" |
		awk -F '\t' '$1 == "event" && / syscall = 110,/ { take = $2 }
			$1 == "frame" && $2 == take && $11 == "cfi" { n[$2 " " $5]++ }
			END { for (key in n) print key, n[key] }' | grep -E ' (small|sized|large|bottom|main) ' |
		cut -d' ' -f2- | sort | uniq -c | sed 's/^ *//' | tr '\n' ';'
}
is "$(frames "$(cut -d: -f1 <<<"${programs[1]}")")" \
	"3 large 999;3 main 1;3 sized 1000;3 small 1000;" "kunwind show names every frame of deep.c in each stack"
babeltrace2 "$work/lttng" -c filter.kunwind.symbolize |
	grep "kunwind_callstack:.* tgid = $python,.*syscall = 0," | tail -n 1 >"$work/named"
# The names depend on the build of python3: gcc 16 puts the interpreter's loop
# into the cold part of its function, which has no symbol in a stripped file.
python_names() { grep -oP "$1" | sort | uniq -c | sed 's/^ *//' | tr '\n' ';'; }
names=$(python_names '(?<=function = ")_?Py\w*' <"$work/named")
is "$names" "$(python_names '^#.* \K_?Py\w*' <"$work/eu-names")" \
	"babeltrace2's filter names python3's frames as eu-stack does"
like "$names" '(^|;)300 _?Py' "babeltrace2's filter names the 300 frames of the recursion"
check "babeltrace2's filter gives at least 1500 frames an object" test "$(grep -o 'object_address = ' "$work/named" | wc -l)" -ge 1500
kill -9 "$python"
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/lttng" "$work/named" "$work/eu" "$KEEP_DIR/"
adopt "$oracle/deep.py" sleeper "$work/lttng" 0 1500 "$python" "$work/eu/python3.txt"
adopt "$oracle/deep.py" lttng "$work/lttng" $getppid 3 "${programs[@]}"

# An event of 37 KB does not fit into a sub-buffer of 16 KB: LTTng reports that.
before=$(stat_of emitted)
session "$work/small" getppid --subbuf-size=16K --num-subbuf=16
deep small 5000 2
lttng -q stop
lttng list deep >"$work/list"
lttng -q destroy deep
is $(($(stat_of emitted) - before)) 2 "sub-buffer too small: two stacks were emitted"
like "$(grep -i discarded "$work/list")" "Discarded event(s| records): 2" "sub-buffer too small: LTTng reports two discarded events"

is "$(cat $tracing/events/kunwind/kunwind_callstack/enable)" 0 "kunwind_callstack is off after the sessions"
before=$(stat_of emitted)
deep off 100 3
is "$(stat_of emitted)" "$before" "kunwind_callstack off: no stack is emitted"

# unload while the event is on
rmmod lttng_probe_kunwind
event 1
check "the module is unloaded while kunwind_callstack is on" rmmod kunwind
done_testing
