#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-nocfi.sh - stacks through code without unwind information
#
# Hand-written functions, code in anonymous memory, musl (static and dynamic,
# the return from a signal handler, a thread blocked in poll()), node's JIT; and
# return addresses that return probes replaced.
# timeout: 300

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 nm readelf

build_progs
check "the module loads" modprobe kunwind
scene() { # PROGRAM WHAT
	"$progs/$1" >"$work/$1.out" 2>"$work/$1.err"
	is "$?" 0 "$2: exits with status 0"
	diag "$2"
	adopt /usr/bin/python3 "$oracle/nocfi.py" "$progs/$1" <"$work/$1.out"
}
for program in "$progs"/nocfi-*; do
	scene "${program##*/}" "${program##*/}"
done

# frames found only by a search of the stack are for consumers that ask for them
is "$(cat /sys/module/kunwind/parameters/guess)" N "parameter guess is off by default"

# return probes, one of them twice on the same function
tracefs=/sys/kernel/tracing
probed=$progs/nocfi-gcc-O2
offset() { # FUNCTION: its offset in the file, which in this PIE is its address
	nm "$probed" | awk -v name="$1" '$3 == name { print "0x" $1 }'
}
{
	echo "r:kunwind/above $probed:$(offset blocks_above)"
	echo "r:kunwind/above2 $probed:$(offset blocks_above)"
	echo "r:kunwind/thread $probed:$(offset thread)"
	echo "r:kunwind/first $probed:$(offset first)"
	echo "r:kunwind/raises $probed:$(offset raises)"
} >"$tracefs/uprobe_events"
echo 1 >"$tracefs/events/kunwind/enable"
scene nocfi-gcc-O2 "with return probes"
like "$(grep -c uretprobe "$work/nocfi-gcc-O2.out")" '^([6-9]|[1-9][0-9])$' "frames are found above functions with return probes"
echo 0 >"$tracefs/events/kunwind/enable"
echo >"$tracefs/uprobe_events"

# node. With a quarter of the budget, the first walk on each CPU through the
# code of V8's built-in functions spends all of it on reading that code, and
# ends with "budget_spent" (docs/limits.md).
early=0
! is_rt || early=$(nproc)
if command -v node >/dev/null; then
	session_begin "$work/node" --syscall openat
	verdict $? "LTTng session of openat starts"
	kunwind run -- node "$here/fixtures/node.js" >"$work/node.maps" 2>"$work/node.err"
	is "$?" 0 "node.js: node exits with status 0"
	session_end
	adopt /usr/bin/python3 "$oracle/node.py" "$work/node" "$work/node.maps" 40 "$early"

	# An inlined function has no frame of its own. Maglev, the first of two
	# compilers, inlines by default since node 22.
	inlining=(--no-turbo-inlining)
	! node --v8-options | grep -q -- '--maglev-inlining ' || inlining+=(--no-maglev-inlining)
	session_begin "$work/nested" --syscall openat
	kunwind run -- node --perf-basic-prof --interpreted-frames-native-stack "${inlining[@]}" \
		"$here/fixtures/node-nested.js" >"$work/nested.maps" 2>"$work/nested.err"
	is "$?" 0 "node-nested.js: node exits with status 0"
	session_end
	adopt /usr/bin/python3 "$oracle/node.py" "$work/nested" "$work/nested.maps" nested "$early"
	rm -f "/tmp/perf-$(awk '$1 == "pid" { print $2 }' "$work/nested.maps").map"
else
	skip "node" "not installed"
fi
kunwind status --tsv | grep -E '^(reason|method|param.guess)' | sed 's/^/# /'
check "the module is unloaded" rmmod kunwind
done_testing
