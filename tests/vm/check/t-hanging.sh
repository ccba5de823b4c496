#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 600
# long: only
#
# t-hanging.sh - commands that read a trace, with files on FUSE file systems that do
# not answer; and the helper's sandbox on this kernel

. "$(dirname "$0")/../lib/tap.sh"
need gcc python3 nm readelf

modprobe fuse
# No answer may be skipped here.
check "FUSE file systems can be mounted" test -e /dev/fuse
tests/tools/hanging.py >"$KUNWIND_TMP/out"
sed 's/^\(ok\|not ok\) [0-9]*/\1/; /^1\.\./d' "$KUNWIND_TMP/out" >"$KUNWIND_TMP/tap"
tap_from "$KUNWIND_TMP/tap"
is "$(grep -c SKIP "$KUNWIND_TMP/out")" 0 "nothing is skipped"
gcc -O1 -D_GNU_SOURCE -Ilibkunwind/symbolize tests/symbolize/sandbox-test.c libkunwind/symbolize/helper_sandbox.c \
	-o "$KUNWIND_TMP/sandbox-test"
"$KUNWIND_TMP/sandbox-test" >"$KUNWIND_TMP/out"
sed 's/^\(ok\|not ok\) [0-9]*/\1/; /^1\.\./d' "$KUNWIND_TMP/out" >"$KUNWIND_TMP/tap"
tap_from "$KUNWIND_TMP/tap"
done_testing
