#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-ends.sh - a trace records why each of its stacks ended: with two channels,
# as a snapshot whose beginning was overwritten, and in each part of a rotated
# session
# timeout: 300
# long: only

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind perl
tmp=$KUNWIND_TMP

check "the module loads" modprobe kunwind
lttng-sessiond --daemonize >/dev/null 2>&1

# Opens a file for each line from stdin: "NUMBER PAUSE", as often and with a
# pause of so many seconds. There are three different stacks. On one processor:
# after a migration inside a system call, the buffer of the first processor could
# lose the stack of an event that the second one keeps.
coproc app {
	exec taskset 2 kunwind run -- perl -e '$| = 1;
		sub f { open(my $file, "<", "/etc/hostname") }
		sub g { my @list = sort { f(); 0 } 1, 2 }
		sub h { my @list = sort { g(); 0 } 1, 2 }
		while (<STDIN>) {
			my ($number, $pause) = split;
			for (1 .. $number) {
				f(); g(); h();
				select(undef, undef, undef, $pause) if $pause;
			}
			print "done\n";
		}'
}
pid=$app_PID to=${app[1]} from=${app[0]}
opens() { # NUMBER PAUSE: opens 3 * NUMBER files
	echo "$*" >&"$to"
	read -r _ <&"$from"
}
opens 5 0.1	# the tables are built

# of EVENTS TRACE: "STACKS ENDS": how many stacks these events have, and how many
# of these have a recorded end
of() {
	kunwind show --no-lines --tsv --pid "$pid" --event "$1" "$2" 2>"$tmp/err" | awk -F '\t' '
		$1 == "event" { with = 0 }
		$1 == "frame" && !with { with = 1; stacks++ }
		$1 == "end" { ends[$3]++; sum++ }
		END {
			print stacks + 0, sum + 0
			for (reason in ends)
				print "#", reason, ends[reason] >"/dev/stderr"
		}'
	cat "$tmp/err" >&2
}
# ends NAME LEAST TRACE: each openat has an end, and kunwind_callstack has stacks
ends() {
	local stacks ended
	read -r stacks ended < <(of '*openat' "$3")
	is "$ended" "$stacks" "$1: each stack has its end"
	check "$1: at least $2 stacks" test "$stacks" -ge "$2"
	read -r stacks ended < <(of kunwind_callstack "$3")
	is "$ended" "$stacks" "$1: each kunwind_callstack has its stack"
	check "$1: at least $(($2 / 2)) events kunwind_callstack" test "$stacks" -ge $(($2 / 2))
}

lttng -q create two --output="$tmp/two"
lttng -q enable-channel -k switches
lttng -q enable-event -k -c opens --syscall openat --callstack &&
	lttng -q enable-event -k -c switches --callstack --filter "\$ctx.pid == $pid" sched_switch && lttng -q start
verdict $? "two channels with stacks: the session starts"
opens 40 0.05
lttng -q destroy
ends "two channels" 240 "$tmp/two"
read -r stacks ended < <(of sched_switch "$tmp/two")
is "$ended" "$stacks" "second channel: each stack has its end"
check "second channel: at least 40 stacks" test "$stacks" -ge 40

# The processor's buffers hold some 6,000 events kunwind_callstack. Their stacks
# are defined again after 64 KB.
lttng -q create snap --snapshot --output="$tmp/snap"
for channel in opens kunwind; do
	lttng -q enable-channel -k $channel --subbuf-size=64K --num-subbuf=4
done
lttng -q enable-event -k -c opens --syscall openat --callstack && lttng -q start
verdict $? "snapshot: the session starts"
opens 4000 0
lttng -q snapshot record
verdict $? "snapshot: it is recorded"
lttng -q destroy
ends "snapshot" 200 "$tmp/snap"
read -r stacks _ < <(of kunwind_callstack "$tmp/snap")
check "snapshot: its first events kunwind_callstack are lost" test "$stacks" -lt 12000

# Each part is a trace of its own. Nothing is recorded during a rotation: its
# parts would begin at different times in different streams.
lttng -q create parts --output="$tmp/parts"
lttng -q enable-event -k --syscall openat --callstack && lttng -q start
verdict $? "rotated session: it starts"
for _ in 1 2; do
	opens 40 0.05
	lttng -q rotate
done
opens 40 0.05
lttng -q destroy
ends "rotated session, read as a whole" 720 "$tmp/parts"
nr=0
for part in "$tmp"/parts/archives/*; do
	nr=$((nr + 1))
	ends "part $nr of the rotated session" 240 "$part"
done
is "$nr" 3 "rotated session: it has three parts"

exec {to}>&-
wait "$pid"
check "the modules are unloaded" modprobe -r lttng-probe-kunwind kunwind
done_testing
