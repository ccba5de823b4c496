#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-tables.sh - one table for each state of a file; limits; file systems that
# are mounted, unmounted, or hang
#
# fixtures/device/tables.c calls a function of a library and checks the stack,
# which is right only with the right table. Every file of the VM's root file
# system counts as remote.
# timeout: 500

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need mkfs.ext4
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1
tables=$progs/tables
work=$KUNWIND_TMP
params=/sys/module/kunwind/parameters
user="setpriv --reuid=65534 --regid=65534 --clear-groups --"
# more than 1 MB of .eh_frame: that of Debian 13's gdb is smaller
big=$(compgen -G '/usr/lib/x86_64-linux-gnu/libLLVM*.so.*' | head -n 1)
big=$(realpath "${big:-$(command -v gdb)}")

stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
# state, build error, users of the objects of a file
object() { awk -F'\t' -v p="$1" '$1 == "object" && $7 == p { print $2, $3, $6 }' /dev/kunwind; }
# Prints the number of objects, once a worker has freed the mappings of ended
# processes (kmod/space/reap.c). Only for when no registered process runs.
objects() {
	local i
	for ((i = 0; i < 100; i++)); do
		[ "$(stat_of map_bytes)" = 0 ] && break
		sleep 0.1
	done
	stat_of objects
}
settled() { # waits until no table is being built
	local i
	for ((i = 0; i < 300; i++)); do
		grep -q $'^object\tpending' /dev/kunwind || return 0
		sleep 0.1
	done
	return 1
}
# Frees the tables of files whose paths start with PREFIX. Tables of a process
# that has ended can be freed only after a grace period.
forget() { # PREFIX
	local i
	for ((i = 0; i < 300; i++)); do
		echo 3 >/proc/sys/vm/drop_caches
		awk -F'\t' -v p="$1" '$1 == "object" && index($7, p) == 1 { n++ } END { exit n > 0 }' \
			/dev/kunwind && break
		sleep 0.1
	done
}
# Starts a process that reads lines from descriptor $hold, and waits for its
# first line of output.
hold() { # OUTPUT COMMAND...
	local out=$1 i
	shift
	rm -f "$work/pipe" "$out"
	mkfifo "$work/pipe"
	"$@" <"$work/pipe" >"$out" 2>&1 &
	held=$!
	exec {hold}>"$work/pipe"
	for ((i = 0; i < 600; i++)); do
		[ -s "$out" ] && return 0
		kill -0 "$held" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}
let_go() {
	exec {hold}>&-
	wait "$held"
}
again() { # OUTPUT: makes a held process write one more line, and prints it
	local lines i
	lines=$(wc -l <"$1")
	echo >&"$hold"
	for ((i = 0; i < 300; i++)); do
		[ "$(wc -l <"$1")" -gt "$lines" ] && break
		sleep 0.1
	done
	tail -n 1 "$1"
}

check "the module loads" modprobe kunwind
chmod 666 /dev/kunwind

# ---- one table for each state of a file
mkdir "$work/a" "$work/bound"
cp "$progs/small.so" "$work/a/f.so"
is "$("$tables" call "$work/a/f.so")" "0 1 small" "one file: its table gives a right stack"
before=$(objects)
is "$("$tables" call "$work/a/f.so")" "0 1 small" "same file again: the stack is right"
is "$(objects)" "$before" "same file again: the table is the same"
mount --bind "$work/a" "$work/bound"
is "$("$tables" call "$work/bound/f.so")" "0 1 small" "same file through another mount: the stack is right"
is "$(objects)" "$before" "same file through another mount: the table is the same"
umount "$work/bound"
cat "$progs/large.so" >"$work/a/f.so"
is "$("$tables" call "$work/a/f.so")" "0 1 large" "file overwritten in place with the same size: it has a new table"
is "$(objects)" "$before" "file overwritten in place: the new table replaces the old one"
hold "$work/deleted" "$tables" hold "$work/a/f.so"
rm "$work/a/f.so"
cp "$progs/small.so" "$work/a/f.so"
is "$("$tables" call "$work/a/f.so")" "0 1 small" "deleted file: a new file of that name has its own table"
is "$(again "$work/deleted")" "0 1 large" "deleted file: a process that still runs it keeps its table"
let_go
is "$("$tables" memfd "$progs/small.so" "$progs/large.so" | tr '\n' ',')" "0 1 small,0 1 large," \
	"memfd that is overwritten: it has a new table"
is "$("$tables" shared "$progs/small.so" "$progs/large.so" | tail -n 1)" "0 1 large" \
	"memory written through a shared mapping: the old table is not used"

# ---- overlayfs, copied up under a process that runs
mkdir "$work/lower" "$work/upper" "$work/workdir" "$work/merged"
cp "$progs/small.so" "$work/lower/f.so"
mount -t overlay overlay -o "lowerdir=$work/lower,upperdir=$work/upper,workdir=$work/workdir" "$work/merged"
is $? 0 "overlayfs is mounted"
hold "$work/before" "$tables" hold "$work/merged/f.so"
is "$(tail -n 1 "$work/before")" "0 1 small" "overlayfs, file of the lower layer: the stack is right"
like "$(cat "/proc/$held/maps")" " $work/merged/f.so" "overlayfs: /proc/PID/maps has the path in the overlay"
is "$(object "$work/merged/f.so")" "ready ok 1" "overlayfs: the status has the path in the overlay"
cat "$progs/large.so" >"$work/merged/f.so"
is "$("$tables" call "$work/merged/f.so")" "0 1 large" "overlayfs, file copied up and overwritten: it has a new table"
is "$(again "$work/before")" "0 1 small" "overlayfs: a process that runs the lower file keeps its table"
is "$("$tables" call "$work/lower/f.so")" "0 1 small" "overlayfs: the lower file by its own path has the right table"
let_go
check "overlayfs is unmounted" umount "$work/merged"

# ---- idle tables do not pin a file system; a device number that is reused
make_image() { # FILE-SYSTEM SIZE: $work/1.img with small.so, and 2.img, the same with large.so
	truncate -s "$2" "$work/1.img"
	mkfs."$1" -q "$work/1.img" >/dev/null 2>&1
	mkdir -p "$work/disk"
	mount -o loop,noatime "$work/1.img" "$work/disk" && cp "$progs/small.so" "$work/disk/f.so" &&
		umount "$work/disk" || return 1
	/usr/bin/python3 - "$work" "$progs" <<-'END'
		import sys
		work, progs = sys.argv[1:]
		image, small, large = (open(p, "rb").read() for p in
		    (work + "/1.img", progs + "/small.so", progs + "/large.so"))
		at = image.find(small)
		assert at > 0 and image.find(small, at + 1) < 0 and len(small) == len(large)
		open(work + "/2.img", "wb").write(image[:at] + large + image[at + len(small):])
	END
}
modprobe loop
check "two disk images are made that differ in the content of one file" make_image ext4 8M
loop=$(losetup -f)
losetup "$loop" "$work/1.img"
mount -o noatime,ro "$loop" "$work/disk"
hold "$work/other" "$tables" hold "$progs/large.so"
is "$("$tables" call "$work/disk/f.so")" "0 1 small" "reused device number: a stack through the first disk's file is right"
# the process that used the file releases it after a grace period
for _ in $(seq 50); do
	[[ $(object "$work/disk/f.so") == "ready ok 0"* ]] && break
	sleep 0.1
done
like "$(object "$work/disk/f.so")" "^ready ok 0" "reused device number: the first disk's idle table is kept"
seen=$(stat -c '%d %i %s %z' "$work/disk/f.so") generation=$(lsattr -v "$work/disk/f.so" | awk '{ print $1 }')
check "reused device number: the first disk can be unmounted while a process is registered" umount "$work/disk"
let_go
losetup -d "$loop"
losetup "$loop" "$work/2.img"
mount -o noatime,ro "$loop" "$work/disk"
is "$("$tables" call "$work/disk/f.so")" "0 1 large" \
	"reused device number: the second disk's file has its own table"
is "$(stat -c '%d %i %s %z' "$work/disk/f.so") $(lsattr -v "$work/disk/f.so" | awk '{ print $1 }')" \
	"$seen $generation" "reused device number: device, inode, size, change time and generation are the same"
umount "$work/disk"
losetup -d "$loop"
rm -f "$work"/?.img

# ---- inode numbers that repeat inside one file system
if command -v mkfs.btrfs >/dev/null && modprobe btrfs 2>/dev/null; then
	truncate -s 256M "$work/b.img"
	mkfs.btrfs -q "$work/b.img" >/dev/null 2>&1 && mount -o loop,noatime "$work/b.img" "$work/disk"
	btrfs -q subvolume create "$work/disk/one"
	btrfs -q subvolume create "$work/disk/two"
	cp "$progs/small.so" "$work/disk/one/f.so"
	cp "$progs/large.so" "$work/disk/two/f.so"
	before=$(objects)
	is "$("$tables" call "$work"/disk/{one,two}/f.so | tr '\n' ',')" "0 1 small,0 1 large," \
		"btrfs: files of two subvolumes with the same inode number have the right tables ($(stat -c %i "$work"/disk/{one,two}/f.so | tr '\n' ' '))"
	btrfs -q subvolume snapshot "$work/disk/one" "$work/disk/three"
	is "$("$tables" call "$work/disk/three/f.so")" "0 1 small" "btrfs: a file of a snapshot has the right table"
	is "$(($(objects) - before))" 3 "btrfs: the three files have three tables"
	umount "$work/disk"
	rm -f "$work/b.img"
else
	skip "btrfs: files of two subvolumes with the same inode number" "no btrfs"
fi

# ---- memory: idle tables are freed when memory is short
settled
[ "$(stat_of idle_objects)" -gt 0 ]
is $? 0 "idle tables are kept: $(stat_of idle_objects), $(stat_of idle_bytes) bytes"
# more tables may become idle, of processes that have just ended
for ((i = 0; i < 300; i++)); do
	echo 2 >/proc/sys/vm/drop_caches
	[ "$(stat_of idle_objects)" = 0 ] && break
	sleep 0.1
done
is "$(stat_of idle_objects)" 0 "when memory is short, all idle tables are freed"
is "$(stat_of idle_bytes)" 0 "when memory is short, all bytes of idle tables are freed"

# ---- memory: the limit of all users, and a user's share
refused=$(stat_of memory_refused)
cp "$progs/small.so" "$work/a/idle.so"
is "$("$tables" call "$work/a/idle.so")" "0 1 small" "root: a stack through a library"
idle() {
	local i
	for ((i = 0; i < 50; i++)); do
		[[ $(object "$work/a/idle.so") == "ready ok 0" ]] && return 0
		sleep 0.1
	done
	return 1
}
check "root: the table is kept when no process uses it" idle
echo 1 >$params/max_user_table_mb
# shellcheck disable=SC2086
hold "$work/user" $user "$tables" map "$big"
settled
is "$(object "$big" | cut -d' ' -f1,2)" "refused limit" "a user's table larger than the share is refused"
[ "$(stat_of memory_refused)" -gt "$refused" ]
is $? 0 "a table larger than a user's share is counted in memory_refused"
is "$(object "$work/a/idle.so")" "ready ok 0" "a user over the share does not push out root's idle table"
hold=$hold held=$held
user_hold=$hold user_held=$held
hold "$work/root" "$tables" map "$big"
settled
like "$(object "$big")" "ready ok 1" "root maps a file whose table exceeded a user's share: the table is built"
used=$(awk -F'\t' '$1 == "user" && $2 == 65534 { print $3 }' /dev/kunwind)
[ "${used:-0}" -gt 0 ] && [ "$used" -le $((1 << 20)) ]
is $? 0 "the user is charged more than 0 and no more than the share: ${used:-nothing} bytes"
let_go
hold=$user_hold held=$user_held
let_go
for _ in $(seq 50); do
	used=$(awk -F'\t' '$1 == "user" && $2 == 65534 { print $3 }' /dev/kunwind)
	[ "${used:-0}" -gt 0 ] || break
	echo 2 >/proc/sys/vm/drop_caches
	sleep 0.1
done
is "${used:-0}" 0 "after the user's processes have ended, the user is charged nothing"
echo 128 >$params/max_user_table_mb

forget "$big"
limit=$(cat $params/max_table_mb)
echo 2 >$params/max_table_mb
hold "$work/root" "$tables" map "$big"
settled
is "$(object "$big" | cut -d' ' -f1,2)" "refused limit" "a table larger than max_table_mb is refused"
let_go
echo "$limit" >$params/max_table_mb

# ---- the largest section that is read
limit=$(cat $params/max_eh_frame_mb)
echo 1 >$params/max_eh_frame_mb
forget "$big"
hold "$work/root" "$tables" map "$big"
settled
is "$(object "$big" | cut -d' ' -f1,2)" "refused limit" "a section larger than max_eh_frame_mb is refused"
let_go
echo "$limit" >$params/max_eh_frame_mb

# ---- max_objects, and a user's part of it
mkdir "$work/few"
for i in {0..79}; do
	cp "$progs/small.so" "$work/few/$i.so"
done
few() { awk -F'\t' -v p="$work/few/" '$1 == "object" && index($7, p) == 1' /dev/kunwind | wc -l; }
echo 2 >/proc/sys/vm/drop_caches
limit=$(cat $params/max_objects)
# so that files that all programs map count as root's
hold "$work/deleted" "$tables" hold "$progs/large.so"
root_hold=$hold root_held=$held
echo 64 >$params/max_objects
# shellcheck disable=SC2086
hold "$work/user" $user "$tables" map "$work"/few/{0..39}.so
settled
is "$(few)" 16 "a user has a quarter of max_objects"
is "$("$tables" call "$work/few/40.so")" "0 1 small" "root has a table beyond that quarter"
let_go
settled
wrong=0
for i in {0..39}; do
	# shellcheck disable=SC2086
	[ "$($user "$tables" call "$work/few/$i.so")" = "0 1 small" ] || wrong=$((wrong + 1))
done
is $wrong 0 "user: forty files one after another, each has a table"
hold "$work/root" "$tables" map "$work"/few/{0..79}.so
settled
most=$(stat_of objects)
[ "$most" -le 64 ] && [ "$(few)" -gt 20 ]
is $? 0 "max_objects limits all users together: $most"
let_go
hold=$root_hold held=$root_held
let_go
# tables of these processes are freed after a grace period
for ((i = 0; i < 300; i++)); do
	got=$("$tables" call "$work/few/79.so")
	[ "$got" = "0 1 small" ] && break
	sleep 0.1
done
is "$got" "0 1 small" "a file that was beyond max_objects has a table when there is room"
echo "$limit" >$params/max_objects

# ---- max_ranges: mappings of one process
limit=$(cat $params/max_ranges)
echo 10 >$params/max_ranges
hold "$work/root" "$tables" map "$work"/few/{0..29}.so
is "$(awk -F'\t' -v p="$held" '$1 == "process" && $2 == p { print $4 }' /dev/kunwind)" 10 \
	"a process has at most max_ranges known mappings"
let_go
echo "$limit" >$params/max_ranges

# ---- a file name with a line feed
name="$work/few/"$'a\nforged\t1'
cp "$progs/small.so" "$name"
is "$("$tables" call "$name")" "0 1 small" "line feed in a file name: the file has a table"
is "$(grep -c '^forged' /dev/kunwind)" 0 "line feed in a file name: status has no forged line"
rm -r "$work/few"

# ---- memory: charged to the control group of the traced process
grouped() { # LIMIT: a process in a new control group maps $big, whose pages are not cached
	group=$work/cgroup/$1
	mkdir "$group"
	echo "$1" >"$group/memory.max"
	echo 0 >"$group/memory.swap.max" 2>/dev/null
	forget "$big"
	hold "$work/$1" bash -c 'echo $$ >"$1/cgroup.procs" && exec "$2" map "$3"' - "$group" "$tables" "$big"
	settled
	bytes=$(awk -F'\t' -v p="$big" '$1 == "object" && $7 == p { print $5 }' /dev/kunwind)
	diag "table of $bytes bytes; in the control group of $1: $(awk '{ printf "%s %s ", $1, $2 }' \
		"$group/memory.stat" | grep -o '\(file\|kernel\|vmalloc\) [0-9]*' | tr '\n' ' ') $(tr '\n' ' ' <"$group/memory.events")"
}
in_group() { awk -v n="$1" '$1 == n { print $2 }' "$group/memory.${2:-stat}"; }
section=$((16#$(readelf -SW "$big" | awk '$2 == ".eh_frame" || $3 == ".eh_frame" { print $(NF - 5) }')))
if mkdir "$work/cgroup" && mount -t cgroup2 none "$work/cgroup" 2>/dev/null &&
	echo +memory >"$work/cgroup/cgroup.subtree_control" 2>/dev/null; then
	grouped 64M
	like "$(object "$big")" "ready ok 1" "control group: the process's big file has a table"
	[ "$(in_group kernel)" -ge "${bytes:-0}" ]
	verdict $? "control group: the table's memory is charged to it"
	[ "$(in_group file)" -ge "${section:-0}" ] && [ "${section:-0}" -gt 1000000 ]
	verdict $? "control group: the page cache of the build's reads is charged to it"
	let_go
	forget "$big"
	[ "$(in_group kernel)" -lt "${bytes:-0}" ]
	verdict $? "control group: a freed table is not charged any more"
	rmdir "$group"
	grouped 3M
	like "$(object "$big")" "ready ok 1" "control group without room: the process's big file has a table"
	is "$(in_group oom_kill events)" 0 "control group without room: no process is killed"
	let_go
	rmdir "$group"
	umount "$work/cgroup"
else
	skip "control groups" "no memory controller"
fi

# ---- a thousand processes of twenty programs
mkdir "$work/many"
programs=()
for i in $(seq 20); do
	# a separate file, and therefore a separate object, for each program
	cp "$progs/sleeper" "$work/many/$i"
	programs+=("$work/many/$i")
done
objects >/dev/null	# waits until mappings of earlier processes are freed
hold "$work/twenty" "$tables" many 20 "${programs[@]}"
settled
twenty=$(stat_of table_bytes) objects=$(stat_of objects) maps=$(stat_of map_bytes) rows=$(stat_of table_rows)
let_go
hold "$work/thousand" "$tables" many 1000 "${programs[@]}"
is "$(tail -n 1 "$work/thousand")" "up" "1,000 processes of 20 programs are running"
settled
is "$(awk -F'\t' '$1 == "stat" && $2 == "processes" { print $3 }' /dev/kunwind)" 1001 "1,000 processes and their parent are registered"
is "$(stat_of table_bytes) $(stat_of objects) $(stat_of table_rows)" "$twenty $objects $rows" \
	"1,000 processes have no more tables than 20: $twenty bytes"
diag "lists of mappings: $((($(stat_of map_bytes) - maps) / 980)) bytes a process"
[ "$((($(stat_of map_bytes) - maps) / 980))" -lt 4096 ]
is $? 0 "the lists of mappings of 1,000 processes take less than a page each on average"
let_go

# ---- a file system that hangs
stall=500
echo $stall >$params/max_stall_ms
modprobe fuse
mkdir "$work/stuck"
"$progs/stuckfs" "$work/stuck" "$progs/large.so" 60 >"$work/stuck.out" 2>&1 &
stuckfs=$!
for _ in $(seq 100); do
	[ -s "$work/stuck.out" ] && break
	sleep 0.1
done
is "$(cat "$work/stuck.out")" "mounted" "a FUSE file system that does not answer reads is mounted"
read -r longest median < <(chrt -f 10 "$tables" map "$work"/stuck/{0..14} </dev/null)
diag "15 files mapped by a real-time task; an mmap() took $median us, one $longest us"
[ "$median" -lt $((stall * 800)) ]
is $? 0 "hung file system: most mmap() calls of a real-time task do not wait"
hold "$work/stalls" "$tables" map "$work"/stuck/{0..59}
read -r longest median <"$work/stalls"
diag "60 files mapped; an mmap() took $median us, one $longest us"
[ "$longest" -gt $((stall * 800)) ] && [ "$longest" -lt $((stall * 10000)) ]
is $? 0 "hung file system: another task waits, less than ten times max_stall_ms"
is "$(object "$work/stuck/7" | cut -d' ' -f1)" "pending" "hung file system: the status shows the file as pending"
read -r longest median < <("$tables" map "$work"/stuck/{0..59} </dev/null)
diag "60 files mapped again: an mmap() took $median us, one $longest us"
[ "$median" -lt $((stall * 800)) ]
is $? 0 "hung file system: after waits in vain most mmap() calls do not wait"
# Records of file systems are hashed by device number (kmod/object/filesystem.c,
# hash_32() with 6 bits). If a file system in the same bucket answers, the other
# one must still count as hung.
hash_of() { echo $((($1 * 0x61C88647 & 0xffffffff) >> 26)); }
wanted=$(hash_of "$(stat -c %d "$work/stuck")")
mounts=0 alike=
while [ $mounts -lt 200 ]; do
	mkdir -p "$work/mounts/$mounts"
	mount -t tmpfs none "$work/mounts/$mounts"
	[ "$(hash_of "$(stat -c %d "$work/mounts/$mounts")")" = "$wanted" ] && alike=$work/mounts/$mounts
	mounts=$((mounts + 1))
	[ -z "$alike" ] || break
done
diag "device numbers $(stat -c %d "$work/stuck") and $(stat -c %d "${alike:-/}")"
cp "$progs/small.so" "$alike/f.so"
check "two device numbers have the same hash" test -n "$alike"
is "$("$tables" call "$alike/f.so")" "0 1 small" "a file system with the same hash answers"
read -r longest median < <("$tables" map "$work"/stuck/{0..9} </dev/null)
diag "10 files of the hung file system mapped then: an mmap() took $median us, one $longest us"
[ "$median" -lt $((stall * 800)) ]
is $? 0 "hung file system: most mmap() calls still do not wait when the other one has answered"
umount "$work"/mounts/*
echo 20000 >$params/max_stall_ms
cp "$progs/small.so" "$work/many/new.so"
is "$("$tables" call "$work/many/new.so")" "0 1 small" "hung file system: a file on another file system has a table"
cp "$progs/small.so" "$PWD/build/tables-new.so"
is "$("$tables" call "$PWD/build/tables-new.so")" "0 1 small" "hung file system: a file on another remote file system has a table"
let_go
check_fails 1 "hung file system: rmmod fails because the module is in use" timeout 20 rmmod kunwind
hold "$work/stalls" "$tables" map "$work"/stuck/{0..59}
kill -USR1 $stuckfs
for _ in $(seq 20); do
	settled && break
	kill -USR1 $stuckfs
done
is "$(object "$work/stuck/7" | cut -d' ' -f1)" "ready" "when the hung file system answers, its tables are built"
let_go
is "$("$tables" call "$work/stuck/7")" "0 1 large" "when the hung file system has answered, a stack through its file is right"
echo $stall >$params/max_stall_ms
kill -USR2 $stuckfs
forget "$work/stuck/"
read -r longest median < <("$tables" map "$work"/stuck/{0..3} </dev/null)
diag "4 files mapped when it hangs again: an mmap() took $median us, one $longest us"
[ "$longest" -gt $((stall * 800)) ]
is $? 0 "tasks wait again for a file system that answered in between"
kill -USR1 $stuckfs
for _ in $(seq 20); do
	settled && break
	kill -USR1 $stuckfs
done
check "the hung file system is unmounted" umount "$work/stuck"
wait $stuckfs
check "the module is unloaded" rmmod kunwind
done_testing
