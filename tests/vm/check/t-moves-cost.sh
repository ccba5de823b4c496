#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-moves-cost.sh - a read of the mappings costs the same for any number of
# threads inside mremap(), counted in instructions
#
# fixtures/device/movers.c keeps 2 or 64 of its threads inside mremap(), with all
# destinations in the same interval, and maps code 20 times. The function graph
# tracer measures each read, and the part of it under space->lock. In this VM
# one nanosecond is one instruction. The smallest of 20 values counts, because
# no interrupt came in between.
# vm: --icount
# timeout: 120

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# tests/vm/run has built these: in this VM the clock jumps while a compiler
# waits for the disk.
progs=$PWD/build/vm-progs-device
tracing=/sys/kernel/tracing

check "the module loads" modprobe kunwind
echo 0 >$tracing/tracing_on
printf '%s\n' kunwind_space_read_mappings kunwind_space_mark >$tracing/set_ftrace_filter
echo 1 >$tracing/options/funcgraph-tail
echo function_graph >$tracing/current_tracer

# least FUNCTION THREADS: prints the least cost of a call, in instructions;
# nothing if the trace has fewer than 20 calls
least() {
	awk -v function_name="$1" 'index($0, function_name) && match($0, /[0-9.]+ us/) {
			ns = 1000 * substr($0, RSTART, RLENGTH)
			if (!nr++ || ns < least)
				least = ns
		}
		END { if (nr >= 20) print least }' "$KUNWIND_TMP/trace.$2"
}
for threads in 2 64; do
	echo >$tracing/trace
	check "$threads threads are inside mremap() during 20 reads" "$progs/movers" read $threads "$progs"
	cat $tracing/trace >"$KUNWIND_TMP/trace.$threads"
done
for function in kunwind_space_mark kunwind_space_read_mappings; do
	few=$(least $function 2) many=$(least $function 64)
	diag "$function: $few instructions with 2 threads inside mremap(), $many with 64"
	[ "${few:-0}" -gt 0 ] && [ "$((${many:-0} * 4))" -gt 0 ] && [ "$((many * 4))" -le "$((few * 5))" ]
	is $? 0 "$function: 64 threads inside mremap() cost at most a quarter more than 2"
done

echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
echo 0 >$tracing/options/funcgraph-tail
echo 1 >$tracing/tracing_on
check "the module is unloaded" rmmod kunwind
done_testing
