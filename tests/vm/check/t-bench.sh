#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-bench.sh - the cost of kunwind, in instructions
# vm: --icount
# timeout: 300
#
# Limits:
# - the walk in the kernel takes no more instructions a frame than the kernel's
#   own frame-pointer walk of the same program's stack
# - one more mapping costs at most a quarter more with 4,000 mappings than with 1,000
# - if nothing is traced, a system call costs nothing more, and the life of
#   /bin/true costs at most 2 % more with the whole system registered
#
# The VM counts instructions (--icount), so the figures are exact and
# repeatable. A walk is warm: it is the last of eight walks. The fixed cost of a
# walk is in neither figure, because they are slopes between 100 and 500 frames.
#
# A life is a fork, exec and exit, with the kernel's later work for it (grace
# periods, workers). Lives differ, so the test compares medians of many lives,
# with and without kunwind by turns. Program and libraries are in a tmpfs,
# because waiting for the host's disk would count. The clock of such a VM counts
# instructions and jumps when the VM is idle, so it measures no seconds.

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
bench=$progs/bench

root=/run/t-bench
mkdir -p $root/bin $root/lib64 $root/lib/x86_64-linux-gnu
cp /bin/true "$bench/spawn" $root/bin/
cp -L /lib64/ld-linux-x86-64.so.2 $root/lib64/
cp -L /lib/x86_64-linux-gnu/libc.so.6 $root/lib/x86_64-linux-gnu/
# Addresses are not randomised, because a life costs 1 % less if two mappings
# happen to share a page table.
lives() { setarch -R chroot $root /bin/spawn "$1" /bin/true; }
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
# Workers add rows from code to tables that are in use already, also to those of other
# programs. Returns when no table has grown for a second.
tables_settle() {
	local rows before=-1 same=0
	while [ $same -lt 10 ]; do
		rows=$(kunwind status --tsv | awk -F '\t' '$2 == "table_rows" { print $3 }')
		same=$((rows == before ? same + 1 : 0))
		before=$rows
		sleep 0.1
	done
}

lives 20 >/dev/null	# fills the caches
calls=() without=() with=()
for _ in 1 2 3; do
	without+=("$(lives 60)")
	calls+=("$("$bench/event")")
	modprobe kunwind
	calls+=("$("$bench/event")")
	kunwind system-wide on
	lives 20 >/dev/null	# builds the tables
	tables_settle
	with+=("$(lives 60)")
	calls+=("$("$bench/event")")
	[ "$(kunwind system-wide)" = on ] || not_ok "system_wide is still on after the lives"
	rmmod kunwind
done
is "$(printf '%s\n' "${calls[@]}" | sort -u | grep -c .) $(grep -c '[1-9]' <<<"${calls[0]}")" "1 1" \
	"a system call costs the same without the module, with it, and with system_wide on"
diag "instructions of getppid: ${calls[*]}"
a=$(median "${without[@]}") b=$(median "${with[@]}")
diag "instructions of a life of true: without kunwind ${without[*]}, with system_wide on ${with[*]}: $(((b - a) * 10000 / a)) of 10,000 more"
[ "$a" -gt 100000 ] && [ "$b" -le $((a * 102 / 100)) ]
verdict $? "the life of /bin/true costs at most 2 % more with system_wide on"

check "the module loads" modprobe kunwind
check "the counting module loads" modprobe kunwind_bench

# The frames and instructions of a warm walk.
count() { "$bench/$1" "$2" ${3:+"$3"} | cut -d' ' -f1,3; }
# Writes the tenths of an instruction that a frame takes to the file slope.
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
verdict $? "the instructions of both walks are plausible"
[ "${ours:-99999}" -le "${kernel:-0}" ]
verdict $? "kunwind's walk takes no more instructions a frame than the kernel's"

a=$("$bench/mappings" 1000) b=$("$bench/mappings" 4000)
diag "one more executable mapping: $a instructions if there are 1,000, $b if there are 4,000"
[ "${a:-0}" -gt 10000 ] && [ "${b:-0}" -gt 10000 ] && [ "$b" -le $((a * 5 / 4)) ]
verdict $? "one more mapping costs at most a quarter more with 4,000 mappings than with 1,000"

check "the counting module is unloaded" rmmod kunwind_bench
check "the module is unloaded" rmmod kunwind
done_testing
