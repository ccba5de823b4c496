#!/bin/bash
# SPDX-License-Identifier: MIT
#
# scripts/check-bench: what it takes for worse, on lines such as the bench prints

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# bench BYTES INSTRUCTIONS LINES: what scripts/bench would print
bench() {
	printf 'table\tlibc.so.6\t183012\t3713\t28274\t300\t6\t67291\t%s\t36.8%%\t30.0\t90\t20\n' "$1"
	printf 'kernel\t22\tframe pointers (stock)\t2101\t-\n'
	printf 'kernel\t105\tkunwind warm\t%s\t46.0\n' "$2"
	printf 'lines\tall\t765\t16\tcold\t0.88\t1.00\t6.14\t1.15\t%s\n' "$3"
	printf 'lines\tgit\t75\t13\tcold\t0.88\t1.00\t6.14\t1.15\t%s\n' "$RANDOM"
	printf 'user\tall\t765\t16\tkunwind warm\t6.2\t0.92\t0.012\n'
}

# checks WHAT STATUS PATTERN: of "$work/now" against "$work/figures"
checks() {
	local out status
	out=$(scripts/check-bench --figures "$work/figures" --from "$work/now" 2>&1)
	status=$?
	like "status $status: $out" "^status $2:.*$3" "$1"
}

bench 2.38 5388 9.19 >"$work/now"
scripts/check-bench --figures "$work/figures" --from "$work/now" --accept >"$work/out"
is "$(cat "$work/out" | cut -d' ' -f1)" 3 "three of six lines are counted, and are ours"
checks "the same is good" 0 "3 figures counted, 0 of them bad"
bench 2.49 5600 9.6 >"$work/now"
checks "less than 5 % worse is good" 0 "0 of them bad"
bench 2.38 5712 9.19 >"$work/now"
checks "6 % more instructions are bad, and named" 1 "kernel: kunwind warm, 105.*5712 is worse than 5388 by 6.0 %"
checks "it says how to accept them" 1 "make bench-accept"
bench 2.53 5388 9.19 >"$work/now"
checks "6 % more bytes are bad" 1 "table: libc.so.6.*worse than 2.38"
bench 2.38 5388 9.75 >"$work/now"
checks "6 % more lines are bad" 1 "lines: all, cold.*worse than 9.19"
bench 2.38 5388 9.19 | grep -v ^table >"$work/now"
checks "a figure that is not there is bad" 1 "libc.so.6.*was not measured"
{ bench 2.38 5388 9.19; bench 2.38 5388 9.19 | sed 's/libc.so.6/libm.so.6/'; } >"$work/now"
checks "as is one that nobody committed" 1 "libm.so.6.*in no committed figure"
bench 2.0 5388 9.19 >"$work/now"
checks "better is good, and said" 0 "better: table: libc.so.6"
bench 2.38 5388 9.19 >"$work/now"
printf 'real\tall\t100\t0\t0\tfound\t1000\n' >>"$work/now"
scripts/check-bench --figures "$work/figures" --from "$work/now" --accept >"$work/out"
sed -i 's/found\t1000/found\t1240/' "$work/now"
checks "24 % more of the figure that depends on the order of processes is good" 0 "4 figures counted, 0 of them bad"
sed -i 's/found\t1240/found\t1260/' "$work/now"
checks "26 % more of it is bad" 1 "real: all, 100, found.*worse than 1000"
done_testing
