#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Allocations fail: each one of a call in turn, then kunwind's own here and
# there while everything else goes on.
# vm: --debug --many-threads
# timeout: 900

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"

check "it loads" modprobe kunwind
quiet_failures
check "allocations of each call fail" sh -c "$storm fail 1 >'$KUNWIND_TMP/failed'"
diag "$(cat "$KUNWIND_TMP/failed")"
fail_allocations 7
for mode in walk map fork register; do
	check "one in seven allocations of kunwind's fails: $mode" $storm $mode 8
done
check "dlopen, too" $storm dlopen 8 libstdc++.so.6 libsqlite3.so.0 libxml2.so.2
stop_failing
check "it works as before then" $storm leaf
check "it unloads" unload
no_leaks "once unloaded"
done_testing
