#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-rights.sh - permissions of /dev/kunwind, see kunwind(4)
#
# Processes of other users, set-user-ID programs, registrations by other users;
# root of a user namespace; quotas; what the status shows to each user; file
# names in the status and in events; the device's mode and udev rule.
# timeout: 500

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
progs=$PWD/build/vm-progs-system-wide
make -s -C tests/vm/fixtures/system-wide all >/dev/null || exit 1
params=/sys/module/kunwind/parameters
tmp=$KUNWIND_TMP
chmod 755 "$tmp"
# a copy, because other users may have no access to the directory of this tree
rights=$tmp/rights
cp "$progs/rights" "$rights"

check "the module loads" modprobe kunwind
is "$(stat -c '%a %U %G' /dev/kunwind)" "660 root root" "the device's mode without udev"

# "make install" was run for this VM, too
rules=/usr/local/lib/udev/rules.d/60-kunwind.rules
is "$(grep -v '^#' $rules)" 'KERNEL=="kunwind", SUBSYSTEM=="misc", GROUP="tracing", MODE="0660"' \
	"make install installs a udev rule for the group tracing"
is "$(stat -c %a $rules)" 644 "udev can read the rule"
check "make install installs kunwind(4)" test -s /usr/local/share/man/man4/kunwind.4

as() { # UID COMMAND...
	local uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups -- "$@"
}
# for commands in the background: with a function, $! would be a subshell
user1="setpriv --reuid=1001 --regid=1001 --clear-groups --"
user2="setpriv --reuid=1002 --regid=1002 --clear-groups --"
stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
runs() { # PID COMM
	for _ in {1..200}; do
		[ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] && return 0
		sleep 0.05
	done
	return 1
}
gone() { # until no process is registered
	for _ in {1..200}; do
		[ "$(stat_of processes)" = 0 ] && break
		sleep 0.05
	done
	is "$(stat_of processes)" 0 "$1"
}

check_fails 2 "a user outside the group cannot open the device" as 1001 "$rights" system-wide 1
chmod 666 /dev/kunwind	# from here on the module itself checks permissions

# processes of others
sleep 1000 &
roots=$!
$user1 sleep 1000 &
theirs=$!
$user2 sleep 1000 &
others=$!
runs $roots sleep && runs $theirs sleep && runs $others sleep
is "$(as 1001 "$rights" pid $theirs 0)" 0 "a user may register his own process"
for pid in $roots $others; do
	is "$(as 1001 "$rights" pid "$pid" 0)" EACCES "a user may not register another user's process"
done
wording() { as 1001 kunwind "$1" "$2" 2>&1 | sed "s/$2/PID/"; }
for command in register unregister; do
	is "$(wording $command $roots)" "$(wording $command 999999)" \
		"$command: same message for a forbidden process and for one that does not exist"
done
is "$(as 1001 kunwind register $others 999999 2>/dev/null)" "" "register prints nothing about a forbidden process"

# perf lets a user count events of the own tasks, but not turn on kunwind's
count_event() { # UID EVENT: prints 0 or the errno of perf_event_open()
	as "$1" /usr/bin/python3 - "$(cat "/sys/kernel/tracing/events/$2/id")" <<'END'
import ctypes, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
# PERF_TYPE_TRACEPOINT; disabled, exclude_kernel
attr = bytearray(struct.pack("=IIQQQQQ", 2, 112, int(sys.argv[1]), 0, 0, 0, 1 | 1 << 5)).ljust(112, b"\0")
fd = libc.syscall(298, ctypes.create_string_buffer(bytes(attr), 112), 0, -1, -1, 0)
print(0 if fd >= 0 else ctypes.get_errno())
END
}
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
echo 1 >/proc/sys/kernel/perf_event_paranoid
is "$(count_event 1001 sched/sched_switch)" 0 "perf: a user may count an event of the kernel"
for event in /sys/kernel/tracing/events/kunwind/*/id; do
	event=${event%/id}
	is "$(count_event 1001 "kunwind/${event##*/}")" 1 "perf: a user may not turn on ${event##*/} (EPERM)"
done
is "$(count_event 0 kunwind/kunwind_fatal_signal)" 0 "perf: root may"
echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid

# unwind information for code made at run time: only for the caller's own
# process
make -s -C tests/vm/fixtures/lib all >/dev/null
jit=$PWD/build/vm-progs-lib/jit
is "$(as 1001 "$jit" errors | awk '{ n[$1 == "ok"]++ } END { for (i in n) print i, (n[i] > 5) }')" "1 1" \
	"a user who adds unwind information gets the documented result for right and wrong arguments"
chmod 660 /dev/kunwind
like "$(as 1001 "$jit" errors | head -n 2)" "# -13, wanted -2" "a user who cannot open the device cannot add unwind information"
chmod 666 /dev/kunwind

# another user's registration
$user1 sleep 1000 &
first=$!
runs $first sleep
check "root registers a user's process" kunwind register $first
is "$(as 1001 "$rights" pid $first 0)" 0 "a user may register a process that root has registered"
is "$(as 1001 "$rights" pid $first 1)" EACCES "a user may not add flags to root's registration"
like "$(as 1001 kunwind unregister $first 2>&1)" "another user" "a user may not end root's registration"
like "$(grep -P "^process\t$first\t" /dev/kunwind)" $'\t-\t[0-9]+$' "the flags of root's registration are unchanged"
is "$("$rights" pid $theirs 1)" 0 "root may add flags to a user's registration"
like "$(grep -P "^process\t$theirs\t" /dev/kunwind)" $'\tchildren\t[0-9]+$' "the user's registration has the flags that root added"

# children of a user's shell, which forks when it has read a line
mkfifo "$tmp/line"
forks() { # FLAGS [as UID]: $parent is registered with these flags, then forks $child
	rm -f "$tmp/child"
	$user1 sh -c 'read -r _; sleep 1000 & echo $!; wait' <"$tmp/line" >"$tmp/child" &
	parent=$!
	exec {line}>"$tmp/line"
	runs $parent sh
	is "$("${@:2}" "$rights" pid $parent "$1")" 0 "a user's shell is registered with flags $1"
	echo >&"$line"
	exec {line}>&-
	eventually "the shell forks" test -s "$tmp/child"
	child=$(cat "$tmp/child")
}
end_child() {
	kill "$child"
	wait $parent
}
forks 0 as 1001
is "$(grep -cP "^process\t$child\t" /dev/kunwind)" 0 "fork: without KUNWIND_REGISTER_CHILDREN the child is not registered"
end_child
forks 1
like "$(grep -P "^process\t$child\t" /dev/kunwind)" $'\tchildren\t[0-9]+$' "fork: with KUNWIND_REGISTER_CHILDREN the child is registered"
like "$(as 1001 kunwind unregister "$child" 2>&1)" "another user" "fork: the child's registration belongs to the parent's registrar"
end_child

# what the status shows to each user
seen() { as "$1" cat /dev/kunwind; }
is "$(seen 1001 | awk -F'\t' '$1 == "process" { print $2 }' | sort -n)" "$theirs" \
	"a user sees the process that he registered, and no other"
is "$(seen 1002 | grep -cE '^(process|object)')" 0 "another user sees no process and no objects"
is "$(seen 1001 | grep -cE '/|map_bytes|0x|[0-9a-f]{9,}')" 0 "the status shows no paths and no addresses to users"
# without paths, in which such digits may occur
is "$(sed 's|\t/[^\t]*||' /dev/kunwind | grep -cE '0x|[0-9a-f]{12,}')" 0 "the status shows no addresses to root"
exec {opened}</dev/kunwind
like "$(as 1002 cat <&"$opened" | grep -c '^object')" '^[1-9]' "the status lists objects if root opened the device and a user reads it"
exec {opened}<&-
cp /bin/cat "$tmp/sucat"
chmod 4755 "$tmp/sucat"
# shellcheck disable=SC2016
is "$(as 1002 sh -c '"$1" </dev/kunwind' - "$tmp/sucat" | awk '{ n[$1]++ } END { print !!n["param"], n["process"] + n["object"] }')" \
	"1 0" "the status lists no processes and no objects if a user opened the device and a set-user-ID program reads it"

# an exec that gains privilege
cp /bin/sleep "$tmp/suid"
chmod 4755 "$tmp/suid"
cp /bin/sleep "$tmp/plain"
chmod 755 "$tmp/plain"
is "$(as 1001 "$rights" stale "$tmp/plain" 1000)" ESRCH "a descriptor opened before an exec registers nothing"
is "$(as 1001 "$rights" stale "$tmp/suid" 1000)" ESRCH "a descriptor opened before a set-user-ID exec registers nothing"
$user1 kunwind run -- "$tmp/suid" 1000 &
suid=$!
runs $suid suid
is "$(seen 1001 | awk -F'\t' '$1 == "process" { print $2 }' | grep -cx $suid)" 0 \
	"a user does not see the set-user-ID program that he started"
is "$(grep -cP "^process\t$suid\t" /dev/kunwind)" 0 "a set-user-ID exec ends the registration"
is "$(as 1001 "$rights" pid $suid 0)" EACCES "a user may not register a set-user-ID program"
kunwind system-wide on
like "$(grep -P "^process\t$suid\t" /dev/kunwind)" $'\tsystem_wide\t[0-9]+$' "system_wide registers the set-user-ID program"
is "$(seen 1001 | awk -F'\t' '$1 == "process" { print $2 }' | sort -n)" "$theirs" \
	"system_wide: the user still sees only his own process"
like "$(as 1001 kunwind unregister $theirs; grep -P "^process\t$theirs\t" /dev/kunwind)" \
	$'\tsystem_wide\t[0-9]+$' "unregister ends the registration by hand, not the one by system_wide"
like "$(as 1001 kunwind unregister $theirs 2>&1)" "not registered" "unregister fails when only system_wide has registered the process"
is "$(as 1001 "$rights" pid $theirs 0)" 0 "a user may register by hand a process that system_wide has registered"
kunwind system-wide off
is "$(awk -F'\t' '$1 == "process" { print $2 }' /dev/kunwind | sort -n | tr '\n' ' ')" \
	"$(printf '%s\n' $first $theirs | sort -n | tr '\n' ' ')" "system_wide off keeps registrations by hand"

# only capabilities in the initial user namespace count
is "$("$rights" system-wide 2)" EINVAL "system_wide: an unknown flag is refused"
is "$(as 1001 "$rights" system-wide 1)" EPERM "system_wide: a user is refused"
is "$(as 1001 unshare -U -r "$rights" system-wide 1)" EPERM "system_wide: root of a user's user namespace is refused"
is "$(unshare -U -r "$rights" system-wide 1)" EPERM "system_wide: root of root's user namespace is refused"
is "$(unshare -U -r bash -c "echo 1 >$params/system_wide" 2>&1 | grep -c 'not permitted')" 1 "system_wide: root of a user namespace cannot write the parameter"
is "$(cat $params/system_wide)" N "system_wide is off after the refused calls"
is "$(as 1001 unshare -U -r cat /dev/kunwind | grep -c '^object')" 0 "root of a user namespace sees no objects"
is "$(as 1001 unshare -U -r "$rights" pid $others 0)" EACCES "root of a user namespace may not register another user's process"
kill $roots $theirs $others $first $suid
wait 2>/dev/null
gone "ended processes are not registered any more"

# Paths of files: each process may have its own. User 1001 is the first to map
# the file, by a path of its own mount namespace, and ends before the others map
# it.
tracing=/sys/kernel/tracing
mkdir "$tmp/own" "$tmp/false"
cp /bin/sleep "$tmp/own/program"
touch "$tmp/false/program"
chmod -R a+rX "$tmp/own" "$tmp/false"
inode=$(stat -c %i "$tmp/own/program")
named() { # PID: the file's paths in kunwind_map events of the process
	for _ in {1..200}; do
		sed -n "s/.*kunwind_map: tgid=$1 .* ino=$inode .* path=//p" $tracing/trace | sort -u | grep . && break
		sleep 0.05
	done
}
shown() { awk -F'\t' '$1 == "object" && $7 ~ /(own|false)\/program$/ { print $7 }' /dev/kunwind; }
kunwind system-wide on
echo >$tracing/trace
echo 1 >$tracing/events/kunwind/kunwind_map/enable
# shellcheck disable=SC2016
$user1 unshare -U -r -m sh -c 'mount --bind "$1" "$2" && exec "$2" 1000' - "$tmp/own/program" "$tmp/false/program" &
pid=$!
is "$(named $pid)" "$tmp/false/program" "kunwind_map has the path by which the process maps a file"
is "$(shown)" "$tmp/false/program" "the status has that path while only a user without privilege maps the file"
kill $pid
wait $pid 2>/dev/null
for command in "$user2" "$user1" ""; do
	$command "$tmp/own/program" 1000 &
	pid=$!
	is "$(named $pid)" "$tmp/own/program" "kunwind_map does not have another process's path of the file (${command:-root})"
	kill $pid
	wait $pid 2>/dev/null
done
is "$(shown)" "$tmp/own/program" "the status has the path by which a process with CAP_SYS_ADMIN maps the file"
echo 0 >$tracing/events/kunwind/kunwind_map/enable
kunwind system-wide off
gone "no process is registered after system_wide off"

# quotas
echo 3 >$params/max_user_processes
is "$(as 1001 "$rights" most 10)" "3 ENOSPC" "quota: a user may register max_user_processes processes"
is "$(as 1001 unshare -U -r "$rights" most 10)" "3 ENOSPC" "quota: a user namespace does not add to it"
is "$("$rights" most 10)" "10 0" "quota: CAP_SYS_ADMIN has none"
# root of a container without a user namespace: user 0 without CAP_SYS_ADMIN
container() {
	unshare --pid --fork --kill-child setpriv --bounding-set -sys_admin --inh-caps -sys_admin -- "$@"
}
mkfifo "$tmp/end"
# shellcheck disable=SC2016
container sh -c '
	for i in 1 2 3; do "$1" sleep >"$2.$i" & done
	until [ "$(cat "$2".[123] 2>/dev/null | wc -l)" = 3 ]; do sleep 0.1; done
	[ "$("$1" most 1)" = "0 ENOSPC" ] && echo full
	unshare -U -r --pid --fork "$1" most 10
	read -r _ <"$2"' - "$rights" "$tmp/end" >"$tmp/first" &
first_container=$!
two_lines() { [ "$(wc -l <"$tmp/first")" = 2 ]; }
eventually "three processes of a container are registered" two_lines
is "$(head -n 1 "$tmp/first")" "full" "root of a container without a user namespace has a quota"
is "$(tail -n 1 "$tmp/first")" "0 ENOSPC" "namespaces that a container makes give no second quota"
is "$(container "$rights" most 10)" "3 ENOSPC" "another container has a quota of its own"
echo >"$tmp/end"
wait $first_container
gone "the containers' processes are not registered after their end"
echo 8 >$params/max_processes
is "$("$rights" most 10)" "8 ENOSPC" "max_processes limits CAP_SYS_ADMIN too"
is "$(kunwind run -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; wait' >/dev/null; stat_of missed_limit | sed 's/^[1-9].*/some/')" \
	some "children beyond max_processes are counted in missed_limit"
missed=$(stat_of missed_limit)
echo 2 >$params/max_processes
kunwind system-wide on 2>"$tmp/err"
like "$(cat "$tmp/err")" 'not registered.*max_processes' "kunwind system-wide on reports processes beyond max_processes"
check "processes that system_wide cannot register are counted in missed_limit" test "$(stat_of missed_limit)" -gt "$missed"
kunwind system-wide off
echo 32768 >$params/max_processes
gone "no process is registered after system_wide off with a small max_processes"

echo 4 >$params/max_user_processes
out=$(as 1001 "$rights" loops 10000 16)
like "$out" '^[0-9]+$' "ten thousand children fork, register and end (refused: $out)"
gone "none of the ten thousand children is registered any more"
is "$(as 1001 "$rights" most 10)" "4 ENOSPC" "quota: unchanged after ten thousand children"
gone "no process is registered after the last test of the quota"
for _ in {1..100}; do
	[ "$(stat_of map_bytes)" = 0 ] && break
	sleep 0.1
done
is "$(stat_of map_bytes)" 0 "the memory of all lists of mappings is freed"

is "$("$rights" vfork)" child "registering by the memory of a vfork child registers the child"
check "the module is unloaded" rmmod kunwind
done_testing
