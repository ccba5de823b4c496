#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# long: only
#
# t-kernel-stacks.sh - kunwind record --kernel: kernel and user stack as one
#
# A program waits in read(2) of a pipe, below functions that the test knows. At
# the sched_switch in it, the stack must have the kernel's path from __schedule
# to the system call, and the program's functions below. Oracles: /proc/kallsyms
# for each name, and perf record -g of the same program. The trace must have the
# same names where /proc/kallsyms is of no use.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc perf

cd "$KUNWIND_TMP" || exit 1
unset DEBUGINFOD_URLS
cat >blocked.c <<'END_OF_PROGRAM'
#include <unistd.h>
#define FUNCTION static long __attribute__((noinline, noclone))
FUNCTION fct_c(char *byte) { long n = read(0, byte, 1); __asm__ volatile("" ::: "memory"); return n + 1; }
FUNCTION fct_b(char *byte) { long n = fct_c(byte); __asm__ volatile("" ::: "memory"); return n + 1; }
FUNCTION fct_a(char *byte) { long n = fct_b(byte); __asm__ volatile("" ::: "memory"); return n + 1; }
int main(void) { char byte; return fct_a(&byte) != 4; }
END_OF_PROGRAM
gcc -O2 -fomit-frame-pointer -o blocked blocked.c || { echo "Bail out! the program does not build"; exit 1; }
cat >feed <<'END_OF_SCRIPT'
# Runs COMMAND with a pipe as its input, and writes a byte when the program reads.
rm -f "$1" && mkfifo "$1" && fifo=$1 && shift
"$@" <"$fifo" &
exec 9>"$fifo"
until pid=$(pgrep -x blocked) && grep -qs pipe_read "/proc/$pid/stack"; do sleep 0.1; done
echo >&9
wait $!
END_OF_SCRIPT
{ modprobe kunwind && modprobe lttng-probe-kunwind; } || { echo "Bail out! no modules"; exit 1; }

out=$(bash ./feed fifo kunwind record --kernel -e read,sched_switch -o trace ./blocked 2>&1)
is "$?" 0 "record --kernel: the program is recorded, and its status is 0"
diag "$out"
check "record --kernel: the kernel's symbols are saved beside the trace" test -s trace/kallsyms.gz
is "$(stat -c %a trace/kallsyms.gz)" 640 "record --kernel: not every user may read the kernel's addresses"
is "$(gzip -dc trace/kallsyms.gz | sed -n '1,3p')" "# kunwind kernel symbols 1
# release $(uname -r)
# boot $(cat /proc/sys/kernel/random/boot_id)" "record --kernel: the symbols are named by release and boot"
is "$(gzip -dc trace/kallsyms.gz | tail -n +4 | md5sum)" "$(grep -E '^[0-9a-f]+ [TtWw] ' /proc/kallsyms | md5sum)" \
	"record --kernel: the symbols are those of code in /proc/kallsyms"
diag "bytes of kallsyms.gz: $(stat -c %s trace/kallsyms.gz), functions: $(gzip -dc trace/kallsyms.gz | tail -n +4 | wc -l)"
check "babeltrace2 opens the directory" babeltrace2 trace

# The number of the sched_switch at which the program begins to wait in the read. It
# may have been preempted in the read before.
kunwind show --tsv -e sched_switch trace >rows
number=$(awk -F '\t' '$1 == "event" { its = $5 == "blocked" }
	its && $1 == "kernel" && $5 ~ /pipe_read$/ && caller == "schedule" { print $2; exit } { caller = $5 }' rows)
stack=$(awk -F '\t' -v n="${number:-none}" '($1 == "kernel" || $1 == "frame") && $2 == n { printf "%s:%s ", $1, $5 }' rows)
# from glibc 2.41 on, read() calls __syscall_cancel(); Linux 7.2 has a
# fifo_pipe_read(), which calls anon_pipe_read()
like "$stack" "^kernel:__schedule kernel:schedule (kernel:[a-z]+_pipe_read |kernel:pipe_read )+kernel:vfs_read kernel:ksys_read (kernel:[a-z0-9_.]+ )*kernel:do_syscall_64 kernel:entry_SYSCALL_64_after_hwframe (frame:[a-z_]*syscall_cancel )*frame:[a-zA-Z_]*read frame:fct_c frame:fct_b frame:fct_a frame:main " \
	"show: the kernel's path of a blocked read, on top of the program's known stack"
wrong=$(/usr/bin/python3 - rows <<'END'
import sys
symbols = set()
for line in open("/proc/kallsyms"):
    address, kind, function, *module = line.split()
    if kind in "TtWw":
        symbols.add((int(address, 16), function, module[0] if module else "[kernel]"))
for row in {tuple(line.split("\t")[3:7]) for line in open(sys.argv[1]) if line.startswith("kernel\t")}:
    address, function, offset, module = row
    if function and (int(address, 0) - int(offset, 0), function, module) not in symbols:
        print(*row)
END
)
is "$(head -n 5 <<<"$wrong")" "" "show: $(awk -F '\t' '$1 == "kernel"' rows | sort -u -k 4 | wc -l) kernel frames have their names of /proc/kallsyms"
is "$(awk -F '\t' '$1 == "kernel" && $5 == ""' rows | wc -l)" 0 "show: all kernel frames have names"
is "$(awk -F '\t' '$1 == "kernel" && $3 == 0 && ($7 ~ /^\[lttng/ || $5 ~ /^__traceiter/)' rows | wc -l)" 0 "show: no frame of the tracer is on top of a stack"
text=$(kunwind show -e sched_switch trace | grep -A 20 "sched_switch blocked" | grep pipe_read)
like "$text" "pipe_read\+0x[0-9a-f]+ \(\[kernel\]\)" "show, text: the kernel's object is [kernel]"

# perf's stack of the same program, from the caller of schedule() to the system call
perf record -q -g -e sched:sched_switch -o perf.data -- bash ./feed fifo ./blocked >/dev/null 2>&1
perf script -i perf.data --comm blocked 2>/dev/null | awk '
	NF == 0 { if (line ~ / schedule [a-z_]*pipe_read/) { print line; exit } line = "" }
	/^\t/ && $1 ~ /^ffff/ { sub(/\+0x.*/, "", $2); line = line " " $2 }' | sed 's/.* schedule //' >theirs
awk -F '\t' -v n="${number:-none}" '$1 == "kernel" && $2 == n { printf " %s", $5 }' rows | sed 's/.* schedule //' >ours
echo >>ours
check "perf has a stack of the read" grep -q pipe_read theirs
is "$(cat ours)" "$(cat theirs)" "show: the kernel's functions are those of perf record -g"

# ------------------------------------------------------- report, pictures, exports
# ld.so reads files, too: so the sums are those of the stacks that have the function
kunwind export folded -w off-cpu trace >folded 2>/dev/null
row=$(kunwind report --json trace | /usr/bin/python3 -c '
import json, re, sys
rows = {row["name"]: row for row in json.load(sys.stdin)["functions"]}
stacks = [(set(re.split("[; ]", line)), int(line.rpartition(" ")[2])) for line in open("folded")]
for name, function in (("vfs_read", "vfs_read_[k]"), ("fct_c", "fct_c")):
    row, total = rows[name], sum(weight for names, weight in stacks if function in names)
    print(row["object"].rpartition("/")[2], row["off_cpu_ns"] > 0, row["off_cpu_ns"] == total or (row["off_cpu_ns"], total))')
is "$row" "[kernel] True True
blocked True True" "report: vfs_read and fct_c have the time off the CPU of all stacks with them"
line=$(grep "^blocked;.*pipe_read" folded)
like "$line" "main;fct_a;fct_b;fct_c;[a-zA-Z_]*read;([a-z_]*syscall_cancel;)*entry_SYSCALL_64_after_hwframe_\[k\];do_syscall_64_\[k\];.*vfs_read_\[k\];([a-z]+_pipe_read_\[k\];|pipe_read_\[k\];)+schedule_\[k\];__schedule_\[k\];read [0-9]+$" \
	"export folded: one stack, from main to __schedule"
kunwind flamegraph -o page.html trace
check "flamegraph: the page has kernel functions" grep -q 'pipe_read' page.html
for format in speedscope firefox perfetto pprof; do
	kunwind export $format -o out.$format trace 2>/dev/null
	{ [ $format = pprof ] && gzip -dc out.pprof || cat out.$format; } >plain
	check "export $format has kernel functions" grep -qa 'pipe_read' plain
done
is "$(kunwind show --no-kernel --tsv trace | grep -c '^kernel')" 0 "show --no-kernel: no kernel frames"

# ------------------------------------------------------- on another machine
# The copy is read where /proc/kallsyms and the boot id are another machine's.
mkdir elsewhere
cp -r trace elsewhere/copy
sed 's/^\(.*\) [^ ]* / 0000000000000000 T /' /proc/kallsyms | head -n 10 >no-kallsyms
echo 00000000-1111-2222-3333-444444444444 >no-boot
away() { unshare --mount sh -c 'mount --bind no-kallsyms /proc/kallsyms && mount --bind no-boot /proc/sys/kernel/random/boot_id && exec "$@"' away "$@"; }
away kunwind show --tsv -e sched_switch elsewhere/copy >away
is "$(grep '^kernel' away | md5sum)" "$(grep '^kernel' rows | md5sum)" "a copy of the trace has the same names on another machine"
rm elsewhere/copy/kallsyms.gz
away kunwind show --tsv -e sched_switch elsewhere/copy 2>said >away
is "$(awk -F '\t' '$1 == "kernel" { print $5, $10 }' away | sort -u)" " kernel of another host or boot" "without the saved symbols, another machine gives no names"
like "$(cat said)" "kunwind show: kernel functions have no names: .*kunwind record --kernel, as root" "without the saved symbols, a message says what to do"
kunwind show --tsv -e sched_switch elsewhere/copy >here
is "$(grep '^kernel' here | md5sum)" "$(grep '^kernel' rows | md5sum)" "without the saved symbols, this boot's /proc/kallsyms gives the same names"
away kunwind show --tsv -e sched_switch trace/kernel >away
is "$(grep '^kernel' away | md5sum)" "$(grep '^kernel' rows | md5sum)" "the directory of the trace itself, DIR/kernel, has the symbols of DIR"

# ------------------------------------------------------- without root
getent group tracing >/dev/null || groupadd -r tracing
usermod -aG tracing "$(id -un 65534)"
chgrp tracing /dev/kunwind && chmod 660 /dev/kunwind
mkdir -m 777 theirs.d && cp blocked theirs.d
out=$(cd theirs.d && setpriv --reuid 65534 --regid 65534 --groups "$(getent group tracing | cut -d: -f3)" \
	kunwind record -k -e sched_switch -o trace true 2>&1)
is "$?" 0 "record --kernel by a member of the group tracing: recorded"
like "$out" "kallsyms.gz: not written, so kernel functions may have no names: /proc/kallsyms hides" "record --kernel without root: says that the trace has no symbols"
check "record --kernel without root: no file is left" test ! -e theirs.d/trace/kallsyms.gz
is "$(kunwind show --tsv --own -e sched_switch theirs.d/trace | awk -F '\t' '$1 == "kernel" && $5 == "schedule"' | head -n 1 | cut -f 7)" "[kernel]" \
	"a trace without symbols is named by root on the same boot"
kunwind record -e sched_switch -o plain-trace true 2>/dev/null
check "record without --kernel saves no symbols" test ! -e plain-trace/kallsyms.gz
done_testing
