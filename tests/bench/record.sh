#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record.sh DIR - the cost of recorders, inside the VM under --icount. DIR has
# the programs that tests/bench/Makefile built. A program makes 12,000 system
# calls (calls.c); each recorder records all of them. Prints tab-separated lines:
#   record  RECORDER  TIMES  INSTRUCTIONS  (the program's own time, compared with
#                     that without a recorder; instructions of a system call)
#   trace   RECORDER  BYTES  MEGABYTES     (for each event of a system call, of all
#                     that was written, and of 36,000 system calls)
# Besides the system calls, kunwind record records what it does by default.
set -eu
dir=$1

lsmod | grep -q '^kunwind ' || modprobe kunwind
modprobe lttng-probe-kunwind
export LTTNG_HOME=/tmp/record-home
mkdir -p "$LTTNG_HOME"
lttng-sessiond --daemonize >/dev/null 2>&1
calls=12000 more=36000
rounds=$((calls / 6))

# times NAME COMMAND...: the last line of the command's output is the count
times() {
	local name=$1 count
	shift
	"$@" >/tmp/record-out 2>/tmp/record-err || { cat /tmp/record-out /tmp/record-err >&2; exit 1; }
	count=$(grep -E '^[0-9]+$' /tmp/record-out | tail -n 1)
	[ "$name" != 'no recorder' ] || none=$count
	printf 'record\t%s\t%s\t%d\n' "$name" "$(awk "BEGIN { printf \"%.2f\", $count / $none }")" \
		$(((count - none) / calls))
}
# bytes NAME DIRECTORY: of stream files, for MORE system calls, whose events are two each
bytes() {
	local size
	size=$(find "$2" -type f -name '*_[0-9]*' ! -name '*.idx' -printf '%s\n' | awk '{ n += $1 } END { print n }')
	printf 'trace\t%s\t%d\t%s\n' "$1" $((size / more / 2)) "$(awk "BEGIN { printf \"%.1f\", $size / 1e6 }")"
}
# In a session of LTTng with these contexts.
session() { # NAME CONTEXTS COMMAND...
	local name=$1 context
	lttng create bench --output="/tmp/record-$RANDOM" >/dev/null
	lttng enable-channel -k ch --subbuf-size=4M --num-subbuf=4 >/dev/null
	lttng enable-event -k --syscall -a -c ch >/dev/null
	for context in $2; do lttng add-context -k -c ch -t "$context" >/dev/null; done
	lttng start >/dev/null
	times "$name" "${@:3}"
	lttng stop >/dev/null
	lttng destroy >/dev/null
}
# recorder NAME OPTIONS...: time and size of kunwind record
recorder() {
	local name=$1
	shift
	times "$name" kunwind record -q -o "/tmp/$RANDOM-times" "$@" -- "$dir/calls" $rounds
	kunwind record -q -o /tmp/record-trace "$@" -- "$dir/calls" $((more / 6)) >/dev/null
	bytes "$name" /tmp/record-trace
	rm -r /tmp/record-trace
}

times 'no recorder' "$dir/calls" $rounds
session 'plain LTTng' '' "$dir/calls" $rounds
session "LTTng's own user stacks" callstack-user "$dir/calls" $rounds
session 'callstack-user, kunwind run' callstack-user kunwind run "$dir/calls" $rounds
recorder 'kunwind record'
recorder 'kunwind record -k' -k
! command -v strace >/dev/null || times 'strace -c' strace -f -c -o /tmp/record-strace "$dir/calls" $rounds
times 'perf record -g' perf record -q -g -e 'raw_syscalls:*' -o /tmp/record-perf.data -- "$dir/calls" $rounds
