#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The symbolizer's names against eu-addr2line's, on real objects: 3,000
# addresses spread over the code of each. A function may have several names;
# what must be equal is where it begins. Then: objects that are not what was
# asked for give no names.

symbolize=$1
tests=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

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

build_id() { readelf -nW "$1" | awk '/Build ID:/ { print $NF; exit }'; }

# Addresses in .text, evenly spread, but not at even distances only.
addresses() {
	local start size
	read -r start size < <(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' |
		awk '$1 == ".text" { print $3, $5 }')
	start=$((16#$start)) size=$((16#$size))
	awk -v start="$start" -v size="$size" \
		'BEGIN { for (i = 0; i < 3000; i++) printf "0x%x\n", start + int(i * size / 3000) }'
}

# address, where the function begins: "address offset" of both
compare() {
	local object=$1
	addresses "$object" >"$work/addresses"
	"$symbolize" "$object" "$(build_id "$object")" <"$work/addresses" |
		awk -F '\t' 'NR > 1 { print $1, $2 == "??" ? "-" : $3 }' >"$work/ours"
	eu-addr2line -S -e "$object" <"$work/addresses" |
		awk 'NR % 2 { n = split($1, part, "+"); print ($1 ~ /^\(|^\?/ ? "-" : n > 1 ? part[n] : "0x0") }' |
		paste -d ' ' "$work/addresses" - >"$work/theirs"
	is "$(diff "$work/theirs" "$work/ours")" "" "names in $object as eu-addr2line has them"
	named=$(grep -vc -- ' -$' "$work/ours")
	is "$([ "$named" -ge 300 ] && echo many)" many "$named of 3000 addresses have one"
}

for object in /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 \
	/usr/bin/python3.11 /lib64/ld-linux-x86-64.so.2; do
	[ -e "$object" ] && compare "$(readlink -f "$object")"
done

# static C++ functions, hence only in .symtab; demangled
cat >"$work/names.cc" <<'END'
namespace { struct inner { template <class T> __attribute__((noinline, used)) static T twice(T t) { asm volatile(""); return t + t; } }; }
int main(int argc, char **) { return inner::twice(argc) + (int)inner::twice((long)argc); }
END
g++ -O2 -Wl,--build-id "$work/names.cc" -o "$work/names"
address=0x$(nm "$work/names" | awk '/5twiceI?.*l/ { print $1; exit }')
got=$(echo "$address" | "$symbolize" "$work/names" "$(build_id "$work/names")" | cut -f 2 | tail -n 1)
is "$got" "long (anonymous namespace)::inner::twice<long>(long)" "a C++ name is demangled"
# what is not the object that was asked for
ask() { echo "$address" | "$symbolize" "$@" | cut -f 2 | tr '\n' ' '; }
id=$(build_id "$work/names")
is "$(ask /usr/bin/env "$id")" "3 ?? " "another build-id: no name"
is "$(ask "$work/names" "${id:0:38}")" "3 ?? " "half a build-id: no name"
is "$(ask "$work/names" -)" "4 ?? " "no build-id and no inode: no name"
is "$(ask /nonexistent "$id")" "1 ?? " "no file: no name"
is "$(ask /etc/passwd "$id")" "2 ?? " "no ELF file: no name"
is "$(ask /dev/zero "$id")" "2 ?? " "no regular file: no name"
is "$(ask "$work" "$id")" "2 ?? " "a directory: no name"
head -c 600 "$work/names" >"$work/cut"
got=$(ask "$work/cut" "$id")
is "${got#[0-9]}" " ?? " "a file that is cut off: no name"
strip "$work/names"
got=$(echo "$address" | "$symbolize" "$work/names" "$(build_id "$work/names")" | cut -f 2 | tail -n 1)
is "$got" "??" "a stripped function has no name, and no neighbour's"
entry=$(readelf -hW "$work/names" | awk '/Entry point/ { print $4 }')
is "$(echo "$entry" | "$symbolize" "$work/names" "$(build_id "$work/names")" | cut -f 4 | tail -n 1)" \
	entry "_start is an entry point without its name too"
echo "1..$tests"
[ "$failed" -eq 0 ]
