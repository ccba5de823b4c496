# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Runs suites of tests, which print TAP, and counts the results. Every script
# that runs tests sources this file after lib.sh.
#
#   suite NAME COMMAND...   runs COMMAND, which prints TAP, with the log
#                           check-NAME.log. suite_name: the suite's name, for
#                           TAP that names none. suite_filter: a function that
#                           the TAP passes first. Sets suite_passed,
#                           suite_failed and suite_skipped
#   suites_end              prints the number of skipped tests, if any, then
#                           "N passed, N failed" as the last line; true if no
#                           test failed and at least one passed
#
# V=1 in the environment shows every line of TAP. docs/testing.md explains it.

suites=$(mktemp)
trap 'rm -f "$suites"' EXIT

# A suite also fails if its status is not 0 although no test failed, or if it
# ran no test.
suite() {
	local name=$1 log=$KUNWIND_LOGS/check-$1.log before status t0=$SECONDS
	shift
	mkdir -p "$KUNWIND_LOGS"
	before=$(wc -l <"$suites")
	set +e
	"$@" 2>"$log.err" </dev/null | tee "$log" | ${suite_filter:-cat} |
		scripts/tap -v NAME="${suite_name-}" -v COUNTS="$suites" -v VERBOSE="${V:-}"
	status=${PIPESTATUS[0]}
	set -e
	read -r suite_passed suite_failed suite_skipped < <(suites_sum $((before + 1)))
	if [ "$suite_failed" -eq 0 ] &&
	   { [ "$status" -ne 0 ] || [ $((suite_passed + suite_skipped)) -eq 0 ]; }; then
		say "  not ok $name: status $status, $suite_passed passed, none failed: a test or its runner ended early"
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
	[ "$skipped" -eq 0 ] || say "$skipped skipped; the reasons are above"
	say "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
