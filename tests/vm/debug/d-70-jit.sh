#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-70-jit.sh - unwind information that processes hand in for generated code
#
# Threads hand it in and take it back while others walk through that code. Some
# of it has wrong bytes, allocations fail, and rmmod must be refused meanwhile.
# vm: --debug --many-threads
# timeout: 900

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
lib=build/vm-progs-lib
limit="timeout -k 5 $((180 * scale))"
make -s -C tests/vm/fixtures/lib all >/dev/null || exit 1

# Makes a program's TAP lines tests of this file. Fails if the program dies.
adopt() { # PROGRAM ARGUMENT
	$limit "$lib/$1" "$2" >"$KUNWIND_TMP/out" 2>&1
	is "$?" 0 "$*: exits with status 0"
	tap_from "$KUNWIND_TMP/out" "$*: "
}

check "the module loads" modprobe kunwind
# ftrace takes the same stacks at the same time
echo 1 >$tracefs/options/userstacktrace
echo 1 >$tracefs/events/sched/sched_switch/enable
echo 1 >$tracefs/events/raw_syscalls/sys_exit/enable
adopt jit-storm 20
adopt jit life
adopt jit exec
adopt jit mutants

# Two processes under memory pressure, which delays the start of programs.
while sleep 0.1; do echo 2 >/proc/sys/vm/drop_caches; done &
pressure=$!
fail_allocations 20
$limit $lib/jit-storm $((15 * scale)) >"$KUNWIND_TMP/a" & a=$!
$limit $lib/jit-storm $((15 * scale)) >"$KUNWIND_TMP/b" & b=$!
sleep 3
check_fails 1 "the module cannot be unloaded while jit-storm runs" rmmod kunwind
wait $a && wait $b
is "$?" 0 "one in twenty allocations fails: two jit-storms exit with status 0"
is "$(grep -c ', 0 wrong answers' "$KUNWIND_TMP/a" "$KUNWIND_TMP/b" | cut -d: -f2 | tr '\n' ' ')" "1 1 " \
	"one in twenty allocations fails: each call of two jit-storms has an allowed result" || diag "$(cat "$KUNWIND_TMP/a" "$KUNWIND_TMP/b")"
stop_failing
kill $pressure
wait $pressure 2>/dev/null
adopt jit-storm 5
for event in sched/sched_switch raw_syscalls/sys_exit; do echo 0 >$tracefs/events/$event/enable; done
echo 0 >$tracefs/options/userstacktrace
check "the module is unloaded" unload
no_leaks "once unloaded"
done_testing
