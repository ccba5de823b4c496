#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-plugins.sh - two hosts that load, call and unload 200 distinct objects each,
# at the same time: every stack of both against what the host knows itself
# timeout: 400

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
progs=$PWD/build/vm-progs-auto
make -s -C tests/vm/progs/auto all >/dev/null || exit 1
rounds=${ROUNDS:-1500}
stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }

check "the module loads" modprobe kunwind
# Emulated and loaded machines are slow: it is not time that is tested here.
echo 20000 >/sys/module/kunwind/parameters/max_stall_ms
# objects of their own, and of a kind of file system that others use
cp -r "$progs" "$KUNWIND_TMP/second"
"$progs/plugins" "$progs" 200 "$rounds" 1 >"$KUNWIND_TMP/1" 2>&1 &
first=$!
"$progs/plugins" "$KUNWIND_TMP/second" 200 "$rounds" 2 >"$KUNWIND_TMP/2" 2>&1 &
second=$!
wait $first
one=$?
wait $second
two=$?
is "$one $(tail -n 1 "$KUNWIND_TMP/1")" "0 $rounds stacks, 0 wrong" "the first host's stacks"
is "$two $(tail -n 1 "$KUNWIND_TMP/2")" "0 $rounds stacks, 0 wrong" "the second host's stacks"
diag "$(grep -h '^#' "$KUNWIND_TMP/1" "$KUNWIND_TMP/2")"
like "$(grep -c $'^object\tready\t.*/plugin-[0-9]*.so$' /dev/kunwind)" '^(1[5-9]|[2-4])[0-9][0-9]$' \
	"objects are known, each file's its own"
is "$(stat_of table_refused)" 0 "none was refused"
for _ in {1..100}; do
	[ "$(stat_of map_bytes)" = 0 ] && break
	sleep 0.1
done
is "$(stat_of processes) $(stat_of map_bytes)" "0 0" "nothing of them is left but tables"
check "the module goes" rmmod kunwind
done_testing
