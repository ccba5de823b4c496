#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 600
# long: only
#
# t-flight-load.sh - kunwind record --flight under load: snapshots that are taken by
# hand, whose size is bounded, and whose oldest mappings are overwritten

# shellcheck source=tests/vm/oracle/flight.sh
. "$(dirname "$0")/../oracle/flight.sh"
flight_begin
check "all processes are registered" kunwind system-wide on
start_recorder --flight --memory 8M -a -o hand
is "$(head -n 1 err | "$json" flight 2>&1)" "" "flight --json: the first line is as kunwind-json(5) says"
./slow-call 0 0 long &
load=$!
# new mappings: more than the buffers for them hold
/usr/bin/python3 -c '
import mmap
with open("/lib/x86_64-linux-gnu/libc.so.6", "rb") as file:
    for _ in range(10000):
        mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()'
for _ in {1..50}; do /bin/true; done
is "$(ls hand | wc -l)" 0 "flight: under load nothing is written"
path=$(kunwind snapshot)
is "$? $(snapshots hand) ${path%-*-*-*}" "0 1 $PWD/hand/snapshot-1" "kunwind snapshot: takes a snapshot and prints its path"
# Counts names in the raw streams, because babeltrace2 is slow to print 8 MB.
mapped=$(find "$path" -type f ! -name metadata -exec cat {} + | grep -ao "libc[.]so[.]6" | wc -l)
diag "$mapped mappings of libc in the snapshot"
[ "$mapped" -gt 0 ] && [ "$mapped" -lt 10000 ]
verdict $? "snapshot: the first of 10,000 mappings are overwritten"
is "$(du -sk "$path" | awk '{ print $1 < 8192 + 1024 }')" 1 "snapshot: it is not larger than --memory"
kill -USR1 $recorder
eventually "SIGUSR1: the recorder takes a snapshot" has_snapshots hand 2
# The first event may be one of the shell's, before it executed slow-call: if the program has changed
# the processor, that of the beginning still holds it, and the shell's mappings are overwritten.
like "$(last_functions hand/snapshot-2-* syscall_exit_openat "$load")" "^([a-z_]*syscall_cancel )*[a-z_0-9]*open[a-z_0-9]* main .*_start $" \
	"snapshot: frames of a process whose mappings were reported long ago have names"
check "lttng snapshot record: takes a snapshot, too" lttng snapshot record -s "kunwind-record-$recorder"
is "$(kunwind snapshot --json "kunwind-record-$recorder" | "$json" snapshot 2>&1)" "" "kunwind snapshot --json: as kunwind-json(5) says"
check_fails 1 "kunwind snapshot: a recorder that does not run" kunwind snapshot nobody
kill $load
kill -INT $recorder
wait $recorder
is $? 0 "flight -a: SIGINT ends the recording"
is "$(tail -n 1 err | "$json" record 2>&1)" "" "flight --json: the last line is as kunwind-json(5) says"
kunwind system-wide off
pkill lttng-sessiond
while pgrep lttng-sessiond >/dev/null; do sleep 0.1; done
done_testing
