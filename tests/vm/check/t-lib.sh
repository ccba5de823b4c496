#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
#
# t-lib.sh - libkunwind: stacks compared with libunwind's of the same process
# from the same point, errors as the manual page lists them, file descriptors

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
progs=$PWD/build/vm-progs-lib
make -s -C tests/vm/fixtures/lib all >/dev/null || exit 1

# Makes the program's TAP lines tests of this file. Fails if the program dies.
adopt() { # BUILD MODE
	local status
	"$progs/libstack-$1" "$2" >"$KUNWIND_TMP/out" 2>&1
	status=$?
	tap_from "$KUNWIND_TMP/out" "$1: "
	is "$status" 0 "$1: libstack $2 exits with status 0"
}

adopt gcc absent
check "the module loads" modprobe kunwind
is "$(LD_LIBRARY_PATH=libkunwind ldd "$progs/libstack-shared" | grep -c libkunwind.so.0)" 1 \
	"a program links with libkunwind.so.0"
LD_LIBRARY_PATH=$PWD/libkunwind
export LD_LIBRARY_PATH
for build in gcc clang shared; do
	adopt "$build" stacks
done
adopt gcc errors
adopt gcc descriptors

# permissions of a user who is in no group
# shellcheck disable=SC2086
sleep 1000 &
victim=$!
user="setpriv --reuid=65534 --regid=65534 --clear-groups --"
chmod 666 /dev/kunwind
like "$($user kunwind register $victim 2>&1)" "no such process, or none that you may trace" \
	"another user's process cannot be registered"
kunwind register $victim >/dev/null
$user sleep 1000 &
own=$!
until grep -q sleep /proc/$own/comm; do sleep 0.1; done
kunwind register $own >/dev/null
like "$($user kunwind unregister $own 2>&1)" "registered by another user" \
	"a process that root has registered cannot be unregistered by its user"
chmod 660 /dev/kunwind
like "$($user kunwind register $own 2>&1)" "group tracing" \
	"without access to /dev/kunwind the message names the group"
kill $victim $own

# a program that has called kunwind_release() does not hold the module
"$progs/libstack-gcc" hold >"$KUNWIND_TMP/hold" &
holder=$!
for _ in {1..50}; do
	grep -q released "$KUNWIND_TMP/hold" && break
	sleep 0.2
done
is "$(head -n 1 "$KUNWIND_TMP/hold")" "ok - before kunwind_release(): 1 stacks, 0 wrong" "a program takes a stack before kunwind_release()"
check "after kunwind_release() the module can be removed" rmmod kunwind
kill $holder
done_testing
