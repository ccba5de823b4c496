# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# watch.sh - say where an action of the soak hangs. Sourced by soak.sh.
#
# An action takes seconds, or minutes on the debug kernel; the loads have 100
# seconds less than STUCK to end (loads.sh). If an action takes more than STUCK seconds, watch.sh prints
# the action's processes with the kernel stack of each, all processes in
# uninterruptible sleep, and the module's status. It does so once for each
# action and ends nothing: the VM's time limit does that.
STUCK=$((2 * turn + 200))

watched=$work/action
watch_begin() { echo "$*" >"$watched"; }

descendants() { # PID
	local child
	echo "$1"
	for child in $(pgrep -P "$1"); do
		[ "$child" = "$watcher" ] || descendants "$child"
	done
}

watch_tell() { # PID
	local pid
	echo "# stuck for $STUCK s: $(cat "$watched")"
	for pid in $(descendants "$1"); do
		echo "# $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c 1-100)"
		sed 's/^/#   /' "/proc/$pid/stack"
	done
	echo "# sleeping without signals:"
	for pid in /proc/[0-9]*; do
		grep -q '^State:.*D' "$pid/status" || continue
		echo "# ${pid#/proc/} $(cat "$pid/comm")"
		sed 's/^/#   /' "$pid/stack"
	done
	timeout 20 cat /dev/kunwind | grep -v $'^object\t' | sed 's/^/#   /'
} 2>/dev/null

watch_actions() { # PID: the script's
	local before='' now told='' watcher=$BASHPID
	while sleep $STUCK; do
		now=$(stat -c %y "$watched")
		[ "$now" != "$before" ] || [ "$now" = "$told" ] || { watch_tell "$1" && told=$now; }
		before=$now
	done
}
