#!/bin/bash
# SPDX-License-Identifier: MIT
# t-live.sh - kunwind show names functions that no file on disk has: code that
# node compiled, from the perf-PID.map that node writes; and programs whose
# files are deleted, or replaced as by an upgrade, while the programs run
# long: only
# timeout: 300

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc node

progs=$PWD/tests/vm/fixtures
cd "$KUNWIND_TMP" || exit 1
unset DEBUGINFOD_URLS
check "the module loads" modprobe kunwind

# ------------------------------------------------ node
kunwind record -q -e openat -o node -- node --perf-basic-prof "$progs/node.js" >maps 2>err
is "$?" 0 "kunwind record of node exits with status 0" || diag "$(cat err)"
kunwind show --tsv --event syscall_entry_openat node >shown
pid=$(awk -F '\t' '$1 == "event" && /\/nowhere\/kunwind-/ { print $6; exit }' shown)
check "node writes /tmp/perf-PID.map" test -s "/tmp/perf-$pid.map"
# Each name that is from the map must be that of the last line of the map that
# holds the address.
awk -F '\t' -v map="/tmp/perf-$pid.map" '$1 == "frame" && $7 == map { print $3 == 0, $4, $6, $5 }' shown |
	sort -u >ours
cat >against.py <<'END2'
import sys
lines = []
for line in open(sys.argv[1], errors="replace"):
    start, size, name = line.rstrip("\n").split(" ", 2)
    lines.append((int(start, 16), int(size, 16), name))
compared = wrong = 0
for line in sys.stdin:
    exact, address, offset, name = line.rstrip("\n").split(" ", 3)
    at = int(address, 16) - (exact == "0")
    true = [(start, known) for start, size, known in lines if start <= at < start + size]
    compared += 1
    if not true or true[-1][1] != name or int(address, 16) - true[-1][0] != int(offset, 16):
        wrong += 1
        print("#", address, name, offset, true)
print(compared >= 3, wrong)
END2
is "$(/usr/bin/python3 against.py "/tmp/perf-$pid.map" <ours | tail -n 1)" "True 0" \
	"$(wc -l <ours) names of code that node compiled are as in its map" || diag "$(head -n 5 ours)"
# Compiled code makes the last opens. A call of recurse() has one or two frames.
deepest=$(awk -F '\t' -v map="/tmp/perf-$pid.map" '
	$1 == "event" { at = /\/nowhere\/kunwind-399/ }
	at && $1 == "frame" && $7 == map && $5 ~ /recurse.*node\.js/ { n++ }
	END { print n + 0 }' shown)
check "the last stack names the compiled recurse() $deepest times" test "$deepest" -ge 15
is "$(kunwind show --tsv --no-local --event syscall_entry_openat node |
	awk -F '\t' '$1 == "frame" && $7 ~ /perf-/' | wc -l)" 0 "--no-local: no name is from a map of this host"
touch -d '1 hour ago' "/tmp/perf-$pid.map"
is "$(kunwind show --tsv --event syscall_entry_openat node |
	awk -F '\t' '$1 == "frame" && $7 ~ /perf-/' | wc -l)" 0 "map older than the process: no name is from it"

# ------------------------------------------------ deleted and replaced files
functions() { # TRACE
	kunwind show --tsv --event syscall_entry_gettid --pid "$pid" --limit 1 "$1" |
		awk -F '\t' '$1 == "frame" { printf "%s ", $5 == "" ? "?" : $5 }'
}
start_waiting() { # PROGRAM
	rm -f in
	mkfifo in
	"$1" wait <in &
	pid=$!
	exec {go}>in
	until grep -qs pipe_read "/proc/$pid/stack" && [ "$(cat "/proc/$pid/comm")" = chain ]; do sleep 0.1; done
}
record_once() { # TRACE
	kunwind record -q -e gettid -o "$1" -p "$pid" {go}>&- &
	recorder=$!
	until lttng list "kunwind-record-$recorder" 2>/dev/null | grep -qF '[active]'; do sleep 0.2; done
	sleep 0.5
	echo >&"$go"
	sleep 0.5
	kill -INT $recorder
	wait $recorder
}
chain="fct_c fct_b fct_a main"
for how in deleted replaced; do
	mkdir $how
	gcc -O2 -fomit-frame-pointer -o $how/chain "$progs/show-chain.c"
	start_waiting "$KUNWIND_TMP/$how/chain"
	if [ $how = deleted ]; then
		rm $how/chain
	else
		gcc -O1 -fomit-frame-pointer -o $how/new "$progs/show-chain.c" && mv $how/new $how/chain
	fi
	record_once $how/trace
	like "$(functions $how/trace)" "$chain" "program file $how while it runs: names are those of the running program"
	exec {go}>&-
	wait "$pid"
	is "$(functions $how/trace | grep -c fct_)" 0 "program file $how, program ended: no function has a name"
done
done_testing
