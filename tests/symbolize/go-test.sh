#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Names, inlined functions and lines of a stripped Go program, from the table of
# Go's linker: they equal those from debug information, and those of "go tool
# addr2line". The same for a position-independent program. A damaged table gives other names or
# none.
#
#   go-test.sh SYMBOLIZE PARSE

symbolize=$1 parse=$2
# shellcheck source=tests/symbolize/lib.sh
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || {
	echo "1..0 # SKIP Go is not installed"
	exit 0
}
cat >"$work/main.go" <<'END'
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type shape struct{ sides, length int }

func (s shape) size() int  { return s.sides * s.length }
func double(n int) int     { return n + n }
func wide(s shape) int     { return double(double(s.size())) }
func (s *shape) grow() int { s.length = wide(*s); return s.length }

//go:noinline
func total(all []shape) (n int) {
	for i := range all {
		n += all[i].grow() + wide(all[i])
	}
	sort.Slice(all, func(i, j int) bool { return wide(all[i]) < wide(all[j]) })
	return n
}

func main() {
	all := []shape{{3, len(os.Args)}, {4, 5}}
	fmt.Println(total(all), strings.Repeat("x", total(all)%7))
}
END
id=0123456789abcdef0123456789abcdef01234567

# Prints 2,000 addresses in .text.
addresses() { # OBJECT
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" { print $3, $5 }' |
		while read -r start size; do
			awk -v start=$((16#$start)) -v size=$((16#$size)) \
				'BEGIN { for (i = 0; i < 2000; i++) printf "0x%x\n", start + int(i * size / 2000) }'
		done
}
# Prints each answer in one line. Go's table names assembler without ".abi0", and leaves out the
# types of generic functions.
answers() { # OBJECT
	"$symbolize" -i "$1" "$id" <"$work/addresses" 2>/dev/null |
		awk 'NR == 1 { next } /^0x/ { if (line != "") print line; line = $0; next } { line = line "|" $0 }
		     END { print line }' | sed -E 's/\.abi0\t/\t/g; s|\t\./<auto|\t<auto|g; s/\[[^|\t]*\]/[...]/g'
}
for mode in exe pie; do
	(cd "$work" && GO111MODULE=off CGO_ENABLED=0 go build -buildmode=$mode -ldflags "-B 0x$id" -o $mode main.go)
	strip -o "$work/$mode-stripped" "$work/$mode"
	addresses "$work/$mode" >"$work/addresses"
	answers "$work/$mode" >"$work/full"
	answers "$work/$mode-stripped" >"$work/stripped"
	is "$(diff "$work/full" "$work/stripped" | head -n 6)" "" "$mode: without debug information, names and lines are the same"
	named=$(grep -vc '??' "$work/stripped") inlined=$(grep -c '|.*|' "$work/stripped")
	verdict "$((named < 1500))" "$mode: at least 1,500 of 2,000 addresses have a name ($named)"
	verdict "$((inlined < 150))" "$mode: at least 150 addresses are in inlined functions ($inlined)"
done
# The innermost line and the outermost function, by Go's own program.
addresses "$work/exe" >"$work/addresses"
answers "$work/exe-stripped" |
	awk -F '|' '{ split($2, inner, "\t"); split($NF, outer, "\t"); print outer[1] "\t" inner[2] }' >"$work/ours"
go tool addr2line "$work/exe" <"$work/addresses" | paste - - | sed -E 's/\.abi0\t/\t/; s/\[[^\t]*\]/[...]/; s/:-1$/??:0/' >"$work/theirs"
is "$(paste "$work/ours" "$work/theirs" | awk -F '\t' '$1 != "??" && ($1 != $3 || $2 != $4)' | head -n 4)" "" \
	"functions and lines equal those of go tool addr2line"

is "$("$symbolize" -n -i "$work/exe-stripped" "$id" <"$work/addresses" 2>/dev/null | awk -F '\t' '
		/^0x/ { n = 0; next } NR > 1 && (++n > 1 || ($2 != "" && $2 != "??:0"))' | head -n 4)" "" \
	"without debug information wanted, there are neither inlined functions nor lines"

readelf -SW "$work/exe" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" { print $3, $5 }' |
	while read -r start size; do printf '0x%x\n' $((16#$start + 16#$size + 8)); done >"$work/addresses"
is "$(answers "$work/exe-stripped" | cut -d '|' -f 2)" "??	??:0" "an address after the last function has no name"

# Damage. The section's own bytes, its header, and the tree of inlined functions.
addresses "$work/exe" | awk 'NR % 20 == 0' >"$work/addresses"
died=0 bad=
for seed in $(seq 60); do
	/usr/bin/python3 - "$seed" "$work/exe-stripped" "$work/mutant" <<'END'
import random, struct, sys
seed, name, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
random.seed(seed)
data = bytearray(open(name, "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
shentsize, shnum, names = struct.unpack_from("<HHH", data, 58)
strings, = struct.unpack_from("<Q", data, shoff + names * shentsize + 24)
for i in range(shnum):
    at = shoff + i * shentsize
    name, = struct.unpack_from("<I", data, at)
    offset, size = struct.unpack_from("<QQ", data, at + 24)
    name = bytes(data[strings + name:data.index(0, strings + name)])
    if name not in (b".gopclntab", b".rodata", b".noptrdata"):
        continue
    if seed % 3 == 0 and name == b".gopclntab":
        struct.pack_into("<Q", data, offset + 8 * random.randrange(1, 9),
                         random.choice((0, 1, 2**20, 2**31, 2**32 - 1, 2**63, size - 1, size)))
    if seed % 10 == 1 and name == b".gopclntab":
        struct.pack_into("<Q", data, at + 32, random.randrange(200))
    for _ in range(random.choice((1, 10, 1000, 100000))):
        data[offset + random.randrange(size)] = random.choice((0, 0xff, 0x7f, 0x80, random.randrange(256)))
open(out, "wb").write(data)
END
	timeout -k 5 20 "$parse" "$work/mutant" <"$work/addresses" >"$work/out" 2>"$work/stderr"
	[ $? -le 1 ] || died=$((died + 1))
	grep -q 'AddressSanitizer\|runtime error' "$work/stderr" && bad+="$seed "
done
is "$died $bad" "0 " "60 damaged tables: no read outside a buffer, each answer ends"
done_testing
