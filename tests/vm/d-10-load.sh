#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Loading and unloading, with memory and without.
# vm: --debug
# timeout: 1500

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"

loads() {
	local i
	for i in $(seq 5); do
		modprobe kunwind || return 1
		$storm leaf || return 1
		rmmod kunwind || return 1
	done
}
check "five times in and out" loads

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
check "two at once" two_at_once

# Allocations of the whole load fail, one each time.
quiet_failures
check "allocations of the load fail" timeout 600 build/vm-debug/storm load 1 "$(modinfo -n kunwind)"
check "it loads thereafter" modprobe kunwind
check "and goes" rmmod kunwind
no_leaks "after that"
done_testing
