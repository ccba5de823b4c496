#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-system-wide.sh - registration of the whole system (kunwind system-wide)
#
# Programs that ran before, programs that live for a moment, in a container, or
# set-user-ID, and a make -j4. LTTng's stacks of them are compared with
# eu-stack's (blocked.py), and must end at an entry point (whole.py).
# timeout: 900
# long: more

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 eu-stack gcc make

build_settle() { make -s -C "$here/fixtures" O="$progs" "$progs/settle" >"$work/build.log" 2>&1; }
build_settle || { cat "$work/build.log"; exit 1; }
chmod 755 "$work"
params=/sys/module/kunwind/parameters
# The number of stacks that ended at a table that was not ready, although the
# task had waited max_stall_ms.
late() { awk -F'\t' '$1 == "reason" && $2 == "not_ready" { print $3 }' /dev/kunwind; }
stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }

# The VM's own busybox, which writes the output to the host, has no CFI.
others+=' && $ctx.procname != "busybox"'

# Starts a session of all processes. From execve and sched_process_fork,
# whole.py knows which program a process ran, also after the process has ended.
whole_begin() { # DIRECTORY SYSTEM-CALLS
	lttng -q create test --output="$1" >/dev/null || return 1
	lttng -q enable-channel -k all --subbuf-size=4M --num-subbuf=16 || return 1
	lttng -q add-context -k -c all -t callstack-user -t vpid -t pid -t procname -t vtid || return 1
	session_events --syscall "$2" || return 1
	session_events sched_process_fork || return 1
	lttng -q start
}

# Some twelve real programs. Each opens a file for every line that it reads.
(
	cd "$work" && git init -q repo && cd repo && date >file && git add file &&
		git -c user.name=t -c user.email=t@t commit -q -m file
) || exit 1
declare -A line
KUNWIND_RUN="env"
reader() { # NAME LINE COMMAND...
	command -v "$3" >/dev/null || { diag "not installed: $3"; return; }
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
verdict $? "${#pids[@]} programs sleep until they get a line"

check "the module loads" modprobe kunwind
is "$(kunwind system-wide)" off "system_wide is off by default"
check "kunwind system-wide on succeeds" kunwind system-wide on
is "$(kunwind system-wide) $(cat $params/system_wide)" "on Y" "kunwind system-wide and the parameter report that system_wide is on"
missing=
for pid in 1 "${pids[@]}"; do
	grep -qP "^process\t$pid\t.*\tsystem_wide\t[0-9]+$" /dev/kunwind || missing+=" $pid"
done
is "$missing" "" "system_wide registers the running programs and init"
is "$(stat_of missed_limit) $(stat_of missed_memory) $(stat_of system_wide_pending)" "0 0 0" "system_wide on: no process was missed, none is pending"
session_begin "$work/readers"
verdict $? "readers: an LTTng session of all system calls starts"
for _ in 1 2 3; do
	for name in "${!line[@]}"; do
		printf '%s\n' "${line[$name]}" >"$work/$name/in"
	done
	settle "${pids[@]}" || not_ok "readers: all programs sleep again after their line"
done
session_end
while IFS=$'\t' read -r name pid; do
	examine "$name" "$pid"
	# the other threads of gdb never run, so the trace has no event of them
	sed -i -n "/^$pid\t/p" "$work/eu/$name.comm"
done <"$work/programs.tsv"
adopt /usr/bin/python3 "$oracle/blocked.py" "$work/readers" "$work/programs.tsv" "$work/eu" --registered
{
	kill -9 "${pids[@]}"
	wait
} 2>/dev/null
rm -rf "$work/readers"

# Programs that live for a moment: in loops of two shells, in a container, and
# set-user-ID.
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
times=$((KUNWIND_LONG ? 200 : 50))
whole_begin "$work/short" -a
verdict $? "short-lived programs: a session of all system calls starts"
check "bash runs /bin/true $times times" setarch "$(uname -m)" bash -c 'for ((i = 0; i < '$times'; i++)); do /bin/true; done'
check "dash runs /bin/true $times times" setarch "$(uname -m)" dash -c 'i=0; while [ $i -lt '$times' ]; do /bin/true; i=$((i + 1)); done'
check "programs run in namespaces of their own" unshare -m -p -U -r -f --kill-child chroot "$root" /bin/boxsh -c \
	'i=0; while [ $i -lt 30 ]; do boxcat /etc/file; i=$((i + 1)); done'
check "a user runs set-user-ID programs" setpriv --reuid=1001 --regid=1001 --clear-groups -- \
	dash -c 'i=0; while [ $i -lt 30 ]; do '"$work"'/sucat /etc/hostname >/dev/null; i=$((i + 1)); done'
session_end
adopt /usr/bin/python3 "$oracle/whole.py" "$work/short" "short-lived programs" --root "$root" \
	--late $(($(late) - before)) --at-least 10000 --comm true --comm dash --comm bash --comm boxcat --comm boxsh --comm sucat
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/short" "$KEEP_DIR/"
rm -rf "$work/short"

# make -j4 of a C project
project=$work/project
# The name of the assembler depends on the version of gcc. The kernel keeps 15
# characters of it.
as=$(basename "$(gcc -print-prog-name=as)")
files=${FILES:-$((KUNWIND_LONG ? 160 : 20))}
make_project "$project" "$files"
before=$(grep -P '^(reason|stat)\t' /dev/kunwind)
late=$(late)
whole_begin "$work/make" openat,execve
verdict $? "make -j4: a session of openat and execve starts"
check "make -j4 builds a C project of $files files" make -s -C "$project" -j4 CC=gcc
session_end
check "the program that make -j4 built runs" "$project/main"
adopt /usr/bin/python3 "$oracle/whole.py" "$work/make" "make -j4" --share 0.999 --late $(($(late) - late)) --at-least $((files * 30)) \
	--comm cc1 --comm "${as:0:15}"
diag "the module's counters and stacks by reason, before and after make -j4"
diag "$(diff <(echo "$before") <(grep -P '^(reason|stat)\t' /dev/kunwind))"
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/make" "$KEEP_DIR/"
rm -rf "$work/make"
is "$(stat_of missed_limit) $(stat_of missed_memory)" "0 0" "make -j4: no process was missed"
diag "memory of a process and its list of mappings: $(awk -F'\t' '$1 == "process" { n++; s += $6 }
	END { printf "%d bytes, mean of %d", s / n, n }' /dev/kunwind)"

# The helper of core_pattern. A kernel thread starts it, no process forks it.
cp /bin/sleep "$work/helper"
pattern=$(cat /proc/sys/kernel/core_pattern)
echo "|$work/helper 1000" >/proc/sys/kernel/core_pattern
sh -c 'kill -SEGV $$' 2>/dev/null &
aborts=$!
is_system_wide() { grep -qP '^process\t[0-9]+\thelper\t.*\tsystem_wide\t[0-9]+$' /dev/kunwind; }
eventually "system_wide registers a program that a kernel thread starts (core_pattern)" is_system_wide
echo "$pattern" >/proc/sys/kernel/core_pattern
pkill -x helper
wait $aborts 2>/dev/null

# system_wide off
kunwind run -- sleep 1000 &
hand=$!
until grep -qP "^process\t$hand\tsleep\t.*\tchildren,system_wide\t" /dev/kunwind; do sleep 0.1; done
ok "a process can be registered by hand and by system_wide at once"
check "kunwind system-wide off succeeds" kunwind system-wide off
is "$(awk -F'\t' '$1 == "process" { print $2, $3, $5 }' /dev/kunwind)" "$hand sleep children" \
	"system_wide off: only the process registered by hand is left"
kill $hand
wait $hand 2>/dev/null
for _ in {1..100}; do
	[ "$(stat_of processes) $(stat_of map_bytes)" = "0 0" ] && break
	sleep 0.1
done
is "$(stat_of processes) $(stat_of map_bytes)" "0 0" "system_wide off: the memory of lists of mappings is given back"
check "the module is unloaded while system_wide is off" rmmod kunwind

# system_wide as a parameter
check "the module loads with system_wide=1" modprobe kunwind system_wide=1
is "$(kunwind system-wide)" on "system_wide=1: system_wide is on after the load"
for _ in $(seq $((100 * ${KUNWIND_TIMEOUT_SCALE:-1}))); do
	[ "$(stat_of system_wide_pending)" = 0 ] && break
	sleep 0.1
done
check "system_wide=1: init, which ran before the load, is registered" grep -qP "^process\t1\t.*\tsystem_wide\t" /dev/kunwind
echo 0 >$params/system_wide
is "$(kunwind system-wide) $(stat_of processes)" "off 0" "parameter system_wide=0: system_wide is off, no process is registered"
check "parameter system_wide=Y is accepted" sh -c "echo Y >$params/system_wide"
check "the module is unloaded while system_wide is on" rmmod kunwind
done_testing
