#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Files that are damaged, truncated, circular or too large, and helpers that
# fail: the program that uses the library survives. An address of a truncated
# file has the right name or none. Of a file that is too large, and of a helper
# that fails, the library reports the reason. If only the debug information is
# bad, names come from the file's symbol table.
#
#   hostile-test.sh SYMBOLIZE PARSE

symbolize=$1 parse=$2
# shellcheck source=tests/symbolize/lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$work/base.c" <<'END'
static inline int inner(int x) { return x * 3 + 1; }
__attribute__((noinline)) int outer(int x) { return inner(x) ^ inner(x + 2); }
int main(int argc, char **argv) { (void)argv; return outer(argc); }
END
gcc -g -O2 -Wl,--build-id "$work/base.c" -o "$work/base"
id=$(build_id "$work/base")
addresses=$(nm "$work/base" | awk '$3 == "outer" || $3 == "main" { print "0x" $1 }')
ask() { # OPTION... OBJECT; prints "what is wrong|name|name"
	timeout -k 5 120 "$symbolize" "$@" "$id" <<<"$addresses" 2>"$work/stderr" | cut -f 2 | paste -s -d '|'
}
is "$(ask "$work/base")" "ok|main|outer" "undamaged file: both functions have a name"

# The file cut off at several sizes.
size=$(stat -c %s "$work/base")
wrong=
for at in 0 1 16 63 64 100 600 1000 2000 4000 4200 $((size / 2)) $((size - 2000)) $((size - 500)) $((size - 64)) $((size - 1)); do
	head -c "$at" "$work/base" >"$work/cut"
	got=$(ask "$work/cut")
	case $got in
	*"|main|outer" | *"|??|??") ;;
	*) wrong+="$at: $got"$'\n' ;;
	esac
done
is "$wrong" "" "file cut off at 16 sizes: the right names or none"

# Writes wrong bytes and section headers at random; SEED decides which.
mutate() { # SEED FILE OUT
	/usr/bin/python3 - "$@" <<'END'
import random, struct, sys
seed, name, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
random.seed(seed)
data = bytearray(open(name, "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
shentsize, shnum = struct.unpack_from("<HH", data, 58)
places = []
for i in range(shnum):
    at = shoff + i * shentsize
    flags, addr, offset, size = struct.unpack_from("<QQQQ", data, at + 8)
    if flags & 2 == 0 and size and offset + size <= len(data):
        places.append((offset, size))	# debug sections and symbol tables
    if random.random() < 0.02:		# a header with a wrong offset or size
        struct.pack_into("<Q", data, at + random.choice((24, 32)),
                         random.choice((0, 1, 2**31, 2**32 + 5, 2**63, random.randrange(2**20))))
for _ in range(random.choice((1, 3, 10, 100))):
    offset, size = random.choice(places)
    at = offset + random.randrange(size)
    data[at] = random.choice((0, 0xff, 0x7f, 0x80, random.randrange(256)))
open(out, "wb").write(data)
END
}
parse_mutant() { # ADDRESSES ARGUMENT...
	timeout -k 5 10 "$parse" "${@:2}" <<<"$1" >"$work/out" 2>"$work/stderr"
	[ $? -eq 124 ] && slow=$((slow + 1))
	# Errors inside libdw do not count: because of them, the parser normally
	# runs in a process of its own.
	if grep -q 'AddressSanitizer\|runtime error' "$work/stderr" &&
		grep -m 1 '^ *#0\|runtime error' "$work/stderr" | grep -q 'helper_'; then
		unsafe+="$seed "
	fi
}
died=0 bad= unsafe= slow=0
for seed in $(seq 40); do
	mutate "$seed" "$work/base" "$work/mutant"
	"$symbolize" -i -t 2000 "$work/mutant" "$id" <<<"$addresses" >"$work/out" 2>"$work/stderr" || bad+="$seed "
	grep -q ' 0 lost' "$work/stderr" || died=$((died + 1))
	parse_mutant "$addresses" "$work/mutant"
done
is "$bad" "" "40 files with wrong bytes: the program survives (helper lost: $died)"
is "$unsafe" "" "40 files with wrong bytes: the parser outside libdw stays in bounds (timeouts: $slow)"

# The same with a .dwo file, and with a .dwp file (a package of .dwo files).
(cd "$work" && gcc -g -gsplit-dwarf -O2 -c base.c -o split.o && gcc -Wl,--build-id split.o -o split)
inside=$(objdump -d --no-show-raw-insn "$work/split" | awk '/^[0-9a-f]+ <outer>/ { on = 1; next } !NF { on = 0 } on { sub(":", "", $1); print "0x" $1 }')
wanted=$("$parse" "$work/base" <<<"$inside" | grep ' 2$')
is "$("$parse" "$work/split" '' "$work/split.dwo" <<<"$inside" | grep ' 2$')" "${wanted:-some}" \
	"undamaged .dwo file: inlined functions are found"
(cd "$work" && gcc -g -gdwarf-4 -gsplit-dwarf -O2 -c base.c -o packed.o && gcc -Wl,--build-id packed.o -o packed &&
	dwp -o packed.dwp packed.dwo)
is "$("$parse" "$work/packed" '' "$work/packed.dwp" <<<"$inside" | grep ' 2$')" "${wanted:-some}" \
	"undamaged .dwp file: inlined functions are found"
# some of 20 units are not in the first slot that their number has in the index
for i in $(seq 20); do
	echo "static inline __attribute__((always_inline)) int in_$i(int n) { __asm__ volatile(\"nop\"); return n; }
		int out_$i(int n) { return in_$i(n) + 1; }" >"$work/u$i.c"
done
(cd "$work" && gcc -g -gdwarf-4 -gsplit-dwarf -O2 -fPIC -c u*.c && gcc -shared -nostdlib -Wl,--build-id u*.o -o many &&
	dwp -o many.dwp u*.dwo)
is "$(nm "$work/many" | sed -n 's/^\(.*\) T out_.*/0x\1/p' | "$parse" "$work/many" '' "$work/many.dwp" | grep -c ' 2$')" 20 \
	"a .dwp file with 20 units: the inlined function of each is found"
for kind in split.dwo packed.dwp; do
	unsafe= slow=0
	for seed in $(seq 40); do
		mutate "$seed" "$work/$kind" "$work/mutant.${kind#*.}"
		parse_mutant "$inside" "$work/${kind%.*}" '' "$work/mutant.${kind#*.}"
	done
	is "$unsafe" "" "40 .${kind#*.} files with wrong bytes: the parser outside libdw stays in bounds (timeouts: $slow)"
done

# A DWARF entry that is its own sibling (0x01), or its own origin (0x31).
circle() { # NAME ABBREV-ATTRIBUTE
	cat >"$work/$1.s" <<-END
	.text
	.globl outer
	.type outer, @function
	outer: nop
	nop
	ret
	.size outer, .-outer
	.globl main
	.type main, @function
	main: call outer
	ret
	.size main, .-main
	.Lend:
	.section .debug_abbrev,"",@progbits
	.uleb128 1; .uleb128 0x11; .byte 1		# compile unit, children
	.uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .uleb128 0; .uleb128 0
	.uleb128 2; .uleb128 0x2e; .byte 1		# subprogram, children
	.uleb128 $2; .uleb128 0x13			# the attribute, ref4
	.uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .uleb128 0; .uleb128 0
	.byte 0
	.section .debug_info,"",@progbits
	.Linfo: .long .Linfo_end - .Lversion
	.Lversion: .value 4
	.long .debug_abbrev
	.byte 8
	.uleb128 1; .quad outer; .quad .Lend - outer
	.Lsub: .uleb128 2; .long .Lsub - .Linfo; .quad outer; .quad .Lend - outer
	.byte 0
	.byte 0
	.Linfo_end:
	END
	echo '.section .note.GNU-stack,"",@progbits' >>"$work/$1.s"
	gcc -Wl,--build-id "$work/$1.s" -o "$work/$1" && id=$(build_id "$work/$1") &&
		addresses=$(nm "$work/$1" | awk '$3 == "outer" || $3 == "main" { print "0x" $1 }')
}
circle sibling 0x01
is "$(ask -t 1000 "$work/sibling")" "ok|main|outer" "DWARF entry that is its own sibling: names come from the symbol table"
circle origin 0x31
is "$(ask -t 1000 "$work/origin")" "ok|main|outer" "DWARF entry that is its own origin: names come from the symbol table"

# A .debug_info section of gigabytes: a hole, which takes no room on the disk.
huge() { # NAME BYTES
	gcc -Wl,--build-id "$work/base.c" -o "$work/$1" && id=$(build_id "$work/$1")
	addresses=$(nm "$work/$1" | awk '$3 == "outer" || $3 == "main" { print "0x" $1 }')
	printf x >"$work/x"
	objcopy --add-section .debug_info="$work/x" --add-section .debug_abbrev="$work/x" "$work/$1"
	/usr/bin/python3 - "$work/$1" "$2" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 58)
names, = struct.unpack_from("<Q", data, shoff + shstrndx * shentsize + 24)
for i in range(shnum):
    at = shoff + i * shentsize
    name, = struct.unpack_from("<I", data, at)
    if data[names + name:].startswith(b".debug_info\0"):
        struct.pack_into("<QQ", data, at + 24, (len(data) + 4095) & ~4095, int(sys.argv[2]))
with open(sys.argv[1], "wb") as f:
    f.write(data)
    f.truncate(((len(data) + 4095) & ~4095) + int(sys.argv[2]))
END
}
huge large $((4 << 30))
is "$(ask "$work/large")" "file larger than the limit on memory|??|??" "4 GB of debug information: not read, the reason is reported"
huge less $((2 << 30))
got=$(ask -t 1000 "$work/less")
is "$got" "ok|main|outer" "2 GB of debug information: names come from the symbol table"

# A FIFO where a file is expected. A writer waits in open(2) until a reader opens
# the FIFO; then it writes the file "opened".
fifo() { # FIFO COMMAND...; prints "waits" if the writer still waits
	local writer
	rm -f "$1" "$work/opened"
	mkfifo "$1"
	timeout 60 sh -c 'exec 3>"$1"; echo >"$2"' - "$1" "$work/opened" &
	writer=$!
	sleep 0.3
	"${@:2}" >"$work/fifo-out"
	sleep 0.3
	if [ ! -e "$work/opened" ] && kill "$writer" 2>/dev/null; then echo waits; else echo opened; fi
	wait "$writer" 2>/dev/null
	rm -f "$1"
}
id=$(build_id "$work/base")
addresses=$(nm "$work/base" | awk '$3 == "outer" || $3 == "main" { print "0x" $1 }')
is "$(fifo "$work/pipe" ask "$work/pipe")" waits "FIFO at the path of a mapping: not opened"
is "$(cat "$work/fifo-out")" "file not readable|??|??" "FIFO at the path of a mapping: reported, no names"
{ printf '%s\0' "$work/pipe"; head -c 20 /dev/zero; } >"$work/alt"
objcopy --add-section .gnu_debugaltlink="$work/alt" "$work/base" "$work/alted"
is "$(fifo "$work/pipe" ask "$work/alted")" waits "FIFO that .gnu_debugaltlink names: not opened"
is "$(cat "$work/fifo-out")" "ok|main|outer" "FIFO that .gnu_debugaltlink names: the functions have names"
id=$(build_id "$work/split") addresses=$inside
mv "$work/split.dwo" "$work/split.saved"
is "$(fifo "$work/split.dwo" ask -i "$work/split")" waits "FIFO that DW_AT_dwo_name names: not opened"
mv "$work/split.saved" "$work/split.dwo"
id=$(build_id "$work/base")
addresses=$(nm "$work/base" | awk '$3 == "outer" || $3 == "main" { print "0x" $1 }')

# Helpers that fail.
cat >"$work/helper" <<'END'
#!/bin/sh
kill -SEGV $$
END
chmod +x "$work/helper"
got=$(KUNWIND_SYMBOLIZE_HELPER=$work/helper ask "$work/base")
is "$got" "kunwind-symbolize-helper does not start|??|??" "helper that dies at its start: reported, no names"
got=$(KUNWIND_SYMBOLIZE_HELPER=/nonexistent ask "$work/base")
is "$got" "kunwind-symbolize-helper does not start|??|??" "missing helper: reported, no names"
echo 'echo no packet; sleep 100' >"$work/helper"
got=$(KUNWIND_SYMBOLIZE_HELPER=$work/helper ask -t 100 "$work/base")
is "$got" "kunwind-symbolize-helper does not start|??|??" "helper that is another program: reported, no names"
cat >"$work/helper" <<'END'
#!/usr/bin/python3
import socket, struct
s = socket.socket(fileno=3)
s.recv(100)
s.send(struct.pack("<II", 0, 2) + bytes(88))
s.recv(100)
while True:
    pass
END
got=$(KUNWIND_SYMBOLIZE_HELPER=$work/helper ask -t 200 "$work/base")
is "$got" "parsing this file took too long|??|??" "helper that never answers: reported after the time limit, no names"
cat >"$work/helper" <<'END'
#!/usr/bin/python3
import os, socket, struct
s = socket.socket(fileno=3)
s.recv(100)
s.send(struct.pack("<II", 0, 2) + bytes(88))
while True:
    got, fds, _, _ = socket.recv_fds(s, 100, 2)
    if len(got) == 0:
        break
    for fd in fds:
        os.close(fd)
    s.send(b"\0" * 16 + b"\xff" * 20 + b"\0" * 60 + b"\xff" * 5000)
END
timeout 20 "$symbolize" -i "$work/base" "$id" <<<"$addresses" >"$work/out" 2>"$work/stderr"
is "$?" 0 "helper with invalid answers: the program ends with status 0"

# The limits of the helper, and a helper that hangs between two questions.
id=$(build_id "$work/base")
addresses=$(nm "$work/base" | awk '$3 == "outer" || $3 == "main" { print "0x" $1 }')
mkfifo "$work/in"
"$symbolize" -t 200 "$work/base" "$id" <"$work/in" >"$work/out" 2>"$work/stderr" &
viewer=$!
exec {go}>"$work/in"
head -n 1 <<<"$addresses" >&"$go"
helper=
seccomp() { awk '/^Seccomp:/ { print $2 }' "/proc/$helper/status" 2>/dev/null; }
# Waits until the helper has installed its filter: up to 60 s on a busy machine.
for _ in $(seq 600); do
	helper=$(pgrep -P $viewer | head -n 1)
	[ -z "$helper" ] || [ "$(seccomp)" != 2 ] || break
	sleep 0.1
done
is "$(seccomp)" 2 "the helper has a filter for system calls"
is "$(awk '/^Max address space/ { print $4 }' "/proc/$helper/limits")" $((4096 << 20)) "the helper has a limit of 4 GB on its address space"
kill -STOP "$helper"
tail -n 1 <<<"$addresses" >&"$go"
exec {go}>&-
wait $viewer
is "$(cut -f 2 "$work/out" | paste -s -d '|')" "ok|main|outer" "helper stopped between two questions: a new helper answers"
is "$(grep -c ' 2 started, 1 lost' "$work/stderr")" 1 "helper stopped between two questions: counted as lost"
done_testing
