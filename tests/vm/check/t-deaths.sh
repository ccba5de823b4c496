#!/bin/bash
# SPDX-License-Identifier: MIT
# vm: --icount
# timeout: 400
#
# t-deaths.sh - what the death of a process costs while kunwind_fatal_signal is on:
# its mappings are reported with interrupts on, within a limit in bytes
#
# fixtures/deaths.c has many mappings of a file with a long path. The clock of the
# trace counts instructions.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need gcc

gcc -O2 -o "$KUNWIND_TMP/deaths" tests/vm/fixtures/deaths.c || { echo "Bail out! the program does not build"; exit 1; }
check "the module loads" modprobe kunwind
check "all processes are registered" kunwind system-wide on
tracing=/sys/kernel/tracing
echo x86-tsc >$tracing/trace_clock
echo 16384 >$tracing/buffer_size_kb

# deaths MAPPINGS DEPTH: lets three processes die. Prints for the last one: events
# kunwind_map, their bytes, those with interrupts off, those of the C library, and
# the instructions between the signal and kunwind_fatal_signal.
deaths() {
	local dir=$KUNWIND_TMP/d-$1-$2

	mkdir "$dir"
	for event in kunwind/kunwind_map kunwind/kunwind_fatal_signal signal/signal_deliver; do
		echo 0 >$tracing/events/$event/enable
	done
	echo >$tracing/trace
	# what is mapped is not reported again when it is read
	(cd "$dir" && "$KUNWIND_TMP/deaths" "$1" "$2" 0) || echo "# the program fails" >&2
	rm -r "$dir"; mkdir "$dir"
	for event in signal/signal_deliver kunwind/kunwind_map kunwind/kunwind_fatal_signal; do
		echo 1 >$tracing/events/$event/enable
	done
	sleep 1		# a work item attaches the probe
	(cd "$dir" && "$KUNWIND_TMP/deaths" "$1" "$2" 3) || echo "# the program fails" >&2
	for event in kunwind/kunwind_map kunwind/kunwind_fatal_signal signal/signal_deliver; do
		echo 0 >$tracing/events/$event/enable
	done
	rm -r "$dir"
	/usr/bin/python3 - "$tracing/trace" <<'END'
import re, sys
line_of = re.compile(r"\s*(.*)-(\d+)\s+\[\d+\]\s+(\S+)\s+(\d+): (\w+): (.*)")
began, maps, result = {}, {}, None
for line in open(sys.argv[1]):
    match = line_of.match(line)
    if not match:
        continue
    task, pid, flags, time, event, fields = match.groups()
    # a deadly signal to a process is delivered as SIGKILL to each thread
    if event == "signal_deliver" and "sig=9 " in fields and task.startswith("deaths"):
        began[pid], maps[pid] = int(time), []
    elif event == "kunwind_map" and pid in began:
        maps[pid].append((128 + len(fields.partition("path=")[2]), "d" in flags, "libc" in fields))
    elif event == "kunwind_fatal_signal" and pid in began:
        got = maps.pop(pid)
        result = (len(got), sum(m[0] for m in got), sum(m[1] for m in got), sum(m[2] for m in got),
                  int(time) - began.pop(pid), "d" in flags)
print(*result if result else ["no event"])
END
}

read -r events bytes off libc cost event_off < <(deaths 300 15)
diag "300 mappings with a path of 3.8 KB: $events events of $bytes bytes, $cost instructions from the signal to its event"
is "$off $event_off" "0 False" "long paths: no mapping, and no signal, is reported with interrupts off"
check "long paths: at most 64 KB are reported" [ "$bytes" -le 65536 ]
check "long paths: some of these mappings are reported" [ "$events" -gt 10 ]
is "$libc" 1 "long paths: the C library, whose path is short, is reported"
check "long paths: a death takes at most 0.7 million instructions more" [ "$cost" -le 700000 ]
read -r events bytes off libc cost event_off < <(deaths 4000 0)
diag "4,000 mappings with a short path: $events events of $bytes bytes, $cost instructions"
is "$off $event_off" "0 False" "many mappings: no mapping, and no signal, is reported with interrupts off"
check "many mappings: at most 64 KB are reported" [ "$bytes" -le 65536 ]
check "many mappings: at least 256 are reported" [ "$events" -ge 256 ]
check "many mappings: a death takes at most 0.7 million instructions more" [ "$cost" -le 700000 ]
kunwind system-wide off
check "the module is unloaded" rmmod kunwind
done_testing
