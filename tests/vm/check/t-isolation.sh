#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-isolation.sh - users get their tables although one user floods the builders
# or one file system hangs
#
# The attacker, in a control group with a tenth of a processor, maps files whose
# tables take long to build (oracle/costly_elf.py), each again and again with a
# new change time. No other user's median wait may be longer than a quarter of
# the time in which one of these tables is built on an idle machine.
# timeout: 400
# long: only

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1
isolation=$progs/isolation
work=$KUNWIND_TMP
params=/sys/module/kunwind/parameters
attacker=1001 victim=1002
chmod 755 "$work"

stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
pending() { grep -c $'^object\tpending' /dev/kunwind; }
# The processor time of all kworkers in ms. Their names do not say which of them
# build tables.
workers() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk '/\(kworker\// { sub(/.*\) /, ""); sum += $13 } END { print sum * 10 }'
}
# The processor time in ms that was charged to a user.
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

# the default: users who flood the queue do not wait for it
check "the module loads" modprobe kunwind max_stall_ms=50
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
diag "idle machine: first stack after $quiet us, at most $longest us"
check "idle machine: a user gets complete stacks" test "${quiet:-0}" -gt 0
read -r costly _ < <(as $attacker "$isolation" ready "$work/tmp/costly/0.so")
diag "idle machine: a costly table after $costly us"
# the longest median wait that is allowed, in us
unit=$((costly / 4))
check "idle machine: a table is ready within a quarter of a costly build" test "$quiet" -lt $unit

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
diag "after $((SECONDS - start)) s: $(pending) objects are pending, $(stat_of table_builds) tables were built," \
	"the attacker was charged $(charged $attacker) ms"
check "attack: the attacker's objects wait in a queue" test "$(pending)" -ge 60
for i in 1 2 3; do
	read -r median longest < <(as $victim "$isolation" first "$work/tmp/files$i"/*)
	diag "attack: first stack after $median us, at most $longest us; $(pending) objects are pending"
	check "attack: another user's table is ready within a quarter of a costly build, round $i" test "$median" -lt $unit
done
read -r shared _ < <(as $victim "$isolation" first "$work/tmp/shared.so")
diag "attack, shared file: first stack after $shared us; $(pending) objects are pending"
check "attack: a table of a file that the attacker mapped is ready within a quarter of a costly build" test "$shared" -lt $unit
read -r root _ < <("$isolation" first "$work"/tmp/files4/*)
diag "attack, root: first stack after $root us"
check "attack: a table of root's is ready within a quarter of a costly build" test "$root" -lt $unit
diag "$((SECONDS - start)) s: workers ran $(($(workers) - before)) ms, $(charged $attacker) ms for the attacker," \
	"$(charged $victim) ms for the victim"
nices=$(cat /proc/[0-9]*/stat | awk '/\(kworker\/.*build/ || /kunwind_build/ { sub(/.*\) /, ""); print $17 }' | sort -n | tr '\n' ' ')
diag "nice values of the workers that build: $nices"

# ---- tables that no process needs any more
built=$(stat_of table_builds) dropped=$(stat_of dropped)
waited=$(pending)
pkill -KILL -U $attacker
wait $flood 2>/dev/null
for ((i = 0; i < 300; i++)); do
	[ "$(pending)" -eq 0 ] && break
	sleep 0.1
done
sleep 1
diag "$waited objects were pending; since then $(($(stat_of table_builds) - built)) were built," \
	"$(($(stat_of dropped) - ${dropped:-0})) dropped; $(pending) are pending"
is "$(pending)" 0 "after the attacker's processes have ended no object is pending"
check "after the attacker's processes have ended less than a quarter of their queue is built" test $(($(stat_of table_builds) - built)) -lt $((waited / 4))
[ -z "$group" ] || { rmdir "$group"; umount "$work/cgroup"; }

# ---- unwind information in memory whose page faults nobody resolves
before=$(stat_of memory_bytes)
"$progs/stuckjit" 40 >"$work/stuck" &
stuck=$!
for ((i = 0; i < 100; i++)); do
	[ "$(cat "/proc/$stuck/wchan" 2>/dev/null)" = handle_userfault ] && break
	sleep 0.1
done
is "$(cat "$work/stuck") $(cat /proc/$stuck/wchan)" "ready handle_userfault" \
	"a process that hands in unwind information waits in a page fault of its memory"
held=$(($(stat_of memory_bytes) - before))
diag "charged during that page fault: $held bytes"
check "less than 1 MB is charged while the copy of unwind information waits in a page fault" test $held -lt $((1 << 20))
kill -KILL $stuck
wait $stuck 2>/dev/null

# ---- a file system that hangs, and others with device numbers close to its own
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
# Succeeds if mmap() of a file of the hung file system takes less than 10 s,
# half of max_stall_ms: then tasks no longer wait for that file system.
hangs() {
	local longest
	read -r longest _ < <("$progs/tables" map "$work/hung/0" </dev/null)
	test "$longest" -lt 10000000
}
check "tasks no longer wait for a file system that hangs" hangs
whole=0
# Mounted one after the other, they get consecutive device numbers. So each
# remainder of a division by 64 occurs.
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
