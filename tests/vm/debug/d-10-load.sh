#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-10-load.sh - load and unload, also if memory allocations fail
# vm: --debug
# timeout: 1500

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"

loads() {
	local i
	for i in $(seq 5); do
		modprobe kunwind || return 1
		$storm leaf || return 1
		rmmod kunwind || return 1
	done
}
check "the module is loaded and unloaded five times" loads

two_at_once() {
	local i
	for i in $(seq 3); do
		modprobe kunwind & modprobe kunwind & cat /dev/kunwind >/dev/null 2>&1
		wait
		rmmod kunwind & rmmod kunwind 2>/dev/null
		wait
	done
	! grep -q '^kunwind ' /proc/modules
}
check "two modprobe and two rmmod run at once" two_at_once

# One allocation during the load fails. Either modprobe reports "Cannot allocate
# memory", or the module works without that memory. d-31 does this call by call.
failing_loads() {
	local i failed=0
	for i in 1 2 3 4 6 8 12 16 24 32; do
		fail_allocations "$i" 1
		if modprobe kunwind 2>"$KUNWIND_TMP/load"; then
			stop_failing
			rmmod kunwind || return 1
			continue
		fi
		stop_failing
		grep -q 'Cannot allocate memory' "$KUNWIND_TMP/load" || { cat "$KUNWIND_TMP/load"; return 1; }
		failed=$((failed + 1))
	done
	echo "$failed of 10 loads failed"
	[ "$failed" -gt 0 ]
}
check "one failing allocation of the load is reported" failing_loads

# There is no memory for the filter of any hook. ftrace takes an empty filter as
# every function, so the module must hook nothing.
nothing_to_hook() {
	local status=0
	fail_allocations 1 -1 match_records
	modprobe kunwind || status=1
	stop_failing
	awk -F'\t' '$1 == "hook" { print; on += $3 == "on"; lost += $4 == "out of memory" }
		END { exit on || !lost }' /dev/kunwind || status=1
	rmmod kunwind && return $status
}
check "no memory for any hook's filter: no function is hooked" nothing_to_hook
check "the module loads when memory is there again" modprobe kunwind
check "the module is unloaded" rmmod kunwind
no_leaks "once unloaded"
done_testing
