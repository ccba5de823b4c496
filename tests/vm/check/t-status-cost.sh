#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-status-cost.sh - a read of the status costs the same for any number of
# mappings, counted in instructions
#
# fixtures/device/tables.c starts processes that share 1 or 15,000 mappings. The
# function graph tracer measures kunwind_process_show(), which writes the
# status's lines about processes. In this VM one nanosecond is one instruction.
# If the text does not fit the buffer, a read calls the function again.
# Therefore the cost of a read is its longest call, and the result is the
# shortest of five reads.
# vm: --icount
# timeout: 120

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# tests/vm/run has built these: in this VM the clock jumps while a compiler
# waits for the disk
progs=$PWD/build/vm-progs-device
tracing=/sys/kernel/tracing
processes=20

check "the module loads" modprobe kunwind
echo kunwind_process_show >$tracing/set_ftrace_filter
echo function_graph >$tracing/current_tracer

registered() { [ "$(grep -cP '^process\t.*\ttables\t' /dev/kunwind)" = "$1" ]; }
has_maps() { [ "$(awk -F'\t' -v m="$1" '$1 == "process" && $4 >= m' /dev/kunwind | wc -l)" = $((processes + 1)) ]; }
cost() { # MAPPINGS: sets $cost, in instructions; 0 if the trace does not have all five reads
	"$progs/tables" share $processes "$1" >"$KUNWIND_TMP/up" &
	local shared=$!
	eventually "$((processes + 1)) processes that share $1 mappings are registered" \
		registered $((processes + 1))
	has_maps "$1"
	is $? 0 "the status counts the mappings of each of these processes"
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
