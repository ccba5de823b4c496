#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-load.sh - load, unload, and turn the kill switch, in any order, under load
#
# An LTTng session of all system calls and task switches runs all the time.
# Registered programs run, sleep, and are stopped by signals. Meanwhile the
# module is loaded and unloaded, its kill switch is turned, and its status is
# read. SOAK=SECONDS sets the duration (30). SEED chooses another order.
# timeout: 400

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2

build_progs
RANDOM=${SEED:-1}

session_begin "$work/trace" --syscall -a
lttng -q enable-event -k -c all 'sched_switch' --filter "$others"
verdict $? "an LTTng session of all system calls and task switches starts"
end=$((SECONDS + ${SOAK:-30}))

# Runs programs all the time, with the module or without.
(
	trap 'exit 0' TERM
	n=0
	while :; do
		n=$((n + 1))
		run=env
		[ -d /sys/module/kunwind ] && run="kunwind run --"
		# 125: the module was unloaded before kunwind could register
		$run "$progs/moving-gcc-O2" "$work/m.txt" 30 2 $n "$progs/moving-plugin-1.so" >/dev/null 2>&1
		status=$?
		[ $status -eq 0 ] || [ $status -eq 125 ] || echo "status $status" >>"$work/strange"
	done
) &
load=$!

: >"$work/rmmod"

# Registered programs that sleep or are stopped while the module is unloaded.
sleepers=()
add_sleeper() {
	kunwind run -- "$progs/stacks-gcc-O2" >/dev/null 2>&1 &
	sleepers+=($!)
}

loads=0 unloads=0 refused=0 turns=0
# On a busy machine the loop goes on for up to 300 s more, until two unloads
# have succeeded.
while [ "$SECONDS" -lt "$end" ] ||
	{ [ "$unloads" -lt 2 ] && [ "$SECONDS" -lt $((end + 300)) ]; }; do
	turns=$((turns + 1))
	case $((RANDOM % 7)) in
	0 | 1)
		if [ -d /sys/module/kunwind ]; then
			if rmmod kunwind 2>>"$work/rmmod"; then
				unloads=$((unloads + 1))
			else
				refused=$((refused + 1))
			fi
		else
			modprobe kunwind 2>>"$work/modprobe" && loads=$((loads + 1))
		fi ;;
	2) [ -d /sys/module/kunwind ] && [ ${#sleepers[@]} -lt 4 ] && add_sleeper ;;
	3) [ ${#sleepers[@]} -gt 0 ] && kill -STOP "${sleepers[RANDOM % ${#sleepers[@]}]}" ;;
	4) [ ${#sleepers[@]} -gt 0 ] && kill -CONT "${sleepers[RANDOM % ${#sleepers[@]}]}" ;;
	5)
		switch=/sys/module/kunwind/parameters/enabled
		{ echo N >$switch && sleep 0.0$((RANDOM % 10)) && echo Y >$switch; } 2>/dev/null ;;
	6) cat /dev/kunwind >/dev/null 2>&1 ;;
	esac
	sleep 0.$((RANDOM % 4))
done
diag "$turns turns: $loads loads, $unloads unloads, $refused refused unloads"
[ "$loads" -gt 0 ] && [ "$unloads" -gt 0 ]
verdict $? "the module is loaded and unloaded at least once"
is "$(sort -u "$work/modprobe" 2>/dev/null)" "" "under load: no load of the module fails"
is "$(grep -cv 'in use\|busy\|temporarily unavailable' "$work/rmmod")" 0 \
	"under load: a refused unload says that the module is in use"

# unload while registered tasks are stopped
[ -d /sys/module/kunwind ] || modprobe kunwind
add_sleeper
settle "${sleepers[-1]}"
kill -STOP "${sleepers[@]}"
sleep 0.2
check "the module is unloaded while registered tasks are stopped" rmmod kunwind
kill -CONT "${sleepers[@]}"
kill -TERM "$load"
wait "$load" 2>/dev/null
[ -d "/proc/${sleepers[-1]}" ]
verdict $? "a task that was stopped during the unload lives on"
is "$(cat "$work/strange" 2>/dev/null)" "" "no program failed because of the loads and unloads"
is "$(grep -c kunwind /sys/kernel/tracing/enabled_functions)" 0 "after the unload no hook of kunwind is left"
is "$(wc -l </sys/kernel/tracing/enabled_functions)" 0 "after the unload no function is hooked"

# The module still works.
check "the module loads after all loads and unloads" modprobe kunwind
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " \
	"after all loads and unloads stacks are true"
session_end
kill -9 "${sleepers[@]}" 2>/dev/null
wait 2>/dev/null
check "the module is unloaded at the end" rmmod kunwind

# ---- per-CPU memory: kmemleak does not report it if it is lost
trace=/sys/kernel/tracing/instances/percpu
mkdir $trace
echo 1 >$trace/events/percpu/percpu_alloc_percpu/enable
echo 1 >$trace/events/percpu/percpu_free_percpu/enable
modprobe kunwind
rmmod kunwind
pointers() { # EVENT [COMMAND]: the pointers of an event in the trace
	sed -n "/^ *${2:-}.* percpu_$1_percpu:/s/.* ptr=\(\S*\).*/\1/p" $trace/trace | sort
}
lost() { comm -23 <(pointers alloc modprobe) <(pointers free); }
diag "per-CPU memory is allocated $(pointers alloc modprobe | wc -l) times by the load"
[ "$(pointers alloc modprobe | wc -l)" -gt 0 ]
verdict $? "per-CPU memory: the trace has the allocations of the load"
freed() { [ -z "$(lost)" ]; }
eventually "per-CPU memory of the load is freed by the unload" freed
rmdir $trace
done_testing
