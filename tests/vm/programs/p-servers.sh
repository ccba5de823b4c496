#!/bin/bash
# SPDX-License-Identifier: MIT
#
# p-servers.sh - programs whose code has no CFI, under load: how many of their stacks are
# complete, and what the stacks cost, beside LTTng's own frame-pointer stacks
#
# Each program does a fixed number of requests (servers/, server.go), several times: with
# LTTng alone, with LTTng's stacks, with ours, each at all system calls and context switches;
# then under "kunwind record", which also takes samples. The VM's time counts instructions,
# so the processor times do not depend on the host.
#
# ONLY="TITLE..." runs only these programs.
# vm: --icount --mem 6000
# timeout: 3000

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2
source=$here/programs/servers
built=$here/../../build/programs/servers
check "the module loads" modprobe kunwind

# session CONTEXT: all system calls and context switches, with this context, or none
session() {
	CONTEXTS=$1 session_begin "$work/trace" --syscall -a && session_events sched_switch
}

# Prints the user and system time of COMMAND in milliseconds; its output is in $work.
time_of() { # COMMAND...
	local TIMEFORMAT='%3U %3S'
	{ time "$@" >"$work/out" 2>"$work/err"; } 2>&1 | awk '{ printf "%d\n", ($1 + $2) * 1000 }'
}

addresses() { # prints the mean number of addresses of a stack
	babeltrace2 "$work/trace" 2>"$work/babeltrace2.err" | grep -o '_callstack_user_length = [0-9]*' |
		awk '{ sum += $3 } END { printf "%.1f", NR ? sum / NR : 0 }'
}

# count_of BEFORE: prints "COMPLETE ALL" stacks since then, and names the reasons of the others.
count_of() {
	reasons | join "$1" - | awk -v reasons="$work/reasons" '
		{ n = $3 - $2; all += n }
		$1 == "complete" { complete += n; next }
		n { printf "#   %s: %d\n", $1, n >reasons }
		END { print complete + 0, all + 0 }'
}

# complete TITLE: tests that at least 99.5 % of the stacks since $work/before are complete
complete() {
	local complete all
	rm -f "$work/reasons"
	read -r complete all < <(count_of "$work/before")
	diag "$1: $complete of $all stacks are complete"
	[ ! -s "$work/reasons" ] || cat "$work/reasons"
	verdict "$((all < 1000))" "$1: at least 1,000 stacks"
	verdict "$((complete * 1000 < all * 995))" "$1: at least 99.5 % of the stacks are complete"
}

# serve TITLE MOST COMMAND...: MOST is the bound of our processor time in per cent of that with
# LTTng's stacks
serve() {
	local title=$1 most=$2 none frames ours long
	[ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $title "* ]] || return 0
	shift 2
	command -v "$1" >/dev/null || { skip "$title" "$1 is not installed"; return; }

	session ""; none=$(time_of "$@"); session_end
	check "$title: does its requests" grep -q '^[0-9]\|requests' "$work/out" || diag "$(tail -n 5 "$work/err")"
	rm -rf "$work/trace"
	session callstack-user; frames=$(time_of "$@"); session_end
	long=$(addresses)
	rm -rf "$work/trace"
	kunwind run -- "$@" >/dev/null 2>&1	# makes the tables, as in the runs before
	reasons >"$work/before"
	session callstack-user; ours=$(time_of kunwind run -- "$@"); session_end
	diag "$title: processor time: LTTng alone $none ms, its stacks $frames ms, ours $ours ms"
	diag "$title: mean addresses of a stack: LTTng's $long, ours $(addresses)"
	rm -rf "$work/trace"
	complete "$title: system calls and switches"
	verdict "$((ours * 100 > frames * most))" "$title: our processor time is at most $most % of LTTng's"

	reasons >"$work/before"
	kunwind record -q -F 199 -o "$work/record" -- "$@" >"$work/out" 2>"$work/err"
	is "$?" 0 "$title: kunwind record exits with status 0"
	complete "$title: with samples"
	rm -rf "$work/record"
}

serve go 120 "$built/../server-go" 200
serve go-cgo 120 "$built/../server-cgo-go" 200
serve node 120 node "$source/server.js" 1000
serve java 200 java -Xmx256m -cp "$built" Server 600
serve php 200 php -d opcache.enable_cli=1 -d opcache.jit=tracing -d opcache.jit_buffer_size=32M "$source/server.php" 5000
serve mono 200 mono "$built/server.exe" 2000
serve erlang 200 erl -noshell -pa "$built" -run server start 3000
serve guile 200 guile --no-auto-compile "$source/server.scm" 2000
serve spidermonkey 200 js102 "$source/server.mozjs" 10000
serve lua 200 "$built/lua-nocfi" "$source/server.lua" 3000
check "the module is unloaded" rmmod lttng-probe-kunwind kunwind
done_testing
