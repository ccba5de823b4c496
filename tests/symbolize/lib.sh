# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Sourced by the scripts of this directory. Creates a directory $work, which is
# removed at exit.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEBUGINFOD_URLS

build_id() { readelf -nW "$1" 2>/dev/null | awk '/Build ID:/ { print $NF; exit }'; }
