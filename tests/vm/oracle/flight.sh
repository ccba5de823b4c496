# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions of the VM's tests for kunwind record --flight. Sourced.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"

# Goes to the test's directory, builds slow-call there, and loads the module. $json is
# the program that checks JSON.
flight_begin() {
	need lttng babeltrace2 kunwind gcc
	local fixtures=$PWD/tests/vm/fixtures
	json=$PWD/tests/tools/json_output.py
	cd "$KUNWIND_TMP" || exit 1
	gcc -O2 -fomit-frame-pointer -o slow-call "$fixtures/slow-call.c" || { echo "Bail out! the program does not build"; exit 1; }
	check "the module loads" modprobe kunwind
}
# functions TRACE EVENT [PID [FIELD]]: prints the functions in the stack of the first
# such event, innermost first
functions() {
	kunwind show --tsv --event "$2" ${3:+--pid "$3"} "$1" | awk -F '\t' -v field="${4-}" '
		$1 == "event" { if (found) exit; found = index(" " $9 " ", field) }
		$1 == "frame" && found { printf "%s ", $5 == "" ? "?" : $5 }'
}
# last_functions TRACE EVENT PID: the same for the last such event of a process
last_functions() {
	kunwind show --tsv --event "$2" --pid "$3" "$1" | awk -F '\t' '
		$1 == "event" { line = "" }
		$1 == "frame" { line = line ($5 == "" ? "?" : $5) " " }
		END { print line }'
}
# Starts a recorder in the background; returns when it is ready. $recorder is its PID.
start_recorder() { # OPTION...
	kunwind record --json "$@" 2>err &
	recorder=$!
	until grep -q '"flight"' err || ! kill -0 $recorder 2>/dev/null; do sleep 0.1; done
}
snapshots() { find "$1" -maxdepth 1 -name 'snapshot-*' 2>/dev/null | wc -l; }
has_snapshots() { [ "$(snapshots "$1")" -ge "$2" ] && grep -q '"why": "SIGUSR1"' err; }
