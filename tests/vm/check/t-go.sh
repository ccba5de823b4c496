#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-go.sh - stacks of a Go server under load, by the table of Go's linker
#
# The stacks at chosen system calls equal those of Go's own run-time system. Of all system
# calls, context switches and samples, nearly all stacks are complete. The same for a program
# that is stripped, and for one that is position-independent.
# timeout: 600

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

for program in "$programs/server-go" "$work/server-stripped" "$programs/server-pie-go"; do
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
kunwind report --json "$work/all" >"$work/all.json" 2>"$work/all.err"
share=$(/usr/bin/python3 - "$work/all.json" <<-'END'
	import json, sys
	with open(sys.argv[1], encoding="utf-8") as file:
	    trace = json.load(file)["trace"]
	print(trace["stacks"], 1000 * trace["stacks_complete"] // max(trace["stacks"], 1))
END
)
diag "stacks, and complete ones in a thousand: $share"
kunwind report --by reason "$work/all" 2>/dev/null | sed -n '/^Ends of stacks/,$s/^/# /p'
# shellcheck disable=SC2086
set -- $share
verdict "$(($1 < 1000))" "kunwind record: at least 1,000 stacks"
# The others mostly end in runtime.morestack (docs/limits.md).
verdict "$(($2 < 985))" "kunwind record: at least 98.5 % of them are complete"
check "the module is unloaded" rmmod lttng-probe-kunwind kunwind
done_testing
