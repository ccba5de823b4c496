#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-stages.sh - tables in two stages: first of every object, then of a big one
#
# 1. max_whole_kb=0, so that the tables of all objects are in parts and their
#    rows come when a walk missed them or a worker comes to them. Real programs
#    are traced until they block; when all parts are there each is given a line of input and
#    blocks again. These last stacks are eu-stack's, address by address.
# 2. A big object: what its mapping costs who maps it, and when the first stack
#    through its code is whole, in two stages and as a whole; one that is mapped while
#    others have the processors; and one whose instructions are wrong somewhere,
#    which the second stage finds.
# timeout: 300

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/oracle/session.sh"
need lttng babeltrace2 eu-stack objcopy
params=/sys/module/kunwind/parameters

build_progs
device=$here/../../build/vm-progs-device
make -s -C "$here/progs/device" all >/dev/null || exit 1
stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }
# state, refusal and BUILT/ALL of a file's object; "-" of a table that is whole
parts() {
	awk -F'\t' -v p="$1" '
		$1 == "object" && $7 == p { state = $2 " " $3; n = "-" }
		$1 == "parts" && $4 == p { n = $2 "/" $3 }
		END { if (state) print state, n }' /dev/kunwind
}
unfilled() { # objects that are not done, or have not all of their parts
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
check "the module loads, with every table in parts" modprobe kunwind max_whole_kb=0
check "a process that runs is registered" kunwind register $$
is "$(unfilled)" "" "who registered it has waited for all parts"
session_begin "$work/trace"
verdict $? "an LTTng session with the context callstack-user"
start python3 /usr/bin/python3 -c 'import json, sqlite3, sys
for line in sys.stdin: json.dumps(sqlite3.connect(":memory:").execute("select 1").fetchall())'
start perl perl -e 'sub f { while (<STDIN>) { $x{$_}++ } } sub g { f() } g()'
start bash bash -c 'f() { while read -r x; do y=$x; done; }; g() { f; }; g'
start sqlite3 sqlite3 :memory:
start gdb gdb -nx -q
start openssl openssl enc -aes-256-cbc -k password -pbkdf2
also() { # NAME COMMAND...
	command -v "$2" >/dev/null && start "$@" || diag "no $2 here"
}
also clang clang -cc1 -fsyntax-only -x c -
mapfile -t pids < <(cut -f2 "$work/programs.tsv")
settle "${pids[@]}"
verdict $? "${#pids[@]} programs sleep in a system call"
check "all parts of all tables are built" filled
like "$(parts "$(realpath /lib/x86_64-linux-gnu/libc.so.6)")" '^ready ok ([0-9]+)/\1$' "libc's are"
is "$(grep -c $'^object\tready' /dev/kunwind)" "$(grep -c '^parts' /dev/kunwind)" \
	"no table of an object is built as a whole"
diag "$(awk -F'\t' '$1 == "parts" { o++; p += $3 } END { print o, "objects,", p, "parts" }' /dev/kunwind)"
while IFS=$'\t' read -r name _; do
	printf '\n' >"$work/$name/in"
done <"$work/programs.tsv"
settle "${pids[@]}"
verdict $? "all of them again, behind a line of input"
session_end
# how many depends on the time that the workers get
unbuilt=$(awk -F'\t' '$1 == "reason" && $2 == "not_ready" { print $3 }' /dev/kunwind)
diag "stacks that met a part before it was built: $unbuilt"
while IFS=$'\t' read -r name pid; do
	examine "$name" "$pid"
done <"$work/programs.tsv"
adopt /usr/bin/python3 "$oracle/blocked.py" "$work/trace" "$work/programs.tsv" "$work/eu" \
	--unbuilt "$unbuilt"
kill -9 "${pids[@]}" 2>/dev/null
wait 2>/dev/null
check "the module goes" rmmod kunwind

# ---- a big object
# libLLVM-14.so.1 of Debian 12, libLLVM.so.19.1 of 13
big=$(compgen -G '/usr/lib/x86_64-linux-gnu/libLLVM*.so.*' | head -n 1)
big=$(realpath "${big:-$(command -v gdb)}")
forget() { # [FILE]: behind the grace period in which it still has users; its file stays in the page cache
	local i file=${1:-$big}
	for ((i = 0; i < 50; i++)); do
		echo 2 >/proc/sys/vm/drop_caches
		[ -n "$(parts "$file")" ] || break
		sleep 0.1
	done
	cat "$file" >/dev/null
}
stall=50
check "the module loads once more" modprobe kunwind max_stall_ms=$stall
forget
echo 65536 >$params/max_whole_kb
read -r whole_stall whole_first whole_all whole_misses < <("$device/stages" "$big")
is "$(parts "$big")" "ready ok -" "$(basename "$big"), built as a whole"
forget
is "$(parts "$big")" "" "is forgotten"
echo 512 >$params/max_whole_kb
read -r stall_us first all misses < <("$device/stages" "$big")
filled
like "$(parts "$big")" '^ready ok ([0-9]+)/\1$' "in two stages: $(parts "$big")"
diag "as a whole: mmap() $whole_stall us, first stack $whole_first us, all $whole_all us, $whole_misses walks in vain"
diag "two stages: mmap() $stall_us us, first stack $first us, all $all us, $misses walks in vain"
[ "${first:-0}" -gt 0 ] && [ "$first" -lt "${whole_first:-0}" ]
verdict $? "in two stages the first stack through it comes earlier"
[ "${misses:-0}" -gt 0 ]
verdict $? "walks that came before a part was built have asked for it"
# a machine that does other things wakes us later
[ "${stall_us:-999999999}" -lt $((stall * 1000 * 10)) ]
verdict $? "nobody waits longer than max_stall_ms for it"

start_mapper() { # NAME FILE: a program that maps it when it is given a line of input
	start "$1" /usr/bin/python3 -c 'import mmap, sys, time
file = open(sys.argv[1], "rb")
sys.stdin.readline()
code = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)
time.sleep(1000)' "$2"
	settle "$pid"
}

# ---- its second stage, of low priority, gets next to nothing of the processors for longer
# than it may take: that is others' time, not its own
# (with the scheduler's groups of their own, nice values would not count between the two)
autogroup=$(cat /proc/sys/kernel/sched_autogroup_enabled)
echo 0 >/proc/sys/kernel/sched_autogroup_enabled
limit=$((2000 * ${KUNWIND_TIMEOUT_SCALE:-1}))
echo $limit >$params/max_build_ms
forget
start_mapper mapper "$big"
verdict $? "a program waits to map it"
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
like "$(parts "$big")" '^ready ok [0-9]+/' "mapped while others have the processors: $(parts "$big")"
sleep $((2 * limit / 1000))
diag "after twice max_build_ms of that: $(parts "$big")"
kill "${hogs[@]}"
filled
like "$(parts "$big")" '^ready ok ([0-9]+)/\1$' "its time is that which it had itself: $(parts "$big")"
kill "$pid"
wait "${hogs[@]}" "$pid" 2>/dev/null
echo 10000 >$params/max_build_ms
echo "$autogroup" >/proc/sys/kernel/sched_autogroup_enabled

# ---- a build that uses more than max_build_ms itself
built() { # FILE: its state, once it is not pending
	local i state
	for ((i = 0; i < 3000; i++)); do
		state=$(parts "$1")
		[[ $state == "" || $state == pending* ]] || break
		sleep 0.02
	done
	echo "${state% *}"
}
# in memory: reads of a file elsewhere end after max_build_ms by the clock, too
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

# ---- a file that changes again and again while its table is built
forget "$copy"
while :; do chmod 755 "$copy"; chmod 700 "$copy"; done &
writer=$!
start_mapper changing "$copy"
echo >"$work/changing/in"
is "$(built "$copy")" "failed io" "a file that changes while its table is built has no table"
kill $writer "$pid"
wait $writer "$pid" 2>/dev/null
rm "$copy"
echo 512 >$params/max_whole_kb

# ---- instructions that cannot be read, in the middle of it
cp "$big" "$work/bad.so"
at=$(/usr/bin/python3 "$here/oracle/spoil.py" "$work/bad.so")
diag "spoiled at $at"
"$device/stages" "$work/bad.so" >/dev/null
filled
like "$(parts "$work/bad.so")" '^ready ok ([0-9]+)/\1$' \
	"one function whose instructions cannot be read: all parts are built"

# ---- a second stage that needs more memory than a table may take
/usr/bin/python3 "$here/oracle/wide_rows.py" "$work/wide.so"
start_mapper wide "$work/wide.so"
echo >"$work/wide/in"
for _ in $(seq 600); do
	[[ $(parts "$work/wide.so") =~ ^(|pending.*|ready.*)$ ]] || break
	sleep 0.1
done
like "$(parts "$work/wide.so")" '^refused limit 0/[0-9]+$' "a second stage that fails gives up the whole table"
check "its memory is given back" test "$(awk -F'\t' -v p="$work/wide.so" \
	'$1 == "object" && $7 == p { print $5 }' /dev/kunwind)" -lt 100000
kill "$pid"
wait "$pid" 2>/dev/null
# the killed program keeps its tables until a grace period ends; then they have no users
none_left() { echo 2 >/proc/sys/vm/drop_caches; [ "$(stat_of memory_bytes)" = 0 ]; }
eventually "when memory is short, all tables are freed and nothing stays charged" none_left
check "the module is unloaded" rmmod kunwind
done_testing
