#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-uprobes.sh - stacks at uprobes in code without unwind information: C and Go;
# and stacks of page faults in the instruction that a uprobe replaced
#
# A uprobe at each function's entry replaces its first instruction, which walks
# need to read. ftrace records the user stacks. The right call chain is known
# from the source.
# timeout: 300

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need nm

build_progs
tracing=/sys/kernel/tracing
rounds=200

faults=
stacks() { # PROGRAM CHAIN FUNCTION=SYMBOL...; $faults: the event that has the stacks
	local program=$1 chain=$2 pair offset segment at
	shift 2
	echo 0 >$tracing/tracing_on
	echo >$tracing/trace
	for pair; do
		at=0x$(nm "$program" | awk -v n="${pair#*=}" '$3 == n { print $1; exit }')
		# offset in the file = address - address of the code segment +
		# its offset
		read -r offset segment < <(readelf -lW "$program" | awk '$1 == "LOAD" && / E / { print $2, $3 }')
		printf 'p:uprobed/%s %s:%#x\n' "${pair%=*}" "$program" $((at - segment + offset)) \
			>>$tracing/uprobe_events
	done
	echo 1 >$tracing/events/uprobed/enable
	[ -z "$faults" ] || echo 1 >"$tracing/events/exceptions/$faults/enable"
	echo 1 >$tracing/options/userstacktrace
	echo 0 >$tracing/options/sym-userobj
	echo 1 >$tracing/tracing_on
	kunwind run "$program" $rounds >/dev/null
	is $? 0 "${program##*/} exits with status 0"
	echo 0 >$tracing/tracing_on
	cp $tracing/trace "$work/trace"
	echo 0 >$tracing/options/userstacktrace
	echo 0 >$tracing/events/uprobed/enable
	[ -z "$faults" ] || echo 0 >"$tracing/events/exceptions/$faults/enable"
	echo >$tracing/uprobe_events
	adopt /usr/bin/python3 "$oracle/uprobes.py" "$program" "$work/trace" "$chain" $rounds $faults
}

echo 8192 >$tracing/buffer_size_kb
check "the module loads" modprobe kunwind
for program in "$progs"/uprobed-*; do
	stacks "$program" leaf,through,outer,main leaf=leaf through=through outer=outer
done
if [ -e "$here/../../build/programs/uprobed-go" ]; then
	stacks "$here/../../build/programs/uprobed-go" \
		main.leaf,main.through,main.outer,main.main,runtime.main \
		leaf=main.leaf through=main.through outer=main.outer
else
	skip "uprobed-go" "Go is not installed"
fi
# The kernel executes a copy of the replaced instruction in another page.
faults=page_fault_user
stacks "$progs/faulting" touching,outer,main touching=touching
check "the module is unloaded" rmmod kunwind
done_testing
