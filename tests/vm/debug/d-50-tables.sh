#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-50-tables.sh - tables under pressure
#
# Storms run while memory pressure and small limits make the module drop tables,
# of which some are built whole and some in parts. Then the module is unloaded
# while it builds a table in parts. While a file system hangs, rmmod is refused.
# vm: --debug
# timeout: 900

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1
params=/sys/module/kunwind/parameters

check "the module loads" modprobe kunwind
while sleep 0.1; do echo 2 >/proc/sys/vm/drop_caches; done &
pressure=$!
while sleep 0.7; do
	for mb in 1 3 512; do
		echo $mb >$params/max_table_mb
		sleep 0.3
	done
done 2>/dev/null &
limits=$!
while sleep 0.2; do
	for kb in 0 0 4096; do
		echo $kb >$params/max_whole_kb
		sleep 0.2
	done
done 2>/dev/null &
stages=$!
check "storms of all modes under memory pressure and small limits" storms 20
kill $pressure $limits $stages
wait $pressure $limits $stages 2>/dev/null
echo 512 >$params/max_table_mb
check "after the pressure a stack can be taken" $storm leaf
eventually "the module is unloaded after the pressure" rmmod kunwind
check "the module loads with max_whole_kb=0, every table in parts" modprobe kunwind max_whole_kb=0
check "every table in parts: a stack can be taken" $storm leaf
big=$(realpath "$(command -v gdb || command -v bash)")
"$progs/tables" map "$big" </dev/null >/dev/null
# a task work of the process that has just ended may hold the module briefly
eventually "the module is unloaded while a table is built in parts" rmmod kunwind
check "the module loads before the file system hangs" modprobe kunwind

mkdir "$KUNWIND_TMP/stuck"
"$progs/stuckfs" "$KUNWIND_TMP/stuck" "$progs/large.so" 30 >"$KUNWIND_TMP/out" &
stuckfs=$!
until [ -s "$KUNWIND_TMP/out" ]; do sleep 0.1; done
check "a process maps files of a file system that hangs" sh -c \
	"'$progs/tables' map '$KUNWIND_TMP'/stuck/1 '$KUNWIND_TMP'/stuck/2 </dev/null"
check_fails 1 "the module cannot be unloaded while a file system hangs" timeout 60 rmmod kunwind
kill -KILL $stuckfs
wait $stuckfs 2>/dev/null
umount -l "$KUNWIND_TMP/stuck"
for _ in $(seq 50); do
	grep -q '^object.pending' /dev/kunwind || break
	sleep 0.2
done
echo 2 >/proc/sys/vm/drop_caches
check "the module is unloaded when the hung file system has gone" unload
no_leaks "once unloaded"
done_testing
