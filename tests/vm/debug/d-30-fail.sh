#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-30-fail.sh - allocations fail: first one allocation of a call at a time, then
# one in seven of kunwind's own while processes run as usual
#
# "storm fail 1" leaves out some allocations of a call, to save time.
# vm: --debug --many-threads
# timeout: 900

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"

check "the module loads" modprobe kunwind
quiet_failures
check "register, status and mmap, one of their allocations fails: results are as the ABI allows" sh -c "$storm fail 1 >'$KUNWIND_TMP/failed'"
diag "$(cat "$KUNWIND_TMP/failed")"
fail_allocations 7
for mode in walk map fork register; do
	check "one in seven of kunwind's allocations fails: $mode" $storm $mode 8
done
check "one in seven of kunwind's allocations fails: dlopen" $storm dlopen 8 libstdc++.so.6 libsqlite3.so.0 libxml2.so.2
stop_failing
check "kunwind works again when allocations succeed" $storm leaf
check "the module is unloaded" unload
no_leaks "once unloaded"
done_testing
