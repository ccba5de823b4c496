#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-shares.sh - one user cannot use up resources that users share: queues, kept
# tables, records, workers of the kernel
#
# No result depends on the speed of the machine: an operation that an attacker
# would slow down waits here until the test lets it go on, or the test counts
# calls of a function.
# timeout: 300

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1
shares=$progs/shares
tracing=/sys/kernel/tracing
params=/sys/module/kunwind/parameters
work=$KUNWIND_TMP
attacker=1001 victim=1002
chmod 755 "$work"
# copies, because users may have no access to the directory of this tree
cp "$progs/sleeper" "$progs/small.so" "$work/"
chmod 755 "$work/sleeper" "$work/small.so"

stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
object() { awk -F'\t' -v p="$1" '$1 == "object" && $7 == p { print $2 }' /dev/kunwind; }
is_object() { [ "$(object "$1")" = "$2" ]; }
as() {
	local uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups -- "$@"
}
count_calls() { # [kunwind:]FUNCTION: starts to count its calls
	echo "p:counted $1" >$tracing/kprobe_events
	echo 1 >$tracing/events/kprobes/counted/enable
}
calls() {
	awk '$1 == "counted" { print $2 + $3 }' $tracing/kprobe_profile
	echo 0 >$tracing/events/kprobes/counted/enable
	echo >$tracing/kprobe_events
}
start() { # NAME COMMAND...: in the background, with input from descriptor ${to[NAME]}
	local name=$1 fd
	shift
	rm -f "$work/in.$name"
	mkfifo "$work/in.$name"
	# Close the other commands' pipes: a reader sees the end of its pipe
	# only when no process has the pipe open for writing.
	(
		for fd in "${to[@]}"; do exec {fd}>&-; done
		exec "$@"
	) <"$work/in.$name" >"$work/out.$name" 2>&1 &
	pid[$name]=$!
	exec {fd}>"$work/in.$name"
	to[$name]=$fd
}
says() { grep -q "$2" "$work/out.$1"; }
end() { # NAME
	local fd=${to[$1]}
	exec {fd}>&-
	unset "to[$1]"
	wait "${pid[$1]}"
}
declare -A to pid

# the default: a user who maps a locked file goes on to map others
check "the module loads" modprobe kunwind max_stall_ms=50
chmod 666 /dev/kunwind

# ---- a queue, and a worker that waits for a locked file
if modprobe -a loop xfs 2>/dev/null && command -v mkfs.xfs >/dev/null; then
	dd if=/dev/zero of="$work/image" bs=1M seek=320 count=0 status=none
	mkfs.xfs -q "$work/image"
	mkdir "$work/xfs"
	mount -o loop "$work/image" "$work/xfs"
	cp "$progs/small.so" "$work/xfs/locked"
	chown $attacker "$work/xfs/locked"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	cp "$progs/small.so" "$work/shared.so"
	start writer "$progs/races" locked "$work/xfs/locked"
	eventually "a writer keeps a file's inode locked" says writer writes
	sleep 0.5
	start first setpriv --reuid=$attacker --clear-groups "$shares" map "$work/xfs/locked" "$work/shared.so"
	is_waiting() { is_object "$work/xfs/locked" pending && is_object "$work/shared.so" pending; }
	eventually "the first user's queue waits for the locked file" is_waiting
	start second setpriv --reuid=$victim --clear-groups "$shares" map "$work/shared.so"
	eventually "a file that both users map is built from the second user's queue" is_object "$work/shared.so" ready
	check "the first user's queue still waits for the locked file" is_object "$work/xfs/locked" pending
	end writer
	not_pending() { ! is_object "$1" pending; }
	eventually "after the write the locked file no longer waits for its table" not_pending "$work/xfs/locked"
	end first
	end second

	# ---- a user with a full memory share maps a file of another user's
	cp "$progs/small.so" "$work/xfs/locked2"
	cp "$progs/small.so" "$work/xfs/locked3"
	cp /usr/lib/x86_64-linux-gnu/libcrypto.so.3 "$work/large.so"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	echo 1 >$params/max_user_table_mb
	start writer "$progs/races" locked "$work/xfs/locked2"
	start writer2 "$progs/races" locked "$work/xfs/locked3"
	eventually "full share: a writer locks the first file" says writer writes
	eventually "full share: a writer locks the second file" says writer2 writes
	sleep 0.5
	start first "$shares" map "$work/xfs/locked2" "$work/xfs/locked3" "$work/large.so"
	are_waiting() { is_object "$work/xfs/locked3" pending && is_object "$work/large.so" pending; }
	eventually "the queue of CAP_SYS_ADMIN waits for both locked files" are_waiting
	start second setpriv --reuid=$attacker --clear-groups "$shares" map "$work/large.so"
	eventually "a user maps a file that waits in the queue of CAP_SYS_ADMIN" says second mapped
	eventually "full share: a file that waits in two queues is built from the user's queue" not_pending "$work/large.so"
	is "$(object "$work/large.so")" ready "a table larger than one user's share is built if CAP_SYS_ADMIN maps the file too"
	end writer
	end writer2
	end first
	end second
	echo 128 >$params/max_user_table_mb
	umount "$work/xfs"
else
	skip "a file that both users map is built from the second user's queue" "no XFS"
fi

# ---- tables that no process uses any more
mkdir "$work/tmp"
mount -t tmpfs none "$work/tmp"
chmod 1777 "$work/tmp"
cp "$progs/small.so" "$work/tmp/kept.so"
chmod 644 "$work/tmp/kept.so"
echo 20000 >$params/max_stall_ms
as $victim "$shares" map "$work/tmp/kept.so" </dev/null >/dev/null
is "$(object "$work/tmp/kept.so")" ready "a table is kept after its last process has ended"
as $attacker "$shares" idle 1100 "$work/small.so" "$work/tmp"
diag "1,100 files of another user were mapped: $(stat_of idle_objects) objects without users"
is "$(object "$work/tmp/kept.so")" ready "the table is still kept after another user mapped 1,100 files"
echo 50 >$params/max_stall_ms
umount "$work/tmp"

# ---- the memory of a process that ends while it is being registered
modprobe fuse
mkdir "$work/hung" "$work/busy"
mount -t tmpfs none "$work/busy"
cp "$progs/small.so" "$work/busy/"
start stuckfs "$progs/stuckfs" "$work/hung" "$progs/large.so" 8
eventually "a FUSE file system that does not answer is mounted" says stuckfs mounted
# longer than any wait of this test
echo 1000000 >$params/register_timeout_ms
start target "$shares" map "$work/busy/small.so" "$work/hung/0"
eventually "a process maps a file of the hung file system and one of a tmpfs" says target mapped
start register kunwind register "${pid[target]}"
sleep 1
waits() { grep -q $'^State:\t[SD]' "/proc/$1/status"; }
check "the registration of a process with a file of a hung file system waits" waits "${pid[register]}"
kill -KILL "${pid[target]}"
end target
is_unmounted() { umount "$work/busy" 2>/dev/null || ! mountpoint -q "$work/busy"; }
eventually "the killed process's memory is unmapped while its registration waits" is_unmounted
check "the registration still waits after the process was killed" waits "${pid[register]}"

# ---- the last reference to a file
count_calls delayed_fput
kill -USR1 "${pid[stuckfs]}"
gone() { [ -z "$(object "$work/hung/0")" ] || is_object "$work/hung/0" ready; }
eventually "when the file system answers, the file is built or dropped" gone
sleep 1
is "$(calls)" 0 "no file is closed by the kernel's one work item (delayed_fput)"
end register
echo 10000 >$params/register_timeout_ms
kill -TERM "${pid[stuckfs]}"
end stuckfs

# ---- records of processes that system_wide registers
kunwind system-wide on
limit=$(($(stat_of processes) + 40))
echo $limit >$params/max_processes
# shellcheck disable=SC2016
many='for i in $(seq 1 "$2"); do "$1" & echo $!; done; wait'
as $attacker sh -c "$many" - "$work/sleeper" 80 >"$work/pids" &
have() { [ "$(wc -l <"$work/$1")" = "$2" ]; }
eventually "a user starts 80 processes" have pids 80
runs() { [ "$(pgrep -u "$1" -x sleeper -c)" = "$2" ]; }
eventually "all 80 processes run their program" runs $attacker 80
registered() { awk -F'\t' 'NR == FNR { pid[$1]; next } $1 == "process" && $2 in pid { n++ } END { print n + 0 }' "$1" /dev/kunwind; }
at_least() { [ "$(registered "$work/$1")" -ge "$2" ]; }
eventually "system_wide registers at least 10 of the 80 processes" at_least pids 10
nr=$(registered "$work/pids")
diag "there is room for 40 more processes: $nr of them are registered"
check "system_wide registers processes of one user in at most half of the free records" test "$nr" -le 21
as $victim sh -c "$many" - "$work/sleeper" 3 >"$work/pids2" &
eventually "another user starts 3 processes" have pids2 3
eventually "system_wide registers all three processes of the other user" at_least pids2 3
xargs kill <"$work/pids"
xargs kill <"$work/pids2"
wait

# ---- the same for processes that root forked and that then changed their user
share_of() { # DESCRIPTION: tests that the attacker's processes have at most half of 20 free records
	local nr
	pgrep -u $attacker -x sleeper >"$work/pids"
	eventually "system_wide registers at least 2 of the 17 processes" at_least pids 2
	nr=$(registered "$work/pids")
	diag "there is room for 20 more processes: $nr of $(wc -l <"$work/pids") are registered"
	check "$1" test "$nr" -le 11
	xargs kill <"$work/pids"
	wait
}
echo $(($(stat_of processes) + 20)) >$params/max_processes
# one fork each, so that no other process uses up the free records
for _ in {1..17}; do
	setpriv --reuid=$attacker --regid=$attacker --clear-groups "$work/sleeper" &
done
eventually "root starts 17 processes that change to another user" runs $attacker 17
share_of "system_wide registers processes that change to a user in at most half of the free records"
# as su does while it waits for the password
mkdir "$work/setuid"
cp "$progs/sleeper" "$work/setuid/sleeper"
chmod 4755 "$work/setuid/sleeper"
echo $(($(stat_of processes) + 20)) >$params/max_processes
# as su does after the password: it starts a program as another user
cp "$(command -v setpriv)" "$work/su"
chmod 4755 "$work/su"
for _ in {1..16}; do as $attacker "$work/su" --reuid=$victim --regid=$victim --clear-groups true; done
as $attacker sh -c "$many" - "$work/setuid/sleeper" 17 >"$work/pids" &
is_setuid() { [ "$(pgrep -U $attacker -u 0 -x sleeper -c)" = 17 ]; }
eventually "a user starts a set-user-ID program 17 times" is_setuid
# Fewer would be registered if the 16 programs before still counted in this
# user's share.
eventually "system_wide registers at least five set-user-ID programs: a process that changed its user counts in the other user's share" at_least pids 5
nr=$(registered "$work/pids")
diag "there is room for 20 more processes: $nr of 17 are registered"
check "system_wide registers set-user-ID programs in at most half of the free records of their real user" test "$nr" -le 11
kunwind system-wide off
echo 32768 >$params/max_processes
xargs kill <"$work/pids"
wait

# ---- processes that are killed while system_wide reads them and cannot unmap memory
mkdir "$work/dirty"
start dirtyfs "$progs/stuckfs" "$work/dirty" "$progs/large.so" 70 dirty
eventually "a FUSE file system that does not answer writes is mounted" says dirtyfs mounted
start dirty setpriv --reuid=$attacker --regid=$attacker --clear-groups "$shares" dirty 70 "$work/dirty"
eventually "a user has 70 processes with dirty mappings of that file system" says dirty mapped
setpriv --reuid=$victim --regid=$victim --clear-groups "$work/sleeper" &
victims=$!
check "the module that kills processes while system_wide reads them is loaded" modprobe killer comm=dirty
echo Y >$params/system_wide
maps_of() { awk -F'\t' -v p="$1" '$1 == "process" && $2 == p { print $4 }' /dev/kunwind; }
has_maps() { [ "$(maps_of "$1")" -gt 0 ] 2>/dev/null; }
eventually "killed processes: another user's process is registered and read" has_maps $victims
# each is killed, or registered but not read
all_were_tried() {
	nr=$(cat /sys/module/killer/parameters/nr)
	pgrep -u $attacker -x dirty >"$work/pids"
	[ "$(registered "$work/pids")" = $((70 - nr)) ]
}
eventually "killed processes: the rest of the 70 processes is registered" all_were_tried
diag "$nr of 70 processes were killed"
check "killed processes: at most half of the unmaps in progress are one user's" test "$nr" -ge 20 -a "$nr" -le 32
rmmod killer
kill -TERM "${pid[dirtyfs]}"
end dirtyfs
not_waiting() { [ "$(stat_of system_wide_pending)" = 0 ]; }
eventually "killed processes: all processes are read after the file system has ended" not_waiting
kunwind system-wide off
# This process has the input of the others open.
kill $victims
end dirty
wait

module_goes() { rmmod kunwind 2>/dev/null || ! [ -d /sys/module/kunwind ]; }
eventually "the module is unloaded" module_goes
done_testing
