#!/bin/bash
# SPDX-License-Identifier: MIT
#
# In the VM: the fuzzer for SECONDS from SEED, while stacks are also taken by
# ftrace, and one of the files that it maps is on a FUSE file system that does
# not answer. New inputs go to OUT. scripts/check-fuzz-kernel calls this.
#
#   fuzz.sh SECONDS SEED CORPUS OUT

seconds=$1 seed=$2 corpus=$3 out=$4
tracing=/sys/kernel/tracing
progs=build/vm-progs-device
tmp=$(mktemp -d)

modprobe kunwind || exit 2
# waits for what does not answer leave no time for calls
echo 5 >/sys/module/kunwind/parameters/register_timeout_ms
echo 2 >/sys/module/kunwind/parameters/max_stall_ms
mkdir "$tmp/stuck"
cp "$(realpath /lib/x86_64-linux-gnu/libm.so.6)" "$tmp/library"
"$progs/stuckfs" "$tmp/stuck" "$tmp/library" 2 >"$tmp/stuckfs" &
stuckfs=$!
echo 256 >$tracing/buffer_size_kb
echo 1 >$tracing/options/userstacktrace
for event in sched/sched_switch syscalls/sys_enter_madvise syscalls/sys_enter_ioctl; do
	echo 1 >"$tracing/events/$event/enable"
done
until [ -s "$tmp/stuckfs" ]; do sleep 0.1; done

build/vm-debug/fuzz --seconds "$seconds" --seed "$seed" --corpus "$corpus" --out "$out" \
	--workers 3 /bin/true "$tmp/stuck/0" "$progs/large.so" "$tmp/library"
status=$?

echo 0 >$tracing/events/enable
kill -KILL $stuckfs
wait $stuckfs 2>/dev/null
umount -l "$tmp/stuck"
# a worker that was killed may still hold the device for a moment
for _ in $(seq 100); do
	rmmod kunwind 2>/dev/null && exit $status
	sleep 0.3
done
echo "kunwind does not unload"
exit 1
