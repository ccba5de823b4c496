#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
#
# t-show.sh - kunwind show names the frames of a known call chain
#
# Also in a session that starts after the program. A name comes from the traced
# object or there is none, and each name equals eu-addr2line's. ftrace, perf and
# BPF programs get the same events about mappings as LTTng.

. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc eu-addr2line perf bpftrace

cd "$KUNWIND_TMP" || exit 1
source=$OLDPWD/tests/vm/fixtures/show-chain.c
chain="fct_c fct_b fct_a main"
mappings=kunwind_map,kunwind_unmap,kunwind_exec,kunwind_fork,kunwind_exit
build() { gcc -O2 -fomit-frame-pointer "$@" "$source"; }
build -o chain || { echo "Bail out! the program does not build"; exit 1; }

{ modprobe kunwind && modprobe lttng-probe-kunwind; } || { echo "Bail out! no modules"; exit 1; }
lttng-sessiond --daemonize >/dev/null 2>&1

begin() { # DIRECTORY EVENT...
	local dir=$1
	shift
	# shellcheck disable=SC2086
	lttng -q create show --output="$KUNWIND_TMP/$dir" &&
		lttng -q enable-channel -k all &&
		lttng -q add-context -k -c all -t callstack-user -t vpid -t vtid -t procname ${contexts-} &&
		lttng -q enable-event -k -c all --syscall gettid &&
		{ [ $# -eq 0 ] || lttng -q enable-event -k -c all "$@"; } &&
		lttng -q start
}
end() { lttng -q stop && lttng -q destroy show; }

# The functions of the first gettid of process PID in trace DIR, innermost
# first.
functions() { # DIR [PID]
	kunwind show --tsv --event syscall_entry_gettid ${2:+--pid "$2"} --limit 1 "$1" |
		awk -F '\t' '$1 == "frame" { printf "%s ", $5 == "" ? "?" : $5 }'
}

# Starts a program that waits for input from descriptor $go; sets $pid.
start_waiting() { # PROGRAM [COMMAND-BEFORE-IT]...
	local program=$1
	shift
	rm -f in
	mkfifo in
	"$@" "$program" wait <in &
	pid=$!
	exec {go}>in
	until [ "$(cat "/proc/$pid/comm")" = "${program##*/}" ] &&
		grep -q pipe_read "/proc/$pid/stack"; do sleep 0.1; done
}

# ------------------------------------------------ recorded from the first event
contexts="-t pid"
begin first "$mappings"
kunwind run -- ./chain &
pid=$!
wait "$pid"
is "$?" 0 "kunwind run -- chain: exits with status 0"
end
contexts=
got=$(functions first "$pid")
like "$got" "(^| )$chain " "show: the functions of the known chain are named"
like "$got" " _start $" "show: the stack ends at _start"
text=$(kunwind show --event syscall_entry_gettid --pid "$pid" first)
like "$text" "#[1-9] +0x[0-9a-f]{16} fct_b\+0x[0-9a-f]+ \($KUNWIND_TMP/chain\)" "show: the text has function+offset (object)"
like "$(kunwind show --summary --tsv --pid "$pid" --event '*gettid' first)" \
	"with_stack.2.*complete.2" "show --summary: both stacks are counted as complete"
is "$(kunwind show --tsv first | grep -c '	kunwind_')" 0 "show: kunwind's own events are left out"
like "$(kunwind show --own --tsv first)" "	kunwind_map	" "show --own: kunwind's own events are printed"
like "$(kunwind show --no-symbols --event syscall_entry_gettid first)" "#0 +0x[0-9a-f]{16}" "show --no-symbols: frames have their address"
is "$(kunwind show --tsv --no-symbols first | cut -f5 | grep -c fct_)" 0 "show --no-symbols: frames have no name"

# Each frame's FUNCTION OFFSET OBJECT ADDRESS is compared with eu-addr2line's
# symbol+offset, for return addresses at the address minus 1. An object may have
# several names for one function; only names of the test program are compared.
compared=0 wrong=
while IFS=$'\t' read -r index function offset object address; do
	minus=1
	[ "$index" -eq 0 ] && minus=0
	theirs=$(eu-addr2line -S -e "$object" "$(printf '0x%x' $((address - minus)))" | head -n 1)
	compared=$((compared + 1))
	their_offset=0x0
	[[ $theirs == *+0x* ]] && their_offset=${theirs##*+}
	if [ $((their_offset)) -ne $((offset - minus)) ] ||
		{ [ "$object" = "$KUNWIND_TMP/chain" ] && [ "${theirs%+*}" != "$function" ]; }; then
		wrong+="$object $address: $function+$offset, eu-addr2line: $theirs (minus $minus)"$'\n'
	fi
done < <(kunwind show --tsv first | awk -F '\t' -v OFS='\t' \
	'$1 == "frame" && $5 != "" && $7 ~ "^/" { print $3, $5, $6, $7, $8 }' | sort -u)
is "$wrong" "" "show: all offsets, and the names in the test program, are eu-addr2line's"
check "show: at least 8 names are compared ($compared)" test "$compared" -ge 8

# ------------------------------------------------ a session that starts later
start_waiting ./chain kunwind run --
begin later "$mappings"
echo >&"$go"
until grep -q pipe_read "/proc/$pid/stack"; do sleep 0.1; done
sleep 0.5
awk '$2 ~ /x/ && $6 != "[vsyscall]" { print $1, $3, $6 }' "/proc/$pid/maps" |
	sed -E 's/(^|[ -])0+([0-9a-f])/\1\2/g' | sort >maps
end
like "$(functions later "$pid")" "(^| )$chain .*_start $" "later session: the state dump has the mappings, and the chain is named"
exec {go}>&-
wait "$pid"

field() { sed -E "s/.*[{ ]$1 = \"?([^,\"]*).*/\1/"; }
kunwind show --own --event kunwind_map later | grep "{ tgid = $pid," | sort -u >dumped
paste -d ' ' <(field start <dumped) <(field end <dumped) <(field offset <dumped) <(field path <dumped) |
	sed 's/0x//g; s/ /-/' | sort >dump
is "$(cat dump)" "$(cat maps)" "later session: the state dump has the executable mappings of /proc/PID/maps"
is "$(grep 'chain"' dumped | field build_id)" "$(readelf -nW chain | awk '/Build ID/ { print $NF }')" \
	"later session: the state dump has the build-id of the program"

# ------------------------------------------------ the same events without LTTng
cat >over.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
/* Maps code of a file, and then something else at the same address. */
int main(int argc, char **argv)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(argv[argc - 1], O_RDONLY), 0);

	printf("0x%lx\n", (unsigned long)code);
	return mmap(code, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != code;
}
END
gcc -O1 -o over over.c
id=$(readelf -nW chain | awk '/Build ID/ { print $NF }')
whole_life="./chain; ./over ./over >over.out; true"
# shows TRACER FILE: tests that the text in FILE has all events
shows() {
	for what in "kunwind_exec: tgid=[0-9]+ comm=sh" "kunwind_fork: parent=[0-9]+ child=[0-9]+" \
		"kunwind_exec: tgid=[0-9]+ comm=chain" "kunwind_map: .* build_id=$id path=$KUNWIND_TMP/chain" \
		"kunwind_map: .* path=\[vdso\]" "kunwind_exit: tgid=[0-9]+"; do
		check "$1 shows $what" grep -qE "$what *\$" "$2"
	done
	over=$(cat over.out)
	check "$1 shows kunwind_map of code at its address" grep -qE "kunwind_map: .* start=$over .* path=$KUNWIND_TMP/over" "$2"
	check "$1 shows kunwind_unmap when something else is mapped there" grep -qE "kunwind_unmap: tgid=[0-9]+ start=$over end=" "$2"
}
tracing=/sys/kernel/tracing
echo 1 >$tracing/events/kunwind/enable
kunwind run -- sh -c "$whole_life"
echo 0 >$tracing/events/kunwind/enable
cp $tracing/trace events
shows ftrace events

perf record -q -e 'kunwind:*' -a -o perf.data -- kunwind run -- sh -c "$whole_life"
perf script -i perf.data >events
shows perf events

bpftrace -c "$(command -v kunwind) run -- ./over ./over" -e '
	tracepoint:kunwind:kunwind_exec { printf("exec %d\n", args->tgid); }
	tracepoint:kunwind:kunwind_map { printf("map %d 0x%lx\n", args->tgid, args->start); }
	tracepoint:kunwind:kunwind_unmap { printf("unmap %d 0x%lx\n", args->tgid, args->start); }
	tracepoint:kunwind:kunwind_exit { printf("exit %d\n", args->tgid); }' >events 2>bpftrace.err
over=$(grep -o '^0x.*' events)
tgid=$(awk '$1 == "unmap" { print $2 }' events)
diag "$(head -n 3 bpftrace.err)"
for what in "exec $tgid" "map $tgid $over" "unmap $tgid $over" "exit $tgid"; do
	check "a BPF program gets kunwind_${what%% *}" grep -qx "$what" events
done

# --------------------------------- in a pid namespace: only the vpid is known
begin container "$mappings"
unshare --pid --fork --mount-proc kunwind run -- ./chain
end
like "$(functions container 1)" "(^| )$chain .*_start $" "a process in a pid namespace is found by its vpid"

# ------------------------------------------------ nothing but /proc
start_waiting ./chain kunwind run --
begin live
echo >&"$go"
sleep 0.5
end
like "$(functions live "$pid")" "(^| )$chain .*_start $" "without kunwind's events: names for a running process come from /proc"
exec {go}>&-
wait "$pid"
is "$(functions live "$pid" | tr -d '? ')" "" "without kunwind's events: an ended process has addresses only"

# --------------------------------------- objects that are deleted or changed
mkdir gone
cp chain gone/prog
begin gone/trace "$mappings"
kunwind run -- "$KUNWIND_TMP/gone/prog" &
pid=$!
wait "$pid"
end
like "$(functions gone/trace "$pid")" "$chain" "object not yet deleted: frames are named"
rm gone/prog
text=$(kunwind show --event syscall_entry_gettid --pid "$pid" gone/trace)
like "$text" "$KUNWIND_TMP/gone/prog\+0x[0-9a-f]+ \(no such file\)" "deleted object: frames have the object, the address and the reason"
is "$(grep -c fct_ <<<"$text")" 0 "deleted object: frames have no names"
like "$text" "libc" "deleted object: the stack still has frames of libc"
build -g -O1 -o gone/prog
text=$(kunwind show --event syscall_entry_gettid --pid "$pid" gone/trace)
like "$text" "$KUNWIND_TMP/gone/prog\+0x[0-9a-f]+ \(build-id differs\)" "object replaced by another build: frames have the reason"
is "$(grep -c fct_ <<<"$text")" 0 "object replaced by another build: frames have no names"

# ------------------------------------------------ bad input
XDG_STATE_HOME=$KUNWIND_TMP/none check_fails 2 "show without an argument fails if no recording is remembered" kunwind show
check_fails 2 "show: an unknown option is refused" kunwind show --frobnicate first
check_fails 1 "show: a directory without a trace is refused" kunwind show /etc/apt
check_fails 1 "show: a directory that does not exist is refused" kunwind show "$KUNWIND_TMP/nothing"
check_fails 2 "show: a wrong number is refused" kunwind show --limit 1x first
mkdir cut
cp -r first/. cut/
metadata=$(find cut -name metadata | head -n 1)
truncate -s 1000 "$metadata"
check_fails 1 "show: a trace with truncated metadata is refused" kunwind show cut

# ------------------------------------------------ unloading the probe module
begin held "$mappings"
check_fails 1 "rmmod of the probe module fails while a session uses its events" rmmod lttng-probe-kunwind
end
until [ "$(cat /sys/module/lttng_probe_kunwind/refcnt)" -eq 0 ]; do sleep 0.2; done
check "the probe module is unloaded after the session" rmmod lttng-probe-kunwind
begin without
check "a program runs under a session without the probe module" ./chain
end
done_testing
