#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sizes.sh - measure what traces with stacks take, inside the VM. Prints
# tab-separated lines:
#   size  WHAT  EVENTS  BYTES  BYTES_AN_EVENT
# The events are those of kunwind_callstack, alone in its channel, and those of
# openat in a trace of "kunwind record -e openat", which has mappings, names and
# kunwind_callstack besides. The bytes are those of the streams' files, whose last
# packet is filled up to a page.
set -euo pipefail
tree=$PWD
tmp=$(mktemp -d)
export HOME=$tmp PYTHONDONTWRITEBYTECODE=1 GIT_TEMPLATE_DIR=
modprobe kunwind
lttng-sessiond --daemonize >/dev/null 2>&1
modprobe lttng-probe-kunwind

# size WHAT EVENT TRACE FILE...
size() {
	local what=$1 event=$2 trace=$3 events bytes
	shift 3
	events=$(babeltrace2 "$trace" | grep -c " $event: ")
	bytes=$(cat "$@" | wc -c)
	printf 'size\t%s\t%d\t%d\t%d\n' "$what" "$events" "$bytes" $((bytes / events))
}

# stacks WHAT SYSCALLS COMMAND...: traces the command's system calls
stacks() {
	local what=$1 calls=$2 channel
	shift 2
	lttng -q create size --output="$tmp/trace"
	for channel in calls own; do
		lttng -q enable-channel --kernel $channel --subbuf-size=4M
	done
	lttng -q enable-event --kernel --channel calls --syscall "$calls"
	lttng -q add-context --kernel --channel calls --type callstack-user
	lttng -q enable-event --kernel --channel own kunwind_callstack
	lttng -q start
	kunwind run -- "$@" >/dev/null
	lttng -q destroy
	size "kunwind_callstack, $what" kunwind_callstack "$tmp/trace" "$tmp"/trace/kernel/own_*
	rm -r "$tmp/trace"
}

mkdir "$tmp"/{demo,openat,all,record}
touch "$tmp"/demo/{go,end}
stacks "demo-app.py, all system calls" --all /usr/bin/python3 "$tree/scripts/demo-app.py" "$tmp/demo"
stacks "workload.py, openat" openat /usr/bin/python3 "$tree/tests/names/workload.py" "$tmp/openat" 1
stacks "workload.py, all system calls" --all /usr/bin/python3 "$tree/tests/names/workload.py" "$tmp/all" 1
kunwind record -q -e openat -o "$tmp/trace" -- \
	/usr/bin/python3 "$tree/tests/names/workload.py" "$tmp/record" 1
size "whole trace, workload.py, openat" 'syscall_\(entry\|exit\)_openat' "$tmp/trace" \
	"$tmp"/trace/kernel/*_[0-9]*
