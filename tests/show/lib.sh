# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Sourced by the scripts of this directory. Creates a directory $work, which is
# removed at exit. is() prints TAP; $tests and $failed count the tests.

tests=0 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEBUGINFOD_URLS

is() { # GOT WANTED TEXT
	tests=$((tests + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $tests - $3"
	else
		echo "not ok $tests - $3"
		failed=$((failed + 1))
		printf 'got: %s\nwanted: %s\n' "$1" "$2" | head -n 30 | sed 's/^/# /'
	fi
}

build_id() { readelf -nW "$1" 2>/dev/null | awk '/Build ID:/ { print $NF; exit }'; }
