#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-parts.sh - tables that are built in two stages: of all objects, then of a
# big object
#
# 1. With max_whole_kb=0 the tables of all objects are in parts. A part is built
#    when a walk has missed it or a worker gets to it. Real programs are traced
#    until they block. When all parts are built, each program gets a line of
#    input and blocks again. These last stacks equal eu-stack's.
# 2. A big object, with a table in parts and with a whole one: how long its
#    mmap() takes, and when the first stack through its code is whole. Also an
#    object that is mapped while other tasks use the processors, and one with
#    wrong call frame instructions, which only the second stage reads.
# timeout: 300
# long: only

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 eu-stack objcopy
params=/sys/module/kunwind/parameters

build_progs
device=$here/../../build/vm-progs-device
make -s -C "$here/fixtures/device" all >/dev/null || exit 1
stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
# state, build error and BUILT/ALL parts of a file's object; "-" if its table is
# whole
parts() {
	awk -F'\t' -v p="$1" '
		$1 == "object" && $7 == p { state = $2 " " $3; n = "-" }
		$1 == "parts" && $4 == p { n = $2 "/" $3 }
		END { if (state) print state, n }' /dev/kunwind
}
unfilled() { # objects that are pending or do not have all parts
	awk -F'\t' '$1 == "object" { state = $2 } $1 == "object" && $2 == "pending"
		$1 == "parts" && state == "ready" && $2 != $3' /dev/kunwind
}
filled() {
	local i
	for ((i = 0; i < 600; i++)); do
		[ -n "$(unfilled)" ] || return 0
		sleep 0.1
	done
	return 1
}

# ---- all objects in two stages
check "the module loads with max_whole_kb=0" modprobe kunwind max_whole_kb=0
check "a running process is registered" kunwind register $$
is "$(unfilled)" "" "kunwind register returns when all parts are built"
session_begin "$work/trace"
verdict $? "LTTng session with the context callstack-user starts"
start python3 /usr/bin/python3 -c 'import json, sqlite3, sys
for line in sys.stdin: json.dumps(sqlite3.connect(":memory:").execute("select 1").fetchall())'
start perl perl -e 'sub f { while (<STDIN>) { $x{$_}++ } } sub g { f() } g()'
start bash bash -c 'f() { while read -r x; do y=$x; done; }; g() { f; }; g'
start sqlite3 sqlite3 :memory:
start gdb gdb -nx -q
start openssl openssl enc -aes-256-cbc -k password -pbkdf2
also() { # NAME COMMAND...
	command -v "$2" >/dev/null && start "$@" || diag "$2 is not installed"
}
also clang clang -cc1 -fsyntax-only -x c -
mapfile -t pids < <(cut -f2 "$work/programs.tsv")
settle "${pids[@]}"
verdict $? "${#pids[@]} programs sleep in a system call"
check "traced programs: all parts of all tables are built" filled
like "$(parts "$(realpath /lib/x86_64-linux-gnu/libc.so.6)")" '^ready ok ([0-9]+)/\1$' "libc: the status shows that all parts are built"
is "$(grep -c $'^object\tready' /dev/kunwind)" "$(grep -c '^parts' /dev/kunwind)" \
	"max_whole_kb=0: the table of each object is in parts"
diag "$(awk -F'\t' '$1 == "parts" { o++; p += $3 } END { print o, "objects,", p, "parts" }' /dev/kunwind)"
while IFS=$'\t' read -r name _; do
	printf '\n' >"$work/$name/in"
done <"$work/programs.tsv"
settle "${pids[@]}"
verdict $? "all programs sleep again after a line of input"
session_end
# This number depends on the time that the workers get.
unbuilt=$(awk -F'\t' '$1 == "reason" && $2 == "not_ready" { print $3 }' /dev/kunwind)
diag "stacks that met a part before it was built: $unbuilt"
while IFS=$'\t' read -r name pid; do
	examine "$name" "$pid"
done <"$work/programs.tsv"
adopt /usr/bin/python3 "$oracle/blocked.py" "$work/trace" "$work/programs.tsv" "$work/eu" \
	--unbuilt "$unbuilt"
kill -9 "${pids[@]}" 2>/dev/null
wait 2>/dev/null
check "after the traced programs the module is unloaded" rmmod kunwind

# ---- a big object
# libLLVM-14.so.1 in Debian 12, libLLVM.so.19.1 in Debian 13
big=$(compgen -G '/usr/lib/x86_64-linux-gnu/libLLVM*.so.*' | head -n 1)
big=$(realpath "${big:-$(command -v gdb)}")
# Frees the table of FILE ($big), once a grace period has ended and the object
# has no users any more. The file stays in the page cache.
forget() { # [FILE]
	local i file=${1:-$big}
	for ((i = 0; i < 50; i++)); do
		echo 2 >/proc/sys/vm/drop_caches
		[ -n "$(parts "$file")" ] || break
		sleep 0.1
	done
	cat "$file" >/dev/null
}
stall=50
check "the module loads for the big object" modprobe kunwind max_stall_ms=$stall
forget
echo 65536 >$params/max_whole_kb
read -r whole_stall whole_first whole_all whole_misses < <("$device/parts" "$big")
is "$(parts "$big")" "ready ok -" "big object: $(basename "$big") has a whole table"
forget
is "$(parts "$big")" "" "big object: the table is freed when no process uses it"
echo 512 >$params/max_whole_kb
read -r stall_us first all misses < <("$device/parts" "$big")
filled
like "$(parts "$big")" '^ready ok ([0-9]+)/\1$' "big object: the table in parts is complete: $(parts "$big")"
diag "whole table: mmap() $whole_stall us, first stack $whole_first us, all $whole_all us, $whole_misses walks without a table"
diag "two stages: mmap() $stall_us us, first stack $first us, all $all us, $misses walks without a table"
[ "${first:-0}" -gt 0 ] && [ "$first" -lt "${whole_first:-0}" ]
verdict $? "big object: with two stages the first whole stack comes earlier"
[ "${misses:-0}" -gt 0 ]
verdict $? "big object: some walks meet a part that is not built yet"
[ "${stall_us:-999999999}" -lt "${all:-0}" ]
verdict $? "big object: mmap() returns before all parts are built"

start_mapper() { # NAME FILE: a program that maps FILE when it gets a line of input
	start "$1" /usr/bin/python3 -c 'import mmap, sys, time
file = open(sys.argv[1], "rb")
sys.stdin.readline()
code = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)
time.sleep(1000)' "$2"
	settle "$pid"
}

# ---- a second stage gets almost no processor time for more than max_build_ms
# Only time that the build itself uses counts. Autogroups are off, because with
# them the kernel would not compare nice values of different sessions.
autogroup=$(cat /proc/sys/kernel/sched_autogroup_enabled)
echo 0 >/proc/sys/kernel/sched_autogroup_enabled
limit=$((2000 * ${KUNWIND_TIMEOUT_SCALE:-1}))
echo $limit >$params/max_build_ms
forget
start_mapper mapper "$big"
verdict $? "busy processors: a program waits to map the big object"
hogs=()
for _ in $(seq "$(nproc)"); do
	nice -n -10 bash -c 'while :; do :; done' &
	hogs+=($!)
done
echo >"$work/mapper/in"
for _ in $(seq 600); do
	[[ $(parts "$big") != ready* ]] || break
	sleep 0.1
done
like "$(parts "$big")" '^ready ok [0-9]+/' "busy processors: the first stage ends: $(parts "$big")"
sleep $((2 * limit / 1000))
diag "after twice max_build_ms on busy processors: $(parts "$big")"
kill "${hogs[@]}"
filled
like "$(parts "$big")" '^ready ok ([0-9]+)/\1$' "busy processors: max_build_ms counts only the build's own time: $(parts "$big")"
kill "$pid"
wait "${hogs[@]}" "$pid" 2>/dev/null
echo 10000 >$params/max_build_ms
echo "$autogroup" >/proc/sys/kernel/sched_autogroup_enabled

# ---- a build that itself uses more time than max_build_ms
built() { # FILE: state and build_error of its object, once it is not pending
	local i state
	for ((i = 0; i < 3000; i++)); do
		state=$(parts "$1")
		[[ $state == "" || $state == pending* ]] || break
		sleep 0.02
	done
	echo "${state% *}"
}
# On a tmpfs: reads from other file systems also end after max_build_ms, but by
# the clock.
copy=$work/copy.so
cp "$big" "$copy"
echo 65536 >$params/max_whole_kb
start_mapper limited "$copy"
echo 1 >$params/max_build_ms
echo >"$work/limited/in"
is "$(built "$copy")" "failed aborted" "a build is aborted when it has used max_build_ms"
kill "$pid"
wait "$pid" 2>/dev/null
echo 10000 >$params/max_build_ms

rm "$copy"

# ---- a file that changes while its table is built
# Reads get no answer until the file has changed, so the build cannot end before.
modprobe fuse
mkdir "$work/held"
"$device/stuckfs" "$work/held" "$big" 1 >"$work/stuckfs" &
stuckfs=$!
eventually "a FUSE file system that does not answer reads is mounted" grep -q mounted "$work/stuckfs"
held=$work/held/0
echo 300000 >$params/max_build_ms
start_mapper changing "$held"
echo >"$work/changing/in"
pending() { [[ $(parts "$held") == pending* ]]; }
eventually "a file that changes: its build has begun" pending
check "a file that changes: its mode is set during the build" chmod 700 "$held"
pending
verdict $? "a file that changes: the build waits for a read meanwhile"
kill -USR1 $stuckfs
is "$(built "$held")" "failed io" "a file that changes while its table is built has no table"
kill "$pid"
wait "$pid" 2>/dev/null
kill $stuckfs
wait $stuckfs
echo 10000 >$params/max_build_ms
echo 512 >$params/max_whole_kb

# ---- call frame instructions that cannot be read, in the middle of the file
cp "$big" "$work/bad.so"
at=$(/usr/bin/python3 "$here/oracle/spoil.py" "$work/bad.so")
diag "spoiled at $at"
"$device/parts" "$work/bad.so" >/dev/null
filled
like "$(parts "$work/bad.so")" '^ready ok ([0-9]+)/\1$' \
	"one function with unreadable call frame instructions: all parts are built"

# ---- a second stage that needs more memory than a table may have
/usr/bin/python3 "$here/oracle/wide_rows.py" "$work/wide.so"
start_mapper wide "$work/wide.so"
echo >"$work/wide/in"
for _ in $(seq 600); do
	[[ $(parts "$work/wide.so") =~ ^(|pending.*|ready.*)$ ]] || break
	sleep 0.1
done
like "$(parts "$work/wide.so")" '^refused limit 0/[0-9]+$' "second stage over the memory limit: the table is refused"
check "second stage over the memory limit: memory of the parts is freed" test "$(awk -F'\t' -v p="$work/wide.so" \
	'$1 == "object" && $7 == p { print $5 }' /dev/kunwind)" -lt 100000
kill "$pid"
wait "$pid" 2>/dev/null
# The killed program keeps its tables until a grace period ends. Then they have
# no users.
none_left() { echo 2 >/proc/sys/vm/drop_caches; [ "$(stat_of memory_bytes)" = 0 ]; }
eventually "when memory is short, all tables are freed and nothing stays charged" none_left
check "the module is unloaded" rmmod kunwind
done_testing
