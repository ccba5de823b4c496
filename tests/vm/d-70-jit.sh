#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Unwind information that processes hand in for code that they make: handed in and
# taken back by threads while others walk through it, with wrong bytes, without
# memory; and the module asked to go meanwhile.
# vm: --debug --many-threads
# timeout: 900

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"
lib=build/vm-progs-lib
limit="timeout -k 5 $((180 * scale))"
make -s -C tests/vm/progs/lib all >/dev/null || exit 1
tracefs=/sys/kernel/tracing

# A program's lines are tests.
adopt() { # PROGRAM ARGUMENT
	$limit "$lib/$1" "$2" >"$KUNWIND_TMP/out" 2>&1
	is "$?" 0 "$* ends well"
	tap_from "$KUNWIND_TMP/out" "$*: "
}

check "it loads" modprobe kunwind
# others ask for the same stacks, in between
echo 1 >$tracefs/options/userstacktrace
echo 1 >$tracefs/events/sched/sched_switch/enable
echo 1 >$tracefs/events/raw_syscalls/sys_exit/enable
adopt jit-storm 20
adopt jit life
adopt jit exec
adopt jit mutants

# two processes, and memory that is short; a program takes its time to start then
while sleep 0.1; do echo 2 >/proc/sys/vm/drop_caches; done &
pressure=$!
fail_allocations 20
$limit $lib/jit-storm $((15 * scale)) >"$KUNWIND_TMP/a" & a=$!
$limit $lib/jit-storm $((15 * scale)) >"$KUNWIND_TMP/b" & b=$!
sleep 3
check_fails 1 "it does not unload meanwhile" rmmod kunwind
wait $a && wait $b
is "$?" 0 "two storms, where one in twenty allocations fails, end well"
is "$(grep -c ', 0 wrong answers' "$KUNWIND_TMP/a" "$KUNWIND_TMP/b" | cut -d: -f2 | tr '\n' ' ')" "1 1 " \
	"each answer was one that is named" || diag "$(cat "$KUNWIND_TMP/a" "$KUNWIND_TMP/b")"
stop_failing
kill $pressure
wait $pressure 2>/dev/null
adopt jit-storm 5
for event in sched/sched_switch raw_syscalls/sys_exit; do echo 0 >$tracefs/events/$event/enable; done
echo 0 >$tracefs/options/userstacktrace
check "it unloads" unload
no_leaks "once unloaded"
done_testing
