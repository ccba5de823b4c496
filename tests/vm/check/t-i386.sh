#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-i386.sh - 32-bit programs on the 64-bit kernel
#
# The scenes of t-stacks.sh (frames of all kinds, signals by both trampolines of
# the vDSO, system calls through __kernel_vsyscall and by int $0x80), compared
# with eu-stack; the ioctl from 32-bit code; and an unregistered program, whose
# stacks must be as many and as long as without the module. Needs gcc-multilib.
# timeout: 400
# long: only

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 eu-stack gdb
gcc -m32 -xc -o /dev/null - <<<'int main(void) { return 0; }' 2>/dev/null || {
	echo "1..0 # SKIP no 32-bit compiler (gcc-multilib)"
	exit 0
}

build_progs
make -s -C "$here/fixtures" O="$progs" i386 >"$work/build.log" 2>&1 || {
	cat "$work/build.log"
	echo "Bail out! the 32-bit programs do not build"
	exit 1
}
check "the module loads" modprobe kunwind

check "the ioctl from 32-bit code, by libc and by int \$0x80: stacks have the chain of calls; children are read" "$progs/ioctl-i386"

session_begin "$work/trace"
verdict $? "an LTTng session of all system calls starts"
for program in "$progs"/i386-*; do
	start "${program##*/}" "$program"
done
mapfile -t pids < <(cut -f2 "$work/programs.tsv")
settle "${pids[@]}"
verdict $? "${#pids[@]} programs sleep in a system call"
session_end
for program in "$progs"/i386-*; do
	grep -q '^ready' "$work/${program##*/}/out" || not_ok "${program##*/}: all scenes have begun"
done
while IFS=$'\t' read -r name pid; do
	examine "$name" "$pid"
done <"$work/programs.tsv"
for program in "$progs"/i386-*; do
	name=${program##*/}
	gdb -nx -batch -iex 'set debug-file-directory /nowhere' -iex 'set debuginfod enabled off' \
		-p "$(awk -v n="$name" '$1 == n { print $2 }' "$work/programs.tsv")" \
		-x "$oracle/stacks.gdb" >"$work/eu/$name.gdb" 2>"$work/eu/$name.gdb.err"
done
kunwind status | sed 's/^/# /'
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/trace" "$work/eu" "$work/programs.tsv" "$KEEP_DIR/"
adopt /usr/bin/python3 "$oracle/blocked.py" "$work/trace" "$work/programs.tsv" "$work/eu"
kill -9 "${pids[@]}" 2>/dev/null
wait 2>/dev/null

# Stacks of the parent in clone(), at sched_process_fork, because LTTng 2.13 has
# no 32-bit clone3 by name. Runs PROGRAM and sets $result to three numbers: the
# addresses in its chain of calls; the stacks that have the whole chain; and the
# addresses of the program in stacks that are not in the chain, except the
# innermost one of each stack (the call of posix_spawn()).
chains() { # PROGRAM
	session_begin "$work/$1" sched_process_fork
	kunwind run -- "$progs/$1" >"$work/$1.chain"
	is "$?" 0 "$1: ends with status 0"
	session_end
	babeltrace2 "$work/$1" |
		grep "sched_process_fork:.* vpid = $(head -n 1 "$work/$1.chain")," >"$work/$1.clones"
	is "$(wc -l <"$work/$1.clones")" 20 "$1: the trace has 20 stacks, one for each posix_spawn()"
	sed -n '1s/^/# /p' "$work/$1.clones"
	result=$(/usr/bin/python3 - "$work/$1.chain" "$work/$1.clones" <<-'END'
		import re, sys
		_, lo, hi, *chain = [int(line, 16) for line in open(sys.argv[1])]
		whole = others = 0
		for line in open(sys.argv[2]):
		    stack = [int(a, 16) for a in re.findall(r"\[\d+\] = 0x([0-9A-F]+)", line)]
		    rest = iter(stack)
		    whole += all(address in rest for address in chain)
		    others += sum(a not in chain for a in [a for a in stack if lo <= a < hi][1:])
		print(len(chain), whole, others)
		END
	)
}
chains spawn-i386
like "$result" '^9 20 ' "with CFI: each stack in clone() has the program's whole chain of calls"
chains spawn_fp-i386
is "$result" "9 20 0" "frame pointers, no CFI: each stack in clone() has the whole chain and no other address"
chains spawn_bare-i386
is "${result##* }" 0 "no frame pointers, no CFI: no stack has a wrong address of the program"

# an unregistered program, with the module and without
stock() { # DIRECTORY
	session_begin "$work/$1" --syscall getppid
	"$progs/ioctl-i386" stock
	session_end
	babeltrace2 "$work/$1" | grep 'getppid:' | grep -c 'callstack_user = \[ \[0\]' || true
	babeltrace2 "$work/$1" | grep -o 'getppid:.*_callstack_user_length = [0-9]*' |
		sed 's/.*getppid/getppid/; s/cpu_id = [0-9]*//' | sort | uniq -c
}
with=$(stock with)
check "the module is unloaded" rmmod kunwind
is "$with" "$(stock without)" "an unregistered 32-bit program: as many stacks, of the same lengths, as without the module"
diag "$with"
done_testing
