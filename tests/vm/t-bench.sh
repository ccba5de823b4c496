#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-bench.sh - the walk in the kernel costs at most twice what the kernel's own
# frame-pointer walk does, per frame of the same program's stack, in instructions
#
# The VM counts instructions (--icount), so the figure is exact and repeatable.
# Warm: the last of eight walks. A walk's fixed cost is in neither figure: they
# are slopes between 100 and 500 frames.
# The clock of such a VM runs with its instructions, and jumps when it is idle:
# seconds are none there.
# vm: --icount
# timeout: 1500

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/oracle/session.sh"
bench=$progs/bench

check "the module loads" modprobe kunwind
check "the counting module loads" modprobe kunwind_bench

# frames and instructions of a warm walk
count() { "$bench/$1" "$2" ${3:+"$3"} | cut -d' ' -f1,3; }
slope() { # COMMAND [register]
	local n1 c1 n2 c2
	read -r n1 c1 < <(count "$1" 100 ${2:+"$2"})
	read -r n2 c2 < <(count "$1" 500 ${2:+"$2"})
	diag "$1 $2: $n1 frames $c1, $n2 frames $c2"
	[ "${n2:-0}" -gt "${n1:-0}" ] && echo $((10 * (c2 - c1) / (n2 - n1))) >"$work/slope"
}

: >"$work/slope"
slope chain-fp ''
kernel=$(cat "$work/slope")
: >"$work/slope"
slope chain register
ours=$(cat "$work/slope")
diag "tenths of an instruction a frame: the kernel's frame pointers ${kernel:-none}, kunwind ${ours:-none}"
[ "${kernel:-0}" -gt 100 ] && [ "${ours:-0}" -gt 0 ]
verdict $? "both walks were counted"
[ "${ours:-99999}" -le $((2 * ${kernel:-0})) ]
verdict $? "kunwind takes at most twice the kernel's instructions a frame"

check "the counting module goes" rmmod kunwind_bench
check "the module is unloaded" rmmod kunwind
done_testing
