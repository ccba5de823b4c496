#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-40-trace.sh - an LTTng session takes a stack at each system call and task
# switch, and ftrace records kunwind's own events, while storms run, a processor
# goes offline and online, and the module is unloaded and loaded
# vm: --debug
# timeout: 1200

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
need lttng babeltrace2

check "the module loads" modprobe kunwind
check "an LTTng session of all system calls and task switches starts" lttng_start "$KUNWIND_TMP"
check "kunwind's own events are on, too" own_events 1
check "all CPUs are sampled" samples_begin "$KUNWIND_TMP"
check "storms of all modes under the session" storms 15

hotplug() {
	local i
	$storm walk 12 & walk=$!
	$storm map 12 & map=$!
	for i in 1 2 3; do
		echo 0 >/sys/devices/system/cpu/cpu1/online || return 1
		sleep 1
		echo 1 >/sys/devices/system/cpu/cpu1/online || return 1
		sleep 1
	done
	wait "$walk" && wait "$map"
}
check "a processor goes offline and online three times during storms" hotplug

check "samples were taken all the time" samples_end "$KUNWIND_TMP"

# rmmod may fail while the module is in use, but must not hang.
unload_under_load() {
	local i mode pids=() pid
	for mode in fork map walk; do
		$storm $mode 30 & pids+=($!)
	done
	sleep 2
	for i in 1 2 3 4 5; do
		rmmod kunwind 2>/dev/null
		sleep 1
		modprobe kunwind && own_events 1 || return 1
	done
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	for i in 1 2 3 4 5 6 7 8 9 10; do
		rmmod kunwind && return 0
		sleep 1
	done
	return 1
}
check "rmmod and modprobe during storms: no modprobe fails, and after the storms the module is unloaded" unload_under_load
check "the session ends without the module" lttng_stop "$KUNWIND_TMP"
like "$(babeltrace2 "$KUNWIND_TMP/trace" 2>/dev/null | head -n 2000 | grep -c callstack_user)" \
	'^[1-9]' "the session's trace has stacks"
no_leaks "once unloaded"
done_testing
