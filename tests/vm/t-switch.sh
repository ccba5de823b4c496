#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-switch.sh - a process whose memory map stays locked holds up nobody
#
# progs/device/stuckmm.c holds its mmap_lock for writing until a file system
# answers. Meanwhile the whole system is registered, by parameter and by ioctl, the
# kill switch works, and the module loads and unloads. Where this test waits, the
# time limit tells "at once" from "never": a call that waits for the process
# ends only when the process does.
# timeout: 600

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/progs/device all >/dev/null || exit 1
params=/sys/module/kunwind/parameters
limit=$((30 * ${KUNWIND_TIMEOUT_SCALE:-1}))
work=$KUNWIND_TMP

within() { # DESCRIPTION COMMAND...
	check "$1" timeout -s KILL "$limit" "${@:2}"
}
stat_of() { timeout -s KILL "$limit" awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
stat_is() { [ "$(stat_of "$1")" = "$2" ]; }
# mappings of a registered process that are known
maps_of() { timeout -s KILL "$limit" awk -F'\t' -v p="$1" '$1 == "process" && $2 == p { print $4 }' /dev/kunwind; }
has_maps() { [ "$(maps_of "$1")" -gt 0 ] 2>/dev/null; }
said() { grep -q "$1" "$work/stuckmm.out"; }

modprobe fuse
mkdir "$work/stuck"
"$progs/stuckfs" "$work/stuck" /bin/ls 1 direct >"$work/stuckfs.out" 2>&1 &
stuckfs=$!
eventually "a file system that does not answer reads" grep -q mounted "$work/stuckfs.out"
"$progs/stuckmm" "$work/stuck/0" >"$work/stuckmm.out" &
eventually "a process whose mmap_lock stays taken" said stuck
stuck=$(sed -n 's/^stuck //p' "$work/stuckmm.out")
sleep 100000 &
other=$!

check "the module loads" modprobe kunwind
within "auto=Y is written" sh -c "echo Y >$params/auto"
eventually "the mappings of another process are known" has_maps $other
eventually "all processes but one are registered" stat_is auto_pending 1
is "$(maps_of "$stuck")" 0 "the stuck process is registered, its mappings are not known"
within "kunwind status" kunwind status
within "kunwind auto on returns" kunwind auto on
like "$(timeout -s KILL "$limit" kunwind auto on 2>&1)" '1 process is not registered yet' \
	"kunwind auto on reports one process that is pending"
is "$(timeout -s KILL "$limit" kunwind auto --json | cut -d, -f1,2)" '{"auto": true, "pending": 1' "so does --json"

within "enabled=N is written" sh -c "echo N >$params/enabled"
timeout -s KILL "$limit" "$progs/device" off >"$work/out" 2>&1
is $? 0 "the device refuses calls"
tap_from "$work/out" "kill switch: "
within "enabled=Y is written" sh -c "echo Y >$params/enabled"

echo 500 >$params/register_timeout_ms
timeout -s KILL "$limit" kunwind register "$stuck" >"$work/out" 2>&1
is "$? $(grep -c 'memory map' "$work/out")" "1 1" "registering the stuck process by hand fails, and says why"
within "registering another process" kunwind register $other

within "auto=N is written" sh -c "echo N >$params/auto"
is "$(stat_of processes) $(stat_of auto_pending)" "1 0" "only what was registered by hand is left"
is "$(maps_of "$stuck")" "" "the stuck process is not"
within "auto=Y again" sh -c "echo Y >$params/auto"
within "the module is unloaded meanwhile" rmmod kunwind

within "the module loads with auto=1" modprobe kunwind auto=1
eventually "the mappings of another process are known then" has_maps $other
eventually "all processes but one are registered then" stat_is auto_pending 1
answered() {
	kill -USR1 $stuckfs
	said free
}
eventually "the file system answers" answered
eventually "no process is pending any more" stat_is auto_pending 0
has_maps "$stuck"
is $? 0 "the mappings of the process that was stuck are known"
kill -KILL "$stuck" $other
wait $other 2>/dev/null
within "the module is unloaded" rmmod kunwind
kill $stuckfs
wait
done_testing
