#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-switch.sh - a process whose mmap_lock stays locked delays nothing else
#
# fixtures/device/stuckmm.c holds its mmap_lock for writing until a file system
# answers. Meanwhile system_wide is set by parameter and by ioctl, the kill switch is
# used, and the module is loaded and unloaded. The time limit of each command
# distinguishes "at once" from "never": a call that waits for the process would
# end only after the process.
# timeout: 250

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1
params=/sys/module/kunwind/parameters
limit=$((30 * ${KUNWIND_TIMEOUT_SCALE:-1}))
work=$KUNWIND_TMP

within() { # DESCRIPTION COMMAND...
	check "$1" timeout -s KILL "$limit" "${@:2}"
}
stat_of() { timeout -s KILL "$limit" awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
stat_is() { [ "$(stat_of "$1")" = "$2" ]; }
# how many mappings of a registered process are known
maps_of() { timeout -s KILL "$limit" awk -F'\t' -v p="$1" '$1 == "process" && $2 == p { print $4 }' /dev/kunwind; }
has_maps() { [ "$(maps_of "$1")" -gt 0 ] 2>/dev/null; }
said() { grep -q "$1" "$work/stuckmm.out"; }

modprobe fuse
mkdir "$work/stuck"
"$progs/stuckfs" "$work/stuck" /bin/ls 1 direct >"$work/stuckfs.out" 2>&1 &
stuckfs=$!
eventually "a FUSE file system that does not answer reads is mounted" grep -q mounted "$work/stuckfs.out"
"$progs/stuckmm" "$work/stuck/0" >"$work/stuckmm.out" &
eventually "a process holds its mmap_lock for writing" said stuck
stuck=$(sed -n 's/^stuck //p' "$work/stuckmm.out")
sleep 100000 &
other=$!

check "the module loads" modprobe kunwind register_timeout_ms=10000
within "writing system_wide=Y returns" sh -c "echo Y >$params/system_wide"
eventually "system_wide=Y: the mappings of another process are known" has_maps $other
eventually "system_wide=Y: one process is pending" stat_is system_wide_pending 1
is "$(maps_of "$stuck")" 0 "system_wide=Y: the stuck process is registered, its mappings are not known"
within "kunwind status returns" kunwind status
within "kunwind system-wide on returns" kunwind system-wide on
like "$(timeout -s KILL "$limit" kunwind system-wide on 2>&1)" '1 process is not registered yet' \
	"kunwind system-wide on reports one process that is pending"
is "$(timeout -s KILL "$limit" kunwind system-wide --json | cut -d, -f1,2)" '{"system_wide": true, "pending": 1' "kunwind system-wide --json reports one process that is pending"

within "writing enabled=N returns" sh -c "echo N >$params/enabled"
timeout -s KILL "$limit" "$progs/device" off >"$work/out" 2>&1
is $? 0 "kill switch: the device refuses calls"
tap_from "$work/out" "kill switch: "
within "writing enabled=Y returns" sh -c "echo Y >$params/enabled"

echo 500 >$params/register_timeout_ms
timeout -s KILL "$limit" kunwind register "$stuck" >"$work/out" 2>&1
is "$? $(grep -c 'memory map' "$work/out")" "1 1" "registering the stuck process by hand fails with a message about its memory map"
within "registering another process by hand succeeds" kunwind register $other

within "writing system_wide=N returns" sh -c "echo N >$params/system_wide"
is "$(stat_of processes) $(stat_of system_wide_pending)" "1 0" "system_wide=N: only the process registered by hand is left"
is "$(maps_of "$stuck")" "" "system_wide=N: the stuck process is not registered any more"
within "writing system_wide=Y again returns" sh -c "echo Y >$params/system_wide"
within "the module is unloaded while the process is stuck" rmmod kunwind

within "the module loads with system_wide=1" modprobe kunwind register_timeout_ms=10000 system_wide=1
eventually "load with system_wide=1: the mappings of another process are known" has_maps $other
eventually "load with system_wide=1: one process is pending" stat_is system_wide_pending 1
answered() {
	kill -USR1 $stuckfs
	said free
}
eventually "the file system answers" answered
eventually "no process is pending any more" stat_is system_wide_pending 0
has_maps "$stuck"
is $? 0 "when the file system has answered, the mappings of the stuck process are known"
kill -KILL "$stuck" $other
wait $other 2>/dev/null
within "the module is unloaded at the end" rmmod kunwind
kill $stuckfs
wait
done_testing
