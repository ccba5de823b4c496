#!/bin/bash
# SPDX-License-Identifier: MIT
#
#   record.sh PROGRAMS OUT ROUNDS     in the VM
#
# Records workload.py, run by a copy of PROGRAMS that is lost with the VM. It writes
#   OUT/trace        all system calls
#   OUT/originals    the objects that ran, by their paths; also the vDSO
#   OUT/openat       openat only
#   OUT/callstack    openat; kunwind_callstack has a channel of its own, named own
#   OUT/openat.perf  openat, by perf with copies of the stack
#   OUT/all.perf     all system calls, by perf with call chains

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
kunwind show --own --tsv --no-symbols --event kunwind_map "$out/trace" |
	grep -o 'path = "/[^"]*"' | cut -d '"' -f 2 | sort -u |
	while IFS= read -r path; do
		mkdir -p "$out/originals${path%/*}"
		cp "$path" "$out/originals$path"
	done

# the vDSO
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
# perf's call chains come from the module, too
work perf-openat 1
perf record -q -e syscalls:sys_enter_openat,syscalls:sys_exit_openat --call-graph dwarf \
	-o "$out/openat.perf" -- "${command[@]}"
work perf-all "$rounds"
perf record -q -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -g -o "$out/all.perf" \
	-- kunwind run -- "${command[@]}"
