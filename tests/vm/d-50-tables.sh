#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Tables given back under memory pressure and small limits while all goes on, some
# built as a whole and some in parts; the module going in the midst of parts; a
# file system that hangs, with the module asked to go.
# vm: --debug
# timeout: 900

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/progs/device all >/dev/null || exit 1
params=/sys/module/kunwind/parameters

check "it loads" modprobe kunwind
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
check "storms while memory is short" storms 20
kill $pressure $limits $stages
wait $pressure $limits $stages 2>/dev/null
echo 512 >$params/max_table_mb
check "it works as before then" $storm leaf
eventually "it unloads" rmmod kunwind
check "it loads, with every table in parts" modprobe kunwind max_whole_kb=0
check "it works then, too" $storm leaf
big=$(realpath "$(command -v gdb || command -v bash)")
"$progs/tables" map "$big" </dev/null >/dev/null
# task work of the process that has just ended may hold the module for a moment
eventually "the module unloads while a table is built in parts" rmmod kunwind
check "it loads" modprobe kunwind

mkdir "$KUNWIND_TMP/stuck"
"$progs/stuckfs" "$KUNWIND_TMP/stuck" "$progs/large.so" 30 >"$KUNWIND_TMP/out" &
stuckfs=$!
until [ -s "$KUNWIND_TMP/out" ]; do sleep 0.1; done
check "files of a file system that hangs" sh -c \
	"'$progs/tables' map '$KUNWIND_TMP'/stuck/1 '$KUNWIND_TMP'/stuck/2 </dev/null"
check_fails 1 "it does not unload then" timeout 60 rmmod kunwind
kill -KILL $stuckfs
wait $stuckfs 2>/dev/null
umount -l "$KUNWIND_TMP/stuck"
for _ in $(seq 50); do
	grep -q '^object.pending' /dev/kunwind || break
	sleep 0.2
done
echo 2 >/proc/sys/vm/drop_caches
check "when the file system has gone, it does" unload
no_leaks "once unloaded"
done_testing
