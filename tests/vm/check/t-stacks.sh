#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-stacks.sh - stacks of real programs equal eu-stack's
#
# All programs run at once under one LTTng session of all system calls, until
# all threads sleep in a system call. Then the session ends, and eu-stack takes
# the stack of each thread. The stack of each thread's last event must equal
# eu-stack's, address by address. For all events of these programs the test also
# checks whether stacks end at an entry point.
#
# With KUNWIND_STOCK set, the programs run without kunwind.
# timeout: 900

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 eu-stack gdb

build_progs
[ -n "${KUNWIND_STOCK:-}" ] || check "the module loads" modprobe kunwind

# a repository for git; pipes that stay empty, or that nobody reads
(
	cd "$work" && git init -q repo && cd repo
	head -c 400000 /dev/urandom >blob
	git add blob && git -c user.name=t -c user.email=t@t commit -q -m blob
) || exit 1
mkfifo "$work/never" "$work/full"
exec {never}<>"$work/never" {full}<>"$work/full"

session_begin "$work/trace"
verdict $? "LTTng session with the context callstack-user starts"

for program in "$progs"/stacks-*; do
	start "${program##*/}" "$program"
done
start python3 /usr/bin/python3 "$here/fixtures/real.py"
start perl perl "$here/fixtures/real.pl"
start bash bash "$here/fixtures/real.sh"
start dash dash -c 'f() { read -r x; }; g() { f; }; g'
start sqlite3 sqlite3 :memory:
start sqlite3-read sqlite3 :memory: ".read $work/never"
start git-batch git -C "$work/repo" cat-file --batch
start git-hash git -C "$work/repo" hash-object --stdin
OUTPUT=$work/full start git-full git -C "$work/repo" cat-file --batch-all-objects --batch
start gdb gdb -nx -q
start gdb-inferior gdb -nx -q -ex starti --args "$progs/stacks-gcc-O2" lambda
# the remaining programs are started only if they are installed
also() {
	command -v "$2" >/dev/null && start "$@" || diag "$2 is not installed"
}
also awk awk 'function f(n) { if (n) return f(n - 1); getline x; return x } BEGIN { f(5) }'
also openssl openssl enc -aes-256-cbc -k password -pbkdf2
also tail tail -c 1 -f "$work/repo/blob"
also sort sort
also tclsh tclsh
also make make -s -f <(printf 'all:\n\t@sleep 100000\n')
also clang clang -cc1 -fsyntax-only -x c -
also node node -e 'process.stdin.resume()'

mapfile -t pids < <(cut -f2 "$work/programs.tsv")
settle "${pids[@]}"
verdict $? "${#pids[@]} programs sleep in a system call"
session_end
for program in "$progs"/stacks-*; do
	grep -q '^ready' "$work/${program##*/}/out" || not_ok "${program##*/} starts all its threads"
done

while IFS=$'\t' read -r name pid; do
	examine "$name" "$pid"
done <"$work/programs.tsv"
for name in stacks-gcc-O2 stacks-clang-O2; do
	gdb -nx -batch -iex 'set debug-file-directory /nowhere' -iex 'set debuginfod enabled off' \
		-p "$(awk -v n=$name '$1 == n { print $2 }' "$work/programs.tsv")" \
		-x "$oracle/stacks.gdb" >"$work/eu/$name.gdb" 2>"$work/eu/$name.gdb.err"
done
[ -n "${KUNWIND_STOCK:-}" ] || kunwind status | sed 's/^/# /'
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/trace" "$work/eu" "$work/programs.tsv" "$KEEP_DIR/"
adopt /usr/bin/python3 "$oracle/blocked.py" "$work/trace" "$work/programs.tsv" "$work/eu" \
	--same stacks-gcc-fp stacks-gcc-O2 --no-ends node

kill -9 "${pids[@]}" 2>/dev/null
wait 2>/dev/null
[ -n "${KUNWIND_STOCK:-}" ] || check "the module is unloaded" rmmod kunwind
done_testing
