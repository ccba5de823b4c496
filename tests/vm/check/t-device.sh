#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 150
#
# t-device.sh - /dev/kunwind: every errno of its calls, permissions, the kill
# switch, and the limits of the dump of all mappings

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1

# Makes a program's TAP lines tests of this file. Fails if the program dies.
adopt() { # DESCRIPTION COMMAND...
	local what=$1 status
	shift
	"$@" >"$KUNWIND_TMP/out" 2>&1
	status=$?
	tap_from "$KUNWIND_TMP/out" "$what: "
	is "$status" 0 "$what: exits with status 0"
}

check "the module loads" modprobe kunwind
is "$(stat -c %a /dev/kunwind)" 660 "the mode of /dev/kunwind is 660"
adopt root "$progs/device" errors

chmod 666 /dev/kunwind
user="setpriv --reuid=65534 --regid=65534 --clear-groups --"
# shellcheck disable=SC2086
adopt user $user "$progs/device" errors

# exec keeps the registration unless it gains privilege
cp "$progs/device" "$KUNWIND_TMP/plain"
cp "$progs/device" "$KUNWIND_TMP/setuid"
cp "$progs/device" "$KUNWIND_TMP/unreadable"
chmod 755 "$KUNWIND_TMP" "$KUNWIND_TMP/plain"
chmod 4755 "$KUNWIND_TMP/setuid"
chmod 711 "$KUNWIND_TMP/unreadable"
# shellcheck disable=SC2086
{
	is "$($user "$progs/device" exec "$KUNWIND_TMP/plain" asks)" 0 "exec keeps the registration"
	is "$($user "$progs/device" exec "$KUNWIND_TMP/setuid" asks)" ENOENT "exec of a set-user-ID program ends the registration"
	is "$($user "$progs/device" exec "$KUNWIND_TMP/unreadable" asks)" ENOENT \
		"exec of a file that the user may not read ends the registration"
}
is "$("$progs/device" exec "$KUNWIND_TMP/setuid" asks)" 0 "exec of a set-user-ID program by root keeps the registration"

# what other users may see
# shellcheck disable=SC2086
$user sleep 1000 &
theirs=$!
sleep 1000 &
ours=$!
for pid in $theirs $ours; do
	until grep -q sleep /proc/$pid/comm; do sleep 0.1; done
	kunwind register $pid >/dev/null
done
like "$(cat /dev/kunwind)" "process	$ours	sleep" "root sees processes"
# shellcheck disable=SC2086
is "$($user cat /dev/kunwind | grep -cE '^(process|object)	')" 0 \
	"another user sees neither processes nor objects"
kill $theirs $ours
wait
for _ in $(seq 50); do
	grep -q '^process' /dev/kunwind || break
	sleep 0.1
done
is "$(grep -c '^process' /dev/kunwind)" 0 "the status has no process that has ended"

# process names that a user chooses
cp "$(command -v sleep)" "$KUNWIND_TMP/"$'a\nforged\t1'
"$KUNWIND_TMP/"$'a\nforged\t1' 1000 &
named=$!
until grep -q forged /proc/$named/comm; do sleep 0.1; done
kunwind register $named >/dev/null
is "$(grep -c '^process' /dev/kunwind) $(grep -c '^forged' /dev/kunwind)" "1 0" \
	"a process name with a line feed is escaped: the status has one line"
kill $named
wait $named

# limits
echo 3 >/sys/module/kunwind/parameters/max_user_processes
# shellcheck disable=SC2086
is "$($user "$progs/device" exec "$KUNWIND_TMP/plain" asks)" 0 "max_user_processes=3: a user can register one process"
echo 0 >/sys/module/kunwind/parameters/max_user_processes
# shellcheck disable=SC2086
$user "$progs/device" exec "$KUNWIND_TMP/plain" asks
is $? 3 "max_user_processes=0: a user cannot register a process"
is "$("$progs/device" exec "$KUNWIND_TMP/plain" asks)" 0 "max_user_processes=0: root can register a process"

# many mappings in many processes
tracing=/sys/kernel/tracing
map=$tracing/events/kunwind/kunwind_map
# Starts a process and CHILDREN, which share RANGES mappings. Sets $shared to
# the pid of the parent.
share() { # CHILDREN RANGES [COMMAND...]
	local number=$1 ranges=$2
	shift 2
	: >"$KUNWIND_TMP/up"
	"$@" "$progs/tables" share "$number" "$ranges" >"$KUNWIND_TMP/up" &
	shared=$!
	for _ in $(seq 1200); do
		[ -s "$KUNWIND_TMP/up" ] && break
		sleep 0.1
	done
	is "$(cat "$KUNWIND_TMP/up") $(grep -cP '^process\t.*\ttables\t' /dev/kunwind)" "up $((number + 1))" \
		"$((number + 1)) processes that share $ranges mappings are registered"
}
end_share() {
	kill $shared
	wait $shared 2>/dev/null
	for _ in $(seq 300); do
		grep -qP '^process\t.*\ttables\t' /dev/kunwind || break
		sleep 0.1
	done
}

# The most events that a dump makes for a process and for a user.
most=4096 of_user=262144
if [ -e $map/hist ]; then
	echo 1024 >/sys/module/kunwind/parameters/max_user_processes
	# a process of another user
	setpriv --reuid=1002 --regid=1002 --clear-groups -- kunwind run -- sleep 1000 >/dev/null &
	victim() { awk -F'\t' '$1 == "process" && $3 == "sleep" { print $2 "\t" $4 }' /dev/kunwind; }
	# in clock_nanosleep() it has all its mappings
	until grep -q '^230 ' "/proc/$(victim | cut -f1)/syscall" 2>/dev/null; do sleep 0.1; done
	victim=$(victim)
	# shellcheck disable=SC2086
	share 99 5000 $user
	before=$(awk -F'\t' '$2 == "dump_left_out" { print $3 }' /dev/kunwind)
	echo 'hist:keys=tgid' >$map/trigger
	check "the dump of all mappings ends" modprobe kunwind_dump
	sed -n 's/^{ tgid: *\([0-9]*\) } hitcount: *\([0-9]*\).*/\1\t\2/p' $map/hist >"$KUNWIND_TMP/dumped"
	echo '!hist:keys=tgid' >$map/trigger
	is "$(grep -xcF "$victim" "$KUNWIND_TMP/dumped")" 1 "the dump has every mapping of another user's process, once"
	is "$(awk -v m=$most '$2 > m' "$KUNWIND_TMP/dumped")" "" \
		"the dump has at most $most events of a process"
	reported=$(awk '{ sum += $2 } END { print sum }' "$KUNWIND_TMP/dumped")
	reported=$((reported - ${victim#*	}))
	is "$reported" $of_user "the dump has as many events as a user may have, of 500,000 mappings"
	left=$(($(awk -F'\t' '$2 == "dump_left_out" { print $3 }' /dev/kunwind) - before))
	[ $((left + reported)) -ge 500000 ]
	is $? 0 "the status counts the mappings that the dump left out: $left"
	check "the module that started the dump is unloaded" rmmod kunwind_dump
	end_share
	kill "${victim%	*}"
	wait 2>/dev/null
else
	skip "the limits of the dump of all mappings" "this kernel has no histograms of events"
fi

echo N >/sys/module/kunwind/parameters/enabled
adopt off "$progs/device" off
echo Y >/sys/module/kunwind/parameters/enabled
check "the module is unloaded" rmmod kunwind
done_testing
