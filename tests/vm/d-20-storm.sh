#!/bin/bash
# SPDX-License-Identifier: MIT
#
# All that processes do to a registration, at once: fork, exec, threads, code
# mapped and moved, libraries, signals, registrations from outside, wrong calls.
# vm: --debug --many-threads
# timeout: 900

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"

check "it loads" modprobe kunwind
for mode in walk map fork register fuzz; do
	check "storm: $mode" $storm $mode 10
done
check "storm: dlopen" $storm dlopen 10 libstdc++.so.6 libsqlite3.so.0 libxml2.so.2
check "all of them side by side" storms 20
check "it unloads" unload
no_leaks "once unloaded"
done_testing
