#!/bin/bash
# SPDX-License-Identifier: MIT
#
# wrong-uses.sh - runs the table wrong-uses: message, exit status, and what is left behind
#
#   wrong-uses.sh        lines "any", and "no-module" if the module is not loaded
#   wrong-uses.sh vm     lines "vm", and "any" with KUNWIND_LONG=1; t-wrong-uses.sh calls it so

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
export XDG_STATE_HOME=/nonexistent	# no recording is remembered
wanted=any
if [ "${1-}" = vm ]; then
	wanted="vm ${KUNWIND_LONG:+any}"
else
	[ -e /dev/kunwind ] || wanted="any no-module"
	PATH=$(realpath ../../tools/build):$PATH
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/start" "$work/tmp"
/usr/bin/python3 - "$work/start" <<'END'
import os, sys, ctf
for name in ("trace", "cut", "old"):
    trace = ctf.Trace()
    for time in range(4):
        trace.add(1 + time, "tick", (1, 1, "app"))
    path = os.path.join(sys.argv[1], name)
    sizes = trace.write(path, packets=2)
    if name == "cut":
        os.truncate(os.path.join(path, "channel_0"), sizes[-1] - 10)
    if name == "old":
        with open(os.path.join(path, "metadata"), "wb") as file:
            file.write(bytes.fromhex("571dd175") + bytes(10))
END
(cd "$work/start" && mkdir empty full && touch full/something && echo text >file && echo true >script && ln -s loop loop)

# Prints all files, and what outlives a command in the kernel and in the session daemon.
state() {
	(cd "$work/now" && find . "$work/tmp" | sort)
	[[ $wanted != vm* ]] || {
		kunwind status --tsv | grep '^process' | cut -f 3
		lttng list 2>/dev/null | grep -E '^ +[0-9]+\)'
	}
}

# Each use starts with a fresh copy of "start" in "now". So $work/before stays
# valid, and is written again only after a use that left something behind.
fresh() {
	rm -rf "$work/now"
	cp -a "$work/start" "$work/now"
}
lines=0
fresh
state >"$work/before"
while IFS=$'\t' read -r where status message left command; do
	[[ $where != '#'* && " $wanted " == *" $where "* ]] || continue
	lines=$((lines + 1))
	(cd "$work/now" && TMPDIR=$work/tmp timeout 60 sh -c "$command" >/dev/null 2>"$work/err" </dev/null)
	got=$?
	said=$(tr '\n' ' ' <"$work/err")
	# a registration ends soon after its process
	for _ in {1..30}; do
		new=$(state | diff "$work/before" - | sed -n 's/^[<>] //p' | tr '\n' ' ')
		[ "${new:--}" != "$left" ] || break
		sleep 0.1
	done
	if [ "$got" = "$status" ] && [[ $said =~ $message ]] && [ "${new:--}" = "$left" ]; then
		ok "$command"
	else
		not_ok "$command"
		diag "status $got, wanted $status; message: $said"
		diag "wanted: $message"
		diag "left behind: $new"
	fi
	fresh
	[ -z "$new" ] || state >"$work/before"
done <wrong-uses
check "the table has been read" test "$lines" -ge 15
done_testing
