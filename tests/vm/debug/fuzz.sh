#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs the fuzzer in the VM for SECONDS with SEED. ftrace takes stacks
# meanwhile, and one of the files that the fuzzer maps is on a FUSE file system
# that answers only once in 30 s. New inputs and the list of unreached functions
# go to OUT. With COVERAGE 0, for a kernel without KCOV and kmemleak, the fuzzer
# is not guided by coverage, and no leaks are searched for.
# scripts/check-fuzz-kernel calls this.
#
#   fuzz.sh SECONDS SEED CORPUS OUT [COVERAGE]

seconds=$1 seed=$2 corpus=$3 out=$4 coverage=${5:-1}
tracing=/sys/kernel/tracing
# shellcheck source=tests/vm/lib/kmemleak.sh
. "$(dirname "$0")/../lib/kmemleak.sh"
progs=build/vm-progs-device
tmp=$(mktemp -d)

[ "$coverage" = 0 ] || echo clear >$kmemleak
modprobe kunwind || exit 2
modprobe -q fuse
# Long waits for a file system that does not answer would leave no time for
# calls.
echo 5 >/sys/module/kunwind/parameters/register_timeout_ms
echo 2 >/sys/module/kunwind/parameters/max_stall_ms
chmod 666 /dev/kunwind
chmod 711 "$tmp"
mkdir "$tmp/stuck"
cp "$(realpath /lib/x86_64-linux-gnu/libm.so.6)" "$tmp/library"
# Children exec programs from here, in the guest's memory: reads of them are
# quick.
cp build/vm-debug/fuzz "$progs/large.so" "$tmp"
"$progs/stuckfs" "$tmp/stuck" "$tmp/library" 2 >"$tmp/stuckfs" &
stuckfs=$!
echo 256 >$tracing/buffer_size_kb
echo 1 >$tracing/options/userstacktrace
for event in sched/sched_switch syscalls/sys_enter_madvise; do
	echo 1 >"$tracing/events/$event/enable"
done
until [ -s "$tmp/stuckfs" ]; do sleep 0.1; done
# A task whose read was sent to the server waits for the answer even after
# SIGKILL, so without answers all workers are lost in the end. What was answered
# leaves the page cache, or no later read would wait.
while sleep 30; do
	kill -USR1 $stuckfs && sleep 1 && kill -USR2 $stuckfs
	echo 1 >/proc/sys/vm/drop_caches
done 2>/dev/null &
answers=$!

"$tmp/fuzz" --seconds "$seconds" --seed "$seed" --corpus "$corpus" --out "$out" \
	--complaints scripts/guest/kernel-complaints --coverage "$coverage" \
	/bin/true "$tmp/stuck/0" "$tmp/large.so" "$tmp/library"
status=$?

echo 0 >$tracing/events/enable
kill -KILL $answers $stuckfs
wait $answers $stuckfs 2>/dev/null
umount -l "$tmp/stuck"
# A worker that was killed may keep the device open for a moment.
for _ in $(seq 100); do
	rmmod kunwind 2>/dev/null && break
	sleep 0.3
done
if [ -d /sys/module/kunwind ]; then
	echo "rmmod kunwind failed for 30 s"
	exit 1
fi
[ "$coverage" != 0 ] || exit $status
leaks=$(kmemleak_ours) || leaks="not known: kmemleak has disabled itself"
if [ -n "$leaks" ]; then
	printf 'kunwind leaked memory:\n%s\n' "$leaks"
	exit 1
fi
exit $status
