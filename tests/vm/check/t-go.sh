#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-go.sh - stacks of a Go server under load, by the table of Go's linker
#
# The stacks at chosen system calls equal those of Go's own run-time system. Of all system
# calls, context switches and samples, nearly all stacks are complete. The same for a program
# that is stripped, for one that is position-independent, and for one that the C linker has linked.
# timeout: 600
# long: only

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 strip python3
programs=$here/../../build/programs
[ -x "$programs/server-go" ] || {
	echo "1..0 # SKIP Go is not installed"
	exit 0
}
check "the module loads" modprobe kunwind
cp "$programs/server-go" "$work/server-stripped"
strip "$work/server-stripped"

for program in "$programs/server-go" "$work/server-stripped" "$programs/server-pie-go" \
	"$programs/server-cgo-go"; do
	name=${program##*/}
	session_begin "$work/$name.trace" --syscall close
	verdict $? "$name: LTTng session of close starts"
	kunwind run -- setarch -R "$program" >"$work/$name.out" 2>"$work/$name.err"
	is "$?" 0 "$name: exits with status 0"
	session_end
	diag "$name"
	adopt /usr/bin/python3 "$oracle/go.py" "$work/$name.trace" "$work/$name.out"
done

kunwind record -q -F 199 -o "$work/all" -- "$programs/server-go" >"$work/all.out" 2>"$work/all.err"
is "$?" 0 "kunwind record: exits with status 0"
kunwind show "$work/all" >"$work/all.txt" 2>"$work/all.err"
# The last frame of each stack that is not complete, and the reason
awk '/^ +#/ { last = $3 } /the stack ends here/ { print last, $NF }' "$work/all.txt" | sed 's/+0x[0-9a-f]*//' |
	sort | uniq -c | sort -rn | head -n 10 | sed 's/^/# /'
stacks=$(grep -c '^ *#0 ' "$work/all.txt")
ends=$(grep -c "the stack ends here" "$work/all.txt")
diag "$stacks stacks, $ends end early"
verdict "$((stacks < 1000))" "kunwind record: at least 1,000 stacks"
verdict "$((ends * 200 > stacks))" "kunwind record: at most 0.5 % end early"
check "the module is unloaded" rmmod lttng-probe-kunwind kunwind
done_testing
