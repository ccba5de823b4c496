#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-60-system.sh - kunwind system-wide under storms
#
# Processes that do not use the device start, end, exec, map code and load
# libraries, while system_wide is switched on and off and the module is unloaded and
# loaded. Return probes, 32-bit programs and a JIT are among them. ftrace takes
# their stacks at each system call and task switch.
# vm: --debug
# timeout: 1200

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"

stacks() { # 1 or 0
	local event
	echo 256 >$tracefs/buffer_size_kb
	echo "$1" >$tracefs/options/userstacktrace
	for event in sched/sched_switch raw_syscalls/sys_enter raw_syscalls/sys_exit; do
		echo "$1" >$tracefs/events/$event/enable
	done
}
stat_of() { awk -v name="$1" '$1 == "stat" && $2 == name { print $3 }' /dev/kunwind; }

# Runs storms of processes that do not open the device for SECONDS, and COMMAND
# at the same time.
apart() { # SECONDS COMMAND...
	local seconds=$1 mode pids=() status=0 pid
	shift
	for mode in fork map walk "dlopen $seconds libstdc++.so.6 libsqlite3.so.0 libxml2.so.2"; do
		# shellcheck disable=SC2086
		$storm apart ${mode%% *} "$seconds" ${mode#* * } &
		pids+=($!)
	done
	while still "${pids[0]}"; do /bin/true; done &
	pids+=($!)
	"$@" || status=1
	for pid in "${pids[@]}"; do
		wait "$pid" || status=$?
	done
	return "$status"
}
still() { kill -0 "$1" 2>/dev/null; }

check "the module loads" modprobe kunwind
check "kunwind system-wide on succeeds" kunwind system-wide on
stacks 1
check "system_wide on: storms of processes that do not open the device" apart 15 true
like "$(stat_of stacks)" '^[1-9][0-9]{3,}$' "system_wide on: stacks of these processes are walked"

on_and_off() {
	local i
	for i in 1 2 3 4 5 6; do
		kunwind system-wide off && sleep 0.$i && kunwind system-wide on && sleep 1 || return 1
	done
}
check "storms while system_wide is switched on and off" apart 15 on_and_off

in_and_out() {
	local i gone=0
	for i in 1 2 3 4 5; do
		for _ in {1..50}; do
			rmmod kunwind 2>/dev/null && gone=$((gone + 1)) && break
			sleep 0.1
		done
		sleep 0.$i
		modprobe kunwind system_wide=$((i % 2)) 2>/dev/null || [ -d /sys/module/kunwind ] || return 1
		kunwind system-wide on || return 1
		sleep 1
	done
	echo "unloaded $gone times"
	[ $gone -ge 2 ]
}
check "storms while the module is unloaded and loaded" apart 20 in_and_out

# Return probes on a function of the C library that all programs call.
libc=/lib/x86_64-linux-gnu/libc.so.6
echo "r:debug/ret $libc:$(readelf --dyn-syms -W $libc | awk '$8 ~ /^getenv@/ { print "0x" $2; exit }')" \
	>>$tracefs/uprobe_events
echo 1 >$tracefs/events/debug/enable
check "storms while a return probe is on getenv()" apart 10 true
like "$(awk '$2 == "ret" { print $3 }' $tracefs/uprobe_profile)" '^[1-9]' "the return probe is hit"
# None of these programs ends by itself, except node, which ends with status 0.
others() {
	local program pids=() pid status=0
	for program in build/vm-progs/i386-*; do
		[ -x "$program" ] || continue
		"$program" </dev/null >/dev/null 2>&1 &
		pids+=($!)
	done
	if command -v node >/dev/null; then
		node tests/vm/fixtures/node.js </dev/null >/dev/null &
		pids+=($!)
	fi
	sleep 12
	kill -KILL "${pids[@]}" 2>/dev/null
	for pid in "${pids[@]}"; do
		wait "$pid"
		[[ $? == @(0|137) ]] || status=1
	done
	return $status
}
check "storms with the return probe, 32-bit programs and node" apart 12 others
echo 0 >$tracefs/events/debug/enable
echo '-:debug/ret' >>$tracefs/uprobe_events
stacks 0
check "kunwind system-wide off succeeds" kunwind system-wide off
check "the module is unloaded" unload
no_leaks "once unloaded"
done_testing
