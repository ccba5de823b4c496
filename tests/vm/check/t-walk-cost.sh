#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-walk-cost.sh - no stack makes a walk cost more than its budget
#
# tests/bench/hostile.c makes stacks whose walks are as expensive as possible
# and counts the instructions of stack_trace_save_user(), in a VM whose TSC
# counts instructions (--icount). With interrupts off a walk has a quarter of
# the budget. In hard interrupts, and for many walks in a row with interrupts
# off, the average is limited, too. With the event
# kunwind_callstack on, the walk finds up to 4,096 frames and writes them to the
# ring buffer.
#
# About half of the stacks make the kept answers about code useless, or make the
# walk compare as much code as possible (each-..., checks). Their largest cost
# is also reported separately. The bounds are 5 to 40 % above the largest
# cost that was measured on Linux 6.1; with interrupts off that is the stack "lookups",
# and each of its lookups costs more if the program hostile has more functions.
# vm: --icount
# timeout: 200

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"

check "the module loads" modprobe kunwind
check "the counting module loads" modprobe kunwind_bench
event=/sys/kernel/tracing/events/kunwind/kunwind_callstack/enable

# walks TITLE BOUND off|on FRAMES: tests that all stacks are counted, and that
# none costs more than BOUND
walks() {
	local title=$1 bound=$2 name found cost most=0 count=0 each=0 most_each=0
	shift 2
	while read -r name found cost _; do
		diag "$title: $name: $found addresses, $cost instructions"
		count=$((count + 1))
		[ "$cost" -le "$most" ] || most=$cost
		case $name in each-* | checks) ;; *) continue ;; esac
		each=$((each + 1))
		[ "$cost" -le "$most_each" ] || most_each=$cost
	done < <("$progs/bench/hostile" "$@")
	diag "$title: most expensive: $most instructions, with useless kept answers $most_each, bound $bound"
	[ "$count" -eq 15 ] && [ "$each" -eq 7 ] && [ "$most_each" -gt 100000 ]
	verdict $? "$title: all 15 walks are counted"
	[ "$most" -le "$bound" ]
	verdict $? "$title: no walk exceeds the bound"
}
walks "interrupts off" 880000 off 0
walks "interrupts off, 900 frames in the cache" 880000 off 900
walks "interrupts on" 2950000 on 0
walks "interrupts on, 900 frames in the cache" 2950000 on 900
echo 1 >"$event"
walks "interrupts off, event on" 1340000 off 0
walks "interrupts off, event on, 4,000 frames in the cache" 1340000 off 4000
walks "interrupts on, event on, 4,000 frames in the cache" 3200000 on 4000
echo 0 >"$event"

# In hard interrupts and NMIs, any 128 consecutive walks spend at most 960 units
# on average. perf can take 50 us for a sample before it lowers its rate below
# 4,000 Hz: 150,000 instructions at 3 GHz and one instruction per cycle.
# "lookups" is a stack whose frames all have unwind information; it must always
# be whole.
average=150000
walks "in a hard interrupt, on average" $average interrupt 0
walks "in a hard interrupt, on average, 100 frames in the cache" $average interrupt 100
# "expressions" comes after 256 walks of this stack, which give back what they do not spend.
read -r whole mean most < <("$progs/bench/hostile" interrupt 0 |
	awk '$1 == "lookups" { whole = $2 } $1 == "expressions" { print whole, $3, $4 }')
is "$whole" 127 "in a hard interrupt: 127 frames with unwind information are found after hostile stacks"
diag "in a hard interrupt: expressions: $mean instructions on average, at most $most"
[ "$most" -gt $((2 * mean)) ]
verdict $? "in a hard interrupt: the walk after many cheap ones has more than the average budget"

# The same with perf. function_graph measures the cost of each sample's stack.
tracing=/sys/kernel/tracing
"$progs/bench/hostile" spin >"$KUNWIND_TMP/up" &
spinner=$!
for _ in $(seq 300); do
	[ -s "$KUNWIND_TMP/up" ] && break
	sleep 0.1
done
echo perf_callchain_user >$tracing/set_ftrace_filter
echo 1 >$tracing/max_graph_depth
echo 8192 >$tracing/buffer_size_kb
echo function_graph >$tracing/current_tracer
check "perf samples the hostile stacks with cpu-clock" \
	perf record -q -g -F 500 -e cpu-clock -p $spinner -o "$KUNWIND_TMP/perf.data" -- sleep 2
echo 0 >$tracing/tracing_on
sed -n 's/^.* \([0-9.]*\) us .*perf_callchain_user.*/\1/p' $tracing/trace >"$KUNWIND_TMP/times"
echo nop >$tracing/current_tracer
kill $spinner
wait $spinner 2>/dev/null
read -r samples mean < <(awk '{ n++; sum += $1 } END { printf "%d %d\n", n, n ? 1000 * sum / n : 0 }' \
	"$KUNWIND_TMP/times")
diag "perf: $samples samples, on average $mean instructions a stack, bound $average"
[ "$samples" -ge 256 ] && [ "$mean" -gt 50000 ]
verdict $? "perf: the stacks of at least 256 samples are counted"
[ "$mean" -le $average ]
verdict $? "perf: on average a stack costs no more than the bound"

# A task may cause any number of walks while it has interrupts off: time limits their
# sum. A write to an eventfd wakes all threads that poll it.
threads=1000 average=40000
without=$("$progs/bench/hostile" wake $threads | awk '{ print $2 }')
echo 0 >$tracing/tracing_on
echo >$tracing/trace
echo userstacktrace >$tracing/trace_options
echo 1 >$tracing/events/sched/sched_waking/enable
echo 1 >$tracing/tracing_on
with=$("$progs/bench/hostile" wake $threads | awk '{ print $2 }')
echo 0 >$tracing/events/sched/sched_waking/enable
echo nouserstacktrace >$tracing/trace_options
is "$((${without:-0} > 100000))" 1 "one write wakes all threads"
each=$(((${with:-0} - ${without:-0}) / threads))
diag "one write wakes $threads threads: $without instructions; with stacks $with, $each for each stack, bound $average"
[ "$each" -gt 1000 ] && [ "$each" -le $average ]
verdict $? "interrupts off: on average, the stacks of one write do not exceed the bound"

check "the counting module is unloaded" rmmod kunwind_bench
check "the module is unloaded" rmmod kunwind
done_testing
