#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-status-cost.sh - a read of the status costs the same for any number of mappings,
# counted in instructions
#
# progs/device/tables.c starts processes that share 1 or 15,000 mappings. The function
# graph tracer measures the status's part about processes. In this VM one nanosecond is
# one instruction. A read whose text is longer than the buffer begins again, so the
# longest call of each read counts, and of five reads the shortest.
# vm: --icount
# timeout: 300

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
# built by tests/vm/run: in this VM the clock jumps while a compiler waits for the disk
progs=$PWD/build/vm-progs-device
tracing=/sys/kernel/tracing
processes=20

check "the module loads" modprobe kunwind
echo 20000 >/sys/module/kunwind/parameters/max_stall_ms
echo kunwind_process_show >$tracing/set_ftrace_filter
echo function_graph >$tracing/current_tracer

registered() { [ "$(grep -cP '^process\t.*\ttables\t' /dev/kunwind)" = "$1" ]; }
has_maps() { [ "$(awk -F'\t' -v m="$1" '$1 == "process" && $4 >= m' /dev/kunwind | wc -l)" = $((processes + 1)) ]; }
cost() { # RANGES: sets $cost, in instructions; 0 if there were not all of the reads
	"$progs/tables" share $processes "$1" >"$KUNWIND_TMP/up" &
	local shared=$!
	eventually "$((processes + 1)) processes that share $1 mappings are registered" \
		registered $((processes + 1))
	has_maps "$1"
	is $? 0 "the status has the mappings of each"
	echo >$tracing/trace
	for _ in 1 2 3 4 5; do
		echo "read" >$tracing/trace_marker
		cat /dev/kunwind >/dev/null
	done
	cost=$(awk '/\/\* read \*\// { end(); nr++; next }
		match($0, /[0-9.]+ us/) { ns = 1000 * substr($0, RSTART, RLENGTH); if (ns > most) most = ns }
		function end() { if (most && (!reads++ || most < least)) least = most; most = 0 }
		END { end(); print reads == 5 ? least : 0 }' $tracing/trace)
	kill $shared
	wait $shared 2>/dev/null
	eventually "these processes have ended" registered 0
}
cost 1
few=$cost
cost 15000
diag "status of $((processes + 1)) processes with 1 more mapping each: $few instructions; with 15,000 more: $cost"
[ "$few" -gt 0 ] && [ "$cost" -gt 0 ] && [ $((cost * 4)) -le $((few * 5)) ]
is $? 0 "status: 15,000 mappings of each process cost at most a quarter more than 1"

echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
check "the module is unloaded" rmmod kunwind
done_testing
