#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-moves-cost.sh - a read of the mappings costs the same for any number of
# threads inside mremap(), and little more for 14,000 mappings of code than for
# 10, counted in instructions
#
# fixtures/device/movers.c keeps 2 or 64 of its threads inside mremap(), with all
# destinations in the same interval, and maps code 20 times. The function graph
# tracer measures each read, and the part of it under space->lock. In this VM
# one nanosecond is one instruction. The smallest of 20 values counts, because
# no interrupt came in between.
#
# fixtures/device/many-maps.c changes one of 10, 1,000 or 14,000 mappings of code,
# 20 times or more, by mmap(), mprotect(), mremap(), or by mmap() in a forked child.
# vm: --icount
# timeout: 300

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# tests/vm/run has built these: in this VM the clock jumps while a compiler
# waits for the disk.
progs=$PWD/build/vm-progs-device
tracing=/sys/kernel/tracing

check "the module loads" modprobe kunwind
echo 0 >$tracing/tracing_on
printf '%s\n' kunwind_space_read_mappings kunwind_space_mark kunwind_space_mapped kunwind_space_dup >$tracing/set_ftrace_filter
echo 1 >$tracing/options/funcgraph-tail
echo function_graph >$tracing/current_tracer

# least FUNCTION TRACE: prints the least cost of a call, in instructions;
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

# What a read with 14,000 mappings may cost more than one with 10: a copy of the
# list of 125 chunks, a copy of up to three chunks of 112 ranges, and looks at each
# chunk. A read of all takes 3,900,000. docs/performance.md has what was measured.
more=100000
for call in map protect move fork; do
	for nr in 10 1000 14000; do
		echo >$tracing/trace
		check "$call: one of $nr mappings of code changes 20 times" "$progs/many-maps" $call $nr
		cat $tracing/trace >"$KUNWIND_TMP/trace.$call.$nr"
	done
	for function in kunwind_space_read_mappings kunwind_space_mapped; do
		few=$(least $function $call.10) some=$(least $function $call.1000) many=$(least $function $call.14000)
		diag "$call: $function: $few instructions with 10 mappings, $some with 1000, $many with 14000"
		[ "${few:-0}" -gt 0 ] && [ "${some:-$((2 * more + few))}" -le $((few + more)) ] &&
			[ "${many:-$((2 * more + few))}" -le $((few + more)) ]
		is $? 0 "$call: $function costs at most $more instructions more with 14000 mappings than with 10"
	done
done
few=$(least kunwind_space_dup fork.10) many=$(least kunwind_space_dup fork.14000)
diag "kunwind_space_dup: $few instructions with 10 mappings, $many with 14000"
[ "${few:-0}" -gt 0 ] && [ "${many:-$((few * 3))}" -le $((few * 2)) ]
is $? 0 "fork: kunwind_space_dup costs at most twice as much with 14000 mappings as with 10"

echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
echo 0 >$tracing/options/funcgraph-tail
echo 1 >$tracing/tracing_on
check "the module is unloaded" rmmod kunwind
done_testing
