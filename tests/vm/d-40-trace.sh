#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A session of LTTng that takes a stack at every system call and switch of
# tasks, while storms go on, processors go and come, ftrace is switched, and the
# module is unloaded and loaded.
# vm: --debug
# timeout: 1200

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"
need lttng babeltrace2

check "it loads" modprobe kunwind
check "a session starts" lttng_start "$KUNWIND_TMP"
check "storms under it" storms 15

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
check "a processor goes and comes" hotplug

# In use, rmmod says so or waits; it must never hang, and in the end it goes.
unload_under_load() {
	local i mode pids=() pid
	for mode in fork map walk; do
		$storm $mode 30 & pids+=($!)
	done
	sleep 2
	for i in 1 2 3 4 5; do
		rmmod kunwind 2>/dev/null
		sleep 1
		modprobe kunwind || return 1
	done
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	for i in 1 2 3 4 5 6 7 8 9 10; do
		rmmod kunwind && return 0
		sleep 1
	done
	return 1
}
check "unloaded and loaded under load" unload_under_load
check "the session goes on without it, and ends" lttng_stop "$KUNWIND_TMP"
like "$(babeltrace2 "$KUNWIND_TMP/trace" 2>/dev/null | head -n 2000 | grep -c callstack_user)" \
	'^[1-9]' "its trace holds stacks"
no_leaks "after all"
done_testing
