#!/bin/bash
# SPDX-License-Identifier: MIT
#
# scripts/tap: what counts as passed, failed and skipped. A counter that misses
# a failure would hide all others.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh

counts=$(mktemp)
trap 'rm -f "$counts"' EXIT

# counts TAP "PASSED FAILED SKIPPED" WHAT
counts() {
	: >"$counts"
	printf '%b' "$1" | scripts/tap -v NAME=it -v COUNTS="$counts" >/dev/null
	is "$(cat "$counts")" "$2" "$3"
}

counts '1..2\nok 1\nok 2 - two\n' '2 0 0' 'all pass'
counts '1..2\nok 1\nnot ok 2\n' '1 1 0' 'one fails'
counts 'ok 1\nnot ok\n1..2\n' '1 1 0' 'a plan at the end, a test without a number'
counts '' '0 1 0' 'nothing at all is a failure'
counts 'ok 1\n' '1 1 0' 'no plan is a failure'
counts '1..3\nok 1\nok 2\n' '2 1 0' 'fewer tests than planned is a failure'
counts '1..1\nok 1\nok 2\n' '2 1 0' 'more tests than planned is a failure'
counts '1..2\nok 1\nBail out! no\n' '1 1 0' 'a bail-out is one failure'
counts '1..2\nok 1 # SKIP no gdb\nok 2\n' '1 0 1' 'a skipped test'
counts '1..0 # SKIP no gdb\n' '0 0 1' 'a skipped file'
counts '# suite a\n1..1\nok 1\n# suite b\n1..1\nnot ok 1\n' '1 1 0' 'two suites'
counts '# suite a\n1..1\nok 1\n# suite b\n' '1 1 0' 'the second never began'
counts '# suite a\n1..2\nok 1\n# end a\n# suite b\n1..1\nok 1\n' '2 1 0' 'the first ended early'
counts '1..4\nok 1\nBail out! no\n' '1 1 0' 'a bail-out is one failure, however many tests are missing'
counts '1..1\r\nok\r\n' '1 0 0' 'lines of a serial console'
counts '1..2\nok 1 # skip it\nok 2 #Skip\n' '0 0 2' 'a skipped test, in any case'
counts '1..1\nok 1\n1..2\nok 1\nok 2\n' '3 0 0' 'a suite of two plans'
counts '# suite a\n1..1\nok 1 # SKIP x\n# suite b\n1..1\nok 1\n' '1 0 1' 'a skipped test in the first of two suites'
counts '# suite a\n1..1\nBail out! no\n# suite b\n' '0 2 0' 'the first bails out, the second never began'
counts 'okay\nnot okay\n# ok 3\n1..1\nok 1\n' '1 0 0' 'other lines do not count'
done_testing
