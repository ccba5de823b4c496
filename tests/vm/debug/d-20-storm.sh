#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-20-storm.sh - everything that can change a registration, at the same time:
# fork, exec, threads, code mapped and moved, libraries, signals, registrations
# by other processes, wrong calls. All events of kunwind are on.
# vm: --debug --many-threads
# timeout: 900

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
need lttng

check "the module loads" modprobe kunwind
check "kunwind's own events are on" own_events 1
check "all CPUs are sampled" samples_begin "$KUNWIND_TMP"
for mode in walk map fork register fuzz; do
	check "storm: $mode" $storm $mode 10
done
check "storm: dlopen" $storm dlopen 10 libstdc++.so.6 libsqlite3.so.0 libxml2.so.2
check "storms of all modes at the same time" storms 20
check "samples were taken all the time" samples_end "$KUNWIND_TMP"
is "$(own_events_missing)" "" "ftrace has slow system calls, deadly signals and mappings"
check "the module is unloaded while its events are on" unload
no_leaks "once unloaded"
done_testing
