#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# long: only
#
# t-upstream.sh - programs that read LTTng's call stacks keep working
#
# The first part is like LTTng's own regression test of the context
# callstack-user: a program with the known chain main, fct_a, fct_b, fct_c,
# gettid; addresses from babeltrace2's text, named by addr2line. Here the
# program has no frame pointers. The second part compares the names and types of
# the fields, which Trace Compass and scripts read, with those of stock LTTng,
# byte by byte.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc addr2line

cd "$KUNWIND_TMP" || exit 1
source=$OLDPWD/tests/vm/fixtures/show-chain.c
lttng=/usr/bin/lttng	# not kunwind's front end
lttng-sessiond --daemonize >/dev/null 2>&1

# As in the upstream test: one session, the default channel, one system call,
# the context, and the program tracked by its PID.
trace() { # DIRECTORY PROGRAM [COMMAND-BEFORE-IT]...
	local dir=$1 program=$2
	shift 2
	rm -f in
	mkfifo in
	"$@" "./$program" wait <in &
	pid=$!
	exec {go}>in
	until [ "$(cat "/proc/$pid/comm")" = "$program" ] && grep -qs pipe_read "/proc/$pid/stack"; do
		sleep 0.1
	done
	cp "/proc/$pid/maps" "$dir.maps"
	{
		$lttng create callstack --output="$KUNWIND_TMP/$dir" &&
			$lttng enable-event --kernel --syscall gettid &&
			$lttng add-context --kernel --type callstack-user --type callstack-kernel &&
			$lttng track --kernel --pid "$pid" &&
			$lttng start
	} >"$dir.log" 2>&1 || diag "$(cat "$dir.log")"
	echo >&"$go"
	exec {go}>&-
	wait "$pid"
	{ $lttng stop && $lttng destroy; } >>"$dir.log" 2>&1
}

# The addresses of the only event, as babeltrace2 prints them.
addresses() {
	babeltrace2 "$1" | grep 'syscall_entry_gettid:' | grep -o 'callstack_user = \[ \(\[[0-9]*\] = 0x[0-9A-F]*,\? \)*\]' |
		grep -o '= 0x[0-9A-F]*' | cut -c3-
}

# The object that is mapped at ADDRESS, and where the object's first byte is
# mapped.
object_of() { # MAPS ADDRESS: prints BASE PATH
	local range offset path base=
	while read -r range _ offset _ _ path; do
		[ "$offset" != 00000000 ] || base=0x${range%-*}
		if (($2 >= 0x${range%-*} && $2 < 0x${range#*-})); then
			echo "$base" "$path"
			return
		fi
	done <"$1"
}

# Functions of PROGRAM in a trace, innermost first; for other objects their file
# name.
names() { # DIRECTORY PROGRAM TYPE
	local address base path minus=0
	while read -r address; do
		[ "$address" != 0xFFFFFFFFFFFFFFFF ] || continue
		read -r base path < <(object_of "$1.maps" "$address")
		if [ "${path##*/}" = "$2" ]; then
			[ "$3" = -no-pie ] && base=0
			addr2line -f -e "$2" "$(printf '%#x' $((address - base - minus)))" | head -n 1
		else
			echo "${path##*/}"
		fi
		minus=1		# a return address belongs to the call before it
	done < <(addresses "$1") | tr '\n' ' '
}

for type in -no-pie -pie; do
	gcc -g -O2 -fomit-frame-pointer -fno-plt $type -o "chain$type" "$source" ||
		{ echo "Bail out! the program does not build"; exit 1; }
done
trace stock chain-pie
stock=$(names stock chain-pie -pie)
unlike="fct_c fct_b fct_a main "
check "stock LTTng: the event does not have the chain, so the test can fail" \
	test -n "$stock" -a "${stock/$unlike/}" = "$stock"

check "the module loads" modprobe kunwind
for type in -no-pie -pie; do
	trace "kunwind$type" "chain$type" kunwind run --
	like "$(names "kunwind$type" "chain$type" "$type")" "^libc\.so\.6 fct_c fct_b fct_a main libc\.so\.6 libc\.so\.6 _start $" \
		"$type: gettid in libc, fct_c, fct_b, fct_a, main, _start"
done

text=$(babeltrace2 kunwind-pie | grep 'syscall_entry_gettid:')
like "$text" '_callstack_user_length = [0-9]+, callstack_user = \[ \[0\] = 0x[0-9A-F]+, \[1\] = 0x' "babeltrace2 prints the length and the addresses"
# the end mark that some versions of the tracer write
mark() { addresses "$1" | tail -n 1 | grep -cx 0xFFFFFFFFFFFFFFFF; }
is "$(mark kunwind-pie)" "$(mark stock)" "the stack ends with a mark if stock LTTng's does"
length=$(grep -o '_callstack_user_length = [0-9]*' <<<"$text" | grep -o '[0-9]*$')
is "$(addresses kunwind-pie | wc -l)" "$length" "the stack has as many addresses as its length field says"
like "$text" '_callstack_kernel_length = [0-9]+, callstack_kernel = \[ \[0\] = 0xFFFFFFFF' "the event has the kernel's stack, too"

# Trace Compass finds the fields by name and type in the metadata, which is text
# in CTF 1.8 and JSON in CTF 2 (LTTng from 2.15 on).
context() {
	if grep -aq '"type": *"preamble"' "$1/kernel/metadata"; then
		/usr/bin/python3 -c '
import json, sys
for fragment in sys.stdin.read().split("\x1e")[1:]:
    context = json.loads(fragment).get("event-record-common-context-field-class")
    if context:
        print(json.dumps(context, sort_keys=True))' <"$1/kernel/metadata"
	else
		babeltrace2 -o ctf-metadata "$1"/kernel | sed -n '/event.context := struct/,/};/p'
	fi
}
is "$(context kunwind-pie)" "$(context stock)" "metadata of the context: equal to stock LTTng's"
like "$(context kunwind-pie)" 'integer \{ size = 64; align = 8; signed = 0; encoding = none; base = 16; \} _?callstack_user\[ ?_+callstack_user_length ?\]|"element-field-class": \{[^}]*"length": 64, "preferred-display-base": 16, "type": "fixed-length-unsigned-integer"\}, "length-field-location": \{[^}]*"path": \["_callstack_user_length"\]\}, "type": "dynamic-length-array"\}, "name": "callstack_user"' \
	"metadata of callstack_user: a sequence of unsigned 64-bit numbers in hexadecimal"
check "the module is unloaded" rmmod kunwind
trace after chain-pie
is "$(context after)" "$(context stock)" "metadata of the context after the unload: equal to stock LTTng's"
done_testing
