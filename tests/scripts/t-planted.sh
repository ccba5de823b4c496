#!/bin/bash
# SPDX-License-Identifier: MIT
#
# scripts/check-planted: what it counts as found, and what makes it fail. Runs it
# on a small tree with a file, two tests, and bugs.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree/scripts" "$tree/tests/planted/room" "$tree/tests/planted/other" "$tree/tests/scripts"
cp scripts/check-planted "$tree/scripts/"
printf 'one=1\ntwo=2\nsame\nsame\n' >"$tree/code.sh"
echo three=3 >"$tree/other.sh"
# the tests run in the copy of the tree
test_is() { # NAME COMMANDS
	printf '#!/bin/sh\necho 1..1\n%s\n' "$2" >"$tree/tests/scripts/$1.sh"
	chmod +x "$tree/tests/scripts/$1.sh"
}
test_is t-one 'grep -qx one=1 code.sh && echo ok 1 || echo not ok 1 - one is one'
test_is t-two 'grep -qx two=2 code.sh && echo ok 1 || { echo ok 1; exit 3; }'
test_is t-red 'echo not ok 1 - red'
test_is t-skip 'echo "1..0 # SKIP no such program"'
test_is t-silent 'exit 0'
sed -i 2d "$tree/tests/scripts/t-skip.sh" "$tree/tests/scripts/t-silent.sh"
git -C "$tree" init -q
# bug NAME TEST REMOVED ADDED: adds it to the list
bug() { printf '[%s] it does %s\ntest: %s\n@@ %s\n-%s\n+%s\n\n' "$1" "$1" "$2" "${5:-code.sh}" "$3" "$4" >>"$list"; }
planted() { # ARGUMENT...: sets out and status
	out=$(cd / && KUNWIND_CACHE=$work/cache "$tree/scripts/check-planted" "$@" 2>&1)
	status=$?
}
# a list of good bugs: 19 of 20 are found, which are 95 %
list=$tree/tests/planted/room/a.bugs
fill() { # NUMBER-FOUND NUMBER-MISSED
	local n
	: >"$list"
	for n in $(seq "$1"); do bug "found-$n" scripts/t-one one=1 "one=$((n + 1))"; done
	for n in $(seq "$2"); do bug "missed-$n" scripts/t-one two=2 "two=$((n + 2))"; done
}
fill 19 1
planted
is "$status $(tail -n 1 <<<"$out")" "0 20 planted, 19 found, 1 not found (room/missed-1), 0 explained" "95 % found is enough" || diag "$out"
like "$out" "NOT FOUND +room/missed-1: it does missed-1; by scripts/t-one" "what is not found is named"
fill 18 1
planted
is "$status $(tail -n 1 <<<"$out")" "1 the tests find fewer than 95 % of the bugs that change behaviour" "less is not"
is "$(cat "$tree/code.sh")" $'one=1\ntwo=2\nsame\nsame' "the tree itself is never changed"

fill 1 0
bug status scripts/t-two two=2 two=3
bug second "scripts/t-one scripts/t-two" two=2 two=4
planted
like "$status $out" "^0 .*found +room/second: scripts/t-two: status 3" "all tests of a bug are tried; a status without a failed test finds it, too" || diag "$out"
fill 1 0
bug elsewhere scripts/t-one three=3 three=4 other.sh
planted
like "$status $out" "^1 .*NOT FOUND +room/elsewhere" "a bug is removed before the next one is planted in another file"
fill 1 0
printf '[explained] why\nexplained: no behaviour\n@@ code.sh\n-one=1\n+one=01\n' >>"$list"
planted
is "$status $(tail -n 1 <<<"$out")" "0 2 planted, 1 found, 0 not found, 1 explained" "an explained bug is not tried"

fill 1 0
bug red scripts/t-red one=1 one=2
planted
like "$status $out" "^1 .*FAILS +scripts/t-red: without a bug.*not tried: room/red" "a test that fails without a bug finds nothing"
fill 1 0
bug skipped scripts/t-skip one=1 one=2
planted
like "$status $out" "^1 .*SKIPPED +scripts/t-skip.*not tried: room/skipped" "a test that is skipped finds nothing"
fill 1 0
bug silent scripts/t-silent one=1 one=2
planted
like "$status $out" "^1 .*FAILS +scripts/t-silent: without a bug: no test ran" "a test that says nothing is no test"

for kind in "none:nothing:not in code.sh" "twice:same:2 times in code.sh"; do
	IFS=: read -r name text why <<<"$kind"
	fill 1 0
	bug "$name" scripts/t-one "$text" changed
	planted --list
	like "$status $out" "^1 .*STALE +room/$name .*: the old text is $why.*2 planted, 1 stale" "--list: stale, $why"
	planted
	like "$status $out" "^1 .*not tried: room/$name" "a stale bug makes the check fail, $why"
done
fill 1 0
bug moved scripts/t-one one=1 one=2 before.sh
planted
like "$status $out" "^0 .*found +room/moved" "a file that was renamed is found by its text"
planted --list
is "$status $(tail -n 1 <<<"$out")" "0 2 planted, 0 stale, 0 explained" "--list: nothing is stale"

list=$tree/tests/planted/other/b.bugs
bug found-1 scripts/t-one one=1 one=2
planted --room other
is "$status $(tail -n 1 <<<"$out")" "0 1 planted, 1 found, 0 not found, 0 explained" "--room selects a folder"
planted 'room/m*'
is "$status $(tail -n 1 <<<"$out")" "0 1 planted, 1 found, 0 not found, 0 explained" "a pattern selects by room and name"
planted 'none/*'
is "$status" 2 "a pattern that selects nothing is wrong usage"
for wrong in '[a] b\n@@ code.sh\n-one=1\n+one=2\n' '[a] b\ntest: scripts/t-one\n' '[a] b\ntest: nothing/t\n@@ code.sh\n-one=1\n+one=2\n' \
	'[found-1] b\ntest: scripts/t-one\n@@ code.sh\n-one=1\n+one=2\n\n[found-1] b\ntest: scripts/t-one\n@@ code.sh\n-one=1\n+one=2\n' \
	'[a] b\ntest: scripts/t-one\n@@ code.sh\n one=1\n'; do
	printf "$wrong" >"$list"
	planted --list
	is "$status" 2 "a list that is not in the format is refused: $(head -n 2 <<<"$out" | tail -n 1 | cut -c 1-90)"
done
done_testing
