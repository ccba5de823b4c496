#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-auto.sh - the whole system: programs that ran before, programs that run for a
# moment, in a container, set-user-ID, a whole make -j4; by LTTng's traces of
# them, against eu-stack (blocked.py) and by where stacks end (whole.py)
# timeout: 900

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/oracle/session.sh"
need lttng babeltrace2 eu-stack gcc make

build_settle() { make -s -C "$here/progs" O="$progs" "$progs/settle" >"$work/build.log" 2>&1; }
build_settle || { cat "$work/build.log"; exit 1; }
chmod 755 "$work"
params=/sys/module/kunwind/parameters
# how many stacks have met a table not ready, though their task waited max_stall_ms
late() { awk -F'\t' '$1 == "reason" && $2 == "not_ready" { print $3 }' /dev/kunwind; }
stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }

# The VM's own busybox, which carries the output out, is built without CFI.
others+=' && $ctx.procname != "busybox"'

# Which program runs in a process that is long gone is known from these.
whole_begin() { # DIRECTORY SYSTEM-CALLS
	lttng -q create test --output="$1" >/dev/null || return 1
	lttng -q enable-channel -k all --subbuf-size=4M --num-subbuf=16 || return 1
	lttng -q add-context -k -c all -t callstack-user -t vpid -t pid -t procname -t vtid || return 1
	session_events --syscall "$2" || return 1
	session_events sched_process_fork || return 1
	lttng -q start
}

# Ten and more real programs, each of which opens a file for every line that it reads.
(
	cd "$work" && git init -q repo && cd repo && date >file && git add file &&
		git -c user.name=t -c user.email=t@t commit -q -m file
) || exit 1
declare -A line
KUNWIND_RUN="env"
reader() { # NAME LINE COMMAND...
	command -v "$3" >/dev/null || { diag "no $3 here"; return; }
	line[$1]=$2
	start "$1" "${@:3}"
}
reader python3 x /usr/bin/python3 -c 'import sys
def opens():
    open("/dev/null").close()
for line in iter(sys.stdin.readline, ""):
    opens()'
reader perl x perl -e 'sub opens { open F, "<", "/dev/null"; close F } while (<STDIN>) { opens() }'
reader bash x bash -c 'f() { : </dev/null; }; while read -r x; do f; done'
reader dash x dash -c 'f() { : </dev/null; }; while read -r x; do f; done'
reader sqlite3 '.read /dev/null' sqlite3 :memory:
reader sed x sed -u 'r /dev/null'
reader awk x awk '{ while ((getline y < "/dev/null") > 0); close("/dev/null") }'
reader gdb 'source /dev/null' gdb -nx -q
reader git HEAD:file git -C "$work/repo" cat-file --batch
reader xargs /dev/null xargs -n 1 cat
reader tclsh 'close [open /dev/null]' tclsh
reader ruby x ruby -e 'while gets; File.open("/dev/null").close; end'
mapfile -t pids < <(cut -f2 "$work/programs.tsv")
settle "${pids[@]}"
verdict $? "${#pids[@]} programs wait for their lines"

# A task waits for its tables as long as a busy machine needs to build them.
check "the module loads" modprobe kunwind max_stall_ms=20000
is "$(kunwind auto)" off "the whole system is not registered by itself"
check "kunwind auto on" kunwind auto on
is "$(kunwind auto) $(cat $params/auto)" "on Y" "it is told so"
missing=
for pid in 1 "${pids[@]}"; do
	grep -qP "^process\t$pid\t.*\tauto\t[0-9]+$" /dev/kunwind || missing+=" $pid"
done
is "$missing" "" "all of them are registered, and init"
is "$(stat_of missed_limit) $(stat_of missed_memory) $(stat_of auto_pending)" "0 0 0" "no process was missed, none is pending"
session_begin "$work/readers"
verdict $? "an LTTng session of all system calls"
for _ in 1 2 3; do
	for name in "${!line[@]}"; do
		printf '%s\n' "${line[$name]}" >"$work/$name/in"
	done
	settle "${pids[@]}" || not_ok "they wait again"
done
session_end
while IFS=$'\t' read -r name pid; do
	examine "$name" "$pid"
	# gdb's other threads never run
	sed -i -n "/^$pid\t/p" "$work/eu/$name.comm"
done <"$work/programs.tsv"
adopt /usr/bin/python3 "$oracle/blocked.py" "$work/readers" "$work/programs.tsv" "$work/eu" --registered
{
	kill -9 "${pids[@]}"
	wait
} 2>/dev/null
rm -rf "$work/readers"

# Programs that run for a moment, in two shells' loops; in a container; set-user-ID.
root=$work/root
mkdir -p "$root/bin" "$root/lib64" "$root/lib/x86_64-linux-gnu" "$root/etc"
cp /bin/dash /bin/cat "$root/bin/"
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
cp -L /lib/x86_64-linux-gnu/libc.so.6 "$root/lib/x86_64-linux-gnu/"
mv "$root/bin/cat" "$root/bin/boxcat"
mv "$root/bin/dash" "$root/bin/boxsh"
echo contained >"$root/etc/file"
cp /bin/cat "$work/sucat"
chmod 4755 "$work/sucat"
before=$(late)
whole_begin "$work/short" -a
verdict $? "a session of all system calls of all processes"
check "a loop of /bin/true in bash" bash -c 'for ((i = 0; i < 200; i++)); do /bin/true; done'
check "a loop of /bin/true in dash" dash -c 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done'
check "programs in namespaces of their own" unshare -m -p -U -r -f --kill-child chroot "$root" /bin/boxsh -c \
	'i=0; while [ $i -lt 30 ]; do boxcat /etc/file; i=$((i + 1)); done'
check "set-user-ID programs of a user" setpriv --reuid=1001 --regid=1001 --clear-groups -- \
	dash -c 'i=0; while [ $i -lt 30 ]; do '"$work"'/sucat /etc/hostname >/dev/null; i=$((i + 1)); done'
session_end
adopt /usr/bin/python3 "$oracle/whole.py" "$work/short" "short-lived programs" --root "$root" \
	--late $(($(late) - before)) --at-least 10000 --comm true --comm dash --comm bash --comm boxcat --comm boxsh --comm sucat
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/short" "$KEEP_DIR/"
rm -rf "$work/short"

# make -j4 of a C project
project=$work/project
# gcc 16 calls its assembler by another of its names; the kernel keeps 15 characters
as=$(basename "$(gcc -print-prog-name=as)")
files=${FILES:-160}
make_project "$project" "$files"
before=$(grep -P '^(reason|stat)\t' /dev/kunwind)
late=$(late)
whole_begin "$work/make" openat,execve
verdict $? "a session of openat of all processes"
check "make -j4 of a C project of $files files" make -s -C "$project" -j4 CC=gcc
session_end
check "it was built" "$project/main"
adopt /usr/bin/python3 "$oracle/whole.py" "$work/make" "make -j4" --share 0.999 --late $(($(late) - late)) --at-least $((files * 30)) \
	--comm cc1 --comm "${as:0:15}"
diag "stacks by reason, by the module's own counters, before and after"
diag "$(diff <(echo "$before") <(grep -P '^(reason|stat)\t' /dev/kunwind))"
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/make" "$KEEP_DIR/"
rm -rf "$work/make"
is "$(stat_of missed_limit) $(stat_of missed_memory)" "0 0" "no process was missed"
diag "a process takes, with its list of mappings: $(awk -F'\t' '$1 == "process" { n++; s += $6 }
	END { printf "%d bytes, mean of %d", s / n, n }' /dev/kunwind)"

# a helper of the kernel (core_pattern): a kernel thread starts it, no process forks it
cp /bin/sleep "$work/helper"
pattern=$(cat /proc/sys/kernel/core_pattern)
echo "|$work/helper 1000" >/proc/sys/kernel/core_pattern
sh -c 'kill -SEGV $$' 2>/dev/null &
aborts=$!
is_auto() { grep -qP '^process\t[0-9]+\thelper\t.*\tauto\t[0-9]+$' /dev/kunwind; }
eventually "auto registers a program that a kernel thread starts (core_pattern)" is_auto
echo "$pattern" >/proc/sys/kernel/core_pattern
pkill -x helper
wait $aborts 2>/dev/null

# off
kunwind run -- sleep 1000 &
hand=$!
until grep -qP "^process\t$hand\tsleep\t.*\tchildren,auto\t" /dev/kunwind; do sleep 0.1; done
ok "a process that is registered by hand and as one of all is both"
check "kunwind auto off" kunwind auto off
is "$(awk -F'\t' '$1 == "process" { print $2, $3, $5 }' /dev/kunwind)" "$hand sleep children" \
	"it drops all but what was registered by hand"
kill $hand
wait $hand 2>/dev/null
for _ in {1..100}; do
	[ "$(stat_of processes) $(stat_of map_bytes)" = "0 0" ] && break
	sleep 0.1
done
is "$(stat_of processes) $(stat_of map_bytes)" "0 0" "and the memory of lists of mappings is given back"
check "the module is unloaded" rmmod kunwind

# as a parameter
check "it loads with auto=1" modprobe kunwind auto=1
is "$(kunwind auto)" on "and has the whole system"
for _ in $(seq $((100 * ${KUNWIND_TIMEOUT_SCALE:-1}))); do
	[ "$(stat_of auto_pending)" = 0 ] && break
	sleep 0.1
done
check "processes that ran before are registered, too" grep -qP "^process\t1\t.*\tauto\t" /dev/kunwind
echo 0 >$params/auto
is "$(kunwind auto) $(stat_of processes)" "off 0" "the parameter switches it off"
check "on again" sh -c "echo Y >$params/auto"
check "it is unloaded while it is on" rmmod kunwind
done_testing
