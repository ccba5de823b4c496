#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 500
# long: only
#
# t-flight.sh - kunwind record --flight: nothing is written until a trigger fires,
# and then a whole trace of the last events
#
# fixtures/slow-call.c has one slow system call with a known stack.
# t-flight-load.sh tests snapshots that are taken by hand, under load.

# shellcheck source=tests/vm/oracle/flight.sh
. "$(dirname "$0")/../oracle/flight.sh"
flight_begin

# ------------------------------------------------ a trigger fires
out=$(kunwind record --flight --trigger 'flock > 1s' -o slow -- ./slow-call 1500 200 2>&1)
is "$?" 0 "flight: the exit status is the command's"
like "$out" "slow/snapshot-1-[0-9]{8}-[0-9]{6}-[0-9]+: flock took [0-9.]+ ms in slow-call [0-9]+/[0-9]+ \(trigger: flock > 1s\)" \
	"flight: the message names snapshot, call, process and trigger"
pid=$(sed -n 's/.* in slow-call \([0-9]*\)\/.*/\1/p' <<<"$out" | head -n 1)
is "$(ls slow | wc -l)" 1 "flight: one slow call causes one snapshot"
like "$(functions slow kunwind_slow_syscall "$pid" "syscall = 73,")" "flock fct_c fct_b fct_a main .*_start $" "snapshot: the slow call has its whole stack, with names"
like "$(functions slow syscall_exit_flock "$pid")" "flock fct_c fct_b fct_a main .*_start $" "snapshot: LTTng's event of the slow call has the same stack"
check "snapshot: kunwind report reads it" kunwind report slow/snapshot-1-*
check "snapshot: kunwind flamegraph reads it" kunwind flamegraph -o flame.html slow/snapshot-1-*
check "snapshot: babeltrace2 reads it" sh -c 'babeltrace2 slow/snapshot-1-* >events && test -s events'
kunwind record -q -o ordinary -- ./slow-call 10 200
for trace in slow ordinary; do
	kunwind show --summary --event 'syscall_*' "$trace" | grep -E 'named|complete' | sed "s/^/# $trace: /"
done
is "$(kunwind show --summary --json --event 'syscall_*' slow | /usr/bin/python3 -c '
import json, sys
s = json.load(sys.stdin)
print(s["complete"] >= 0.99 * s["with_stack"], s["named"] >= 0.99 * s["frames"], s["with_stack"] >= 400)')" \
	"True True True" "snapshot: 99 % of the stacks are complete, and 99 % of the frames have names"

# ------------------------------------------------ nothing happens
out=$(kunwind record --flight --trigger 'flock > 1000s' --trigger signal -o quiet -- ./slow-call 100 200 2>&1)
is "$? $(test -e quiet && echo there)" "0 " "flight: without a firing nothing is written, and no directory stays"
like "$out" "no snapshot was taken" "flight: a message says that no snapshot was taken"
is "$(lttng list 2>/dev/null | grep kunwind-record)$(lttng list-triggers | grep kunwind-record)" "" "flight: no session and no trigger stays"

# ------------------------------------------------ signals, and firings without a snapshot
out=$(kunwind record --flight --interval 3600 --trigger 'flock > 1s' --trigger 'signal' -o limited -- \
	sh -c './slow-call 1500 0; exec ./slow-call 1500 0 crash' 2>&1)
is "$? $(ls limited | wc -l)" "134 1" "flight: --interval limits the number of snapshots"
like "$out" "2 firings of triggers had no snapshot" "flight: firings without a snapshot are counted"
out=$(kunwind record --flight --interval 0 --trigger 'signal ABRT' --trigger 'signal SEGV' --snapshots 1 -o killed -- \
	sh -c './slow-call 10 0 crash; kill -ABRT $$' 2>&1)
is "$? $(ls killed | wc -l)" "134 1" "flight: --snapshots limits the number of snapshots"
like "$(functions killed kunwind_fatal_signal)" "abort main[.a-z]* .*_start $" "signal: the snapshot has the stack of the signal"
like "$out" "signal 6 \(ABRT\) in slow-call" "signal: the message names it"

# ------------------------------------------------ wrong uses
out=$(kunwind record --flight --trigger 'event sched_switch if next_prio ==' -o wrong true 2>&1)
is "$? $(test -e wrong && echo there)" "125 " "a filter that LTTng refuses ends with 125, and leaves no directory"
like "$out" 'event sched_switch if next_prio ==": LTTng does not accept it' "a filter that LTTng refuses: the message names it"
out=$(kunwind record --flight --trigger 'event opneat' -o wrong true 2>&1)
is "$? $out" '125 kunwind record: --trigger "event opneat": no such tracepoint (lttng list --kernel has them)' "an unknown event is refused"
is "$(lttng list-triggers | grep kunwind-record)" "" "wrong triggers: no trigger stays"

check "all processes are registered" kunwind system-wide on

# ------------------------------------------------ triggers that could never fire
out=$(kunwind record --flight --trigger 'event openat' -o never true 2>&1)
is $? 125 "trigger: a system call without its prefix is refused"
like "$out" "write event syscall:openat" "trigger: the message says how to name a system call"
kunwind record -q --flight --trigger 'event tracepoint:sched_process_exec' --snapshots 1 -o prefixed -- sh -c '/bin/true; sleep 1'
is "$? $(snapshots prefixed)" "0 1" "trigger: the prefix tracepoint: names a tracepoint"

# ------------------------------------------------ symbols of the kernel
start_recorder --flight -F 97 -a -o samples
path=$(kunwind snapshot)
is "$? $(ls samples/kallsyms.gz)" "0 samples/kallsyms.gz" "samples: kunwind snapshot has the kernel's symbols beside it"
kill -USR1 $recorder
eventually "samples: SIGUSR1 takes a snapshot" has_snapshots samples 2
kill -INT $recorder
wait $recorder
check "samples: the recorder's snapshot has the kernel's symbols" test -s samples/snapshot-2-*/kallsyms.gz
start_recorder --flight -F 97 -a -o nothing
kill -INT $recorder
wait $recorder
check "samples: without a snapshot no directory is left" test ! -e nothing

# ------------------------------------------------ a full disk, a killed recorder
mkdir small
mount -t tmpfs -o size=256k none small
out=$(kunwind record --flight --trigger 'flock > 1s' -o small/trace -- ./slow-call 1500 3000 2>&1)
is $? 125 "flight: a full disk ends with 125"
like "$out" "small/trace.*(disk full|No space)" "flight: a full disk is reported"
umount small
start_recorder --flight --trigger 'flock > 1s' -a -o left
kill -KILL $recorder
wait $recorder 2>/dev/null
like "$(kunwind record --left-over)" "kunwind-record-$recorder" "killed recorder: its session is left over"
out=$(kunwind record -q -o after -- true 2>&1)
is "$? $out" "0 kunwind record: ended the flight recorder kunwind-record-$recorder, left by a recorder that was killed" \
	"killed recorder: the next one ends its session"
is "$(lttng list-triggers | grep kunwind-record)" "" "killed recorder: its triggers end, too"
start_recorder --flight --trigger 'flock > 1s' -a -o destroyed
kill -KILL $recorder
wait $recorder 2>/dev/null
lttng destroy "kunwind-record-$recorder"
kunwind record -q -o later -- true
is "$(lttng list-triggers | grep kunwind-record)" "" "killed recorder: its triggers end, also if its session was destroyed by hand"
kunwind system-wide off
check "the modules are unloaded" sh -c 'pkill lttng-sessiond; while pgrep lttng-sessiond; do sleep 0.1; done; rmmod lttng_probe_kunwind kunwind'
done_testing
