#!/bin/bash
# SPDX-License-Identifier: MIT
#
# guest.sh DIR - count in-kernel costs, inside the VM under --icount. DIR has
# the programs that tests/bench/Makefile built. Prints tab-separated lines:
#   kernel  FRAMES  WALKER  INSTRUCTIONS  PER_FRAME
#   event   WHAT    INSTRUCTIONS  ABOVE_NO_STACK  (of one event: a call has two)
#   sample  WHAT    INSTRUCTIONS  (of one sample: interrupt, walk and event)
#   real    ...     of real programs: stacks.c
# PER_FRAME is the slope between this depth and the next smaller one, so it does
# not include the fixed cost of a walk.
set -eu
dir=$1

lsmod | grep -q '^kunwind ' || modprobe kunwind
modprobe kunwind_bench

# walk NAME COLUMN COMMAND...: COLUMN 2 has the first call, 3 the last of eight
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

# Stacks of real programs: one process, and 100 at once. Tables of large objects
# are built in parts when walks miss them; the first run does so on the one CPU.
"$dir/stacks" 1 tests/bench/programs >/dev/null
sleep 2
"$dir/stacks" 1 tests/bench/programs
"$dir/stacks" 100 tests/bench/programs

# A traced getppid(2), twenty addresses deep, without and with its stack. LTTng
# records the entry and the exit of the system call, each with a stack.
export LTTNG_HOME=/tmp/bench-home
mkdir -p "$LTTNG_HOME"
lttng-sessiond --daemonize >/dev/null 2>&1
begin() { # CONTEXT EVENT-OPTIONS...
	lttng create bench --output="/tmp/bench-$RANDOM" >/dev/null
	lttng enable-channel -k ch >/dev/null
	lttng enable-event -k "${@:2}" -c ch >/dev/null
	if [ -n "$1" ]; then
		lttng add-context -k -c ch -t "$1" >/dev/null
	fi
	lttng start >/dev/null
}
end() {
	lttng stop >/dev/null
	lttng destroy >/dev/null
}
cost() { # WHAT CONTEXT COMMAND...
	local what=$1 context=$2 count
	shift 2
	begin "$context" --syscall getppid
	count=$("$dir/$1" "${@:2}")
	end
	[ -n "$context" ] || none=$count
	printf 'event\t%s\t%d\t%d\n' "$what" $((count / 2)) $(((count - none) / 2))
}
cost 'no stack' '' event
cost 'callstack-user, stock, frame pointers' callstack-user event-fp
cost 'callstack-kernel, stock' callstack-kernel event
cost 'callstack-user, kunwind' callstack-user event register
cost 'callstack-user, kunwind, another stack each time' callstack-user event register changing

# A sample of the CPU: user code of the same depth, by a timer at 997 Hz, four
# times as often as the kernel's own.
modprobe lttng-probe-kunwind
begin '' kunwind_sample
until [ -n "$(kunwind status --tsv | awk -F '\t' '$1 == "sampler" && $2 != "off"')" ]; do sleep 0.1; done
printf 'sample\t20 frames\t%d\n' "$("$dir/event" register sampled)"
# Interrupt and event alone: of a process that is not registered, one address.
echo Y >/sys/module/kunwind/parameters/sample_all
printf 'sample\tone address, no walk\t%d\n' "$("$dir/event" sampled)"
echo N >/sys/module/kunwind/parameters/sample_all
end
# Stock perf's, by frame pointers.
printf 'sample\tstock perf record -g, 20 frames\t%d\n' \
	"$(perf record -q -g -e cpu-clock -F 997 -o /tmp/bench-perf.data -- "$dir/event-fp" sampled)"
rmmod kunwind_bench
