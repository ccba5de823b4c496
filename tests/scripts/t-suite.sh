#!/bin/bash
# SPDX-License-Identifier: MIT
#
# scripts/suite.sh: when a check of several suites fails, and what its last line
# says. A check that passes by mistake would hide each failure.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# suites COMMANDS: the last line and the status of a check that runs these suites
suites() {
	out=$(KUNWIND_CACHE=$work/cache bash -c "set -euo pipefail; . scripts/lib.sh; . scripts/suite.sh; $1; suites_end" 2>&1)
	status=$?
}
# ends COMMANDS STATUS "LAST LINE" DESCRIPTION
ends() {
	suites "$1"
	is "$status $(tail -n 1 <<<"$out")" "$2 $3" "$4" || diag "$out"
}
pass="printf '1..2\nok 1\nok 2\n'"
fail="printf '1..2\nok 1\nnot ok 2 - why\n'"
ends "suite_name=a suite a $pass" 0 "2 passed, 0 failed" "tests that pass"
ends "suite_name=a suite a $fail" 1 "1 passed, 1 failed" "a test that fails"
ends "suite_name=a suite a $pass; suite_name=b suite b $fail" 1 "3 passed, 1 failed" "counts of all suites are added"
ends "suite_name=a suite a $fail; suite_name=b suite b $pass" 1 "3 passed, 1 failed" "a good suite does not hide a bad one before it"
ends "suite_name=a suite a sh -c \"$pass; exit 3\"" 1 "2 passed, 1 failed" "a status that no test explains is a failure"
ends "suite_name=a suite a sh -c \"$fail; exit 1\"" 1 "1 passed, 1 failed" "a status that a test explains is not counted again"
ends "suite a true" 1 "0 passed, 1 failed" "a suite without output is a failure"
ends "suite_name=a suite a printf '1..1\nok 1 # SKIP no such program\n'" 1 "0 passed, 0 failed" "if all is skipped, the check fails"
ends "suite_name=a suite a printf '1..1\nok 1 # SKIP why\n'; suite_name=b suite b $pass" 0 "2 passed, 0 failed" "a skipped suite fails nothing"
like "$out" "1 skipped; the reasons are above" "and is counted"
ends ":" 1 "0 passed, 0 failed" "a check that runs no suite fails"
suites "suite_name=a suite a $pass; echo \"a \$suite_passed \$suite_failed \$suite_skipped\"; suite_name=b suite b $fail; echo \"b \$suite_passed \$suite_failed \$suite_skipped\""
like "$out" "a 2 0 0.*b 1 1 0" "the counts of one suite are its own"
suites "suite_name=a suite a sh -c 'echo to stderr >&2; echo 1..1; echo not ok 1 - why'"
like "$out" "not ok 1 - why.*\| to stderr.*logs: $work/cache/logs/check-a.log" "a failure shows its line, standard error and the logs"
suites "suite_name=a suite a sh -c 'echo to stderr >&2; echo 1..1; echo ok 1'"
is "$(grep -c stderr <<<"$out") $(cat "$work/cache/logs/check-a.log.err")" "0 to stderr" "a good suite does not, but they are in its log"
suites "filter() { sed 's/^# suite /# suite other-/'; }; suite_filter=filter; suite a printf '# suite x\n1..1\nok 1\n'"
like "$out" "ok +other-x: 1 passed" "suite_filter changes the names of suites"
done_testing
