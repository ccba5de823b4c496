#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-bench.sh - what kunwind costs, in instructions: the walk in the kernel no more
# than what the kernel's own frame-pointer walk does, per frame of the same
# program's stack; one more mapping in proportion to how many there are; with nothing
# traced a system call nothing at all, and the life of /bin/true 2 % at most with the
# whole system registered
#
# The VM counts instructions (--icount), so the figures are exact and repeatable.
# Warm: the last of eight walks. A walk's fixed cost is in neither figure: they
# are slopes between 100 and 500 frames.
# A life is a fork, exec and exit, with what the kernel does for it later (grace
# periods, workers), so one is not as long as another: many, by turns, and medians.
# Program and libraries lie in a tmpfs, for waiting for the host's disk would count.
# The clock of such a VM runs with its instructions, and jumps when it is idle:
# seconds are none there.
# vm: --icount
# timeout: 1500

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/oracle/session.sh"
bench=$progs/bench

root=/run/t-bench
mkdir -p $root/bin $root/lib64 $root/lib/x86_64-linux-gnu
cp /bin/true "$bench/spawn" $root/bin/
cp -L /lib64/ld-linux-x86-64.so.2 $root/lib64/
cp -L /lib/x86_64-linux-gnu/libc.so.6 $root/lib/x86_64-linux-gnu/
# without randomised addresses: whether two mappings share a page table is worth 1 %
lives() { setarch -R chroot $root /bin/spawn "$1" /bin/true; }
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

lives 20 >/dev/null	# caches
calls=() without=() with=()
for _ in 1 2 3; do
	without+=("$(lives 60)")
	calls+=("$("$bench/event")")
	modprobe kunwind
	calls+=("$("$bench/event")")
	kunwind auto on
	lives 20 >/dev/null	# tables
	with+=("$(lives 60)")
	calls+=("$("$bench/event")")
	[ "$(kunwind auto)" = on ] || not_ok "the whole system is registered"
	rmmod kunwind
done
is "$(printf '%s\n' "${calls[@]}" | sort -u | wc -l)" 1 \
	"a system call takes the same without the module, with it, with the whole system"
diag "getppid: ${calls[*]}"
a=$(median "${without[@]}") b=$(median "${with[@]}")
diag "a life of true: without ${without[*]}, the whole system ${with[*]}: $(((b - a) * 10000 / a)) of 10,000 more"
[ "$a" -gt 100000 ] && [ "$b" -le $((a * 102 / 100)) ]
verdict $? "a life takes at most 2 % more with the whole system registered"

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
[ "${ours:-99999}" -le "${kernel:-0}" ]
verdict $? "kunwind takes no more than the kernel's instructions a frame"

a=$("$bench/mappings" 1000) b=$("$bench/mappings" 4000)
diag "one more executable mapping beside 1,000: $a instructions, beside 4,000: $b"
[ "${a:-0}" -gt 0 ] && [ "${b:-0}" -gt "$a" ] && [ "$b" -le $((6 * a)) ]
verdict $? "a mapping costs no more than in proportion to how many there are"

check "the counting module goes" rmmod kunwind_bench
check "the module is unloaded" rmmod kunwind
done_testing
