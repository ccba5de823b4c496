#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-races.sh - races of fork, unload and mmap() with kunwind, and reads that
# wait
#
# kmod/delay.c delays one function of the kernel for one program, so that
# another program can run between two steps of the first one.
# timeout: 300
# long: only

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need mkfs.ext4
need mkfs.xfs
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1
races=$progs/races
tracing=/sys/kernel/tracing
work=$KUNWIND_TMP

stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
object() { awk -F'\t' -v p="$1" '$1 == "object" && $7 == p { print $2 }' /dev/kunwind; }
stat_is() { [ "$(stat_of "$1")" = "$2" ]; }
is_object() { [ "$(object "$1")" = "$2" ]; }
not_pending() { ! is_object "$work/xfs/library.so" pending; }
# The delayed program spins on processor 1, where "taskset 2" starts it.
# Everything else runs on processor 0, interrupts too: PREEMPT_RT runs
# interrupts and timers in threads, which would wait for the delayed program.
# During a delay the test starts a dozen programs. On a busy host this takes
# more than 20 s, so the kernel's watchdogs need larger limits. end_delay
# restores the limits, because later test files use the same VM.
watchdog=/proc/sys/kernel/watchdog_thresh
stall=/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
watchdog_limit=$(cat $watchdog)
stall_limit=$(cat $stall)
delay() {
	echo 60 >$watchdog
	echo 200 >$stall
	modprobe delay function="$1" comm="$2" && taskset -p 1 $$ || return 1
	for irq in /proc/irq/*/smp_affinity; do
		echo "$irq $(cat "$irq")"
	done >"$work/affinity"
	for irq in /proc/irq/*/smp_affinity; do
		echo 1 >"$irq"
	done 2>/dev/null
	return 0
}
end_delay() {
	rmmod delay && taskset -p ffff $$ || return 1
	while read -r irq affinity; do
		echo "$affinity" >"$irq"
	done <"$work/affinity" 2>/dev/null
	echo "$watchdog_limit" >$watchdog
	echo "$stall_limit" >$stall
}
is_delayed() { [ "$(cat /sys/module/delay/parameters/nr)" = 1 ]; }
hold() { # OUT COMMAND...: in the background, until let_go
	local out=$1
	shift
	rm -f "$work/end" "$out"
	mkfifo "$work/end"
	"$@" <"$work/end" >"$out" 2>&1 &
	holder=$!
	exec {end}>"$work/end"
	eventually "$(basename "$1") ${2:-} is running" test -s "$out"
}
let_go() {
	exec {end}>&-
	wait "$holder"
}

check "the module loads" modprobe kunwind

# ---- a child that is visible before the hook of its fork runs
check "the delay in fork() is set up" delay proc_fork_connector races
taskset 2 "$races" fork >"$work/child" &
parent=$!
eventually "fork() is delayed after the child is visible" is_delayed
child=$(cat "/proc/$parent/task/$parent/children")
child=${child% }
like "$child" '^[0-9]+$' "the child of the delayed fork() is visible"
check "the child is registered by hand" kunwind register "$child"
check "system_wide is on" kunwind system-wide on
echo Y >/sys/module/delay/parameters/go
wait $parent
is "$(cat "$work/child")" "$child" "the registered child has run and ended"
check "the delay in fork() is removed" end_delay
check "system_wide is off" kunwind system-wide off
eventually "no record of the child is left" stat_is processes 0

# ---- an exec while the process is being registered
mkfifo "$work/exec"
taskset 1 sh -c 'read -r _; exec sleep 100000' <"$work/exec" &
target=$!
exec {exec}>"$work/exec"
is_comm() { [ "$(cat /proc/$target/comm)" = "$1" ]; }
eventually "a shell waits" is_comm sh
check "a registration stops before it reads the mappings" delay kunwind_space_read_mappings kunwind
taskset 2 kunwind register $target >"$work/register" 2>&1 &
registrar=$!
eventually "a registration has stopped" is_delayed
is "$(stat_of processes)" 1 "the stopped registration has made a record"
echo >&"$exec"
eventually "the process execs another program during its registration" is_comm sleep
echo Y >/sys/module/delay/parameters/go
wait $registrar
is $? 1 "exec during a registration: the registration fails"
is "$(stat_of processes)" 0 "exec during a registration: no record of the process is left"
check "the delay of the registration is removed" end_delay
exec {exec}>&-
kill $target

# ---- one system call that changes thousands of mappings
hold "$work/many" "$races" many 2000 "$progs/small.so"
echo 'p:work_runs kunwind:mappings_run' >$tracing/kprobe_events
echo 1 >$tracing/events/kprobes/work_runs/enable
let_go
runs=$(awk '$1 == "work_runs" { print $2 }' $tracing/kprobe_profile)
echo 0 >$tracing/events/kprobes/work_runs/enable
echo >$tracing/kprobe_events
diag "one mprotect() over 2,000 mappings: $runs task works"
check "one mprotect() queues few task works" test "${runs:-0}" -ge 1 -a "${runs:-0}" -le 20

# ---- O_DIRECT and inode locks of local files
modprobe -a loop ext4 xfs
for type in ext4 xfs; do
	dd if=/dev/zero of="$work/$type.image" bs=1M seek=320 count=0 status=none
	mkfs.$type -q "$work/$type.image"
	mkdir "$work/$type"
	check "$type is mounted" mount -o loop "$work/$type.image" "$work/$type"
	cp "$progs/small.so" "$work/$type/library.so"
done
sync
hold "$work/direct" "$races" direct "$work/ext4/library.so"
eventually "a file that is mapped from a descriptor with O_DIRECT has a table" is_object "$work/ext4/library.so" ready
let_go

# XFS takes the inode's lock to read a file. Here a writer holds that lock.
hold "$work/writes" "$races" locked "$work/xfs/library.so"
writer=$holder writer_end=$end
echo 20 >/sys/module/kunwind/parameters/max_stall_ms
"$progs/tables" map "$work/xfs/library.so" </dev/null >"$work/map" 2>&1
is_object "$work/xfs/library.so" pending
is $? 0 "a file whose inode a writer keeps locked has no table yet"
check_fails 1 "rmmod fails, and does not hang, while the read of a locked file waits" timeout 60 rmmod kunwind
exec {writer_end}>&-
wait "$writer"
eventually "after the write the file no longer waits for its table" not_pending
check "after the write the module is unloaded" rmmod kunwind

# ---- stacks while the module is unloaded
echo 1 >$tracing/options/userstacktrace
echo 1 >$tracing/events/syscalls/sys_enter_getppid/enable
echo 40000 >$tracing/buffer_size_kb
# Prints the number of stacks in the trace, and how many of them have more than
# one address in the page that "races moves" maps, exactly one, and none.
stacks() {
	awk '/<user stack trace>/ { count(); open = 1; n = 0; next }
		/^ *=> / { n += / <0*10000[0-9a-f][0-9a-f][0-9a-f]>/; next }
		{ count() }
		function count() { if (open) { all++; twice += n > 1; once += n == 1; none += n == 0 } open = 0 }
		END { count(); print all + 0, twice + 0, once + 0, none + 0 }' $tracing/trace
}
total=0 known=0 wrong=0
for i in 1 2 3; do
	echo >$tracing/trace
	[ -d /sys/module/kunwind ] || modprobe kunwind
	"$races" moves "$progs/small.so" "$progs/large.so" 6 >"$work/moves" &
	mover=$!
	sleep 2
	until rmmod kunwind 2>/dev/null; do sleep 0.1; done
	wait $mover
	read -r all twice once none < <(stacks)
	diag "unload $i: $all stacks, of which $once show the page once, $none not at all, $twice more than once"
	total=$((total + all)) known=$((known + once)) wrong=$((wrong + twice))
done

# The same, but rmmod is delayed halfway. No RCU grace period ends during the
# delay.
steps_are() { [ "$(wc -l <"$work/steps")" = "$1" ]; }
modprobe kunwind
check "the delay of rmmod before it removes the takeover hooks is set up" delay kunwind_takeover_exit rmmod
mkfifo "$work/step"
"$races" steps "$progs/small.so" "$progs/large.so" 100 <"$work/step" >"$work/steps" &
mover=$!
exec {step}>"$work/step"
echo >$tracing/trace
echo >&"$step"
eventually "a program moves its code before rmmod" steps_are 1
read -r all twice once none < <(stacks)
check "before rmmod stacks have the frame of the mapped code" test "$once" -gt 50
is $twice 0 "before rmmod no stack uses the table of the code that was mapped before"
echo >$tracing/trace
# fails as long as a task has work of the module to do
(until taskset 2 rmmod kunwind 2>/dev/null; do sleep 0.1; done) &
remover=$!
eventually "rmmod is delayed before it removes the takeover hooks" is_delayed
echo >&"$step"
eventually "a program moves its code while rmmod is delayed" steps_are 2
kill -0 $remover || diag "rmmod is not delayed any more: the next tests prove nothing"
echo Y >/sys/module/delay/parameters/go
wait $remover
read -r all twice once none < <(stacks)
check "while rmmod removes hooks, stacks are recorded" test "$all" -ge 100
is "$once $twice" "0 0" "while rmmod removes hooks, stacks are the kernel's own"
exec {step}>&-
wait $mover
check "the delay of rmmod is removed" end_delay
echo 0 >$tracing/events/syscalls/sys_enter_getppid/enable
echo 0 >$tracing/options/userstacktrace
echo >$tracing/trace
check "around the unloads some stacks have the frame of the mapped code" test $known -gt 0
check "around the unloads some stacks do not have the frame of the mapped code" test $total -gt $known
is $wrong 0 "around the unloads no stack uses the table of the code that was mapped before"
umount "$work/ext4" "$work/xfs"
done_testing
