#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Compares the symbolizer with eu-addr2line at 3,000 addresses of each of some
# installed objects. A function may have several names: the offset from its
# start must be equal, not the name. Then compares inlined functions and lines,
# and tests each place where debug information may be. At last, objects that are
# not the one asked for must give no names.
#
#   symbolize-test.sh SYMBOLIZE LIVE

symbolize=$1 live=$2
# shellcheck source=tests/symbolize/lib.sh
. "$(dirname "$0")/lib.sh"

# Prints 3,000 addresses spread over .text, some of them odd.
addresses() { # OBJECT
	local start size
	read -r start size < <(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' |
		awk '$1 == ".text" { print $3, $5 }')
	start=$((16#$start)) size=$((16#$size))
	awk -v start="$start" -v size="$size" \
		'BEGIN { for (i = 0; i < 3000; i++) printf "0x%x\n", start + int(i * size / 3000) }'
}

# Compares lines "ADDRESS OFFSET"; OFFSET is "-" if there is no name.
compare() { # OBJECT
	local object=$1
	addresses "$object" >"$work/addresses"
	"$symbolize" -n "$object" "$(build_id "$object")" <"$work/addresses" 2>/dev/null |
		awk -F '\t' 'NR > 1 { print $1, $2 == "??" ? "-" : $3 }' >"$work/ours"
	eu-addr2line -S -e "$object" <"$work/addresses" |
		awk 'NR % 2 { n = split($1, part, "+"); print ($1 ~ /^\(|^\?/ ? "-" : n > 1 ? part[n] : "0x0") }' |
		paste -d ' ' "$work/addresses" - >"$work/theirs"
	is "$(diff "$work/theirs" "$work/ours")" "" "$object: offsets from the functions' starts equal those of eu-addr2line"
	named=$(grep -vc -- ' -$' "$work/ours")
	is "$([ "$named" -ge 300 ] && echo many)" many "$object: at least 300 of 3,000 addresses have a name ($named)"
}

for object in /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 \
	/usr/bin/python3.11 /lib64/ld-linux-x86-64.so.2; do
	[ -e "$object" ] && compare "$(readlink -f "$object")"
done

# ours and theirs print for each address a line with the address, then for each
# function, innermost first, a line "NAME<tab>FILE:LINE".
ours() { # OPTION... OBJECT BUILD-ID
	"$symbolize" -i "$@" 2>/dev/null <"$work/addresses" | tail -n +2 |
		awk -F '\t' '{ n = split($2, part, "/"); print (NF > 1 ? $1 "\t" part[n] : $1) }'
}
theirs() { # PROGRAM OBJECT
	"$1" -C -a -i -f -e "$2" <"$work/addresses" | awk '
		/^0x[0-9a-f]+$/ { sub(/^0x0*/, "0x"); print; next }
		name == "" { name = $0; sub(/ inlined at .*/, "", name); next }
		{ n = split($0, part, "/"); line = part[n]
		  sub(/ \(.*/, "", line); sub(/:\?$/, ":0", line)
		  if (split(line, part, ":") > 2) line = part[1] ":" part[2]
		  print name "\t" line; name = "" }'
}
# Joins each answer into one line, without the name of the outermost function:
# that name comes from the symbol table, which may have several for it.
in_lines() {
	awk -F '\t' 'function flush() { if (address != "") print address all "|" line; all = line = "" }
		NF == 1 { flush(); address = $1; next }
		{ if (line != "") all = all "|" name " " line; name = $1; line = $2 } END { flush() }'
}
# The other programs print the return types of templates before their names.
same='function same(ours, theirs, a, b, n, i) {
		n = split(ours, a, "|")
		if (split(theirs, b, "|") != n)
			return 0
		for (i = 1; i <= n; i++)
			if (a[i] != b[i] && substr(b[i], length(b[i]) - length(a[i])) != " " a[i])
				return 0
		return 1 }
'
compare_lines() { # OBJECT TEXT LEAST-INLINED
	local inlined
	# Leaves out the padding between functions, for which eu-addr2line prints
	# lines of the function before.
	addresses "$1" >"$work/all"
	eu-addr2line -f -e "$1" <"$work/all" | awk 'NR % 2 { print $1 }' | paste "$work/all" - |
		awk '$2 != "??" { print $1 }' >"$work/addresses"
	ours "$1" "$(build_id "$1")" | in_lines >"$work/ours"
	theirs eu-addr2line "$1" | in_lines >"$work/eu"
	theirs addr2line "$1" | in_lines >"$work/binutils"
	# If two inlined functions claim an address, eu-addr2line and addr2line
	# differ, and both are right.
	is "$(paste -d '\n' "$work/ours" "$work/eu" "$work/binutils" | awk "$same"'
		NR % 3 == 1 { ours = $0 } NR % 3 == 2 { eu = $0 }
		NR % 3 == 0 && !same(ours, eu) && !same(ours, $0) { print ours; print eu; print $0 }' | head -n 12)" "" \
		"$2: inlined functions and lines equal those of eu-addr2line or addr2line"
	differ=$(paste -d '\n' "$work/ours" "$work/eu" | awk "$same"'NR % 2 { ours = $0; next } !same(ours, $0)' | wc -l)
	is "$([ "$differ" -le $(($(wc -l <"$work/ours") / 50)) ] && echo few)" few "$2: at most 2 % of the answers differ from eu-addr2line ($differ)"
	inlined=$(grep -c '|.*|' "$work/ours")
	is "$([ "$inlined" -ge "$3" ] && echo many)" many "$2: at least $3 addresses are in inlined functions ($inlined)"
}

libc=$(readlink -f /lib/x86_64-linux-gnu/libc.so.6)
id=$(build_id "$libc")
[ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] &&
	compare_lines "$libc" "libc with its debug file and that of dwz" 300

# Static C++ functions, which are only in .symtab, and many inlined functions.
cat >"$work/names.cc" <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace { struct inner { template <class T> __attribute__((noinline, used)) static T twice(T t) { asm volatile(""); return t + t; } }; }
static std::map<std::string, std::vector<int>> all;
int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		all[argv[i]].push_back(inner::twice(i) + (int)inner::twice((long)i));
	for (auto &one : all)
		std::sort(one.second.begin(), one.second.end());
	return all.size() == 1;
}
END
g++ -g -O2 -Wl,--build-id "$work/names.cc" -o "$work/names"
id=$(build_id "$work/names")
compare_lines "$work/names" "a C++ program" 1000
address=0x$(nm "$work/names" | awk '/5twiceI?.*l/ { print $1; exit }')
name() { echo "$address" | "$symbolize" "$@" 2>/dev/null | cut -f 2 | tail -n 1; }
twice="(anonymous namespace)::inner::twice<long>(long)"
is "$(name "$work/names" "$id")" "$twice" "a C++ name is demangled, without the return type"

# A stripped object: each place where its debug information may be. $full is the
# answer of the whole object.
cp "$work/names" "$work/whole"
full=$(ours "$work/whole" "$id")
objcopy --only-keep-debug "$work/whole" "$work/names.debug"
objcopy --strip-all "$work/whole" "$work/bare"
objcopy --add-gnu-debuglink="$work/names.debug" "$work/bare" "$work/linked"
mkdir -p "$work/copy/.build-id/${id:0:2}" "$work/copy$work" "$work/.debug" "$work/served"
mv "$work/names.debug" "$work/copy/.build-id/${id:0:2}/${id:2}.debug"
is "$(ours "$work/bare" "$id" | grep -c 'names.cc')" 0 "a stripped object has no lines"
is "$(ours -d "$work/copy" "$work/bare" "$id")" "$full" "debug file below DIR/.build-id is used"
is "$(ours -o -d "$work/copy" /nowhere/at/all "$id")" "$full" "debug file below DIR/.build-id is used without the object"
mv "$work/copy/.build-id/${id:0:2}/${id:2}.debug" "$work/names.debug"
is "$(ours "$work/linked" "$id")" "$full" "debug file of .gnu_debuglink in the object's directory is used"
mv "$work/names.debug" "$work/.debug/"
is "$(ours "$work/linked" "$id")" "$full" "debug file of .gnu_debuglink in .debug is used"
mv "$work/.debug/names.debug" "$work/copy$work/"
is "$(ours -d "$work/copy" "$work/linked" "$id")" "$full" "debug file of .gnu_debuglink below a debug directory is used"
# .gnu_debuglink holds a file name, which must not lead to another directory.
mkdir "$work/sub"
cp "$work/copy$work/names.debug" "$work/sub/other.debug"
cp "$work/copy$work/names.debug" "$work/sub_other.debug"
objcopy --add-gnu-debuglink="$work/sub_other.debug" "$work/bare" "$work/leads"
rm "$work/sub_other.debug"
sed -i 's,sub_other\.debug,sub/other.debug,' "$work/leads"
is "$(ours "$work/leads" "$id" | grep -c 'names.cc')" 0 ".gnu_debuglink that leads to another directory is not followed"
rm -r "$work/sub"
cp "$work/whole" "$work/copy$work/names"
is "$(ours -o -d "$work/copy" "$work/names" "$id")" "$full" "copy of the object below a debug directory is used"
mv "$work/copy$work/names" "$work/copy/.build-id/${id:0:2}/${id:2}"
is "$(ours -o -d "$work/copy" /gone "$id")" "$full" "copy of the object below DIR/.build-id is used"
mkdir -p "$work/copy/.build-id/00"
cp "$work/copy/.build-id/${id:0:2}/${id:2}" "$work/copy/.build-id/00/${id:2}"
is "$(name -o -d "$work/copy" /gone "00${id:2}")" "??" "copy of the object under another build-id is not used"
rm -r "$work/copy"

# Without a build-id, the checksum in .gnu_debuglink identifies the debug file.
g++ -g -O2 -Wl,--build-id=none "$work/names.cc" -o "$work/anon"
objcopy --only-keep-debug "$work/anon" "$work/anon.debug"
objcopy --strip-all --add-gnu-debuglink="$work/anon.debug" "$work/anon"
inode=$(stat -c %i "$work/anon")
is "$(name -I "$inode" "$work/anon" -)" "$twice" "no build-id: debug file with the checksum of .gnu_debuglink is used"
printf x >>"$work/anon.debug"
is "$(name -I "$inode" "$work/anon" -)" "??" "no build-id: debug file with another checksum is not used"

# More inlined functions at one address than an answer holds: by their number,
# and by the length of their names.
deep() { # LEVELS LETTERS
	local letters i
	letters=$(printf "%$2s" | tr ' ' n)
	echo "static inline __attribute__((always_inline)) int ${letters}0(int n) { __asm__ volatile(\"nop\" : : \"r\"(n)); return n; }"
	for ((i = 1; i < $1; i++)); do
		echo "static inline __attribute__((always_inline)) int $letters$i(int n) { return $letters$((i - 1))(n + $i) * 3; }"
	done
	echo "__attribute__((noinline)) int outermost$letters(int n) { return $letters$(($1 - 1))(n); }
int main(int n, char **argv) { (void)argv; return outermost$letters(n); }"
}
# Prints the number of functions and 9 letters of the last one; then 1 if the
# program reports that functions are left out, otherwise 0.
count_deep() { # LEVELS LETTERS
	deep "$@" >"$work/deep.c"
	gcc -g -O2 -Wl,--build-id "$work/deep.c" -o "$work/deep"
	objdump -d "$work/deep" | awk '/^[0-9a-f]+ <outermost/ { here = 1 } here && $NF == "nop" { print "0x" substr($1, 1, length($1) - 1); exit }' |
		"$symbolize" -i "$work/deep" "$(build_id "$work/deep")" 2>"$work/said" |
		awk -F '\t' 'NR > 2 { n++; name = $1 } END { print n, substr(name, 1, 9) }'
	grep -c 'inlined functions, some are left out' "$work/said"
}
is "$(count_deep 63 9 | xargs)" "64 outermost 0" "64 functions at an address: all are found"
is "$(count_deep 64 9 | xargs)" "64 outermost 1" "65 functions at an address: the outermost is found, a missing one is reported"
is "$(count_deep 40 2500 | cut -d ' ' -f 2- | xargs)" "outermost 1" "100,000 bytes of names: the outermost is found, missing ones are reported"

# Split DWARF: two units, each with a .dwo file. The answers must equal those of
# the same code without split DWARF.
cp "$work/addresses" "$work/many"
echo 'int other(int, char **);
static int inner(int n) { return other(n * 3, 0); }
int main(int argc, char **argv) { return inner(argc) + (argv == 0); }' >"$work/main.cc"
sed 's/int main/int other/' "$work/names.cc" >"$work/other.cc"
# Compiles in $work, so that the file names in all debug information are equal.
build() { # OUT OPTIONS...
	local out=$1
	shift
	(cd "$work" && for unit in main other; do g++ -O2 "$@" -c $unit.cc -o $unit.o || exit 1; done &&
		g++ -Wl,--build-id main.o other.o -o "$out" && rm main.o other.o)
}
split() { ours "$@" "$work/split" "$(build_id "$work/split")"; }
for version in 4 5; do
	build "$work/unsplit" -gdwarf-$version
	build "$work/split" -gdwarf-$version -gsplit-dwarf
	{ addresses "$work/split"; nm "$work/split" | awk '$3 == "main" { print "0x" $1 }'; } >"$work/addresses"
	unsplit=$(ours "$work/unsplit" "$(build_id "$work/unsplit")")
	is "$(split)" "$unsplit" "split DWARF $version: functions, inlined functions and lines are found"
	is "$(split | grep -c inner)" "$(grep -c inner <<<"$unsplit")" "split DWARF $version: functions of both units are found"
	# dwp of binutils leaves out the ranges of DWARF 5.
	if [ $version -eq 4 ] || command -v llvm-dwp-14 >/dev/null; then
		dwp=$([ $version -eq 4 ] && echo dwp || echo llvm-dwp-14)
		(cd "$work" && "$dwp" -o split.dwp main.dwo other.dwo && mkdir hidden && mv ./*.dwo hidden/)
		is "$(split)" "$unsplit" "split DWARF $version in a .dwp file: functions, inlined functions and lines are found"
		mv "$work"/hidden/*.dwo "$work/" && rm -r "$work/hidden" "$work/split.dwp"
	fi
done
mkdir "$work/elsewhere" "$work/copy" && mv "$work"/*.dwo "$work/elsewhere/"
lines() { awk -F '\t' 'NF == 1 { address = $1; next } address { print address, $2; address = "" }'; }
is "$(split | lines)" "$(lines <<<"$unsplit")" "split DWARF without .dwo files: lines are found"
is "$(split | awk -F '\t' 'NF == 1 { n = 0; next } n++ { print "another one: " $1 }')" "" "split DWARF without .dwo files: no inlined functions"
mkdir -p "$work/copy$work" && cp "$work/elsewhere"/*.dwo "$work/copy$work/"
is "$(split -d "$work/copy")" "$unsplit" "split DWARF: .dwo files below a debug directory are used"
(cd "$work/elsewhere" && llvm-dwp-14 -o "$work/split.dwp" main.dwo 2>/dev/null || dwp -o "$work/split.dwp" main.dwo)
is "$(split | lines)" "$(lines <<<"$unsplit")" "split DWARF: lines of a unit that the .dwp file does not have are found"
rm "$work/split.dwp"
rm -r "$work/copy"
cp "$work/elsewhere/other.dwo" "$work/main.dwo"
is "$(split | lines)" "$(lines <<<"$unsplit")" "split DWARF: .dwo file of another unit is not used"
head -c 3000 "$work/elsewhere/main.dwo" >"$work/main.dwo"
is "$(split | lines)" "$(lines <<<"$unsplit")" "split DWARF: truncated .dwo file is not used"
rm "$work/main.dwo"
mv "$work/many" "$work/addresses"

# MiniDebugInfo: a section with the full symbol table, compressed.
objcopy --strip-debug -R .comment "$work/whole" "$work/mini"
xz -9 "$work/mini"
objcopy --add-section .gnu_debugdata="$work/mini.xz" "$work/bare" "$work/with-mini"
is "$(name "$work/with-mini" "$id")" "$twice" "stripped object: symbol table in .gnu_debugdata is used"

cp "$work/whole" "$work/deleted"
is "$("$live" "$work/deleted" "$id")" "$twice" "deleted file that a process has mapped: its functions have names"

cp "$work/whole" "$work/served/"
if command -v debuginfod >/dev/null; then
	port=$((20000 + $$ % 10000))
	debuginfod -F -d :memory: -p $port -t 1 "$work/served" >"$work/debuginfod.log" 2>&1 &
	server=$!
	trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
	export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$work/cache
	for _ in $(seq 100); do
		[ "$(name -o /gone "$id")" = "??" ] || break
		rm -rf "$work/cache"
		sleep 0.2
	done
	is "$(ours -o /gone "$id")" "$full" "object that only a debuginfod server has: functions and lines are found"
	kill $server
	unset DEBUGINFOD_URLS
fi
is "$(name -o /gone "$id")" "??" "without DEBUGINFOD_URLS no server is asked"

# Files that are not the object asked for.
ask() { echo "$address" | "$symbolize" "$@" 2>/dev/null | cut -f 2 | tr '\n' ';'; }
is "$(ask /usr/bin/env "$id")" "build-id differs;??;" "another build-id: no name"
is "$(ask "$work/names" "${id:0:38}")" "build-id differs;??;" "build-id without its last byte: no name"
other=${id:0:38}$([ "${id:38}" = 00 ] && echo 01 || echo 00)
is "$(ask "$work/names" "$other")" "build-id differs;??;" "build-id with another last byte: no name"
is "$(ask "$work/names" "${id}00")" "build-id differs;??;" "build-id with a byte appended: no name"
is "$(ask "$work/names" -)" "no build-id, and not the same inode;??;" "no build-id and no inode: no name"
is "$(ask /nonexistent "$id")" "no such file;??;" "no file: no name"
is "$(ask /etc/passwd "$id")" "file not readable;??;" "no ELF file: no name"
is "$(ask /dev/zero "$id")" "file not readable;??;" "no regular file: no name"
is "$(ask "$work" "$id")" "file not readable;??;" "a directory: no name"
strip "$work/names"
is "$(name "$work/names" "$id")" "??" "stripped function: neither its name nor that of a neighbour"
entry=$(readelf -hW "$work/names" | awk '/Entry point/ { print $4 }')
is "$(echo "$entry" | "$symbolize" "$work/names" "$id" 2>/dev/null | cut -f 4 | tail -n 1)" \
	entry "_start without its symbol is reported as an entry point"
done_testing
