#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-plugins.sh - two programs load, call and unload 200 different libraries
# each, at the same time: every stack equals the call chain that the program
# knows
#
# timeout: 200

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
progs=$PWD/build/vm-progs-system-wide
make -s -C tests/vm/fixtures/system-wide all >/dev/null || exit 1
rounds=${ROUNDS:-1500}
stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }

check "the module loads" modprobe kunwind
# a second set of files, on another file system
cp -r "$progs" "$KUNWIND_TMP/second"
"$progs/plugins" "$progs" 200 "$rounds" 1 >"$KUNWIND_TMP/1" 2>&1 &
first=$!
"$progs/plugins" "$KUNWIND_TMP/second" 200 "$rounds" 2 >"$KUNWIND_TMP/2" 2>&1 &
second=$!
wait $first
one=$?
wait $second
two=$?
is "$one $(tail -n 1 "$KUNWIND_TMP/1")" "0 $rounds stacks, 0 wrong" "first program: all stacks are right"
is "$two $(tail -n 1 "$KUNWIND_TMP/2")" "0 $rounds stacks, 0 wrong" "second program: all stacks are right"
diag "$(grep -h '^#' "$KUNWIND_TMP/1" "$KUNWIND_TMP/2")"
like "$(grep -c $'^object\tready\t.*/plugin-[0-9]*.so$' /dev/kunwind)" '^(1[5-9]|[2-4])[0-9][0-9]$' \
	"at least 150 of the 400 libraries have an object of their own at the end"
is "$(stat_of table_refused)" 0 "no table is refused"
for _ in {1..100}; do
	[ "$(stat_of map_bytes)" = 0 ] && break
	sleep 0.1
done
is "$(stat_of processes) $(stat_of map_bytes)" "0 0" "after the programs have ended no process and no mapping is left"
check "the module is unloaded" rmmod kunwind
done_testing
