#!/bin/bash
# SPDX-License-Identifier: MIT
#
# guest.sh DIR - counts in-kernel costs, inside the VM under --icount; DIR has
# what tests/bench/Makefile built. Prints tab-separated lines:
#   kernel  FRAMES  WALKER  INSTRUCTIONS  PER_FRAME
#   event   WHAT    INSTRUCTIONS  ABOVE_NO_STACK
# PER_FRAME is the slope between this depth and the next smaller one, so that
# what a walk costs once does not count.
set -eu
dir=$1

lsmod | grep -q '^kunwind ' || modprobe kunwind
insmod "$dir/kmod/kunwind_bench.ko"

# walk NAME COLUMN COMMAND...: COLUMN 2 is the first call, 3 the last of eight
walk() {
	local name=$1 column=$2 before_n=0 before_c=0 depth n c
	shift 2
	for depth in 20 100 500; do
		read -r n c < <("$dir/$1" "$depth" "${@:2}" | cut -d' ' -f"1,$column")
		if [ "$before_n" -gt 0 ]; then
			printf 'kernel\t%d\t%s\t%d\t%s\n' "$n" "$name" "$c" \
				"$(awk "BEGIN { printf \"%.1f\", ($c - $before_c) / ($n - $before_n) }")"
		else
			printf 'kernel\t%d\t%s\t%d\t-\n' "$n" "$name" "$c"
		fi
		before_n=$n before_c=$c
	done
}

walk 'frame pointers (stock)' 3 chain-fp
walk 'kunwind warm' 3 chain register
walk 'kunwind cold' 2 chain register
walk 'kunwind warm, r15 followed' 3 chain-saved register

# A traced getppid(2), twenty frames deep: without a stack, with one.
export LTTNG_HOME=/tmp/bench-home
mkdir -p "$LTTNG_HOME"
lttng-sessiond --daemonize >/dev/null 2>&1
cost() {
	local what=$1 context=$2 binary=$3 argument=${4-}
	lttng create bench --output="/tmp/bench-$RANDOM" >/dev/null
	lttng enable-channel -k ch >/dev/null
	lttng enable-event -k --syscall getppid -c ch >/dev/null
	if [ -n "$context" ]; then
		lttng add-context -k -c ch -t "$context" >/dev/null
	fi
	lttng start >/dev/null
	# shellcheck disable=SC2086 # empty or one word
	count=$("$dir/$binary" $argument)
	lttng stop >/dev/null
	lttng destroy >/dev/null
	[ -n "$context" ] || none=$count
	printf 'event\t%s\t%d\t%d\n' "$what" "$count" $((count - none))
}
cost 'no stack' '' event
cost 'callstack-user, stock, frame pointers' callstack-user event-fp
cost 'callstack-user, kunwind' callstack-user event register
rmmod kunwind_bench
