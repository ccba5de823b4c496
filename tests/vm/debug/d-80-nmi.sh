#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-80-nmi.sh - samples in NMIs (the clock "cycles", by the module nmi_counter)
# while storms run, an LTTng session takes stacks, and a processor goes offline
# and online
# vm: --debug
# timeout: 1200

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
need lttng babeltrace2
counter=/sys/module/nmi_counter/parameters

check "the module loads" modprobe kunwind
check "a counter of cycles for kunwind" modprobe nmi_counter
echo cycles >/sys/module/kunwind/parameters/sample_clock
check "an LTTng session of all system calls and task switches starts" lttng_start "$KUNWIND_TMP"
check "kunwind's own events are on, too" own_events 1
check "all CPUs are sampled" samples_begin "$KUNWIND_TMP"
for _ in {1..100}; do
	[ "$(cat $counter/counters)" = 2 ] && break
	sleep 0.1
done
is "$(cat $counter/counters)" 2 "each CPU has a counter"
check "storms of all modes under samples in NMIs" storms 15

hotplug() {
	local i
	$storm walk 12 & walk=$!
	for i in 1 2 3; do
		echo 0 >/sys/devices/system/cpu/cpu1/online || return 1
		sleep 1
		echo 1 >/sys/devices/system/cpu/cpu1/online || return 1
		sleep 1
	done
	wait "$walk"
}
check "a processor goes offline and online three times during a storm" hotplug
check "NMIs arrived while interrupts were off" test "$(cat $counter/off)" -gt 0
check "samples were taken all the time" samples_end "$KUNWIND_TMP"
is "$(cat $counter/counters)" 0 "no counter is left"
check "the session ends" lttng_stop "$KUNWIND_TMP"
check "the module is unloaded" unload
check "the counter is unloaded" rmmod nmi_counter
no_leaks "once unloaded"
done_testing
