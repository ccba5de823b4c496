# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What every script that runs tests has in common: it runs suites, which print
# TAP, and ends with the counts. Sourced after lib.sh.
#
#   suite NAME COMMAND...   COMMAND prints TAP; its log is check-NAME.log. With
#                           suite_name set, that is the suite's name, for TAP that
#                           names none; with suite_filter, a function that the TAP
#                           goes through first. suite_passed, _failed, _skipped say how it went
#   suites_end              how many were skipped, if any, then "N passed, N failed"
#                           as the last line; true when none failed and some passed
#
# V=1 in the environment shows every line of TAP. How to read it: docs/testing.md

suites=$(mktemp)
trap 'rm -f "$suites"' EXIT
mkdir -p "$KUNWIND_LOGS"

# A status other than 0 without a failed test is a failure too, as is no test at all.
suite() {
	local name=$1 log=$KUNWIND_LOGS/check-$1.log before status t0=$SECONDS
	shift
	before=$(wc -l <"$suites")
	set +e
	"$@" 2>"$log.err" </dev/null | tee "$log" | ${suite_filter:-cat} |
		scripts/tap -v NAME="${suite_name-}" -v COUNTS="$suites" -v VERBOSE="${V:-}"
	status=${PIPESTATUS[0]}
	set -e
	read -r suite_passed suite_failed suite_skipped < <(suites_sum $((before + 1)))
	if [ "$suite_failed" -eq 0 ] &&
	   { [ "$status" -ne 0 ] || [ $((suite_passed + suite_skipped)) -eq 0 ]; }; then
		say "  not ok $name: ended with status $status"
		echo "0 1 0" >>"$suites"
		suite_failed=1
	fi
	if [ "$suite_failed" -ne 0 ]; then
		tail -n 25 "$log.err" | sed 's/^/    | /'
		say "  logs: $log $log.err"
	fi
	say "  $name took $((SECONDS - t0)) s"
}

suites_sum() { # FROM-LINE
	tail -n "+$1" "$suites" |
		awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }'
}

suites_end() {
	local passed failed skipped
	read -r passed failed skipped < <(suites_sum 1)
	[ "$skipped" -eq 0 ] || say "$skipped skipped, for the reasons above"
	say "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
