#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-isolation.sh - users get their tables although one user floods the builders or
# one file system hangs
#
# The attacker, in a control group with a tenth of a processor, maps files whose
# tables take long to build (oracle/costly_elf.py), each again and again with a new
# change time. The time in which one of these tables is built on an idle machine is
# the yardstick: no other user's median wait is longer than a quarter of that time.
# timeout: 400

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/progs/device all >/dev/null || exit 1
isolation=$progs/isolation
work=$KUNWIND_TMP
params=/sys/module/kunwind/parameters
attacker=1001 victim=1002
chmod 755 "$work"

stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
pending() { grep -c $'^object\tpending' /dev/kunwind; }
# processor time of all kworkers, ms: their names do not say which ones build
workers() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk '/\(kworker\// { sub(/.*\) /, ""); sum += $13 } END { print sum * 10 }'
}
# processor time that a user was charged, ms
charged() { awk -F'\t' -v u="$1" '$1 == "user" && $2 == u { print $6 }' /dev/kunwind; }
as() {
	local uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups -- "$@"
}
files() { # DIRECTORY NR: copies of small.so
	local i
	mkdir "$1"
	for ((i = 0; i < $2; i++)); do
		cp "$progs/small.so" "$1/$i.so"
	done
}

check "the module loads" modprobe kunwind
chmod 666 /dev/kunwind
mkdir "$work/tmp"
mount -t tmpfs none "$work/tmp"
for i in 0 1 2 3 4 5 6 7; do
	files "$work/tmp/files$i" 9
done
mkdir "$work/tmp/costly"
/usr/bin/python3 tests/vm/oracle/costly_elf.py "$work/tmp/costly/0.so" 2
for i in $(seq 1 7); do
	cp --sparse=always "$work/tmp/costly/0.so" "$work/tmp/costly/$i.so"
done
chown -R $attacker "$work/tmp/costly"
cp "$progs/small.so" "$work/tmp/shared.so"

read -r quiet longest < <(as $victim "$isolation" first "$work"/tmp/files0/*)
diag "quiet: first stack after $quiet us, at most $longest us"
check "a user gets tables on an idle machine" test "${quiet:-0}" -gt 0
read -r costly _ < <(as $attacker "$isolation" ready "$work/tmp/costly/0.so")
diag "quiet: a costly table after $costly us"
# the longest wait that is allowed
unit=$((costly / 4))
check "on an idle machine that takes less than a quarter of a costly build" test "$quiet" -lt $unit

# ---- the attack
group=
if mkdir "$work/cgroup" && mount -t cgroup2 none "$work/cgroup" 2>/dev/null &&
	echo +cpu >"$work/cgroup/cgroup.subtree_control" 2>/dev/null; then
	group=$work/cgroup/attacker
	mkdir "$group"
	echo "10000 100000" >"$group/cpu.max"
fi
before=$(workers)
start=$SECONDS
# shellcheck disable=SC2016
setpriv --reuid=$attacker --regid=$attacker --clear-groups -- \
	"$isolation" flood 4 "$work/tmp/shared.so" "$work"/tmp/costly/* >"$work/flood" 2>&1 &
flood=$!
[ -z "$group" ] || echo $flood >"$group/cgroup.procs"
for ((i = 0; i < 600; i++)); do
	[ "$(pending)" -ge 60 ] && break
	sleep 0.1
done
diag "after $((SECONDS - start)) s: $(pending) objects wait, $(stat_of table_builds) built," \
	"the attacker was charged $(charged $attacker) ms"
check "the attacker's objects wait in a queue" test "$(pending)" -ge 60
for i in 1 2 3; do
	read -r median longest < <(as $victim "$isolation" first "$work/tmp/files$i"/*)
	diag "attacked: first stack after $median us, at most $longest us; $(pending) objects wait"
	check "another user's table is ready within a quarter of a costly build" test "$median" -lt $unit
done
read -r shared _ < <(as $victim "$isolation" first "$work/tmp/shared.so")
diag "shared: first stack after $shared us; $(pending) objects wait"
check "a table of a file that the attacker mapped first is ready within that time" test "$shared" -lt $unit
read -r root _ < <("$isolation" first "$work"/tmp/files4/*)
diag "root: first stack after $root us"
check "a table of root's is ready within that time" test "$root" -lt $unit
diag "$((SECONDS - start)) s: workers ran $(($(workers) - before)) ms, $(charged $attacker) ms for the attacker," \
	"$(charged $victim) ms for the victim"
nices=$(cat /proc/[0-9]*/stat | awk '/\(kworker\/.*build/ || /kunwind_build/ { sub(/.*\) /, ""); print $17 }' | sort -n | tr '\n' ' ')
diag "priorities of workers: $nices"

# ---- objects that no process needs any more are not built
built=$(stat_of table_builds) dropped=$(stat_of dropped)
waited=$(pending)
pkill -KILL -U $attacker
wait $flood 2>/dev/null
for ((i = 0; i < 300; i++)); do
	[ "$(pending)" -eq 0 ] && break
	sleep 0.1
done
sleep 1
diag "$waited objects waited; since then $(($(stat_of table_builds) - built)) were built," \
	"$(($(stat_of dropped) - ${dropped:-0})) dropped; $(pending) wait"
is "$(pending)" 0 "after the attacker's processes ended no object waits"
check "the attacker's queue was dropped, not built" test $(($(stat_of table_builds) - built)) -lt $((waited / 4))
[ -z "$group" ] || { rmdir "$group"; umount "$work/cgroup"; }

# ---- unwind information in memory that never answers
before=$(stat_of memory_bytes)
"$progs/stuckjit" 40 >"$work/stuck" &
stuck=$!
for ((i = 0; i < 100; i++)); do
	[ "$(cat "/proc/$stuck/wchan" 2>/dev/null)" = handle_userfault ] && break
	sleep 0.1
done
is "$(cat "$work/stuck") $(cat /proc/$stuck/wchan)" "ready handle_userfault" \
	"a process hands in unwind information in memory that never answers"
held=$(($(stat_of memory_bytes) - before))
diag "charged meanwhile: $held bytes"
check "no memory is charged while the copy of that information waits" test $held -lt $((1 << 20))
kill -KILL $stuck
wait $stuck 2>/dev/null

# ---- a file system that hangs, and others with device numbers near its own
modprobe fuse
mkdir "$work/hung"
"$progs/stuckfs" "$work/hung" "$progs/large.so" 60 >"$work/hung.out" 2>&1 &
stuckfs=$!
for ((i = 0; i < 100; i++)); do
	[ -s "$work/hung.out" ] && break
	sleep 0.1
done
is "$(cat "$work/hung.out")" mounted "a file system that does not answer reads is mounted"
echo 20 >$params/max_stall_ms
"$progs/tables" map "$work"/hung/{0..59} </dev/null >"$work/stalls"
echo 20000 >$params/max_stall_ms
# whether tasks no longer wait for the file system: mmap() returns at once, ns
hangs() {
	local longest
	read -r longest _ < <("$progs/tables" map "$work/hung/0" </dev/null)
	test "$longest" -lt 10000000
}
check "tasks no longer wait for a file system that hangs" hangs
whole=0
# Mounted one after the other, they get consecutive device numbers: each remainder by 64 occurs.
for i in {0..63}; do
	mkdir "$work/near$i"
	mount -t tmpfs none "$work/near$i"
	cp "$progs/small.so" "$work/near$i/"
	[ "$("$progs/tables" call "$work/near$i/small.so")" != "0 1 small" ] || whole=$((whole + 1))
done
is "$whole" 64 "tasks still wait for 64 file systems with the next device numbers"
umount "$work"/near*
kill -USR1 $stuckfs
for ((i = 0; i < 100; i++)); do
	umount "$work/hung" 2>/dev/null && break
	sleep 0.1
done
wait $stuckfs

check "the module is unloaded" rmmod kunwind
umount "$work/tmp"
done_testing
