#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-device.sh - /dev/kunwind: every errno of its calls, rights, the kill switch

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/progs/device all >/dev/null || exit 1

# Turns a program's lines into this file's; a program that dies has failed.
adopt() { # DESCRIPTION COMMAND...
	local what=$1 status
	shift
	"$@" >"$KUNWIND_TMP/out" 2>&1
	status=$?
	tap_from "$KUNWIND_TMP/out" "$what: "
	is "$status" 0 "$what: it ends well"
}

check "the module loads" modprobe kunwind
is "$(stat -c %a /dev/kunwind)" 660 "the device's mode"
adopt root "$progs/device" errors

chmod 666 /dev/kunwind
user="setpriv --reuid=65534 --regid=65534 --clear-groups --"
# shellcheck disable=SC2086
adopt user $user "$progs/device" errors

# an exec keeps the registration, but for one that gains privilege
cp "$progs/device" "$KUNWIND_TMP/plain"
cp "$progs/device" "$KUNWIND_TMP/setuid"
cp "$progs/device" "$KUNWIND_TMP/unreadable"
chmod 755 "$KUNWIND_TMP" "$KUNWIND_TMP/plain"
chmod 4755 "$KUNWIND_TMP/setuid"
chmod 711 "$KUNWIND_TMP/unreadable"
# shellcheck disable=SC2086
{
	is "$($user "$progs/device" exec "$KUNWIND_TMP/plain" asks)" 0 "exec keeps it"
	is "$($user "$progs/device" exec "$KUNWIND_TMP/setuid" asks)" ENOENT "a setuid exec does not"
	is "$($user "$progs/device" exec "$KUNWIND_TMP/unreadable" asks)" ENOENT \
		"nor one of a file that its user may not read"
}
is "$("$progs/device" exec "$KUNWIND_TMP/setuid" asks)" 0 "root's does"

# what others may see
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
is "$(grep -c '^process' /dev/kunwind)" 0 "ended processes are gone"

# names that others choose
cp "$(command -v sleep)" "$KUNWIND_TMP/"$'a\nforged\t1'
"$KUNWIND_TMP/"$'a\nforged\t1' 1000 &
named=$!
until grep -q forged /proc/$named/comm; do sleep 0.1; done
kunwind register $named >/dev/null
is "$(grep -c '^process' /dev/kunwind) $(grep -c '^forged' /dev/kunwind)" "1 0" \
	"a process whose name has a line feed makes one line"
kill $named
wait $named

# limits
echo 3 >/sys/module/kunwind/parameters/max_user_processes
# shellcheck disable=SC2086
is "$($user "$progs/device" exec "$KUNWIND_TMP/plain" asks)" 0 "below the user's limit"
echo 0 >/sys/module/kunwind/parameters/max_user_processes
# shellcheck disable=SC2086
$user "$progs/device" exec "$KUNWIND_TMP/plain" asks
is $? 3 "above it"
is "$("$progs/device" exec "$KUNWIND_TMP/plain" asks)" 0 "which is not root's"

echo N >/sys/module/kunwind/parameters/enabled
adopt off "$progs/device" off
echo Y >/sys/module/kunwind/parameters/enabled
check "the module goes" rmmod kunwind
done_testing
