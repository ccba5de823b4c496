#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Loading and unloading, with memory and without.
# vm: --debug
# timeout: 600

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"

loads() {
	local i
	for i in $(seq 15); do
		modprobe kunwind || return 1
		$storm leaf || return 1
		rmmod kunwind || return 1
	done
}
check "15 times in and out" loads

two_at_once() {
	local i
	for i in $(seq 10); do
		modprobe kunwind & modprobe kunwind & cat /dev/kunwind >/dev/null 2>&1
		wait
		rmmod kunwind & rmmod kunwind 2>/dev/null
		wait
	done
	! grep -q '^kunwind ' /proc/modules
}
check "two at once" two_at_once

# Each allocation of the whole load fails once.
quiet_failures
check "each allocation of the load fails once" $storm load 0 "$(modinfo -n kunwind)"
check "it loads thereafter" modprobe kunwind
check "and goes" rmmod kunwind
no_leaks "after that"
done_testing
