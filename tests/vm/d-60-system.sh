#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The whole system, without anybody's asking: processes that know nothing of the
# module come, go, exec, map and load libraries while it is switched on and off, and
# goes and comes; 32-bit programs, return probes and a JIT between them. Their stacks
# are taken by ftrace, at each system call and switch of tasks.
# vm: --debug
# timeout: 1200

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"

tracefs=/sys/kernel/tracing
stacks() { # 1 or 0
	local event
	echo 256 >$tracefs/buffer_size_kb
	echo "$1" >$tracefs/options/userstacktrace
	for event in sched/sched_switch raw_syscalls/sys_enter raw_syscalls/sys_exit; do
		echo "$1" >$tracefs/events/$event/enable
	done
}
stat_of() { awk -v name="$1" '$1 == "stat" && $2 == name { print $3 }' /dev/kunwind; }

# So many seconds of all that a process may do; none of them opens the device.
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

check "it loads" modprobe kunwind
check "the whole system is on" kunwind auto on
stacks 1
check "storms of processes that never asked" apart 15 true
like "$(stat_of stacks)" '^[1-9][0-9]{3,}$' "their stacks were walked"

on_and_off() {
	local i
	for i in 1 2 3 4 5 6; do
		kunwind auto off && sleep 0.$i && kunwind auto on && sleep 1 || return 1
	done
}
check "on and off meanwhile" apart 15 on_and_off

in_and_out() {
	local i gone=0
	for i in 1 2 3 4 5; do
		for _ in {1..50}; do
			rmmod kunwind 2>/dev/null && gone=$((gone + 1)) && break
			sleep 0.1
		done
		sleep 0.$i
		modprobe kunwind auto=$((i % 2)) 2>/dev/null || [ -d /sys/module/kunwind ] || return 1
		kunwind auto on || return 1
		sleep 1
	done
	echo "gone $gone times"
	[ $gone -ge 2 ]
}
check "gone and there again meanwhile" apart 20 in_and_out

# Return probes on a function of the C library that all programs call.
libc=/lib/x86_64-linux-gnu/libc.so.6
echo "r:debug/ret $libc:$(readelf --dyn-syms -W $libc | awk '$8 ~ /^getenv@/ { print "0x" $2; exit }')" \
	>>$tracefs/uprobe_events
echo 1 >$tracefs/events/debug/enable
check "with return probes" apart 10 true
like "$(awk '$2 == "ret" { print $3 }' $tracefs/uprobe_profile)" '^[1-9]' "which were hit"
# None of them ends by itself but node, and that well.
others() {
	local program pids=() pid status=0
	for program in build/vm-progs/i386-*; do
		[ -x "$program" ] || continue
		"$program" </dev/null >/dev/null 2>&1 &
		pids+=($!)
	done
	if command -v node >/dev/null; then
		node tests/vm/progs/node.js </dev/null >/dev/null &
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
check "with 32-bit programs and node" apart 12 others
echo 0 >$tracefs/events/debug/enable
echo '-:debug/ret' >>$tracefs/uprobe_events
stacks 0
check "it is switched off" kunwind auto off
check "it unloads" unload
no_leaks "once unloaded"
done_testing
