#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
#
# t-jit.sh - unwind information that a process hands in for code that it makes:
# stacks compared with libgcc's, which reads the same bytes; what makes the
# module drop it; bad input; limits

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
jit=$PWD/build/vm-progs-lib/jit
make -s -C tests/vm/fixtures/lib all >/dev/null || exit 1

# Makes the program's TAP lines tests of this file. Fails if the program dies.
# Before MODE, PREFIX runs it in another way (setpriv).
adopt() { # MODE [PREFIX...]
	local status mode=$1
	shift
	"$@" "$jit" "$mode" >"$KUNWIND_TMP/out" 2>&1
	status=$?
	tap_from "$KUNWIND_TMP/out"
	is "$status" 0 "jit $mode: exits with status 0"
}

check "the module loads" modprobe kunwind
adopt errors
adopt mutants
adopt stacks
adopt life
adopt exec

# a user without privileges, up to the limit of a user's memory
chmod 666 /dev/kunwind
echo 1 >/sys/module/kunwind/parameters/max_user_table_mb
adopt limit setpriv --reuid=65534 --regid=65534 --clear-groups --
chmod 660 /dev/kunwind

# all memory is given back
for _ in {1..50}; do
	shares=$(kunwind status | grep -c '^user')
	[ "$shares" -eq 0 ] && break
	sleep 0.2
done
kunwind status | grep -E '^(user|stat)' | sed 's/^/# /'
is "$shares" 0 "no user is charged for anything after all processes have ended"
check "the module is unloaded" rmmod kunwind
done_testing
