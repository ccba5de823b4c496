#!/bin/bash
# SPDX-License-Identifier: MIT
#
# usage.sh - help and usage of kunwind: help goes to stdout with status 0, a
# message about wrong usage to stderr with status 1 (run and record: 125, as
# env(1) does). Also the messages if the module is not loaded.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
export XDG_STATE_HOME=/nonexistent	# no recording is remembered
kunwind=../../tools/build/kunwind
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS OUT-REGEX ERR-REGEX ARGUMENTS...; an empty REGEX: no output
expect() {
	local status=$1 out=$2 err=$3 name got o e
	shift 3
	name=$(LC_ALL=C tr -c '[:print:]' '?' <<<"kunwind $*")
	name=${name%?}
	"$kunwind" "$@" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	o=$(cat "$work/out") e=$(cat "$work/err")
	if [[ $got =~ ^$status$ ]] && { [ -n "$out" ] && [[ $o =~ $out ]] || [ "$o" = "$out" ]; } &&
		{ [ -n "$err" ] && [[ $e =~ $err ]] || [ "$e" = "$err" ]; }; then
		ok "$name"
	else
		not_ok "$name"
		diag "status $got, wanted $status"
		diag "stdout: $o"
		diag "stderr: $e"
	fi
}

expect 2 '' '^Usage: kunwind COMMAND'
expect 0 '^Usage: kunwind COMMAND.*doctor' '' --help
expect 0 '^Usage: kunwind COMMAND' '' -h
expect 0 '^Usage: kunwind COMMAND' '' help
expect 0 '^kunwind [0-9]+\.[0-9]+\.[0-9]+ \(ABI [0-9]+\)$' '' --version
expect 2 '' 'no command "nonsense"' nonsense
expect 2 '' 'no command "nonsense"' help nonsense
expect 2 '' 'no command "--nonsense"' --nonsense
for command in run register unregister system-wide status doctor dump show crashes symbolize record snapshot report waits flamegraph export; do
	expect 0 "^Usage: kunwind $command" '' "$command" --help
	expect 0 "^Usage: kunwind $command" '' help "$command"
	expect 0 '^kunwind [0-9]+\.[0-9]+\.[0-9]+ \(ABI [0-9]+\)$' '' "$command" --version
done
expect 0 '^Usage: kunwind status' '' status --tsv --help
expect 0 '^Usage: kunwind dump' '' dump --tsv -h
expect 0 '^Usage: kunwind run' '' run --no-children --help
expect '12[57]' '' '.' run --no-children -- --help
expect 125 '' 'no command given' run
expect 125 '' 'no command given' run --
expect 125 '' 'unknown option -x' run -x true
expect 2 '' 'no PID given' register
expect 2 '' 'no PID given' register --children
expect 2 '' 'unknown option --nonsense' register --nonsense 1
for pid in x 0 -1 1x '' ' 1' +1 99999999999999999999; do
	expect 2 '' 'not the number of a process|unknown option' register "$pid"
	expect 2 '' 'not the number of a process|unknown option' unregister "$pid"
done
expect 2 '' 'no PID given' unregister
expect 2 '' 'no PID given' unregister --json
expect 2 '' 'no PID given' register --json
expect 2 '' 'on or off, not: x' system-wide x
expect 2 '' 'on or off, not: x' system-wide --json x
expect 2 '' 'on or off, not: off' system-wide on off
expect 2 '' 'unknown argument x' status x
expect 2 '' 'unknown argument x' doctor x
expect 2 '' 'no file given' dump
expect 2 '' 'unknown argument b' dump a b
expect 1 '' 'No such file' dump /nonexistent
expect 1 '' 'not a regular file' dump /
expect 1 '' 'not a regular file' dump /dev/null
expect 1 '' 'refused: not_elf' dump "$0"
printf '\177ELF' >"$work/short"
expect 1 '' 'refused: ' dump "$work/short"
expect 1 '' 'the name of a trace is empty' show ''
odd=$'\033[31m\302\2331m\377'
expect 1 '' '^[^[:cntrl:]]*nonexistent\\x1b\[31m\\xc2\\x9b1m\\xff: No such file' dump "/nonexistent$odd"
mkdir "$work/$odd"
printf '\x57\x1d\xd1\x75' >"$work/$odd/metadata"	# CTF's packet magic
expect 1 '' '^kunwind show: [^[:cntrl:]]*\\x1b\[31m' show "$work/$odd"
ln -s /bin/true "$work/$odd/babeltrace2"
out=$(PATH=/nonexistent "$kunwind" doctor 2>&1)
if [[ $out =~ lttng\ --callstack\ +PATH\ does\ not\ have\ the\ front\ end\;\ fix:\ put\ /.*/tools/build\ into\ PATH ]]; then
	ok "doctor: PATH has no lttng"
else
	not_ok "doctor: PATH has no lttng"
	diag "$out"
fi
PATH=$work/$odd:$PATH expect '[01]' 'babeltrace2 +[^[:cntrl:]]*\\x1b\[31m\\xc2' '' doctor
PATH=$work/$odd:$PATH expect '[01]' $'babeltrace2\t[^[:cntrl:]]*\\\\x1b\\[31m' '' doctor --tsv
for command in show report waits 'flamegraph -o /dev/null' 'export folded'; do
	# shellcheck disable=SC2086
	expect 1 '' "^kunwind ${command%% *}: /nonexistent: No such file" $command /nonexistent
	# shellcheck disable=SC2086
	expect 2 '' 'no trace given' $command
	# shellcheck disable=SC2086
	expect 2 '' '^kunwind [a-z]+: unrecognized option.*Try: kunwind' $command --nonsense x
done
expect 2 '' 'the first argument is a format: .*, not: x' export x
expect 2 '' 'a weight is events, blocked, off-cpu, lock or cpu, not: time' export folded --weight time x
expect 2 '' 'no output given' flamegraph x
for command in show report waits; do
	for pid in -1 1x '' 2147483648; do
		expect 2 '' 'the number of a process' $command --pid "$pid" x
	done
	expect 1 '' '/nonexistent: No such file' $command --pid 0 /nonexistent
done
for top in -1 '' 1x 1000001 4294967297; do
	expect 2 '' 'takes a number' report --top "$top" x
	expect 2 '' 'takes a number' waits --top "$top" x
done
for limit in 0 -1 18446744073709551616; do
	expect 2 '' 'takes a number' show --limit "$limit" x
done
expect 125 '' 'nothing to record' record
expect 125 '' 'Try: kunwind record' record --nonsense true
expect 125 '' 'a power of two' record --buffer 5000 true
expect 125 '' 'the number of a process, not: x' record --pid x
expect 125 '' '--children needs a process' record --children true
expect 125 '' 'an item of the list is empty' record --event open,,read true
if [ ! -e /dev/kunwind ]; then
	expect 125 '' 'sudo modprobe kunwind' run true
	expect 125 '' 'sudo modprobe kunwind' run -- /nonexistent
	expect 125 '' 'sudo modprobe kunwind' record true
	# shellcheck disable=SC2046
	expect 125 '' 'sudo modprobe kunwind' record $(printf -- '-p %d ' $(seq 200))
	# shellcheck disable=SC2046
	expect 125 '' 'sudo modprobe kunwind' record -e $(seq -s , 1000) true
	expect 1 '' 'sudo modprobe kunwind' register $$
	expect 1 '' 'sudo modprobe kunwind' unregister $$
	expect 1 '' 'sudo modprobe kunwind' system-wide
	expect 1 '' 'sudo modprobe kunwind' system-wide on
	expect 1 '' 'sudo modprobe kunwind' status
	expect 1 'FAIL +module loaded +no; fix: sudo modprobe kunwind' '' doctor
	expect 1 $'FAIL\tmodule loaded\tno\tsudo modprobe kunwind' '' doctor --tsv
fi
# However kunwind is called, each line of a message begins with its name, once.
# Prints lines that do not.
wrong_lines() { # COMMAND-LINE...
	"$@" 2>&1 >/dev/null </dev/null | grep -vE '^((Usage|Try): kunwind [a-z-]+ |kunwind( [a-z-]+)?: )' |
		grep -v '^$'
	"$@" 2>&1 >/dev/null </dev/null | grep -E 'kunwind ([^ ]*/)?kunwind'
}
ln -s "$(realpath "$kunwind")" "$work/linked"
for way in 'relative path' 'absolute path' link; do
	case $way in
	relative*) call=$kunwind ;;
	absolute*) call=$(realpath "$kunwind") ;;
	*) call=$work/linked ;;
	esac
	found=
	for command in run register unregister system-wide status doctor record snapshot report waits flamegraph export show crashes symbolize dump; do
		for arguments in '' --nonsense '-Z x' '/nonexistent /nonexistent'; do
			# shellcheck disable=SC2086
			found+=$(wrong_lines "$call" $command $arguments)
		done
	done
	for arguments in 'record -p' 'report --top' 'waits --top' 'flamegraph -o' 'export --weight' 'show --limit' nonsense 'help nonsense'; do
		# shellcheck disable=SC2086
		found+=$(wrong_lines "$call" $arguments)
	done
	is "$found" "" "every message begins with kunwind, once: $way"
done
if "$kunwind" doctor --json 2>"$work/err" | /usr/bin/python3 -c '
import json, sys
lines = json.load(sys.stdin)
sys.exit(not (lines and all(set(l) == {"state", "requirement", "finding", "fix"} for l in lines)))'; then
	ok "doctor --json prints a list of its checks"
else
	not_ok "doctor --json prints a list of its checks"
fi
if "$kunwind" dump --tsv /bin/ls >/dev/full 2>"$work/err" || ! grep -q 'cannot write' "$work/err"; then
	not_ok "dump: a full disk is an error"
else
	ok "dump: a full disk is an error"
fi
# ------------------------------------------------ no /proc
no_proc() { unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$@" 2>&1; }
if no_proc true >/dev/null; then
	for command in "record true" "report trace" "show trace" "snapshot"; do
		# shellcheck disable=SC2086
		like "$(no_proc "$kunwind" $command)" "/proc is not mounted: mount -t proc proc /proc" "$command: no /proc: the cause"
	done
	like "$(no_proc "$kunwind" doctor --tsv)" "^FAIL	/proc	not mounted.*	mount -t proc proc /proc" "doctor: no /proc"
else
	for command in record report show snapshot doctor; do skip "$command: no /proc" "needs a mount namespace"; done
fi
done_testing
