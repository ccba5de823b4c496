#!/bin/bash
# SPDX-License-Identifier: MIT
#
#   record.sh PROGRAMS OUT ROUNDS     in the VM
#
# Records the workload, run by a copy of PROGRAMS that goes with the VM: all its
# system calls as OUT/trace, and the objects that it ran as OUT/originals, by their
# paths, the vDSO among them. For figures beside it: openat alone, as OUT/openat, and by perf with copies
# of the stack (OUT/openat.perf); openat with kunwind_callstack alone in a channel named own
# (OUT/callstack); all system calls by perf with call chains (OUT/all.perf).

set -euo pipefail
programs=$1 out=$2 rounds=$3
here=$(cd "$(dirname "$0")" && pwd)

modprobe kunwind
mkdir -p /tmp/names
cp -r "$programs" /tmp/names/programs
export PATH=/tmp/names/programs/bin:$PATH LD_LIBRARY_PATH=/tmp/names/programs/lib
export HOME=/tmp/names PYTHONDONTWRITEBYTECODE=1 GIT_TEMPLATE_DIR=
work() { # NAME ROUNDS: the command
	mkdir "/tmp/names/$1"
	command=(python3.11 "$here/workload.py" "/tmp/names/$1" "$2")
}

work all "$rounds"
kunwind record -q -e syscalls -o "$out/trace" -- "${command[@]}"
kunwind show --all --tsv --no-symbols --event kunwind_map "$out/trace" |
	grep -o 'path = "/[^"]*"' | cut -d '"' -f 2 | sort -u |
	while IFS= read -r path; do
		mkdir -p "$out/originals${path%/*}"
		cp "$path" "$out/originals$path"
	done

# the kernel's part of each program
python3.11 -c '
import sys
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    start, end = (int(n, 16) for n in next(line for line in maps if "[vdso]" in line).split()[0].split("-"))
    memory.seek(start)
    sys.stdout.buffer.write(memory.read(end - start))' >"$out/originals/[vdso]"

work openat 1
kunwind record -q -e openat -o "$out/openat" -- "${command[@]}"
work callstack 1
{
	lttng create callstack --output="$out/callstack"
	for channel in stacks own; do
		lttng enable-channel --kernel $channel --subbuf-size=4M
	done
	lttng enable-event --kernel --channel stacks --syscall openat
	lttng add-context --kernel --channel stacks --type callstack-user
	lttng enable-event --kernel --channel own kunwind_callstack
	lttng start
	kunwind run -- "${command[@]}"
	lttng destroy
} >&2
# the module serves perf's call chains as well
work perf-openat 1
perf record -q -e syscalls:sys_enter_openat,syscalls:sys_exit_openat --call-graph dwarf \
	-o "$out/openat.perf" -- "${command[@]}"
work perf-all "$rounds"
perf record -q -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o "$out/all.perf" \
	-- kunwind run -- "${command[@]}"
