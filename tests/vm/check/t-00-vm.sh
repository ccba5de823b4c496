#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 150
#
# t-00-vm.sh - what every other test needs of the VM

. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2

is "$(id -u)" 0 "tests run as root"
is "$HOME" /root "HOME is /root"
check "the root file system is writable" touch /usr/written
check_fails 1 "the host's directory /.vm/run is read-only" touch /.vm/run/written
check "the loopback interface is up" ip -o addr show lo up to 127.0.0.1
for dir in /tmp /run /dev/shm; do
	is "$(stat -f -c %T $dir)" tmpfs "$dir is a tmpfs"
done
check "tracefs is mounted" test -e /sys/kernel/tracing/available_events
check "modprobe finds the kernel's modules" modprobe -n lz4_compress
check "modprobe finds LTTng's modules" modprobe -n lttng-tracer

lttng-sessiond --daemonize >/dev/null 2>&1
{
	lttng create vm --output="$KUNWIND_TMP/trace"
	lttng enable-channel -k channel
	lttng enable-event -k -c channel --syscall openat
	lttng add-context -k -c channel -t callstack-user -t vpid
	lttng start
	cat /etc/hostname
	lttng stop
	lttng destroy
} >"$KUNWIND_TMP/log" 2>&1
events=$(babeltrace2 "$KUNWIND_TMP/trace" 2>&1 | grep -c 'syscall_entry_openat:.*callstack_user = \[ \[0\] = 0x.*/etc/hostname')
is "$events" 1 "LTTng without kunwind records an event with its callstack_user" || diag "$(cat "$KUNWIND_TMP/log")"
done_testing
