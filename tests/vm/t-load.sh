#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-load.sh - loading, unloading and switching in any order, under load
#
# An LTTng session of all system calls and switches runs all the time; registered
# programs run, sleep, and are stopped by signals; the module comes and goes, its
# switch is turned, and its statistics are read. SOAK=SECONDS goes on for so long
# (default 30); SEED chooses another order.
# timeout: 600

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/oracle/session.sh"
need lttng babeltrace2

build_progs
RANDOM=${SEED:-1}

session_begin "$work/trace" --syscall -a
lttng -q enable-event -k -c all 'sched_switch' --filter "$others"
verdict $? "an LTTng session"
end=$((SECONDS + ${SOAK:-30}))

# what runs all the time, whether there is a module or not
(
	trap 'exit 0' TERM
	n=0
	while :; do
		n=$((n + 1))
		run=env
		[ -d /sys/module/kunwind ] && run="kunwind run --"
		# the module may go in between: 125 is an answer too
		$run "$progs/moving-gcc-O2" "$work/m.txt" 30 2 $n "$progs/moving-plugin-1.so" >/dev/null 2>&1
		status=$?
		[ $status -eq 0 ] || [ $status -eq 125 ] || echo "status $status" >>"$work/strange"
	done
) &
load=$!

: >"$work/rmmod"

# programs that sleep registered, and are stopped, while the module goes
sleepers=()
add_sleeper() {
	kunwind run -- "$progs/stacks-gcc-O2" >/dev/null 2>&1 &
	sleepers+=($!)
}

loads=0 unloads=0 refused=0 turns=0
# on a busy machine, as long as it takes to have been unloaded
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
diag "$turns turns: $loads loads, $unloads unloads, $refused times busy"
[ "$loads" -gt 0 ] && [ "$unloads" -gt 0 ]
verdict $? "the module came and went"
is "$(sort -u "$work/modprobe" 2>/dev/null)" "" "it could always be loaded"
is "$(grep -cv 'in use\|busy\|temporarily unavailable' "$work/rmmod")" 0 \
	"and unloaded, or said that it is in use"

# stopped tasks inside: it goes all the same, and nothing is left behind
[ -d /sys/module/kunwind ] || modprobe kunwind
add_sleeper
settle "${sleepers[-1]}"
kill -STOP "${sleepers[@]}"
sleep 0.2
check "it is unloaded while registered tasks are stopped" rmmod kunwind
kill -CONT "${sleepers[@]}"
kill -TERM "$load"
wait "$load" 2>/dev/null
[ -d "/proc/${sleepers[-1]}" ]
verdict $? "the stopped ones go on"
is "$(cat "$work/strange" 2>/dev/null)" "" "no program noticed"
is "$(grep -c kunwind /sys/kernel/tracing/enabled_functions)" 0 "no hook is left"
is "$(wc -l </sys/kernel/tracing/enabled_functions)" 0 "and no redirect"

# after all that it works
check "the module loads once more" modprobe kunwind
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " \
	"and gives true stacks"
session_end
kill -9 "${sleepers[@]}" 2>/dev/null
wait 2>/dev/null
check "the module is unloaded" rmmod kunwind
done_testing
